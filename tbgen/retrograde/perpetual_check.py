# mypy: allow-untyped-defs, allow-untyped-calls
"""Phase 4a: direct wins by perpetual check (Fang, Hsu & Hsu 2002, section 5.1).

The *offender* checks on every move, and so loses to the *winner*. Candidates are those of
`candidates.py`: a win candidate is a position in which the winner, to move, is in check.

The fixpoint of `prune` may violate the *winner's clause*: from every win candidate the winner must
be able to make, again and again, a reply that is no check. Otherwise the winner is a perpetual
checker, too (*mutual checking indefinitely*), and does not win. This matters only if the offender
is in check in some loss candidate. Parameters of kernels: `tbgen.rows`.
"""

from __future__ import annotations

from tbgen.compiling.jit import borrowing_kernel
from tbgen.retrograde.candidates import Search, SearchState
from tbgen.retrograde.legality import legal_row
from tbgen.rows.records import StoredRecords
from tbgen.rows.sets import clear_lead, put_row
from tbgen.tables.codes import Outcome


@borrowing_kernel
def k_mark_in_check(lead_0, lead_1, side, within, found, frame):
    """Set `found` to the positions of `within` in which `side`, to move, is in check."""
    mids = frame.mids
    for lead in range(lead_0, lead_1):
        clear_lead(lead, found, mids)
        for mid in range(mids):
            row = lead * mids + mid
            lo, hi = within[row, 0], within[row, 1]
            if lo | hi:
                # Legal with the opponent to move: the positions in which `side` is not in check.
                calm_lo, calm_hi = legal_row(lead, mid, 1 - side, frame)
                lo &= ~calm_lo
                hi &= ~calm_hi
                if lo | hi:
                    put_row(lead, mid, lo, hi, found, mids)


def declare_perpetual_checks(
    state: SearchState, order: int, *, keep_losses: bool = False
) -> StoredRecords | None:
    """Find the direct wins of one side by checks at one order, and seed the propagation with them.

    state : the winner's searches for checks; its `mark` is `k_mark_in_check`
    keep_losses : return the remaining loss candidates, all of which lose at this order; else None
    """
    with state.search(order) as search:
        if search.initialise(captures_wait=True):
            search.prune()
            while _prune_checkers(search):
                pass
        if search.captures_win:
            _declare_captures(search)
        search.declare(search.win_candidates)
        return search.sets.packed(search.loss_candidates.rows) if keep_losses else None


def _declare_captures(search: Search) -> None:
    """Declare the unknown positions direct wins in which the winner, in check, wins by a capture.

    The capture wins at this order. The positions belong to the check pattern (docs/values.md,
    "Patterns, exactly", condition 2).
    """
    p, sets, winner = search.propagation, search.sets, search.winner
    with search.idle_frontier() as won_by_capture, search.idle_frontier() as in_check:
        sets.clear(won_by_capture)
        for records in p.waiting_for(winner, search.order, Outcome.WIN):
            sets.put_more(records, won_by_capture, within=p.unknown[winner])
        sets.run_kernel(k_mark_in_check, int(winner), won_by_capture.rows, in_check)
        search.declare(in_check)


def _prune_checkers(search: Search) -> bool:
    """Prune win candidates in which the winner must check for ever; return whether there were any.

    All other win candidates are *calm*, a least fixpoint: some reply leads to a calm loss
    candidate. A loss candidate is calm if the offender is not in check there, or if all moves lead
    to calm win candidates or won positions. Candidates that depend on pruned ones are pruned, too.
    Calm candidates may then cease to be calm, so the caller repeats this until False is returned.
    """
    sets, winner, offender = search.sets, search.winner, search.offender
    wins, losses = search.win_candidates.rows, search.loss_candidates.rows
    with search.idle_frontier() as in_check:
        sets.run_kernel(k_mark_in_check, int(offender), losses, in_check)
        if not in_check.counts.any():
            return False
        checked = search.unwon_storage
        sets.copy(in_check.rows, checked)
    # Win candidates count as escapes until they are known to be calm.
    sets.unite(wins, search.escapes)
    with search.idle_frontier() as calm_wins, search.idle_frontier() as calm_losses:
        sets.put_difference(losses, checked, calm_losses)
        while True:
            search.predecessors(winner, calm_losses, wins, calm_wins)
            if not sets.transfer(calm_wins, search.escapes):
                break
            search.without_move_into(offender, checked, calm_losses, search.escapes)
            if not sets.transfer(calm_losses, checked):
                break
    with search.idle_frontier() as pruned_wins:
        sets.put_common(wins, search.escapes, pruned_wins)
        return search.prune_wins(pruned_wins)
