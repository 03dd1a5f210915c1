# mypy: allow-untyped-defs, allow-untyped-calls
"""Whether a king is attacked, and whether a move leaves the mover's king safe.

The answers of `tbgen.rules.attacks.in_check` and `tbgen.rules.moves.is_safe_after`, looked up
outward from a king whose square is known: along four lines for rooks, cannons and the other king,
and at the squares from which a knight or pawn would attack. Advisors and elephants never reach the
other palace. Most moves are far from the king and are not looked at (`CONCERNS`). The counts of
`perft` hold the two together.
"""

from __future__ import annotations

import numpy as np

from tbgen.compiling.jit import part
from tbgen.engine.search.geometry import CONCERNS, LENGTHS, SOURCE_LEGS, SOURCES, STEPS
from tbgen.engine.search.kinds import CANNON, KING, KNIGHT, PAWN, ROOK
from tbgen.indexing.squares import EMPTY
from tbgen.referee.record import CHECKED


@part
def is_king_attacked(board, king, side):
    """Whether the king of a side is attacked, or faces the other.

    board : int8 (90,); piece codes
    king : int64; its square
    """
    enemy = 8 - 8 * side
    for direction in range(4):
        step, left = STEPS[direction], LENGTHS[king, direction]
        to = king
        while left > 0:
            to += step
            left -= 1
            if board[to] != EMPTY:
                break
        code = board[to]
        if to == king or code == EMPTY:
            continue
        if code == enemy + ROOK or code == enemy + KING:
            return True
        while left > 0:
            to += step
            left -= 1
            if board[to] != EMPTY:
                if board[to] == enemy + CANNON:
                    return True
                break
    # A pawn takes forward, and sideways past the river, where this king's palace is.
    pawn = enemy + PAWN
    if board[king + 1] == pawn or board[king - 1] == pawn or board[king + 9 - 18 * side] == pawn:
        return True
    i = 0
    while SOURCES[KNIGHT, king, i] >= 0:
        if (
            board[SOURCES[KNIGHT, king, i]] == enemy + KNIGHT
            and board[SOURCE_LEGS[KNIGHT, king, i]] == EMPTY
        ):
            return True
        i += 1
    return False


@part
def is_safe(state, row, side, source, target):
    """Whether the mover's king is not attacked after a pseudo-legal move; nothing is changed."""
    board = state.boards[row]
    king = np.int64(state.squares[row, state.kings[side]])
    if source == king:
        king = target
    elif state.log[row, CHECKED] == 0 and not CONCERNS[king, source] and not CONCERNS[king, target]:
        return True
    moved, taken = board[source], board[target]
    board[target] = moved
    board[source] = EMPTY
    safe = not is_king_attacked(board, king, side)
    board[source] = moved
    board[target] = taken
    return safe
