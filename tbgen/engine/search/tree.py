# mypy: allow-untyped-defs, allow-untyped-calls
"""Principal variation search; a position whose value is known is not searched.

    known value      a verdict or a table's value ends the line (`judging`)
    check            a position in check is searched one ply deeper
    depth 0          quiescence search: captures, or all evasions of a check; a side that is not in
                     check may also stop, and take the static evaluation
    hash table       a stored bound causes a cutoff if its depth is enough or its score decided;
                     never on the principal variation
    selectivity      pruning by estimate and null move, outside the principal variation
    moves            in the order of `ordering`, with late move reductions

Scores are relative to the side to move and fail-soft. The score of `search` is meaningless once the
search is stopped. A decided score (`scores`) holds at any depth, since it depends on no pruned
move. A node is on the *principal variation* if its window is wider than a null window, beta =
alpha + 1.
"""

from __future__ import annotations

import numpy as np

from tbgen.compiling.jit import borrowing_kernel, part, recursive_part
from tbgen.engine.search import selectivity
from tbgen.engine.search import transposition as entry
from tbgen.engine.search.evaluation import EXCHANGE_VALUES, evaluate
from tbgen.engine.search.judging import CLEAN, table_score, verdict_score
from tbgen.engine.search.ordering import next_move, reward, start_moves
from tbgen.engine.search.safety import is_safe
from tbgen.engine.search.scores import INFINITE, MATE, MAX_EVALUATION, UNKNOWN
from tbgen.engine.search.state import MAX_PLY, key_after, push, push_null
from tbgen.indexing.squares import EMPTY, SQUARES
from tbgen.referee.record import CHECKED

_IIR_DEPTH = 4
"""Least depth of internal iterative reduction: a node without hash move is searched a ply less."""
_MARGIN = 150
"""Margin of delta pruning: assumed largest gain of a capture beyond the captured piece's value."""


@part
def _store_pv(state, ply, move):
    """Store in `pv[ply]` the move, followed by the principal variation of the next ply."""
    state.pv[ply, 0] = move
    length = state.pv_length[ply + 1]
    for i in range(length):
        state.pv[ply, i + 1] = state.pv[ply + 1, i]
    state.pv_length[ply] = length + 1


@part
def _begin_node(state, shared, row, side, beta):
    """Start a node; return its score by verdict or table, or `UNKNOWN` if it must be searched.

    Returns 0 once the search is stopped, also by the node limit.
    """
    ply = row - state.root
    state.depends[ply] = CLEAN
    state.pv_length[ply] = 0
    if state.nodes >= state.node_limit:
        state.stop = 1
    if state.stop != 0:
        return np.int64(0)
    score = verdict_score(state, row, side, beta)
    if score == UNKNOWN and state.table_pieces > 0:
        score = table_score(state, shared, row, side)
    return score


@part
def _cutoff_score(state, ply, estimate, data, depth, alpha, beta):
    """Return the score if the hash table or the estimate causes a cutoff, else `UNKNOWN`.

    There are cutoffs only in a null window. Unless the hash table causes one, stores the estimate
    in `state.estimate[ply]`. An undecided score of the hash table replaces the estimate if that
    score is an upper bound below the estimate, or a lower bound above it.

    estimate : int64; the static evaluation, or `NO_ESTIMATE`, which is not replaced
    """
    narrow = beta - alpha == 1
    if data != 0:
        if narrow:
            known = entry.cutoff_score(state, data, ply, depth, alpha, beta)
            if known != UNKNOWN:
                return known
        score = entry.score_of(data, ply)
        refutes = entry.bound_of(data) & (entry.UPPER if score < estimate else entry.LOWER)
        if estimate != selectivity.NO_ESTIMATE and abs(score) <= MAX_EVALUATION and refutes:
            estimate = score
    state.estimate[ply] = estimate
    if narrow and selectivity.is_reverse_futile(state, ply, depth, beta):
        return np.int64(estimate)
    return UNKNOWN


@part
def play(state, row, side, move):
    """Make a move, and store its piece and target in `played` of the next ply, for `ordering`."""
    source, target = move >> 7, move & 127
    kind = np.int64(state.boards[row, source] & 7)
    state.played[row - state.root + 1] = kind * SQUARES + target
    push(state, row, side, source, target)


@part
def _store_result(state, shared, row, depth, bound, score, move):
    """Store a node's score in the hash table; only its move if it depends on earlier rows."""
    ply = row - state.root
    if state.depends[ply] >= row:
        entry.store(state, shared, row, ply, depth, bound, score, move)
    elif move != 0:
        entry.store_move(state, shared, row, move)


@recursive_part
def quiesce(state, shared, row, side, alpha, beta):
    """Return the score of a position by quiescence search, fail-soft.

    In check, all evasions are searched. Otherwise the side to move may stand pat (take the static
    evaluation), and only captures that lose no material by static exchange evaluation are searched.
    Except in full width, captures that are unlikely to raise the score above alpha are left out,
    too (delta pruning). At the maximum ply the score is the static evaluation.
    """
    # Repetitions are not tested: `search` has judged the first position, and a capture comes before
    # every later one. So scores do not depend on the path to the first, and may be stored.
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


