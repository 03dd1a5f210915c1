"""A game against the table, move by move, to train or to measure a program.

The table plays its best move (`GameTablebase.best_move`). The referee judges repetitions by the
rule set of the tables, once a position has occurred three times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tbgen.indexing import InputError, Move, MoveTextError, Position, Side, as_position
from tbgen.indexing.errors import enum_member, excerpt, integer
from tbgen.indexing.move import as_move
from tbgen.play.repetition import is_lost_by, judge_repetition
from tbgen.play.tablebase import GameTablebase
from tbgen.rules import is_terminal, legal_moves
from tbgen.tables import Outcome

OCCURRENCES = 3
"""Number of occurrences of a position at which the referee judges."""


@dataclass(frozen=True, slots=True)
class Step:
    """Result of one move of the player.

    `position` is the position after the table's `reply`. If the player's move has ended the game,
    `reply` is None, and `position` is the one after that move. `result` is the game's result for
    the player, None while the game goes on.
    """

    position: Position
    reply: Move | None
    result: Outcome | None

    @property
    def reward(self) -> int:
        """The result as a number: 1 for a win, -1 for a loss, else 0."""
        return int(self.result or 0)


class Environment:
    """A game from one position, in which the table answers every move of the player.

    side : the player's side; None for the side to move at the start
    plies : maximum plies; a game that has no result after them is a draw

    The constructor, `reset` and `step` raise the errors of `GameTablebase.best_move`, such as
    `MissingTableError` if the player's capture leads to a material without a table. The constructor
    also raises `InputError` for an unknown `side`, and if `plies` is no integer from 1.

    >>> game = Environment(tables, "3k5/9/9/9/9/9/9/9/9/R3K4 w")  # doctest: +SKIP
    >>> game.step("a0a8").result  # doctest: +SKIP
    <Outcome.WIN: 1>
    """

    def __init__(
        self,
        tables: GameTablebase,
        start: Position | str,
        *,
        side: Side | str | None = None,
        plies: int = 300,
    ) -> None:
        self._tables, self._plies = tables, integer(plies, "plies")
        if self._plies < 1:
            raise InputError(f"a game of {plies} plies", "give 1 or more")
        self._start = as_position(start)
        self._requested_side = None if side is None else enum_member(Side, side)
        self._positions: tuple[Position, ...] = ()
        self._result: Outcome | None = None
        self.reset()

    @property
    def side(self) -> Side:
        """The player's side."""
        return self._start.side if self._requested_side is None else self._requested_side

    @property
    def position(self) -> Position:
        """The current position; the player is to move unless the game is over."""
        return self._positions[-1]

    @property
    def positions(self) -> tuple[Position, ...]:
        """The positions of the game, oldest first."""
        return self._positions

    @property
    def legal_moves(self) -> list[Move]:
        """The player's legal moves; empty after the end."""
        return [] if self._result is not None else legal_moves(self.position)

    @property
    def result(self) -> Outcome | None:
        """The result for the player; None while the game goes on."""
        return self._result

    def reset(self, start: Position | str | None = None) -> Position:
        """Start a new game, at `start` or again at the last start, and return its position.

        If the table is to move first, the returned position is the one after its move. After an
        error the game is as before.
        """
        start = self._start if start is None else as_position(start)
        self._tables.probe(start)  # raises for an illegal position or a missing table
        before = self._start, self._positions, self._result
        self._start, self._positions = start, (start,)
        try:
            self._result = self._judge(self._positions)
            if self._result is None and start.side != self.side:
                self._answer(self._positions)
        except BaseException:
            self._start, self._positions, self._result = before
            raise
        return self.position

    def step(self, move: Move | str) -> Step:
        """Make a move, such as `h2e2`, and let the table reply.

        Raises `MoveTextError` for a move that is not legal, or after the end of the game. After an
        error the game is as before.
        """
        wanted = as_move(move)
        if wanted not in self.legal_moves:
            raise MoveTextError(
                f"{excerpt(str(wanted))} is no legal move of {self.position.fen}",
                "choose one of `legal_moves`, or `reset`",
            )
        played = (*self._positions, self.position.after(*wanted))
        result = self._judge(played)
        if result is not None:
            self._positions, self._result = played, result
            return Step(self.position, None, result)
        reply = self._answer(played)
        return Step(self.position, reply, self._result)

    def _answer(self, played: tuple[Position, ...]) -> Move:
        """Add the table's move to the game `played`, set the result, and return the move."""
        best = self._tables.best_move(played[-1], played[:-1])
        assert best is not None, "a side without a move has lost already"
        self._positions = (*played, best.after)
        self._result = self._judge(self._positions)
        return best.move

    def _judge(self, played: Sequence[Position]) -> Outcome | None:
        """Return the player's result of the game `played`; None while it goes on."""
        last = played[-1]
        if is_terminal(last):
            return Outcome.LOSS if last.side == self.side else Outcome.WIN
        if played.count(last) >= OCCURRENCES:
            judged = judge_repetition(played, self._tables.rule_set)
            if is_lost_by(judged, self.side):
                return Outcome.LOSS
            return Outcome.WIN if is_lost_by(judged, self.side.other) else Outcome.DRAW
        return Outcome.DRAW if len(played) > self._plies else None
