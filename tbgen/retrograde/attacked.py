"""Rows of positions in which a side has a piece under attack: a first sieve for chases.

The sieve is coarse: it looks at attacks on the line, not at roots, pins or exchanges. Whether an
attack is a chase is decided later, for the few positions that are left, by the predicates of
`tbgen.rules.chases`, which the referee uses too.
"""

from __future__ import annotations

import numpy as np

from tbgen.indexing.squares import PieceType
from tbgen.jit import part
from tbgen.retrograde.bitsets import (
    AREA,
    BIT,
    EMPTY,
    FULL,
    KNIGHT,
    KNIGHT_LEGS,
    KNIGHT_TARGETS,
    PAWN,
    RAY,
    ROOK,
    attack_stands,
    has,
    inner_attackers,
)
from tbgen.retrograde.frame import (
    COUNT,
    FIRST_PLACEMENT,
    GROUP_STRIDE,
    GROUPS,
    INNER_KIND,
    INNER_SIDE,
    KIND,
    RED_DEFENDERS,
    SIDE,
    SIZE,
)

ADVISOR, ELEPHANT = int(PieceType.ADVISOR), int(PieceType.ELEPHANT)


@part
def _defender_attack_stands(side, source, target, occ_lo, occ_hi):
    """For which inner squares an advisor or elephant on `source` attacks `target`."""
    ranks, files = abs(source // 9 - target // 9), abs(source % 9 - target % 9)
    if ranks == 1 and files == 1:
        if has(AREA[side, ADVISOR, 0], AREA[side, ADVISOR, 1], target):
            return FULL, FULL
    elif (
        ranks == 2 and files == 2 and has(AREA[side, ELEPHANT, 0], AREA[side, ELEPHANT, 1], target)
    ):
        eye = (source + target) // 2
        area_lo, area_hi = AREA[side, ELEPHANT, 0], AREA[side, ELEPHANT, 1]
        if has(area_lo, area_hi, target) and not has(occ_lo, occ_hi, eye):
            return ~BIT[eye, 0], ~BIT[eye, 1]
    return EMPTY, EMPTY


@part
def _reached_from(kind, source, occ_lo, occ_hi):
    """Where a rook, knight or cannon on `source` attacks the inner piece."""
    lo, hi = EMPTY, EMPTY
    if kind == KNIGHT:
        for k in range(8):
            s = np.int64(KNIGHT_TARGETS[source, k])
            if s >= 0 and not has(occ_lo, occ_hi, np.int64(KNIGHT_LEGS[source, k])):
                lo |= BIT[s, 0]
                hi |= BIT[s, 1]
        return lo, hi
    for d in range(4):
        screens = 0
        for k in range(9):
            s = np.int64(RAY[source, d, k])
            if s < 0:
                break
            if has(occ_lo, occ_hi, s):
                screens += 1
                if kind == ROOK or screens == 2:
                    break
            elif kind == ROOK or screens == 1:
                lo |= BIT[s, 0]
                hi |= BIT[s, 1]
    return lo, hi


@part
def _defender_reaches(side, source, occ_lo, occ_hi):
    """The squares that an advisor or elephant on `source` attacks."""
    lo, hi = EMPTY, EMPTY
    for target in range(90):
        x, y = _defender_attack_stands(side, source, target, occ_lo, occ_hi)
        if x | y:
            lo |= BIT[target, 0]
            hi |= BIT[target, 1]
    return lo, hi


@part
def _may_be_chased(kind, side, square):
    """Whether a piece may be a victim: no pawn on its own half (RULES 2, point 2)."""
    return kind != PAWN or (square >= 45) == (side == 0)


@part
def _attacked_by(kind, side, source, lead, mid, occ_lo, occ_hi, frame):
    """For which inner squares the offender's piece on `source` attacks a piece of the other side.

    kind : ROOK, KNIGHT or CANNON, or ADVISOR for a defender of either kind
    """
    victim_side = 1 - side
    lo, hi = EMPTY, EMPTY
    reds = frame.size[RED_DEFENDERS]
    first, last = 1, reds
    if victim_side == 1:
        first, last = reds + 1, frame.lead_squares.shape[1]
    # Defenders of the other side are out of reach of one's own.
    if kind != ADVISOR:
        for column in range(first, last):
            target = np.int64(frame.lead_squares[lead, column])
            x, y = attack_stands(kind, side, source, target, occ_lo, occ_hi)
            lo |= x
            hi |= y
    for g in range(frame.size[GROUPS]):
        if frame.groups[g, SIDE] != victim_side:
            continue
        rank = mid // frame.groups[g, GROUP_STRIDE] % frame.groups[g, SIZE]
        placement = frame.groups[g, FIRST_PLACEMENT] + rank
        for j in range(frame.groups[g, COUNT]):
            target = np.int64(frame.placements[placement, j])
            if not _may_be_chased(frame.groups[g, KIND], victim_side, target):
                continue
            if kind == ADVISOR:
                x, y = _defender_attack_stands(side, source, target, occ_lo, occ_hi)
            else:
                x, y = attack_stands(kind, side, source, target, occ_lo, occ_hi)
            lo |= x
            hi |= y
    if frame.size[INNER_SIDE] == victim_side:
        if kind == ADVISOR:
            x, y = _defender_reaches(side, source, occ_lo, occ_hi)
        else:
            x, y = _reached_from(kind, source, occ_lo, occ_hi)
        if frame.size[INNER_KIND] == PAWN:
            # Only beyond the river.
            if victim_side == 0:
                x = EMPTY
            else:
                y = EMPTY
        lo |= x
        hi |= y
    return lo, hi


@part
def attacked_row(lead, mid, side, frame):
    """The positions of a row in which some piece of `side`, no king or pawn, attacks a piece."""
    occ_lo = frame.lead_taken[lead, 0] | frame.mid_taken[mid, 0]
    occ_hi = frame.lead_taken[lead, 1] | frame.mid_taken[mid, 1]
    lo, hi = EMPTY, EMPTY
    reds = frame.size[RED_DEFENDERS]
    first, last = 1, reds
    if side == 1:
        first, last = reds + 1, frame.lead_squares.shape[1]
    for column in range(first, last):
        source = np.int64(frame.lead_squares[lead, column])
        x, y = _attacked_by(ADVISOR, side, source, lead, mid, occ_lo, occ_hi, frame)
        lo |= x
        hi |= y
    for g in range(frame.size[GROUPS]):
        kind = frame.groups[g, KIND]
        if frame.groups[g, SIDE] != side or kind == PAWN:
            continue
        rank = mid // frame.groups[g, GROUP_STRIDE] % frame.groups[g, SIZE]
        placement = frame.groups[g, FIRST_PLACEMENT] + rank
        for j in range(frame.groups[g, COUNT]):
            source = np.int64(frame.placements[placement, j])
            x, y = _attacked_by(kind, side, source, lead, mid, occ_lo, occ_hi, frame)
            lo |= x
            hi |= y
    kind = frame.size[INNER_KIND]
    if frame.size[INNER_SIDE] == side and kind != PAWN:
        # The inner piece attacks: gather the squares from which it reaches each victim.
        victim_side = 1 - side
        first, last = 1, reds
        if victim_side == 1:
            first, last = reds + 1, frame.lead_squares.shape[1]
        for column in range(first, last):
            target = np.int64(frame.lead_squares[lead, column])
            x, y = inner_attackers(kind, side, target, occ_lo, occ_hi)
            lo |= x
            hi |= y
        for g in range(frame.size[GROUPS]):
            if frame.groups[g, SIDE] != victim_side:
                continue
            rank = mid // frame.groups[g, GROUP_STRIDE] % frame.groups[g, SIZE]
            placement = frame.groups[g, FIRST_PLACEMENT] + rank
            for j in range(frame.groups[g, COUNT]):
                target = np.int64(frame.placements[placement, j])
                if _may_be_chased(frame.groups[g, KIND], victim_side, target):
                    x, y = inner_attackers(kind, side, target, occ_lo, occ_hi)
                    lo |= x
                    hi |= y
    return lo, hi
