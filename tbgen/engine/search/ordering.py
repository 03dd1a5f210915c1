# mypy: allow-untyped-defs, allow-untyped-calls
"""The moves of a position one by one, the likeliest best first.

    the hash table's move  ->  captures that lose nothing, dearest victim by cheapest attacker
    ->  quiet moves: killers of the ply, then by the history of cutoffs  ->  captures that lose

Each stage generates and ranks its moves only when it is reached: most positions that are cut off
never see their quiet moves. Quiescence asks for captures alone.
"""

from __future__ import annotations

import numpy as np

from tbgen.compiling.jit import borrowing_kernel, part
from tbgen.engine.search.evaluation import EXCHANGE_VALUES
from tbgen.engine.search.exchange import is_sound
from tbgen.engine.search.generation import generate
from tbgen.indexing.squares import EMPTY
from tbgen.rules.moves import reaches

HASH_MOVE, CAPTURES, GOOD, QUIETS, REST, CAPTURES_ONLY, GOOD_ONLY = range(7)
"""Stages: the first two and `CAPTURES_ONLY` are where an order of moves begins."""

_KILLER_RANK = 1 << 24
_HISTORY_LIMIT = 1 << 20
_NO_LOSS = 0
"""Captures of this rank or more lose nothing at first sight; others wait behind quiet moves."""


@part
def start_moves(state, ply, move, captures_only):
    """Begin with the moves of a position.

    move : int64; the hash table's move, 0 for none; it need not be one of this position
    captures_only : bool; for quiescence
    """
    state.hash_move[ply] = move
    state.count[ply] = state.next[ply] = 0
    if captures_only:
        state.stage[ply] = CAPTURES_ONLY
    else:
        state.stage[ply] = HASH_MOVE


@part
def _rank_captures(state, row, side, ply):
    """Rank the captures of the ply: victim's value, then the cheaper attacker.

    A dear piece that takes a cheaper one is asked what comes of it (`exchange`).
    """
    board = state.boards[row]
    for i in range(state.count[ply]):
        move = state.moves[ply, i]
        source, target = move >> 7, move & 127
        attacker, victim = EXCHANGE_VALUES[board[source]], EXCHANGE_VALUES[board[target]]
        if attacker > victim and not is_sound(state, row, side, source, target):
            state.ranks[ply, i] = victim - attacker
        else:
            state.ranks[ply, i] = 64 * victim - attacker // 16 + 1_000


@part
def _rank_quiets(state, row, ply, first):
    """Rank the quiet moves of the ply: killers, then the history.

    first : int64; where the quiet moves begin
    """
    for i in range(first, state.count[ply]):
        move = state.moves[ply, i]
        if move == state.killers[ply, 0]:
            state.ranks[ply, i] = _KILLER_RANK
        elif move == state.killers[ply, 1]:
            state.ranks[ply, i] = _KILLER_RANK - 1
        else:
            state.ranks[ply, i] = state.history[state.boards[row, move >> 7], move & 127]


@part
def _pick(state, ply, least):
    """The move of the highest rank that is left, if that is `least` or more; else 0.

    least : int64; a rank
    """
    begin, count = state.next[ply], state.count[ply]
    ranks, moves = state.ranks[ply], state.moves[ply]
    while begin < count:
        best, rank = begin, ranks[begin]
        for i in range(begin + 1, count):
            if ranks[i] > rank:
                best, rank = i, ranks[i]
        if rank < least:
            break
        move = moves[best]
        moves[best], ranks[best] = moves[begin], ranks[begin]
        begin += 1
        if move != state.hash_move[ply]:
            state.next[ply] = begin
            return np.int64(move)
    state.next[ply] = begin
    return np.int64(0)


@borrowing_kernel
def next_move(state, row, side, ply):
    """The next move to try, pseudo-legal; 0 when there is none left."""
    while True:
        stage = state.stage[ply]
        if stage == HASH_MOVE:
            state.stage[ply] = CAPTURES
            move = state.hash_move[ply]
            code = state.boards[row, move >> 7]
            if (
                move != 0
                and code != EMPTY
                and code >> 3 == side
                and reaches(state.boards[row], move >> 7, move & 127)
            ):
                return move
            state.hash_move[ply] = 0
        elif stage == CAPTURES or stage == CAPTURES_ONLY:
            state.count[ply] = generate(state, row, side, ply, state.count[ply], True)
            _rank_captures(state, row, side, ply)
            state.stage[ply] = stage + 1
        elif stage == GOOD or stage == GOOD_ONLY:
            move = _pick(state, ply, _NO_LOSS)
            if move != 0 or stage == GOOD_ONLY:
                return move
            state.stage[ply] = QUIETS
        elif stage == QUIETS:
            first = state.count[ply]
            state.count[ply] = generate(state, row, side, ply, first, False)
            _rank_quiets(state, row, ply, first)
            state.stage[ply] = REST
        else:
            return _pick(state, ply, -(1 << 30))


@part
def reward(state, row, ply, move, depth):
    """Remember a quiet move that cut the search off: killer of its ply, and history."""
    if state.killers[ply, 0] != move:
        state.killers[ply, 1] = state.killers[ply, 0]
        state.killers[ply, 0] = move
    code = state.boards[row, move >> 7]
    state.history[code, move & 127] += depth * depth
    if state.history[code, move & 127] > _HISTORY_LIMIT:
        for i in range(16):
            for square in range(state.history.shape[1]):
                state.history[i, square] >>= 1
