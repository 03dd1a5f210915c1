# mypy: allow-untyped-defs, allow-untyped-calls
"""Whole rows at once: what `--plain` looks at one by one, for all places of the innermost attacker.

    mark_row       where kings are hit or face each other, and where a piece hangs
    best_of_row    the best number that the moves of a side lead to

A move of another piece leads from every place of a row to the same place of another row, so that
the best is a maximum of rows. Where the innermost attacker stands in the way of a piece, on its
lines or on a knight's leg, the moves of that piece are looked at one by one. Along lines the
innermost attacker's own moves are a running maximum. Attacks of and on him are found by walking
from the other piece; those of two other pieces once for a row, and again where he stands between.
"""

from __future__ import annotations

import numpy as np

from tbgen.compiling.jit import inlined_part, part
from tbgen.indexing.squares import EMPTY, SQUARES, PieceType, piece_kind, piece_side
from tbgen.rules.attacks import attacks, pieces_between
from tbgen.rules.chases import may_be_victim
from tbgen.verify.index import (
    EYE,
    FACING,
    FIRST_SLOT,
    LANDING,
    LANES,
    LEG,
    MIRRORED,
    NOWHERE,
    RED_HANGS,
    RED_HIT,
    TARGET,
)  # fmt: skip

_ROOK, _KNIGHT, _CANNON = int(PieceType.ROOK), int(PieceType.KNIGHT), int(PieceType.CANNON)
_PAWN = int(PieceType.PAWN)

_SIDEWAYS = (1, -1, 9, -9)
_KNIGHT_WAYS = (19, 17, -19, -17, 11, 7, -11, -7)
_OTHER_WAYS = (*_SIDEWAYS, 10, 8, -10, -8, 20, 16, -20, -16)
"""Differences of squares that knights, and pawns, advisors and elephants attack."""


@part
def _mark_way(first, end, step, needed, mask, state, index):
    """Mark the places of a line of squares that are reached beyond so many pieces.

    needed : int, how many; mask : uint8 (cells,), inout
    """
    mounts, s = 0, first
    while s != end and mounts <= needed:
        if mounts == needed and index.cells[s] != NOWHERE:
            mask[index.cells[s]] = 1
        if state.board[s] != EMPTY:
            mounts += 1
        s += step


@part
def _mark_seen(square, kind, mask, state, index):
    """Mark the places that a rook or cannon on a square attacks, and from which it is attacked.

    mask : uint8 (cells,), inout
    """
    file, needed = square % 9, np.int64(kind == _CANNON)
    _mark_way(square + 1, square - file + 9, 1, needed, mask, state, index)
    _mark_way(square - 1, square - file - 1, -1, needed, mask, state, index)
    _mark_way(square + 9, file + SQUARES, 9, needed, mask, state, index)
    _mark_way(square - 9, file - 9, -9, needed, mask, state, index)


@part
def _attacks_with(s, source, target, state, index):
    """Return whether one square attacks the other with the innermost attacker on a free square."""
    state.board[s] = index.men[index.men.size - 1]
    found = attacks(state.board, source, target)
    state.board[s] = EMPTY
    return found


@part
def _is_place(s, state, index):
    """Return whether the innermost attacker may stand on a square, which may be none."""
    return 0 <= s < SQUARES and index.cells[s] != NOWHERE and state.board[s] == EMPTY


@part
def _mark_inner(target, mask, state, index):
    """Mark the places from which the innermost attacker attacks a square.

    mask : uint8 (cells,), inout
    """
    kind = piece_kind(index.men[index.men.size - 1])
    if kind == _ROOK or kind == _CANNON:
        _mark_seen(target, kind, mask, state, index)
        return
    ways = len(_KNIGHT_WAYS) if kind == _KNIGHT else len(_SIDEWAYS)
    for n in range(ways):
        s = target - (_KNIGHT_WAYS[n] if kind == _KNIGHT else _OTHER_WAYS[n])
        if _is_place(s, state, index) and _attacks_with(s, s, target, state, index):
            mask[index.cells[s]] = 1


