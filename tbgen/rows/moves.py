# mypy: allow-untyped-defs, allow-untyped-calls
"""Quiet moves of single rows, backwards and forwards; `gather.py` gathers whole leads.

    gather_sparse    positions with a move into a frontier of few rows, from its lists
    without_escape   positions of one row without a move into a set

A row has the positions that differ only in the square of the *inner piece*. The other attackers are
the *men*; their placement is the *mid*, that of the defenders the *lead*. Some positions that
`gather_sparse` finds may be illegal, or have two pieces on one square; the sweep removes them.
`taken_lo`, `taken_hi` are the squares of defenders and men. Other parameters: `tbgen.rows`.
"""

from __future__ import annotations

import numpy as np

from tbgen.compiling.jit import part
from tbgen.rows.bitsets import (
    BIT,
    CANNON,
    EMPTY,
    FULL,
    KNIGHT,
    KNIGHT_LEGS,
    KNIGHT_LEGS_BACK,
    KNIGHT_TARGETS,
    NOWHERE,
    PAWN_SOURCES,
    PAWN_TARGETS,
    RAY,
    ROOK,
    has,
    inner_sources,
    mirrored,
)
from tbgen.rows.frame import EYE, GROUP_STRIDE, KIND, MIRRORED, SIDE, with_rank_zero


@part
def add(reached, touched, count, mid, lo, hi):
    """Add positions (lo, hi) to row `mid` of `reached`; return the new length of `touched`.

    A row that was empty is listed in `touched`, unless (lo, hi) is empty, too.
    """
    # No branch, which would be unpredictable: the entry after the list is always written.
    touched[count] = mid
    count += ((reached[mid, 0] | reached[mid, 1]) == EMPTY) & ((lo | hi) != EMPTY)
    reached[mid, 0] |= lo
    reached[mid, 1] |= hi
    return count


@part
def gather_sparse(lead, side, front, count, scratch, frame):
    """Add to `scratch.reached` the positions of one lead with a quiet move of `side` into `front`.

    `front` must have lists for this lead and for the leads after its moves. Returns the new length
    of the list `scratch.touched`.
    """
    mids = frame.mids
    reached, touched = scratch.reached, scratch.touched
    for m in range(frame.move_start[side, lead], frame.move_start[side, lead + 1]):
        target = np.int64(frame.lead_after[m])
        if front.counts[target] == 0:
            continue
        image, eye = frame.lead_moves[m, MIRRORED], np.int64(frame.lead_moves[m, EYE])
        for i in range(front.counts[target]):
            mid = np.int64(front.listed[target * front.limit + i])
            lo, hi = front.rows[target * mids + mid, 0], front.rows[target * mids + mid, 1]
            if image:
                lo, hi = mirrored(lo, hi)
                mid = np.int64(frame.mid_mirror[mid])
            if eye != NOWHERE and has(frame.mid_taken[mid, 0], frame.mid_taken[mid, 1], eye):
                continue
            lo &= ~BIT[eye, 0]
            hi &= ~BIT[eye, 1]
            count = add(reached, touched, count, mid, lo, hi)
    first = lead * mids
    for i in range(front.counts[lead]):
        mid = np.int64(front.listed[lead * front.limit + i])
        lo, hi = front.rows[first + mid, 0], front.rows[first + mid, 1]
        taken_lo = frame.lead_taken[lead, 0] | frame.mid_taken[mid, 0]
        taken_hi = frame.lead_taken[lead, 1] | frame.mid_taken[mid, 1]
        if frame.inner_side == side:
            x, y = inner_sources(
                frame.inner_kind, side, lo, hi,
                frame.inner_area[0] & ~taken_lo, frame.inner_area[1] & ~taken_hi,
            )  # fmt: skip
            count = add(reached, touched, count, mid, x, y)
        for man in range(frame.men.shape[0]):
            if frame.men[man, SIDE] == side:
                count = _gather_man(
                    mid, man, side, lo, hi, taken_lo, taken_hi, reached, touched, count, frame
                )
    return count


