# mypy: allow-untyped-defs, allow-untyped-calls
"""Move ordering: the moves of a position one by one, the most promising first.

    hash move  ->  captures that lose nothing, most valuable victim by least valuable attacker
    ->  quiet moves: killers of the ply, countermove, then by history
    ->  losing captures

*Histories* are counters of quiet moves, by piece and target: the cutoffs by the move, less the
cutoffs by moves tried after it. There are three: for the move itself, for the move as a reply to
the opponent's last move, and as a follow-up to the own last move.

Moves are generated and ranked when their stage is reached: most cutoffs come before quiet moves.
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

HASH_MOVE, CAPTURES, GOOD, QUIETS, REMAINING, CAPTURES_ONLY, GOOD_ONLY = range(7)
"""Stages of `next_move`. The first is `HASH_MOVE`, or `CAPTURES_ONLY` if `captures_only` is set.
`CAPTURES`, `CAPTURES_ONLY` and `QUIETS` generate and rank moves. `GOOD` and `GOOD_ONLY` return the
captures that lose nothing, `REMAINING` all other moves: quiet ones, then losing captures.
"""

_KILLER_RANK = 1 << 24
_COUNTERMOVE_RANK = 1 << 23
_LOSING_RANK = -(1 << 23)
"""Number added to the ranks of losing captures, which are then below those of all quiet moves."""
_PLACE_BITS = MAX_MOVES.bit_length()
_PLACES = (1 << _PLACE_BITS) - 1
"""Bit mask of the index in a number that packs a move's rank and, in the low bits, its index."""
_SOUND = 0
"""Least rank of captures that lose no material by static exchange evaluation."""
HISTORY_LIMIT = 1 << 14
"""Maximum absolute value of a history counter."""
_BONUS_LIMIT = 1 << 11


@part
def start_moves(state, ply, move, captures_only):
    """Start iterating over the moves of a position.

    move : int64; the hash move, 0 for none; may be invalid in this position
    captures_only : bool; return only captures that lose nothing (quiescence search out of check)
    """
    state.hash_move[ply] = move
    state.count[ply] = state.next[ply] = 0
    state.stage[ply] = CAPTURES_ONLY if captures_only else HASH_MOVE


@part
def _rank_captures(state, row, side, ply):
    """Write the ranks of a ply's captures: most valuable victim first, then cheapest attacker.

    Losing captures rank lowest. Only an attacker dearer than the victim can lose material.
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
def history_of(state, row, ply, move):
    """Return the sum of a quiet move's history counters, each within +-`HISTORY_LIMIT`."""
    code, target = np.int64(state.boards[row, move >> 7]), move & 127
    place = (code & 7) * SQUARES + target
    known = np.int64(state.history[code, target]) + state.followups[0, state.played[ply], place]
    if ply > 0:
        known += state.followups[1, state.played[ply - 1], place]
    return known


@part
def _rank_quiets(state, row, ply, first):
    """Write the ranks of a ply's quiet moves: killers, then the countermove, then by history.

    first : int64; index of the first quiet move
    """
    countermove = state.countermoves[state.played[ply]]
    killer, other_killer = state.killers[ply, 0], state.killers[ply, 1]
    moves, ranks = state.moves[ply], state.ranks[ply]
    for i in range(first, state.count[ply]):
        move = np.int64(moves[i])
        if move == killer:
            ranks[i] = _KILLER_RANK
        elif move == other_killer:
            ranks[i] = _KILLER_RANK - 1
        elif move == countermove:
            ranks[i] = _COUNTERMOVE_RANK
        else:
            ranks[i] = history_of(state, row, ply, move)


@part
def _pick(state, ply, least):
    """Return the highest-ranked move that was not returned before, 0 if none ranks `least` or more.

    The moves before index `next[ply]` are those returned or skipped. The hash move is skipped,
    since it was returned first.

    least : int64; the least rank of a move to return
    """
    begin, count = np.int64(state.next[ply]), np.int64(state.count[ply])
    ranks, moves = state.ranks[ply], state.moves[ply]
    while begin < count:
        # Pack rank and index into one number: no branch in the loop; the first of equals is best.
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
    """Return the next pseudo-legal move of a node, after `start_moves`; 0 when none is left."""
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
            move = _pick(state, ply, _SOUND)
            if move != 0 or stage == GOOD_ONLY:
                return move
            state.stage[ply] = QUIETS
        elif stage == QUIETS:
            first = state.count[ply]
            state.count[ply] = generate(state, row, side, ply, first, False)
            _rank_quiets(state, row, ply, first)
            state.stage[ply] = REMAINING
        else:
            return _pick(state, ply, -(1 << 30))


@part
def _updated(known, bonus):
    """Return a history counter after a bonus, which counts less near the limit of its own sign.

    known : int64; the counter before, within +-`HISTORY_LIMIT`
    """
    return known + bonus - known * abs(bonus) // HISTORY_LIMIT


@part
def _update_histories(state, row, ply, move, bonus):
    """Add a bonus to the history counters of a quiet move (`history_of`)."""
    code, target = state.boards[row, move >> 7], move & 127
    place = (code & 7) * SQUARES + target
    state.history[code, target] = _updated(np.int64(state.history[code, target]), bonus)
    for i in range(min(ply + 1, 2)):
        before = state.played[ply - i]
        known = np.int64(state.followups[i, before, place])
        state.followups[i, before, place] = _updated(known, bonus)


@part
def reward(state, row, ply, move, depth):
    """Update killers, countermove and histories after a cutoff by a quiet move.

    The bonus grows with depth to a limit. Histories of quiet moves tried before `move` are lowered.
    """
    if state.killers[ply, 0] != move:
        state.killers[ply, 1] = state.killers[ply, 0]
        state.killers[ply, 0] = move
    state.countermoves[state.played[ply]] = move
    bonus = min(32 * depth * depth, _BONUS_LIMIT)
    _update_histories(state, row, ply, move, bonus)
    board, first = state.boards[row], state.hash_move[ply]
    if first != 0 and first != move and board[first & 127] == EMPTY:
        _update_histories(state, row, ply, first, -bonus)
    for i in range(state.next[ply]):
        other = state.moves[ply, i]
        if other != move and other != first and board[other & 127] == EMPTY:
            _update_histories(state, row, ply, other, -bonus)
