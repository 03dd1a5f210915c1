"""Moves and lines out of tables: a position in the tables is never searched.

    GameTablebase.best_move(position, history)   the move, which minds what has been repeated
    mainline, probe_root                         its line, and the alternatives with theirs

Infallible as far as the tables go. Opens the tables that the options name, again when they change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tbgen.engine.game import Game
from tbgen.engine.search import scores
from tbgen.indexing import Move

if TYPE_CHECKING:
    from tbgen.play.preference import RootMove
    from tbgen.play.tablebase import GameTablebase
    from tbgen.tables import Outcome

_LINE_PLIES = 12
"""How much of a line is shown; a table's line can be a hundred plies long."""


@dataclass(frozen=True, slots=True)
class KnownLine:
    """A move, what it is worth by the tables (`scores`), and best play after it."""

    score: int
    moves: tuple[Move, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """What the tables say of a position: its outcome, and lines, the one to play first."""

    outcome: Outcome
    lines: tuple[KnownLine, ...]


class Library:
    """The tables that the options name, opened when they are first asked."""

    def __init__(self) -> None:
        self._named: tuple[tuple[Path, ...], str] = ((), "")
        self.tables: GameTablebase | None = None
        self.complaint = ""
        """Why tables that were named cannot be used; empty if they can."""

    def use(self, directories: tuple[Path, ...], rules: str) -> bool:
        """Open these tables, unless they are open; whether anything has changed."""
        if (directories, rules) == self._named:
            return False
        self._named = directories, rules
        self.close()
        if directories:
            from tbgen.play.tablebase import GameTablebase

            tables = GameTablebase(rules=rules)
            for directory in directories:
                try:
                    tables.add_directory(directory)
                except OSError as error:
                    self.complaint = f"no tables from {directory}: {error.strerror}"
            if any(name.rule_set == tables.rule_set for name in tables.available()):
                self.tables = tables
            elif not self.complaint:
                self.complaint = f"no tables under the rules {rules} in {directories[0]}"
        return True

    def close(self) -> None:
        """Close the files."""
        if self.tables is not None:
            self.tables.close()
        self.tables, self.complaint = None, ""


def ask(tables: GameTablebase, game: Game, lines: int, only: Sequence[Move] | None) -> Known | None:
    """What the tables say of the position to move from; None if they do not know it.

    `lines` is how many moves are wanted with a line each, `only` what may be played. Raises what
    probing raises, but for a missing table.
    """
    from tbgen.tables import MissingTableError

    position = game.position
    try:
        root, moves = tables.probe_with_moves(position)
        best = tables.best_move(position, game.positions[:-1])
    except MissingTableError:
        return None
    if only is not None:
        moves = [move for move in moves if move.move in only]
    if any(move.result is None for move in moves):
        return None
    if best is not None:
        moves.sort(key=lambda move: move.move != best.move)
    chosen = [_line(tables, move) for move in moves[:lines]]
    return Known(root.outcome, tuple(chosen))


def _line(tables: GameTablebase, choice: RootMove) -> KnownLine:
    """A move and best play after it."""
    from tbgen.tables import Metric, MissingTableError

    value, result = choice.worth, choice.result
    assert value is not None
    assert result is not None
    mates = result.metric == Metric.DTM or choice.ends_game
    score = scores.of_table(value.outcome, value.order, value.plies, mates=mates)
    following: tuple[Move, ...] = ()
    try:
        line = tables.mainline(choice.after, _LINE_PLIES)
        following = tuple(step.choice.move for step in line.moves)
    except MissingTableError:
        pass
    return KnownLine(score, (choice.move, *following))
