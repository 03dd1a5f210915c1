"""Positions as text: golden vectors, round trips, and errors for bad input."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tbgen.indexing import START_FEN, InputError, Position, PositionError, Side
from tbgen.indexing.material import MAX_COUNT
from tbgen.indexing.squares import PieceType, area, piece_code
from tbgen.notation import POSITION_STYLES, format_position, parse_position, read_position

KNIGHT_FEN = "4k4/4a4/9/9/9/4N4/9/5K3/9/9"
PAI = [
    ("4K44B49994n495k399", f"{KNIGHT_FEN} w - - 0 1", Side.RED),
    ("4K44B49994n495k3990", f"{KNIGHT_FEN} b - - 0 1", Side.RED),
    ("4K44B49994n495k3990:", f"{KNIGHT_FEN} b - - 0 1", Side.BLACK),
    ("4K44B49994n495k399:", f"{KNIGHT_FEN} w - - 0 1", Side.BLACK),
    (
        "6E21n74K494n1E27C19995k3",
        "6b2/1N7/4k4/9/4N1b2/7c1/9/9/9/5K3 w - - 0 1",
        Side.RED,
    ),
    (
        "RNEBKBENR91C5C1P1P1P1P1P99p1p1p1p1p1c5c19rnebkbenr",
        START_FEN,
        Side.RED,
    ),
]
START_BOARD = """\
9 r n b a k a b n r
8 . . . . . . . . .
7 . c . . . . . c .
6 p . p . p . p . p
5 . . . . . . . . .
4 . . . . . . . . .
3 P . P . P . P . P
2 . C . . . . . C .
1 . . . . . . . . .
0 R N B A K A B N R
  a b c d e f g h i
