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
from typing import Any

import numpy as np

from tbgen.indexing.squares import Side
from tbgen.jit import borrowing_kernel
from tbgen.retrograde.bitsets import ONE, count_bits, lowest_bit
from tbgen.retrograde.frame import LEADS, MIDS, STRIDE, TWIN, canonical
from tbgen.retrograde.propagation import Propagation, keep_up_to
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
def k_keep(lead_0, lead_1, found, codes, bound, frame):
    """Keep on `found` what has no capture with a code above `bound`."""
    mids = frame.size[MIDS]
    for lead in range(lead_0, lead_1):
        whole = found.counts[lead] > found.limit
        for i in range(mids if whole else found.counts[lead]):
            mid = np.int64(i) if whole else np.int64(found.listed[lead * mids + i])
            row = lead * mids + mid
            lo, hi = found.rows[row, 0], found.rows[row, 1]
            if lo | hi:
                lo, hi = keep_up_to(codes, row * STRIDE, lo, hi, bound)
                found.rows[row, 0] = lo
                found.rows[row, 1] = hi


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
            mid = np.int64(i) if whole else np.int64(found.listed[lead * mids + i])
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


class Candidates:
    """The candidates of one winner at one order.

    The frontiers of the propagation are idle between orders, and lend their rows: `wins` and
    `losses` hold the candidates, `gone_wins` and `gone_losses` what was pruned last. While a
    search runs, a win candidate is no escape for the offender: `unwon` goes without them.
    """

    def __init__(self, propagation: Propagation, winner: Side, order: int) -> None:
        self.propagation = propagation
        self.winner, self.offender = winner, winner.other
        self.order = order
        self.wins, self.losses = propagation.spare[winner], propagation.spare[winner.other]
        self.gone_wins = propagation.fronts[winner]
        self.gone_losses = propagation.fronts[winner.other]
        space = propagation.code_space
        ranks = (order + 1) * space.span
        self._longest_loss = ranks
        """The largest code of a capture that loses by this order."""
        self.not_won = space.top - ranks
        """The largest code of a capture that does not win by this order."""

    @property
    def unwon(self) -> Rows:
        """The winner's positions that are no win: escapes of the offender."""
        return self.propagation.unwon[self.winner]

    def find(self) -> bool:
        """Prune the candidates that `wins` holds to the greatest fixpoint; whether any are left."""
        p, winner, offender = self.propagation, self.winner, self.offender
        if not self.transfer(self.wins, self.unwon, self.wins.rows):
            return False
        p.sweeper.sweep(offender, None, p.losable[offender], self.losses, self.unwon)
        self.over(k_keep, self.losses, p.codes[offender], self._longest_loss)
        p.sweeper.sweep(winner, None, self.wins.rows, self.gone_wins, self.losses.rows)
        self.keep_unwinning(self.gone_wins)
        if self.transfer(self.gone_wins, self.wins.rows, self.unwon):
            self.prune()
        return bool(self.wins.rows.any())

    def prune(self) -> None:
        """Prune losses that escape into the wins pruned last, then wins without a loss, ..."""
        sweep, winner, offender = self.propagation.sweeper.sweep, self.winner, self.offender
        while True:
            sweep(offender, self.gone_wins, self.losses.rows, self.gone_losses)
            if not self.transfer(self.gone_losses, self.losses.rows, self.gone_losses.rows):
                return
            sweep(winner, self.gone_losses, self.wins.rows, self.gone_wins, self.losses.rows)
            self.keep_unwinning(self.gone_wins)
            if not self.transfer(self.gone_wins, self.wins.rows, self.unwon):
                return

    def declare(self) -> bool:
        """Make the wins that are left due as direct wins; whether there are any."""
        value = Value(Outcome.WIN, self.order, 0)
        return self.propagation.declare(self.winner, self.wins, value)

    def count_wins(self) -> int:
        """How many positions the wins that are left are, counted as the index does."""
        counts = np.zeros(int(self.propagation.frame.size[LEADS]), np.int64)
        self.over(_k_count, self.wins.rows, counts)
        return int(counts.sum())

    def keep_unwinning(self, found: Frontier) -> None:
        """Keep on `found` the winner's positions without a winning capture."""
        self.over(k_keep, found, self.propagation.codes[self.winner], self.not_won)

    def over(self, kernel_of_leads: Callable[..., None], *arguments: Any) -> None:
        """Run a kernel over all leads."""
        frame = self.propagation.frame
        self.propagation.workers.over(int(frame.size[LEADS]), kernel_of_leads, *arguments, frame)

    def transfer(self, found: Frontier, source: Rows, target: Rows) -> bool:
        """Move what is on `found` from one set to another; whether there is any."""
        rows = np.zeros(int(self.propagation.frame.size[LEADS]), np.int64)
        self.over(_k_transfer, found, source, target, rows)
        return bool(rows.any())

    def give_back(self) -> None:
        """Leave the lent frontiers empty for the propagation."""
        for lent in (self.gone_wins, self.gone_losses):
            self.propagation.sweeper.clear(lent)
