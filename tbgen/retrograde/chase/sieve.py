# mypy: allow-untyped-defs, allow-untyped-calls
"""Sieve for chases: the positions of a row in which a side has a piece under attack.

A row has the positions that differ only in the square of the *inner piece* (`tbgen.rows`). The
sieve tests only whether a piece attacks another one, and ignores protection, pins and exchanges.
For the few positions that are left later, `tbgen.rules.chases` decides whether the attack is a
chase.
Words occ_lo and occ_hi are the occupied squares without the inner piece. Other parameters of
kernels: `tbgen.retrograde.chase`.
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
    """Return the squares of the inner piece for which a defender attacks `target`.

    The defender is an advisor or elephant on `source`. Its type follows from the distance to
    `target` and from the area that `target` belongs to. The inner piece may stand in an elephant's
    eye, and so block the attack. The set is two words, both empty if there is no attack at all.
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

    If `source` is NOWHERE, the inner piece itself is the attacker. The piece belongs to `side`;
    `kind` is its type, ADVISOR for an advisor or elephant.
    """
    if source == NOWHERE:
        return inner_attackers(kind, side, target, occ_lo, occ_hi)
    if kind == ADVISOR:
        return _defender_attack_stands(side, source, target, occ_lo, occ_hi)
    return attack_stands(kind, side, source, target, occ_lo, occ_hi)


@part
def _defender_attacks_on_inner(side, source, occ_lo, occ_hi):
    """Return the squares of the inner piece on which a defender of `side` attacks it.

    The defender is an advisor or elephant on `source`. Occupied squares may be in the set.
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
    """Return the squares of the inner piece for which one piece of `side` attacks an enemy piece.

    The enemy pieces that count are those of `attacked_row`.

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
            # Pawns can be chased only beyond the river.
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

    The king and pawns of `side` do not count as attackers. Enemy pieces that do not count as
    attacked: the king; men that cannot be victims under the rules (`may_be_victim`); an inner pawn
    on its own half of the board, unless the rules have `PAWNS_AT_HOME`.
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
