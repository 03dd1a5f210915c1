# mypy: allow-untyped-defs, allow-untyped-calls
"""Every position against its moves (docs/proof.md, point 2).

What is stored must be what the best of the moves is worth. Only a direct win may be better, whose
proof is a pattern; it is listed as a *claim*. Listed is also which draws may belong to a pattern as
the offender's: every move that keeps the draw is a check, or every one is none and leaves a piece
under attack that can be chased. (Another move is no offence, and nobody has to go on.)

The best is found for a whole row, all places of the innermost attacker together. A move of another
piece leads from every place to the same place of another row, so that the best is a maximum of
rows. Where the innermost attacker stands in the way of a piece, on its lines or on a knight's leg,
the moves of that piece are looked at one by one. Along lines the innermost attacker's own moves are
a running maximum. `plain` looks at each position by itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import borrowing_kernel, inlined_part, part
from tbgen.compiling.lending import lent
from tbgen.indexing.squares import EMPTY, SQUARES, PieceType, piece_kind, piece_side
from tbgen.verify.arrays import ManyNumbers
from tbgen.verify.complete import find_canonical
from tbgen.verify.index import EYE, FIRST_SLOT, LANDING, LEG, MIRRORED, NOWHERE, TARGET, open_row
from tbgen.verify.moves import best_move
from tbgen.verify.values import (
    CHASE,
    CHECK,
    DECIDED_BY_RULES,
    MATE,
    ORDER,
    is_open,
    key_after_move,
)

_KNIGHT, _PAWN, _CANNON = int(PieceType.KNIGHT), int(PieceType.PAWN), int(PieceType.CANNON)

LANES = 32
"""The number of places that are looked at together: loops of so many become vectors."""


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
def best_of_row(side, own, plane, lead, within, image, best, kept, numbers, state, index):
    """The largest number that a move of a side leads to, for each place of the row.

    The innermost attacker is not on the board. Places that are taken get anything.

    own : uint8 or uint16 (cells,), what is stored: where there is no position, anything is returned
    lead : int, the first slot of the lead
    """
    last = index.men.size - 1
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


HELD_DRAWS, CHASERS, CLAIMS, FINDINGS, FIRST_NODE, FIRST_STORED, FIRST_BEST, COUNTS = range(8)
"""Entries of `Look.counts`."""


@lent
class Look(NamedTuple):
    """Findings in a range of leads. A node is 2 * slot + side to move; shapes: S slots."""

    open: NDArray[np.bool_]
    """bool (2, places): codes of draws, and of what the rules of repetition have won."""
    won: NDArray[np.bool_]
    """bool (2, places): of the latter alone, where a capture may win so, too."""
    draws: NDArray[np.bool_]
    """bool (2, ranks): ranks of draws."""
    hung: NDArray[np.uint8]
    """uint8 (2, S / 8): slots with a piece under attack that can be chased, or that may win by
    rules with a capture. Of all leads, by side to move."""
    held: ManyNumbers
    """int64 (2 S,): draws that only checks hold, every slot that a position has."""
    chasers: ManyNumbers
    """int64 (2 S,): those in which every such move may be a chase."""
    claims: NDArray[np.int64]
    """int64 (2 S,): direct wins."""
    counts: NDArray[np.int64]
    """int64 (COUNTS,)."""


@part
def _add(nodes, which, node, look):
    """Add a node to a list.

    nodes : int64 (n,), inout; which : int, its entry in `Look.counts`
    """
    nodes[look.counts[which]] = node
    look.counts[which] += 1


@part
def _look(side, slot, rank, best, look, index, arrays):
    """Say what is to be said of a position whose value is not just that of its best move.

    rank, best : int, what is stored, and what the best move leads to
    """
    stored = arrays.values.keys[side, rank]
    worth = key_after_move(arrays.values.keys[1 - side, best]) if best else -MATE
    node = 2 * slot + side
    if stored == worth and (arrays.seek_patterns or worth == 0 or not is_open(worth)):
        if not arrays.seek_patterns:
            return
        if arrays.values.kinds[1 - side, best] == CHASE:
            _add(look.chasers, CHASERS, node, look)
        return
    checked = arrays.ranks[(1 - side) * index.slots + slot] == 0
    if (
        arrays.seek_patterns
        and 0 < stored <= DECIDED_BY_RULES
        and (MATE - stored) % ORDER == 0
        and worth < stored
        and (checked or arrays.seek_chases)
    ):
        _add(look.claims, CLAIMS, node, look)
        return
    if not look.counts[FINDINGS]:
        look.counts[FIRST_NODE] = node
        look.counts[FIRST_STORED] = stored
        look.counts[FIRST_BEST] = worth
    look.counts[FINDINGS] += 1


@borrowing_kernel
def k_judge(lead_0, lead_1, plain, look, best, kept, state, index, arrays):
    """Compare what the slots of some leads hold with the best of their moves.

    plain : bool, whether positions are looked at one by one
    """
    slots, planes = index.slots, arrays.ranks
    board, last = state.board, index.men.size - 1
    for lead in range(lead_0, lead_1):
        base = lead * index.lead_slots
        for row in range(index.lead_slots // index.row_slots):
            at, image, overlaps, _, _ = open_row(lead, row, state, index)
            if overlaps:
                continue
            for side in range(2):
                own = planes[side * slots + base + at : side * slots + base + at + index.row_slots]
                there = (1 - side) * slots
                if not plain:
                    best_of_row(side, own, there, base, at, image, best, kept, planes, state, index)
                stored, expected = arrays.values.stored[side], arrays.values.expected[1 - side]
                kinds, draws = arrays.values.kinds[1 - side], look.draws[side]
                for cell in range(index.row_slots):
                    if own[cell] == 0:
                        continue
                    if not plain and stored[own[cell]] == expected[best[cell]]:
                        continue
                    square = index.places[cell]
                    if board[square] != EMPTY:
                        continue
                    slot, mirrored = base + at + cell, image + index.mirror_cell[cell]
                    state.squares[last] = square
                    state.all[state.all.size - 1] = square
                    if plain:
                        board[square] = index.men[last]
                        best[cell] = best_move(
                            side, slot, at + cell, mirrored, planes, state, index
                        )
                        board[square] = EMPTY
                        if stored[own[cell]] == expected[best[cell]]:
                            continue
                    if kinds[best[cell]] == CHECK and draws[own[cell]]:
                        _add(look.held, HELD_DRAWS, 2 * slot + side, look)
                    elif slot == find_canonical(lead, at + cell, mirrored, state, index):
                        _look(side, slot, own[cell], best[cell], look, index, arrays)
