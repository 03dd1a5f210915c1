# mypy: allow-untyped-defs, allow-untyped-calls
"""Phase 3: propagation of wins and losses, order by order, and ply by ply.

    wins in n      a move into a loss in n - 1, or a capture of this value
    losses in n    all moves and captures lose, the longest of them in n plies

At order 0 the seeds are captures, and positions without any move (lost in 0 plies). At order k the
seeds are captures of this order, and the direct wins that `candidates.py` finds (Fang, Hsu & Hsu
2002, sections 5 and 6.1). A capture is *due* in the step that settles positions with its value.

To *settle* a position is to give it its code. Steps settle the best wins and the worst losses left,
so a position's first code is its value. The code goes into a journal; the position leaves two sets:

    unknown    legal and not settled: an escape for the opponent
    losable    unknown, and either without a capture or with a best capture that loses and is due

A sweep for losses tests only whether a move leads to an unknown position: a position with a move to
a lost one has been settled as a win before. Parameters of kernels: `tbgen.rows`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np

from tbgen.compiling.jit import borrowing_kernel
from tbgen.indexing.squares import Side
from tbgen.retrograde.journal import Journal, LaterRecords, Waiting
from tbgen.rows.bitsets import count_bits
from tbgen.rows.records import Records, split_records, write_row
from tbgen.rows.sets import Frontier, Rows, Sets, mid_in_use, ranges_for, rows_in_use
from tbgen.rows.sweep import Sweeper
from tbgen.tables.codes import CodeSpace, LimitExceededError, Outcome, Value

Report = Callable[[str, int, int, int], None]
"""Function `report(phase, order, plies, settled)`. It is called when a phase begins, with `settled`
0, and after each ply of the propagation, with the number of positions that the ply has settled.
"""


@borrowing_kernel
def _k_settle(chunk_0, chunk_1, size, front, unknown, losable, out, ends, frame):
    """Write a record of each chunk's positions in `front`; return the number of positions.

    unknown, losable : Rows, inout; sets from which the positions are removed
    """
    mids, leads = frame.mids, frame.leads
    settled, at = 0, 0
    for chunk in range(chunk_0, chunk_1):
        previous = chunk * size * mids
        for lead in range(chunk * size, min(leads, (chunk + 1) * size)):
            for i in range(rows_in_use(lead, front, mids)):
                row = lead * mids + mid_in_use(i, lead, front)
                lo, hi = front.rows[row, 0], front.rows[row, 1]
                if not (lo | hi):
                    continue
                unknown[row, 0] &= ~lo
                unknown[row, 1] &= ~hi
                losable[row, 0] &= ~lo
                losable[row, 1] &= ~hi
                settled += count_bits(lo) + count_bits(hi)
                at = write_row(out, at, row - previous, lo, hi)
                previous = row
        ends[chunk] = at
    return settled


class Propagation:
    """Sets and journals of one material, and the steps that settle its positions.

    Attributes with two entries have one for each side to move. `frontiers` have the positions that
    the last step settled. The next step writes Red's positions to `spare_frontier`, since Black's
    sweep still reads Red's frontier of the last step.
    """

    def __init__(
        self,
        sets: Sets,
        unknown: tuple[Rows, Rows],
        sorted_positions: Iterable[tuple[Rows, Waiting]],
        code_space: CodeSpace,
        report: Report = lambda phase, order, plies, settled: None,
    ) -> None:
        """Prepare the propagation, which changes the given sets in place.

        unknown : the legal positions of each side to move
        sorted_positions : for each side to move, the positions without any capture, and those whose
            best capture wins or loses (`sort_by_captures`)
        code_space : of the codes in the journals
        report : called after each step, and after `start`
        """
        self.sets = sets
        self.code_space = code_space
        self.sweeper = Sweeper(sets.frame, sets.workers)
        storage, chunks = sets.workers.storage, sets.chunks.number
        self.journals = Journal(chunks, storage), Journal(chunks, storage)
        self.unknown = unknown
        self.losable, self.waiting = zip(*sorted_positions, strict=True)
        self.frontiers = [sets.empty_frontier() for _ in Side]
        self.spare_frontier = sets.empty_frontier()
        self.order_starts = [journal.cursors for journal in self.journals]
        """For each side, `Journal.cursors` at the beginning of the last order."""
        self._report = report

    def start(self) -> None:
        """Settle the positions without any move, the first seeds, as losses in 0 plies."""
        for side in Side:
            self.sweeper.without_move_into(
                side, self.losable[side], self.frontiers[side], self.unknown[side.other]
            )
        self._settle(Value(Outcome.LOSS, 0, 0))

    def steps(self, order: int, last: int = 0) -> Iterator[tuple[int, int]]:
        """Settle the positions of an order; yield each step, with the number of positions settled.

        last : step after which to continue, if a build resumes within this order; 0 to begin it

        The order ends with the first step that settles nothing and after which no position waits
        for a value of this order. Raises `LimitExceededError` if a value does not fit the codes.
        """
        due = self._last_due(order)
        if not last:
            self.order_starts = [journal.cursors for journal in self.journals]
        for number in itertools.count(last + 1):
            settled = self._step(order, number)
            yield number, settled
            if not settled and number >= due:
                return

    def _step(self, order: int, number: int) -> int:
        """Settle one ply, wins at odd steps, losses at even ones; return the number of positions.

        number : the step, from 1 on: the plies of the value at order 0, plies + 1 at higher orders

        Raises `LimitExceededError` if the value does not fit the codes.
        """
        outcome = Outcome.WIN if number % 2 else Outcome.LOSS
        value = Value(outcome, order, number - (order > 0))
        space = self.code_space
        fits = order <= space.max_order and value.plies // 2 < space.span
        before = self.frontiers
        # Red's sweep reads Black's last frontier before Black's sweep overwrites it.
        self.frontiers = [self.spare_frontier, before[Side.BLACK]]
        for side in Side:
            found = self.frontiers[side]
            due = fits and self._find_due(side, value, found)
            within, escape = self.unknown[side], None
            if outcome == Outcome.LOSS:
                within, escape = self.losable[side], self.unknown[side.other]
            if value.plies:
                self.sweeper.predecessors(
                    side, before[side.other], within, found, escape, add_found=due
                )
            elif not due:
                self.sets.clear(found)  # 0 plies: direct wins only, and this side has none
        self.spare_frontier = before[Side.RED]
        if not fits:
            if any(front.counts.any() for front in self.frontiers):
                raise LimitExceededError(f"order {order}, {value.plies} plies do not fit the codes")
            return 0
        return self._settle(value)

    def _find_due(self, side: Side, value: Value, found: Frontier) -> bool:
        """Set `found` to the positions that wait for a value; return whether any waited.

        If none waited, `found` is unchanged. Otherwise all that waited cease to wait. For a loss,
        those on `found` become losable. Positions that a better move has settled since are among
        those that waited, but are not put on `found`.
        """
        code = self.code_space.encode(value)
        records = self.waiting[side].records(code)
        if not len(records):
            return False
        if value.outcome == Outcome.LOSS:
            self.sets.add(records, self.losable[side], within=self.unknown[side])
        # Direct wins (0 plies) have left `unknown` already.
        self.sets.put(records, found, within=self.unknown[side] if value.plies else None)
        self.waiting[side].drop(code)
        return True

    def _settle(self, value: Value) -> int:
        """Settle the positions of both frontiers with a value; report and return their number."""
        code = self.code_space.encode(value)
        chunks = self.sets.chunks
        total = np.zeros(chunks.number, np.int64)
        for side in Side:
            found = self.frontiers[side]

            def settle(
                first: int, last: int, thread: int, side: Side = side, found: Frontier = found
            ) -> None:
                out, ends = self.sets.record_buffers[thread], np.zeros(chunks.number, np.int64)
                total[first] += _k_settle(
                    first, last, chunks.size, found, self.unknown[side], self.losable[side], out,
                    ends, self.sets.frame,
                )  # fmt: skip
                for chunk, record in split_records(first, last, out, ends):
                    self.journals[side].add(code, chunk, record)

            self.sets.workers.run(settle, chunks.number, ranges_for(found))
        settled = int(total.sum())
        self._report("propagation", value.order, value.plies, settled)
        return settled

    def settle_draws(self) -> None:
        """Record all positions that are still unknown as draws: phase 5."""
        draw = self.code_space.draw
        for side in Side:
            self.sets.record(self.unknown[side], partial(self.journals[side].add, draw))

    def seed(self, side: Side, members: Rows, order: int) -> None:
        """Make `members` wait as direct wins for the first step of an order.

        The caller has removed them from `unknown` and `losable`.
        """
        code = self.code_space.encode(Value(Outcome.WIN, order, 0))
        self.sets.record(members, partial(self.waiting[side].add, code))

    def last_wins(self, side: Side) -> Records:
        """Return the records of the positions that a side has won since the last order began."""
        return LaterRecords(self.journals[side], self.order_starts[side], self.code_space.draw)

    def waiting_for(self, side: Side, order: int, outcome: Outcome) -> Iterator[Records]:
        """Yield, for each value of an order and outcome, the positions that wait for the value.

        Positions that other moves have settled since are included.
        """
        for code, value in self._waiting_values(side):
            if value.order == order and value.outcome == outcome:
                yield self.waiting[side].records(code)

    @contextmanager
    def losable_captures(self, side: Side, order: int) -> Iterator[None]:
        """Context manager: makes unknown positions losable whose best capture loses at `order`.

        At the end they are removed from `losable`.
        """
        losable = self.losable[side]
        for records in self.waiting_for(side, order, Outcome.LOSS):
            self.sets.add(records, losable, within=self.unknown[side])
        try:
            yield
        finally:
            for records in self.waiting_for(side, order, Outcome.LOSS):
                self.sets.remove(records, losable)

    @contextmanager
    def borrowed_frontiers(self) -> Iterator[list[Frontier]]:
        """Context manager: yields the three frontiers, of arbitrary content, between two orders.

        At the end `frontiers` are cleared; the next step overwrites `spare_frontier`.
        """
        try:
            yield [self.spare_frontier, *self.frontiers]
        finally:
            for front in self.frontiers:
                self.sets.clear(front)

    @property
    def last_order(self) -> int:
        """Highest order of the values for which positions wait, 0 if none wait."""
        return max(
            (value.order for side in Side for _, value in self._waiting_values(side)), default=0
        )

    def _last_due(self, order: int) -> int:
        """Return the step at which the last waiting positions of an order are due, 0 for none."""
        values = (value for side in Side for _, value in self._waiting_values(side))
        return max((v.plies + (order > 0) for v in values if v.order == order), default=0)

    def _waiting_values(self, side: Side) -> list[tuple[int, Value]]:
        """Return the codes for which positions of a side wait, with their values."""
        return [(code, self.code_space.decode(code)) for code in self.waiting[side].codes]