red to move"""


@st.composite
def positions(draw: st.DrawFn) -> Position:
    """Draw a position with any pieces on squares of their areas (a Hypothesis strategy)."""
    board = bytearray(90)
    for kind in PieceType:
        for side in Side:
            least = 1 if kind == PieceType.KING else 0
            for _ in range(draw(st.integers(least, MAX_COUNT[kind]))):
                free = [s for s in area(side, kind) if not board[s]]
                if free:
                    board[draw(st.sampled_from(free))] = piece_code(side, kind)
    return Position(bytes(board), draw(st.sampled_from(Side)))


@pytest.mark.parametrize(("text", "fen", "viewpoint"), PAI)
def test_pai_golden(text: str, fen: str, viewpoint: Side) -> None:
    read = read_position(text)
    assert (read.position.fen, read.style, read.viewpoint) == (fen, "pai", viewpoint)
    assert format_position(read.position, "pai", viewpoint) == text


@pytest.mark.parametrize("rows", [range(12), range(10), [*range(10), 11]])
def test_a_board_may_have_blanks_in_place_of_line_breaks(rows) -> None:
    lines = [START_BOARD.splitlines()[row] for row in rows]
    assert read_position(" ".join(lines)).style == "board"
    assert parse_position(" ".join(lines)) == Position.from_fen(START_FEN)
    plain = " ".join("".join(line[2:].split()) for line in lines[:10])
    assert parse_position(f"{plain} black to move").side == Side.BLACK
    turned = " ".join(reversed(lines[:10]))
    assert read_position(turned).viewpoint == Side.BLACK


def test_board_golden() -> None:
    start = Position.from_fen(START_FEN)
    assert format_position(start, "board") == START_BOARD
    turned = format_position(start, "board", Side.BLACK)
    assert turned.splitlines()[0] == "0 R N B A K A B N R"
    assert turned.splitlines()[-2] == "  i h g f e d c b a"
    assert read_position(turned) == (start, "board", Side.BLACK)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: "\n".join(line[2:] for line in text.splitlines()[:10]),  # bare points
        lambda text: text.replace(" ", ""),
        lambda text: text.replace(".", "+"),
        lambda text: text.replace("n", "h").replace("B", "E").replace("p", "s"),
        lambda text: "\n\n" + text.replace("\n", "\r\n") + "\n",
        lambda text: "\n".join(f"{x} {x[0]}" for x in text.splitlines()[:10]),
        lambda text: "\n".join(f"{x[2:]} {x[0]}" for x in text.splitlines()[:10]),
    ],
)
def test_board_variants(change) -> None:
    assert parse_position(change(START_BOARD)).fen == START_FEN


@settings(max_examples=300, deadline=None)
@given(positions(), st.sampled_from(Side))
def test_round_trips(position: Position, viewpoint: Side) -> None:
    for style in POSITION_STYLES:
        text = format_position(position, style, viewpoint)
        read = read_position(text, position.side if style == "six" else None)
        assert read.position == position
        assert read.style == style
        if style in ("pai", "board"):
            assert read.viewpoint == viewpoint


def test_side() -> None:
    assert parse_position("4K44B49994n495k399", Side.BLACK).side == Side.BLACK
    assert parse_position(f"{KNIGHT_FEN} b", Side.RED).side == Side.RED
    assert parse_position(KNIGHT_FEN, Side.BLACK).side == Side.BLACK
    for word, side in (
        ("红", Side.RED),
        ("紅方", Side.RED),
        ("黑", Side.BLACK),
        ("黑方先走", Side.BLACK),
    ):
        assert parse_position(f"{KNIGHT_FEN} {word}").side == side
    code = format_position(Position.from_fen(START_FEN), "six")
    assert parse_position(code).side == Side.RED
    assert parse_position(code, Side.BLACK).side == Side.BLACK
    assert parse_position(START_BOARD.replace("red", "black")).side == Side.BLACK
    assert parse_position(KNIGHT_FEN, "black").side == Side.BLACK
    seen_by_black = format_position(f"{KNIGHT_FEN} w", "board", "black")
    assert seen_by_black == format_position(f"{KNIGHT_FEN} w", "board", Side.BLACK)
    with pytest.raises(InputError, match="'green' is none of red, black"):
        format_position(f"{KNIGHT_FEN} w", "board", "green")


@pytest.mark.parametrize(
    "text",
    [
        "90907073,919901093,929802089,727822289,616365676,313335373",
        "B[6] = {90907073, 919901093, 929802089, 727822289, 616365676, 313335373}",
        "[90907073, 919901093, 929802089, 727822289, 616365676, 313335373]",
        "90907073 919901093 929802089 727822289; 616365676;313335373",
        f"{START_FEN.split()[0]}_w",
        f"FEN {START_FEN}",
        f"FEN：{START_FEN}",
        f"{START_FEN.split()[0]}+r+-+-",
    ],
)
def test_spellings(text: str) -> None:
    assert parse_position(text).fen == START_FEN


MALFORMED = [
    ("", "empty"),
    (" \n", "empty"),
    ("hello", "no piece"),
    ("4K4", "9 of 90"),
    ("4K54B49994n495k399", "more than nine"),
    ("4K44B49994n495k3999", "after its tenth row"),
    ("4K44B49994n495k39900", "after its tenth row"),
    ("4K44B49994n495k399:0", "after its tenth row"),
    ("4K44A49994n495k399", "'A' is no piece"),
    ("4\u212a44B49994n495k399", "no piece"),
    ("B3K49999994n495k3", "cannot stand on a9"),
    ("999999999", "1 integers"),
    ("9" * 12, "no integer"),
    ("1,2,3", "3 integers"),
    ("1,2,3,4,5,-6", "no integer"),
    ("1,2,3,4,5,6.5", "no piece"),
    ("0,0,0,0,0,0", "case 0"),
    ("90907073,919901093,929802089,727822289,616365676,3133353731", "out of range"),
    ("90907073,919901093,929802089,727822289,616365676,303335373", "30 is no coordinate"),
    ("90907073,919901093,929802089,727822289,919365676,313335373", "two pieces"),
    ("300907073,919901093,929802089,727822289,616365676,313335373", "case 30"),
    ("90917073,919901093,929802089,727822289,616365676,313335373", "case 17"),
    ("90907071,919901091,929802089,727822289,616365676,313335373", "0 kings"),
    (f"{START_FEN.split()[0]}", "fields"),
    (f"{START_FEN.split()[0]} x", "no side"),
    (f"{START_FEN} 黑先胜", "'黑先胜' follows a FEN with Red to move"),
    (f"{START_FEN} 黑胜", "6 fields, not 7"),
    ("9/9/9 w", "ten ranks, not 3"),
    (START_FEN.replace("9/1c5c1", "8/1c5c1"), "8 files"),
    (START_FEN.replace("rnbakabnr", "rnbakabnx"), "no piece"),
    (START_FEN.replace("rnbakabnr", "rnbaqabnr"), "no piece"),
    (START_FEN.replace("rnbakabnr", "rnbarabnr"), "0 kings"),
    ("\n".join(START_BOARD.splitlines()[1:]), "9 lines"),
    (START_BOARD.replace("9 r n", "9 r"), "8 points"),
    (START_BOARD.replace("9 r n", "9 x n"), "no piece letter"),
    (START_BOARD.replace("9 r n", "8 r n"), "ranks are named"),
    (START_BOARD.replace("8 . . .", "8 R R R"), "5 pieces"),
]


@pytest.mark.parametrize("fields", ["", " b", " b - -", " b - - 0 1"])
@pytest.mark.parametrize("words", ["黑先", "黑先胜", "黑方先和棋"])
def test_the_words_of_a_book_state_the_side_to_move(fields: str, words: str) -> None:
    found = parse_position(f"{START_FEN.split()[0]}{fields} {words}")
    assert found == Position(Position.from_fen(START_FEN).board, Side.BLACK)


@pytest.mark.parametrize(("text", "message"), MALFORMED)
def test_malformed(text: str, message: str) -> None:
    with pytest.raises(PositionError, match=message) as caught:
        parse_position(text)
    assert caught.value.hint
    for line in (str(caught.value), caught.value.hint):
        assert "\n" not in line
        assert len(line) < 200


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(), st.text("KRCNPBEkrcnpbe0123456789:/ ,\n.-", max_size=80)))
def test_noise_is_refused_in_one_line(text: str) -> None:
    message = ""
    try:
        parse_position(text)
    except PositionError as error:
        message = f"{error} {error.hint}"
    assert len(message.splitlines()) <= 1


@pytest.mark.parametrize(
    "pattern",
    ["1{}x", "1{}]x", "[{}1{}x", "B[6]={}[{}1{}x", "B{}[6]{}={}x", "{}x", "1{}/", "9\n{}x"],
)
@pytest.mark.parametrize("filler", [" ", "1 ", "- ", ", ", "\n", "]"])
def test_parsing_takes_linear_time(pattern: str, filler: str) -> None:
    """An invalid text with 2 000 blanks or other fillers is refused at once.

    Regression: 2 000 blanks took twenty seconds, by backtracking of a regular expression.
    """
    text = pattern.replace("{}", filler * 2000)
    start = time.process_time()
    with pytest.raises(PositionError):
        parse_position(text)
    assert time.process_time() - start < 0.2


def test_unknown_style() -> None:
    with pytest.raises(InputError, match="no notation"):
        format_position(Position.from_fen(START_FEN), "pgn")


def test_notation_imports_neither_numba_nor_numpy() -> None:
    code = (
        "import sys, tbgen.notation, tbgen.cli.convert;"
        "sys.exit(bool({'numba', 'numpy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
