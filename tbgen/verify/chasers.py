# mypy: allow-untyped-defs, allow-untyped-calls
"""Chasers, the possible offenders of chase patterns, and new attacks of a move.

A *chaser* is a position with a *victim*, a piece of the side that is not to move. From some order
on, the *first order*, every move either attacks the victim anew or loses. A move *attacks a piece
anew* if it creates the attack (docs/referee.md, section 2, points 1 to 6; `tbgen.rules.chases`).
Pieces are numbered in the order of `Layout.piece_codes`. The package's docstring describes the
parameters of kernels.

Order from which a move loses, if it leads to a win of the opponent of order j:

    quiet move   j + 1; but j for wins that are known before the chases of order j: direct wins of a
                 side in check, and wins of a side not in check that a capture wins by order j
    capture      j

`chases` lists the replies that answer a chase.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import borrowing_kernel, by_pointer, compile_lock, part
from tbgen.indexing.slots import squares_of_slot
from tbgen.indexing.squares import EMPTY, SQUARES, piece_side
from tbgen.rules.chases import is_new_attack
from tbgen.verify.arrays import NO_NODES, Arrays, Numbers
from tbgen.verify.captures import wins_by_capture
from tbgen.verify.index import NOWHERE, BoardState, Index
from tbgen.verify.moves import Ranges, list_moves, list_rows, load_key, new_row, set_up
from tbgen.verify.values import MATE, NEVER, ORDER, is_open, order_of_key


@by_pointer
class ChaseBoards(NamedTuple):
    """Buffers of one thread: a position, the boards after a chase and after the answer, lists."""

    state: BoardState
    """The position; its `piece_squares` follow the moves made on `after` and `replied`."""
    answering: BoardState
    """The position of the canonical slot after the chase: that of `after` or its mirror image. Its
    `targets` are also a buffer for the moves of one piece.
    """
    after: NDArray[np.int8]
    """int8 (90,): piece codes after the chase."""
    replied: NDArray[np.int8]
    """int8 (90,): piece codes after the answer."""
    first_orders: NDArray[np.int64]
    """int64 (pieces,): the first order with each piece as victim."""
    last_orders: NDArray[np.int64]
    """int64 (pieces,): for each piece, the order from which all moves that attack it anew lose."""
    attackers: NDArray[np.int64]
    """int64 (pieces,): the pieces that attack a victim anew, by `list_new_attackers`."""

    @classmethod
    def make(cls, index: Index, arrays: Arrays) -> ChaseBoards:
        """Return new buffers."""
        state = BoardState.make(index, arrays.ranks.dtype)
        pieces = len(state.piece_squares)
        return cls(
            state, BoardState.make(index, arrays.ranks.dtype),
            np.zeros(SQUARES, np.int8), np.zeros(SQUARES, np.int8),
            np.zeros(pieces, np.int64), np.zeros(pieces, np.int64), np.zeros(pieces, np.int64),
        )  # fmt: skip


@part
def copy_board(board, copy):
    """Copy a board; copy : int8 (90,), out."""
    for s in range(SQUARES):
        copy[s] = board[s]


@part
def play(mover, target, board, squares):
    """Move piece `mover` to an empty square on `board` and in `squares`; return its old square.

    board : int8 (90,), inout, piece codes
    """
    source = squares[mover]
    code = board[source]
    board[source] = EMPTY
    board[target] = code
    squares[mover] = target
    return source


@part
def list_new_attackers(before, after, source, target, victim, boards, index, arrays):
    """Write to `boards.attackers` the pieces that attack the victim anew after `source`-`target`.

    `boards.state.piece_squares` must be those of the board `after`. Returns the number of pieces.
    """
    squares, count, n = boards.state.piece_squares, 0, 0
    while index.able_to_chase[victim, n] != NOWHERE:
        q = index.able_to_chase[victim, n]
        n += 1
        if is_new_attack(
            before, after, source, target, squares[q], squares[victim], arrays.chase_rules
        ):
            boards.attackers[count] = q
            count += 1
    return count


@part
def is_mirrored(slot, board, other, index):
    """Return whether a slot has the mirror image of the position on `board`.

    The slot must have this mirror image or the position itself.

    other : int64 (pieces,), out: the squares of the pieces in the position of the slot
    """
    squares_of_slot(slot, index.descriptor, other)
    differs = False
    for p in range(other.size):
        differs = differs or board[other[p]] != index.pieces[p]
    return differs


@part
def loses_from(n, side, key, state, index, arrays):
    """Return the order from which a legal move loses, and whether the move may be a chase.

    The order is NEVER + 1 for a move that does not lose. A move may be a chase if it is quiet,
    gives no check and leads to an open position. The position in `state` is restored.

    n : int, index of the move in `state.sources`; key : int, the opponent's key after it
    """
    order, may_chase = NEVER + 1, False
    mover, target = state.piece_on[state.sources[n]], state.targets[n]
    if state.board[target] != EMPTY:
        if key > 0:
            order = order_of_key(key)
        return order, may_chase
    if not is_open(key):
        if key > 0:
            order = 1
        return order, may_chase
    may_chase = arrays.ranks[side * index.slots + state.children[n]] != 0
    if key > 0:
        order = order_of_key(key)
        if may_chase:
            source = play(mover, target, state.board, state.piece_squares)
            if not wins_by_capture(1 - side, order, state, arrays, index):
                order += 1
            play(mover, source, state.board, state.piece_squares)
        elif (MATE - key) % ORDER != 0:
            order += 1
    return order, may_chase


NUMBER, FIRST_ORDER, CHASER_COLUMNS = range(3)
"""Columns of chasers.

