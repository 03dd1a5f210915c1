# mypy: allow-untyped-defs, allow-untyped-calls
"""Safety of the mover's king after a move, and checks that a move gives.

The answers of `tbgen.rules.moves.is_safe_after` and `tbgen.rules.attacks.in_check`, looked up
outward from a king whose square is known. Advisors and elephants never reach the other palace.

    a king that was safe      attacked from now on only along the lines on which a piece has left
                              or come, by a knight whose leg has become free, or by what has moved
    a king that moves, or     asked from all sides (`_is_king_attacked`)
    was in check

The counts of `perft` hold the two together, and a test every check of random games.
"""

from __future__ import annotations

import numpy as np

from tbgen.compiling.jit import part
from tbgen.engine.search.geometry import (
    CONCERNS,
    DISTANCES,
    FILE_OF,
    FIRST_SHIFT,
    FREE,
    RANK_OF,
    SECOND_SHIFT,
    SIGHTS,
    SOURCE_LEGS,
    SOURCES,
    STEPS,
    TOWARDS,
    WAY_SHIFT,
)
from tbgen.engine.search.kinds import CANNON, KING, KNIGHT, PAWN, ROOK
from tbgen.indexing.squares import EMPTY, RANKS
from tbgen.referee.record import CHECKED

_NOWHERE = -1
"""In place of a square or a direction: none."""


@part
def _is_attacked_by_pawn(state, row, king, side):
    """Return whether a pawn attacks the king of a side.

    king : int64; its square
    """
    # A pawn takes forward, and sideways past the river, where this king's palace is.
    board, pawn = state.boards[row], 8 - 8 * side + PAWN
    return board[king + 1] == pawn or board[king - 1] == pawn or board[king + 9 - 18 * side] == pawn


@part
def _is_attacked_by_knight(state, row, king, side):
    """Return whether a knight attacks the king of a side.

    king : int64; its square
    """
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
    """Return whether the king of a side is attacked from a direction, or faces the other.

    king : int64; its square
    direction : int64; of `STEPS`, or `_NOWHERE`, from where nothing attacks
    left, come : int64; squares that a piece of this side leaves and comes to, though the row has
        it where it was; `_NOWHERE` for a row as it is
    """
    if direction < 0:
        return False
    file, rank = np.int64(FILE_OF[king]), np.int64(RANK_OF[king])
    if direction < 2:
        place, taken = rank, np.int64(state.lines[row, RANKS + file])
        if left >= 0:
            taken &= ~(np.int64(FILE_OF[left] == file) << RANK_OF[left])
            taken |= np.int64(FILE_OF[come] == file) << RANK_OF[come]
    else:
        place, taken = file, np.int64(state.lines[row, rank])
        if left >= 0:
            taken &= ~(np.int64(RANK_OF[left] == rank) << FILE_OF[left])
            taken |= np.int64(RANK_OF[come] == rank) << FILE_OF[come]
    seen = np.int64(SIGHTS[direction >> 1, place, taken]) >> (direction & 1) * WAY_SHIFT
    # Where there is no piece, it is the king's own square.
    first = king + STEPS[direction] * (seen >> FIRST_SHIFT & FREE)
    second = king + STEPS[direction] * (seen >> SECOND_SHIFT & FREE)
    enemy, board = 8 - 8 * side, state.boards[row]
    if first != come and (board[first] == enemy + ROOK or board[first] == enemy + KING):
        return True
    return second != come and board[second] == enemy + CANNON


@part
def _is_king_attacked(state, row, king, side, source, target):
    """Return whether the king of a side is attacked from anywhere, or faces the other.

    king : int64; its square
    source, target : int64; of a move that the board shows and the lines do not
    """
    for direction in range(4):
        if _is_attacked_from(state, row, king, side, direction, source, target):
            return True
    return _is_attacked_by_pawn(state, row, king, side) or _is_attacked_by_knight(
        state, row, king, side
    )


@part
def gives_check(state, row, side, source, target):
    """Return whether the move that led to a row gives check; the other king was safe before.

    side : int64; who has moved
    """
    other = 1 - side
    king = np.int64(state.squares[row, state.kings[other]])
    if not CONCERNS[king, source] and not CONCERNS[king, target]:
        return False
    left, come = np.int64(TOWARDS[king, source]), np.int64(TOWARDS[king, target])
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
    """Return whether a safe king stays so after a pseudo-legal move of another of its pieces.

    king : int64; its square
    """
    left, come = np.int64(TOWARDS[king, source]), np.int64(TOWARDS[king, target])
    if _is_attacked_from(state, row, king, side, left, source, target):
        return False
    if come != left and _is_attacked_from(state, row, king, side, come, source, target):
        return False
    if left >= 0 or DISTANCES[king, source] != 1:
        return True
    # A leg becomes free: of a knight that is not taken at the same time.
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
    """Return whether the mover's king is safe after a pseudo-legal move; changes nothing."""
    board = state.boards[row]
    king = np.int64(state.squares[row, state.kings[side]])
    if source == king:
        king = target
    elif state.log[row, CHECKED] == 0:
        if not CONCERNS[king, source] and not CONCERNS[king, target]:
            return True
        return _stays_safe(state, row, side, king, source, target)
    moved, taken = board[source], board[target]
    board[target] = moved
    board[source] = EMPTY
    safe = not _is_king_attacked(state, row, king, side, source, target)
    board[source] = moved
    board[target] = taken
    return safe
