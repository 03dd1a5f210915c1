# mypy: allow-untyped-defs, allow-untyped-calls
"""Static exchange evaluation: result of a capture after the best recaptures on its square.

Each side captures with its cheapest attacker, and stops where a capture would lose material. Pieces
that have captured leave their squares, which opens lines, removes mounts and frees legs. Pins,
checks and threats elsewhere are ignored. A king captures only unprotected pieces.
"""

from __future__ import annotations

from tbgen.compiling.jit import part
from tbgen.engine.search.evaluation import EXCHANGE_VALUES
from tbgen.engine.search.geometry import (
    ADVISOR,
    CANNON,
    ELEPHANT,
    KING,
    KNIGHT,
    LENGTHS,
    PAWN,
    ROOK,
    SOURCE_LEGS,
    SOURCES,
    STEPS,
)
from tbgen.indexing.squares import EMPTY


@part
def _short_range_attacker(board, code, target):
    """Return the square of a piece with this code that attacks the target, or -1.

    code : int64; a code of a short-range piece (`geometry`)
    """
    i = 0
    while SOURCES[code, target, i] >= 0:
        source, leg = SOURCES[code, target, i], SOURCE_LEGS[code, target, i]
        if board[source] == code and (leg < 0 or board[leg] == EMPTY):
            return source
        i += 1
    return -1


@part
def _line_attacker(board, side, target):
    """Return the square of a side's cannon that attacks the target, else of a rook, else -1."""
    rook = -1
    for direction in range(4):
        to, left = target, LENGTHS[target, direction]
        mounted = False
        while left > 0:
            to += STEPS[direction]
            left -= 1
            code = board[to]
            if code == EMPTY:
                continue
            if mounted:
                if code == 8 * side + CANNON:
                    return to
                break
            if code == 8 * side + ROOK:
                rook = to
            mounted = True
    return rook


@part
def _cheapest_attacker(board, side, target):
    """Return the square of a side's cheapest piece that attacks the target, or -1."""
    for kind in (PAWN, ADVISOR, ELEPHANT, KNIGHT):
        source = _short_range_attacker(board, 8 * side + kind, target)
        if source >= 0:
            return source
    source = _line_attacker(board, side, target)
    if source >= 0:
        return source
    return _short_range_attacker(board, 8 * side + KING, target)


@part
def is_sound(state, row, side, source, target):
    """Return whether a capture loses no material by static exchange; restores the board."""
    board = state.boards[row]
    # `taker` is the side that captured last, and `balance` its gain if its capturing piece is lost
    # for nothing.
    balance = EXCHANGE_VALUES[board[target]] - EXCHANGE_VALUES[board[source]]
    taker, lifted = side, 0
    state.lifted[0, 0], state.lifted[0, 1] = source, board[source]
    board[source] = EMPTY
    while balance < 0:
        # The other side recaptures.
        at = _cheapest_attacker(board, 1 - taker, target)
        if at < 0:
            break
        taker, code = 1 - taker, board[at]
        lifted += 1
        state.lifted[lifted, 0], state.lifted[lifted, 1] = at, code
        board[at] = EMPTY
        if code & 7 == KING:
            if _cheapest_attacker(board, 1 - taker, target) >= 0:
                taker = 1 - taker
            break
        # One less, so that an equal exchange counts in favour of the side that captured first.
        balance = -balance - 1 - EXCHANGE_VALUES[code]
    for i in range(lifted + 1):
        board[state.lifted[i, 0]] = state.lifted[i, 1]
    return taker == side
