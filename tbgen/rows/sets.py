# mypy: allow-untyped-defs, allow-untyped-calls
"""Sets of positions of one side to move, and their algebra.

    Rows        all rows of the index, two words each
    Frontier    a set that is often sparse: rows, and for each lead a list of its nonempty rows
    Records     compressed set without random access: `records.py`
    Sets        operations on all of these, by threads

`tbgen.rows` defines rows, leads, mids, and the parameters of kernels. One thread writes each lead,
so results do not depend on the order of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import borrowing_kernel, by_pointer, part
from tbgen.rows.bitsets import EMPTY, FULL, ONE, WORD_SQUARES, count_bits, lowest_bit
from tbgen.rows.frame import Frame, is_canonical
from tbgen.rows.records import (
    ROW_BYTES,
    Bytes,
    Records,
    StoredRecords,
    k_record,
    read_row,
    split_records,
)
from tbgen.rows.workers import FEW_RANGES, RANGES, Chunks, Workers

Rows = NDArray[np.uint64]
"""uint64 (rows, 2): a set of positions of one side to move."""

_SMALL_FRONTIER, _MODEST_FRONTIER = 2000, 100_000
"""Numbers of rows on a frontier: below the first, `ranges_for` returns 1, and below the second
`FEW_RANGES`. There is little work, and calling a kernel for a range takes 20 microseconds.
"""

_LIST_DIVISOR = 16
"""A lead's list on a frontier has room for mids // `_LIST_DIVISOR` rows."""


@by_pointer
class Frontier(NamedTuple):
    """Sparse set of positions: rows, and for each lead a list of the nonempty ones.

    Positions may be removed from `rows` alone, so a listed row can be empty. `put_row` lists each
    row that becomes nonempty, even if it was listed before and then emptied. Kernels that count
    positions must not get a frontier that lists a row twice.
    """

    rows: Rows
    counts: NDArray[np.int32]
    """int32 (leads,): number of rows put into each lead, even if more than `limit`."""
    listed: NDArray[np.int32]
    """int32 (leads * limit,): mids of the listed rows; a lead's list starts at lead * limit."""
    limit: int
    """Room of a lead's list; a lead with more rows has no list, and all its rows are read."""


def ranges_for(front: Frontier) -> int:
    """Return the number of ranges to divide the leads into; a frontier of few rows needs fewer."""
    rows = front.counts.sum()
    if rows < _SMALL_FRONTIER:
        return 1
    return FEW_RANGES if rows < _MODEST_FRONTIER else RANGES


@part
def clear_lead(lead, front, mids):
    """Remove all positions of one lead from a frontier."""
    first = lead * mids
    if front.counts[lead] > front.limit:
        for row in range(first, first + mids):
            front.rows[row, 0] = EMPTY
            front.rows[row, 1] = EMPTY
    else:
        for i in range(front.counts[lead]):
            row = first + front.listed[lead * front.limit + i]
            front.rows[row, 0] = EMPTY
            front.rows[row, 1] = EMPTY
    front.counts[lead] = 0


@part
def rows_in_use(lead, front, mids):
    """Return the number of a lead's rows to read: those in its list, or all if it has no list."""
    return mids if front.counts[lead] > front.limit else np.int64(front.counts[lead])


@part
def mid_in_use(i, lead, front):
    """Return the mid of row i among those that `rows_in_use` counts; i : int64, from 0."""
    if front.counts[lead] > front.limit:
        return np.int64(i)
    return np.int64(front.listed[lead * front.limit + i])


@part
def put_row(lead, mid, lo, hi, front, mids):
    """Write (lo, hi) to an empty row of a frontier; list the row if the lead's list has room."""
    first = lead * mids
    front.rows[first + mid, 0] = lo
    front.rows[first + mid, 1] = hi
    if front.counts[lead] < front.limit:
        front.listed[lead * front.limit + front.counts[lead]] = mid
    front.counts[lead] += 1


