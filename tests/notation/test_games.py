"""Texts of games: every form gives the same moves, and nothing is passed over in silence."""

from __future__ import annotations

import pytest

from tbgen.indexing import START_FEN, InputError, Position, PositionError, Side
from tbgen.notation import begins_with_moves, read_game, split_games

START = Position.from_fen(START_FEN)
FEN = "3k5/9/9/1c7/9/2R5r/9/9/9/5K3 w"
OPENING = ["h2e2", "h9g7", "h0g2", "i9h9"]

# Text of the game `OPENING`, and the result that it states.
OPENINGS = [
    ("炮二平五 马8进7 马二进三 车９平８", ""),
    ("炮二平五马8进7马二进三车9平8", ""),
    ("1. h2e2 h9g7 2. h0g2 i9h9 1-0", "1-0"),
    ("1.h2e2 h9g7\n2.h0g2 i9h9 *", ""),
    ("1) h2e2 h9g7 2) h0g2 i9h9", ""),
    ("1 h2e2 h9g7 2 h0g2 i9h9", ""),
    ("1. h2e2 1... h9g7 2. h0g2 i9h9", ""),
    ("h2e2,h9g7;\nh0g2,i9h9", ""),
    ("h2e2! h9g7?! +- h0g2+ $3 i9h9# 1/2-1/2", "1/2-1/2"),
    ("C2.5 H8+7 ; a note\nH2+3 {another} R9.8 (R9+1 (H8+7) {x}) 0-1", "0-1"),
    ("1. h2e2 (1. h2d2 {a smile :)} h9g7) h9g7 2. h0g2 (2. b0c2 {open (}) i9h9", ""),
    (f"{START_FEN[:-len(' w - - 0 1')]} 红 1. h2e2 h9g7 2. h0g2 i9h9", ""),
    (f"{START_FEN[:-len(' w - - 0 1')]} 红方先行\nh2e2 h9g7 h0g2 i9h9 黑胜", "0-1"),
    ("% 1. b2e2\n1. h2e2 h9g7\n% 2. b2b3\n2. h0g2 i9h9", ""),
    ("1．炮二平五，马8进7。2、马二进三！车9平8（平炮兑车）红胜", "1-0"),
    ("《书》第1局（红先）①炮二平五；马8进7？第二回合：马二进三　车9平8 黑胜。", "0-1"),
    ("红先和 第1回合 炮二平五 马8进7 第2回合 马二进三 车9平8", "1/2-1/2"),
    ("1. 炮二平五 马8进7 2. 马二进三 车9平8 红先负", "0-1"),
    ("1.炮二平五 1.…马8进7 2. 马二进三 ...车9平8 红方胜定", "1-0"),
    ("……炮二平五 1.——，马8进7 2.马二进三 2……车9平8 黑方长将作负", "1-0"),
    ("标题: 一\n红方：甲\n黑方: 乙\n结果: 和棋\n炮二平五 马8进7 马二进三 车9平8", "1/2-1/2"),
    (
        "标题: 甲 负 乙\n轮次: 第07轮\n布局: 中炮进三兵\n记时规则: 15分＋5秒\n棋谱价值: 1\n\n"
        "  1.炮二平五 马8进7\n 2.马二进三 车9平8\n\n棋谱由 http://www.dpxq.com/ 生成\n", "",
    ),
    ("红方：甲 黑方：乙 着法（红先胜）：炮二平五－马8进7→马二进三|车9平8，困毙，判红胜", "1-0"),
    ("红：炮二平五  黑：马8进7\n红马二进三\n黑：i9h9", ""),
    ("1炮二平五 马8进7 2马二进三 车9平8 平局", "1/2-1/2"),
    ("炮二平五 马8进7 马二进三 车9平8，至此，红方胜定", "1-0"),
    ("炮二平五 马8进7 马二进三 车9平8 黑方长捉，判红胜。绝杀！", "1-0"),
    ("炮二平五 马8进7 马二进三 车9平8 和", "1/2-1/2"),
    ("炮二平五 马8进7 马二进三 车9平8 判和。", "1/2-1/2"),
    (
        "FORMAT WXF\nEVENT\nRED  甲;;;\nRESULT  1-0\nSTART{\n1. C2.5 H8+7\n2. H2+3 R9.8\n}END\n",
        "1-0",
    ),
    ("第一局 单马胜单卒\n着法：一、炮二平五 马8进7\n注：3. 好棋\n二、马二进三 车9平8", ""),
    ("变化一\n十一、炮二平五 马8进7 十二、马二进三 车9平8", ""),
    ("C2.5 ; H8+7 1-0\nH8+7; 2. H2+3 is best\nH2+3 R9.8;", ""),
    (";collected\nh2e2 ;good\nh9g7 ;好棋！\nh0g2 i9h9", ""),
    ("Ｈ２－Ｅ２ ｈ９ｇ７ Ｈ２＋３ Ｒ９．８ 双方不变作和", "1/2-1/2"),
    ("\ufeff1. 炮二平五 马8进7 2. 馬二進三 車9平8 和棋", "1/2-1/2"),
    ("position startpos moves h2e2 h9g7 h0g2 i9h9", ""),
    (f"position fen {START_FEN} moves h2e2 h9g7 h0g2 i9h9", ""),
    (f"{START_FEN};h2e2 h9g7 h0g2 i9h9", ""),
    (f"{START_FEN} 红先胜 h2e2 h9g7 h0g2 i9h9", "1-0"),
    (f"{START_FEN[:-len(' w - - 0 1')]} 红先和棋。1. h2e2 h9g7 2. h0g2 i9h9", "1/2-1/2"),
    (f"{START_FEN} ; h2e2, h9g7, h0g2, i9h9", ""),
    (f"FEN: {START_FEN}\nMoves: h2e2 h9g7 h0g2 i9h9", ""),
    (f"{START_FEN} 1. h2e2 h9g7 2. h0g2 i9h9", ""),
    (f"{START_FEN.replace(' ', '_')} moves h2e2 h9g7 h0g2 i9h9", ""),
    ('[Format "fairy"]\n\n1. h3e3 h10g8 2. h1g3 i10h10', ""),
    ("1. h3e3 h10g8 2. h1g3 i10h10", ""),
    ('[Red "a \\"b\\" ]"]\n[Result "1-0"]\n\n1. h2e2 h9g7 2. h0g2 i9h9', "1-0"),
    (
        "[DhtmlXQ][DhtmlXQ_title]x 1-0[/DhtmlXQ_title]"
        "[DhtmlXQ_movelist]7747706279678070[/DhtmlXQ_movelist][/DhtmlXQ]", "",
    ),
    (
        "[DhtmlXQ_result]红胜[/DhtmlXQ_result]"
        "[DhtmlXQ_movelist]7747706279678070[/DhtmlXQ_movelist]", "1-0",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "stated"), OPENINGS)
