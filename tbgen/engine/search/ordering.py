# mypy: allow-untyped-defs, allow-untyped-calls
"""The moves of a position one by one, the likeliest best first.

    the hash table's move  ->  captures that lose nothing, dearest victim by cheapest attacker
    ->  quiet moves: killers of the ply, the refutation of the move before, then by history
    ->  captures that lose

History is what cutoffs have taught of quiet moves, of a piece to a square: by itself, as a reply
to the opponent's last move, and as a follow-up to one's own. It is kept from move to move.

Each stage generates and ranks its moves only when it is reached: most positions that are cut off
never see their quiet moves. Quiescence asks for captures alone.
"""

from __future__ import annotations

import numpy as np

from tbgen.compiling.jit import part
from tbgen.engine.search.evaluation import EXCHANGE_VALUES
from tbgen.engine.search.exchange import is_sound
from tbgen.engine.search.generation import generate
from tbgen.indexing.squares import EMPTY, SQUARES
from tbgen.rules.board import MAX_MOVES
from tbgen.rules.moves import reaches

HASH_MOVE, CAPTURES, GOOD, QUIETS, REST, CAPTURES_ONLY, GOOD_ONLY = range(7)
"""Stages: the first two and `CAPTURES_ONLY` are where an order of moves begins."""

_KILLER_RANK = 1 << 24
_REFUTATION_RANK = 1 << 23
_LOSING_RANK = -(1 << 23)
"""About it lie captures that lose something: behind all quiet moves, whatever their history."""
_PLACE_BITS = MAX_MOVES.bit_length()
_PLACES = (1 << _PLACE_BITS) - 1
"""Of a rank and a place in one number: the bits of the place among the moves of a ply."""
_NO_LOSS = 0
"""Captures of this rank or more lose nothing at first sight."""
HISTORY_LIMIT = 1 << 14
"""No single history goes beyond it, either way."""
_LESSON_LIMIT = 1 << 11


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
            state.ranks[ply, i] = _LOSING_RANK + victim - attacker
        else:
            state.ranks[ply, i] = 64 * victim - attacker // 16 + 1_000


@part
def _known(state, code, target, before, earlier):
    """Return the sum of three histories of cutoffs by a piece that comes to a square.

    code : int64; the piece
    before, earlier : int64; what was played before, and before that (`played`); -1 for nothing
    """
    place = (code & 7) * SQUARES + target
    known = np.int64(state.history[code, target]) + state.followups[0, before, place]
    if earlier >= 0:
        known += state.followups[1, earlier, place]
    return known


@part
def _earlier(state, ply):
    """Return the move before the last one; -1 for none."""
    if ply > 0:
        return np.int64(state.played[ply - 1])
    return np.int64(-1)


@part
def history_of(state, row, ply, move):
    """Return the sum of a quiet move's three histories of at most `HISTORY_LIMIT`."""
    code = np.int64(state.boards[row, move >> 7])
    return _known(state, code, move & 127, np.int64(state.played[ply]), _earlier(state, ply))


@part
def _rank_quiets(state, row, ply, first):
    """Rank the quiet moves of the ply.

    first : int64; where the quiet moves begin
    """
    before, earlier = np.int64(state.played[ply]), _earlier(state, ply)
    refutation = state.refutations[before]
    killer, other_killer = state.killers[ply, 0], state.killers[ply, 1]
    board, moves, ranks = state.boards[row], state.moves[ply], state.ranks[ply]
    for i in range(first, state.count[ply]):
        move = np.int64(moves[i])
        if move == killer:
            ranks[i] = _KILLER_RANK
        elif move == other_killer:
            ranks[i] = _KILLER_RANK - 1
        elif move == refutation:
            ranks[i] = _REFUTATION_RANK
        else:
            code = np.int64(board[move >> 7])
            ranks[i] = _known(state, code, move & 127, before, earlier)


@part
def _pick(state, ply, least):
    """The move of the highest rank that is left, if that is `least` or more; else 0.

    least : int64; a rank
    """
    begin, count = np.int64(state.next[ply]), np.int64(state.count[ply])
    ranks, moves = state.ranks[ply], state.moves[ply]
    while begin < count:
        # Rank and place in one number, the first of equals highest: a loop without a choice inside,
        # which processors like.
        highest = (np.int64(ranks[begin]) << _PLACE_BITS) - begin
        for i in range(begin + 1, count):
            highest = max(highest, (np.int64(ranks[i]) << _PLACE_BITS) - i)
        best = -highest & _PLACES
        rank = highest + best >> _PLACE_BITS
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


@part
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
def _moved_by(known, lesson):
    """A history after a lesson: the nearer to its limit, the less it learns.

    known : int64; the history
    lesson : int64; positive for a cutoff, negative for none
    """
    return known + lesson - known * abs(lesson) // HISTORY_LIMIT


@part
def _teach(state, row, ply, move, lesson):
    """Let the histories of a quiet move learn.

    lesson : int64; positive for a cutoff, negative for none
    """
    code, target = state.boards[row, move >> 7], move & 127
    place, before = (code & 7) * SQUARES + target, state.played[ply]
    state.history[code, target] = _moved_by(np.int64(state.history[code, target]), lesson)
    known = np.int64(state.followups[0, before, place])
    state.followups[0, before, place] = _moved_by(known, lesson)
    if ply > 0:
        before = state.played[ply - 1]
        known = np.int64(state.followups[1, before, place])
        state.followups[1, before, place] = _moved_by(known, lesson)


@part
def reward(state, row, ply, move, depth):
    """Remember a quiet move that cut the search off, and that those tried before it did not."""
    if state.killers[ply, 0] != move:
        state.killers[ply, 1] = state.killers[ply, 0]
        state.killers[ply, 0] = move
    state.refutations[state.played[ply]] = move
    lesson = min(32 * depth * depth, _LESSON_LIMIT)
    _teach(state, row, ply, move, lesson)
    board, first = state.boards[row], state.hash_move[ply]
    if first != 0 and first != move and board[first & 127] == EMPTY:
        _teach(state, row, ply, first, -lesson)
    for i in range(state.next[ply]):
        other = state.moves[ply, i]
        if other != move and other != first and board[other & 127] == EMPTY:
            _teach(state, row, ply, other, -lesson)
