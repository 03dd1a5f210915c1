# mypy: allow-untyped-defs, allow-untyped-calls
"""Reductions and pruning by the estimate of a node (`state.estimate`).

The estimate is the static evaluation, or the score of a bound from the hash table that shows the
evaluation to be too low or too high (`tree._cutoff_score`). A position in check has no estimate:
there only `reduction` applies. In a full-width search (`state.full_width`) nothing applies.

A score is *decided* if it is a win or loss by mate, table, verdict or proof (`scores.is_decided`).
A decided score never depends on a move that was not searched: moves are pruned only once a searched
move has a score that is no decided loss, and no position is pruned against a decided bound.
"""

from __future__ import annotations

import numpy as np

from tbgen.compiling.jit import part
from tbgen.engine.search.geometry import EXPOSES_KING, PHASES
from tbgen.engine.search.ordering import HISTORY_LIMIT, REMAINING, history_of
from tbgen.engine.search.scores import INFINITE, MAX_EVALUATION
from tbgen.indexing.squares import EMPTY
from tbgen.referee.record import CHECKED

NO_ESTIMATE = -INFINITE
"""Value of `state.estimate` in check, and in a full-width search."""

# `*_DEPTH`: largest depth at which a kind of pruning applies; for the null move, the least depth.
# `_REVERSE_MARGIN`, `_RAZOR_MARGIN`: distance of the estimate from the bound, per ply of depth.
# `_FUTILITY_MARGIN`, `_FUTILITY_STEP`: this distance at depth 0, and its growth per ply.
# `_NULL_STEP`: excess of the estimate over beta that shortens the search by one more ply.
# `_LATE_COUNT`: number of moves after which all others are pruned, before the terms of `is_late`.
_REVERSE_DEPTH, _REVERSE_MARGIN = 8, 60
_RAZOR_DEPTH, _RAZOR_MARGIN = 3, 160
_NULL_DEPTH, _NULL_STEP = 2, 120
_LEAST_ATTACKERS = 2
"""Least number of rooks, knights and cannons of the side that makes a null move; with fewer,
zugzwang is likely: every move may be worse than a pass.
"""
_FUTILITY_DEPTH, _FUTILITY_MARGIN, _FUTILITY_STEP = 6, 60, 70
_LATE_DEPTH, _LATE_COUNT = 5, 8
_LOSING_DEPTH = 5

_SIZE = 64
_LOGARITHMS = np.log(np.arange(1, _SIZE + 1))
REDUCTIONS = (0.4 + _LOGARITHMS[:, None] * _LOGARITHMS / 2.0).astype(np.int64)
"""int64 (64, 64): plies by which the search of a late move is shortened, before the corrections of
`reduction`. Indices: depth - 1, number of moves searched before.
"""


@part
def is_improving(state, ply):
    """Return whether the estimate exceeds that of two plies before; True without an earlier one."""
    return ply < 2 or state.estimate[ply] > state.estimate[ply - 2]


@part
def is_reverse_futile(state, ply, depth, beta):
    """Return whether the estimate exceeds beta by enough for a cutoff (reverse futility)."""
    margin = _REVERSE_MARGIN * (depth - is_improving(state, ply))
    is_above = state.estimate[ply] - margin >= beta
    return depth <= _REVERSE_DEPTH and abs(beta) <= MAX_EVALUATION and is_above


@part
def is_razored(state, ply, depth, alpha):
    """Return whether the estimate is far below alpha at a small depth (razoring).

    A score of quiescence search of at most alpha is then the score of the node.
    """
    return (
        depth <= _RAZOR_DEPTH
        and abs(alpha) <= MAX_EVALUATION
        and state.estimate[ply] != NO_ESTIMATE
        and state.estimate[ply] + _RAZOR_MARGIN * depth <= alpha
    )


@part
def null_depth(state, row, side, depth, beta):
    """Return the depth of the search after a null move (pass); -1 where none is tried."""
    estimate = state.estimate[row - state.root]
    if depth < _NULL_DEPTH or abs(beta) > MAX_EVALUATION or estimate < beta:
        return -1
    attackers = 0
    for man in range(state.men_count[side]):
        number = state.men[side, man]
        if state.squares[row, number] >= 0 and PHASES[state.codes[number]] > 0:
            attackers += 1
    if attackers < _LEAST_ATTACKERS:
        return -1
    return max(0, depth - 3 - depth // 4 - min((estimate - beta) // _NULL_STEP, 3))


@part
def reduction(state, row, depth, searched, move, narrow):
    """Return the number of plies by which the first search of a late move is shortened.

    Quiet moves and losing captures are late after the first two moves of a node. Returns 0 for
    other moves, below depth 2 and in full width. Row + 1 has the position after the move.

    narrow : bool; a null window: not on the principal variation
    """
    ply = row - state.root
    is_quiet = state.boards[row, move & 127] == EMPTY
    if state.full_width != 0 or depth < 2 or searched < 2:
        return 0
    if not is_quiet and state.stage[ply] != REMAINING:
        return 0
    less = REDUCTIONS[min(depth, _SIZE) - 1, min(searched, _SIZE - 1)]
    if not narrow:
        less -= 1
    elif state.estimate[ply] != NO_ESTIMATE and not is_improving(state, ply):
        less += 1
    if state.log[row, CHECKED] != 0 or state.log[row + 1, CHECKED] != 0:
        less -= 1
    if is_quiet:
        less -= 2 * history_of(state, row, ply, move) // HISTORY_LIMIT
    return max(0, min(less, depth - 2))


@part
def is_late(state, row, depth, searched, best):
    """Return whether so many moves were searched that all others are pruned (late move pruning).

    True only at a small depth, and once only quiet moves and losing captures are left.
    """
    ply = row - state.root
    if state.estimate[ply] == NO_ESTIMATE or best < -MAX_EVALUATION or depth > _LATE_DEPTH:
        return False
    late = _LATE_COUNT + 2 * depth * depth
    if not is_improving(state, ply):
        late -= depth
    return state.stage[ply] == REMAINING and searched >= late


@part
def is_pruned(state, row, side, depth, searched, move, alpha, best):
    """Return whether a move is pruned: a losing capture, or a quiet move with a low estimate.

    The depth must be small, and for a quiet move the estimate of the node far below alpha. Moves
    that may give check are never pruned.
    """
    ply = row - state.root
    estimate = state.estimate[ply]
    if estimate == NO_ESTIMATE or best < -MAX_EVALUATION or state.stage[ply] != REMAINING:
        return False
    king = np.int64(state.squares[row, state.kings[1 - side]])
    if EXPOSES_KING[king, move >> 7] or EXPOSES_KING[king, move & 127]:
        return False
    if state.boards[row, move & 127] != EMPTY:
        return depth <= _LOSING_DEPTH
    shallow = max(0, depth - REDUCTIONS[min(depth, _SIZE) - 1, min(searched, _SIZE - 1)])
    return (
        shallow <= _FUTILITY_DEPTH
        and abs(alpha) <= MAX_EVALUATION
        and estimate + _FUTILITY_MARGIN + _FUTILITY_STEP * shallow <= alpha
    )
