# mypy: allow-untyped-defs, allow-untyped-calls
"""The first pass: every position against its children.

    stored value  ==  best over the legal moves        for all but the direct wins
    stored value  >   best of what decides earlier     for direct wins, whose certificate is the
                                                       pattern (`checks`, `chase.patterns`)

On the way the pass empties the slots that hold no position, and notes who may take part in a
pattern of perpetual check:

    offender    drawn or decided by rules; every move is a check into what is drawn or decided by
                rules, or loses. Its *first order* is the first at which those losing moves are
                known to lose: a move within this table to a win of order k is known at k + 1, a
                capture that loses at order k at k itself.
    checked     a win by rules of a side in check

What the patterns are is not asked here.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import borrowing_kernel, compile_lock, part
from tbgen.indexing.layout import Layout
from tbgen.indexing.slots import slot_of_squares
from tbgen.indexing.squares import EMPTY
from tbgen.verify.arrays import WIDTH, Arrays
from tbgen.verify.keys import (
    DECIDED_BY_RULES,
    MATE,
    NEVER,
    ORDER,
    is_open,
    key_after_move,
    order_of_key,
)
from tbgen.verify.moves import (
    Desk,
    clear,
    gives_check,
    image_of,
    is_checked,
    list_legal,
    load_key,
    set_up,
    slot_after,
    worth_of_capture,
)
from tbgen.verify.report import Progress

RANGE_SLOTS = 1 << 16
"""Slots per task, about: short enough for progress, and for lists of nodes to stay small."""

# Entries of a range's `Notes.result`.
FINDINGS, FIRST_SLOT, FIRST_SIDE, FIRST_STORED, FIRST_BEST, OFFENDERS, CHECKED, RESULTS = range(8)


class Notes(NamedTuple):
    """What the pass writes down of a range of S slots; a node is 2 * slot + side to move."""

    offenders: NDArray[np.int64]
    """int64 (2 S,): nodes, result[OFFENDERS] of them."""
    first_orders: NDArray[np.int64]
    """int64 (2 S,): their first orders."""
    checked_wins: NDArray[np.int64]
    """int64 (2 S,): nodes of wins by rules in check, result[CHECKED] of them."""
    result: NDArray[np.int64]
    """int64 (RESULTS,): counts, and the first finding."""

    @classmethod
    def make(cls, nodes: int) -> Notes:
        """Room for so many nodes."""
        offenders, first_orders, checked_wins = (np.empty(nodes, np.int64) for _ in range(3))
        return cls(offenders, first_orders, checked_wins, np.zeros(RESULTS, np.int64))

    def cut(self) -> Notes:
        """The same, in no more memory than is needed."""
        offenders, checked = self.result[OFFENDERS], self.result[CHECKED]
        return Notes(
            self.offenders[:offenders].copy(),
            self.first_orders[:offenders].copy(),
            self.checked_wins[:checked].copy(),
            self.result,
        )


@dataclass(frozen=True)
class FirstPass:
    """What the first pass found, over all ranges.

    `offenders` and `checked_wins` are ascending nodes; `first_orders` goes with `offenders`.
    """

    findings: int
    first: tuple[int, int, int, int] | None
    """Slot, side, stored key and best key of the first finding."""
    offenders: NDArray[np.int64]
    first_orders: NDArray[np.int64]
    checked_wins: NDArray[np.int64]


def run_first_pass(arrays: Arrays, layout: Layout, threads: int, report: Progress) -> FirstPass:
    """Prove all rows, in ranges, and put together what they found.

    Ranges do not depend on the number of threads, so neither does what is found first.
    """
    step = max(1, RANGE_SLOTS // layout.inner_size)

    def prove(row_0: int, row_1: int) -> Notes:
        notes = Notes.make(2 * (row_1 - row_0) * layout.inner_size)
        k_prove_rows(row_0, row_1, notes, Desk.make(len(arrays.men.pieces)), arrays)
        return notes.cut()

    with compile_lock():
        prove(0, 0)
    ranges = []
    with ThreadPoolExecutor(threads) as pool:
        starts = range(0, layout.rows, step)
        ends = [min(start + step, layout.rows) for start in starts]
        for end, notes in zip(ends, pool.map(prove, starts, ends), strict=True):
            ranges.append(notes)
            report("positions", end, layout.rows)
    results = np.array([notes.result for notes in ranges])
    first = None
    refuted = results[results[:, FINDINGS] > 0]
    if len(refuted):
        slot, side, stored, best = (
            int(refuted[0, column]) for column in (FIRST_SLOT, FIRST_SIDE, FIRST_STORED, FIRST_BEST)
        )
        first = slot, side, stored, best
    return FirstPass(
        int(results[:, FINDINGS].sum()),
        first,
        np.concatenate([notes.offenders for notes in ranges]),
        np.concatenate([notes.first_orders for notes in ranges]),
        np.concatenate([notes.checked_wins for notes in ranges]),
    )


@part
def _is_wrong(stored, best, checked, arrays):
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
def _judge(slot, image, side, checked, seek, desk, arrays):
    """The best over the legal moves, and the first order as an offender (NEVER + 1: none).

    checked : bool, whether the side to move is in check
    seek : bool, whether the position may be an offender at all
    """
    squares, board = desk.squares, desk.board
    movers, targets = desk.moves.movers, desk.moves.targets
    count = list_legal(side, checked, board, desk.moves, squares, arrays.men)
    best = -MATE  # no legal move: lost in no plies
    first_order = NEVER + 1
    if seek:
        first_order = 1
    for i in range(count):
        mover, target = movers[i], targets[i]
        child = 0
        quiet = board[target] == EMPTY
        if quiet:
            after = slot_after(slot, image, mover, target, squares, arrays)
            child = load_key(arrays.codes, arrays.tables[0], 1 - side, after)
            key = key_after_move(child)
        else:
            key = worth_of_capture(side, mover, desk.piece_on[target], desk, arrays)
        if i == 0 or key > best:
            best = key
        if first_order > NEVER:
            continue
        if (
            quiet
            and is_open(child)
            and gives_check(side, mover, target, board, squares, arrays.men)
        ):
            continue
        if key >= 0:
            first_order = NEVER + 1
        elif quiet:
            first_order = max(first_order, order_of_key(key) + 1)
        else:
            first_order = max(first_order, order_of_key(key))
    return best, first_order


@part
def _note(node, stored, best, first_order, checked, notes, arrays):
    """Write down what there is to say of a position.

    stored, best : int64, keys; first_order : int64, as an offender
    checked : bool, whether the side to move is in check; notes : Notes, inout
    """
    result = notes.result
    if _is_wrong(stored, best, checked, arrays):
        if result[FINDINGS] == 0:
            result[FIRST_SLOT], result[FIRST_SIDE] = node // 2, node % 2
            result[FIRST_STORED], result[FIRST_BEST] = stored, best
        result[FINDINGS] += 1
    if first_order <= order_of_key(stored):
        notes.offenders[result[OFFENDERS]] = node
        notes.first_orders[result[OFFENDERS]] = first_order
        result[OFFENDERS] += 1
    if arrays.seek_patterns and checked and 0 < stored <= DECIDED_BY_RULES:
        notes.checked_wins[result[CHECKED]] = node
        result[CHECKED] += 1


@part
def _empty(side, slot, arrays):
    """Write code 0, no position.

    Safe beside other threads: none reads the slots that hold no position, because legal moves
    lead to canonical legal positions.
    """
    line = arrays.tables[0]
    for i in range(line[WIDTH]):
        arrays.codes[line[side] + slot * line[WIDTH] + i] = 0


@borrowing_kernel
def k_prove_rows(row_0, row_1, notes, desk, arrays):
    """Prove the rows [row_0, row_1) for both sides to move, and empty their other slots.

    notes : Notes, out
    """
    men = arrays.men
    squares = desk.squares
    notes.result[:] = 0
    for slot in range(row_0 * arrays.inner_size, row_1 * arrays.inner_size):
        exists = set_up(slot, desk, arrays)
        if exists and slot_of_squares(squares, arrays.descriptor) != slot:
            clear(desk)
            exists = False
        if not exists:
            _empty(0, slot, arrays)
            _empty(1, slot, arrays)
            continue
        red_king, black_king = squares[men.kings[0]], squares[men.kings[1]]
        checked = (
            is_checked(desk.board, red_king, black_king, 0),
            is_checked(desk.board, black_king, red_king, 1),
        )
        image = image_of(slot, squares, arrays)
        for side in range(2):
            if checked[1 - side]:
                _empty(side, slot, arrays)
                continue
            stored = load_key(arrays.codes, arrays.tables[0], side, slot)
            seek = arrays.seek_patterns and is_open(stored)
            best, first_order = _judge(slot, image, side, checked[side], seek, desk, arrays)
            _note(2 * slot + side, stored, best, first_order, checked[side], notes, arrays)
        clear(desk)
