"""Moves and lines from tables, for positions that need no search.

A table that cannot be read is left out. Tables are opened again if the options name other
directories or rules. After a new game or a `setoption` they are also opened again if a directory
has changed, as by a build, or if a table was left out: its file may be complete by now.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tbgen.answers.failures import describe
from tbgen.engine.game import Game
from tbgen.engine.search import scores
from tbgen.engine.search.scores import Line
from tbgen.indexing import Move

if TYPE_CHECKING:
    from tbgen.play.preference import RootMove
    from tbgen.play.tablebase import GameTablebase
    from tbgen.tables import Outcome
    from tbgen.tables.rule_sets import RuleSet

_LINE_PLIES = 12
"""Maximum plies of a reported line after its first move."""


class EngineTables:
    """The tables set by the options; `tables` is None if none can be used."""

    def __init__(self) -> None:
        self._named: tuple[tuple[Path, ...], str] = ((), "")  # arguments of the last call of `use`
        self._changed: list[int] = []
        """Time of each directory's last change (`_change_of`) when tables were opened. Empty once a
        table was left out, so that the next test finds a change.
        """
        self.is_current = True
        """Whether `use` may omit the test for changes of the directories."""
        self.tables: GameTablebase | None = None
        self.problems: list[str] = []
        """Notes to the user on unreadable directories, or on the reason why no table is used."""

    def use(self, directories: tuple[Path, ...], rules: str) -> bool:
        """Open the tables of directories and close the former ones; return whether this was done.

        rules : name of the rule set

        Sets `tables`, `problems` and `is_current`. The module's docstring says when tables that are
        open already are opened again.
        """
        named = directories, rules
        if named == self._named and self.is_current:
            return False
        changed, self.is_current = list(map(_change_of, directories)), True
        if named == self._named and changed == self._changed:
            return False
        self._named, self._changed = named, changed
        self.close()
        if directories:
            from tbgen.play.tablebase import GameTablebase
            from tbgen.tables import Metric, RulesMismatchError

            tables = GameTablebase(rules=rules, metric=Metric.DTM)
            for directory in directories:
                try:
                    tables.add_directory(directory)
                except (OSError, ValueError) as error:  # ValueError: no path in this locale
                    reason = error.strerror if isinstance(error, OSError) else error
                    remedy = "name another by --tables or EGTBPaths"
                    self.problems.append(f"no tables from {directory}: {reason}; {remedy}")
            try:
                rule_set = tables.rule_set
            except RulesMismatchError as error:  # tables with different limits on orders
                self.problems.append(str(error))
                tables.close()
                return True
            if any(name.rule_set == rule_set for name in tables.available()):
                self.tables = tables
            elif not self.problems:
                self.problems.append(_reason(tables, rule_set, directories))
        return True

    def leave_out(self, error: Exception) -> str:
        """Stop using the table that the error of a probe names; return a note to the user.

        Tables whose files have been removed are left out, too. All tables are closed if the error
        names neither the file of a known table nor a material.
        """
        failure = describe(error)
        reason = failure.message if failure is not None else f"{type(error).__name__}: {error}"
        self._changed = []
        if self.tables is not None:
            file = getattr(error, "file", None) or getattr(error, "filename", None)
            material = getattr(error, "material", None)
            paths = {name: self.tables.path(name) for name in self.tables.available()}
            if file is not None and Path(file) in paths.values():
                self.tables.forget_removed(Path(file))
                return f"{reason}; the search goes on without {Path(file).name}"
            if material is not None:
                # A table found missing is no longer in `paths`.
                left_out = [path for name, path in paths.items() if name.material.name == material]
                self.tables.forget_removed(*left_out)
                return f"{reason}; the search goes on without {material}"
        self.close()
        return f"{reason}; the search goes on without tables"

    def close(self) -> None:
        """Close all tables, and discard the notes."""
        if self.tables is not None:
            self.tables.close()
        self.tables, self.problems = None, []


def _change_of(directory: Path) -> int:
    """Return the time of a directory's last change, in nanoseconds; 0 if it cannot be read."""
    try:
        return directory.stat().st_mtime_ns
    except (OSError, ValueError):  # ValueError: no path in this locale
        return 0


def _reason(tables: GameTablebase, rule_set: RuleSet, directories: Sequence[Path]) -> str:
    """Return a note that directories have no table of a rule set; it names others with tables."""
    found = f"no tables under the rules {rule_set} in {' or '.join(map(str, directories))}"
    outcomes = [name for name in tables.available_wdl() if name.rule_set == rule_set]
    if outcomes:
        file = outcomes[0].filename
        return (
            f"{found}: win-draw-loss files such as {file} are not enough, the engine needs the "
            f"tables with distances that they were packed from (docs/engine.md)"
        )
    others = sorted({str(name.rule_set) for name in tables.available()})
    return f"{found}: there are tables under {', '.join(others)}" if others else found


def probe_lines(
    tables: GameTablebase,
    game: Game,
    lines: int,
    only: Sequence[Move] | None,
    stopped: Callable[[], bool] = lambda: False,
) -> tuple[Outcome, tuple[Line, ...]] | None:
    """Return the outcome of the current position for the side to move, and the best lines.

    lines : maximum number of lines; the first is the one to play
    only : moves that may be played, None for all; the outcome does not depend on them
    stopped : once it returns True, lines after the first are one move long

    Returns None if the position, or a position after one of the moves that may be played, has no
    table, or if none of these moves is legal. Raises the other errors of `GameTablebase.probe`.
    """
    from tbgen.play.choice import choose
    from tbgen.tables import MissingTableError, UnsupportedMaterialError

    position = game.position
    try:
        root, moves = tables.probe_with_moves(position)
        if only is not None:
            moves = [move for move in moves if move.move in only]
        if not moves or any(move.result is None for move in moves):
            return None
        best = choose(tables, position, root, moves, game.positions[:-1])
    except (MissingTableError, UnsupportedMaterialError):
        return None
    if best is not None:
        moves.sort(key=lambda move: move.move != best.move)
    found = [Line(_score(moves[0]), _best_play(tables, moves[0]))]
    for move in moves[1:lines]:
        found.append(Line(_score(move), (move.move,) if stopped() else _best_play(tables, move)))
    return root.outcome, tuple(found)


def _score(choice: RootMove) -> int:
    """Return the score of a move, whose value must be known, for the side that makes it."""
    from tbgen.tables import Metric

    value, result = choice.worth, choice.result
    assert value is not None
    assert result is not None
    mates = result.metric == Metric.DTM or choice.ends_game
    return scores.score_of_value(value.outcome, value.order, value.plies, mates)


def _best_play(tables: GameTablebase, choice: RootMove) -> tuple[Move, ...]:
    """Return a move and up to `_LINE_PLIES` plies of best play; the move alone without a table."""
    from tbgen.tables import MissingTableError

    try:
        following = tables.mainline(choice.after, _LINE_PLIES).moves
    except MissingTableError:
        following = ()
    return (choice.move, *(step.choice.move for step in following))
