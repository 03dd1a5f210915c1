"""Naive version of `xq_filter_root`, the function of the C reader that selects moves to play.

It keeps the moves that do not lose the value of the last position by repetition. Written from the
description in contrib/xqprobe.h alone. Offences (checks and attacks that may be chases) are those
of `tbgen.play.streaks`, which the C reader does not contain. An idle move is no offence, or is
irreversible: a capture or a pawn's advance.
"""

from __future__ import annotations

from collections.abc import Sequence

from tbgen.indexing import Move, Position
from tbgen.play.preference import RootMove, is_direct_win
from tbgen.play.streaks import Offences, is_irreversible
from tbgen.play.tablebase import GameTablebase
from tbgen.rules import legal_moves
from tbgen.tables import Outcome, ProbeResult

MAX_DEPTH = 3
"""Largest number of own moves that the filter searches ahead; the C reader searches further."""


class NaiveFilter:
    """Filter of the moves in the last position of a game (positions, oldest first).

    `kept` has the moves that the filter allows; None if it cannot decide within `MAX_DEPTH`.
    """

    def __init__(self, tables: GameTablebase, game: Sequence[Position]) -> None:
        self._tables = tables
        self._game = game
        self._root, moves = tables.probe_with_moves(game[-1])
        self._offences = Offences(self._root.rule_set)
        best = [move for move in moves if move.best]
        if self._root.outcome == Outcome.WIN and not is_direct_win(self._root):
            fresh = [move for move in moves if move.outcome == Outcome.WIN and self._is_fresh(move)]
            best = [move for move in fresh if move.worth == fresh[0].worth] or best
        self.kept = self._filtered(game[-1], best)

    def _filtered(self, position: Position, best: list[RootMove]) -> set[Move] | None:
        root = self._root
        if root.outcome != Outcome.DRAW and not is_direct_win(root):
            return {move.move for move in best}
        idle = {move.move for move in best if self._is_idle(position, move)}
        if idle and root.outcome == Outcome.DRAW:
            return idle | {
                move.move for move in best if self._is_fresh(move) and self._rests_after(move, 1)
            }
        if idle or not best:
            return idle
        for depth in range(1, MAX_DEPTH + 1):
            soonest = {move.move for move in best if self._rests_after(move, depth)}
            if soonest:
                return soonest
        return None

    def _is_idle(self, position: Position, move: RootMove) -> bool:
        return is_irreversible(position, move.move) or not self._offences.threats(
            position, move.move, move.after
        )

    def _is_fresh(self, move: RootMove) -> bool:
        replies = [move.after.after(*reply) for reply in legal_moves(move.after)]
        return not set(self._game) & {move.after, *replies}

    def _keeps_value(self, value: ProbeResult) -> bool:
        if self._root.outcome == Outcome.DRAW:
            return value.outcome == Outcome.DRAW
        return is_direct_win(value) and value.order == self._root.order

    def _rests_after(self, move: RootMove, depth: int) -> bool:
        """Return whether an idle move can follow `move` within `depth` own moves.

        An idle move must be possible after each reply that is reversible and keeps the value of
        the game's last position.
        """
        for reply in legal_moves(move.after):
            now = move.after.after(*reply)
            if is_irreversible(move.after, reply) or not self._keeps_value(self._tables.probe(now)):
                continue
            best = [each for each in self._tables.probe_root(now) if each.best]
            if any(self._is_idle(now, each) for each in best):
                continue
            if depth == 1 or not any(self._rests_after(each, depth - 1) for each in best):
                return False
        return True
