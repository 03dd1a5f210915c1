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
from itertools import chain, combinations, islice, pairwise, product

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

_DEFENDERS = (PieceType.ELEPHANT, PieceType.ADVISOR, PieceType.KING)
_ATTACKERS = (PieceType.ROOK, PieceType.KNIGHT, PieceType.CANNON, PieceType.PAWN)
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
    """List the cases of one type of a side (see `CASES`): no piece, one piece, then two pieces."""
    points = _BLACK_POINTS[kind]
    if side == Side.RED:
        points = tuple(90 - point // 10 * 10 + point % 10 for point in points)
    counts = range(MAX_COUNT[kind] + 1)
    return tuple(chain.from_iterable(combinations(points, count) for count in counts))


CASES = {(side, kind): _cases(side, kind) for side in Side for kind in _BLACK_POINTS}
"""The paper's six lists (B_KING, ..., R_ELEPHANT), by side and type; entry n - 1 is case n.

A case is a tuple of the coordinate numbers where the pieces stand.
"""


def encode(position: Position) -> tuple[int, ...]:
    """Return the six integers of a position; the side to move is not encoded."""
    points: dict[int, list[int]] = {}
    for code, square in position.pieces():
        points.setdefault(code, []).append(_coordinate(square))
    text = ""
    for kind, side in product((*_DEFENDERS, *_ATTACKERS), Side):
        own = sorted(points.get(piece_code(side, kind), ()))
        if kind in _DEFENDERS:
            number = [set(case) for case in CASES[side, kind]].index(set(own)) + 1
            # Ten cases of a king in one digit: the tenth is written 0, which no other case uses.
            text += str(number % 10) if kind == PieceType.KING else f"{number:02}"
        else:
            text += "".join(f"{point:02}" for point in own).zfill(2 * MAX_COUNT[kind])
    rows = pairwise((0, 10, 18, 26, 34, 44, 54))  # the six rows of the module docstring
    kings, rooks, knights, cannons, red, black = (text[first:end] for first, end in rows)
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
    kings, *pairs, red, black = (f"{value:0{_DIGITS}}" for value in code)
    moved = [pair[-1] for pair in pairs]
    digits = iter(
        kings + moved[0] + "".join(pair[:-1] for pair in pairs) + red + moved[1] + black + moved[2]
    )

    def number(count: int) -> int:
        """Return the next digits as a number."""
        return int("".join(islice(digits, count)))

    board = bytearray(SQUARES)
    for kind, side in product((*_DEFENDERS, *_ATTACKERS), Side):
        if kind in _DEFENDERS:
            cases = CASES[side, kind]
            case = number(2) if kind != PieceType.KING else number(1) or 10
            if not 1 <= case <= len(cases):
                raise PositionError(
                    f"the board code says case {case} of {side.name.title()}'s {kind.name.lower()}",
                    f"cases run from 1 (absent) to {len(cases)}",
                )
            points = cases[case - 1]
        else:
            points = tuple(number(2) for _ in range(MAX_COUNT[kind]))
        for point in filter(None, points):
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
    return bytes(board)


def _coordinate(square: int) -> int:
    """Return the paper's coordinate number of a square: 1 for a9, 99 for i0."""
    return 10 * (RANKS - 1 - square // FILES) + square % FILES + 1


def _square(coordinate: int) -> int:
    """Return the square of a coordinate number, whose last digit (column) must be 1 to 9."""
    return FILES * (RANKS - 1 - coordinate // 10) + coordinate % 10 - 1
