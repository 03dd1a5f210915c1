# mypy: allow-untyped-defs, allow-untyped-calls
"""Reductions and pruning by estimates; a decided score overrules all of them.

    stands_well    far above beta: cut off without a search
    null_depth     above beta even after passing: cut off after a shallow search
    stands_badly   far below alpha: only captures are searched
    reduction      late quiet moves are searched less deep at first
    is_late        near the leaves, only so many quiet moves are searched
    is_left_out    hopeless quiet moves and losing captures are left out, checks are not

Each needs an evaluation, so none applies in check or in a full-width search (`state.full_width`).
No move is left out before one has been searched that does not lose by force: so a mate or a verdict
never depends on a move that was not searched.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import part
from tbgen.engine.search.geometry import CONCERNS
from tbgen.engine.search.kinds import PHASES
from tbgen.engine.search.ordering import HISTORY_LIMIT, REST, history_of
from tbgen.engine.search.scores import INFINITE, MAX_EVALUATION
from tbgen.indexing.squares import EMPTY
from tbgen.referee.record import CHECKED

NO_GUESS = -INFINITE
"""In place of a guess: in check, or in full width."""

_DEPTHS, _COUNTS = 64, 64
_WELL_DEPTH, _WELL_MARGIN = 8, 60
_BADLY_DEPTH, _BADLY_MARGIN = 3, 160
_NULL_DEPTH, _NULL_STEP = 2, 120
_LEAST_ATTACKERS = 2
"""With fewer rooks, knights and cannons, passing may be better than every move."""
_HOPE_DEPTH, _HOPE_MARGIN, _HOPE_STEP = 6, 60, 70
_LATE_DEPTH, _LATE_COUNT = 5, 8
_LOSING_DEPTH = 5


def _reductions() -> NDArray[np.int64]:
    """int64 (64, 64): by how much the nth move of a depth is reduced, before anything else."""
    depths, counts = np.log(np.arange(1, _DEPTHS + 1)), np.log(np.arange(1, _COUNTS + 1))
    return (0.4 + depths[:, None] * counts / 2.0).astype(np.int64)


REDUCTIONS = _reductions()


@part
def is_improving(state, ply):
    """Return whether the side to move is better off than before its last move, if known."""
    return ply < 2 or state.guess[ply] > state.guess[ply - 2]


@part
def stands_well(state, ply, depth, beta):
    """Return whether the guess is so far above beta that nothing need be searched."""
    margin = _WELL_MARGIN * (depth - is_improving(state, ply))
    return (
        depth <= _WELL_DEPTH and abs(beta) <= MAX_EVALUATION and state.guess[ply] - margin >= beta
    )


@part
def stands_badly(state, ply, depth, alpha):
    """Return whether the guess is so far below alpha that only a capture may help."""
    return (
        depth <= _BADLY_DEPTH
        and abs(alpha) <= MAX_EVALUATION
        and state.guess[ply] != NO_GUESS
        and state.guess[ply] + _BADLY_MARGIN * depth <= alpha
    )


@part
def null_depth(state, row, side, depth, beta):
    """Return the depth of a null-move search; -1 where none is to be tried."""
    guess = state.guess[row - state.root]
    if depth < _NULL_DEPTH or abs(beta) > MAX_EVALUATION or guess < beta:
        return -1
    attackers = 0
    for man in range(state.men_count[side]):
        number = state.men[side, man]
        if state.squares[row, number] >= 0 and PHASES[state.codes[number]] > 0:
            attackers += 1
    if attackers < _LEAST_ATTACKERS:
        return -1
    return max(0, depth - 3 - depth // 4 - min((guess - beta) // _NULL_STEP, 3))


@part
def reduction(state, row, depth, searched, move, narrow):
    """Return the depth reduction of the first search of a late move, which has been played.

    searched : int64; how many moves came before
    narrow : bool; not on the principal variation
    """
    ply = row - state.root
    if state.full_width != 0 or depth < 2 or searched < 2:
        return 0
    if state.boards[row, move & 127] != EMPTY and state.stage[ply] != REST:
        return 0
    less = REDUCTIONS[min(depth, _DEPTHS) - 1, min(searched, _COUNTS - 1)]
    if not narrow:
        less -= 1
    elif state.guess[ply] != NO_GUESS and not is_improving(state, ply):
        less += 1
    if state.log[row, CHECKED] != 0 or state.log[row + 1, CHECKED] != 0:
        less -= 1
    if state.boards[row, move & 127] == EMPTY:
        less -= 2 * history_of(state, row, ply, move) // HISTORY_LIMIT
    return max(0, min(less, depth - 2))


@part
def is_late(state, row, depth, searched, best):
    """Return whether so many moves have been searched that no quiet one is worth it any more.

    searched : int64; how many moves came before
    best : int64; the best score so far
    """
    ply = row - state.root
    if state.guess[ply] == NO_GUESS or best < -MAX_EVALUATION or depth > _LATE_DEPTH:
        return False
    late = _LATE_COUNT + 2 * depth * depth
    if not is_improving(state, ply):
        late -= depth
    return state.stage[ply] == REST and searched >= late


@part
def is_left_out(state, row, side, depth, searched, move, alpha, best):
    """Return whether a move is not worth searching: a quiet one without hope, a capture that loses.

    searched : int64; how many moves came before
    best : int64; the best score so far
    """
    ply = row - state.root
    guess = state.guess[ply]
    if guess == NO_GUESS or best < -MAX_EVALUATION or state.stage[ply] != REST:
        return False
    king = np.int64(state.squares[row, state.kings[1 - side]])
    if CONCERNS[king, move >> 7] or CONCERNS[king, move & 127]:
        return False
    if state.boards[row, move & 127] != EMPTY:
        return depth <= _LOSING_DEPTH
    shallow = max(0, depth - REDUCTIONS[min(depth, _DEPTHS) - 1, min(searched, _COUNTS - 1)])
    return (
        shallow <= _HOPE_DEPTH
        and abs(alpha) <= MAX_EVALUATION
        and guess + _HOPE_MARGIN + _HOPE_STEP * shallow <= alpha
    )