def test_every_form_gives_the_same_game(text: str, stated: str) -> None:
    game = read_game(text)
    assert game.fault is None
    assert (game.start, [move.iccs for move in game.moves]) == (START, OPENING)
    assert game.stated == stated
    assert split_games(text) == [text.strip()]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("h2e2 hello h9g7", "'hello'"),
        ("h2e2;h9g7", "';'"),
        ("h2e2 ;h9g7", "';'"),
        ("炮二平五\n;马8进7", "';'"),
        ("h2e2; h9g7", "'; h9g7'"),
        ("h2e2; h9g7 1-0", "'; h9g7 1-0'"),
        ("1. 炮二平五; 2. 马8进7; 3. 马二进三", "'; 2. 马8进7; 3. 马二进三'"),
        ("h2e2 (h9g7", "'(h9g7'"),
        ("h2e2 {h9g7", "'{h9g7'"),
        ("h2e2) h9g7", "')'"),
        ("h2e2 [h9g7]", "'['"),
        ("炮二平五 好棋 马8进7", "'好棋'"),
        ("炮二平五\n附言：马8进7更好", "'附言'"),
        ("炮二平五 马8近7", "'马8近7'"),
        ("炮二平五 前炮", "'前炮'"),
        ("1. C2.5\nBLACK H8+7\n2. H2+3", "'BLACK'"),
    ],
)
def test_text_that_is_no_move_is_a_fault(text: str, word: str) -> None:
    game = read_game(text)
    assert [move.iccs for move in game.moves] == ["h2e2"]
    assert game.fault is not None
    assert game.fault.message == f"{word} is no move"


