"""The six-integer board code of Yang, Liu and Xie ("A New Representation of Chinese Chess Board").

    row, column     00 01 .. 08         the paper's 10x9 array: row 0 is Black's back rank
                    ..                  coordinate number of (row, column) = 10 * row + column + 1
                    90 91 .. 98         00 = the piece is absent

    defenders       ab cd ef gh i j     case numbers of Red's and Black's elephants, of Red's and
                                        Black's advisors, of Red's and Black's king
    rooks           ab cd ef gh         two coordinate numbers of Red's, two of Black's
    knights         ab cd ef gh         likewise
    cannons         ab cd ef gh         likewise
    red pawns       ab cd ef gh ij      five coordinate numbers
    black pawns     ab cd ef gh ij      likewise

A *case* is one way to place the pieces of one type of a side; case 1 is "absent" (`CASES`). Missing
pieces of a type are leading zeros; the coordinate numbers of the others ascend. These six rows are
the six integers, with three digits moved so that each is below 2**31: the last digit of the
defenders stands at the end of the rooks, that of the red pawns at the end of the knights, and that
of the black pawns at the end of the cannons.

The paper's text contradicts its worked example in places. This module follows the example;
`docs/notations.md` lists every correction.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, combinations, product

from tbgen.indexing.errors import PositionError
from tbgen.indexing.material import MAX_COUNT
from tbgen.indexing.position import Position
from tbgen.indexing.squares import (
    EMPTY,
    FILES,
    RANKS,
    SQUARES,
    PieceType,
    Side,
    piece_code,
    square_name,
)

_INTEGERS, _DIGITS = 6, 9

_PAIRED = (PieceType.ROOK, PieceType.KNIGHT, PieceType.CANNON)
_GUARDS = (PieceType.ELEPHANT, PieceType.ADVISOR)
_RANGE_HINT = "the code is six integers of at most nine digits, none negative"

_BLACK_POINTS = {
    PieceType.KING: (4, 5, 6, 14, 15, 16, 24, 25, 26),
    PieceType.ADVISOR: (4, 6, 15, 24, 26),
    PieceType.ELEPHANT: (3, 7, 21, 25, 29, 43, 47),
}
"""Coordinate numbers (the paper's *points*) where each of Black's defenders may stand.

They are in the paper's order. Red's points have the same columns, and row 9 - r in place of row r.
"""


def _cases(side: Side, kind: PieceType) -> tuple[tuple[int, ...], ...]:
    """List the sets of coordinate numbers where the pieces of one type may stand, from case 1 on.

    The first is empty ("absent"). Then follow single squares and, for two pieces, pairs of squares.
    """
    points = _BLACK_POINTS[kind]
    if side == Side.RED:
        points = tuple(90 - point // 10 * 10 + point % 10 for point in points)
    counts = range(MAX_COUNT[kind] + 1)
    return tuple(chain.from_iterable(combinations(points, count) for count in counts))


CASES = {(side, kind): _cases(side, kind) for side in Side for kind in _BLACK_POINTS}
"""The paper's six lists (B_KING, ..., R_ELEPHANT), by side and type; entry n - 1 is case n.

A case is a tuple of the coordinate numbers where the pieces stand.
"""

_CASE_NUMBERS = {
    key: {frozenset(points): number for number, points in enumerate(cases, start=1)}
    for key, cases in CASES.items()
}


def encode(position: Position) -> tuple[int, ...]:
    """Return the six integers of a position; the side to move is not encoded."""
    found: dict[int, list[int]] = {}
    for piece, square in position.pieces():
        found.setdefault(piece, []).append(_coordinate(square))

    def points(side: Side, kind: PieceType) -> list[int]:
        return sorted(found.get(piece_code(side, kind), ()))

    def case(side: Side, kind: PieceType) -> int:
        return _CASE_NUMBERS[side, kind][frozenset(points(side, kind))]

    def digits(side: Side, kind: PieceType) -> str:
        return "".join(f"{point:02}" for point in points(side, kind)).zfill(2 * MAX_COUNT[kind])

    kings = "".join(f"{case(side, kind):02}" for kind, side in product(_GUARDS, Side))
    # Ten cases in one digit: the tenth is written 0, which no other case uses.
    kings += "".join(str(case(side, PieceType.KING) % 10) for side in Side)
    rooks, knights, cannons = (
        digits(Side.RED, kind) + digits(Side.BLACK, kind) for kind in _PAIRED
    )
    red, black = (digits(side, PieceType.PAWN) for side in Side)
    parts = (
        kings[:-1], rooks + kings[-1], knights + red[-1], cannons + black[-1], red[:-1], black[:-1]
    )  # fmt: skip
    return tuple(map(int, parts))


def decode(code: Sequence[int]) -> bytes:
    """Return the board (90 piece codes) that six integers encode; kings may be absent.

    The coordinate numbers of a type may have any order. Raises `PositionError` unless there are six
    integers, for numbers out of range, and for two pieces on one square. Whether attackers are in
    their areas is not checked.
    """
    if len(code) != _INTEGERS:
        raise PositionError(f"the board code has {len(code)} integers", _RANGE_HINT)
    for index, value in enumerate(code):
        if not 0 <= value < 10**_DIGITS:
            raise PositionError(f"integer {index} of the board code is out of range", _RANGE_HINT)
    parts = [f"{value:0{_DIGITS}}" for value in code]
    board = bytearray(SQUARES)

    def put(side: Side, kind: PieceType, points: Sequence[int]) -> None:
        for point in points:
            if point == 0:
                continue
            if point % 10 == 0:
                raise PositionError(
                    f"{point:02} is no coordinate in the board code",
                    "a coordinate is the row 0..9 and the column 1..9; 00 is an absent piece",
                )
            square = _square(point)
            if board[square] != EMPTY:
                raise PositionError(
                    f"two pieces of the board code stand on {square_name(square)}",
                    f"coordinate {point:02} is used twice",
                )
            board[square] = piece_code(side, kind)

    def put_case(side: Side, kind: PieceType, number: int) -> None:
        cases = CASES[side, kind]
        if not 1 <= number <= len(cases):
            raise PositionError(
                f"the board code says case {number} of {side.name.title()}'s {kind.name.lower()}",
                f"cases run from 1 (absent) to {len(cases)}",
            )
        put(side, kind, cases[number - 1])

    numbers = _two_digit_numbers(parts[0][:-1])
    for (kind, side), number in zip(product(_GUARDS, Side), numbers, strict=True):
        put_case(side, kind, number)
    for side in Side:
        put_case(side, PieceType.KING, int(parts[side][-1]) or 10)
    for kind, part in zip(_PAIRED, parts[1:4], strict=True):
        points = _two_digit_numbers(part[:-1])
        put(Side.RED, kind, points[:2])
        put(Side.BLACK, kind, points[2:])
    for side in Side:
        put(side, PieceType.PAWN, _two_digit_numbers(parts[4 + side] + parts[2 + side][-1]))
    return bytes(board)


def _coordinate(square: int) -> int:
    """Return the paper's coordinate number of a square: 1 for a9, 99 for i0."""
    return 10 * (RANKS - 1 - square // FILES) + square % FILES + 1


def _square(coordinate: int) -> int:
    """Return the square of a coordinate number, whose last digit (column) must be 1 to 9."""
    return FILES * (RANKS - 1 - coordinate // 10) + coordinate % 10 - 1


def _two_digit_numbers(digits: str) -> list[int]:
    """Split a text of digits into numbers of two digits: 3 and 45 for `0345`."""
    return [int(digits[at : at + 2]) for at in range(0, len(digits), 2)]
