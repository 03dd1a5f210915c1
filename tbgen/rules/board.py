"""Board geometry, and types of the arguments of rule functions.

board[square] -> piece code          90 squares, `tbgen.indexing.squares`
(rank, file) of a square             square // 9, square % 9
"""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence

from tbgen.system.scalar import scalar

Board = Sequence[int]
"""Ninety piece codes: `bytes`, a list, or an array of integers."""

MutableBoard = MutableSequence[int]
"""A board on which a function may try a move: a `bytearray`, a list, or an int8 array.

Functions that take a `MutableBoard` restore it before they return.
"""

Squares = MutableSequence[int]
"""A caller's buffer of squares: a list or an int array, long enough for the result."""

MAX_MOVES = 128
"""Upper bound of the pseudo-legal moves of a side.

A full set has at most 2 x 17 rook, 2 x 17 cannon, 2 x 8 knight, 5 x 3 pawn, 2 x 4 advisor,
2 x 4 elephant and 4 king moves: 119.
"""

STEPS = ((1, 0), (-1, 0), (0, 1), (0, -1))
"""(rank, file) steps of kings, and the directions of rooks and cannons."""

DIAGONALS = ((1, 1), (1, -1), (-1, 1), (-1, -1))
"""(rank, file) steps of advisors; an elephant moves two such steps."""

LEAPS = (
    (2, 1, 1, 0),
    (2, -1, 1, 0),
    (-2, 1, -1, 0),
    (-2, -1, -1, 0),
    (1, 2, 0, 1),
    (-1, 2, 0, 1),
    (1, -2, 0, -1),
    (-1, -2, 0, -1),
)
"""A knight's moves: (rank, file) steps to the target, then to the leg, which must be empty."""


@scalar
def is_on_board(rank: int, file: int) -> bool:
    """Return whether a rank (0 to 9) and a file (0 to 8) are on the board."""
    return 0 <= rank < 10 and 0 <= file < 9


@scalar
def is_in_palace(side: int, rank: int, file: int) -> bool:
    """Return whether the square on a rank and file belongs to the side's palace."""
    return 3 <= file <= 5 and 7 * side <= rank <= 7 * side + 2


@scalar
def is_own_half(side: int, rank: int) -> bool:
    """Return whether a rank lies on the side's own half of the board, before the river."""
    return rank // 5 == side


@scalar
def forward(side: int) -> int:
    """Return the step in ranks of a side's pawns: 1 for Red, -1 for Black."""
    return 1 - 2 * side
