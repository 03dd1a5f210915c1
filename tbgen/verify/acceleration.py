# mypy: allow-untyped-defs, allow-untyped-calls
"""Row kernels: the work of `--plain` for all places of the innermost attacker at once.

    mark_row       places where kings are attacked, kings face each other, or a piece hangs
    best_of_row    best number that a side's moves lead to, for each place

A *place* is one slot of a row, and so one square of the innermost attacker, which alone varies in a
row. A move of another piece leads from every place of a row to the same place of another row. So
the best is an element-wise maximum of rows: each move *raises* `best`. A place that blocks a line
or a knight's leg of the moving piece is examined separately. The innermost attacker's own moves
along lines are a running maximum.

Attacks by and on the innermost attacker are found by walking from the other piece. An attack
between two other pieces is tested once for the row, and again for each place between them.
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
    RED_CHECKED,
    RED_HANGS,
    TARGET,
)  # fmt: skip

_ROOK, _KNIGHT, _CANNON = int(PieceType.ROOK), int(PieceType.KNIGHT), int(PieceType.CANNON)
_PAWN = int(PieceType.PAWN)

_SIDEWAYS = (1, -1, 9, -9)
_KNIGHT_WAYS = (19, 17, -19, -17, 11, 7, -11, -7)
_OTHER_WAYS = (*_SIDEWAYS, 10, 8, -10, -8, 20, 16, -20, -16)
"""Square differences of the attacks of pawns, advisors and elephants; `_KNIGHT_WAYS` of knights."""


@part
def _mark_way(first, end, step, needed, mask, state, index):
    """Mark the places on a line that lie behind exactly `needed` pieces of the line.

    needed : int, 0 for attacks of rooks, 1 for cannons; mask : uint8 (places,), inout
    """
    mounts, s = 0, first
    while s != end and mounts <= needed:
        if mounts == needed and index.place_of_square[s] != NOWHERE:
            mask[index.place_of_square[s]] = 1
        if state.board[s] != EMPTY:
            mounts += 1
        s += step


@part
def _mark_seen(square, kind, mask, state, index):
    """Mark the places that a rook or cannon on a square attacks; these also attack the square.

    mask : uint8 (places,), inout
    """
    file, needed = square % 9, np.int64(kind == _CANNON)
    _mark_way(square + 1, square - file + 9, 1, needed, mask, state, index)
    _mark_way(square - 1, square - file - 1, -1, needed, mask, state, index)
    _mark_way(square + 9, file + SQUARES, 9, needed, mask, state, index)
    _mark_way(square - 9, file - 9, -9, needed, mask, state, index)


@part
def _attacks_with(s, source, target, state, index):
    """Return whether `source` attacks `target` while the innermost attacker stands on `s`."""
    state.board[s] = index.attackers[index.attackers.size - 1]
    found = attacks(state.board, source, target)
    state.board[s] = EMPTY
    return found


@part
def _is_place(s, state, index):
    """Return whether the innermost attacker may stand on `s`, an empty square in its area.

    s : int, may be off the board
    """
    return 0 <= s < SQUARES and index.place_of_square[s] != NOWHERE and state.board[s] == EMPTY


@part
def _mark_inner(target, mask, state, index):
    """Mark the places from which the innermost attacker attacks the square `target`.

    mask : uint8 (places,), inout
    """
    kind = piece_kind(index.attackers[index.attackers.size - 1])
    if kind == _ROOK or kind == _CANNON:
        _mark_seen(target, kind, mask, state, index)
        return
    ways = len(_KNIGHT_WAYS) if kind == _KNIGHT else len(_SIDEWAYS)
    for n in range(ways):
        s = target - (_KNIGHT_WAYS[n] if kind == _KNIGHT else _OTHER_WAYS[n])
        if _is_place(s, state, index) and _attacks_with(s, s, target, state, index):
            mask[index.place_of_square[s]] = 1


@part
def _mark_attacked(source, mask, buffer, chase_rules, state, index):
    """Mark the places where the piece on `source` attacks the innermost attacker and may chase it.

    mask : uint8 (places,), inout; buffer : uint8 (places,)
    chase_rules : int, bits of the rule set
    """
    code, kind = index.attackers[index.attackers.size - 1], piece_kind(state.board[source])
    # Whether a pawn can be chased depends on its square; for other pieces on the kind alone.
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
                marked[index.place_of_square[s]] = 1
    for place in range(mask.size if is_pawn else 0):
        if buffer[place] and may_be_victim(code, index.square_of_place[place], chase_rules):
            mask[place] = 1


@part
def _mark_outer(source, target, mask, buffer, state, index):
    """Mark the places of the innermost attacker for which the piece on `source` attacks `target`.

    mask : uint8 (places,), inout; buffer : uint8 (places,)
    """
    kind = piece_kind(state.board[source])
    is_line = kind == _ROOK or kind == _CANNON
    step = 9 if source % 9 == target % 9 else 1
    ranks, files = abs(source // 9 - target // 9), abs(source % 9 - target % 9)
    if min(ranks, files) != 0 if is_line else max(ranks, files) > 2:
        return
    buffer[:] = attacks(state.board, source, target)
    # Test again each place between them, on a leg or on an eye.
    if is_line:
        for s in range(min(source, target) + step, max(source, target), step):
            if _is_place(s, state, index):
                buffer[index.place_of_square[s]] = _attacks_with(s, source, target, state, index)
    else:
        for n in range(len(_SIDEWAYS) + 1):
            s = (source + target) // 2
            if n < len(_SIDEWAYS):
                s = source + _SIDEWAYS[n]
            if _is_place(s, state, index):
                buffer[index.place_of_square[s]] = _attacks_with(s, source, target, state, index)
    for place in range(mask.size):
        mask[place] |= buffer[place]


@part
def _mark_facing(mask, state, index):
    """Mark the places of the innermost attacker for which the kings face each other.

    mask : uint8 (places,), inout
    """
    red, black = state.kings[0], state.kings[1]
    if red % 9 == black % 9 and pieces_between(state.board, red, black) == 0:
        mask[:] = 1
        for s in range(red + 9, black, 9):
            if index.place_of_square[s] != NOWHERE:
                mask[index.place_of_square[s]] = 0


@part
def mark_row(chases, chase_rules, state, index):
    """Fill the masks of a row: places where kings are attacked or face each other, or pieces hang.

    The masks are RED_CHECKED to BLACK_HANGS. The innermost attacker is not on the board.

    chases : bool, whether to fill the masks of hanging pieces; chase_rules : int, rule set bits
    """
    squares, last = state.piece_squares, state.piece_squares.size - 1
    masks, buffer = state.masks, state.buffer
    masks[:] = 0
    _mark_facing(masks[FACING], state, index)
    for side in range(2):
        king, hit, k = state.kings[side], masks[RED_CHECKED + side], 0
        while index.attackers_of[1 - side, k] != NOWHERE:
            m = index.attackers_of[1 - side, k]
            if m == index.attackers.size - 1:
                _mark_inner(king, hit, state, index)
            else:
                _mark_outer(state.attacker_squares[m], king, hit, buffer, state, index)
            k += 1
    for v in range(squares.size if chases else 0):
        square, n = squares[v], 0
        code = index.attackers[index.attackers.size - 1] if v == last else state.board[square]
        if v != last and not may_be_victim(code, square, chase_rules):
            continue
        mask = masks[RED_HANGS + piece_side(code)]
        while index.able_to_chase[v, n] != NOWHERE:
            attacker = index.able_to_chase[v, n]
            if v == last:
                _mark_attacked(squares[attacker], mask, buffer, chase_rules, state, index)
            elif attacker == last:
                _mark_inner(square, mask, state, index)
            else:
                _mark_outer(squares[attacker], square, mask, buffer, state, index)
            n += 1


@inlined_part
def _is_unblocked(m, n, side, state, index):
    """Return whether a knight's or pawn's leap is not blocked; n : int, index of the leap."""
    board, square = state.board, state.attacker_squares[m]
    leg, s = index.leaps[m, square, n, LEG], index.leaps[m, square, n, LANDING]
    if leg != NOWHERE and board[leg] != EMPTY:
        return False
    return board[s] == EMPTY or piece_side(board[s]) != side


@part
def _best_leap(m, side, at, best, numbers, state, index):
    """Return the largest of `best` and the numbers of positions after a knight's or pawn's moves.

    best : int, the largest number found so far
    """
    square, line, n = state.attacker_squares[m], state.line[m], 0
    while index.leaps[m, square, n, LANDING] != NOWHERE:
        if _is_unblocked(m, n, side, state, index):
            s = index.leaps[m, square, n, LANDING]
            best = max(best, numbers[at + index.term_after[line, s]])
        n += 1
    return best


@part
def _raise(best, numbers, at):
    """Replace each number of the row `best` by that of another row, if the other is larger.

    at : int, the start of the other row in `numbers`
    """
    lanes = best.size // LANES * LANES
    row, other = best[:lanes], numbers[at : at + lanes]
    for lane in range(lanes):
        row[lane] = max(row[lane], other[lane])


@part
def _raise_by_steps(side, plane, within, image, best, numbers, state, index):
    """Raise the best numbers of a row by the moves of a side's king, advisors and elephants."""
    board, steps = state.board, state.steps
    for n in range(state.step_counts[side]):
        code = board[steps[side, n, TARGET]]
        if code != EMPTY and piece_side(code) == side:
            continue
        eye = steps[side, n, EYE]
        place, kept = NOWHERE, best[0]
        if eye != NOWHERE:
            if board[eye] != EMPTY:
                continue
            place = index.place_of_square[eye]
            if place != NOWHERE:
                kept = best[place]
        first = plane + steps[side, n, FIRST_SLOT]
        if steps[side, n, MIRRORED]:
            for c in range(index.row_slots):
                best[c] = max(best[c], numbers[first + image + index.mirrored_place[c]])
        else:
            _raise(best, numbers, first + within)
        if place != NOWHERE:
            best[place] = kept


