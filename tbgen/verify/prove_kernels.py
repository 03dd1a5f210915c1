"""The first pass: every position of a range of rows against its children.

    stored value  ==  best over the legal moves        for all but the direct wins
    stored value  >   best of what decides earlier     for direct wins (their certificate is the
                                                       pattern: `patterns.py`, `chases.py`)

On the way the pass empties the slots that hold no position, and notes who may take part in a
pattern of perpetual check:

    offender    drawn or decided by rules; every move is a check into what is drawn or decided by
                rules, or loses. `first order` is the first at which those losing moves are known
                to lose: a move within this table to a win of order k is known at k + 1, a capture
                that loses at order k at k itself.
    checked     a win by rules of a side in check
"""

from __future__ import annotations

import numpy as np

from tbgen.indexing.slots import attacker_slot, slot_of_squares
from tbgen.indexing.squares import EMPTY
from tbgen.jit import borrowing_kernel
from tbgen.verify.keys import (
    DECIDED_BY_RULES,
    MATE,
    NEVER,
    ORDER,
    key_after_conversion,
    key_after_move,
    order_of_key,
)
from tbgen.verify.material_arrays import (
    BLACK_KING,
    CONVERSION,
    END_WORD,
    FIRST_ATTACKER,
    FIRST_WORD,
    INNER_SIZE,
    SEEK_CHASES,
    SEEK_PATTERNS,
    WIDTH,
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

# Entries of a range's `result`.
FINDINGS, FIRST_SLOT, FIRST_SIDE, FIRST_STORED, FIRST_BEST, OFFENDERS, CHECKED, RESULTS = range(8)


@borrowing_kernel
def k_is_open(key):
    """Whether a value is one that patterns of perpetual check may have to do with."""
    return -DECIDED_BY_RULES <= key <= DECIDED_BY_RULES


@borrowing_kernel
def _k_is_wrong(stored, best, checked, seek_patterns, seek_chases):
    """Whether a stored value cannot stand beside the best of the moves."""
    if stored == best:
        # Without repetition rules nothing has an order. With them, a direct win is better than
        # anything that its moves can give it.
        return not seek_patterns and best != 0 and k_is_open(best)
    if not seek_patterns or not 0 < stored <= DECIDED_BY_RULES:
        return True
    # A direct win: MATE - k * ORDER. Nothing else may win by a lower order. In check it is one by
    # a perpetual check, otherwise by a perpetual chase.
    return (MATE - stored) % ORDER != 0 or best > stored or not (checked or seek_chases)


@borrowing_kernel
def _k_judge(side, checked, seek, slot, image, conversion, kings, codes, tables, descriptors,
             pieces, captures, weights, squares, board, piece_on, work):  # fmt: skip
    """The best over the legal moves, and the first order as an offender (NEVER + 1: none).

    Parameters
    ----------
    seek : whether the position may be an offender at all
    image : slot of the mirror image where the lead is its own, else -1
    work : int64 (3, MAX_MOVES), overwritten
    The others are described in `material_arrays` and `move_kernels`.
    """
    movers, targets, other = work[0], work[1], work[2]
    count = k_list_legal(side, checked, kings, pieces, squares, board, movers, targets)
    descriptor = descriptors[tables[0, FIRST_WORD] : tables[0, END_WORD]]
    best = -MATE  # no legal move: lost in no plies
    first_order = 1 if seek else NEVER + 1
    for i in range(count):
        mover, target = movers[i], targets[i]
        quiet = board[target] == EMPTY
        if quiet:
            after = k_slot_after(slot, image, mover, target, descriptor, weights, squares)
            child = k_load_key(codes, tables[0], 1 - side, after)
            key = key_after_move(child)
        else:
            taken = piece_on[target]
            child = k_key_after_capture(
                side, mover, taken, codes, tables, descriptors, captures[taken], squares, other
            )
            key = key_after_conversion(child) if conversion else key_after_move(child)
        if i == 0 or key > best:
            best = key
        if first_order > NEVER:
            continue
        if (
            quiet
            and k_is_open(child)
            and k_gives_check(side, mover, target, kings, pieces, squares, board)
        ):
            continue
        if key >= 0:
            first_order = NEVER + 1
        else:
            first_order = max(first_order, order_of_key(key) + (1 if quiet else 0))
    return best, first_order


@borrowing_kernel
def k_prove_rows(row_0, row_1, mids, codes, tables, descriptors, pieces, captures, weights,
                 self_mirrored, options, offenders, first_orders, checked_wins,
                 squares, board, piece_on, work, result):  # fmt: skip
    """Prove the rows [row_0, row_1) for both sides to move.

    Writes only to the codes of these rows, and only where no position is: other threads never
    read those, because legal moves lead to canonical legal positions.

    Parameters
    ----------
    mids : rows per lead; the arrays from `codes` to `options` are those of `material_arrays`
    offenders : int64 (2 * slots of the range,), out: nodes 2 * slot + side
    first_orders : int64, same size, out: their first orders
    checked_wins : int64, same size, out: nodes of wins by rules in check
    squares, board, piece_on, work : the thread's own scratch (`make_scratch`)
    result : int64 (RESULTS,), out: counts, and the first finding
    """
    inner_size = options[INNER_SIZE]
    conversion, seek_patterns = options[CONVERSION] != 0, options[SEEK_PATTERNS] != 0
    seek_chases = options[SEEK_CHASES] != 0
    kings = (np.int64(0), options[BLACK_KING])
    line = tables[0]
    descriptor = descriptors[line[FIRST_WORD] : line[END_WORD]]
    checked = (False, False)
    result[:] = 0
    for slot in range(row_0 * inner_size, row_1 * inner_size):
        exists = k_set_up(slot, descriptor, pieces, squares, board, piece_on)
        if exists and slot_of_squares(squares, descriptor) != slot:
            k_clear(squares, board)
            exists = False
        if exists:
            king, other_king = squares[kings[0]], squares[kings[1]]
            checked = (
                k_is_checked(board, king, other_king, 0),
                k_is_checked(board, other_king, king, 1),
            )
        image = np.int64(-1)
        lead = slot // (inner_size * mids)
        if exists and self_mirrored[lead]:
            image = lead * inner_size * mids + attacker_slot(
                squares, options[FIRST_ATTACKER], True, descriptor
            )
        for side in range(2):
            if not exists or checked[1 - side]:
                for i in range(line[WIDTH]):
                    codes[line[side] + slot * line[WIDTH] + i] = 0
                continue
            stored = k_load_key(codes, line, side, slot)
            best, first_order = _k_judge(
                side, checked[side], seek_patterns and k_is_open(stored), slot, image,
                conversion, kings, codes, tables, descriptors, pieces, captures, weights,
                squares, board, piece_on, work,
            )  # fmt: skip
            if _k_is_wrong(stored, best, checked[side], seek_patterns, seek_chases):
                if result[FINDINGS] == 0:
                    result[FIRST_SLOT], result[FIRST_SIDE] = slot, side
                    result[FIRST_STORED], result[FIRST_BEST] = stored, best
                result[FINDINGS] += 1
            if first_order <= order_of_key(stored):
                offenders[result[OFFENDERS]] = 2 * slot + side
                first_orders[result[OFFENDERS]] = first_order
                result[OFFENDERS] += 1
            if seek_patterns and checked[side] and 0 < stored <= DECIDED_BY_RULES:
                checked_wins[result[CHECKED]] = 2 * slot + side
                result[CHECKED] += 1
        if exists:
            k_clear(squares, board)
