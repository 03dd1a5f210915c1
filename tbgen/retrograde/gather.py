"""Where a quiet move may have come from, and where it leads: row algebra on one lead.

    gather_dense     the positions with a move into a set, for all rows of a lead: lines of the
                     board are scanned, so that a slide is one running union
    gather_sparse    the same for a frontier of few rows, from their list
    without_escape   the other way around: which positions of one row have no move into a set

The inner piece moves within a row, the others from row to row (`frame.py`). Which set is gathered,
and in which way, is for the sweep to say (`sweep.py`), whose buffers these work on.
"""

from __future__ import annotations

import numpy as np

from tbgen.indexing.squares import SQUARES
from tbgen.jit import part
from tbgen.retrograde.bitsets import (
    BIT,
    CANNON,
    EMPTY,
    FULL,
    KNIGHT,
    KNIGHT_LEGS,
    KNIGHT_TARGETS,
    LEG_BETWEEN,
    PAWN_ATTACKS,
    PAWN_TARGETS,
    RAY,
    ROOK,
    has,
    inner_sources,
    mirrored,
)
from tbgen.retrograde.frame import (
    COUNT,
    FIRST_EXTEND,
    FIRST_PLACEMENT,
    GROUP_STRIDE,
    GROUPS,
    INNER_KIND,
    INNER_SIDE,
    KIND,
    MIDS,
    SIDE,
    SIZE,
)


@part
def gather_dense(lead, side, front, reached, scratch, frame):
    """Add the predecessors of a frontier in one lead to `reached`."""
    mids = frame.size[MIDS]
    taken_lo, taken_hi = frame.lead_taken[lead, 0], frame.lead_taken[lead, 1]
    for m in range(frame.move_start[side, lead], frame.move_start[side, lead + 1]):
        target = np.int64(frame.lead_moves[m, 0])
        if front.counts[target] == 0:
            continue
        info = frame.lead_moves[m, 1]
        eye = np.int64((info >> 1) & 127) - 1
        free_lo, free_hi = FULL, FULL
        if eye >= 0:
            free_lo, free_hi = ~BIT[eye, 0], ~BIT[eye, 1]
        first = target * mids
        for mid in range(mids):
            if info & 1:
                row = first + frame.mid_mirror[mid]
                lo, hi = mirrored(front.rows[row, 0], front.rows[row, 1])
            else:
                lo, hi = front.rows[first + mid, 0], front.rows[first + mid, 1]
            if eye >= 0 and has(frame.mid_taken[mid, 0], frame.mid_taken[mid, 1], eye):
                continue
            reached[mid, 0] |= lo & free_lo
            reached[mid, 1] |= hi & free_hi
    if front.counts[lead] == 0:
        return
    first = lead * mids
    for mid in range(mids):
        overlap = (frame.mid_taken[mid, 0] & taken_lo) | (frame.mid_taken[mid, 1] & taken_hi)
        scratch.open[mid] = EMPTY if overlap else FULL
    if frame.size[INNER_SIDE] == side:
        kind = frame.size[INNER_KIND]
        for mid in range(mids):
            lo, hi = front.rows[first + mid, 0], front.rows[first + mid, 1]
            if lo | hi:
                free_lo = frame.inner_area[0] & ~(taken_lo | frame.mid_taken[mid, 0])
                free_hi = frame.inner_area[1] & ~(taken_hi | frame.mid_taken[mid, 1])
                lo, hi = inner_sources(kind, side, lo, hi, free_lo, free_hi)
                reached[mid, 0] |= lo
                reached[mid, 1] |= hi
    for g in range(frame.size[GROUPS]):
        if frame.groups[g, SIDE] == side:
            _gather_group(g, first, taken_lo, taken_hi, side, front, reached, scratch, frame)


