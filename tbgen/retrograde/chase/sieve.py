# mypy: allow-untyped-defs, allow-untyped-calls
"""Sieve for chases: the positions of a row in which a side has a piece under attack.

A row has the positions that differ only in the square of the *inner piece* (`tbgen.rows`). The
sieve ignores protection, pins and exchanges: `tbgen.rules.chases` decides later whether the attack
is a chase. Parameters of kernels: `tbgen.retrograde.chase`; of rows and leads: `tbgen.rows`.
"""

from __future__ import annotations

import numpy as np

from tbgen.compiling.jit import part
from tbgen.indexing.rulesets import PAWNS_AT_HOME
from tbgen.indexing.squares import FILES, SQUARES, PieceType, piece_code
from tbgen.rows.bitsets import (
    AREA,
    BIT,
    EMPTY,
    FULL,
    NOWHERE,
    PAWN,
    attack_stands,
    attacks_on_inner,
    has,
    inner_attackers,
)
from tbgen.rows.frame import KIND, SIDE
from tbgen.rules.chases import may_be_victim

ADVISOR, ELEPHANT = int(PieceType.ADVISOR), int(PieceType.ELEPHANT)


@part
def _defender_attack_stands(side, source, target, occ_lo, occ_hi):
    """Return the squares of the inner piece for which a defender on `source` attacks `target`.

    `source` has an advisor or elephant: the step to `target` tells which. One diagonal step is an
    advisor's attack. Two are an elephant's, whose eye the inner piece may block.
    """
    ranks, files = abs(source // FILES - target // FILES), abs(source % FILES - target % FILES)
    if ranks == 1 and files == 1:
        if has(AREA[side, ADVISOR, 0], AREA[side, ADVISOR, 1], target):
            return FULL, FULL
    elif ranks == 2 and files == 2:
        eye = (source + target) // 2
        area_lo, area_hi = AREA[side, ELEPHANT, 0], AREA[side, ELEPHANT, 1]
        if has(area_lo, area_hi, target) and not has(occ_lo, occ_hi, eye):
            return ~BIT[eye, 0], ~BIT[eye, 1]
    return EMPTY, EMPTY


@part
def _attack_stands(kind, side, source, target, occ_lo, occ_hi):
    """Return the squares of the inner piece for which a piece on `source` attacks `target`.

    If `source` is NOWHERE, the inner piece itself is the attacker.
    """
    if source == NOWHERE:
        return inner_attackers(kind, side, target, occ_lo, occ_hi)
    if kind == ADVISOR:
        return _defender_attack_stands(side, source, target, occ_lo, occ_hi)
    return attack_stands(kind, side, source, target, occ_lo, occ_hi)


@part
def _defender_attacks_on_inner(side, source, occ_lo, occ_hi):
    """Return the squares on which an advisor or elephant on `source` attacks the inner piece.

    The set may contain occupied squares.
    """
    lo, hi = EMPTY, EMPTY
    for target in range(SQUARES):
        x, y = _defender_attack_stands(side, source, target, occ_lo, occ_hi)
        if x | y:
            lo |= BIT[target, 0]
            hi |= BIT[target, 1]
    return lo, hi


@part
def _columns_without_king(side, frame):
    """Return the range [first, end) of a side's advisors and elephants in `Frame.lead_squares`."""
    reds = frame.red_defenders
    if side == 0:
        return np.int64(1), reds
    return reds + 1, np.int64(frame.lead_squares.shape[1])


@part
def _attacked_by(kind, side, source, lead, mid, occ_lo, occ_hi, chase_rules, frame):
    """Return the squares of the inner piece for which a piece attacks an enemy piece that counts.

    `attacked_row` defines the enemy pieces that count.

    source : int64, square of the attacking piece; NOWHERE for the inner piece
    """
    victim_side = 1 - side
    lo, hi = EMPTY, EMPTY
    first, last = _columns_without_king(victim_side, frame)
    # Defenders never reach the other side's defenders.
    if kind != ADVISOR:
        for column in range(first, last):
            target = np.int64(frame.lead_squares[lead, column])
            x, y = _attack_stands(kind, side, source, target, occ_lo, occ_hi)
            lo |= x
            hi |= y
    for man in range(frame.men.shape[0]):
        if frame.men[man, SIDE] != victim_side:
            continue
        target = np.int64(frame.mid_squares[mid, man])
        code = piece_code(victim_side, frame.men[man, KIND])
        if not may_be_victim(code, int(target), chase_rules):
            continue
        x, y = _attack_stands(kind, side, source, target, occ_lo, occ_hi)
        lo |= x
        hi |= y
    if frame.inner_side == victim_side:
        if kind == ADVISOR:
            x, y = _defender_attacks_on_inner(side, source, occ_lo, occ_hi)
        else:
            x, y = attacks_on_inner(kind, side, source, occ_lo, occ_hi)
        if frame.inner_kind == PAWN and chase_rules & PAWNS_AT_HOME == 0:
            # Under these rules, pawns can be chased only beyond the river.
            if victim_side == 0:
                x = EMPTY
            else:
                y = EMPTY
        lo |= x
        hi |= y
    return lo, hi


@part
def attacked_row(lead, mid, side, chase_rules, frame):
    """Return the positions of a row, as two words, in which `side` attacks an enemy piece.

    The king and pawns of `side` do not count as attackers. Not counted as attacked are the king,
    men that cannot be victims under the rules (`may_be_victim`) and, without `PAWNS_AT_HOME`, an
    inner pawn on its own half. Bits of illegal positions have no meaning.
    """
    occ_lo = frame.lead_taken[lead, 0] | frame.mid_taken[mid, 0]
    occ_hi = frame.lead_taken[lead, 1] | frame.mid_taken[mid, 1]
    lo, hi = EMPTY, EMPTY
    first, last = _columns_without_king(side, frame)
    for column in range(first, last):
        source = np.int64(frame.lead_squares[lead, column])
        x, y = _attacked_by(ADVISOR, side, source, lead, mid, occ_lo, occ_hi, chase_rules, frame)
        lo |= x
        hi |= y
    for man in range(frame.men.shape[0]):
        kind = frame.men[man, KIND]
        if frame.men[man, SIDE] != side or kind == PAWN:
            continue
        source = np.int64(frame.mid_squares[mid, man])
        x, y = _attacked_by(kind, side, source, lead, mid, occ_lo, occ_hi, chase_rules, frame)
        lo |= x
        hi |= y
    kind = frame.inner_kind
    if frame.inner_side == side and kind != PAWN:
        x, y = _attacked_by(kind, side, NOWHERE, lead, mid, occ_lo, occ_hi, chase_rules, frame)
        lo |= x
        hi |= y
    return lo, hi
