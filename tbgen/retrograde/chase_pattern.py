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

from tbgen.indexing.squares import Side
from tbgen.jit import kernel
from tbgen.retrograde.attacked import attacked_row
from tbgen.retrograde.bitsets import EMPTY, ONE, has, lowest_bit
from tbgen.retrograde.candidates import Candidates
from tbgen.retrograde.chase_graph import Places, Setting, find_chase_wins
from tbgen.retrograde.frame import MIDS, canonical
from tbgen.retrograde.legality import legal_row
from tbgen.retrograde.propagation import Propagation
from tbgen.retrograde.sweep import clear_lead, put_row


@kernel
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


@kernel
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


def declare_perpetual_chases(
    propagation: Propagation, winner: Side, order: int, places: Places, *, minor_chases: bool
) -> bool:
    """Find the direct wins of one side at one order, and make them due; whether there are any.

    minor_chases : whether advisors and elephants chase protected rooks, knights and cannons
    """
    candidates = Candidates(propagation, winner, order)
    unknown = propagation.unknown[winner]
    candidates.over(_k_attacked, winner, unknown, candidates.wins)
    if candidates.find():
        # The candidates are escapes again: in the graph only what is truly won is none.
        candidates.transfer(candidates.wins, np.zeros_like(unknown), candidates.unwon)
        setting = Setting(
            int(winner), minor_chases, candidates.unwon, propagation.codes[winner],
            candidates.not_won, candidates.wins.rows, candidates.losses.rows,
            np.zeros(len(unknown), np.int64),
        )  # fmt: skip
        marked = find_chase_wins(setting, places, propagation.workers)
        candidates.over(_k_images, marked, candidates.wins.rows)
    candidates.give_back()
    return candidates.declare()
