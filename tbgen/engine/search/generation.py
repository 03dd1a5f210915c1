# mypy: allow-untyped-defs, allow-untyped-calls
"""Pseudo-legal moves, captures and quiet moves apart; king's safety is for the search to ask.

The same moves as `tbgen.rules.moves.generate_moves`, from lists of pieces and tables of targets
instead of ninety squares and arithmetic; a test holds the two together.
"""

from __future__ import annotations

import numpy as np

from tbgen.compiling.jit import part
from tbgen.engine.search.geometry import (
    FIRST_SHIFT,
    FREE,
    LEGS,
    SECOND_SHIFT,
    STEPS,
    TARGETS,
    sight,
)
from tbgen.engine.search.kinds import CANNON, ROOK
from tbgen.indexing.squares import EMPTY


@part
def _slide(state, row, ply, count, source, code, captures):
    """Append the moves of a rook or cannon; returns the new count.

    count : int64; moves of the ply so far
    code : int64; what stands on `source`
    captures : bool; captures are wanted, else quiet moves
    """
    for direction in range(4):
        step, seen = STEPS[direction], sight(state, row, source, direction)
        if captures:
            away = seen >> FIRST_SHIFT & FREE
            if code & 7 == CANNON:
                # Over the mount to what is behind it.
                away = seen >> SECOND_SHIFT
            to = source + step * away
            if away != 0 and state.boards[row, to] >> 3 != code >> 3:
                state.moves[ply, count] = source << 7 | to
                count += 1
        else:
            to = source
            for _ in range(seen & FREE):
                to += step
                state.moves[ply, count] = source << 7 | to
                count += 1
    return count


@part
def generate(state, row, side, ply, count, captures):
    """Append the pseudo-legal captures, or quiet moves, of a side to `moves[ply]`.

    count : int64; moves of the ply so far
    captures : bool; captures are wanted, else quiet moves

    Returns the new count.
    """
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
            if leg >= 0 and board[leg] != EMPTY:
                continue
            taken = board[target]
            if captures:
                if taken == EMPTY or taken >> 3 == side:
                    continue
            elif taken != EMPTY:
                continue
            state.moves[ply, count] = source << 7 | target
            count += 1
    return count