@part
def _raise_place(square, at, best, numbers, index):
    """Raise the best number of the place on a square by that of another row; skip other squares."""
    place = index.place_of_square[square]
    if place != NOWHERE:
        best[place] = max(best[place], numbers[at + place])


@part
def _restore(s, end, step, kept, best, index):
    """Copy the best numbers of the places on a line back from `kept`, which has one per square."""
    n = 0
    while s != end:
        if index.place_of_square[s] != NOWHERE:
            best[index.place_of_square[s]] = kept[n]
        n += 1
        s += step


@part
def _raise_along(side, kind, first, end, step, at, line, best, kept, numbers, state, index):
    """Raise the best numbers of a row by the moves of an outer rook or cannon in one direction.

    The innermost attacker may stand on the line: it can be captured there or is the cannon's mount,
    and it blocks the squares beyond. So places on the line are treated separately.
    """
    board, s, n = state.board, first, 0
    while s != end and board[s] == EMPTY:
        place = index.place_of_square[s]
        if kind == _CANNON and place != NOWHERE:
            kept[n] = best[place]
        _raise(best, numbers, at + index.term_after[line, s])
        if kind != _CANNON and place != NOWHERE:
            kept[n] = best[place]
        n += 1
        s += step
    if kind != _CANNON and s != end and piece_side(board[s]) != side:
        _raise(best, numbers, at + index.term_after[line, s])
    _restore(first, s, step, kept, best, index)
    if kind != _CANNON or s == end:
        return
    if piece_side(board[s]) != side:
        mount = first
        while mount != s:
            _raise_place(mount, at + index.term_after[line, s], best, numbers, index)
            mount += step
    # Beyond the mount. Places before it have the innermost attacker as a second mount.
    taken = s + step
    while taken != end and board[taken] == EMPTY:
        _raise_place(taken, at + index.term_after[line, taken], best, numbers, index)
        taken += step
    if taken != end and piece_side(board[taken]) != side:
        m, n = first, 0
        while m != taken:
            if index.place_of_square[m] != NOWHERE:
                kept[n] = best[index.place_of_square[m]]
            n += 1
            m += step
        _raise(best, numbers, at + index.term_after[line, taken])
        _restore(first, taken, step, kept, best, index)


