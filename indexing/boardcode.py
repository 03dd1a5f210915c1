"""The six-integer board code of Yang, Liu and Xie ("A New Representation of Chinese Chess Board").

    row, column     00 01 .. 08         the paper's 10x9 array: row 0 is Black's back rank
                    ..                  coordinate number of (row, column) = 10 * row + column + 1
                    90 91 .. 98         00 = the piece is absent

    kings etc.      ab cd ef gh i j     red, black elephants; red, black advisors; red, black king:
                                        numbers of cases, the first case being "absent"
    rooks           abcd efgh           two coordinate numbers of Red, two of Black
    knights, cannons                    likewise
    pawns           abcdefghij          five coordinate numbers, one integer a side

    code = kings' digits but the last | rooks, kings' last digit | knights, red pawns' last digit
         | cannons, black pawns' last digit | red pawns but the last digit | black pawns likewise

Moving three last digits keeps every integer below 2**31. Missing pieces of a kind are leading
zeros, those present ascend. The code carries no side to move. It follows the paper's worked
example where its text and lists contradict that: `docs/notations.md` lists every correction.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from tbgen.indexing.errors import PositionError
from tbgen.indexing.material import MAX_COUNT
from tbgen.indexing.squares import (
    EMPTY,
    FILES,
    RANKS,
    SQUARES,
    PieceType,
    Side,
    piece_code,
    piece_kind,
    square_name,
)

BoardCode = tuple[int, int, int, int, int, int]

INTEGERS = 6

_SIDES = (Side.RED, Side.BLACK)
_PAIRED = (PieceType.ROOK, PieceType.KNIGHT, PieceType.CANNON)
_MAX_INTEGER = 999_999_999
_RANGE_HINT = "the code is six integers of at most nine digits, none negative"

_BLACK_POINTS = {
    PieceType.KING: (4, 5, 6, 14, 15, 16, 24, 25, 26),
    PieceType.ADVISOR: (4, 6, 15, 24, 26),
    PieceType.ELEPHANT: (3, 7, 21, 25, 29, 43, 47),
}
"""Coordinate numbers of the points where Black's kings, advisors and elephants may stand, in the
paper's order. Red's points are the same in row 9 - row.
"""


def _cases(side: Side, kind: PieceType) -> tuple[tuple[int, ...], ...]:
    """List the sets of points that pieces of one type may occupy, in the order of the case numbers.

    Case 1 is "absent"; then follow each point and, for two pieces, each pair of points.
    """
    points = _BLACK_POINTS[kind]
    if side == Side.RED:
        points = tuple(90 - point // 10 * 10 + point % 10 for point in points)
    sets: list[tuple[int, ...]] = []
    for count in range(MAX_COUNT[kind] + 1):
        sets += combinations(points, count)
    return tuple(sets)


CASES = {(side, kind): _cases(side, kind) for side in _SIDES for kind in _BLACK_POINTS}
"""The paper's six lists (B_KING, ..., R_ELEPHANT). Each entry is one case, a tuple of coordinate
numbers of the points where the pieces stand; case number 1 is the first entry.
"""

_CASE_NUMBERS = {
    key: {frozenset(points): number for number, points in enumerate(cases, start=1)}
    for key, cases in CASES.items()
}


def encode(board: Sequence[int]) -> BoardCode:
    """Return the six integers of a 90-square board; kings may be absent.

    Raises `PositionError` for more pieces than a set has, and for a king, advisor or elephant on a
    square outside its area.
    """
    _check_pieces(board)
    found: dict[int, list[int]] = {}
    for square, piece in enumerate(board):
        if piece != EMPTY:
            found.setdefault(piece, []).append(_coordinate(square))

    def numbers(side: Side, kind: PieceType) -> list[int]:
        points = sorted(found.get(piece_code(side, kind), ()))
        if len(points) > MAX_COUNT[kind]:
            raise PositionError(
                f"{side.name.title()} has {len(points)} {kind.name.lower()}s",
                f"the code has room for {MAX_COUNT[kind]}",
            )
        return [0] * (MAX_COUNT[kind] - len(points)) + points

    def case(side: Side, kind: PieceType) -> int:
        points = frozenset(numbers(side, kind)) - {0}
        number = _CASE_NUMBERS[side, kind].get(points)
        if number is None:
            where = ", ".join(square_name(_square(point)) for point in sorted(points))
            raise PositionError(
                f"{side.name.title()}'s {kind.name.lower()} cannot stand on {where}",
                "kings and advisors stay in the palace, elephants on their seven points",
            )
        return number

    kings = 0
    for kind in (PieceType.ELEPHANT, PieceType.ADVISOR):
        for side in _SIDES:
            kings = 100 * kings + case(side, kind)
    for side in _SIDES:
        # Ten cases in one digit: the tenth is written 0, which no other case uses.
        kings = 10 * kings + case(side, PieceType.KING) % 10
    rooks, knights, cannons = (
        _join(numbers(Side.RED, kind) + numbers(Side.BLACK, kind)) for kind in _PAIRED
    )
    red_pawns, black_pawns = (_join(numbers(side, PieceType.PAWN)) for side in _SIDES)
    return (
        kings // 10,
        10 * rooks + kings % 10,
        10 * knights + red_pawns % 10,
        10 * cannons + black_pawns % 10,
        red_pawns // 10,
        black_pawns // 10,
    )


def decode(code: Sequence[int]) -> bytes:
    """Return the 90-square board of six integers; pieces of one kind may come in any order.

    Raises `PositionError` for invalid case numbers or coordinates, and for two pieces on one
    square.
    """
    if len(code) != INTEGERS:
        raise PositionError(f"the board code has {len(code)} integers", _RANGE_HINT)
    for index, value in enumerate(code):
        if not 0 <= value <= _MAX_INTEGER:
            raise PositionError(f"integer {index} of the board code is out of range", _RANGE_HINT)
    kings = 10 * code[0] + code[1] % 10
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

    put_case(Side.RED, PieceType.ELEPHANT, kings // 10**8)
    put_case(Side.BLACK, PieceType.ELEPHANT, kings // 10**6 % 100)
    put_case(Side.RED, PieceType.ADVISOR, kings // 10**4 % 100)
    put_case(Side.BLACK, PieceType.ADVISOR, kings // 100 % 100)
    put_case(Side.RED, PieceType.KING, kings // 10 % 10 or 10)
    put_case(Side.BLACK, PieceType.KING, kings % 10 or 10)
    for kind, value in zip(_PAIRED, code[1:4], strict=True):
        points = _split(value // 10, 4)
        put(Side.RED, kind, points[:2])
        put(Side.BLACK, kind, points[2:])
    put(Side.RED, PieceType.PAWN, _split(10 * code[4] + code[2] % 10, 5))
    put(Side.BLACK, PieceType.PAWN, _split(10 * code[5] + code[3] % 10, 5))
    return bytes(board)


def _check_pieces(codes: Sequence[int]) -> None:
    """Raise `PositionError` unless there are ninety values, each `EMPTY` or a piece code."""
    if len(codes) != SQUARES:
        raise PositionError(f"a board has {SQUARES} squares, not {len(codes)}")
    for code in codes:
        if code != EMPTY and not (0 < code < 16 and 0 <= piece_kind(code) < len(PieceType)):
            raise PositionError(f"{code} is no piece", "0 is empty, 1..7 are Red's, 9..15 Black's")


def _coordinate(square: int) -> int:
    """Coordinate number of a square: 1 for a9, 99 for i0."""
    return 10 * (RANKS - 1 - square // FILES) + square % FILES + 1


def _square(coordinate: int) -> int:
    """Square of a coordinate number; the column must be 1 to 9."""
    return FILES * (RANKS - 1 - coordinate // 10) + coordinate % 10 - 1


def _join(numbers: Sequence[int]) -> int:
    """Concatenate two-digit numbers into one integer."""
    value = 0
    for number in numbers:
        value = 100 * value + number
    return value


def _split(value: int, count: int) -> list[int]:
    """Split an integer into `count` two-digit numbers; inverse of `_join`."""
    return [value // 100**index % 100 for index in range(count - 1, -1, -1)]
