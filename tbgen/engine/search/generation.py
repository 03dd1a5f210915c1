# mypy: allow-untyped-defs, allow-untyped-calls
"""Generation of pseudo-legal moves, captures and quiet moves separately.

Quiet moves are all that capture nothing. The search tests king safety later. The moves equal those
of `tbgen.rules.moves.generate_moves`, but come from piece lists and look-up tables.
"""

from __future__ import annotations

import numpy as np

from tbgen.compiling.jit import part
from tbgen.engine.search.geometry import (
    CANNON,
    FIRST_SHIFT,
    FREE,
    LEGS,
    ROOK,
    SECOND_SHIFT,
    STEPS,
    TARGETS,
    WAY_SHIFT,
    sights,
)
from tbgen.indexing.squares import EMPTY


@part
def _slide(state, row, ply, count, source, code, captures):
    """Append a rook's or cannon's captures, or quiet moves, to `moves[ply]`; return the count."""
    # A cannon captures the second piece, over the mount.
    shift = np.int64(SECOND_SHIFT if code & 7 == CANNON else FIRST_SHIFT)
    for axis in range(2):
        seen = sights(state, row, source, axis)
        for way in range(2):
            step = STEPS[2 * axis + way]
            to = source
            if captures:
                # Write the move, then count it if it is a capture: a branch would often be
                # mispredicted. Without a piece in reach, `to` is `source`, which is not counted.
                to += step * (seen >> shift & FREE)
                state.moves[ply, count] = source << 7 | to
                count += np.int64(state.boards[row, to] >> 3 != code >> 3)
            else:
                for _ in range(seen & FREE):
                    to += step
                    state.moves[ply, count] = source << 7 | to
                    count += 1
            seen >>= WAY_SHIFT
    return count


@part
def generate(state, row, side, ply, count, captures):
    """Append pseudo-legal captures, or quiet moves, to `moves[ply]`; return the new count."""
    board = state.boards[row]
    for man in range(state.men_count[side]):
        number = state.men[side, man]
        source = np.int64(state.squares[row, number])
        if source < 0:
            continue
        code = np.int64(state.codes[number])
        if code & 7 == ROOK or code & 7 == CANNON:
            count = _slide(state, row, ply, count, source, code, captures)
            continue
        i = 0
        while TARGETS[code, source, i] >= 0:
            target, leg = TARGETS[code, source, i], LEGS[code, source, i]
            i += 1
            # Test the target before the leg, because it decides more often.
            taken = board[target]
            if captures:
                if taken == EMPTY or taken >> 3 == side:
                    continue
            elif taken != EMPTY:
                continue
            if leg >= 0 and board[leg] != EMPTY:
                continue
            state.moves[ply, count] = source << 7 | target
            count += 1
    return count