@borrowing_kernel
def _k_clear(lead_0, lead_1, front, mids):
    """Remove all positions of the given leads from a frontier."""
    for lead in range(lead_0, lead_1):
        clear_lead(lead, front, mids)


@borrowing_kernel
def _k_difference(lead_0, lead_1, members, others, result, frame):
    """Set `result` to the positions of `members` that are not in `others`."""
    mids = frame.mids
    for row in range(lead_0 * mids, lead_1 * mids):
        result[row, 0] = members[row, 0] & ~others[row, 0]
        result[row, 1] = members[row, 1] & ~others[row, 1]


@borrowing_kernel
def _k_put_selected(lead_0, lead_1, members, others, complement, found, frame):
    """Set `found` to the positions of `members` that are in `others`.

    complement : bool, take the positions that are not in `others` instead
    """
    mids, flip = frame.mids, FULL if complement else EMPTY
    for lead in range(lead_0, lead_1):
        clear_lead(lead, found, mids)
        for mid in range(mids):
            row = lead * mids + mid
            lo = members[row, 0] & (others[row, 0] ^ flip)
            hi = members[row, 1] & (others[row, 1] ^ flip)
            if lo | hi:
                put_row(lead, mid, lo, hi, found, mids)


@borrowing_kernel
def _k_transfer(lead_0, lead_1, front, source, result, moved, mids):
    """Remove the positions on `front` from `source`, and add them to `result`.

    source : Rows, inout
    moved : int64 (leads,), out at `lead_0`: number of nonempty rows of `front` in these leads
    """
    count = 0
    for lead in range(lead_0, lead_1):
        for i in range(rows_in_use(lead, front, mids)):
            row = lead * mids + mid_in_use(i, lead, front)
            lo, hi = front.rows[row, 0], front.rows[row, 1]
            source[row, 0] &= ~lo
            source[row, 1] &= ~hi
            result[row, 0] |= lo
            result[row, 1] |= hi
            count += 1 if lo | hi else 0
    moved[lead_0] = count


@borrowing_kernel
def _k_join(lead_0, lead_1, front, found, mids):
    """Add the positions of the frontier `front` to the frontier `found`."""
    for lead in range(lead_0, lead_1):
        for i in range(rows_in_use(lead, front, mids)):
            mid = mid_in_use(i, lead, front)
            row = lead * mids + mid
            lo, hi = front.rows[row, 0], front.rows[row, 1]
            if found.rows[row, 0] | found.rows[row, 1]:
                found.rows[row, 0] |= lo
                found.rows[row, 1] |= hi
            elif lo | hi:
                put_row(lead, mid, lo, hi, found, mids)


@borrowing_kernel
def k_add(data, row_0, filtered, within, result):
    """Add the positions of a record to the set `result`; if `filtered`, only those in `within`."""
    at, row = 0, np.int64(row_0)
    while at < data.size:
        at, gap, lo, hi = read_row(data, at)
        row += gap
        if filtered:
            lo &= within[row, 0]
            hi &= within[row, 1]
        result[row, 0] |= lo
        result[row, 1] |= hi


@borrowing_kernel
def k_remove(data, row_0, result):
    """Remove the positions of a record from the set `result`."""
    at, row = 0, np.int64(row_0)
    while at < data.size:
        at, gap, lo, hi = read_row(data, at)
        row += gap
        result[row, 0] &= ~lo
        result[row, 1] &= ~hi