@part
def _gather_group(g, first, taken_lo, taken_hi, side, front, reached, scratch, frame):
    """Predecessors by moves of a mid group, for all rows of one lead.

    One piece of the group moves while its companions stand: `mid_of` maps its square to the mid.
    """
    mids = frame.size[MIDS]
    kind, stride = frame.groups[g, KIND], frame.groups[g, GROUP_STRIDE]
    size, first_extend = frame.groups[g, SIZE], frame.groups[g, FIRST_EXTEND]
    companions = 1
    if frame.groups[g, COUNT] > 1:
        last = frame.groups[g, FIRST_PLACEMENT] + size - 1
        companions = np.int64(frame.companions[last, 0]) + 1
    mid_of, live, rows = scratch.mid_of, scratch.live, front.rows
    for outer in range(mids // (stride * size)):
        for c in range(companions):
            any_live = False
            for square in range(SQUARES):
                rank = np.int64(frame.extend[first_extend + c, square])
                live[square] = False
                if rank < 0:
                    mid_of[square] = -1
                    continue
                mid = (outer * size + rank) * stride
                mid_of[square] = mid
                union = EMPTY
                for i in range(first + mid, first + mid + stride):
                    union |= rows[i, 0] | rows[i, 1]
                if union:
                    live[square] = True
                    any_live = True
            if not any_live:
                continue
            if kind == ROOK or kind == CANNON:
                if stride == 1:
                    _gather_single_lines(first, front, reached, scratch)
                else:
                    _gather_lines(first, stride, front, reached, scratch)
            else:
                _gather_steps(
                    kind, first, stride, taken_lo, taken_hi, side, front, reached, scratch, frame
                )


@part
def _line(direction, number):
    """A line of the board: its first square, the step to the next, and how many steps."""
    if direction == 0:
        return 81 + number, -9, 9
    if direction == 1:
        return number, 9, 9
    if direction == 2:
        return number * 9 + 8, -1, 8
    return number * 9, 1, 8


@part
def _gather_single_lines(first, front, reached, scratch):
    """`_gather_lines` for a stride of one: in half the time, the union being in registers."""
    is_open, mid_of, rows = scratch.open, scratch.mid_of, front.rows
    for direction in range(4):
        for number in range(9 if direction < 2 else 10):
            square, step, length = _line(direction, number)
            lo, hi = EMPTY, EMPTY
            for _ in range(length):
                target = mid_of[square]
                if target < 0:
                    lo, hi = EMPTY, EMPTY
                else:
                    lo |= rows[first + target, 0]
                    hi |= rows[first + target, 1]
                    lo &= ~BIT[square, 0] & is_open[target]
                    hi &= ~BIT[square, 1] & is_open[target]
                square += step
                source = mid_of[square]
                if source >= 0:
                    reached[source, 0] |= lo
                    reached[source, 1] |= hi


@part
def _gather_lines(first, stride, front, reached, scratch):
    """Predecessors by slides: walk each line of the board in its four directions.

    The running union holds the frontier of the squares passed so far, as far as the way back to
    them is open: each passed square must be free of the inner piece and of the other pieces.
    """
    line, is_open = scratch.line, scratch.open
    mid_of, live, rows = scratch.mid_of, scratch.live, front.rows
    for direction in range(4):
        for number in range(9 if direction < 2 else 10):
            square, step, length = _line(direction, number)
            running = False
            for _ in range(length):
                passed = square
                square += step
                target = mid_of[passed]
                if target < 0:
                    running = False
                    continue
                if not running:
                    if not live[passed]:
                        continue
                    running = True
                    for i in range(stride):
                        line[i, 0] = EMPTY
                        line[i, 1] = EMPTY
                not_lo, not_hi = ~BIT[passed, 0], ~BIT[passed, 1]
                source = mid_of[square]
                for i in range(stride):
                    way = is_open[target + i]
                    lo = (line[i, 0] | rows[first + target + i, 0]) & not_lo & way
                    hi = (line[i, 1] | rows[first + target + i, 1]) & not_hi & way
                    line[i, 0] = lo
                    line[i, 1] = hi
                    if source >= 0:
                        reached[source + i, 0] |= lo
                        reached[source + i, 1] |= hi


@part
def _gather_steps(kind, first, stride, taken_lo, taken_hi, side, front, reached, scratch, frame):
    """Predecessors by knight jumps and pawn steps."""
    mid_of, live, rows = scratch.mid_of, scratch.live, front.rows
    for square in range(SQUARES):
        source = mid_of[square]
        if source < 0:
            continue
        for k in range(8 if kind == KNIGHT else 3):
            if kind == KNIGHT:
                target_square = np.int64(KNIGHT_TARGETS[square, k])
            else:
                target_square = np.int64(PAWN_TARGETS[side, square, k])
            if target_square < 0 or not live[target_square]:
                continue
            target = first + mid_of[target_square]
            if kind == KNIGHT:
                leg = np.int64(KNIGHT_LEGS[square, k])
                if has(taken_lo, taken_hi, leg):
                    continue
                not_lo, not_hi = ~BIT[leg, 0], ~BIT[leg, 1]
                for i in range(stride):
                    mid = source + i
                    if has(frame.mid_taken[mid, 0], frame.mid_taken[mid, 1], leg):
                        continue
                    reached[mid, 0] |= rows[target + i, 0] & not_lo
                    reached[mid, 1] |= rows[target + i, 1] & not_hi
            else:
                for i in range(stride):
                    reached[source + i, 0] |= rows[target + i, 0]
                    reached[source + i, 1] |= rows[target + i, 1]


@part
def _add(reached, touched, count, mid, lo, hi):
    """Add positions to a row of `reached`, and list the row when it is new."""
    if lo | hi:
        if not (reached[mid, 0] | reached[mid, 1]):
            touched[count] = mid
            count += 1
        reached[mid, 0] |= lo
        reached[mid, 1] |= hi
    return count


@part
def _mid_after(mid, g, j, square, frame):
    """The mid after the j-th piece of group g went to `square`; -1 if it cannot stand there."""
    stride = frame.groups[g, GROUP_STRIDE]
    rank = mid // stride % frame.groups[g, SIZE]
    placement = frame.groups[g, FIRST_PLACEMENT] + rank
    companions = frame.groups[g, FIRST_EXTEND] + frame.companions[placement, j]
    after = np.int64(frame.extend[companions, square])
    if after < 0:
        return after
    return mid + (after - rank) * stride


@part
def gather_sparse(lead, side, front, scratch, frame):
    """Add the predecessors of the listed rows in one lead to `scratch.reached`.

    Returns the number of rows listed in `scratch.touched`.
    """
    mids = frame.size[MIDS]
    reached, touched = scratch.reached, scratch.touched
    count = 0
    for m in range(frame.move_start[side, lead], frame.move_start[side, lead + 1]):
        target = np.int64(frame.lead_moves[m, 0])
        info = frame.lead_moves[m, 1]
        eye = np.int64((info >> 1) & 127) - 1
        for i in range(front.counts[target]):
            mid = np.int64(front.listed[target * front.limit + i])
            lo, hi = front.rows[target * mids + mid, 0], front.rows[target * mids + mid, 1]
            if info & 1:
                lo, hi = mirrored(lo, hi)
                mid = np.int64(frame.mid_mirror[mid])
            if eye >= 0:
                if has(frame.mid_taken[mid, 0], frame.mid_taken[mid, 1], eye):
                    continue
                lo &= ~BIT[eye, 0]
                hi &= ~BIT[eye, 1]
            count = _add(reached, touched, count, mid, lo, hi)
    first = lead * mids
    for i in range(front.counts[lead]):
        mid = np.int64(front.listed[lead * front.limit + i])
        row_lo, row_hi = front.rows[first + mid, 0], front.rows[first + mid, 1]
        taken_lo = frame.lead_taken[lead, 0] | frame.mid_taken[mid, 0]
        taken_hi = frame.lead_taken[lead, 1] | frame.mid_taken[mid, 1]
        if frame.size[INNER_SIDE] == side:
            lo, hi = inner_sources(
                frame.size[INNER_KIND], side, row_lo, row_hi,
                frame.inner_area[0] & ~taken_lo, frame.inner_area[1] & ~taken_hi,
            )  # fmt: skip
            count = _add(reached, touched, count, mid, lo, hi)
        for g in range(frame.size[GROUPS]):
            if frame.groups[g, SIDE] != side:
                continue
            kind = frame.groups[g, KIND]
            rank = mid // frame.groups[g, GROUP_STRIDE] % frame.groups[g, SIZE]
            placement = frame.groups[g, FIRST_PLACEMENT] + rank
            for j in range(frame.groups[g, COUNT]):
                square = np.int64(frame.placements[placement, j])
                if kind == ROOK or kind == CANNON:
                    for direction in range(4):
                        lo, hi = row_lo & ~BIT[square, 0], row_hi & ~BIT[square, 1]
                        for k in range(9):
                            source = np.int64(RAY[square, direction, k])
                            if source < 0 or has(taken_lo, taken_hi, source):
                                break
                            # The path between passes all squares before, so they leave the set;
                            # the square itself leaves it only for the squares behind.
                            after = _mid_after(mid, g, j, source, frame)
                            count = _add(reached, touched, count, after, lo, hi)
                            lo &= ~BIT[source, 0]
                            hi &= ~BIT[source, 1]
                    continue
                for k in range(8 if kind == KNIGHT else 3):
                    lo, hi = row_lo, row_hi
                    if kind == KNIGHT:
                        source = np.int64(KNIGHT_TARGETS[square, k])
                        if source < 0:
                            continue
                        leg = np.int64(LEG_BETWEEN[source, square])
                        if has(taken_lo, taken_hi, leg):
                            continue
                        lo &= ~BIT[leg, 0]
                        hi &= ~BIT[leg, 1]
                    else:
                        # The three squares a pawn may have come from.
                        source = square + (-9 if side == 0 else 9) if k == 0 else square + 2 * k - 3
                        if source < 0 or source >= SQUARES:
                            continue
                        if not PAWN_ATTACKS[side, source, square]:
                            continue
                    if has(taken_lo, taken_hi, source):
                        continue
                    after = _mid_after(mid, g, j, source, frame)
                    if after >= 0:
                        count = _add(reached, touched, count, after, lo, hi)
    return count


@part
def without_escape(lead, mid, side, lo, hi, escape, frame):
    """Of the positions (lo, hi) of a row, those with no quiet move into `escape`.

    Stops as soon as none is left: most rows need only a few moves.
    """
    mids = frame.size[MIDS]
    first = lead * mids
    taken_lo = frame.lead_taken[lead, 0] | frame.mid_taken[mid, 0]
    taken_hi = frame.lead_taken[lead, 1] | frame.mid_taken[mid, 1]
    if frame.size[INNER_SIDE] == side:
        x, y = escape[first + mid, 0], escape[first + mid, 1]
        if x | y:
            x, y = inner_sources(
                frame.size[INNER_KIND], side, x, y,
                frame.inner_area[0] & ~taken_lo, frame.inner_area[1] & ~taken_hi,
            )  # fmt: skip
            lo &= ~x
            hi &= ~y
            if not (lo | hi):
                return lo, hi
    for m in range(frame.move_start[side, lead], frame.move_start[side, lead + 1]):
        info = frame.lead_moves[m, 1]
        eye = np.int64((info >> 1) & 127) - 1
        if eye >= 0 and has(frame.mid_taken[mid, 0], frame.mid_taken[mid, 1], eye):
            continue
        target = np.int64(frame.lead_moves[m, 0]) * mids
        if info & 1:
            row = target + frame.mid_mirror[mid]
            x, y = mirrored(escape[row, 0], escape[row, 1])
        else:
            x, y = escape[target + mid, 0], escape[target + mid, 1]
        if eye >= 0:
            x &= ~BIT[eye, 0]
            y &= ~BIT[eye, 1]
        lo &= ~x
        hi &= ~y
        if not (lo | hi):
            return lo, hi
    for g in range(frame.size[GROUPS]):
        if frame.groups[g, SIDE] != side:
            continue
        kind = frame.groups[g, KIND]
        rank = mid // frame.groups[g, GROUP_STRIDE] % frame.groups[g, SIZE]
        placement = frame.groups[g, FIRST_PLACEMENT] + rank
        for j in range(frame.groups[g, COUNT]):
            square = np.int64(frame.placements[placement, j])
            if kind == ROOK or kind == CANNON:
                for direction in range(4):
                    way_lo, way_hi = FULL, FULL
                    for k in range(9):
                        target = np.int64(RAY[square, direction, k])
                        if target < 0 or has(taken_lo, taken_hi, target):
                            break
                        way_lo &= ~BIT[target, 0]
                        way_hi &= ~BIT[target, 1]
                        row = first + _mid_after(mid, g, j, target, frame)
                        lo &= ~(escape[row, 0] & way_lo)
                        hi &= ~(escape[row, 1] & way_hi)
                    if not (lo | hi):
                        return lo, hi
                continue
            for k in range(8 if kind == KNIGHT else 3):
                way_lo, way_hi = FULL, FULL
                if kind == KNIGHT:
                    target = np.int64(KNIGHT_TARGETS[square, k])
                    if target < 0:
                        continue
                    leg = np.int64(KNIGHT_LEGS[square, k])
                    if has(taken_lo, taken_hi, leg):
                        continue
                    way_lo, way_hi = ~BIT[leg, 0], ~BIT[leg, 1]
                else:
                    target = np.int64(PAWN_TARGETS[side, square, k])
                    if target < 0:
                        continue
                if has(taken_lo, taken_hi, target):
                    continue
                row = first + _mid_after(mid, g, j, target, frame)
                lo &= ~(escape[row, 0] & way_lo)
                hi &= ~(escape[row, 1] & way_hi)
            if not (lo | hi):
                return lo, hi
    return lo, hi
