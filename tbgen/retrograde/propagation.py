"""Phase 3: propagation, one order of preference after the other, one ply after the other.

    wins in n      a move into a loss in n - 1, or a capture worth that much
    losses in n    no move and no capture that is not lost, the longest of them in n plies

Positions without any move are lost in 0 plies and start it all. Captures were valued before
(`captures.py`), and wait until their ply is *due*. Since codes are settled in the order of
preference, the first code that a position gets is its value; it goes into the journal, and the
position out of the sets of each side to move:

    unknown    legal, not settled
    unwon      legal, not known to be won: where the opponent may escape to
    losable    unknown, and all captures (if any) have come to lose
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbgen.indexing.squares import Side
from tbgen.jit import borrowing_kernel
from tbgen.retrograde.bitsets import EMPTY, ONE, count_bits, lowest_bit
from tbgen.retrograde.frame import LEADS, MIDS, STRIDE, Frame
from tbgen.retrograde.journal import (
    ROW_BYTES,
    Bytes,
    Journal,
    Log,
    PackedRows,
    Waiting,
    k_mark,
    k_record,
    k_unpack_rows,
    read_row,
    write_row,
)
from tbgen.retrograde.parallel import FEW_RANGES, RANGES, Chunks, Workers
from tbgen.retrograde.sweep import (
    SMALL_FRONTIER,
    Frontier,
    Rows,
    Sweeper,
    empty_frontier,
    put_row,
)
from tbgen.tables.codes import CodeSpace, LimitExceededError, Outcome, Value

Plane = NDArray[Any]
"""Codes of one side to move, (rows * 90,)."""


@borrowing_kernel
def _k_classify(lead_0, lead_1, codes, draw, legal, losable, slots, waiting, frame):
    """Sort the positions of a side by their captures.

    Parameters
    ----------
    codes : codes (rows * 90,), in: the captures; 0 for none, anything where no position is legal
    legal : Rows, in; losable : Rows, out: the positions without any capture
    slots, waiting : uint32 and codes (slots of the leads,), out: the positions whose best capture
        wins or loses, from the first lead's first slot on, and its code

    Returns how many of those there are.
    """
    mids = frame.size[MIDS]
    count = 0
    for row in range(lead_0 * mids, lead_1 * mids):
        first = (row - lead_0 * mids) * STRIDE
        for word in range(2):
            bits = legal[row, word]
            without = EMPTY
            while bits:
                s = lowest_bit(bits)
                bits &= bits - ONE
                code = codes[row * STRIDE + 45 * word + s]
                if code == 0:
                    without |= ONE << np.uint64(s)
                elif code != draw:
                    slots[count] = first + 45 * word + s
                    waiting[count] = code
                    count += 1
            losable[row, word] = without
    return count


@borrowing_kernel
def _k_copy(lead_0, lead_1, source, target, mids):
    """Copy a set."""
    for row in range(lead_0 * mids, lead_1 * mids):
        target[row, 0] = source[row, 0]
        target[row, 1] = source[row, 1]


@borrowing_kernel
def _k_put(data, row_0, filtered, within, found, mids):
    """Put the positions of a record, if `filtered` those in `within`, on `found`."""
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
def _k_settle(chunk_0, chunk_1, size, won, found, unknown, losable, unwon, out, ends, frame):
    """Settle the positions on `found`, and record them.

    size : leads of a chunk
    out : uint8, out: the records of the chunks, one after the other; ends : int64 (chunks,), out,
        where each one ends

    Returns how many positions there are.
    """
    mids, leads = frame.size[MIDS], frame.size[LEADS]
    settled, at = 0, 0
    for chunk in range(chunk_0, chunk_1):
        previous = chunk * size * mids
        for lead in range(chunk * size, min(leads, (chunk + 1) * size)):
            whole = found.counts[lead] > found.limit
            for i in range(mids if whole else found.counts[lead]):
                mid = np.int64(i) if whole else np.int64(found.listed[lead * found.limit + i])
                row = lead * mids + mid
                lo, hi = found.rows[row, 0], found.rows[row, 1]
                if not (lo | hi):
                    continue
                if won:
                    unwon[row, 0] &= ~lo
                    unwon[row, 1] &= ~hi
                unknown[row, 0] &= ~lo
                unknown[row, 1] &= ~hi
                losable[row, 0] &= ~lo
                losable[row, 1] &= ~hi
                settled += count_bits(lo) + count_bits(hi)
                at = write_row(out, at, row - previous, lo, hi)
                previous = row
        ends[chunk] = at
    return settled


@borrowing_kernel
def _k_difference(lead_0, lead_1, members, others, target, mids):
    """Make a set the positions of one set that are not in another."""
    for row in range(lead_0 * mids, lead_1 * mids):
        target[row, 0] = members[row, 0] & ~others[row, 0]
        target[row, 1] = members[row, 1] & ~others[row, 1]


@borrowing_kernel
def _k_keep_in(lead_0, lead_1, members, target, mids):
    """Keep the positions of a set in another one."""
    for row in range(lead_0 * mids, lead_1 * mids):
        target[row, 0] &= members[row, 0]
        target[row, 1] &= members[row, 1]


class Propagation:
    """The sets and journals of one material, and the plies that settle them.

    `fronts[side]` are the positions settled by the last ply.
    """

    def __init__(
        self,
        frame: Frame,
        legal: tuple[Rows, Rows],
        code_space: CodeSpace,
        workers: Workers,
        report: Callable[[int, int, int], None] = lambda order, plies, settled: None,
    ) -> None:
        """Take over the legal positions, as `unknown`; `admit` and `start` come next."""
        leads, mids = int(frame.size[LEADS]), int(frame.size[MIDS])
        self.frame = frame
        self.code_space = code_space
        self.workers = workers
        self.sweeper = Sweeper(frame, workers)
        self.chunks = Chunks.of(leads, mids)
        self.journals = tuple(Journal(self.chunks.number, workers.storage) for _ in Side)
        self.waiting = tuple(Waiting(workers.storage) for _ in Side)
        self.unknown = legal
        self.losable = tuple(self.empty_rows() for _ in Side)
        self.unwon: tuple[Rows, ...] = ()
        self.fronts: list[Frontier] = []
        self.spare: list[Frontier] = []
        self.logs: tuple[list[Log], ...] = tuple([] for _ in Side)
        """Who is to be told what a side has won."""
        self._report = report
        # A range of leads has this many chunks at most; a small frontier needs less room.
        rows = -(-self.chunks.number // RANGES) * self.chunks.rows
        size = ROW_BYTES * max(rows, SMALL_FRONTIER)
        self._out = [np.empty(size, np.uint8) for _ in range(workers.threads)]

    def empty_rows(self) -> Rows:
        """A set without positions."""
        rows: Rows = self.workers.storage.zeros(
            (self.chunks.leads * self.chunks.mids, 2), np.uint64
        )
        return rows

    def _over_rows(self, kernel_of_leads: Callable[..., None], *arguments: Any) -> None:
        """Run set algebra on all leads."""
        leads, mids = self.chunks.leads, self.chunks.mids
        self.workers.over(leads, kernel_of_leads, *arguments, mids, ranges=FEW_RANGES)

    def copy(self, source: Rows, target: Rows) -> None:
        """Make a set equal to another."""
        self._over_rows(_k_copy, source, target)

    def copied(self, rows: Rows) -> Rows:
        """A copy of a set."""
        copy = self.empty_rows()
        self.copy(rows, copy)
        return copy

    def admit(self, side: Side, codes: Plane) -> None:
        """Let the captures of a side wait; their plane is not needed any more."""
        chunks = self.chunks
        slots = chunks.rows * STRIDE
        buffers = [
            (np.empty(slots, np.uint32), np.empty(slots, codes.dtype))
            for _ in range(self.workers.threads)
        ]

        def classify(chunk: int, _: int, thread: int) -> None:
            waiting_slots, waiting = buffers[thread]
            count = _k_classify(
                *chunks.lead_range(chunk), codes, self.code_space.draw, self.unknown[side],
                self.losable[side], waiting_slots, waiting, self.frame,
            )  # fmt: skip
            self.waiting[side].add_lists(chunk, waiting[:count], waiting_slots[:count])

        self.workers.run(classify, chunks.number, chunks.number)

    def start(self) -> None:
        """Settle the positions without any move."""
        leads, mids = int(self.frame.size[LEADS]), int(self.frame.size[MIDS])
        storage = self.workers.storage
        self.unwon = tuple(self.copied(rows) for rows in self.unknown)
        self.fronts = [empty_frontier(leads, mids, storage) for _ in Side]
        self.spare = [empty_frontier(leads, mids, storage) for _ in Side]
        for side in Side:
            self.sweeper.sweep(
                side, None, self.losable[side], self.fronts[side], self.unwon[side.other]
            )
        settled = self._settle(Value(Outcome.LOSS, 0, 0))
        self._report(0, 0, settled)

    def _settle(self, value: Value) -> int:
        """Give the positions on the fronts their value; returns how many there are."""
        code, won = self.code_space.encode(value), value.outcome == Outcome.WIN
        total = np.zeros(self.chunks.number, np.int64)
        for side in Side:
            found = self.fronts[side]

            def settle(
                first: int, last: int, thread: int, side: Side = side, found: Frontier = found
            ) -> None:
                out, ends = self._out[thread], np.zeros(self.chunks.number, np.int64)
                total[first] += _k_settle(
                    first, last, self.chunks.size, won, found, self.unknown[side],
                    self.losable[side], self.unwon[side], out, ends, self.frame,
                )  # fmt: skip
                for chunk, record in _records(first, last, out, ends):
                    self.journals[side].add(chunk, code, record)
                    if won:
                        self._note_won(side, chunk, record)

            self.workers.run(settle, self.chunks.number, self.sweeper.ranges(found))
        return int(total.sum())

    def _find_due(self, side: Side, value: Value, found: Frontier) -> bool:
        """Put positions whose best capture has this value on `found`; whether there may be any."""
        code = self.code_space.encode(value)
        lost = value.outcome == Outcome.LOSS
        records = self.waiting[side].records(code)
        if not records:
            return False
        if lost:
            self.mark(records, self.unknown[side], self.losable[side], present=True)
        self.sweeper.clear(found)
        self.put(records, found, self.unknown[side])
        self.waiting[side].drop(code)
        return True

    def put(
        self, records: list[tuple[int, list[Bytes]]], found: Frontier, within: Rows | None = None
    ) -> None:
        """Add the positions of records to a frontier, those in `within` where that is given.

        records : (chunk, records), every chunk once: its leads are written by one thread
        """
        filtered, members = within is not None, found.rows if within is None else within

        def put(first: int, last: int, _: int) -> None:
            for chunk, of_chunk in records[first:last]:
                for record in of_chunk:
                    row_0 = self.chunks.row_0(chunk)
                    _k_put(record, row_0, filtered, members, found, self.chunks.mids)

        self.workers.run(put, len(records))

    def put_packed(self, packed: PackedRows, found: Frontier, within: Rows) -> None:
        """Make a frontier the positions of a packed set that are in `within`."""
        self.sweeper.clear(found)
        chunks = packed.chunks

        def put(first: int, last: int, _: int) -> None:
            for chunk in chunks[first:last]:
                record, row_0 = packed.record(chunk), self.chunks.row_0(chunk)
                _k_put(record, row_0, True, within, found, self.chunks.mids)

        self.workers.run(put, len(chunks))

    def declare(self, side: Side, members: Rows, value: Value) -> None:
        """Make a win due for unknown positions, like a capture."""
        code = self.code_space.encode(value)

        def note(chunk: int, record: Bytes) -> None:
            self.waiting[side].add(chunk, code, record)
            self._note_won(side, chunk, record)

        self._record(members, note)

    def _note_won(self, side: Side, chunk: int, record: Bytes) -> None:
        """Tell those who asked (`logs`)."""
        if self.logs[side]:
            kept = np.frombuffer(record.tobytes(), np.uint8)
            for log in self.logs[side]:
                log.add(chunk, kept)

    def _record(self, members: Rows, use: Callable[[int, Bytes], None]) -> None:
        """Call `use(chunk, record)` for the chunks in which a set has positions."""
        chunks = self.chunks

        def record(first: int, last: int, thread: int) -> None:
            out, ends = self._out[thread], np.zeros(chunks.number, np.int64)
            k_record(first, last, chunks.size, members, out, ends, chunks.leads, chunks.mids)
            for chunk, one in _records(first, last, out, ends):
                use(chunk, one)

        self.workers.run(record, chunks.number)

    def keep_in(self, members: Rows, target: Rows) -> None:
        """Keep only the positions of one set in another."""
        self._over_rows(_k_keep_in, members, target)

    def difference(self, members: Rows, others: Rows, target: Rows) -> None:
        """Make a set the positions of one set that are not in another."""
        self._over_rows(_k_difference, members, others, target)

    def packed(self, members: Rows) -> PackedRows:
        """A set, compressed."""
        packed = PackedRows(self.workers.storage)
        self._record(members, packed.add)
        return packed

    def unpack(self, packed: PackedRows, target: Rows, *, present: bool = True) -> None:
        """Add a set that was packed to another one; without `present`, take it out."""
        chunks = packed.chunks

        def unpack(first: int, last: int, _: int) -> None:
            for chunk in chunks[first:last]:
                row_0 = self.chunks.row_0(chunk)
                k_unpack_rows(packed.record(chunk), row_0, present, target)

        self.workers.run(unpack, len(chunks))

    def _waiting_codes(self, side: Side, order: int, outcome: Outcome) -> list[int]:
        """The codes of one order and outcome that positions of a side wait for."""
        values = ((code, self.code_space.decode(code)) for code in self.waiting[side].codes)
        return [code for code, v in values if v.order == order and v.outcome == outcome]

    def waiting_records(
        self, side: Side, order: int, outcome: Outcome
    ) -> list[tuple[int, list[Bytes]]]:
        """The positions that wait for an outcome of an order: (chunk, records)."""
        return self.waiting[side].records(*self._waiting_codes(side, order, outcome))

    def mark_waiting(
        self, side: Side, order: int, outcome: Outcome, target: Rows, *, present: bool
    ) -> None:
        """Add the unknown positions that wait for an outcome of an order to a set.

        Without `present` all positions that wait for it are taken out instead.
        """
        # One code after the other, so that only one is unpacked at a time.
        for code in self._waiting_codes(side, order, outcome):
            records = self.waiting[side].records(code)
            self.mark(records, self.unknown[side], target, present=present)

    def mark(
        self,
        records: list[tuple[int, list[Bytes]]],
        within: Rows,
        target: Rows,
        *,
        present: bool,
    ) -> None:
        """Add the positions of records that are in `within` to a set, or take all of them out."""

        def mark(first: int, last: int, _: int) -> None:
            for chunk, of_chunk in records[first:last]:
                for record in of_chunk:
                    k_mark(record, self.chunks.row_0(chunk), present, within, target)

        self.workers.run(mark, len(records))

    def last_due(self, order: int) -> int:
        """The step of the last capture of an order that waits, 0 for none."""
        values = [v for v in self._waiting_values if v.order == order]
        return max((value.plies + (order > 0) for value in values), default=0)

    @property
    def last_order(self) -> int:
        """The highest order of a capture that waits."""
        return max((value.order for value in self._waiting_values), default=0)

    @property
    def _waiting_values(self) -> list[Value]:
        return [self.code_space.decode(code) for side in Side for code in self.waiting[side].codes]

    def step(self, order: int, number: int) -> int:
        """Settle one ply: wins at odd steps, losses at even ones; returns how many.

        At order 0 the step is the distance in plies, at order k the distance plus one.
        """
        outcome = Outcome.WIN if number % 2 else Outcome.LOSS
        value = Value(outcome, order, number - (order > 0))
        fits = value.plies // 2 < self.code_space.span
        for side in Side:
            found = self.spare[side]
            due = fits and self._find_due(side, value, found)
            within, escape = self.unknown[side], None
            if outcome == Outcome.LOSS:
                within, escape = self.losable[side], self.unwon[side.other]
            self.sweeper.sweep(side, self.fronts[side.other], within, found, escape, add_found=due)
        self.fronts, self.spare = self.spare, self.fronts
        if not fits:
            if any(front.counts.any() for front in self.fronts):
                raise LimitExceededError(f"{value.plies} plies do not fit the codes")
            return 0
        settled = self._settle(value)
        self._report(order, value.plies, settled)
        return settled

    def run(self, order: int) -> bool:
        """Settle an order until nothing follows; whether there was anything.

        Raises `LimitExceededError` where a distance does not fit the codes.
        """
        number, last, changed = 1, self.last_due(order), False
        settled = self.step(order, number)
        while settled or number < last:
            changed |= settled > 0
            number += 1
            settled = self.step(order, number)
        return changed


def _records(
    first: int, last: int, out: Bytes, ends: NDArray[np.int64]
) -> Iterator[tuple[int, Bytes]]:
    """The records of the chunks [first, last) that hold anything."""
    start = 0
    for chunk in range(first, last):
        end = int(ends[chunk])
        if end > start:
            yield chunk, out[start:end]
        start = end
