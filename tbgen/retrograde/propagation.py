"""Phase 3: propagation, one order of preference after the other, one ply after the other.

    wins in n      a move into a loss in n - 1, or a capture worth that much
    losses in n    no move and no capture that is not lost, the longest of them in n plies

Positions without any move are lost in 0 plies and start it all. Captures were valued before
(`captures.py`); their codes wait in the planes until their ply is *due*. Since codes are settled
in the order of preference, the first code that a position gets is its value.

Sets of each side to move:

    unknown    legal, not settled
    unwon      legal, not known to be won: where the opponent may escape to
    losable    unknown, without a capture that draws or wins
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbgen.indexing.squares import Side
from tbgen.jit import borrowing_kernel
from tbgen.retrograde.bitsets import EMPTY, ONE, count_bits, lowest_bit
from tbgen.retrograde.frame import LEADS, MIDS, STRIDE, Frame
from tbgen.retrograde.parallel import RANGES, Workers
from tbgen.retrograde.sweep import (
    Frontier,
    Rows,
    Sweeper,
    clear_lead,
    empty_frontier,
    put_row,
)
from tbgen.tables.codes import CodeSpace, LimitExceededError, Outcome, Value

Plane = NDArray[Any]
"""Codes of one side to move, (rows * 90,)."""


@borrowing_kernel
def _k_classify(lead_0, lead_1, codes, draw, top, legal, unknown, losable, quiet, pending, frame):
    """Sort the positions of a side by their captures.

    Parameters
    ----------
    codes : codes (rows * 90,), in/out: the captures; set to 0 where no position is legal
    legal : Rows, in; unknown, losable, quiet : Rows, out: all legal positions, those without a
        drawing or winning capture, and those without any capture
    pending : bool (codes,), out: the codes of captures that occur, by `_pending_index`; the last
        entry stands for all codes beyond the table
    """
    beyond = pending.size - 1
    mids = frame.size[MIDS]
    for row in range(lead_0 * mids, lead_1 * mids):
        for word in range(2):
            bits = legal[row, word]
            without, lost = EMPTY, EMPTY
            base = row * STRIDE + 45 * word
            for s in range(45):
                bit = ONE << np.uint64(s)
                if not bits & bit:
                    codes[base + s] = 0
                    continue
                code = np.int64(codes[base + s])
                if code == 0:
                    without |= bit
                elif code < draw:
                    lost |= bit
                    pending[min(2 * (code - 1), beyond)] = True
                elif code > draw:
                    pending[min(2 * (top - code) + 1, beyond)] = True
            unknown[row, word] = bits
            losable[row, word] = without | lost
            quiet[row, word] = without


@borrowing_kernel
def _k_due(lead_0, lead_1, flagged, codes, code, within, found, frame):
    """Put the positions of `within` whose capture has the code that is due on `found`."""
    mids = frame.size[MIDS]
    for lead in range(lead_0, lead_1):
        clear_lead(lead, found, mids)
        if not flagged:
            continue
        for mid in range(mids):
            row = lead * mids + mid
            lo, hi = within[row, 0], within[row, 1]
            if not (lo | hi):
                continue
            due_lo, due_hi = EMPTY, EMPTY
            base = row * STRIDE
            for s in range(45):
                due_lo |= np.uint64(codes[base + s] == code) << np.uint64(s)
                due_hi |= np.uint64(codes[base + 45 + s] == code) << np.uint64(s)
            lo &= due_lo
            hi &= due_hi
            if lo | hi:
                put_row(lead, mid, lo, hi, found, mids)


@borrowing_kernel
def keep_up_to(codes, base, lo, hi, bound):
    """Of a set of squares, those whose code is at most `bound`."""
    x, y = lo, hi
    while x:
        s = lowest_bit(x)
        x &= x - ONE
        if codes[base + s] > bound:
            lo &= ~(ONE << np.uint64(s))
    while y:
        s = lowest_bit(y)
        y &= y - ONE
        if codes[base + 45 + s] > bound:
            hi &= ~(ONE << np.uint64(s))
    return lo, hi


@borrowing_kernel
def _k_settle(lead_0, lead_1, codes, code, won, found, unknown, losable, unwon, total, frame):
    """Give the positions on `found` their code.

    A loss is settled only where no capture is better (larger codes wait until they are due).
    `total` int64 (ranges,): the number of settled positions is added to the entry of this range.
    """
    mids = frame.size[MIDS]
    settled = 0
    for lead in range(lead_0, lead_1):
        whole = found.counts[lead] > found.limit
        for i in range(mids if whole else found.counts[lead]):
            mid = np.int64(i) if whole else np.int64(found.listed[lead * mids + i])
            row = lead * mids + mid
            lo, hi = found.rows[row, 0], found.rows[row, 1]
            if not (lo | hi):
                continue
            base = row * STRIDE
            if won:
                unwon[row, 0] &= ~lo
                unwon[row, 1] &= ~hi
            else:
                lo, hi = keep_up_to(codes, base, lo, hi, code)
                found.rows[row, 0] = lo
                found.rows[row, 1] = hi
            unknown[row, 0] &= ~lo
            unknown[row, 1] &= ~hi
            losable[row, 0] &= ~lo
            losable[row, 1] &= ~hi
            settled += count_bits(lo) + count_bits(hi)
            while lo:
                codes[base + lowest_bit(lo)] = code
                lo &= lo - ONE
            while hi:
                codes[base + 45 + lowest_bit(hi)] = code
                hi &= hi - ONE
    total[lead_0] += settled


@borrowing_kernel
def _k_declare(lead_0, lead_1, codes, code, members, rows, frame):
    """Give positions a code that is due later; counts their rows at the range's first lead."""
    mids = frame.size[MIDS]
    for row in range(lead_0 * mids, lead_1 * mids):
        lo, hi = members[row, 0], members[row, 1]
        if lo | hi:
            rows[lead_0] += 1
        base = row * STRIDE
        while lo:
            codes[base + lowest_bit(lo)] = code
            lo &= lo - ONE
        while hi:
            codes[base + 45 + lowest_bit(hi)] = code
            hi &= hi - ONE


