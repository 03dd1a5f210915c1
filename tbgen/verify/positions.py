# mypy: allow-untyped-defs, allow-untyped-calls
"""The scalar witness: single positions against their children, move by move.

    stored value  ==  best over the legal moves        for all but the direct wins
    stored value  >   best of what decides earlier     for direct wins, whose certificate is the
                                                       pattern (`checks`, `chase.patterns`)

Every position is proven so by `forward`, whole rows at a time. Here it is asked of a sample, with
the plain rules, so that rows have a witness who shares neither their index nor their moves.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import borrowing_kernel, compile_lock, part
from tbgen.indexing.slots import slot_of_squares
from tbgen.indexing.squares import EMPTY
from tbgen.indexing.threads import thread_pool
from tbgen.verify.arrays import Arrays, Numbers
from tbgen.verify.keys import (
    DECIDED_BY_RULES,
    MATE,
    ORDER,
    is_open,
    key_after_move,
)
from tbgen.verify.moves import (
    Desk,
    clear,
    image_of,
    is_checked,
    list_legal,
    load_key,
    set_up,
    slot_after,
    worth_of_capture,
)

EXISTS, STORED, BEST, IS_CHECKED, IS_WRONG, TESTIMONY_COLUMNS = range(6)
"""Columns of what is said of nodes: whether it is a legal position in its canonical slot; if so,
the stored key, that of the best move, whether the side to move is in check, and whether the two
values cannot stand beside each other."""

_RANGE_NODES = 1 << 14
"""Nodes per task."""


def examine(nodes: Numbers, arrays: Arrays, threads: int) -> NDArray[np.int64]:
    """int64 (nodes, TESTIMONY_COLUMNS): what the plain rules say of some nodes."""
    testimony = np.zeros((len(nodes), TESTIMONY_COLUMNS), np.int64)

    def ask(first: int, last: int) -> None:
        desk = Desk.make(len(arrays.men.pieces))
        k_examine(nodes[first:last], testimony[first:last], desk, arrays)

    with compile_lock():
        ask(0, 0)
    starts = range(0, len(nodes), _RANGE_NODES)
    with thread_pool(threads) as pool:
        list(pool.map(ask, starts, [start + _RANGE_NODES for start in starts]))
    return testimony


@part
def is_wrong(stored, best, checked, arrays):
    """Whether a stored value cannot stand beside the best of the moves.

    stored, best : int64, keys; checked : bool, whether the side to move is in check
    """
    if stored == best:
        # Without repetition rules nothing has an order. With them, a direct win is better than
        # anything that its moves can give it.
        return not arrays.seek_patterns and best != 0 and is_open(best)
    if not arrays.seek_patterns or not 0 < stored <= DECIDED_BY_RULES:
        return True
    # A direct win: MATE - k * ORDER. Nothing else may win by a lower order. In check it is one by
    # a perpetual check, otherwise by a perpetual chase.
    return (MATE - stored) % ORDER != 0 or best > stored or not (checked or arrays.seek_chases)


@part
def _find_best(slot, side, checked, desk, arrays):
    """The key that the best of the legal moves gives.

    checked : bool, whether the side to move is in check
    """
    squares, board = desk.squares, desk.board
    movers, targets = desk.moves.movers, desk.moves.targets
    image = image_of(slot, squares, arrays)
    count = list_legal(side, checked, board, desk.moves, squares, arrays.men)
    best = -MATE  # no legal move: lost in no plies
    for i in range(count):
        mover, target = movers[i], targets[i]
        if board[target] == EMPTY:
            after = slot_after(slot, image, mover, target, squares, arrays)
            key = key_after_move(load_key(1 - side, after, arrays))
        else:
            key = worth_of_capture(side, mover, desk.piece_on[target], desk, arrays)
        best = max(best, key)
    return best


@borrowing_kernel
def k_examine(nodes, testimony, desk, arrays):
    """Ask of nodes, which need not be canonical or positions at all, what `examine` returns.

    nodes : int64 (n,), 2 * slot + side to move
    testimony : int64 (n, TESTIMONY_COLUMNS), out; all zero before
    """
    men = arrays.men
    squares = desk.squares
    for n in range(nodes.size):
        slot, side = nodes[n] // 2, nodes[n] % 2
        if not set_up(slot, desk, arrays):
            continue
        king, other_king = squares[men.kings[side]], squares[men.kings[1 - side]]
        if slot_of_squares(squares, arrays.descriptor) == slot and not is_checked(
            desk.board, other_king, king, 1 - side
        ):
            stored = load_key(side, slot, arrays)
            checked = is_checked(desk.board, king, other_king, side)
            best = _find_best(slot, side, checked, desk, arrays)
            testimony[n, EXISTS] = 1
            testimony[n, STORED] = stored
            testimony[n, BEST] = best
            testimony[n, IS_CHECKED] = checked
            testimony[n, IS_WRONG] = is_wrong(stored, best, checked, arrays)
        clear(desk)
