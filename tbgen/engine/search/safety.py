# mypy: allow-untyped-defs, allow-untyped-calls
"""Whether a move leaves the mover's king safe: what the search asks most often.

The answer of `tbgen.rules.moves.is_safe_after`, looked up outward from a king whose square is
known: along four lines for rooks, cannons and the other king, and at the squares from which a
knight or pawn would attack. Advisors and elephants never reach the other palace. The counts of
`perft` hold the two together.
"""

from __future__ import annotations

import numpy as np

from tbgen.compiling.jit import borrowing_kernel
from tbgen.engine.search.evaluation import CANNON, KNIGHT, PAWN, ROOK
from tbgen.engine.search.geometry import LENGTHS, SOURCE_LEGS, SOURCES, STEPS
from tbgen.indexing.squares import EMPTY, PieceType, piece_code

KING = piece_code(0, PieceType.KING)


@borrowing_kernel
def is_safe(state, row, side, source, target):
    """Whether the mover's king is not attacked after a pseudo-legal move; nothing is changed."""
    board = state.boards[row]
    moved, taken = board[source], board[target]
    king = np.int64(state.squares[row, state.kings[side]])
    if source == king:
        king = target
    board[target] = moved
    board[source] = EMPTY
    enemy = 8 - 8 * side
    safe = True
    for direction in range(4):
        to, left = king, LENGTHS[king, direction]
        mounted = False
        while left > 0:
            to += STEPS[direction]
            left -= 1
            code = board[to]
            if code == EMPTY:
                continue
            if mounted:
                if code == enemy + CANNON:
                    safe = False
                break
            if code == enemy + ROOK or code == enemy + KING:
                safe = False
                break
            mounted = True
    # A pawn takes forward, and sideways past the river, where this king's palace is.
    pawn = enemy + PAWN
    if board[king + 1] == pawn or board[king - 1] == pawn or board[king + 9 - 18 * side] == pawn:
        safe = False
    i = 0
    while SOURCES[KNIGHT, king, i] >= 0:
        if (
            board[SOURCES[KNIGHT, king, i]] == enemy + KNIGHT
            and board[SOURCE_LEGS[KNIGHT, king, i]] == EMPTY
        ):
            safe = False
        i += 1
    board[source] = moved
    board[target] = taken
    return safe
