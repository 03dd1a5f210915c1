# mypy: allow-untyped-defs, allow-untyped-calls
"""Boards on which chases are tried, and what a move attacks anew.

Attacks are judged by the predicates of the referee (`tbgen.rules.chases`, whose numbered points
are those of docs/referee.md, section 2), for pieces in the order of `Layout.piece_codes` instead
of squares. What values and orders make of an attack is in `edges` and `victims`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import part
from tbgen.compiling.lending import lent
from tbgen.indexing.slots import squares_of_slot
from tbgen.indexing.squares import EMPTY, SQUARES, piece_side
from tbgen.rules.board import MAX_MOVES
from tbgen.rules.chases import is_new_attack
from tbgen.verify.moves import Desk, MoveList


@lent
class Bench(NamedTuple):
    """A desk, and beside it the boards after a chase and after its answer.

    `desk.squares` follows the moves that are tried on any of the three.
    """

    desk: Desk
    after: NDArray[np.int8]
    """int8 (90,): piece codes."""
    replied: NDArray[np.int8]
    """int8 (90,): piece codes."""
    replies: MoveList
    first_orders: NDArray[np.int64]
    """int64 (pieces,): from which order on each piece is the one that every move must chase."""
    last_orders: NDArray[np.int64]
    """int64 (pieces,): the highest order from which a move loses that chases each piece."""
    attackers: NDArray[np.int64]
    """int64 (pieces,): the pieces that attack the victim anew."""
    keys: NDArray[np.int64]
    """int64 (MAX_MOVES,): the key after each of `desk.moves`."""

    @classmethod
    def make(cls, pieces: int) -> Bench:
        """An empty one for positions of so many pieces."""
        return cls(
            Desk.make(pieces),
            np.zeros(SQUARES, np.int8),
            np.zeros(SQUARES, np.int8),
            MoveList.make(),
            np.zeros(pieces, np.int64),
            np.zeros(pieces, np.int64),
            np.zeros(pieces, np.int64),
            np.zeros(MAX_MOVES, np.int64),
        )


@part
def copy_board(board, copy):
    """Copy a board.

    copy : int8 (90,), out
    """
    for s in range(SQUARES):
        copy[s] = board[s]


@part
def play(mover, target, board, squares, men):
    """Move a piece quietly, on the board and in the list of squares; returns where it stood."""
    source = squares[mover]
    board[source] = EMPTY
    board[target] = men.pieces[mover]
    squares[mover] = target
    return source


@part
def attacks_anew(before, after, source, target, attacker, victim, squares, arrays):
    """Whether the move `source`-`target` lets a piece attack another one anew (points 1-6).

    attacker, victim : int, which of the pieces, whose squares on `after` are in `squares`
    """
    men = arrays.men
    if piece_side(men.pieces[attacker]) == piece_side(men.pieces[victim]):
        return False
    return is_new_attack(
        before, after, source, target, squares[attacker], squares[victim], arrays.chase_rules
    )


@part
def is_chased(before, after, source, target, victim, squares, arrays):
    """Whether the move `source`-`target` lets any piece attack the victim anew."""
    for attacker in range(squares.size):
        if attacks_anew(before, after, source, target, attacker, victim, squares, arrays):
            return True
    return False


@part
def is_mirrored(slot, board, other, arrays):
    """Whether the position of a slot is the mirror image of the board.

    other : int64 (pieces,), out: the squares of the slot's position
    """
    squares_of_slot(slot, arrays.descriptor, other)
    differs = False
    for p in range(other.size):
        differs = differs or board[other[p]] != arrays.men.pieces[p]
    return differs