@part
def _mark_attacked(source, mask, buffer, chase_rules, state, index):
    """Mark where the innermost attacker can be chased, and is attacked from a square.

    mask : uint8 (cells,), inout; buffer : uint8 (cells,)
    chase_rules : int, bits of the rule set
    """
    code, kind = index.men[index.men.size - 1], piece_kind(state.board[source])
    # Where a pawn stands tells whether it can be chased; of others the kind alone does.
    is_pawn = piece_kind(code) == _PAWN
    if not is_pawn and not may_be_victim(code, source, chase_rules):
        return
    marked = buffer if is_pawn else mask
    buffer[:] = 0
    if kind == _ROOK or kind == _CANNON:
        _mark_seen(source, kind, marked, state, index)
    else:
        for n in range(len(_KNIGHT_WAYS) if kind == _KNIGHT else len(_OTHER_WAYS)):
            s = source + (_KNIGHT_WAYS[n] if kind == _KNIGHT else _OTHER_WAYS[n])
            if _is_place(s, state, index) and attacks(state.board, source, s):
                marked[index.cells[s]] = 1
    for cell in range(mask.size if is_pawn else 0):
        if buffer[cell] and may_be_victim(code, index.places[cell], chase_rules):
            mask[cell] = 1


@part
def _mark_outer(source, target, mask, buffer, state, index):
    """Mark the places of the innermost attacker with which one square attacks the other.

    mask : uint8 (cells,), inout; buffer : uint8 (cells,)
    """
    kind = piece_kind(state.board[source])
    is_line = kind == _ROOK or kind == _CANNON
    step = 9 if source % 9 == target % 9 else 1
    if is_line and step == 1 and source // 9 != target // 9:
        return
    buffer[:] = attacks(state.board, source, target)
    # Where the innermost attacker stands between them, on a leg or an eye, it may be otherwise.
    if is_line:
        for s in range(min(source, target) + step, max(source, target), step):
            if _is_place(s, state, index):
                buffer[index.cells[s]] = _attacks_with(s, source, target, state, index)
    else:
        for n in range(len(_SIDEWAYS) + 1):
            s = (source + target) // 2
            if n < len(_SIDEWAYS):
                s = source + _SIDEWAYS[n]
            if _is_place(s, state, index):
                buffer[index.cells[s]] = _attacks_with(s, source, target, state, index)
    for cell in range(mask.size):
        mask[cell] |= buffer[cell]


@part
def _mark_facing(mask, state, index):
    """Mark the places with which the kings face each other; mask : uint8 (cells,), inout."""
    red, black = state.kings[0], state.kings[1]
    if red % 9 == black % 9 and pieces_between(state.board, red, black) == 0:
        mask[:] = 1
        for s in range(red + 9, black, 9):
            if index.cells[s] != NOWHERE:
                mask[index.cells[s]] = 0


@part
def mark_row(chases, chase_rules, state, index):
    """Fill the masks of a row; the innermost attacker is not on the board.

    chases : bool, whether the last two are asked for; chase_rules : int, bits of the rule set
    """
    squares, last = state.all, state.all.size - 1
    masks, buffer = state.masks, state.buffer
    masks[:] = 0
    _mark_facing(masks[FACING], state, index)
    for side in range(2):
        k, n = 0, 0
        while index.own[1 - side, k] != NOWHERE:
            m = index.own[1 - side, k]
            if m == index.men.size - 1:
                _mark_inner(state.kings[side], masks[RED_HIT + side], state, index)
            else:
                _mark_outer(
                    state.squares[m], state.kings[side], masks[RED_HIT + side], buffer, state, index
                )
            k += 1
        while chases and index.pairs[side, n, 0] != NOWHERE:
            victim, attacker = index.pairs[side, n, 0], index.pairs[side, n, 1]
            square, mask = squares[victim], masks[RED_HANGS + side]
            if victim == last:
                _mark_attacked(squares[attacker], mask, buffer, chase_rules, state, index)
            elif may_be_victim(state.board[square], square, chase_rules):
                if attacker == last:
                    _mark_inner(square, mask, state, index)
                else:
                    _mark_outer(squares[attacker], square, mask, buffer, state, index)
            n += 1


