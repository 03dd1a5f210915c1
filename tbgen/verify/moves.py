# mypy: allow-untyped-defs, allow-untyped-calls
"""One position on a board: its moves, where they lead, and what stands there.

    set_up       the pieces of a slot on the board
    list_moves   sources and targets by `tbgen.rules`, and the slots after them
    best_move    the largest number in these slots
    slot_after   of a quiet move, the slot that the index has for the position

Planes are complete: a move is illegal where there is 0 in the slot after it, and gives check where
there is 0 for the other side to move.
"""

from __future__ import annotations

import numpy as np

from tbgen.compiling.jit import part
from tbgen.indexing.slots import slot_of_squares
from tbgen.indexing.squares import EMPTY, piece_side
from tbgen.rules.moves import piece_moves
from tbgen.verify.index import (
    EYE,
    FIRST_SLOT,
    MIRRORED,
    NOWHERE,
    SOURCE,
    TARGET,
    open_row,
)


@part
def set_up(slot, state, index):
    """Put the position of a slot on the board; returns slot and image without the lead."""
    lead, within = slot // index.lead_slots, slot % index.lead_slots
    row, cell = within // index.row_slots, within % index.row_slots
    last, square = index.men.size - 1, index.places[cell]
    _, image, _, _, _ = open_row(lead, row, state, index)
    state.squares[last] = square
    state.board[square] = index.men[last]
    state.all[state.all.size - 1] = square
    for p in range(state.all.size):
        state.on[state.all[p]] = p
    return within, image + index.mirror_cell[cell]


@part
def list_moves(side, slot, within, image, state, index):
    """List the moves of a side; returns how many.

    Whether they are legal, the numbers in the slots after them tell.
    """
    count, k, last = 0, 0, index.men.size - 1
    base, cell = slot - within, slot % index.row_slots
    for n in range(state.counts[side]):
        step = state.steps[side, n]
        code = state.board[step[TARGET]]
        if code != EMPTY and piece_side(code) == side:
            continue
        if step[EYE] != NOWHERE and state.board[step[EYE]] != EMPTY:
            continue
        state.sources[count], state.targets[count] = step[SOURCE], step[TARGET]
        state.children[count] = step[FIRST_SLOT] + (image if step[MIRRORED] else within)
        count += 1
    while index.own[side, k] != NOWHERE:
        m = index.own[side, k]
        at = base + state.rest[m]
        if m != last:
            at += cell
        found = piece_moves(state.board, state.squares[m], state.targets, count)
        for n in range(count, found):
            state.sources[n] = state.squares[m]
            state.children[n] = at + index.extend[state.line[m], state.targets[n]]
        count = found
        k += 1
    return count


@part
def best_move(side, slot, within, image, numbers, state, index):
    """The largest number that a move of a side leads to, 0 without one.

    The innermost attacker is on the board, and its square in `state.squares`.
    """
    best, plane = np.int64(0), (1 - side) * index.slots
    for n in range(list_moves(side, slot, within, image, state, index)):
        best = max(best, np.int64(numbers[plane + state.children[n]]))
    return best


@part
def slot_after(n, state, index):
    """The slot that the index has for the position after a quiet move; n : int, which is listed."""
    after = state.children[n]
    if index.twin == NOWHERE and not index.self_mirrored[after // index.lead_slots]:
        return after
    mover = state.on[state.sources[n]]
    state.all[mover] = state.targets[n]
    after = slot_of_squares(state.all, index.descriptor)
    state.all[mover] = state.sources[n]
    return after


@part
def load_key(side, slot, index, arrays):
    """The key of what stands in a slot of this table."""
    return arrays.values.keys[side, arrays.ranks[side * index.slots + slot]]