NUMBER : 90 * (2 * slot + side to move) + square of the victim
FIRST_ORDER : the order from which every move loses or attacks the victim anew
"""


@part
def _apply_move(n, side, key, limit, boards, index, arrays):
    """Update `boards.first_orders` and `boards.last_orders` of possible victims for a legal move.

    Returns the least first order, above `limit` if no victim is left. Restores the position.

    n : int, index of the move in `boards.state.sources`; key : int, the opponent's key after it
    limit : int, the largest first order that counts
    """
    state, after, firsts = boards.state, boards.after, boards.first_orders
    mover, target = state.piece_on[state.sources[n]], state.targets[n]
    from_order, may_chase = loses_from(n, side, key, state, index, arrays)
    source = state.piece_squares[mover]
    if may_chase:
        play(mover, target, after, state.piece_squares)
    least = np.int64(NEVER + 1)
    for v in range(firsts.size):
        if firsts[v] > limit:
            continue
        if may_chase and list_new_attackers(
            state.board, after, source, target, v, boards, index, arrays
        ):
            boards.last_orders[v] = max(boards.last_orders[v], from_order)
        else:
            firsts[v] = max(firsts[v], from_order)
        least = min(least, firsts[v])
    if may_chase:
        play(mover, source, after, state.piece_squares)
    return least


@part
def _find_first_orders(count, side, limit, boards, index, arrays):
    """Return whether any piece is a victim with a first order up to `limit`.

    If so, `boards.first_orders` has the orders of such pieces, and numbers above `limit` for the
    others. A piece is no victim if the moves that attack it anew lose by its first order, too.

    count : int, the number of moves in `boards.state`
    """
    pieces, state, firsts = index.pieces, boards.state, boards.first_orders
    for v in range(firsts.size):
        boards.last_orders[v] = 0
        firsts[v] = 1
        if piece_side(pieces[v]) == side or index.able_to_chase[v, 0] == NOWHERE:
            firsts[v] = NEVER + 1
    least = np.int64(1)
    for n in range(count):
        rank = arrays.ranks[(1 - side) * index.slots + state.children[n]]
        if rank == 0:
            continue
        key = arrays.values.keys[1 - side, rank]
        # Moves to wins of lower orders than `least` lose by order `least`, and change no result.
        if key > 0 and order_of_key(key) < least:
            continue
        least = _apply_move(n, side, key, limit, boards, index, arrays)
        if least > limit:
            return False
    # If every move loses by the first order, the piece is no victim.
    found = False
    for v in range(firsts.size):
        if boards.last_orders[v] <= firsts[v]:
            firsts[v] = NEVER + 1
        found = found or firsts[v] <= limit
    return found


@borrowing_kernel
def k_find_chasers(nodes, lists, boards, index, arrays):
    """List the chasers among nodes, which must be open positions.

    Only first orders up to the order of the stored value count.

    lists : Lists, out: one list, with an entry for each victim of each node
    """
    state = boards.state
    for n in range(nodes.size):
        slot, side = nodes[n] // 2, nodes[n] % 2
        limit = order_of_key(load_key(side, slot, index, arrays))
        within, image = set_up(slot, state, index)
        copy_board(state.board, boards.after)
        count = list_moves(side, slot - within, within, image, state, index)
        if not _find_first_orders(count, side, limit, boards, index, arrays):
            continue
        for v in range(state.piece_squares.size):
            if boards.first_orders[v] <= limit:
                chaser = lists.rows[0, new_row(lists, 0)]
                chaser[NUMBER] = SQUARES * nodes[n] + state.piece_squares[v]
                chaser[FIRST_ORDER] = boards.first_orders[v]


def list_chasers(
    ranges: Ranges, arrays: Arrays, index: Index, pool: ThreadPoolExecutor
) -> NDArray[np.int64]:
    """Return the chasers of `ranges`, int64 (n, CHASER_COLUMNS), sorted by NUMBER."""

    def scan(nodes: Numbers) -> Numbers:
        boards = ChaseBoards.make(index, arrays)
        (found,) = list_rows(
            lambda lists: k_find_chasers(nodes, lists, boards, index, arrays), 1, CHASER_COLUMNS
        )
        return found

    with compile_lock():
        scan(NO_NODES)
    chasers = np.concatenate(list(pool.map(lambda some: scan(some()), ranges)))
    return chasers[np.argsort(chasers[:, NUMBER])]