@pytest.mark.parametrize(
    ("text", "games"),
    [
        (
            f'[Event "a"]\n[FEN "{FEN}"]\n1. c4b4 *\n\n[Event "b"]\n[FEN "{START_FEN}"]\n1. h2e2 *',
            2,
        ),
        (f'[FEN "{FEN}"]\n[Result "*"]\n\n*\n\n[FEN "{START_FEN}"]\n*', 2),
        (f"{FEN};c4b4\n{START_FEN};h2e2\n", 2),
        ("1. h2e2 h9g7 2. h0g2 1-0\n1. h2e2 0-1", 2),
        ("1. h2e2 h9g7 2. h0g2\n1. h2e2", 2),
        (f"position fen {FEN} moves c4b4\nposition startpos moves h2e2", 2),
        (f'[FEN "{FEN}"] c4b4 ' * 3, 3),
        ("FORMAT WXF\nRESULT 1-0\nSTART{\n1. C2.5\n}END\n" * 2, 2),
        ("分类: 甲\n1. 炮二平五 马8进7 红胜 绝杀\n棋谱由 x 生成\n分类: 乙\n1. 炮二平五", 2),
    ],
)
def test_games_are_not_merged(text: str, games: int) -> None:
    found = [read_game(game) for game in split_games(text)]
    assert len(found) == games
    assert all(game.fault is None for game in found)
    with pytest.raises(InputError, match=f"{games} games"):
        read_game(text)


def test_later_numbers_in_chinese_begin_no_game() -> None:
    text = "第十回合 炮二平五 马8进7 第十一回合 马二进三 车9平8"
    assert split_games(text) == [text]


def test_moves_of_a_number_that_comes_again_are_a_fault() -> None:
    game = read_game("1. h2e2 h9g7 2. h0g2 i9h9 2. b0c2 b9c7")
    assert [move.iccs for move in game.moves] == OPENING
    assert game.fault is not None
    assert game.fault.message == "after ply 4 the moves begin again at number 2"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("1. h2e2 h9g7 3. h0g2 i9h9", "after ply 2 the move numbers jump from 1 to 3"),
        ("1. h2e2\n3. h9g7", "after ply 1 the move numbers jump from 1 to 3"),
        ("12.炮二平五 马8进7 15.马二进三", "after ply 2 the move numbers jump from 12 to 15"),
        (
            "第十回合 炮二平五 马8进7 第十二回合 马二进三",
            "after ply 2 the move numbers jump from 10 to 12",
        ),
        ("1. h2e2 2. h9g7 4. h0g2", "after ply 2 the move numbers jump from 2 to 4"),
        ("1. h2e2 h9g7 2... h0g2", "after ply 2 number 2 is for Black, but Red is to move"),
        ("1. h2e2 h9g7 2. … h0g2", "after ply 2 number 2 is for Black, but Red is to move"),
        ("1. h2e2 h9g7 2.—— h0g2", "after ply 2 number 2 is for Black, but Red is to move"),
        ("1. C2=5 2. H2+3 H8+7", "after ply 1 number 2 is for Red, but Black is to move"),
        ("1. C2=5 H8+7 2. R9+1 3. H2+3", "after ply 3 number 3 is for Red, but Black is to move"),
        (
            "1. C2=5 H8+7 2. R9+1 3. H2+3 R9=8",
            "after ply 3 number 3 is for Red, but Black is to move",
        ),
        (f"{FEN} 7. ... c4b4", "after ply 0 number 7 is for Black, but Red is to move"),
        (
            f"{FEN[:-1]}b 1... b6c6 2. c4c6 3. c6c7 d9d8",
            "after ply 2 number 3 is for Red, but Black is to move",
        ),
        (
            f"{FEN[:-1]}b 1. b6c6 2. c4c6 d9d8 3. c6c7 4. c7c6 d8d9",
            "after ply 4 number 4 is for Red, but Black is to move",
        ),
        (
            f"{FEN[:-1]}b 1. b6c6 c4c6 2. d9d8 3. d8d9",
            "after ply 3 number 3 is for Black, but Red is to move",
        ),
    ],
)
def test_move_numbers_of_lost_moves_are_a_fault(text: str, fault: str) -> None:
    game = read_game(text)
    assert game.fault is not None
    assert game.fault.message == fault


def test_numbers_of_long_games() -> None:
    game = read_game("999. h2e2 h9g7 1000. e2h2 g7h9 1001) h2e2")
    assert (game.fault, len(game.moves)) == (None, 5)


@pytest.mark.parametrize(
    "text",
    ["1 h2e2 2 h9g7 3 h0g2 4 i9h9 i0h0", "1. h2e2\n1. h9g7\n2. h0g2\n2. i9h9 i0h0"],
)
def test_numbers_may_count_single_moves_or_be_repeated(text: str) -> None:
    game = read_game(text)
    assert (game.fault, len(game.moves)) == (None, 5)