@part
def _gather_man(mid, man, side, row_lo, row_hi, taken_lo, taken_hi, reached, touched, count, frame):
    """Add the predecessors of one row by moves of one man; return the new length of `touched`.

    mid : int64, of the row that the moves lead to
    row_lo, row_hi : uint64, positions of that row that are on the frontier
    """
    kind, stride = frame.men[man, KIND], frame.men[man, GROUP_STRIDE]
    square = np.int64(frame.mid_squares[mid, man])
    companions = np.int64(frame.mid_companions[mid, man])
    rest = with_rank_zero(mid, man, frame)
    if kind == ROOK or kind == CANNON:
        for direction in range(4):
            lo, hi = row_lo & ~BIT[square, 0], row_hi & ~BIT[square, 1]
            for k in range(9):
                source = np.int64(RAY[square, direction, k])
                if source < 0 or has(taken_lo, taken_hi, source):
                    break
                after = rest + frame.extend[companions, source] * stride
                count = add(reached, touched, count, after, lo, hi)
                # An inner piece on `source` blocks the moves from squares beyond `source`.
                lo &= ~BIT[source, 0]
                hi &= ~BIT[source, 1]
        return count
    for k in range(8 if kind == KNIGHT else 3):
        if kind == KNIGHT:
            source = np.int64(KNIGHT_TARGETS[square, k])
            leg = np.int64(KNIGHT_LEGS_BACK[square, k])
        else:
            source, leg = np.int64(PAWN_SOURCES[side, square, k]), np.int64(NOWHERE)
        if source < 0 or has(taken_lo, taken_hi, leg) or has(taken_lo, taken_hi, source):
            continue
        rank = np.int64(frame.extend[companions, source])
        # -1: a square on which the pawn cannot stand.
        if rank >= 0:
            after = rest + rank * stride
            lo, hi = row_lo & ~BIT[leg, 0], row_hi & ~BIT[leg, 1]
            count = add(reached, touched, count, after, lo, hi)
    return count


@part
def without_escape(lead, mid, side, lo, hi, escape, frame):
    """Return those of the positions (lo, hi) of a row that have no quiet move into `escape`.

    escape : Rows, in; a set of positions with the opponent to move
    """
    mids = frame.mids
    first = lead * mids
    taken_lo = frame.lead_taken[lead, 0] | frame.mid_taken[mid, 0]
    taken_hi = frame.lead_taken[lead, 1] | frame.mid_taken[mid, 1]
    if frame.inner_side == side:
        x, y = escape[first + mid, 0], escape[first + mid, 1]
        if x | y:
            x, y = inner_sources(
                frame.inner_kind, side, x, y,
                frame.inner_area[0] & ~taken_lo, frame.inner_area[1] & ~taken_hi,
            )  # fmt: skip
            lo &= ~x
            hi &= ~y
            if not (lo | hi):
                return lo, hi
    for m in range(frame.move_start[side, lead], frame.move_start[side, lead + 1]):
        eye = np.int64(frame.lead_moves[m, EYE])
        if has(taken_lo, taken_hi, eye):
            continue
        target = np.int64(frame.lead_after[m]) * mids
        if frame.lead_moves[m, MIRRORED]:
            row = target + frame.mid_mirror[mid]
            x, y = mirrored(escape[row, 0], escape[row, 1])
        else:
            x, y = escape[target + mid, 0], escape[target + mid, 1]
        lo &= ~x | BIT[eye, 0]
        hi &= ~y | BIT[eye, 1]
        if not (lo | hi):
            return lo, hi
    for man in range(frame.men.shape[0]):
        if frame.men[man, SIDE] != side:
            continue
        kind, stride = frame.men[man, KIND], frame.men[man, GROUP_STRIDE]
        square = np.int64(frame.mid_squares[mid, man])
        companions = np.int64(frame.mid_companions[mid, man])
        rest = first + with_rank_zero(mid, man, frame)
        if kind == ROOK or kind == CANNON:
            for direction in range(4):
                way_lo, way_hi = FULL, FULL
                for k in range(9):
                    target = np.int64(RAY[square, direction, k])
                    if target < 0 or has(taken_lo, taken_hi, target):
                        break
                    # The squares passed, the target among them, must be free of the inner piece.
                    way_lo &= ~BIT[target, 0]
                    way_hi &= ~BIT[target, 1]
                    row = rest + frame.extend[companions, target] * stride
                    lo &= ~(escape[row, 0] & way_lo)
                    hi &= ~(escape[row, 1] & way_hi)
                if not (lo | hi):
                    return lo, hi
            continue
        for k in range(8 if kind == KNIGHT else 3):
            if kind == KNIGHT:
                target, leg = np.int64(KNIGHT_TARGETS[square, k]), np.int64(KNIGHT_LEGS[square, k])
            else:
                target, leg = np.int64(PAWN_TARGETS[side, square, k]), np.int64(NOWHERE)
            if target < 0 or has(taken_lo, taken_hi, leg) or has(taken_lo, taken_hi, target):
                continue
            row = rest + frame.extend[companions, target] * stride
            lo &= ~escape[row, 0] | BIT[leg, 0]
            hi &= ~escape[row, 1] | BIT[leg, 1]
        if not (lo | hi):
            return lo, hi
    return lo, hi
