# mypy: allow-untyped-defs, allow-untyped-calls
"""The positions of a table that are proven a second time, move by move.

Chosen by a hash of the node, so that a table has the same sample on every machine and for any
number of threads, and anything that goes by leads, rows or columns is met. Every outcome of every
order has its share, however rare it is; so have the slots that hold no position. What is asked of
them is in `positions`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import borrowing_kernel, compile_lock
from tbgen.indexing.threads import thread_pool
from tbgen.verify.arrays import Arrays, Numbers
from tbgen.verify.keys import orders_of_keys
from tbgen.verify.ranks import FREE

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""An odd number without a pattern (2 ** 64 over the golden ratio): Fibonacci hashing."""
_UPPER_HALF = np.uint64(32)

_RANGE_SLOTS = 1 << 18
"""Slots per task."""


@borrowing_kernel
def k_choose(slot_0, slot_1, thresholds, nodes, arrays):
    """List the nodes of the slots [slot_0, slot_1) whose hash is below a bound; returns how many.

    slot_0, slot_1 : int, slots
    thresholds : uint64 (2, ranks), the bound of each rank
    nodes : int64 (n,), out, with room for all
    """
    count = 0
    for slot in range(slot_0, slot_1):
        for side in range(2):
            node = 2 * slot + side
            rank = arrays.ranks[arrays.tables[0, side] + slot]
            if (np.uint64(node) * _GOLDEN) >> _UPPER_HALF < thresholds[side, rank]:
                nodes[count] = node
                count += 1
    return count


def choose_sample(arrays: Arrays, counts: NDArray[np.int64], size: int, threads: int) -> Numbers:
    """int64 (n,), ascending: about `size` nodes, among them some that are no positions.

    counts : int64 (2, places), how often each place of the palette is the value of a position
    """
    thresholds = _thresholds(arrays, counts, size)

    def choose(slot_0: int) -> Numbers:
        slot_1 = min(slot_0 + _RANGE_SLOTS, slots)
        nodes = np.empty(2 * max(0, slot_1 - slot_0), np.int64)
        return nodes[: k_choose(slot_0, slot_1, thresholds, nodes, arrays)].copy()

    slots = int(arrays.tables[0, 1] - arrays.tables[0, 0])
    with compile_lock():
        choose(slots)
    with thread_pool(threads) as pool:
        return np.concatenate(list(pool.map(choose, range(0, slots, _RANGE_SLOTS))))


def _thresholds(arrays: Arrays, counts: NDArray[np.int64], size: int) -> NDArray[np.uint64]:
    """uint64 (2, ranks): the bound of the hash for each rank, 2 ** 32 where all are chosen."""
    keys = arrays.values.keys
    classes = 2 * orders_of_keys(keys) + (keys > 0)
    classes[:, 0] = -1
    # The free ranks of the palettes: they have the keys of the values.
    free = arrays.values.own[:, FREE].astype(np.int64)
    of_place = np.take_along_axis(classes, free, axis=1)
    members = {int(c): int(counts[of_place == c].sum()) for c in np.unique(of_place)}
    slots = int(arrays.tables[0, 1] - arrays.tables[0, 0])
    members[-1] = 2 * slots - int(counts.sum())
    thresholds = np.zeros(keys.shape, np.uint64)
    left, present = size, sorted((n, c) for c, n in members.items() if n)
    # The rarest first: what it leaves of its share goes to the others.
    for number, (count, which) in enumerate(present):
        share = min(count, left // (len(present) - number))
        thresholds[classes == which] = (share << 32) // count
        left -= share
    return thresholds