@inlined_part
def _is_open(m, n, side, state, index):
    """Return whether a knight or pawn may make a leap; n : int, which."""
    board, square = state.board, state.squares[m]
    leg, s = index.leaps[m, square, n, LEG], index.leaps[m, square, n, LANDING]
    if leg != NOWHERE and board[leg] != EMPTY:
        return False
    return board[s] == EMPTY or piece_side(board[s]) != side


@part
def _best_leap(m, side, at, best, numbers, state, index):
    """The best of the moves of a knight or pawn; best : int, what was the best before."""
    square, line, n = state.squares[m], state.line[m], 0
    while index.leaps[m, square, n, LANDING] != NOWHERE:
        if _is_open(m, n, side, state, index):
            s = index.leaps[m, square, n, LANDING]
            best = max(best, numbers[at + index.extend[line, s]])
        n += 1
    return best


@part
def _raise(best, numbers, at):
    """Let a row be no less than another one.

    at : int, where the other one begins
    """
    lanes = best.size // LANES * LANES
    row, other = best[:lanes], numbers[at : at + lanes]
    for lane in range(lanes):
        row[lane] = max(row[lane], other[lane])


@part
def _raise_by_steps(side, plane, within, image, best, numbers, state, index):
    """Raise a row by the steps of a side's king, advisors and elephants."""
    board, steps = state.board, state.steps
    for n in range(state.counts[side]):
        code = board[steps[side, n, TARGET]]
        if code != EMPTY and piece_side(code) == side:
            continue
        eye = steps[side, n, EYE]
        cell, kept = NOWHERE, best[0]
        if eye != NOWHERE:
            if board[eye] != EMPTY:
                continue
            cell = index.cells[eye]
            if cell != NOWHERE:
                kept = best[cell]
        first = plane + steps[side, n, FIRST_SLOT]
        if steps[side, n, MIRRORED]:
            for c in range(index.row_slots):
                best[c] = max(best[c], numbers[first + image + index.mirror_cell[c]])
        else:
            _raise(best, numbers, first + within)
        if cell != NOWHERE:
            best[cell] = kept


@part
def _raise_cell(square, at, best, numbers, index):
    """Raise the place of the innermost attacker on one square, where it has a place there."""
    cell = index.cells[square]
    if cell != NOWHERE:
        best[cell] = max(best[cell], numbers[at + cell])


@part
def _keep(s, end, step, kept, best, index):
    """Put back what the places of a line of squares held."""
    n = 0
    while s != end:
        if index.cells[s] != NOWHERE:
            best[index.cells[s]] = kept[n]
        n += 1
        s += step


@part
def _raise_along(side, kind, first, end, step, at, line, best, kept, numbers, state, index):
    """Raise a row by the moves of a rook or cannon one way.

    The innermost attacker may stand on a square of the way: it may be taken there, or is the mount,
    and what is beyond is not reached.
    """
    board, s, n = state.board, first, 0
    while s != end and board[s] == EMPTY:
        cell = index.cells[s]
        if kind == _CANNON and cell != NOWHERE:
            kept[n] = best[cell]
        _raise(best, numbers, at + index.extend[line, s])
        if kind != _CANNON and cell != NOWHERE:
            kept[n] = best[cell]
        n += 1
        s += step
    if kind != _CANNON and s != end and piece_side(board[s]) != side:
        _raise(best, numbers, at + index.extend[line, s])
    _keep(first, s, step, kept, best, index)
    if kind != _CANNON or s == end:
        return
    if piece_side(board[s]) != side:
        mount = first
        while mount != s:
            _raise_cell(mount, at + index.extend[line, s], best, numbers, index)
            mount += step
    # Beyond the mount, and where the innermost attacker stands before it not at all.
    taken = s + step
    while taken != end and board[taken] == EMPTY:
        _raise_cell(taken, at + index.extend[line, taken], best, numbers, index)
        taken += step
    if taken != end and piece_side(board[taken]) != side:
        m, n = first, 0
        while m != taken:
            if index.cells[m] != NOWHERE:
                kept[n] = best[index.cells[m]]
            n += 1
            m += step
        _raise(best, numbers, at + index.extend[line, taken])
        _keep(first, taken, step, kept, best, index)


