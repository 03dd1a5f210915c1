"""The engine's full-width search as a plain alpha-beta over positions, the oracle of its tests.

    repeated    the referee's verdict, with one exception (below)
    in check    one ply deeper
    depth 0     quiescence: stand pat, and captures that lose nothing; in check, every move
    no move     lost

The exception is a repetition that the referee decides for the side to move at the root. It does not
count if the position has occurred only once before, in the game before the root: the opponent may
still deviate.

No hash table, move ordering or reductions, and no state kept between positions. It shares with the
compiled search the evaluation and the exchange on a square, which have tests of their own, and the
scale of scores.
"""

from __future__ import annotations

import numpy as np

from tbgen.engine.search import scores
from tbgen.engine.search.evaluation import EXCHANGE_VALUES
from tbgen.engine.search.state import STATE
from tbgen.indexing import Move, Position
from tbgen.indexing.squares import EMPTY
from tbgen.referee import Game, Rules, Verdict, repetition_verdict
from tbgen.rules import legal_moves
from tbgen.rules.attacks import in_check
from tests.helpers.tracing import evaluate_board, is_sound_on_board


class NaiveSearch:
    """Plain full-width search of the last position of a game, the root."""

    def __init__(self, game: Game, rules: Rules) -> None:
        self._game, self._rules = game, rules
        self._root = game.plies
        self._states = np.zeros(1, STATE)

    def value(self, depth: int) -> int:
        """Return the root's score for its side to move; `depth` is in plies, at least 1.

        The score is `-scores.INFINITE` if there is no legal move.
        """
        best = -scores.INFINITE
        for move in legal_moves(self._game.last):
            self._game.push(move)
            best = max(best, -self._node(depth - 1, -scores.INFINITE, -best))
            self._game.pop()
        return best

    def _node(self, depth: int, alpha: int, beta: int) -> int:
        position, ply = self._game.last, self._game.plies - self._root
        judged = self._judged()
        if judged is not None:
            return judged
        if in_check(position.board, position.side):
            depth += 1
        if depth <= 0:
            return self._quiet(position, ply, alpha, beta)
        best = ply - scores.MATE
        for move in legal_moves(position):
            self._game.push(move)
            best = max(best, -self._node(depth - 1, -beta, -max(alpha, best)))
            self._game.pop()
            if best >= beta:
                break
        return best

    def _judged(self) -> int | None:
        """Return the score of the referee's verdict for the side to move.

        None without a verdict, and in the exception that the module describes.
        """
        verdict = repetition_verdict(self._game, rules=self._rules)
        if verdict == Verdict.UNDECIDED:
            return None
        if verdict == Verdict.DRAW:
            return scores.DRAW
        side, ply = self._game.last.side, self._game.plies - self._root
        thinks = side if ply % 2 == 0 else side.other
        earlier = [
            at
            for at in range(self._game.plies - 2, -1, -2)
            if self._game.boards[at] == self._game.boards[self._game.plies]
        ]
        won_by_thinker = verdict == Verdict.won_by(thinks)
        if won_by_thinker and len(earlier) == 1 and earlier[0] < self._root:
            return None
        sign = 1 if verdict == Verdict.won_by(side) else -1
        return sign * (scores.VERDICT_WIN - ply)

    def _quiet(self, position: Position, ply: int, alpha: int, beta: int) -> int:
        moves = legal_moves(position)
        if in_check(position.board, position.side):
            best = ply - scores.MATE
        else:
            best = self._evaluate(position)
            moves = [move for move in moves if self._pays(position, move)]
        for move in moves:
            if best >= beta:
                break
            after = position.after(*move)
            best = max(best, -self._quiet(after, ply + 1, -beta, -max(alpha, best)))
        return best

    def _set_up(self, position: Position) -> None:
        self._states["boards"][0, 0] = np.frombuffer(position.board, np.int8)

    def _evaluate(self, position: Position) -> int:
        self._set_up(position)
        return int(evaluate_board(self._states, np.zeros(0, np.int32), int(position.side)))

    def _pays(self, position: Position, move: Move) -> bool:
        """Return whether a move is a capture that loses nothing in the exchange."""
        taken = position.board[move.target]
        if taken == EMPTY:
            return False
        if EXCHANGE_VALUES[position.board[move.source]] <= EXCHANGE_VALUES[taken]:
            return True
        self._set_up(position)
        return bool(is_sound_on_board(self._states, int(position.side), move.source, move.target))


def naive_value(start: Position, moves: list[Move], depth: int, rules: Rules = Rules.WXF) -> int:
    """Return the score of a game's last position for its side to move; `depth` is in plies."""
    return NaiveSearch(Game.read(start, moves), rules).value(depth)