@pytest.mark.parametrize(
    "moves",
    [
        "1... b6c6 2. c4c6 d9d8",
        "1. ... b6c6 2. c4c6 d9d8",
        "34. …… b6c6 35. c4c6 {a note} 35... d9d8",
        "1. b6c6 c4c6 2. d9d8",
        "5. b6c6 6. c4c6 d9d8",
        "1. b6c6 2. c4c6 3. d9d8",
        "1. b6c6 1. c4c6 2. d9d8",
        "1... b6c6 (1... d9d8 2. c4b4 3. b4b6) 2. c4c6 2... d9d8",
        "b6c6 2. c4c6 d9d8",
    ],
)
def test_numbers_of_games_that_black_begins(moves: str) -> None:
    game = read_game(f'[FEN "{FEN[:-1]}b"]\n\n{moves}')
    assert game.fault is None
    assert [move.iccs for move in game.moves] == ["b6c6", "c4c6", "d9d8"]


def test_moves_from_number_1_begin_at_the_same_position() -> None:
    games = split_games(f"{FEN} 1. c4b4 b6c6 2. b4c4\n【变着】\n1. c4d4")
    assert [read_game(game).start.fen for game in games] == [f"{FEN} - - 0 1"] * 2
    assert split_games("1. h2e2 h9g7 1-0 1. h2d2")[1] == "1. h2d2"
    assert split_games("1. h2e2 1-0 1. h2d2")[1] == "1. h2d2"


def test_a_game_may_be_a_position_alone() -> None:
    assert read_game(FEN).start == Position.from_fen(FEN)
    assert read_game(f'[FEN "{FEN}"]\n*').moves == ()
    for text in ("", " \n", "* {nothing}", "?!", "(h2e2)"):
        assert split_games(text) == []
        with pytest.raises(InputError, match="no moves"):
            read_game(text)


@pytest.mark.parametrize(
    "text",
    [
        f"{FEN} 黑先胜 c4b4",
        "9/9/9 w h2e2",
        "3k5/9/9/9/9/9/9/9/9/3K5 w d9d8",
        '[FEN "x"] h2e2',
        f"{FEN[:-1]}x c4b4",
    ],
)
def test_impossible_first_positions(text: str) -> None:
    with pytest.raises(PositionError):
        read_game(text)


@pytest.mark.parametrize("moves", ["黑：车9平8", "红炮二平五 红方：马二进三"])
def test_a_move_of_the_side_not_to_move_is_a_fault(moves: str) -> None:
    game = read_game(moves)
    assert game.fault is not None
    assert "is given, but" in game.fault.message


def test_labels_of_positions_and_moves() -> None:
    game = read_game(f"局面：{FEN}\n红：1.车七平八\n黑：b6c6\n")
    assert [move.iccs for move in game.moves] == ["c4b4", "b6c6"]


def test_labels_may_be_indented() -> None:
    game = read_game("标题：甲\n1. 炮二平五\n　点评：好\n 马8进7")
    assert (game.fault, len(game.moves)) == (None, 2)


def test_lines_of_sides_may_have_rank_10() -> None:
    game = read_game("红：h3e3\n黑：h10g8")
    assert [move.iccs for move in game.moves] == OPENING[:2]


def test_results_in_wxf_headers_are_of_their_game() -> None:
    one, two = (f"FORMAT WXF\nRESULT {each}\nSTART{{\n1. C2.5\n}}END\n" for each in ("1-0", "0-1"))
    assert [read_game(game).stated for game in split_games(one + two)] == ["1-0", "0-1"]


def test_results_in_chinese_headings_are_of_their_game() -> None:
    one, two = (f"赛事：甲\n结果：{each}胜\n着法：1.炮二平五 炮8平5\n" for each in "红黑")
    assert [read_game(game).stated for game in split_games(one + two)] == ["1-0", "0-1"]


def test_a_limit_of_moves() -> None:
    assert len(read_game("h2e2 h9g7", most=2).moves) == 2
    with pytest.raises(InputError, match="more than 1 moves"):
        read_game("h2e2 h9g7", most=1)


def test_the_side_of_a_dhtmlxq_board() -> None:
    places = "99" * 4 + "49" + "99" * 11 + "99" * 4 + "30" + "99" * 4 + "00" + "99" * 6
    game = read_game(
        f"[DhtmlXQ_binit]{places}[/DhtmlXQ_binit][DhtmlXQ_movelist]3031[/DhtmlXQ_movelist]"
    )
    assert game.start.side == Side.BLACK
    assert [move.iccs for move in game.moves] == ["d9d8"]


