"""Phase 4b: direct wins by perpetual chase (RULES 3).

sieve    win candidates are positions in which the offender attacks some piece; sweeps prune
         them to the greatest fixpoint (`candidates.py`)
graph    what is left becomes a graph with exact attacks and the victim in each node
         (`chase_graph.py`)
game     solved with the winner's own clauses: not for ever checking, nor for ever chasing one
         piece (`pattern_game.py`)
"""

from __future__ import annotations

import numpy as np

from tbgen.indexing.layout import Layout
from tbgen.indexing.squares import Side
from tbgen.jit import borrowing_kernel
from tbgen.retrograde.attacked import attacked_row
from tbgen.retrograde.bitsets import EMPTY, ONE, has, lowest_bit
from tbgen.retrograde.candidates import Candidates, k_difference
from tbgen.retrograde.chase_graph import Setting, find_chase_wins, make_places
from tbgen.retrograde.frame import MIDS, STRIDE, canonical
from tbgen.retrograde.legality import legal_row
from tbgen.retrograde.propagation import Propagation, keep_up_to
from tbgen.retrograde.sweep import Rows, clear_lead, put_row


@borrowing_kernel
def _k_attacked(lead_0, lead_1, side, within, found, frame):
    """Put the positions of `within` where `side` is not in check but has a piece attacked."""
    mids = frame.size[MIDS]
    for lead in range(lead_0, lead_1):
        clear_lead(lead, found, mids)
        for mid in range(mids):
            row = lead * mids + mid
            lo, hi = within[row, 0], within[row, 1]
            if not (lo | hi):
                continue
            calm_lo, calm_hi = legal_row(lead, mid, 1 - side, frame)
            lo &= calm_lo
            hi &= calm_hi
            if lo | hi:
                x, y = attacked_row(lead, mid, 1 - side, frame)
                lo &= x
                hi &= y
                if lo | hi:
                    put_row(lead, mid, lo, hi, found, mids)


@borrowing_kernel
def _k_images(lead_0, lead_1, marked, wins, frame):
    """Keep in `wins` (inout) the positions whose canonical slot is marked."""
    mids = frame.size[MIDS]
    for lead in range(lead_0, lead_1):
        for mid in range(mids):
            row = lead * mids + mid
            for word in range(2):
                bits, kept = wins[row, word], EMPTY
                while bits:
                    bit = lowest_bit(bits)
                    bits &= bits - ONE
                    slot_mid, square = canonical(lead, mid, bit + 45 * word, frame)
                    slot = lead * mids + slot_mid
                    if has(marked[slot, 0], marked[slot, 1], square):
                        kept |= ONE << np.uint64(bit)
                wins[row, word] = kept


@borrowing_kernel
def _k_escapes(lead_0, lead_1, unwon, codes, not_won, escapes, frame):
    """escapes = unwon without the positions that a capture wins (a code above `not_won`)."""
    mids = frame.size[MIDS]
    for row in range(lead_0 * mids, lead_1 * mids):
        lo, hi = keep_up_to(codes, row * STRIDE, unwon[row, 0], unwon[row, 1], not_won)
        escapes[row, 0] = lo
        escapes[row, 1] = hi


class ChaseSearch:
    """The search for one winner's direct wins by perpetual chase, order after order.

    Most candidates of the sieve fail on their own: some move is no chase, or chases another
    piece. They are remembered, and looked at again only when one of their moves has come to lose.
    """

    def __init__(
        self, propagation: Propagation, layout: Layout, winner: Side, *, minor_chases: bool
    ) -> None:
        self._propagation = propagation
        self._places = make_places(layout, propagation.frame)
        self._winner = winner
        self._minor_chases = minor_chases
        self._failed = np.zeros_like(propagation.unknown[winner])
        self._escapes = propagation.unwon[winner].copy()

    def declare(self, order: int) -> int:
        """Find the direct wins of an order, and make them due; returns how many there are."""
        propagation, winner = self._propagation, self._winner
        candidates = Candidates(propagation, winner, order)
        candidates.over(_k_attacked, winner, propagation.unknown[winner], candidates.wins)
        if candidates.find():
            # The candidates are escapes again: in the graph only what is truly won is none.
            candidates.transfer(candidates.wins, self._no_rows(), candidates.unwon)
            self._forget_touched(candidates)
            candidates.losses.rows[...] &= ~self._failed
            setting = Setting(
                int(winner), self._minor_chases, self._escapes, candidates.wins.rows,
                candidates.losses.rows, np.zeros(len(self._failed), np.int64),
            )  # fmt: skip
            marked = find_chase_wins(setting, self._places, self._failed, propagation.workers)
            candidates.over(_k_images, marked, candidates.wins.rows)
        candidates.give_back()
        candidates.declare()
        return candidates.count_wins()

    def _no_rows(self) -> Rows:
        return np.zeros_like(self._failed)

    def _forget_touched(self, candidates: Candidates) -> None:
        """Renew `escapes`, and forget failures with a move into what has been won since."""
        escapes = self._no_rows()
        codes = self._propagation.codes[self._winner]
        candidates.over(_k_escapes, candidates.unwon, codes, candidates.not_won, escapes)
        candidates.over(k_difference, self._escapes, escapes, candidates.gone_wins)
        self._propagation.sweeper.sweep(
            candidates.offender, candidates.gone_wins, self._failed, candidates.gone_losses
        )
        touched = candidates.gone_losses
        candidates.transfer(touched, self._failed, touched.rows)
        self._escapes = escapes
