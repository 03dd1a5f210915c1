"""The second pass: what the nodes of possible patterns lead to, as lists of edges.

    offender  ->  checked   a quiet move that gives check, to what is drawn or decided by rules
    checked   ->  offender  a quiet move to one of the offenders
    checked   ->  order     the lowest order at which a capture wins

A node is 2 * slot + side to move.
"""

from __future__ import annotations

import numpy as np

from tbgen.indexing.slots import attacker_slot
from tbgen.indexing.squares import EMPTY
from tbgen.jit import borrowing_kernel
from tbgen.verify.keys import NEVER, key_after_conversion, key_after_move, order_of_key
from tbgen.verify.material_arrays import (
    BLACK_KING,
    CONVERSION,
    END_WORD,
    FIRST_ATTACKER,
    FIRST_WORD,
    INNER_SIZE,
)
from tbgen.verify.move_kernels import (
    k_clear,
    k_gives_check,
    k_is_checked,
    k_key_after_capture,
    k_list_legal,
    k_load_key,
    k_set_up,
    k_slot_after,
)
from tbgen.verify.prove_kernels import k_is_open


@borrowing_kernel
def _k_contains(nodes, node):
    """Whether a node is among ascending nodes (at least one)."""
    low, high = 0, nodes.size
    while high - low > 1:
        middle = (low + high) // 2
        if nodes[middle] <= node:
            low = middle
        else:
            high = middle
    return nodes[low] == node


@borrowing_kernel
def k_expand(nodes, offenders, mids, codes, tables, descriptors, pieces, captures, weights,
             self_mirrored, options, edges, in_check, wins_from, squares, board, piece_on,
             work):  # fmt: skip
    """List the edges of some nodes; returns how many there are.

    Parameters
    ----------
    nodes : int64 (n,), offenders or checked sides to move
    offenders : int64, ascending: where edges of checked sides may lead; empty if `nodes` are
        offenders themselves, whose edges are all checks into open positions
    mids : rows per lead; the arrays from `codes` to `options` are those of `material_arrays`
    edges : int64 (room, 2), out: (index of the node, node after the move); as many as there is
        room for
    in_check : bool (n,), out: whether the side to move is in check
    wins_from : int64 (n,), out: the lowest order of a capture that wins, NEVER without one
    squares, board, piece_on, work : the thread's own scratch (`make_scratch`)
    """
    block = options[INNER_SIZE] * mids
    kings = (np.int64(0), options[BLACK_KING])
    descriptor = descriptors[tables[0, FIRST_WORD] : tables[0, END_WORD]]
    movers, targets, other = work[0], work[1], work[2]
    found = 0
    for n in range(nodes.size):
        slot, side = nodes[n] // 2, nodes[n] % 2
        k_set_up(slot, descriptor, pieces, squares, board, piece_on)
        in_check[n] = k_is_checked(board, squares[kings[side]], squares[kings[1 - side]], side)
        wins_from[n] = NEVER
        lead = slot // block
        image = np.int64(-1)
        if self_mirrored[lead]:
            image = lead * block + attacker_slot(squares, options[FIRST_ATTACKER], True, descriptor)
        count = k_list_legal(side, in_check[n], kings, pieces, squares, board, movers, targets)
        for i in range(count):
            mover, target = movers[i], targets[i]
            if board[target] != EMPTY:
                taken = piece_on[target]
                child = k_key_after_capture(
                    side, mover, taken, codes, tables, descriptors, captures[taken], squares, other
                )
                key = key_after_conversion(child) if options[CONVERSION] else key_after_move(child)
                if key > 0:
                    wins_from[n] = min(wins_from[n], order_of_key(key))
                continue
            after = k_slot_after(slot, image, mover, target, descriptor, weights, squares)
            node = 2 * after + 1 - side
            if offenders.size:
                if not _k_contains(offenders, node):
                    continue
            elif not (
                k_is_open(k_load_key(codes, tables[0], 1 - side, after))
                and k_gives_check(side, mover, target, kings, pieces, squares, board)
            ):
                continue
            if found < len(edges):
                edges[found, 0] = n
                edges[found, 1] = node
            found += 1
        k_clear(squares, board)
    return found


@borrowing_kernel
def k_load_keys(nodes, codes, line, keys):
    """Write the keys that this table stores for nodes; line int64 (TABLE_COLUMNS,), keys out."""
    for n in range(nodes.size):
        keys[n] = k_load_key(codes, line, nodes[n] % 2, nodes[n] // 2)
