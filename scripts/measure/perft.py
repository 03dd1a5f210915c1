# mypy: allow-untyped-defs, allow-untyped-calls
"""Perft by the engine's kernels: number of lines of legal moves to a depth.

Uses only the parts of the search that generate moves, test their legality and make them. Wrong
counts show a mistake in these; the speed is a reference for the speed of the search.
"""

from __future__ import annotations

import numpy as np

from tbgen.compiling.jit import borrowing_kernel, recursive_part
from tbgen.engine.search.generation import generate
from tbgen.engine.search.safety import is_safe
from tbgen.engine.search.state import STATE, begin, push
from tbgen.indexing import Position


@recursive_part
def _count(state, row, side, depth):
    """Return the number of lines of `depth` legal moves from a row of `state.boards`.

    state : `State`, inout
    row, side, depth : int64; `side` is to move in `row`, later rows are overwritten
    """
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
def _count_lines(states, no_moves, side, depth):
    """Return the number of lines of `depth` legal moves from the board in row 0.

    states : `State` (1,), inout
    no_moves : int32 (0,), in; an empty array
    side, depth : int64; `side` is to move in row 0
    """
    begin(states, no_moves, side)
    return _count(states[0], np.int64(0), side, depth)


def perft(position: Position, depth: int) -> int:
    """Return the number of lines of `depth` legal moves; `depth` is 1 or more."""
    states = np.zeros(1, STATE)
    states["boards"][0, 0] = np.frombuffer(position.board, np.int8)
    return int(_count_lines(states, np.zeros(0, np.int32), int(position.side), depth))
