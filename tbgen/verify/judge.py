# mypy: allow-untyped-defs, allow-untyped-calls
"""Every position against its moves (docs/proof.md, point 2).

What is stored must be what the best of the moves is worth. Only a direct win may be better, whose
proof is a pattern; it is listed as a *claim*. Listed is also which draws may belong to a pattern as
the offender's: every move that keeps the draw is a check, or every one is none and leaves a piece
under attack that can be chased. (Another move is no offence, and nobody has to go on.)

The best is found for a whole row (`acceleration`); `plain` looks at each position by itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import borrowing_kernel, part
from tbgen.compiling.lending import lent
from tbgen.indexing.squares import EMPTY
from tbgen.verify.acceleration import best_of_row
from tbgen.verify.arrays import ManyNumbers
from tbgen.verify.complete import find_canonical
from tbgen.verify.index import open_row
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
    claims: ManyNumbers
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
