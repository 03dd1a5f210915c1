"""Moves as text: golden vectors, round trips of every legal move, and errors for bad input."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tbgen.indexing import START_FEN, InputError, Move, MoveTextError, Position, Side
from tbgen.indexing.squares import EMPTY, PieceType, area, piece_code
from tbgen.notation import (
    MOVE_NOTATIONS,
    POSITION_STYLES,
    format_move,
    format_position,
    parse_move,
    parse_position,
)
from tbgen.rules import is_legal, legal_moves
from tests.helpers.strategies import random_game, random_position

START = Position.from_fen(START_FEN)
THREE = "3k5/9/4P4/4P4/4P4/9/9/9/9/4K4"
FOUR = "3k5/4P4/4P4/4P4/4P4/9/9/9/9/4K4"
FIVE = "3k5/4P4/4P4/4P4/4P4/4P4/9/9/9/4K4"
TWO_AND_TWO = "3k5/9/4P1P2/9/4P1P2/8P/9/9/9/4K4"
THREE_AND_TWO = "3k5/9/2P3P2/6P2/2P3P2/9/9/9/9/4K4"

# FEN, move, WXF, Chinese in simplified and traditional characters
GOLDEN = [
    (START_FEN, "h2e2", "C2.5", "炮二平五", "炮二平五"),
    (START_FEN, "h0g2", "H2+3", "马二进三", "馬二進三"),
    (START_FEN, "c3c4", "P7+1", "兵七进一", "兵七進一"),
    (START_FEN, "c0e2", "E7+5", "相七进五", "相七進五"),
    (START_FEN, "d0e1", "A6+5", "仕六进五", "仕六進五"),
    (START_FEN, "e0e1", "K5+1", "帅五进一", "帥五進一"),
    (START_FEN, "i0i2", "R1+2", "车一进二", "車一進二"),
    (START_FEN.replace(" w", " b"), "h7e7", "C8.5", "炮８平５", "炮８平５"),
    (START_FEN.replace(" w", " b"), "b9c7", "H2+3", "马２进３", "馬２進３"),
    (START_FEN.replace(" w", " b"), "c6c5", "P3+1", "卒３进１", "卒３進１"),
    (START_FEN.replace(" w", " b"), "f9e8", "A6+5", "士６进５", "士６進５"),
    (START_FEN.replace(" w", " b"), "e9e8", "K5+1", "将５进１", "將５進１"),
    ("3k5/9/9/9/R8/9/9/9/R8/4K4 w", "a5g5", "R+.3", "前车平三", "前車平三"),
    ("3k5/9/9/9/R8/9/9/9/R8/4K4 w", "a1a3", "R-+2", "后车进二", "後車進二"),
    ("3k5/9/9/9/R8/9/9/9/R8/4K4 w", "a1a0", "R--1", "后车退一", "後車退一"),
    ("3k5/9/9/9/2n6/9/9/9/2n6/4K4 b", "c1e0", "H++5", "前马进５", "前馬進５"),
    ("3k5/9/9/9/2n6/9/9/9/2n6/4K4 b", "c5e6", "H--5", "后马退５", "後馬退５"),
    ("3k5/9/9/9/9/9/9/3A5/9/3AK4 w", "d2e1", "A6-5", "仕六退五", "仕六退五"),
    ("3k5/9/9/9/9/9/9/3A5/9/3AK4 w", "d0e1", "A6+5", "仕六进五", "仕六進五"),
    (f"{THREE} w", "e7f7", "P+.4", "前兵平四", "前兵平四"),
    (f"{THREE} w", "e6f6", "P5.4", "中兵平四", "中兵平四"),
    (f"{THREE} w", "e5f5", "P-.4", "后兵平四", "後兵平四"),
    (f"{FOUR} w", "e8e9", "+++1", "一兵进一", "一兵進一"),
    (f"{FOUR} w", "e8d8", "++.6", "一兵平六", "一兵平六"),
    (f"{FOUR} w", "e7d7", "P+.6", "二兵平六", "二兵平六"),
    (f"{FOUR} w", "e6d6", "P-.6", "三兵平六", "三兵平六"),
    (f"{FOUR} w", "e5d5", "--.6", "四兵平六", "四兵平六"),
    (f"{FIVE} w", "e8d8", "++.6", "一兵平六", "一兵平六"),
    (f"{FIVE} w", "e7d7", "P+.6", "二兵平六", "二兵平六"),
    (f"{FIVE} w", "e6d6", "P5.6", "三兵平六", "三兵平六"),
    (f"{FIVE} w", "e5d5", "P-.6", "四兵平六", "四兵平六"),
    (f"{TWO_AND_TWO} w", "g7f7", "3+.4", "一兵平四", "一兵平四"),
    (f"{TWO_AND_TWO} w", "g5f5", "3-.4", "二兵平四", "二兵平四"),
    (f"{TWO_AND_TWO} w", "e7f7", "5+.4", "三兵平四", "三兵平四"),
    (f"{TWO_AND_TWO} w", "e5e6", "5-+1", "四兵进一", "四兵進一"),
    (f"{TWO_AND_TWO} w", "i4i5", "P1+1", "兵一进一", "兵一進一"),
    # the federation's own example: three pawns on the 3rd file, two on the 7th
    (f"{THREE_AND_TWO} w", "g7f7", "3+.4", "一兵平四", "一兵平四"),
    (f"{THREE_AND_TWO} w", "g6f6", "33.4", "二兵平四", "二兵平四"),
    (f"{THREE_AND_TWO} w", "g5f5", "3-.4", "三兵平四", "三兵平四"),
    (f"{THREE_AND_TWO} w", "c7d7", "7+.6", "四兵平六", "四兵平六"),
    (f"{THREE_AND_TWO} w", "c5d5", "7-.6", "五兵平六", "五兵平六"),
    ("3k5/9/9/9/9/9/2pp5/2pp5/3p5/4K4 b", "d2e2", "44.5", "四卒平５", "四卒平５"),
]

# FEN, text, the expected move
SPELLINGS = [
    ("3k5/9/6P2/6P2/6P2/9/9/9/9/4K4 w", "兵三进一", "g7g8"),
    ("3k5/9/6P2/6P2/6P2/9/9/9/9/4K4 w", "兵三平四", "g5f5 g6f6 g7f7"),
    (START_FEN, "H2-E2", "h2e2"),
    (START_FEN, " h2e2 ", "h2e2"),
    (START_FEN, "h2xe2", "h2e2"),
    (START_FEN, "h2e2+", "h2e2"),
    (START_FEN, "H2-H9#", "h2h9"),
    (START_FEN, "h3xh10!?", "h2h9"),
    (START_FEN, "C2.5+", "h2e2"),
    (START_FEN, "炮二平五+", "h2e2"),
    (START_FEN, "炮二平五！", "h2e2"),
    (START_FEN, "炮二平五。", "h2e2"),
    (START_FEN, "h2e2.", "h2e2"),
    (START_FEN, "C2.5，", "h2e2"),
    (START_FEN, "C2=5", "h2e2"),
    (START_FEN, "c2.5", "h2e2"),
    (START_FEN, "Ｃ２．５", "h2e2"),
    (START_FEN, "N2+3", "h0g2"),
    (START_FEN, "B7+5", "c0e2"),
    (START_FEN, "M7+5", "c0e2"),
    (START_FEN, "G6+5", "d0e1"),
    (START_FEN, "S7+1", "c3c4"),
    (START_FEN, "砲二平五", "h2e2"),
    (START_FEN, "包2平5", "h2e2"),
    (START_FEN, "傌二進三", "h0g2"),
    (START_FEN, "俥一上二", "i0i2"),
    (START_FEN, "炮 二 平 五", "h2e2"),
    (START_FEN.replace(" w", " b"), "炮8平5", "h7e7"),
    (START_FEN.replace(" w", " b"), "砲八平五", "h7e7"),
    ("3k5/9/9/9/R8/9/9/9/R8/4K4 w", "R9\N{MINUS SIGN}1", None),
    ("3k5/9/9/9/R8/9/9/9/R8/4K4 w", "R9+3", "a1a4 a5a8"),
    ("3k5/9/9/9/R8/9/9/9/R8/4K4 w", "R9+4", "a5a9"),
    ("3k5/9/9/9/R8/9/9/9/R8/4K4 w", "R\N{EN DASH}+2", "a1a3"),
    ("3k5/9/9/9/R8/9/9/9/R8/4K4 w", "後俥進二", "a1a3"),
    ("3k5/9/9/9/9/9/9/3A5/9/3AK4 w", "A--5", None),  # the rear one can only go ahead
    ("3k5/9/9/9/9/9/9/3A5/9/3AK4 w", "A+-5", "d2e1"),
    ("3k5/9/9/9/9/9/9/3A5/9/3AK4 w", "后仕进五", "d0e1"),
    (f"{THREE} w", "15.6", "e7d7"),
    (f"{THREE} w", "25=6", "e6d6"),
    (f"{THREE} w", "5+.6", "e7d7"),
    (f"{THREE} w", "一兵平六", "e7d7"),
    ("3k5/9/3P5/9/3P5/9/9/9/9/4K4 w", "16.7", "d7c7"),
    ("3k5/9/3P5/9/3P5/9/9/9/9/4K4 w", "P6.7", None),
    ("3k5/9/6P2/6P2/6P2/9/9/9/9/4K4 w", "33.4", "g5f5"),  # the third, counted from the front
    ("3k5/9/6P2/6P2/6P2/9/9/9/9/4K4 w", "P3.4", "g6f6"),
    (f"{THREE_AND_TWO} w", "33=4", "g6f6"),  # two files: the middle one, as the federation has it
    (f"{THREE_AND_TWO} w", "13=4", "g7f7"),
    (f"{TWO_AND_TWO} w", "P+.4", None),
    (f"{TWO_AND_TWO} w", "P+.2", "g7h7"),
    (f"{TWO_AND_TWO} w", "前兵平四", None),
    (f"{TWO_AND_TWO} w", "前兵平二", "g7h7"),
    (f"{TWO_AND_TWO} w", "前兵五平四", "e7f7"),
    (f"{TWO_AND_TWO} w", "后三平四", "g5f5"),
    (f"{FOUR} w", "前兵平六", "e8d8"),
    (f"{FOUR} w", "后兵平六", "e5d5"),
    (f"{FIVE} w", "中兵平六", "e6d6"),
]

BAD = [
    (START_FEN, "", "no move"),
    (START_FEN, "hello", "no move"),
    (START_FEN, "h2", "no move"),
    (START_FEN, "h2e2e2", "no move"),
    (START_FEN, "j2e2", "no move"),
    (START_FEN, "h2\n", "no move"),
    (START_FEN, "+", "no move"),
    (START_FEN, "C2+", "no move"),
    (START_FEN, "h2h9\nx", "no move"),
    (START_FEN, "C2", "no move"),
    (START_FEN, "C0.5", "no move"),
    (START_FEN, "C2*5", "no move"),
    (START_FEN, "Q2.5", "no move"),
    (START_FEN, "炮二平", "no move"),
    (START_FEN, "炮二平十", "no move"),
    (START_FEN, "王五进一", "no move"),
    (START_FEN, "炮炮平五", "no move"),
    (START_FEN, "h2h8", "reach"),
    (START_FEN, "h3e3", "no piece on h3"),
    (START_FEN, "h7e7", "Black"),
    (START_FEN, "e2e10", "in ICCS e1e9"),
    (START_FEN, "C2.9", "not legal"),
    (START_FEN, "C3.5", "no piece of that name"),
    (START_FEN, "C+.5", "no piece of that name"),
    (START_FEN, "++.5", "no piece of that name"),
    (START_FEN, "33.4", "no piece of that name"),
    (START_FEN, "炮三平五", "no piece of that name"),
    (START_FEN, "前炮平五", "no piece of that name"),
    (START_FEN, "一兵平五", "no piece of that name"),
    (START_FEN, "炮二平九", "not legal"),
    (START_FEN, "马二平三", "not legal"),
    ("3k5/9/9/9/R8/9/9/9/R8/4K4 w", "R9+3", "could be"),
    ("4k4/4r4/9/9/9/9/9/9/4R4/4K4 w", "R5.6", "not legal"),  # pinned
]


@pytest.mark.parametrize(("fen", "iccs", "text", "simplified", "traditional"), GOLDEN)
def test_golden(fen: str, iccs: str, text: str, simplified: str, traditional: str) -> None:
    position, move = Position.from_fen(fen), Move.from_iccs(iccs)
    assert move in legal_moves(position)
    written = [format_move(position, move, name) for name in ("wxf", "zh", "zh-hant")]
    assert written == [text, simplified, traditional]
    assert all(parse_move(position, name) == move for name in written)


@pytest.mark.parametrize(("fen", "text", "expected"), SPELLINGS)
def test_spellings(fen: str, text: str, expected: str | None) -> None:
    position = Position.from_fen(fen)
    if expected is None or " " in expected:
        with pytest.raises(MoveTextError) as caught:
            parse_move(position, text)
        assert all(move in str(caught.value) for move in (expected or "").split())
    else:
        assert parse_move(position, text).iccs == expected


@pytest.mark.parametrize(("fen", "text", "message"), BAD)
def test_malformed(fen: str, text: str, message: str) -> None:
    with pytest.raises(MoveTextError, match=message) as caught:
        parse_move(Position.from_fen(fen), text)
    for line in (str(caught.value), caught.value.hint):
        assert line
        assert len(line.splitlines()) == 1


def test_fairy_notation_needs_an_option_or_rank_ten() -> None:
    assert parse_move(START, "h3e3", "fairy").iccs == "h2e2"
    assert parse_move(START, "h3h10", "fairy").iccs == "h2h9"
    assert parse_move(START, "h3h10").iccs == "h2h9"
    assert format_move(START, Move.from_iccs("h2h9"), "fairy") == "h3h10"
    for text in ("h0e0", "h11e3", "h3", ""):
        with pytest.raises(MoveTextError, match="no move"):
            parse_move(START, text, "fairy")


@pytest.mark.parametrize("text", ["a0\u01301", "\u0130" + "1a2", "a1\u013010"])
@pytest.mark.parametrize("notation", [None, "iccs", "fairy"])
def test_letters_whose_lower_case_is_ascii(text: str, notation: str | None) -> None:
    """Letters outside ASCII are refused, even if a pattern that ignores case matches them.

    The dotted capital I of Turkish matches an i.
    """
    with pytest.raises(MoveTextError, match="no move"):
        parse_move(START, text, notation)


def test_text_in_another_notation_than_asked() -> None:
    for notation, text in (("iccs", "C2.5"), ("wxf", "h2e2"), ("zh", "C2.5"), ("wxf", "炮二平五")):
        with pytest.raises(MoveTextError, match="no move"):
            parse_move(START, text, notation)


def test_unknown_notation() -> None:
    with pytest.raises(InputError, match="no notation"):
        parse_move(START, "h2e2", "san")
    with pytest.raises(InputError, match="no notation"):
        format_move(START, Move.from_iccs("h2e2"), "san")
    with pytest.raises(MoveTextError, match="not legal"):
        format_move(START, Move.from_iccs("h3e3"), "wxf")


def crowded_pawns(rng: random.Random) -> Position:
    """Return a random legal position: each side has two to five pawns on two files, and a rook."""
    while True:
        board = bytearray(90)
        for side in Side:
            files = rng.sample(range(9), 2)
            men = [PieceType.KING, PieceType.ROOK] + [PieceType.PAWN] * rng.randint(2, 5)
            for kind in men:
                free = [
                    square
                    for square in area(side, kind)
                    if board[square] == EMPTY and (kind != PieceType.PAWN or square % 9 in files)
                ]
                board[rng.choice(free)] = piece_code(side, kind)
        position = Position(bytes(board), rng.choice(tuple(Side)))
        if is_legal(position):
            return position


def sample(rng: random.Random) -> Iterator[Position]:
    """Yield at least 200 positions: games from the opening array, endgames, and crowds of pawns."""
    count = 0
    while count < 50:
        for position in random_game(rng, START, 60):
            yield position
            count += 1
    yield from (random_position(rng) for _ in range(90))
    yield from (crowded_pawns(rng) for _ in range(60))


def test_round_trip_of_all_legal_moves() -> None:
    seen = 0
    for position in sample(random.Random(7)):
        seen += 1
        for style in POSITION_STYLES:
            assert parse_position(format_position(position, style), position.side) == position
        moves = legal_moves(position)
        for notation in MOVE_NOTATIONS:
            texts = [format_move(position, move, notation) for move in moves]
            assert len(set(texts)) == len(moves), (position.fen, notation)
            asked = "fairy" if notation == "fairy" else None
            assert [parse_move(position, text, asked) for text in texts] == moves, position.fen
    assert seen >= 200


@settings(max_examples=100, deadline=None)
@given(st.one_of(st.text(), st.text("CRP+-.=1234abh炮车兵前后一二平进１２", max_size=6)))
def test_noise_is_refused_in_one_line(text: str) -> None:
    message = ""
    try:
        parse_move(START, text)
    except MoveTextError as error:
        message = f"{error} {error.hint}"
    assert len(message.splitlines()) <= 1


def test_a_fen_and_iccs_are_taken_for_position_and_move() -> None:
    assert format_move(START_FEN, "h2e2", "wxf") == "C2.5"
    assert parse_move(START_FEN, "C2.5", "wxf").iccs == "h2e2"
    assert format_position(START_FEN, "pai") == format_position(START, "pai")
