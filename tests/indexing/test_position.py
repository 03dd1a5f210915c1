"""FEN round trips, invalid boards, and symmetries of the board."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tbgen.indexing import START_FEN, InputError, Move, MoveTextError, Position, PositionError, Side
from tbgen.indexing.squares import (
    SQUARES,
    PieceType,
    area,
    flip_square,
    mirror_square,
    parse_square,
    piece_code,
    square_name,
)
from tests.helpers.strategies import ENDGAMES, pieces, place

KINGS = "3k5/9/9/9/9/9/9/9/9/4K4"


@st.composite
def boards(draw: st.DrawFn) -> Position:
    """Draw positions of `ENDGAMES`, legal or not; the opening array if the pieces do not fit."""
    men = pieces(draw(st.sampled_from(ENDGAMES)), draw(st.sampled_from(list(Side))))
    side = draw(st.sampled_from(list(Side)))
    position = place(men, side, lambda free: draw(st.sampled_from(free)))
    return position if position is not None else Position.from_fen(START_FEN)


@given(boards())
@settings(deadline=None)
def test_fen_round_trip(position: Position) -> None:
    assert Position.from_fen(position.fen) == position
    assert str(position) == position.fen
    assert Position.from_fen(position.fen.replace(" ", "_")) == position
    assert Position.from_fen(" ".join(position.fen.split()[:2])) == position


@given(boards())
@settings(deadline=None)
def test_symmetries(position: Position) -> None:
    assert position.mirrored().mirrored() == position
    assert position.swapped().swapped() == position
    assert position.swapped().mirrored() == position.mirrored().swapped()
    assert position.mirrored().material == position.swapped().material == position.material
    assert position.mirrored().side == position.side != position.swapped().side


def test_plain_numbers_are_converted() -> None:
    position = Position.from_fen(f"{KINGS} b")
    for side in (1, np.uint8(1), np.int64(1)):
        for board in (np.frombuffer(position.board, np.uint8), bytearray(position.board)):
            same = Position(board, side)  # type: ignore[arg-type]
            assert {same} == {position}
            assert same.side.other == Side.RED
    for wrong in (2, -1, "w", None):
        with pytest.raises(PositionError, match="is no side"):
            Position(position.board, wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "fen",
    [
        START_FEN,
        START_FEN.replace("b", "e").replace("B", "E").replace(" e ", " b "),
        START_FEN.replace("n", "h").replace("N", "H"),
        START_FEN.replace("p", "s").replace("P", "S"),
        START_FEN.replace(" w ", " r "),
        START_FEN.replace(" - - 0 1", ""),
        START_FEN.replace(" - - 0 1", " - -"),
        START_FEN.replace(" ", "_"),
        START_FEN.replace(" ", "+"),
        f"  {START_FEN}\n",
        START_FEN.replace("1c5c1", "1c11111c1"),
    ],
)
def test_accepted_spellings(fen: str) -> None:
    assert Position.from_fen(fen).fen == START_FEN


@pytest.mark.parametrize(
    "fen",
    [
        "",
        "w",
        f"{KINGS}",
        f"{KINGS} x",
        f"{KINGS} w -",
        f"{KINGS} w - - 0",
        f"{KINGS} w - - 0 x",
        f"{KINGS} w - - 0 1 2",
        f"{KINGS} w d9d8 e0e1",
        f"{KINGS} w - d9d8",
        f"{KINGS} w moves d9d8",
        f"{KINGS} w {KINGS} w",
        f"{KINGS}/9 w",
        "9/" + KINGS + " w",
        KINGS.replace("3k5", "3k6") + " w",
        KINGS.replace("3k5", "3k4") + " w",
        KINGS.replace("3k5", "3k05") + " w",
        KINGS.replace("3k5", "3q5") + " w",
        KINGS.replace("3k5", "9") + " w",
        KINGS.replace("3k5", "3kk4") + " w",
        KINGS.replace("3k5", "2k6") + " w",  # outside the palace
        KINGS.replace("4K4", "A3K4") + " w",
        KINGS.replace("4K4", "B3K4") + " w",
        KINGS.replace("4K4", "P3K4") + " w",  # a pawn behind its first rank
        KINGS.replace("9/4K4", "1P7/4K4") + " w",
        "3k5/RRR6/9/9/9/9/9/9/9/4K4 w",
        "3k5/PPPPPP3/9/9/9/9/9/9/9/4K4 w",
        KINGS.replace("3k5", "3ſ5") + " w",
        KINGS.replace("3k5", "3ßk4") + " w",
        KINGS.replace("3k5", "3k٥") + " w",
    ],
)
def test_malformed_fens(fen: str) -> None:
    with pytest.raises(PositionError) as caught:
        Position.from_fen(fen)
    assert "\n" not in str(caught.value)
    assert caught.value.hint


def test_mutated_fens_are_positions_or_input_errors() -> None:
    rng = random.Random(11)
    alphabet = "KABRNCPkabrncpEHSehs0123456789/ wrb-_+\t\n\0xQ٣ßſé帅" + chr(0x1F600)
    seeds = [START_FEN, f"{KINGS} b", "2bak4/4a4/4b4/9/2n6/6C2/P8/9/4N4/3AK4 w - - 12 40"]
    accepted = 0
    for _ in range(100_000):
        letters = list(rng.choice(seeds))
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(letters))
            kind = rng.randrange(4)
            if kind == 0:
                letters[at] = rng.choice(alphabet)
            elif kind == 1:
                letters.insert(at, rng.choice(alphabet))
            elif kind == 2 and len(letters) > 1:
                del letters[at]
            else:
                other = rng.randrange(len(letters))
                letters[at], letters[other] = letters[other], letters[at]
        try:
            position = Position.from_fen("".join(letters))
        except InputError:
            continue
        accepted += 1
        assert Position.from_fen(position.fen) == position
    assert 1_000 < accepted < 60_000


def test_boards_of_another_size_or_content_are_position_errors() -> None:
    board = bytearray(Position.from_fen(f"{KINGS} w").board)
    for length in (0, 89, 91):
        with pytest.raises(PositionError, match="squares"):
            Position(bytes(board[:length]) + bytes(max(0, length - 90)), Side.RED)
    for code in (8, 16, 24, 127, 255):
        board[40] = code
        with pytest.raises(PositionError, match="no piece code"):
            Position(bytes(board), Side.RED)


def test_areas_agree_with_the_rules() -> None:
    sizes = {"KING": 9, "ADVISOR": 5, "ELEPHANT": 7, "PAWN": 55}
    for kind in PieceType:
        red, black = (area(side, kind) for side in Side)
        assert len(red) == sizes.get(kind.name, 90)
        assert sorted(map(flip_square, red)) == list(black) == sorted(black)
        assert sorted(map(mirror_square, red)) == list(red)
    assert square_name(4) == "e0"
    assert [parse_square(square_name(square)) for square in range(SQUARES)] == list(range(SQUARES))
    codes = {piece_code(side, kind) for side in Side for kind in PieceType}
    assert codes == {*range(1, 8), *range(9, 16)}


def test_moves() -> None:
    for text in ("h2e2", "H2-E2", " h2e2 "):
        assert Move.from_iccs(text).iccs == "h2e2"
    for text in ("", "h2", "h2e2e2", "j2e2", "h2ea", "h2--e2"):
        with pytest.raises(MoveTextError):
            Move.from_iccs(text)
    position = Position.from_fen(START_FEN)
    after = position.after(*Move.from_iccs("h2e2"))
    assert after.fen.startswith("rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C2C4/9/RNBAKABNR b")