@borrowing_kernel
def _k_put(data, row_0, filtered, within, found, mids):
    """Add the positions of a record to `found`; if `filtered`, only those in `within`."""
    at, row = 0, np.int64(row_0)
    while at < data.size:
        at, gap, lo, hi = read_row(data, at)
        row += gap
        if filtered:
            lo &= within[row, 0]
            hi &= within[row, 1]
        if not (lo | hi):
            continue
        if found.rows[row, 0] | found.rows[row, 1]:
            found.rows[row, 0] |= lo
            found.rows[row, 1] |= hi
        else:
            put_row(row // mids, row % mids, lo, hi, found, mids)


@borrowing_kernel
def _k_count(lead_0, lead_1, members, counts, frame):
    """Count the positions of a set; a position with several slots counts at the canonical one.

    counts : int64 (leads,), inout; the number of positions in all of the given leads is added to
        `counts[lead_0]`
    """
    mids = frame.mids
    for lead in range(lead_0, lead_1):
        redundant = frame.self_mirrored[lead] or frame.twin >= 0
        for mid in range(mids):
            row = lead * mids + mid
            for word in range(2):
                bits = members[row, word]
                if not redundant:
                    counts[lead_0] += count_bits(bits)
                    continue
                while bits:
                    square = lowest_bit(bits) + WORD_SQUARES * word
                    bits &= bits - ONE
                    counts[lead_0] += is_canonical(lead, mid, square, frame)


class Sets:
    """Operations on sets and frontiers of one layout, by threads.

    `target` and `found` are changed in place; `transfer` also changes `source`.
    """

    def __init__(self, frame: Frame, workers: Workers) -> None:
        self.frame = frame
        self.workers = workers
        self.leads, self.mids = frame.leads, frame.mids
        self.chunks = Chunks.of(self.leads, self.mids)
        # Room for the most rows that one call records: those of a range of chunks or, if
        # `ranges_for` returns fewer than `RANGES`, of a whole frontier.
        size = ROW_BYTES * max(self.chunks.range_rows, _MODEST_FRONTIER)
        self.record_buffers = [np.empty(size, np.uint8) for _ in range(workers.threads)]
        """Buffer of each thread for the records of one call."""

    def empty(self) -> Rows:
        """Return a set without positions."""
        rows: Rows = self.workers.storage.zeros((self.leads * self.mids, 2), np.uint64)
        return rows

    def empty_frontier(self) -> Frontier:
        """Return a frontier without positions."""
        limit = self.mids // _LIST_DIVISOR
        return Frontier(
            self.empty(),
            np.zeros(self.leads, np.int32),
            np.zeros(self.leads * limit, np.int32),
            limit,
        )

    def run_kernel(self, kernel_of_leads: Callable[..., None], *arguments: Any) -> None:
        """Run `kernel_of_leads(lead_0, lead_1, *arguments, frame)` over all leads, by threads."""
        self.workers.run_kernel(
            self.leads, kernel_of_leads, *arguments, self.frame, ranges=FEW_RANGES
        )

    def _by_rows(self, operation: Callable[..., object], *sets: Rows) -> None:
        """Call `operation` by threads for each range of rows, with these rows of each set."""

        def operate(lead_0: int, lead_1: int, _: int) -> None:
            rows = slice(lead_0 * self.mids, lead_1 * self.mids)
            operation(*(members[rows] for members in sets))

        self.workers.run(operate, self.leads, FEW_RANGES)

    def copy(self, source: Rows, target: Rows) -> None:
        """Replace the positions of `target` by those of `source`."""
        self._by_rows(np.copyto, target, source)

    def clear_rows(self, target: Rows) -> None:
        """Remove all positions of a set."""
        self._by_rows(lambda rows: rows.fill(0), target)

    def unite(self, members: Rows, target: Rows) -> None:
        """Add the positions of the set `members` to the set `target`."""
        self._by_rows(np.bitwise_or, target, members, target)

    def intersect(self, members: Rows, target: Rows) -> None:
        """Keep in the set `target` only the positions that are also in `members`."""
        self._by_rows(np.bitwise_and, target, members, target)

    def difference(self, members: Rows, others: Rows, target: Rows) -> None:
        """Set `target` to the positions of `members` that are not in `others`."""
        self.run_kernel(_k_difference, members, others, target)

    def put_difference(self, members: Rows, others: Rows, found: Frontier) -> None:
        """Set `found` to the positions of `members` that are not in `others`."""
        self.run_kernel(_k_put_selected, members, others, True, found)

    def put_common(self, members: Rows, others: Rows, found: Frontier) -> None:
        """Set `found` to the positions that are in both `members` and `others`."""
        self.run_kernel(_k_put_selected, members, others, False, found)

    def clear(self, found: Frontier) -> None:
        """Remove all positions of a frontier."""
        self.workers.run_kernel(self.leads, _k_clear, found, self.mids, ranges=ranges_for(found))

    def transfer(self, front: Frontier, source: Rows, target: Rows | None = None) -> bool:
        """Remove the positions of `front` from `source`, and add them to `target` if it is given.

        Returns whether `front` has any position.
        """
        moved = np.zeros(self.leads, np.int64)
        added_to = front.rows if target is None else target
        self.workers.run_kernel(
            self.leads, _k_transfer, front, source, added_to, moved, self.mids,
            ranges=ranges_for(front),
        )  # fmt: skip
        return bool(moved.any())

    def join(self, front: Frontier, target: Frontier) -> None:
        """Add the positions of the frontier `front` to the frontier `target`."""
        self.workers.run_kernel(
            self.leads, _k_join, front, target, self.mids, ranges=ranges_for(front)
        )

    def add(self, records: Records, target: Rows, within: Rows | None = None) -> None:
        """Add recorded positions to `target`: all, or those in `within`."""
        filtered, members = within is not None, target if within is None else within
        self._each(records, lambda record, row_0: k_add(record, row_0, filtered, members, target))

    def remove(self, records: Records, target: Rows) -> None:
        """Remove recorded positions from `target`."""
        self._each(records, lambda record, row_0: k_remove(record, row_0, target))

    def put(self, records: Records, found: Frontier, within: Rows | None = None) -> None:
        """Set `found` to recorded positions: all, or those in `within`."""
        self.clear(found)
        self.put_more(records, found, within)

    def put_more(self, records: Records, found: Frontier, within: Rows | None = None) -> None:
        """Add recorded positions to `found`: all, or those in `within`."""
        filtered, members = within is not None, found.rows if within is None else within

        def put(record: Bytes, row_0: int) -> None:
            _k_put(record, row_0, filtered, members, found, self.mids)

        self._each(records, put)

    def _each(self, records: Records, use: Callable[[Bytes, int], None]) -> None:
        """Call `use(record, first row of its chunk)` for all records, each chunk in one thread."""

        def use_some(first: int, last: int, _: int) -> None:
            for chunk, of_chunk in records[first:last]:
                for record in of_chunk:
                    use(record, self.chunks.row_0(chunk))

        self.workers.run(use_some, len(records))

    def record(self, members: Rows, use: Callable[[int, Bytes], None]) -> None:
        """Record a set: call `use(chunk, record)` for each chunk in which the set has positions.

        The calls are made in any thread and order. `use` must copy the record: buffers are reused.
        """
        chunks = self.chunks

        def record(first: int, last: int, thread: int) -> None:
            out, ends = self.record_buffers[thread], np.zeros(chunks.number, np.int64)
            k_record(first, last, chunks.size, members, out, ends, chunks.leads, chunks.mids)
            for chunk, one in split_records(first, last, out, ends):
                use(chunk, one)

        self.workers.run(record, chunks.number)

    def packed(self, members: Rows) -> StoredRecords:
        """Return the positions of a set as new records, the long ones compressed."""
        packed = StoredRecords(self.workers.storage)
        self.record(members, packed.add)
        return packed

    def count(self, members: Rows) -> int:
        """Return the number of positions of a set, each counted at its canonical slot."""
        counts = np.zeros(self.leads, np.int64)
        self.run_kernel(_k_count, members, counts)
        return int(counts.sum())
