# mypy: allow-untyped-defs, allow-untyped-calls
"""Phase 3: propagation, one order of preference after the other, one ply after the other.

    wins in n      a move into a loss in n - 1, or a capture worth that much
    losses in n    no move and no capture that is not lost, the longest of them in n plies

At order 0 the seeds are the positions without any move, lost in 0 plies, and captures; at order k
they are direct wins by the rules, and a ply is one of *distance-to-check* (Fang, Hsu & Hsu 2002,
sections 5 and 6.1). Captures were valued before (`captures.py`), and wait until their ply is *due*.
Since codes are settled in the order of preference, the first code that a position gets is its
value; it goes into the journal, and the position out of the sets of each side to move:

    unknown    legal, not settled: where the opponent may escape to
    losable    unknown, and all captures (if any) have come to lose

A move into a lost position is no escape to be looked for: what has one was won a ply later.

Which positions are direct wins is for the searches to say (`candidates.py`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np

from tbgen.compiling.jit import borrowing_kernel
from tbgen.indexing.squares import Side
from tbgen.retrograde.initialisation import Sorted
from tbgen.retrograde.journal import Journal
from tbgen.rows.bitsets import count_bits
from tbgen.rows.frame import LEADS, MIDS
from tbgen.rows.records import Records, split_records, write_row
from tbgen.rows.sets import Frontier, Rows, Sets, ranges_for
from tbgen.rows.sweep import Sweeper
from tbgen.tables.codes import CodeSpace, LimitExceededError, Outcome, Value

Report = Callable[[int, int, int], None]
"""Progress: order, plies, positions settled."""


@borrowing_kernel
def _k_settle(chunk_0, chunk_1, size, found, unknown, losable, out, ends, frame):
    """Settle the positions on `found`, and record them.

    found : Frontier, in
    unknown, losable : Rows, inout; the positions leave these sets

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
    """The sets and journals of one material, and the plies that settle them.

    Pairs have one entry for each side to move. `fronts` are the positions settled by the last
    ply, `spare` is the frontier that the next one writes first.
    """

    def __init__(
        self,
        sets: Sets,
        unknown: tuple[Rows, Rows],
        positions: tuple[Sorted, Sorted],
        code_space: CodeSpace,
        report: Report = lambda order, plies, settled: None,
    ) -> None:
        """Take over the positions of both sides: their sets are changed from here on.

        unknown : the legal positions
        """
        self.sets = sets
        self.code_space = code_space
        self.sweep = Sweeper(sets.frame, sets.workers).sweep
        storage, chunks = sets.workers.storage, sets.chunks.number
        self.journals = Journal(chunks, storage), Journal(chunks, storage)
        red, black = positions
        self.unknown = unknown
        self.losable = red.losable, black.losable
        self.waiting = red.waiting, black.waiting
        self.fronts = [sets.empty_frontier() for _ in Side]
        self.spare = sets.empty_frontier()
        self.begun = [journal.places for journal in self.journals]
        """Where the journals were when the last order began."""
        self._report = report

    def start(self) -> None:
        """Settle the positions without any move: the first seeds."""
        for side in Side:
            self.sweep(side, None, self.losable[side], self.fronts[side], self.unknown[side.other])
        settled = self._settle(Value(Outcome.LOSS, 0, 0))
        self._report(0, 0, settled)

    def steps(self, order: int, last: int = 0) -> Iterator[tuple[int, int]]:
        """Settle an order until nothing follows: each step, and how many positions it settled.

        last : the last step that was made, where the order was begun earlier (one step too many
            does nothing)

        Raises `LimitExceededError` where a distance does not fit the codes.
        """
        due = self._last_due(order)
        if not last:
            self.begun = [journal.places for journal in self.journals]
        for number in itertools.count(last + 1):
            settled = self.step(order, number)
            yield number, settled
            if not settled and number >= due:
                return

    def step(self, order: int, number: int) -> int:
        """Settle one ply: wins at odd steps, losses at even ones; returns how many.

        At order 0 the step is the distance in plies, at order k the distance plus one.
        """
        outcome = Outcome.WIN if number % 2 else Outcome.LOSS
        value = Value(outcome, order, number - (order > 0))
        fits = value.plies // 2 < self.code_space.span
        before = self.fronts
        # What Black's positions of the last ply lead back to is found before they are overwritten.
        self.fronts = [self.spare, before[Side.BLACK]]
        for side in Side:
            found = self.fronts[side]
            due = fits and self._find_due(side, value, found)
            within, escape = self.unknown[side], None
            if outcome == Outcome.LOSS:
                within, escape = self.losable[side], self.unknown[side.other]
            if value.plies:
                self.sweep(side, before[side.other], within, found, escape, add_found=due)
            elif not due:
                self.sets.clear(found)  # direct wins alone, of which there are none
        self.spare = before[Side.RED]
        if not fits:
            if any(front.counts.any() for front in self.fronts):
                raise LimitExceededError(f"{value.plies} plies do not fit the codes")
            return 0
        settled = self._settle(value)
        self._report(order, value.plies, settled)
        return settled

    def _find_due(self, side: Side, value: Value, found: Frontier) -> bool:
        """Put positions whose best capture has this value on `found`; whether there may be any."""
        code = self.code_space.encode(value)
        records = self.waiting[side].records(code)
        if not len(records):
            return False
        if value.outcome == Outcome.LOSS:
            self.sets.add(records, self.losable[side], within=self.unknown[side])
        # Only direct wins take no ply.
        self.sets.put(records, found, within=self.unknown[side] if value.plies else None)
        self.waiting[side].drop(code)
        return True

    def _settle(self, value: Value) -> int:
        """Give the positions on the fronts their value; returns how many there are."""
        code = self.code_space.encode(value)
        chunks = self.sets.chunks
        total = np.zeros(chunks.number, np.int64)
        for side in Side:
            found = self.fronts[side]

            def settle(
                first: int, last: int, thread: int, side: Side = side, found: Frontier = found
            ) -> None:
                out, ends = self.sets.record_room[thread], np.zeros(chunks.number, np.int64)
                total[first] += _k_settle(
                    first, last, chunks.size, found, self.unknown[side], self.losable[side], out,
                    ends, self.sets.frame,
                )  # fmt: skip
                for chunk, record in split_records(first, last, out, ends):
                    self.journals[side].add(code, chunk, record)

            self.sets.workers.run(settle, chunks.number, ranges_for(found))
        return int(total.sum())

    def settle_draws(self) -> None:
        """The final phase: what is still unknown is a draw, and goes into the journals."""
        draw = self.code_space.draw
        for side in Side:
            self.sets.record(self.unknown[side], partial(self.journals[side].add, draw))

    def seed(self, side: Side, members: Rows, order: int) -> None:
        """Make positions that have left the sets direct wins, due at the first step of an order."""
        code = self.code_space.encode(Value(Outcome.WIN, order, 0))
        self.sets.record(members, partial(self.waiting[side].add, code))

    def last_wins(self, side: Side) -> Records:
        """The positions that a side has won in the last order."""
        return self.journals[side].better_since(self.begun[side], self.code_space.draw)

    def waiting_for(self, side: Side, order: int, outcome: Outcome) -> Iterator[Records]:
        """The positions that wait for an outcome of an order, of one code at a time."""
        for code, value in self._waiting_values(side):
            if value.order == order and value.outcome == outcome:
                yield self.waiting[side].records(code)

    @contextmanager
    def expecting_losses(self, side: Side, order: int) -> Iterator[None]:
        """Count captures of a side that lose at an order among its losable positions, for a while.

        They will lose in this order, whenever their ply comes, but for what is a direct win by now.
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
    def lending_frontiers(self) -> Iterator[list[Frontier]]:
        """Lend the three frontiers, which are idle between orders; `fronts` must be empty then.

        They come with anything on them, and the borrower may leave anything.
        """
        try:
            yield [self.spare, *self.fronts]
        finally:
            for front in self.fronts:
                self.sets.clear(front)

    @property
    def last_order(self) -> int:
        """The highest order of a capture that waits."""
        return max(
            (value.order for side in Side for _, value in self._waiting_values(side)), default=0
        )

    def _last_due(self, order: int) -> int:
        """The step of the last capture of an order that waits, 0 for none."""
        values = (value for side in Side for _, value in self._waiting_values(side))
        return max((v.plies + (order > 0) for v in values if v.order == order), default=0)

    def _waiting_values(self, side: Side) -> list[tuple[int, Value]]:
        """The codes that positions of a side wait for, and their values."""
        return [(code, self.code_space.decode(code)) for code in self.waiting[side].codes]
