# mypy: allow-untyped-defs, allow-untyped-calls
"""King safety after a move (legality), and detection of checks.

Results equal those of `tbgen.rules.moves.is_safe_after` and `tbgen.rules.attacks.in_check`, but
are looked up outward from the king's square. Advisors and elephants never attack a king.

    king not in check before   only new attacks are tested: lines that the move changes, knights
                               whose leg it frees, and the moved piece
    king moves or in check     all attacks are tested (`_is_king_attacked`)

The counts of `scripts/measure/perft.py` verify the legality of moves; a test verifies checks.
"""

from __future__ import annotations

import numpy as np

from tbgen.compiling.jit import part
from tbgen.engine.search.geometry import (
    CANNON,
    DIRECTION_TO,
    DISTANCES,
    EXPOSES_KING,
    FILE_OF,
    FIRST_SHIFT,
    FREE,
    KING,
    KNIGHT,
    PAWN,
    RANK_OF,
    ROOK,
    SECOND_SHIFT,
    SIGHTS,
    SOURCE_LEGS,
    SOURCES,
    STEPS,
    WAY_SHIFT,
)
from tbgen.indexing.squares import EMPTY, RANKS
from tbgen.referee.record import CHECKED

_NOWHERE = -1  # no square, or no direction


@part
def _is_attacked_by_pawn(state, row, king, side):
    """Return whether a pawn attacks the king of a side."""
    # Pawns capture forward, and sideways in the opponent's half, where this palace is.
    board, pawn = state.boards[row], 8 - 8 * side + PAWN
    return board[king + 1] == pawn or board[king - 1] == pawn or board[king + 9 - 18 * side] == pawn


@part
def _is_attacked_by_knight(state, row, king, side):
    """Return whether a knight attacks the king of a side."""
    board, knight = state.boards[row], 8 - 8 * side + KNIGHT
    i = 0
    while SOURCES[KNIGHT, king, i] >= 0:
        if (
            board[SOURCES[KNIGHT, king, i]] == knight
            and board[SOURCE_LEGS[KNIGHT, king, i]] == EMPTY
        ):
            return True
        i += 1
    return False


@part
def _is_attacked_from(state, row, king, side, direction, left, come):
    """Return whether a line piece attacks a side's king from one direction, or the kings face.

    direction : int64; index of `STEPS`, or `_NOWHERE`, which returns False
    left, come : int64; source and target of a move of this side that `state.occupancy` of the row
        does not contain yet; `_NOWHERE` for no move
    """
    if direction < 0:
        return False
    file, rank = np.int64(FILE_OF[king]), np.int64(RANK_OF[king])
    if direction < 2:
        place, taken = rank, np.int64(state.occupancy[row, RANKS + file])
        if left >= 0:
            taken &= ~(np.int64(FILE_OF[left] == file) << RANK_OF[left])
            taken |= np.int64(FILE_OF[come] == file) << RANK_OF[come]
    else:
        place, taken = file, np.int64(state.occupancy[row, rank])
        if left >= 0:
            taken &= ~(np.int64(RANK_OF[left] == rank) << FILE_OF[left])
            taken |= np.int64(RANK_OF[come] == rank) << FILE_OF[come]
    seen = np.int64(SIGHTS[direction >> 1, place, taken]) >> (direction & 1) * WAY_SHIFT
    # Without a piece the distance is 0, and the square is the king's own.
    first = king + STEPS[direction] * (seen >> FIRST_SHIFT & FREE)
    second = king + STEPS[direction] * (seen >> SECOND_SHIFT & FREE)
    enemy, board = 8 - 8 * side, state.boards[row]
    if first != come and (board[first] == enemy + ROOK or board[first] == enemy + KING):
        return True
    return second != come and board[second] == enemy + CANNON


@part
def _is_king_attacked(state, row, king, side, source, target):
    """Return whether the king of a side is attacked by any piece, or faces the other king.

    source, target : int64; a move of this side that the row's board contains, but not yet its masks
        `state.occupancy`
    """
    for direction in range(4):
        if _is_attacked_from(state, row, king, side, direction, source, target):
            return True
    return _is_attacked_by_pawn(state, row, king, side) or _is_attacked_by_knight(
        state, row, king, side
    )


@part
def gives_check(state, row, side, source, target):
    """Return whether the move that led to a row gives check; the checked king was safe before.

    side : int64; the side that has moved
    """
    other = 1 - side
    king = np.int64(state.squares[row, state.kings[other]])
    if not EXPOSES_KING[king, source] and not EXPOSES_KING[king, target]:
        return False
    left, come = np.int64(DIRECTION_TO[king, source]), np.int64(DIRECTION_TO[king, target])
    if _is_attacked_from(state, row, king, other, left, _NOWHERE, _NOWHERE):
        return True
    if come != left and _is_attacked_from(state, row, king, other, come, _NOWHERE, _NOWHERE):
        return True
    kind = state.boards[row, target] & 7
    if kind == PAWN and _is_attacked_by_pawn(state, row, king, other):
        return True
    if kind == KNIGHT or DISTANCES[king, source] == 1:
        return _is_attacked_by_knight(state, row, king, other)
    return False


@part
def _stays_safe(state, row, side, king, source, target):
    """Return whether a safe king stays safe after a pseudo-legal move of another own piece."""
    left, come = np.int64(DIRECTION_TO[king, source]), np.int64(DIRECTION_TO[king, target])
    if _is_attacked_from(state, row, king, side, left, source, target):
        return False
    if come != left and _is_attacked_from(state, row, king, side, come, source, target):
        return False
    if left >= 0 or DISTANCES[king, source] != 1:
        return True
    # The move may free the leg of a knight, unless it captures that knight.
    i, knight = 0, 8 - 8 * side + KNIGHT
    while SOURCES[KNIGHT, king, i] >= 0:
        at = SOURCES[KNIGHT, king, i]
        leg = SOURCE_LEGS[KNIGHT, king, i]
        if leg == source and at != target and state.boards[row, at] == knight:
            return False
        i += 1
    return True


@part
def is_safe(state, row, side, source, target):
    """Return whether the mover's king is safe after a pseudo-legal move; restores the row."""
    board = state.boards[row]
    king = np.int64(state.squares[row, state.kings[side]])
    if source == king:
        king = target
    elif state.log[row, CHECKED] == 0:
        if not EXPOSES_KING[king, source] and not EXPOSES_KING[king, target]:
            return True
        return _stays_safe(state, row, side, king, source, target)
    moved, taken = board[source], board[target]
    board[target] = moved
    board[source] = EMPTY
    safe = not _is_king_attacked(state, row, king, side, source, target)
    board[source] = moved
    board[target] = taken
    return safe
