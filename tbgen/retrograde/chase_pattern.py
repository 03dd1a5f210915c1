"""Phase 4b: direct wins by perpetual chase (RULES 3).

sieve    win candidates are positions in which the offender attacks some piece; sweeps prune
         them to the greatest fixpoint (`candidates.py`)
victims  a loss candidate whose moves do not chase one and the same piece falls, and with it
         what leads there: hardly any candidate is left (`chase_victims.py`)
graph    what is left becomes a graph with exact attacks and the victim in each node
         (`chase_graph.py`)
game     solved with the winner's own clauses: not for ever checking, nor for ever chasing one
         piece (`pattern_game.py`)
"""

from __future__ import annotations

import numpy as np

from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material
from tbgen.indexing.squares import Side
from tbgen.jit import borrowing_kernel, rare_collections
from tbgen.retrograde.attacked import attacked_row
from tbgen.retrograde.bitsets import EMPTY, ONE, has, lowest_bit
from tbgen.retrograde.candidates import Candidates, k_difference
from tbgen.retrograde.chase_graph import find_chase_wins
from tbgen.retrograde.chase_victims import Setting, judge
from tbgen.retrograde.frame import MIDS, canonical, make_frame
from tbgen.retrograde.legality import legal_row
from tbgen.retrograde.parallel import Workers
from tbgen.retrograde.row_boards import make_places
from tbgen.retrograde.sweep import clear_lead, empty_frontier, put_row

OFFENCE = 1
"""The number of this kind of offence among a winner's candidates."""


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


class ChaseSearch:
    """The search for one winner's direct wins by perpetual chase, order after order."""

    def __init__(self, candidates: Candidates, layout: Layout, *, minor_chases: bool) -> None:
        self._candidates = candidates
        self._places = make_places(layout, candidates.propagation.frame)
        self._minor_chases = minor_chases

    def declare(self, order: int) -> int:
        """Find the direct wins of an order, and make them due; returns how many there are."""
        c, winner = self._candidates, self._candidates.winner
        c.begin(order, OFFENCE, _k_attacked)
        c.find()
        self._keep_ongoing()
        setting = Setting(int(winner), self._minor_chases, c.live, c.wins.rows, c.losses.rows)
        judge(setting, self._places, c.gone_losses, c.propagation.workers)
        c.fail()
        c.remember()
        found = 0
        if c.losses.counts.any():
            setting = setting._replace(losses=c.losses.rows)
            marked = c.propagation.empty_rows()
            find_chase_wins(setting, self._places, marked, c.propagation.workers)
            c.over(_k_images, marked, c.wins.rows)
            c.declare(c.wins)
            found = c.count_wins()
        c.end()
        return found

    def _keep_ongoing(self) -> None:
        """Prune losses all of whose moves are won by now: there the offender chases no longer."""
        c = self._candidates
        c.propagation.sweeper.sweep(c.offender, c.wins, c.losses.rows, c.gone_wins)
        c.over(k_difference, c.losses.rows, c.gone_wins.rows, c.gone_losses)
        c.prune_without_losses()


def compile_chases() -> None:
    """Compile the kernels of chases, by searching where there is nothing to be found."""
    layout = Layout.of(Material.parse("KRKN"))
    frame = make_frame(layout)
    places = make_places(layout, frame)
    with rare_collections(), Workers(1) as workers:
        front = empty_frontier(layout.leads, layout.mids, workers.storage)
        rows = front.rows
        setting = Setting(int(Side.RED), True, rows, rows, rows)
        judge(setting, places, front, workers)
        find_chase_wins(setting, places, rows, workers)
        _k_attacked(0, 0, int(Side.RED), rows, front, frame)
        _k_images(0, 0, rows, rows, frame)
