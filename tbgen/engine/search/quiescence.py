# mypy: allow-untyped-defs, allow-untyped-calls
"""Quiescence: captures until nothing is hanging, so that the evaluation is asked in peace.

The side to move may also stand pat, unless it is in check: then every evasion is tried, and none
means mate. Captures that lose material at first sight, or that cannot bring the score up to
alpha, are left out. Repetitions need no judge here: a capture lies behind every position but the
first, and the search has judged that one.
"""

from __future__ import annotations

import numpy as np

from tbgen.compiling.jit import borrowing_kernel
from tbgen.engine.search.evaluation import EXCHANGE_VALUES, evaluate
from tbgen.engine.search.ordering import next_move, start_moves
from tbgen.engine.search.safety import is_safe
from tbgen.engine.search.scores import INFINITE, MATE
from tbgen.engine.search.state import MAX_PLY, push
from tbgen.referee.record import CHECKED

_MARGIN = 150
"""What a capture may bring beyond the value of the piece it takes."""


@borrowing_kernel
def quiesce(state, row, side, alpha, beta):
    """The score of a position once the captures have been made; fail-soft."""
    ply = row - state.root
    state.nodes += 1
    if ply > state.deepest:
        state.deepest = ply
    if ply >= MAX_PLY:
        return np.int64(evaluate(state, row, side, alpha, beta))
    checked = state.log[row, CHECKED] != 0
    best = np.int64(-INFINITE)
    guess = best
    if checked:
        best = ply - MATE
    else:
        guess = np.int64(evaluate(state, row, side, alpha, beta))
        best = guess
        if best >= beta:
            return best
        alpha = max(alpha, best)
    start_moves(state, ply, 0, not checked)
    while True:
        move = next_move(state, row, side, ply)
        if move == 0:
            break
        source, target = move >> 7, move & 127
        if not checked:
            hope = guess + EXCHANGE_VALUES[state.boards[row, target]] + _MARGIN
            if hope <= alpha:
                best = max(best, hope)
                continue
        if not is_safe(state, row, side, source, target):
            continue
        push(state, row, side, source, target)
        score = -quiesce(state, row + 1, 1 - side, -beta, -alpha)
        if score > best:
            best = score
            if score >= beta:
                break
            alpha = max(alpha, score)
    return best
