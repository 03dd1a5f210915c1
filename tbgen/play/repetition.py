"""Verdicts of the referee on repetitions in a game given by its positions.

Unlike the value of a position in a table, the verdict depends on the moves before the position.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

from tbgen.indexing import Move, Position, Side
from tbgen.indexing.squares import EMPTY
from tbgen.referee import Game, Judgement, Verdict, judge, repetition_verdict
from tbgen.rules.moves import is_legal_move
from tbgen.tables import Rules, RuleSet


def judge_repetition(game: Sequence[Position], rule_set: RuleSet) -> Judgement | None:
    """Return the referee's verdict on the last position of a game if it has occurred before.

    `game` is the positions, oldest first. A *gap* is two successive positions that are not one
    legal move apart. Only the positions after the last gap count. The judged game begins with the
    first occurrence of the last position there; the `span` of the judgement is counted from it.
    Returns None if the last position occurs only once after the gap, if the rules are unknown, and
    under rules that judge no repetition.
    """
    rules = rule_set.rules
    if rules is None or rules == Rules.NONE or game[-1] not in game[:-1]:
        return None
    moves = _moves_since_gap(game[game.index(game[-1]) :])
    played = game[len(game) - 1 - len(moves) :]
    if game[-1] not in played[:-1]:
        return None
    first = played.index(game[-1])
    return judge(played[first], moves[first:], rules=rules, minor_chases=rule_set.minor_chases)


class TrialMoves:
    """Verdicts of the referee on moves that are tried at the end of a game.

    `game` is the positions, oldest first; moves before a gap (`judge_repetition`) are left out. The
    game is replayed when the first verdict is requested.
    """

    def __init__(self, game: Sequence[Position], rule_set: RuleSet) -> None:
        self._positions = game
        self._rule_set = rule_set

    @cached_property
    def _game(self) -> Game:
        moves = _moves_since_gap(self._positions)
        first = self._positions[len(self._positions) - 1 - len(moves)]
        return Game.read(first, moves, self._rule_set.chase_rules)

    def verdict(self, *moves: Move) -> Verdict:
        """Return the verdict after playing `moves` at the end of the game, which is then restored.

        The verdict is `UNDECIDED` if the last position is not a repetition. The moves must be
        legal, and the rule set known (`RuleSet.known_rules`).
        """
        for move in moves:
            self._game.push(move)
        verdict = repetition_verdict(self._game, rules=self._rule_set.known_rules)
        for _ in moves:
            self._game.pop()
        return verdict


def _moves_since_gap(game: Sequence[Position]) -> list[Move]:
    """Return the moves of a game since its last gap (`judge_repetition`), oldest first."""
    moves: list[Move] = []
    for after, before in pairwise(reversed(game)):
        move = move_between(before, after)
        if move is None or not is_legal_move(bytearray(before.board), before.side, *move):
            break
        moves.append(move)
    return moves[::-1]


def is_lost_by(judgement: Judgement | None, side: Side) -> bool:
    """Return whether a repetition has been judged against a side; False without a judgement."""
    return judgement is not None and judgement.verdict == Verdict.won_by(side.other)


def move_between(before: Position, after: Position) -> Move | None:
    """Return the move, legal or not, from one position to the next; None if there is none."""
    changed = [s for s, code in enumerate(before.board) if code != after.board[s]]
    sources = [square for square in changed if after.board[square] == EMPTY]
    if len(changed) != 2 or len(sources) != 1 or after.side == before.side:
        return None
    move = Move(sources[0], sum(changed) - sources[0])
    return move if before.after(*move) == after else None
