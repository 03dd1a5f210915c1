# mypy: allow-untyped-defs, allow-untyped-calls
"""Pseudo-legal moves, captures and quiet moves apart; king's safety is for the search to ask.

The same moves as `tbgen.rules.moves.generate_moves`, from lists of pieces and tables of targets
instead of ninety squares and arithmetic; a test holds the two together.
"""

from __future__ import annotations

import numpy as np

from tbgen.compiling.jit import part
from tbgen.engine.search.features import CANNON, ROOK
from tbgen.engine.search.geometry import LEGS, LENGTHS, STEPS, TARGETS
from tbgen.indexing.squares import EMPTY


@part
def _slide(state, row, ply, count, source, code, captures):
    """Append the moves of a rook or cannon; returns the new count.

    count : int64; moves of the ply so far
    code : int64; what stands on `source`
    captures : bool; captures are wanted, else quiet moves
    """
    board = state.boards[row]
    for direction in range(4):
        to, left = source, LENGTHS[source, direction]
        while left > 0:
            to += STEPS[direction]
            left -= 1
            if board[to] != EMPTY:
                break
            if not captures:
                state.moves[ply, count] = source << 7 | to
                count += 1
        if not captures or to == source or board[to] == EMPTY:
            continue
        if code & 7 == CANNON:
            # Over the mount to what is behind it.
            while left > 0:
                to += STEPS[direction]
                left -= 1
                if board[to] != EMPTY:
                    if board[to] >> 3 != code >> 3:
                        state.moves[ply, count] = source << 7 | to
                        count += 1
                    break
        elif board[to] >> 3 != code >> 3:
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
