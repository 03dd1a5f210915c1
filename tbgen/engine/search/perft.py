# mypy: allow-untyped-defs, allow-untyped-calls
"""Perft: number of lines of legal moves to a depth.

Uses only the generation, legality and making of moves of the search. Wrong counts show a mistake in
these; the speed is a reference for the speed of the search.
"""

from __future__ import annotations

import numpy as np

from tbgen.compiling.jit import borrowing_kernel, recursive_part
from tbgen.engine.search.generation import generate
from tbgen.engine.search.safety import is_safe
from tbgen.engine.search.state import push


@recursive_part
def _count(state, row, side, depth):
    """Return the number of lines of `depth` legal moves from a row, a position of the record."""
    ply = row - state.root
    yes, no = ply >= 0, ply < 0
    first = generate(state, row, side, ply, ply - ply, yes)
    count = generate(state, row, side, ply, first, no)
    lines = np.int64(0)
    for i in range(count):
        move = state.moves[ply, i]
        if is_safe(state, row, side, move >> 7, move & 127):
            if depth <= 1:
                lines += 1
            else:
                push(state, row, side, move >> 7, move & 127)
                lines += _count(state, row + 1, 1 - side, depth - 1)
    return lines


@borrowing_kernel
def perft(states, depth):
    """Return the number of lines of `depth` legal moves from the root.

    states : `State` (1,), inout; set up by `state.begin`
    depth : int64; 1 or more
    """
    state = states[0]
    return _count(state, state.root, state.root_side, depth)
