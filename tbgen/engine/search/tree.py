# mypy: allow-untyped-defs, allow-untyped-calls
"""The search: principal variation search over positions that are judged first.

    known?           a verdict or a table's value ends the line (`judging`)
    depth 0          `quiescence`; in check the search goes one ply deeper instead
    hash table       a stored bound that is deep enough, or decided, cuts off; never on the
                     principal variation
    null move        a side that stands above beta even if it passes is believed
    moves            in the order of `ordering`; late quiet ones first with less depth

Scores are from the side to move's point of view, and fail soft. A decided score (`scores`) is
proven whatever the depth: no move is left out here, and a null move never claims one.
"""

from __future__ import annotations

import numpy as np

from tbgen.compiling.jit import borrowing_kernel, part
from tbgen.engine.search import transposition as entry
from tbgen.engine.search.evaluation import PHASES, evaluate
from tbgen.engine.search.judging import CLEAN, UNKNOWN, table_score, verdict_score
from tbgen.engine.search.ordering import next_move, reward, start_moves
from tbgen.engine.search.quiescence import quiesce
from tbgen.engine.search.safety import is_safe
from tbgen.engine.search.scores import INFINITE, MATE, MAX_EVALUATION
from tbgen.engine.search.state import MAX_PLY, push, push_null
from tbgen.indexing.squares import EMPTY
from tbgen.referee.record import CHECKED

_NULL_DEPTH, _NULL_REDUCTION = 3, 2
_LATE_DEPTH, _LATE_MOVE = 3, 3


@part
def _hash_score(data, ply, depth, alpha, beta):
    """The stored score if it settles the window, else `UNKNOWN`.

    data : int64; an entry of the hash table, not 0
    """
    bound, score = entry.bound_of(data), entry.score_of(data, ply)
    if entry.depth_of(data) < depth and abs(score) <= MAX_EVALUATION:
        return UNKNOWN
    if score >= beta and bound & entry.LOWER:
        return score
    if score <= alpha and bound & entry.UPPER:
        return score
    return UNKNOWN


@part
def _may_pass(state, row, side, depth, beta):
    """Whether a null move is worth trying: above beta as it stands, and with enough left.

    With fewer than two attackers passing may be better than every move.
    """
    if (
        depth < _NULL_DEPTH
        or abs(beta) > MAX_EVALUATION
        or evaluate(state, row, side, beta - 1, beta) < beta
    ):
        return False
    attackers = 0
    for man in range(state.men_count[side]):
        number = state.men[side, man]
        if state.squares[row, number] >= 0 and PHASES[state.codes[number]] > 0:
            attackers += 1
    return attackers >= 2


@part
def _reduction(state, row, depth, searched, move):
    """By how much a late quiet move is searched less deep at first.

    searched : int64; how many moves came before
    """
    if depth < _LATE_DEPTH or searched < _LATE_MOVE:
        return 0
    if state.boards[row, move & 127] != EMPTY or state.log[row + 1, CHECKED] != 0:
        return 0
    reduction = 1
    if searched >= 8:
        reduction += 1
    if depth >= 7 and searched >= 16:
        reduction += 1
    return reduction


@part
def _keep_line(state, ply, move):
    """Put a move before the line that the next ply has found."""
    state.line[ply, 0] = move
    length = state.line_length[ply + 1]
    for i in range(length):
        state.line[ply, i + 1] = state.line[ply + 1, i]
    state.line_length[ply] = length + 1


@part
def _enter(state, buffers, row, side, beta):
    """Begin a node: count it, and return what is known of it, or `UNKNOWN`."""
    ply = row - state.root
    state.depends[ply] = CLEAN
    state.line_length[ply] = 0
    if state.nodes >= state.node_limit:
        state.stop = 1
    if state.stop != 0:
        return np.int64(0)
    score = verdict_score(state, row, side, beta)
    if score == UNKNOWN and state.table_pieces > 0:
        score = table_score(state, buffers, row, side)
    return score


@borrowing_kernel
def search(state, table, buffers, row, side, depth, alpha, beta, may_pass):
    """The score of a position; 0 once the search is stopped.

    may_pass : bool; a null move may be tried: there was none just before
    """
    ply = row - state.root
    known = _enter(state, buffers, row, side, beta)
    if known != UNKNOWN:
        return known
    checked = state.log[row, CHECKED] != 0
    if checked:
        depth += 1
    if depth <= 0 or ply >= MAX_PLY:
        return quiesce(state, row, side, alpha, beta)
    state.nodes += 1
    data = entry.look_up(state, table, row)
    narrow = beta - alpha == 1
    if data != 0 and narrow:
        known = _hash_score(data, ply, depth, alpha, beta)
        if known != UNKNOWN:
            return known
    # Literals must not be handed on (see the package).
    yes, no = ply >= 0, ply < 0
    if may_pass and narrow and not checked and _may_pass(state, row, side, depth, beta):
        push_null(state, row)
        less = depth - 1 - _NULL_REDUCTION
        score = -search(state, table, buffers, row + 1, 1 - side, less, -beta, 1 - beta, no)
        if score >= beta and state.stop == 0:
            state.depends[ply] = state.depends[ply + 1]
            return min(score, MAX_EVALUATION)
    bound, best, best_move = entry.UPPER, ply - MATE, np.int64(0)
    depends, searched = np.int64(CLEAN), np.int64(0)
    start_moves(state, ply, entry.move_of(data), no)
    while best < beta:
        move = next_move(state, row, side, ply)
        if move == 0:
            break
        if not is_safe(state, row, side, move >> 7, move & 127):
            continue
        push(state, row, side, move >> 7, move & 127)
        less = depth - 1 - _reduction(state, row, depth, searched, move)
        window = beta
        if searched > 0:
            window = alpha + 1
        while True:
            score = -search(state, table, buffers, row + 1, 1 - side, less, -window, -alpha, yes)
            full = less == depth - 1
            if score <= alpha or (full and (window == beta or score >= beta)):
                break
            # Better than expected: again at full depth, then in the whole window.
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
                _keep_line(state, ply, move)
    if best >= beta:
        # The cutoff rests on one move alone.
        bound, depends = entry.LOWER, state.depends[ply + 1]
        if state.boards[row, best_move & 127] == EMPTY:
            reward(state, row, ply, best_move, depth)
    state.depends[ply] = depends
    if depends >= row:
        entry.store(state, table, row, ply, depth, bound, best, best_move)
    return best


@borrowing_kernel
def search_root(states, table, buffers, moves, first, depth):
    """Search the moves of the root from index `first` on; returns the best score.

    states : `State` (1,), inout
    moves : int32 (n,), inout; legal moves; the best comes to `first`, with its line in
        `line[0]`, and so does every move that was best for a while
    first : int64; the moves before this one are left out (they have lines of their own)

    Once the search is stopped the best of the moves searched so far; `-INFINITE` if none was.
    """
    state = states[0]
    row, side = state.root, state.root_side
    best = np.int64(-INFINITE)
    for i in range(first, len(moves)):
        move = np.int64(moves[i])
        push(state, row, side, move >> 7, move & 127)
        window, alpha = np.int64(INFINITE), best
        if i > first:
            window = best + 1
        while True:
            score = -search(
                state, table, buffers, row + 1, 1 - side, depth - 1, -window, -alpha, window > alpha
            )
            if score <= alpha or window == INFINITE:
                break
            window = np.int64(INFINITE)
        if state.stop != 0:
            break
        if score > best:
            best = score
            _keep_line(state, np.int64(0), move)
            for j in range(i, first, -1):
                moves[j] = moves[j - 1]
            moves[first] = move
    return best