def test_a_dhtmlxq_part_ends_at_any_tag() -> None:
    """Only the board and the moves need their own closing tags."""
    parts = "[DhtmlXQ_blacktime][/DhtmlXQ_time][DhtmlXQ_title]a"
    game = read_game(f"{parts}[DhtmlXQ_movelist]77477062[/DhtmlXQ_movelist]")
    assert [move.iccs for move in game.moves] == OPENING[:2]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("[DhtmlXQ_movelist]7747[/DhtmlXQ_time]", "'\\[DhtmlXQ_movelist]7747.*is a malformed tag"),
        ("[DhtmlXQ_movelist]7747706[/DhtmlXQ_movelist]", "'706' is no move of a DhtmlXQ"),
        ("[DhtmlXQ_movelist]77477[/DhtmlXQ_movelist]", "'7' is no move of a DhtmlXQ move list"),
        ("[DhtmlXQ_movelist]7799[/DhtmlXQ_movelist]", "'7799' is no move of a DhtmlXQ move list"),
        ("[DhtmlXQ_movelist]77 47[/DhtmlXQ_movelist]", "'77 4' is no move of a DhtmlXQ move list"),
        (f"[DhtmlXQ_binit]{'99' * 30}9[/DhtmlXQ_binit]", "64 digits, not 61"),
    ],
)
def test_incomplete_dhtmlxq_boards(text: str, error: str) -> None:
    """Digits left over are an error: a move or a piece would be lost."""
    with pytest.raises(InputError, match=error):
        read_game(text)


@pytest.mark.parametrize(
    ("line", "begins"),
    [
        ('[Event "x"]', True),
        ("1. h2e2", True),
        ("炮二平五", True),
        ("c4b4", True),  # illegal in the opening array
        ("（红先）1.车七平八", True),
        (f"{FEN};c4b4", False),
        ("position startpos moves h2e2", False),
        ("nonsense", None),
        (f"position fen {FEN} {{a note}}", None),
        ("", None),
    ],
)
def test_first_lines(line: str, begins: bool | None) -> None:
    assert begins_with_moves(line) is begins


@pytest.mark.parametrize("opened", ["{not closed", "(2. b2e2", "（注", "《"])
@pytest.mark.parametrize("comment", ["", " {good} (1. b2e2)"])
def test_a_bracket_that_is_not_closed_ends_at_the_next_tags(opened: str, comment: str) -> None:
    damaged = f'[Event "A"]\n\n1. h2e2 {opened} h9g7 1-0\n\n'
    games = split_games(f'{damaged}[Event "B"]\n\n1. h2e2{comment} h9g7 1-0\n')
    assert len(games) == 2
    broken, whole = map(read_game, games)
    assert broken.fault is not None
    assert len(broken.moves) == 1
    assert whole.fault is None
    assert (len(whole.moves), whole.stated) == (2, "1-0")


def test_a_repeated_tag_keeps_the_position() -> None:
    game = read_game(f'[FEN "{FEN}"]\n[Round "1"]\n[Round "2"]\n\n1. c4b4 b6c6')
    assert game.start == Position.from_fen(FEN)
    assert len(game.moves) == 2


@pytest.mark.parametrize("tag", ['[Red "x]', "[Red x]", '[Red "a"b"]', "[Red “x”]", '[FEN "4k4 w]'])
@pytest.mark.parametrize("after", [False, True])
def test_a_malformed_tag_is_an_error_of_its_game(tag: str, after: bool) -> None:
    tags = [f'[FEN "{FEN}"]', tag] if after else [tag, f'[FEN "{FEN}"]']
    head = "\n".join(['[Event "a"]', *tags])
    games = split_games(f"1. h2e2 h9g7 *\n\n{head}\n\n1. c4b4 b6c6 2. b4c4 *\n\n1. h2e2 *")
    assert len(games) == 3
    with pytest.raises(InputError) as error:
        read_game(games[1])
    assert error.value.message == f"'{tag}' is a malformed tag"
    assert read_game(games[0]).fault is read_game(games[2]).fault is None
    assert begins_with_moves(tag)


def test_many_parts_of_boards_take_linear_time() -> None:
    assert len(split_games("[DhtmlXQ_title]a[/DhtmlXQ_title]\n" * 40_000)) == 40_000


@pytest.mark.parametrize("letter", list('{([（《;1"/\\[a平 '))
def test_long_texts_without_an_end_take_linear_time(letter: str) -> None:
    """A text of one repeated character has no brackets that close; it is read in one pass."""
    for text in (letter * 40_000, f"{letter} " * 20_000, f"红{letter * 40_000}"):
        assert len(split_games(text)) <= 1
