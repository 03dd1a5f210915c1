"""The six-integer board code: the paper's lists and example, corrections, invalid codes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from tbgen.indexing import START_FEN, Position, PositionError, Side
from tbgen.indexing.boardcode import CASES, decode, encode
from tbgen.indexing.squares import PieceType, area, parse_square, piece_code
from tests.helpers.strategies import positions

START = Position.from_fen(START_FEN)
START_CODE = (90907073, 919901093, 929802089, 727822289, 616365676, 313335373)

# The lists as printed, with the last entry of R_ELEPHANT corrected: it reads 4357 in the paper.
PRINTED = {
    (Side.BLACK, PieceType.KING): "0 04 05 06 14 15 16 24 25 26",
    (Side.BLACK, PieceType.ADVISOR): (
        "0 04 06 15 24 26 0406 0415 0424 0426 0615 0624 0626 1524 1526 2426"
    ),
    (Side.BLACK, PieceType.ELEPHANT): (
        "0 03 07 21 25 29 43 47 0307 0321 0325 0329 0343 0347 0721 0725 0729 0743 0747 "
        "2125 2129 2143 2147 2529 2543 2547 2943 2947 4347"
    ),
    (Side.RED, PieceType.KING): "0 94 95 96 84 85 86 74 75 76",
    (Side.RED, PieceType.ADVISOR): (
        "0 94 96 85 74 76 9496 9485 9474 9476 9685 9674 9676 8574 8576 7476"
    ),
    (Side.RED, PieceType.ELEPHANT): (
        "0 93 97 71 75 79 53 57 9397 9371 9375 9379 9353 9357 9771 9775 9779 9753 9757 "
        "7175 7179 7153 7157 7579 7553 7557 7953 7957 5357"
    ),
}


@pytest.mark.parametrize("key", PRINTED)
def test_printed_lists(key: tuple[Side, PieceType]) -> None:
    printed = [
        () if word == "0" else tuple(int(word[i : i + 2]) for i in range(0, len(word), 2))
        for word in PRINTED[key].split()
    ]
    assert list(CASES[key]) == printed


def test_lists_have_no_duplicates_and_every_case() -> None:
    sizes = {PieceType.KING: 10, PieceType.ADVISOR: 16, PieceType.ELEPHANT: 29}
    for (side, kind), cases in CASES.items():
        squares = {frozenset(9 * (9 - point // 10) + point % 10 - 1 for point in c) for c in cases}
        assert len(squares) == len(cases) == sizes[kind]
        assert set().union(*squares) == set(area(side, kind))


def test_worked_example() -> None:
    assert encode(START) == START_CODE
    assert decode(START_CODE) == START.board


@settings(max_examples=300, deadline=None)
@given(positions(legal=False))
def test_round_trip(position: Position) -> None:
    code = encode(position)
    assert decode(code) == position.board
    assert all(0 <= value < 2**31 for value in code)


@pytest.mark.parametrize("square", area(Side.RED, PieceType.KING))
def test_every_king_square(square: int) -> None:
    """Every square of the Red king round-trips; case number 10 is written as the digit 0."""
    board = bytearray(90)
    board[square] = piece_code(Side.RED, PieceType.KING)
    board[81 - 9 * (square // 9) + square % 9] = piece_code(Side.BLACK, PieceType.KING)
    assert decode(encode(Position(bytes(board), Side.RED))) == board


def test_tenth_king_case() -> None:
    board = bytearray(90)
    board[parse_square("f2")] = piece_code(Side.RED, PieceType.KING)
    board[parse_square("f7")] = piece_code(Side.BLACK, PieceType.KING)
    # elephants 01 01, advisors 01 01, kings 0 and 0, the last of which is in the second integer
    assert encode(Position(bytes(board), Side.RED)) == (10101010, 0, 0, 0, 0, 0)


def test_absent_pieces() -> None:
    assert decode((10101011, 1, 0, 0, 0, 0)) == bytes(90)


def test_fewer_pieces_of_a_kind() -> None:
    position = Position.from_fen("4k4/9/9/9/4P4/2P6/9/9/4A4/2BK4R w")
    code = encode(position)
    # elephant on c0 (93, case 2), advisor on e1 (85, case 4), kings on d0 (94, case 2) and e9
    # (05, case 3); a rook on i0 (99); pawns on e5 (45) and c4 (53): 0000004553
    assert code == (20104012, 9900003, 3, 0, 455, 0)
    assert decode(code) == position.board


def test_order_of_the_pieces_of_a_kind_is_free_on_input() -> None:
    red_rooks_swapped = (START_CODE[0], 999101093, *START_CODE[2:])
    assert decode(red_rooks_swapped) == START.board
    rook_in_first_place = (10101013, 910000003, 0, 0, 0, 0)
    rook_in_second_place = (10101013, 9100003, 0, 0, 0, 0)
    assert decode(rook_in_first_place) == decode(rook_in_second_place)
    position = Position(decode(rook_in_first_place), Side.RED)
    assert encode(position) == rook_in_second_place


def test_largest_integers_fit_31_bits() -> None:
    kings = 292916169  # cases 29 29 16 16, and one king's digit
    pieces = 999_999_999  # nine digits, for any coordinates
    assert kings < pieces < 2**31 - 1


BAD_CODES = [
    ((1, 2, 3, 4, 5), "5 integers"),
    ((*START_CODE, 0), "7 integers"),
    ((-1, *START_CODE[1:]), "out of range"),
    ((*START_CODE[:5], 10**9), "out of range"),
    ((0, 0, 0, 0, 0, 0), "case 0"),
    ((300907073, *START_CODE[1:]), "case 30 of Red's elephant"),
    ((93007073, *START_CODE[1:]), "case 30 of Black's elephant"),
    ((90917073, *START_CODE[1:]), "case 17 of Red's advisor"),
    ((90907173, *START_CODE[1:]), "case 17 of Black's advisor"),
    ((90907073, 909901093, *START_CODE[2:]), "90 is no coordinate"),
    ((90907073, 919101093, *START_CODE[2:]), "two pieces of the board code stand on a0"),
    ((90907073, 939901093, *START_CODE[2:]), "two pieces of the board code stand on c0"),
]


@pytest.mark.parametrize(("code", "message"), BAD_CODES)
def test_bad_codes(code: tuple[int, ...], message: str) -> None:
    with pytest.raises(PositionError, match=message) as caught:
        decode(code)
    assert caught.value.hint
