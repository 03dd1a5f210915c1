# mypy: allow-untyped-defs, allow-untyped-calls
"""Quiescence search: captures only, until a position is quiet enough for a static evaluation.

The side to move may stand pat (take the static evaluation) unless it is in check. In check all
evasions are searched; without any it is mate. Left out are captures that lose material by static
exchange evaluation, and captures that cannot raise the score to alpha (delta pruning). Repetitions
are not tested: the search has judged the first position, and every later one follows a capture, or
evasions of the check that a capture gave. So values from the hash table always apply.
"""

from __future__ import annotations

import numpy as np

from tbgen.compiling.jit import recursive_part
from tbgen.engine.search import transposition as entry
from tbgen.engine.search.evaluation import EXCHANGE_VALUES, evaluate
from tbgen.engine.search.judging import table_score
from tbgen.engine.search.ordering import next_move, start_moves
from tbgen.engine.search.safety import is_safe
from tbgen.engine.search.scores import INFINITE, MATE, UNKNOWN
from tbgen.engine.search.state import MAX_PLY, key_after, push
from tbgen.referee.record import CHECKED

_MARGIN = 150
"""Margin of delta pruning: assumed largest gain of a capture beyond the captured piece's value."""


@recursive_part
def quiesce(state, shared, row, side, alpha, beta):
    """Return the score of a position by quiescence search; fail-soft."""
    ply = row - state.root
    state.nodes += 1
    if ply > state.deepest:
        state.deepest = ply
    if ply >= MAX_PLY:
        return np.int64(evaluate(state, row, side))
    if state.table_pieces > 0:
        known = table_score(state, shared, row, side)
        if known != UNKNOWN:
            return known
    checked = state.log[row, CHECKED] != 0
    estimate = np.int64(-INFINITE)
    if not checked:
        # Evaluate before the look-up, while the bucket is prefetched; most nodes need both.
        estimate = np.int64(evaluate(state, row, side))
    data = entry.look_up(state, shared, row)
    if data != 0 and beta - alpha == 1:
        known = entry.cutoff_score(state, data, ply, 0, alpha, beta)
        if known != UNKNOWN:
            return known
    best, best_move, bound = estimate, np.int64(0), entry.UPPER
    if checked:
        best = ply - MATE
    elif best >= beta:
        return best
    elif best > alpha:
        alpha, bound = best, entry.EXACT
    first = entry.move_of(data) if checked else np.int64(0)
    start_moves(state, ply, first, not checked)
    while best < beta:
        move = next_move(state, row, side, ply)
        if move == 0:
            break
        source, target = move >> 7, move & 127
        if not checked and state.full_width == 0:
            hope = estimate + EXCHANGE_VALUES[state.boards[row, target]] + _MARGIN
            if hope <= alpha:
                best = max(best, hope)
                continue
        entry.prefetch_bucket(shared, key_after(state, row, source, target))
        if not is_safe(state, row, side, source, target):
            continue
        push(state, row, side, source, target)
        score = -quiesce(state, shared, row + 1, 1 - side, -beta, -alpha)
        if score > best:
            best = score
            if score > alpha:
                alpha, best_move, bound = score, move, entry.EXACT
    if state.stop == 0:
        if best >= beta:
            bound = entry.LOWER
        entry.store(state, shared, row, ply, 0, bound, best, best_move)
    return best
