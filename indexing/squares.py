"""The board: squares, sides, piece types, and the area of each piece.

    rank 9  81 82 83 84 85 86 87 88 89     Black's back rank
    ...
    rank 0   0  1  2  3  4  5  6  7  8     Red's back rank
    file     a  b  c  d  e  f  g  h  i     square = 9 * rank + file

The *area* of a piece is the set of squares where it can ever stand. Moves are in `tbgen.rules`.
"""

from __future__ import annotations

from enum import IntEnum
from functools import cache

from tbgen.indexing.errors import PositionError, excerpt
from tbgen.system.scalar import scalar

FILES = 9
RANKS = 10
SQUARES = FILES * RANKS


class Side(IntEnum):
    """The two sides; Red is upper case in a FEN and has rank 0 as its back rank."""

    RED = 0
    BLACK = 1

    @property
    def other(self) -> Side:
        """The opposite side."""
        return Side(1 - self)


class PieceType(IntEnum):
    """The seven piece types: three defenders, then four attackers, which may cross the river."""

    KING = 0
    ADVISOR = 1
    ELEPHANT = 2
    ROOK = 3
    KNIGHT = 4
    CANNON = 5
    PAWN = 6

    @property
    def is_attacker(self) -> bool:
        """Return whether the piece may cross the river."""
        return self >= PieceType.ROOK


LETTERS = "KABRNCP"
"""Letter of each piece type, indexed by `PieceType`."""

EMPTY = 0
"""Content of an empty square."""


@scalar
def piece_code(side: int, kind: int) -> int:
    """Return the piece code: 1 to 7 for Red's K A B R N C P, 9 to 15 for Black's."""
    return 8 * side + kind + 1


@scalar
def piece_side(code: int) -> int:
    """Return the side (0 Red, 1 Black) of a piece code; the code must not be `EMPTY`."""
    return code >> 3


@scalar
def piece_kind(code: int) -> int:
    """Return the `PieceType` of a piece code; the code must not be `EMPTY`."""
    return (code & 7) - 1


@scalar
def mirror_square(square: int) -> int:
    """Mirror a square left to right: file a becomes file i."""
    return square + 8 - 2 * (square % 9)


@scalar
def flip_square(square: int) -> int:
    """Flip a square top to bottom: rank 0 becomes rank 9, files stay."""
    return 81 - 9 * (square // 9) + square % 9


def square_name(square: int) -> str:
    """Return the name of a square: `e0` for 4."""
    return "abcdefghi"[square % 9] + str(square // 9)


def parse_square(text: str) -> int:
    """Return the square with a name such as `e0`; raises `PositionError`."""
    if len(text) == 2 and text[0] in "abcdefghi" and text[1] in "0123456789":
        return 9 * int(text[1]) + "abcdefghi".index(text[0])
    raise PositionError(f"{excerpt(text)} is no square", "squares are a0 to i9")


_RED_AREAS = {
    PieceType.KING: [9 * rank + file for rank in range(3) for file in (3, 4, 5)],
    PieceType.ADVISOR: [3, 5, 13, 21, 23],
    PieceType.ELEPHANT: [2, 6, 18, 22, 26, 38, 42],
    PieceType.PAWN: [*range(27, 36, 2), *range(36, 45, 2), *range(45, SQUARES)],
}
"""Squares of a red piece's area, ascending; types left out may stand on any square."""


@cache
def area(side: int, kind: int) -> tuple[int, ...]:
    """Return the squares where a piece of this side and `PieceType` may ever stand, ascending.

    The index of a square in this tuple is the piece's *slot*.
    """
    squares = _RED_AREAS.get(PieceType(kind), list(range(SQUARES)))
    if side == Side.BLACK:
        squares = sorted(flip_square(s) for s in squares)
    return tuple(squares)
