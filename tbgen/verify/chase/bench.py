# mypy: allow-untyped-defs, allow-untyped-calls
"""Boards on which chases are tried, what a move attacks anew, and from when on it loses.

Attacks are judged by the predicates of the referee (`tbgen.rules.chases`, whose numbered points
are those of docs/referee.md, section 2), for pieces in the order of `Layout.piece_codes` instead
of squares.

What a move loses to, and from which order on that counts:

    a quiet move to a win of order j     from j + 1 on; from j if it is a direct win in check, or
                                         if a capture wins there: both are known before chases
    a capture that loses at order j      from j on
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import part
from tbgen.compiling.lending import lent
from tbgen.indexing.slots import squares_of_slot
from tbgen.indexing.squares import EMPTY, SQUARES, piece_side
from tbgen.rules.attacks import attacks
from tbgen.rules.board import MAX_MOVES
from tbgen.rules.chases import is_new_attack
from tbgen.rules.moves import is_safe_after
from tbgen.verify.complete import after_capture
from tbgen.verify.index import Desk, Index
from tbgen.verify.keys import MATE, NEVER, ORDER, is_open, order_of_key


@lent
class Bench(NamedTuple):
    """A desk, and beside it the boards after a chase and after its answer.

    `desk.all` follows the moves that are tried on any of the three.
    """

    desk: Desk
    after: NDArray[np.int8]
    """int8 (90,): piece codes."""
    replied: NDArray[np.int8]
    """int8 (90,): piece codes."""
    targets: NDArray[np.int64]
    """int64 (MAX_MOVES,): of replies."""
    first_orders: NDArray[np.int64]
    """int64 (pieces,): from which order on each piece is the one that every move must chase."""
    last_orders: NDArray[np.int64]
    """int64 (pieces,): the highest order from which a move loses that chases each piece."""
    attackers: NDArray[np.int64]
    """int64 (pieces,): the pieces that attack the victim anew."""

    @classmethod
    def make(cls, index: Index) -> Bench:
        """An empty one."""
        desk = Desk.make(index)
        pieces = len(desk.all)
        return cls(
            desk, np.zeros(SQUARES, np.int8), np.zeros(SQUARES, np.int8),
            np.zeros(MAX_MOVES, np.int64), np.zeros(pieces, np.int64), np.zeros(pieces, np.int64),
            np.zeros(pieces, np.int64),
        )  # fmt: skip


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
    """Return whether the move `source`-`target` lets a piece attack another one anew (points 1-6).

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
    """Return whether the move `source`-`target` lets any piece attack the victim anew."""
    for attacker in range(squares.size):
        if attacks_anew(before, after, source, target, attacker, victim, squares, arrays):
            return True
    return False


@part
def is_mirrored(slot, board, other, index, arrays):
    """Return whether the position of a slot is the mirror image of the board.

    other : int64 (pieces,), out: the squares of the slot's position
    """
    squares_of_slot(slot, index.descriptor, other)
    differs = False
    for p in range(other.size):
        differs = differs or board[other[p]] != arrays.men.pieces[p]
    return differs


@part
def _wins_by_capture(side, order, desk, arrays):
    """Return whether a capture of the side to move, not in check, wins by an order."""
    pieces, squares, board = arrays.men.pieces, desk.all, desk.board
    for taken in range(squares.size):
        if piece_side(pieces[taken]) == side or taken == arrays.men.kings[1 - side]:
            continue
        target = squares[taken]
        for mover in range(squares.size):
            source = squares[mover]
            if piece_side(pieces[mover]) != side or not attacks(board, source, target):
                continue
            squares[mover] = target
            rank = after_capture(1 - side, mover, taken, desk, arrays)
            squares[mover] = source
            key = arrays.values.keys[1 - side, rank]
            if key < 0 and order_of_key(key) <= order and is_safe_after(
                board, side, source, target
            ):  # fmt: skip
                return True
    return False


@part
def loses_from(n, side, key, desk, index, arrays):
    """The order from which on a legal move counts as losing, and whether it may chase.

    NEVER + 1 where it counts by no order. Quiet moves may chase that give no check and lead to
    what is open.

    n : int, which of the listed moves; key : int, of what it leads to
    """
    order, may_chase = NEVER + 1, False
    mover, target = desk.on[desk.sources[n]], desk.targets[n]
    if desk.board[target] != EMPTY:
        if key > 0:
            order = order_of_key(key)
        return order, may_chase
    if not is_open(key):
        if key > 0:
            order = 1
        return order, may_chase
    may_chase = arrays.ranks[side * index.slots + desk.children[n]] != 0
    if key > 0:
        order = order_of_key(key)
        if may_chase:
            source = play(mover, target, desk.board, desk.all, arrays.men)
            if not _wins_by_capture(1 - side, order, desk, arrays):
                order += 1
            play(mover, source, desk.board, desk.all, arrays.men)
        elif (MATE - key) % ORDER != 0:
            order += 1
    return order, may_chase
