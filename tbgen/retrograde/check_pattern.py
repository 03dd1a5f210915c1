"""Phase 4a: direct wins by perpetual check (Fang, Hsu & Hsu, section 5.1).

A win candidate is a position in check: the offender's move into it was a check. The greatest
fixpoint (`candidates.py`) is the pattern, but for the inner clause: from every win candidate the
winner must be able to reach, as often as he likes, a reply that is no check, or he is a perpetual
checker too and wins nothing. That matters only where some loss candidate is itself in check.
"""

from __future__ import annotations

from tbgen.jit import borrowing_kernel
from tbgen.retrograde.candidates import Candidates, k_common, k_difference
from tbgen.retrograde.frame import MIDS
from tbgen.retrograde.legality import legal_row
from tbgen.retrograde.sweep import clear_lead, put_row

OFFENCE = 0
"""The number of this kind of offence among a winner's candidates."""


@borrowing_kernel
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


def declare_perpetual_checks(candidates: Candidates, order: int) -> None:
    """Find the direct wins of one side at one order, and make them due.

    A position in check that a capture wins by this order is a direct win too (DESIGN 2).
    """
    c = candidates
    c.begin(order, OFFENCE, _k_in_check)
    c.find()
    c.remember()
    while _prune_checkers(c):
        c.prune()
    c.beat()
    if c.captures_win:
        c.over(k_difference, c.propagation.unknown[c.winner], c.live, c.losses)
        c.over(_k_in_check, int(c.winner), c.losses.rows, c.gone_wins)
        c.declare(c.gone_wins)
    c.declare(c.wins)
    c.end()


def _prune_checkers(candidates: Candidates) -> bool:
    """Prune wins whose owner would check for ever himself; whether there were any.

    The inner clause as a least fixpoint. A win is *calm* if a reply leads to a loss whose owner
    is not in check, or to a loss in check all of whose moves lead to calm wins (or to wins
    outside the pattern).
    """
    c, sweep = candidates, candidates.propagation.sweeper.sweep
    c.over(_k_in_check, int(c.offender), c.losses.rows, c.gone_losses)
    if not c.gone_losses.counts.any():
        return False
    checked = c.propagation.copied(c.gone_losses.rows)
    # From here on `escapes` holds the win candidates that are not known to be calm.
    c.escapes |= c.wins.rows
    c.over(k_difference, c.losses.rows, checked, c.gone_losses)
    while True:
        sweep(c.winner, c.gone_losses, c.wins.rows, c.gone_wins)
        if not c.transfer(c.gone_wins, c.escapes, c.gone_wins.rows):
            break
        sweep(c.offender, None, checked, c.gone_losses, c.escapes)
        if not c.transfer(c.gone_losses, checked, c.gone_losses.rows):
            break
    c.over(k_common, c.wins.rows, c.escapes, c.gone_wins)
    return c.transfer(c.gone_wins, c.wins.rows, c.escapes)