MAX_ORDER = 255
"""The highest order that the solver keeps track of."""


class Propagation:
    """The sets and planes of one material, and the plies that settle them.

    `fronts[side]` are the positions settled by the last ply.
    """

    def __init__(
        self,
        frame: Frame,
        codes: tuple[Plane, Plane],
        legal: tuple[Rows, Rows],
        code_space: CodeSpace,
        workers: Workers,
        report: Callable[[int, int, int], None] = lambda order, plies, settled: None,
    ) -> None:
        """Take over the capture codes and the legal positions (`legal` becomes `unwon`)."""
        self.frame = frame
        self.codes = codes
        self.code_space = code_space
        self.workers = workers
        self.sweeper = Sweeper(frame, workers)
        self.unwon = legal
        self.unknown = tuple(np.empty_like(rows) for rows in legal)
        self.losable = tuple(np.empty_like(rows) for rows in legal)
        self._report = report
        leads, mids = int(frame.size[LEADS]), int(frame.size[MIDS])
        self.fronts = [empty_frontier(leads, mids) for _ in Side]
        self.spare = [empty_frontier(leads, mids) for _ in Side]
        self._flag_codes = 2 * min(code_space.draw, (MAX_ORDER + 1) * code_space.span)
        # Flags for each range of leads save scans; those of wide codes would take too much room.
        self._flag_ranges = RANGES if code_space.width <= 2 else 1
        self._pending = self._classify()

    def _classify(self) -> list[NDArray[np.bool_]]:
        """Sort the positions by their captures, and settle those without any move.

        Returns for each side bool (ranges, codes + 1): which capture codes occur in which range
        of leads.
        """
        space, leads = self.code_space, int(self.frame.size[LEADS])
        pending = []
        for side in Side:
            flags = np.zeros((self._flag_ranges, self._flag_codes + 1), np.bool_)
            size = -(-leads // self._flag_ranges)
            quiet = self.spare[side]

            def classify(
                lead_0: int, lead_1: int, _: int, side: Side = side, quiet: Frontier = quiet,
                flags: NDArray[np.bool_] = flags, size: int = size,
            ) -> None:  # fmt: skip
                _k_classify(
                    lead_0, lead_1, self.codes[side], space.draw, space.top, self.unwon[side],
                    self.unknown[side], self.losable[side], quiet.rows, flags[lead_0 // size],
                    self.frame,
                )  # fmt: skip

            self.workers.run(classify, leads)
            if flags[:, -1].any():
                raise LimitExceededError(f"captures have orders above {MAX_ORDER}")
            pending.append(flags)
        for side in Side:
            quiet = self.spare[side]
            self.sweeper.sweep(side, None, quiet.rows, self.fronts[side], self.unwon[side.other])
            quiet.counts[:] = quiet.limit + 1  # its rows were lent; the next use clears them
        settled = self._settle(Value(Outcome.LOSS, 0, 0))
        self._report(0, 0, settled)
        return pending

    def _settle(self, value: Value) -> int:
        """Give the positions on the fronts their value; returns how many there are."""
        code, won = self.code_space.encode(value), value.outcome == Outcome.WIN
        total = np.zeros(int(self.frame.size[LEADS]), np.int64)
        for side in Side:
            found = self.fronts[side]

            def settle(
                lead_0: int, lead_1: int, _: int, side: Side = side, found: Frontier = found
            ) -> None:
                _k_settle(
                    lead_0, lead_1, self.codes[side], code, won, found, self.unknown[side],
                    self.losable[side], self.unwon[side], total, self.frame,
                )  # fmt: skip

            self.workers.run(settle, int(self.frame.size[LEADS]), self.sweeper.ranges(found))
        return int(total.sum())

    def _find_due(self, side: Side, value: Value, found: Frontier) -> bool:
        """Put positions whose best capture has this value on `found`; whether there may be any."""
        code = self.code_space.encode(value)
        won = value.outcome == Outcome.WIN
        flags = self._pending[side][:, self._pending_index(value)]
        if not flags.any():
            return False
        leads = int(self.frame.size[LEADS])
        size = -(-leads // self._flag_ranges)
        within = self.unknown[side] if won else self.losable[side]

        def find(lead_0: int, lead_1: int, _: int) -> None:
            flagged = bool(flags[lead_0 // size])
            _k_due(lead_0, lead_1, flagged, self.codes[side], code, within, found, self.frame)

        self.workers.run(find, leads)
        return True

    def declare(self, side: Side, members: Frontier, value: Value) -> None:
        """Make a value due for unknown positions, like a capture."""
        leads = int(self.frame.size[LEADS])
        rows = np.zeros(leads, np.int64)
        code = self.code_space.encode(value)
        self.workers.over(leads, _k_declare, self.codes[side], code, members.rows, rows, self.frame)
        if rows.any():
            self._pending[side][:, self._pending_index(value)] = True

    def _pending_index(self, value: Value) -> int:
        """The place of a value in the table of codes that wait (see `_k_classify`)."""
        code = self.code_space.encode(value)
        won = value.outcome == Outcome.WIN
        index = 2 * (self.code_space.top - code) + 1 if won else 2 * (code - 1)
        if index >= self._flag_codes:
            raise LimitExceededError(f"order {value.order} is above {MAX_ORDER}")
        return index

    def last_due(self, order: int) -> int:
        """The step of the last capture of an order that waits, 0 for none."""
        span, last = self.code_space.span, 0
        for flags in self._pending:
            waiting = np.flatnonzero(
                np.any(flags, axis=0)[2 * order * span : 2 * (order + 1) * span]
            )
            for index in waiting[-2:]:
                half, won = divmod(int(index), 2)
                odd = bool(won) == (order == 0)
                plies = 2 * half + odd
                last = max(last, plies + (order > 0))
        return last

    @property
    def last_order(self) -> int:
        """The highest order of a capture."""
        occurring = [np.flatnonzero(flags.any(axis=0)) for flags in self._pending]
        return max((int(found[-1]) // 2 // self.code_space.span for found in occurring
                    if len(found)), default=0)  # fmt: skip

    def step(self, order: int, number: int) -> int:
        """Settle one ply: wins at odd steps, losses at even ones; returns how many.

        At order 0 the step is the distance in plies, at order k the distance plus one.
        """
        outcome = Outcome.WIN if number % 2 else Outcome.LOSS
        value = Value(outcome, order, number - (order > 0))
        fits = value.plies // 2 < self.code_space.span
        ranges = self.sweeper.ranges(*self.fronts)
        for side in Side:
            found = self.spare[side]
            due = fits and self._find_due(side, value, found)
            within, escape = self.unknown[side], None
            if outcome == Outcome.LOSS:
                within, escape = self.losable[side], self.unwon[side.other]
            self.sweeper.sweep(
                side, self.fronts[side.other], within, found, escape, add_found=due, ranges=ranges
            )
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
