# mypy: allow-untyped-defs, allow-untyped-calls
"""King safety after a move (legality), and detection of checks.

Results equal those of `tbgen.rules.moves.is_safe_after` and `tbgen.rules.attacks.in_check`, but
only the lines through the king, and squares from which pawns and knights attack it, are looked up.
Advisors and elephants never attack a king.

    king not in check before   only new attacks are tested: lines that the move changes, knights
                               whose leg it frees, and the moved piece if it is the attacker's
    king moves or in check     all attacks are tested (`_is_king_attacked`)

The private functions test a row in which the move, from `source` to `target`, has been made on the
board. `side` is the side of the king.
"""

from __future__ import annotations

import numpy as np

from tbgen.compiling.jit import part
from tbgen.engine.search.geometry import (
    CANNON,
    DIRECTION_TO,
    DISTANCES,
    EXPOSES_KING,
    FIRST_SHIFT,
    FREE,
    KING,
    KNIGHT,
    LINE_OF,
    PAWN,
    PLACE_OF,
    ROOK,
    SECOND_SHIFT,
    SIGHTS,
    SOURCE_LEGS,
    SOURCES,
    STEPS,
    WAY_SHIFT,
)
from tbgen.indexing.squares import EMPTY
from tbgen.referee.record import CHECKED


@part
def _is_attacked_by_pawn(state, row, king, side):
    """Return whether a pawn attacks the king of a side."""
    # A pawn captures forward, and sideways in the opponent's half, which has the king's palace.
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
def _is_attacked_from(state, row, king, side, direction, source, target):
    """Return whether a rook or cannon attacks a side's king from one direction, or the kings face.

    direction : int64; direction from the king, an index of `STEPS`; -1 returns False
    source, target : int64; the move; the row's `occupancy` may be that before it or after it
    """
    if direction < 0:
        return False
    axis = direction >> 1
    line = LINE_OF[axis, king]
    taken = np.int64(state.occupancy[row, line])
    taken &= ~(np.int64(LINE_OF[axis, source] == line) << PLACE_OF[axis, source])
    taken |= np.int64(LINE_OF[axis, target] == line) << PLACE_OF[axis, target]
    seen = np.int64(SIGHTS[axis, PLACE_OF[axis, king], taken]) >> (direction & 1) * WAY_SHIFT
    # Without a piece the distance is 0, and the square is the king's own.
    first = king + STEPS[direction] * (seen >> FIRST_SHIFT & FREE)
    second = king + STEPS[direction] * (seen >> SECOND_SHIFT & FREE)
    enemy, board = 8 - 8 * side, state.boards[row]
    if board[first] == enemy + ROOK or board[first] == enemy + KING:
        return True
    return board[second] == enemy + CANNON


@part
def _is_attacked_after(state, row, king, side, source, target):
    """Return whether a move makes an attack by rook or cannon on a king, or lets the kings face.

    Only the lines that the move changes are tested.
    """
    left, come = np.int64(DIRECTION_TO[king, source]), np.int64(DIRECTION_TO[king, target])
    if _is_attacked_from(state, row, king, side, left, source, target):
        return True
    return come != left and _is_attacked_from(state, row, king, side, come, source, target)


@part
def _is_king_attacked(state, row, king, side, source, target):
    """Return whether a king is attacked or faces the other king after a move; tests all attacks."""
    for direction in range(4):
        if _is_attacked_from(state, row, king, side, direction, source, target):
            return True
    return _is_attacked_by_pawn(state, row, king, side) or _is_attacked_by_knight(
        state, row, king, side
    )


@part
def gives_check(state, row, side, source, target):
    """Return whether the move that led to a row gives check; the opponent's king was safe before.

    side : int64; the side that has moved
    """
    other = 1 - side
    king = np.int64(state.squares[row, state.kings[other]])
    if not EXPOSES_KING[king, source] and not EXPOSES_KING[king, target]:
        return False
    if _is_attacked_after(state, row, king, other, source, target):
        return True
    kind = state.boards[row, target] & 7
    if kind == PAWN and _is_attacked_by_pawn(state, row, king, other):
        return True
    if kind == KNIGHT or DISTANCES[king, source] == 1:
        return _is_attacked_by_knight(state, row, king, other)
    return False


@part
def is_safe(state, row, side, source, target):
    """Return whether a side's pseudo-legal move leaves its own king safe; restores the board."""
    board = state.boards[row]
    king = np.int64(state.squares[row, state.kings[side]])
    tests_all = source == king or state.log[row, CHECKED] != 0
    if not tests_all and not EXPOSES_KING[king, source] and not EXPOSES_KING[king, target]:
        return True
    moved, taken = board[source], board[target]
    board[target] = moved
    board[source] = EMPTY
    if tests_all:
        king = target if source == king else king
        attacked = _is_king_attacked(state, row, king, side, source, target)
    else:
        attacked = _is_attacked_after(state, row, king, side, source, target)
        if not attacked and DISTANCES[king, source] == 1:
            # The move may free the leg of a knight.
            attacked = _is_attacked_by_knight(state, row, king, side)
    board[source] = moved
    board[target] = taken
    return not attacked
