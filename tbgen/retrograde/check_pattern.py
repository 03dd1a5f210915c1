"""Phase 4a: direct wins by perpetual check (Fang, Hsu & Hsu, section 5.1), as sweeps.

On what is still unknown, for a would-be winner and an offender:

    win candidates    the winner is to move, in check
    loss candidates   the offender is to move, and every move is a check into a win candidate, or
                      leads to a win of the winner

    prune   a win candidate without a move into a loss candidate,
            a loss candidate with a move into what is neither a win candidate nor won,
            until nothing changes: the greatest fixpoint is the pattern

What counts as won are order 0, the orders before this one, and captures into supporting tables'
wins up to this order. Only the direct wins are written down; the losses that lead to them follow
in the next step of the propagation like all losses, since all their moves lose by then.

The inner clause (mutual checking): from every win candidate the winner must be able to reach, as
often as he likes, a reply that is no check, or he is a perpetual checker too and wins nothing.
That matters only where some loss candidate is itself in check.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tbgen.indexing.squares import Side
from tbgen.jit import kernel
from tbgen.retrograde.frame import LEADS, MIDS, STRIDE
from tbgen.retrograde.legality import legal_row
from tbgen.retrograde.propagation import Propagation, keep_up_to
from tbgen.retrograde.sweep import Frontier, Rows, clear_lead, put_row
from tbgen.tables.codes import Outcome, Value


@kernel
def _k_in_check(lead_0, lead_1, side, within, found, frame):
    """Put the positions of `within` in which `side`, to move, is in check on `found`."""
    mids = frame.size[MIDS]
    for lead in range(lead_0, lead_1):
        clear_lead(lead, found, mids)
        for mid in range(mids):
            row = lead * mids + mid
            lo, hi = within[row, 0], within[row, 1]
            if lo | hi:
                # The opponent could be to move wherever he does not attack this side's king.
                calm_lo, calm_hi = legal_row(lead, mid, 1 - side, frame)
                lo &= ~calm_lo
                hi &= ~calm_hi
                if lo | hi:
                    put_row(lead, mid, lo, hi, found, mids)


@kernel
def _k_difference(lead_0, lead_1, members, others, found, frame):
    """Put members & ~others on `found`."""
    mids = frame.size[MIDS]
    for lead in range(lead_0, lead_1):
        clear_lead(lead, found, mids)
        for mid in range(mids):
            row = lead * mids + mid
            lo, hi = members[row, 0] & ~others[row, 0], members[row, 1] & ~others[row, 1]
            if lo | hi:
                put_row(lead, mid, lo, hi, found, mids)


@kernel
def _k_keep(lead_0, lead_1, found, codes, bound, frame):
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


@kernel
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


class CheckPattern:
    """The search for one winner at one order.

    The frontiers of the propagation are idle between orders, and lend their rows: `wins` and
    `losses` hold the candidates, `gone_wins` and `gone_losses` what was pruned last. While the
    search runs, a win candidate is no escape for the offender: `unwon` goes without them.
    """

    def __init__(self, propagation: Propagation, winner: Side, order: int) -> None:
        self._p = propagation
        self._winner, self._offender = winner, winner.other
        self._order = order
        self._wins, self._losses = propagation.spare[winner], propagation.spare[winner.other]
        self._gone_wins = propagation.fronts[winner]
        self._gone_losses = propagation.fronts[winner.other]
        space = propagation.code_space
        ranks = (order + 1) * space.span
        self._longest_loss = ranks
        """The largest code of a capture that loses by this order."""
        self._not_won = space.top - ranks
        """The largest code of a capture that does not win by this order."""

    def search(self) -> bool:
        """Declare the direct wins; whether there are any."""
        found = self._find_pattern()
        for lent in (self._gone_wins, self._gone_losses):
            self._p.sweeper.clear(lent)
        if not found:
            return False
        return self._p.declare(self._winner, self._wins, Value(Outcome.WIN, self._order, 0))

    def _find_pattern(self) -> bool:
        """Leave the pattern in `wins` and `losses`; False where there is no candidate at all."""
        p, winner, offender = self._p, self._winner, self._offender
        sweep, unwon = p.sweeper.sweep, p.unwon[winner]
        self._over(_k_in_check, winner, p.unknown[winner], self._wins)
        if not self._transfer(self._wins, unwon, self._wins.rows):
            return False
        sweep(offender, None, p.losable[offender], self._losses, unwon)
        self._over(_k_keep, self._losses, p.codes[offender], self._longest_loss)
        sweep(winner, None, self._wins.rows, self._gone_wins, self._losses.rows)
        self._over(_k_keep, self._gone_wins, p.codes[winner], self._not_won)
        pruned = self._transfer(self._gone_wins, self._wins.rows, unwon)
        while True:
            if pruned:
                self._prune()
            pruned = self._prune_checkers()
            if not pruned:
                return True

    def _over(self, kernel_of_leads: Callable[..., None], *arguments: Any) -> None:
        frame = self._p.frame
        self._p.workers.over(int(frame.size[LEADS]), kernel_of_leads, *arguments, frame)

    def _transfer(self, found: Frontier, source: Rows, target: Rows) -> bool:
        """Move what is on `found` from one set to another; whether there is any."""
        rows = np.zeros(int(self._p.frame.size[LEADS]), np.int64)
        self._over(_k_transfer, found, source, target, rows)
        return bool(rows.any())

    def _prune(self) -> None:
        """Prune losses that escape into the wins pruned last, then wins without a loss, ..."""
        p, winner, offender = self._p, self._winner, self._offender
        while True:
            p.sweeper.sweep(offender, self._gone_wins, self._losses.rows, self._gone_losses)
            if not self._transfer(self._gone_losses, self._losses.rows, self._gone_losses.rows):
                return
            p.sweeper.sweep(
                winner, self._gone_losses, self._wins.rows, self._gone_wins, self._losses.rows
            )
            self._over(_k_keep, self._gone_wins, p.codes[winner], self._not_won)
            if not self._transfer(self._gone_wins, self._wins.rows, p.unwon[winner]):
                return

    def _prune_checkers(self) -> bool:
        """Prune wins whose owner would check for ever himself; whether there were any.

        The inner clause as a least fixpoint. A win is *calm* if a reply leads to a loss whose
        owner is not in check, or a capture wins, or a reply leads to a loss in check all of
        whose moves lead to calm wins (or to wins outside the pattern).
        """
        p, winner, offender = self._p, self._winner, self._offender
        sweep, unwon = p.sweeper.sweep, p.unwon[winner]
        self._over(_k_in_check, offender, self._losses.rows, self._gone_losses)
        if not self._gone_losses.counts.any():
            return False
        checked = self._gone_losses.rows.copy()
        # From here on `unwon` holds the win candidates that are not known to be calm.
        nothing = np.zeros_like(unwon)
        self._over(_k_difference, self._wins.rows, nothing, self._gone_wins)
        self._over(_k_keep, self._gone_wins, p.codes[winner], self._not_won)
        self._transfer(self._gone_wins, nothing, unwon)
        self._over(_k_difference, self._losses.rows, checked, self._gone_losses)
        while True:
            sweep(winner, self._gone_losses, self._wins.rows, self._gone_wins)
            if not self._transfer(self._gone_wins, unwon, self._gone_wins.rows):
                break
            sweep(offender, None, checked, self._gone_losses, unwon)
            if not self._transfer(self._gone_losses, checked, self._gone_losses.rows):
                break
        self._over(_k_difference, self._wins.rows, ~unwon, self._gone_wins)
        return self._transfer(self._gone_wins, self._wins.rows, unwon)