@part
def _raise_behind_leg(m, side, at, square, kept, best, numbers, state, index):
    """Recompute the best number of the place on `square`, which is a leg of the moving knight.

    There the innermost attacker stands on the leg. Nothing changes if `square` is no free place.

    kept : int, the best number without the moves of that knight
    """
    place = index.place_of_square[square]
    if place != NOWHERE and state.board[square] == EMPTY:
        state.board[square] = index.attackers[index.attackers.size - 1]
        best[place] = _best_leap(m, side, at + place, kept, numbers, state, index)
        state.board[square] = EMPTY


@part
def _raise_by_attacker(m, side, at, best, kept, numbers, state, index):
    """Raise the best numbers of a row by the moves of an attacker other than the innermost one."""
    kind, square, line = piece_kind(index.attackers[m]), state.attacker_squares[m], state.line[m]
    file = square % 9
    if kind == _KNIGHT or kind == _PAWN:
        n = 0
        while index.leaps[m, square, n, LANDING] != NOWHERE:
            leg = index.leaps[m, square, n, LEG]
            if leg != NOWHERE and index.place_of_square[leg] != NOWHERE:
                kept[n] = best[index.place_of_square[leg]]
            n += 1
        for i in range(n):
            if _is_unblocked(m, i, side, state, index):
                target = index.leaps[m, square, i, LANDING]
                _raise(best, numbers, at + index.term_after[line, target])
        previous = NOWHERE
        for i in range(n):
            leg = index.leaps[m, square, i, LEG]
            if leg != previous:
                _raise_behind_leg(m, side, at, leg, kept[i], best, numbers, state, index)
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
def _raise_back_along(first, step, count, kind, at, best, numbers, state):
    """Raise the best numbers on a line by moves of the innermost rook or cannon towards `first`.

    A rook or cannon may stand on all ninety squares, so places are squares here.

    first : int, the first square; count : int, the number of squares; at : int, the row's start
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
def best_of_row(side, own, plane, base, within, image, numbers, state, index):
    """Compute the largest number that a move of a side leads to, for each place of the row.

    The result is in `state.best`; places on other pieces hold arbitrary numbers. The innermost
    attacker is not on the board.

    own : uint8 or uint16 (places,), the stored numbers; places with 0 may get arbitrary results
    """
    last, best, kept = index.attackers.size - 1, state.best, state.kept
    for place in range(best.size // LANES * LANES):
        best[place] = 0
    _raise_by_steps(side, plane, within, image, best, numbers, state, index)
    k = 0
    while index.attackers_of[side, k] != NOWHERE:
        m = index.attackers_of[side, k]
        at = plane + base + state.other_terms[m]
        if m != last:
            _raise_by_attacker(m, side, at, best, kept, numbers, state, index)
        else:
            kind = piece_kind(index.attackers[m])
            if kind == _KNIGHT or kind == _PAWN:
                for place in range(index.row_slots):
                    square = index.square_of_place[place]
                    if own[place] != 0 and state.board[square] == EMPTY:
                        state.attacker_squares[m] = square
                        best[place] = _best_leap(m, side, at, best[place], numbers, state, index)
            else:
                for s in range(0, SQUARES, 9):
                    _raise_back_along(s, 1, 9, kind, at, best, numbers, state)
                    _raise_back_along(s + 8, -1, 9, kind, at, best, numbers, state)
                for s in range(9):
                    _raise_back_along(s, 9, 10, kind, at, best, numbers, state)
                    _raise_back_along(s + 81, -9, 10, kind, at, best, numbers, state)
        k += 1
