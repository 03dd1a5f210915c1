"""Phase 4: candidates for direct wins by the rules, and their pruning, as sweeps.

On what is still unknown, for a would-be winner and an offender:

    win candidates    the winner is to move, and the offender's last move can have been an offence
    loss candidates   the offender is to move, and every move leads to a win candidate or to a win

    prune   a win candidate without a move into a loss candidate,
            a loss candidate with a move into what is neither a win candidate nor won,
            until nothing changes: the greatest fixpoint

(Fang, Hsu & Hsu, section 5.1.) What counts as won are order 0, the orders before this one, and
captures into supporting tables' wins up to this order. Which win candidates there are to begin
with is for the pattern to say: `check_pattern.py`, `chase_pattern.py`. Only direct wins are
written down; the losses that lead to them follow in the next step of the propagation like all
losses, since all their moves lose by then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.indexing.squares import Side
from tbgen.jit import borrowing_kernel
from tbgen.retrograde.bitsets import ONE, count_bits, lowest_bit
from tbgen.retrograde.frame import LEADS, MIDS, TWIN, canonical
from tbgen.retrograde.propagation import Propagation
from tbgen.retrograde.sweep import Frontier, Rows, clear_lead, put_row
from tbgen.tables.codes import Outcome, Value


@borrowing_kernel
def k_difference(lead_0, lead_1, members, others, found, frame):
    """Put members & ~others on `found`."""
    mids = frame.size[MIDS]
    for lead in range(lead_0, lead_1):
        clear_lead(lead, found, mids)
        for mid in range(mids):
            row = lead * mids + mid
            lo, hi = members[row, 0] & ~others[row, 0], members[row, 1] & ~others[row, 1]
            if lo | hi:
                put_row(lead, mid, lo, hi, found, mids)


@borrowing_kernel
def k_common(lead_0, lead_1, members, others, found, frame):
    """Put members & others on `found`."""
    mids = frame.size[MIDS]
    for lead in range(lead_0, lead_1):
        clear_lead(lead, found, mids)
        for mid in range(mids):
            row = lead * mids + mid
            lo, hi = members[row, 0] & others[row, 0], members[row, 1] & others[row, 1]
            if lo | hi:
                put_row(lead, mid, lo, hi, found, mids)


@borrowing_kernel
def _k_transfer(lead_0, lead_1, found, source, target, rows, frame):
    """Take what is on `found` out of `source`, and add it to `target` (which may be `found`).

    rows : int64 (leads,), out: the rows that hold any of it, counted at the range's first lead
    """
    mids = frame.size[MIDS]
    moved = 0
    for lead in range(lead_0, lead_1):
        whole = found.counts[lead] > found.limit
        for i in range(mids if whole else found.counts[lead]):
            mid = np.int64(i) if whole else np.int64(found.listed[lead * found.limit + i])
            row = lead * mids + mid
            lo, hi = found.rows[row, 0], found.rows[row, 1]
            source[row, 0] &= ~lo
            source[row, 1] &= ~hi
            target[row, 0] |= lo
            target[row, 1] |= hi
            moved += 1 if lo | hi else 0
    rows[lead_0] = moved


@borrowing_kernel
def _k_count(lead_0, lead_1, members, counts, frame):
    """Count the positions of a set, mirror images and exchanged twins once.

    members : uint64 (rows, 2)
    counts : int64 (leads,), out: the number at the range's first lead
    """
    mids = frame.size[MIDS]
    for lead in range(lead_0, lead_1):
        redundant = frame.self_mirrored[lead] or frame.size[TWIN] >= 0
        for mid in range(mids):
            row = lead * mids + mid
            for word in range(2):
                bits = members[row, word]
                if not redundant:
                    counts[lead_0] += count_bits(bits)
                    continue
                while bits:
                    square = lowest_bit(bits) + 45 * word
                    bits &= bits - ONE
                    slot_mid, slot_square = canonical(lead, mid, square, frame)
                    if slot_mid == mid and slot_square == square:
                        counts[lead_0] += 1


@borrowing_kernel
def _k_escapes(lead_0, lead_1, live, wins, escapes, frame):
    """escapes = live & ~wins"""
    mids = frame.size[MIDS]
    for row in range(lead_0 * mids, lead_1 * mids):
        escapes[row, 0] = live[row, 0] & ~wins[row, 0]
        escapes[row, 1] = live[row, 1] & ~wins[row, 1]


@borrowing_kernel
def _k_keep_live(lead_0, lead_1, unwon, live, wins, escapes, frame):
    """Keep in `wins` what is live; what else is not won and was not in `wins` is an escape."""
    mids = frame.size[MIDS]
    for row in range(lead_0 * mids, lead_1 * mids):
        for word in range(2):
            escapes[row, word] |= unwon[row, word] & ~live[row, word] & ~wins[row, word]
            wins[row, word] &= live[row, word]


class SparseRows(NamedTuple):
    """A set of positions, kept between orders: the rows that are not empty."""

    numbers: NDArray[np.int64]
    """int64 (n,), ascending."""
    words: Rows
    """uint64 (n, 2)."""

    @classmethod
    def of(cls, rows: Rows) -> SparseRows:
        """The same set as `rows`."""
        numbers = np.flatnonzero(rows[:, 0] | rows[:, 1])
        return cls(numbers, rows[numbers])

    def with_(self, other: SparseRows) -> SparseRows:
        """The union of two sets."""
        both = np.sort(np.concatenate([self.numbers, other.numbers]), kind="stable")
        numbers = both[np.diff(both, prepend=-1) > 0]
        words = np.zeros((len(numbers), 2), np.uint64)
        for part in (self, other):
            words[np.searchsorted(numbers, part.numbers)] |= part.words
        return SparseRows(numbers, words)


class Candidates:
    """The candidates of one winner, order after order.

    The frontiers of the propagation are idle between orders, and lend their rows: `wins` and
    `losses` hold the candidates, `gone_wins` and `gone_losses` what was pruned last. `live` are
    the winner's positions that are no win by this order, known or by a capture; only they can be
    candidates. `escapes` are those that save the offender: neither known to be won nor
    candidates.

    Nearly all of the offender's positions have an escape out of the pattern, and fail for good.
    They are looked at once: a later order begins with those that did not fail (`_open`, for
    each kind of offence), and those with a move into what has been won since.
    """

    wins: Frontier
    losses: Frontier
    gone_wins: Frontier
    gone_losses: Frontier
    escapes: Rows

    def __init__(self, propagation: Propagation, winner: Side, offences: int) -> None:
        self.propagation = propagation
        self.winner, self.offender = winner, winner.other
        self._open: list[SparseRows | None] = [None] * offences
        """Where loss candidates may be; None before the first order: anywhere."""
        self.live = propagation.unwon[winner]

    def begin(self, order: int, offence: int) -> None:
        """Begin the search of one kind of offence at one order; the frontiers are lent.

        Captures that wait for this order count as won, or lost, already.
        """
        propagation, winner, offender = self.propagation, self.winner, self.offender
        self.order, self._offence = order, offence
        self.wins, self.losses = propagation.spare[winner], propagation.spare[offender]
        self.gone_wins, self.gone_losses = propagation.fronts[winner], propagation.fronts[offender]
        expected = propagation.empty_rows()
        propagation.mark_waiting(offender, order, Outcome.LOSS, expected, present=True)
        losable = self.losable
        losable |= expected
        # What is a direct win for the offender loses no more.
        propagation.mark_waiting(offender, order, Outcome.WIN, losable, present=False)
        self._note_won(SparseRows.of(expected))

    def _note_won(self, expected: SparseRows) -> None:
        """Renew `live`, and open the positions with a move into what has been won since.

        expected : the offender's positions that may be lost from this order on: opened too
        """
        propagation = self.propagation
        live = propagation.copied(propagation.unwon[self.winner])
        propagation.mark_waiting(self.winner, self.order, Outcome.WIN, live, present=False)
        if any(self._open):
            self.over(k_difference, self.live, live, self.gone_wins)
            propagation.sweeper.sweep(self.offender, self.gone_wins, self.losable, self.gone_losses)
            opened = SparseRows.of(self.gone_losses.rows).with_(expected)
            self._open = [None if known is None else known.with_(opened) for known in self._open]
        self.live = live

    @property
    def losable(self) -> Rows:
        """The offender's positions that may yet be lost."""
        return self.propagation.losable[self.offender]

    def find(self) -> None:
        """Prune the candidates that `wins` holds to the greatest fixpoint."""
        sweep, winner, offender = self.propagation.sweeper.sweep, self.winner, self.offender
        self.escapes = self.propagation.empty_rows()
        self.over(_k_escapes, self.live, self.wins.rows, self.escapes)
        self._find_losses()
        # What only a capture wins is won when its ply has come; until then it is an escape, unless
        # the offender's move to it is the offence.
        unwon = self.propagation.unwon[winner]
        self.over(_k_keep_live, unwon, self.live, self.wins.rows, self.escapes)
        # The losses are few by now: their predecessors, and themselves once more, are quickly
        # looked through, where spreading what was pruned would take full plies.
        sweep(winner, self.losses, self.wins.rows, self.gone_losses)
        self.over(k_difference, self.wins.rows, self.gone_losses.rows, self.gone_wins)
        self.transfer(self.gone_wins, self.wins.rows, self.escapes)
        sweep(offender, None, self.losses.rows, self.gone_wins, self.escapes)
        self.over(k_difference, self.losses.rows, self.gone_wins.rows, self.gone_losses)
        self.prune_without_losses()

    def _find_losses(self) -> None:
        """Put the open positions without an escape on `losses`, and close the others."""
        sweep, known = self.propagation.sweeper.sweep, self._open[self._offence]
        if known is None:
            sweep(self.offender, None, self.losable, self.losses, self.escapes)
        else:
            self.propagation.sweeper.clear(self.gone_losses)
            within = self.gone_losses.rows
            within[known.numbers] = known.words & self.losable[known.numbers]
            sweep(self.offender, None, within, self.losses, self.escapes)
            within[known.numbers] = 0
        self._open[self._offence] = SparseRows.of(self.losses.rows)

    def prune(self) -> None:
        """Prune losses that escape into the wins pruned last, then wins without a loss, ..."""
        self.propagation.sweeper.sweep(
            self.offender, self.gone_wins, self.losses.rows, self.gone_losses
        )
        self.prune_without_losses()

    def prune_without_losses(self) -> bool:
        """Take the losses on `gone_losses` away, and prune what falls with them.

        Returns whether there were any.
        """
        sweep, winner, offender = self.propagation.sweeper.sweep, self.winner, self.offender
        changed = False
        while self.transfer(self.gone_losses, self.losses.rows, self.gone_losses.rows):
            changed = True
            sweep(winner, self.gone_losses, self.wins.rows, self.gone_wins, self.losses.rows)
            if not self.transfer(self.gone_wins, self.wins.rows, self.escapes):
                break
            sweep(offender, self.gone_wins, self.losses.rows, self.gone_losses)
        return changed

    def fail(self) -> None:
        """Take away, now and for later orders, losses on `gone_losses` that fail by themselves."""
        known = self._open[self._offence]
        assert known is not None
        rows = self.gone_losses.rows
        known.words[...] &= ~rows[known.numbers]
        self.prune_without_losses()

    def count_wins(self) -> int:
        """How many positions the wins that are left are, counted as the index does."""
        counts = np.zeros(int(self.propagation.frame.size[LEADS]), np.int64)
        self.over(_k_count, self.wins.rows, counts)
        return int(counts.sum())

    def declare(self, wins: Frontier) -> None:
        """Make positions due as direct wins; from now on they are no escapes."""
        self.transfer(wins, self.propagation.unwon[self.winner], wins.rows)
        self.propagation.declare(self.winner, wins, Value(Outcome.WIN, self.order, 0))

    def end(self) -> None:
        """End the search: the propagation finds frontiers and sets as it expects them."""
        propagation, offender = self.propagation, self.offender
        propagation.mark_waiting(offender, self.order, Outcome.LOSS, self.losable, present=False)
        for lent in (self.gone_wins, self.gone_losses):
            propagation.sweeper.clear(lent)
        del self.escapes

    def over(self, kernel_of_leads: Callable[..., None], *arguments: Any) -> None:
        """Run a kernel over all leads."""
        frame = self.propagation.frame
        self.propagation.workers.over(int(frame.size[LEADS]), kernel_of_leads, *arguments, frame)

    def transfer(self, found: Frontier, source: Rows, target: Rows) -> bool:
        """Move what is on `found` from one set to another; whether there is any."""
        rows = np.zeros(int(self.propagation.frame.size[LEADS]), np.int64)
        self.over(_k_transfer, found, source, target, rows)
        return bool(rows.any())
