"""The board: squares, sides, piece types, and where each piece may ever stand.

    rank 9  81 82 83 84 85 86 87 88 89     Black's back rank
    ...
    rank 0   0  1  2  3  4  5  6  7  8     Red's back rank
    file     a  b  c  d  e  f  g  h  i     square = 9 * rank + file

Owned here: the numbering, the two symmetries of the board, and the *areas* (the squares on which
a piece can stand at all). How a piece moves is no business of this package.
"""

from __future__ import annotations

from enum import IntEnum
from functools import cache

from tbgen.indexing.errors import PositionError, excerpt
from tbgen.indexing.scalar import scalar

FILES = 9
RANKS = 10
SQUARES = FILES * RANKS


class Side(IntEnum):
    """The two sides; Red is upper case in a FEN and has rank 0 as its back rank."""

    RED = 0
    BLACK = 1

    @property
    def other(self) -> Side:
        """The opponent."""
        return Side(1 - self)


class PieceType(IntEnum):
    """The seven kinds of pieces: first the defenders, then the attackers (who cross the river)."""

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
"""The letter of each piece type, indexed by `PieceType`."""

EMPTY = 0
"""The content of an empty square on a board array."""


@scalar
def piece_code(side: int, kind: int) -> int:
    """The content of a square: 1..7 for Red's K A B R N C P, 9..15 for Black's."""
    return 8 * side + kind + 1


@scalar
def piece_side(code: int) -> int:
    """The owner of a (non-empty) piece code."""
    return code >> 3


@scalar
def piece_kind(code: int) -> int:
    """The `PieceType` of a (non-empty) piece code."""
    return (code & 7) - 1


@scalar
def mirror_square(square: int) -> int:
    """The square seen in a mirror: file a becomes file i."""
    return square + 8 - 2 * (square % 9)


@scalar
def flip_square(square: int) -> int:
    """The square seen from the other side: rank 0 becomes rank 9, files stay."""
    return 81 - 9 * (square // 9) + square % 9


def square_name(square: int) -> str:
    """`e0` for square 4."""
    return "abcdefghi"[square % 9] + str(square // 9)


def parse_square(text: str) -> int:
    """The square that `e0` names; raises `PositionError`."""
    if len(text) == 2 and text[0] in "abcdefghi" and text[1] in "0123456789":
        return 9 * int(text[1]) + "abcdefghi".index(text[0])
    raise PositionError(f"{excerpt(text)} is no square", "squares are a0 to i9")


def _red_area(kind: PieceType) -> list[int]:
    """Red's squares, ascending (a pawn may stand on 55)."""
    if kind == PieceType.KING:
        return [9 * rank + file for rank in range(3) for file in (3, 4, 5)]
    if kind == PieceType.ADVISOR:
        return [3, 5, 13, 21, 23]
    if kind == PieceType.ELEPHANT:
        return [2, 6, 18, 22, 26, 38, 42]
    if kind == PieceType.PAWN:
        own_half = [s for s in range(27, 45) if s % 9 % 2 == 0]
        return own_half + list(range(45, SQUARES))
    return list(range(SQUARES))


@cache
def area(side: int, kind: int) -> tuple[int, ...]:
    """The squares where this piece may stand, ascending.

    A square's position in this list is the piece's *slot* there, from which placements are
    ranked (`groups.py`).
    """
    squares = _red_area(PieceType(kind))
    if side == Side.BLACK:
        squares = sorted(flip_square(s) for s in squares)
    return tuple(squares)