@part
def _static_estimate(state, row, side):
    """Return the static evaluation of a node; `NO_ESTIMATE` in check and in a full-width search."""
    if state.log[row, CHECKED] != 0 or state.full_width != 0:
        return np.int64(selectivity.NO_ESTIMATE)
    return np.int64(evaluate(state, row, side))


@recursive_part
def search(state, shared, row, side, depth, alpha, beta, may_pass):
    """Return a node's score (module's docstring); store its principal variation in `pv[ply]`."""
    ply, narrow = row - state.root, beta - alpha == 1
    known = _begin_node(state, shared, row, side, beta)
    if known != UNKNOWN:
        return known
    if state.log[row, CHECKED] != 0:
        depth += 1
    if depth <= 0 or ply >= MAX_PLY:
        return quiesce(state, shared, row, side, alpha, beta)
    state.nodes += 1
    # Evaluate before the look-up, while the bucket is prefetched.
    estimate = _static_estimate(state, row, side)
    data = entry.look_up(state, shared, row)
    known = _cutoff_score(state, ply, estimate, data, depth, alpha, beta)
    if known != UNKNOWN:
        return known
    # Recursive calls must not pass literals (`recursive_part`).
    yes, no = ply >= 0, ply < 0
    if narrow:
        if selectivity.is_razored(state, ply, depth, alpha):
            score = quiesce(state, shared, row, side, alpha, beta)
            if score <= alpha:
                return score
        less = np.int64(selectivity.null_depth(state, row, side, depth, beta))
        if may_pass and less >= 0:
            push_null(state, row)
            state.played[ply + 1] = 0
            score = -search(state, shared, row + 1, 1 - side, less, -beta, 1 - beta, no)
            if score >= beta and state.stop == 0:
                state.depends[ply] = state.depends[ply + 1]
                return min(score, MAX_EVALUATION)
    if depth >= _IIR_DEPTH and entry.move_of(data) == 0 and state.full_width == 0:
        depth -= 1
    bound, best, best_move = entry.UPPER, ply - MATE, np.int64(0)
    depends, searched = np.int64(CLEAN), np.int64(0)
    start_moves(state, ply, entry.move_of(data), no)
    while best < beta:
        move = next_move(state, row, side, ply)
        if move == 0:
            break
        if narrow and selectivity.is_late(state, row, depth, searched, best):
            break
        if narrow and selectivity.is_pruned(state, row, side, depth, searched, move, alpha, best):
            continue
        # Prefetch: legality and making the move take about as long as the memory access.
        entry.prefetch_bucket(shared, key_after(state, row, move >> 7, move & 127))
        if not is_safe(state, row, side, move >> 7, move & 127):
            continue
        play(state, row, side, move)
        less = depth - 1 - selectivity.reduction(state, row, depth, searched, move, narrow)
        window = alpha + 1 if searched > 0 else beta
        while True:
            score = -search(state, shared, row + 1, 1 - side, less, -window, -alpha, yes)
            full = less == depth - 1
            if score <= alpha or (full and (window == beta or score >= beta)):
                break
            # Fail high: search again at full depth, then with the full window.
            if full:
                window = beta
            less = depth - 1
        if state.stop != 0:
            return np.int64(0)
        searched += 1
        depends = min(depends, state.depends[ply + 1])
        if score > best:
            best = score
            if score > alpha:
                alpha, best_move, bound = score, move, entry.EXACT
                _store_pv(state, ply, move)
    if best >= beta:
        # The cutoff depends on one move only.
        bound, depends = entry.LOWER, state.depends[ply + 1]
        if best_move != 0 and state.boards[row, best_move & 127] == EMPTY:
            reward(state, row, ply, best_move, depth)
    state.depends[ply] = depends
    _store_result(state, shared, row, depth, bound, best, best_move)
    return best


@borrowing_kernel
def search_root(states, shared, moves, first, depth, low, high):
    """Search to `depth` plies the root moves from index `first` on; return the score, fail-soft.

    moves : int32 (n,), inout; legal moves; the best move is moved to index `first`, followed by
        earlier best moves
    first : int64; moves before this index are left out: they have lines of their own
    low, high : int64; the aspiration window

    A move that raises the score above `low` is stored with its line in `pv[0]`; without such a move
    `pv_length[0]` is 0. A stopped search returns the best score of the moves that were searched to
    the end, `-INFINITE` without any.
    """
    state = states[0]
    row, side = state.root, state.root_side
    state.pv_length[0] = 0
    state.estimate[0] = _static_estimate(state, row, side)
    best, alpha = np.int64(-INFINITE), low
    i = first
    while i < len(moves) and best < high:
        move = np.int64(moves[i])
        play(state, row, side, move)
        window = alpha + 1 if i > first else high
        while True:
            score = -search(
                state, shared, row + 1, 1 - side, depth - 1, -window, -alpha, i >= first
            )
            if score <= alpha or score >= high or window == high:
                break
            window = high
        if state.stop != 0:
            break
        best = max(best, score)
        if score > alpha:
            alpha = score
            _store_pv(state, np.int64(0), move)
            for j in range(i, first, -1):
                moves[j] = moves[j - 1]
            moves[first] = move
        i += 1
    return best