@part
def _look_closer(m, side, at, square, kept, best, numbers, state, index):
    """The best in one place of a row, where the innermost attacker may stand in a piece's way.

    kept : int, the best without that piece
    """
    cell = index.cells[square]
    if cell != NOWHERE and state.board[square] == EMPTY:
        state.board[square] = index.men[index.men.size - 1]
        best[cell] = _best_leap(m, side, at + cell, kept, numbers, state, index)
        state.board[square] = EMPTY


@part
def _raise_by_man(m, side, at, best, kept, numbers, state, index):
    """Raise a row by the moves of an outer attacker."""
    kind, square, line = piece_kind(index.men[m]), state.squares[m], state.line[m]
    file = square % 9
    if kind == _KNIGHT or kind == _PAWN:
        n = 0
        while index.leaps[m, square, n, LANDING] != NOWHERE:
            leg = index.leaps[m, square, n, LEG]
            if leg != NOWHERE and index.cells[leg] != NOWHERE:
                kept[n] = best[index.cells[leg]]
            n += 1
        for i in range(n):
            if _is_open(m, i, side, state, index):
                _raise(best, numbers, at + index.extend[line, index.leaps[m, square, i, LANDING]])
        previous = NOWHERE
        for i in range(n):
            leg = index.leaps[m, square, i, LEG]
            if leg != previous:
                _look_closer(m, side, at, leg, kept[i], best, numbers, state, index)
            previous = leg
    else:
        _raise_along(side, kind, square + 1, square - file + 9, 1, at, line, best, kept, numbers,
                     state, index)  # fmt: skip
        _raise_along(side, kind, square - 1, square - file - 1, -1, at, line, best, kept, numbers,
                     state, index)  # fmt: skip
        _raise_along(side, kind, square + 9, file + SQUARES, 9, at, line, best, kept, numbers,
                     state, index)  # fmt: skip
        _raise_along(side, kind, square - 9, file - 9, -9, at, line, best, kept, numbers,
                     state, index)  # fmt: skip


@part
def _sweep(first, step, count, kind, at, best, numbers, state):
    """Raise a line of squares by the moves of the innermost rook or cannon one way along it.

    count : int, how many squares; at : int, where the row begins
    """
    board = state.board
    passed = last = before = numbers[0] * 0
    s = first
    for _ in range(count):
        best[s] = max(best[s], passed)
        if kind == _CANNON:
            best[s] = max(best[s], before)
        number = numbers[at + s]
        if board[s] == EMPTY:
            passed = max(passed, number)
        elif kind == _CANNON:
            before, last, passed = last, number, numbers[0] * 0
        else:
            passed = number
        s += step


@part
def best_of_row(side, own, plane, lead, within, image, numbers, state, index):
    """Find the largest number that a move of a side leads to, for each place of the row.

    They are in `state.best`. The innermost attacker is not on the board. Places that are taken get
    anything.

    own : uint8 or uint16 (cells,), what is stored: where there is no position, anything is returned
    lead : int, the first slot of the lead
    """
    last, best, kept = index.men.size - 1, state.best, state.kept
    for cell in range(best.size // LANES * LANES):
        best[cell] = 0
    _raise_by_steps(side, plane, within, image, best, numbers, state, index)
    k = 0
    while index.own[side, k] != NOWHERE:
        m = index.own[side, k]
        at = plane + lead + state.rest[m]
        if m != last:
            _raise_by_man(m, side, at, best, kept, numbers, state, index)
        else:
            kind = piece_kind(index.men[m])
            if kind == _KNIGHT or kind == _PAWN:
                for cell in range(index.row_slots):
                    square = index.places[cell]
                    if own[cell] != 0 and state.board[square] == EMPTY:
                        state.squares[m] = square
                        best[cell] = _best_leap(m, side, at, best[cell], numbers, state, index)
            else:
                for s in range(0, SQUARES, 9):
                    _sweep(s, 1, 9, kind, at, best, numbers, state)
                    _sweep(s + 8, -1, 9, kind, at, best, numbers, state)
                for s in range(9):
                    _sweep(s, 9, 10, kind, at, best, numbers, state)
                    _sweep(s + 81, -9, 10, kind, at, best, numbers, state)
        k += 1
