# mypy: allow-untyped-defs, allow-untyped-calls
"""Phase 1: the legal positions.

A position is legal if no two pieces share a square, the kings do not face each other, and the side
that is not to move is not in check. The positions of a row (`tbgen.rows`) differ only in the square
of the inner piece; without an inner piece, a row has one position, the bit OFF_BOARD. Parameters of
kernels: `tbgen.retrograde`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import borrowing_kernel, part
from tbgen.rows.bitsets import EMPTY, ROOK, attack_stands, inner_attackers
from tbgen.rows.frame import KIND, SIDE, Frame
from tbgen.rows.workers import Workers


@part
def legal_row(lead, mid, side, frame):
    """Return the legal positions of a row with `side` to move, as two words."""
    lead_lo, lead_hi = frame.lead_taken[lead, 0], frame.lead_taken[lead, 1]
    mid_lo, mid_hi = frame.mid_taken[mid, 0], frame.mid_taken[mid, 1]
    if (mid_lo & lead_lo) | (mid_hi & lead_hi):
        return EMPTY, EMPTY
    lo, hi = mid_lo | lead_lo, mid_hi | lead_hi
    red_king = np.int64(frame.lead_squares[lead, 0])
    black_king = np.int64(frame.lead_squares[lead, frame.red_defenders])
    king = black_king if side == 0 else red_king
    # Kings face each other if one of them, as a rook, would attack the other.
    bad_lo, bad_hi = attack_stands(ROOK, side, red_king, black_king, lo, hi)
    for man in range(frame.men.shape[0]):
        if frame.men[man, SIDE] == side:
            square = np.int64(frame.mid_squares[mid, man])
            x, y = attack_stands(frame.men[man, KIND], side, square, king, lo, hi)
            bad_lo |= x
            bad_hi |= y
    if frame.inner_kind >= 0 and frame.inner_side == side:
        x, y = inner_attackers(frame.inner_kind, side, king, lo, hi)
        bad_lo |= x
        bad_hi |= y
    return frame.inner_area[0] & ~(lo | bad_lo), frame.inner_area[1] & ~(hi | bad_hi)


@borrowing_kernel
def k_legal(lead_0, lead_1, side, legal, frame):
    """Write the legal positions of the leads [lead_0, lead_1), `side` to move, to `legal`."""
    mids = frame.mids
    for lead in range(lead_0, lead_1):
        for mid in range(mids):
            lo, hi = legal_row(lead, mid, side, frame)
            legal[(lead - lead_0) * mids + mid, 0] = lo
            legal[(lead - lead_0) * mids + mid, 1] = hi


def find_legal(frame: Frame, side: int, workers: Workers) -> NDArray[np.uint64]:
    """Return the legal positions with `side` to move, uint64 (rows, 2)."""
    leads, mids = frame.leads, frame.mids
    legal: NDArray[np.uint64] = workers.storage.zeros((leads * mids, 2), np.uint64)

    def find(lead_0: int, lead_1: int, _: int) -> None:
        k_legal(lead_0, lead_1, int(side), legal[lead_0 * mids : lead_1 * mids], frame)

    workers.run(find, leads)
    return legal
