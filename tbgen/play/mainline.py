"""Best play of both sides, from a position to the end of the line.

A line ends with one of these:

    mate or stalemate    the end of the game; captures on the way may lead into other tables
    loop                 the losing side must check or chase for ever; the loop is given once. Or a
                         position has occurred more than `MAX_OCCURRENCES` times
    draw                 the last position is a draw: no line is forced from there
    unknown              the line enters a material without a table, or the best move cannot be
                         found for lack of a table
    cut                  the line has the requested number of plies
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tbgen.indexing import Position, Side
from tbgen.play.choice import choose
from tbgen.play.preference import RootMove
from tbgen.play.prober import Prober
from tbgen.play.repetition import is_lost_by, judge_repetition
from tbgen.referee import Judgement
from tbgen.rules import in_check
from tbgen.tables import MissingTableError, Outcome, ProbeResult
from tbgen.tables.reader import as_html

MAX_OCCURRENCES = 4
"""Maximum occurrences of a position in a line; one more ends the line, even without a verdict."""


class Ending(StrEnum):
    """Reason why a line ends; the module's docstring explains each member."""

    MATE = "mate"
    STALEMATE = "stalemate"
    LOOP = "loop"
    DRAW = "draw"
    UNKNOWN = "unknown"
    CUT = "cut"


@dataclass(frozen=True, slots=True)
class LineMove:
    """One move (`choice`) of a line, with the position before it and that position's value."""

    position: Position
    result: ProbeResult
    choice: RootMove


@dataclass(frozen=True, slots=True)
class Mainline:
    """A line of best play.

    `result` is the value of the first position. `loop_start` is the index in `moves` of the first
    move of the loop, which lasts to the end of the line; None without a loop. `verdict` is the
    referee's judgement of the loop, None if there is none. `missing` names the materials, separated
    by blanks, whose missing tables end the line.
    """

    start: Position
    result: ProbeResult
    moves: tuple[LineMove, ...]
    ending: Ending
    loop_start: int | None = None
    verdict: Judgement | None = None
    missing: str | None = None

    def __repr__(self) -> str:
        """Return text such as `Mainline(a0a9 e9e8: mate)`."""
        moves = " ".join(move.choice.move.iccs for move in self.moves)
        return f"Mainline({moves}: {self.ending})" if moves else f"Mainline({self.ending})"

    def _repr_html_(self) -> str:
        """Return the HTML table that a notebook shows."""
        return as_html({
            "from": self.start.fen,
            "moves": " ".join(move.choice.move.iccs for move in self.moves),
            "ending": self.ending,
        })  # fmt: skip

    @property
    def final(self) -> Position:
        """The position at the end of the line."""
        return self.moves[-1].choice.after if self.moves else self.start

    @property
    def is_over(self) -> bool:
        """True if the line ends in mate or stalemate."""
        return self.ending in (Ending.MATE, Ending.STALEMATE)

    @property
    def winner(self) -> Side | None:
        """The side that has won at the end of the line; None for a draw or an open end."""
        if self.is_over:
            return self.final.side.other
        return next((side for side in Side if is_lost_by(self.verdict, side.other)), None)


def follow_best_moves(tables: Prober, start: Position, plies: int | None = None) -> Mainline:
    """Return best play from `start` to the end, or for at most `plies` plies.

    Raises like `Prober.probe`; but a table that is missing after `start` ends the line.
    """
    moves: list[LineMove] = []
    game = [start]
    while True:
        position = game[-1]
        root, choices = tables.probe_with_moves(position)
        first = moves[0].result if moves else root
        if root.outcome == Outcome.DRAW:
            return Mainline(start, first, tuple(moves), Ending.DRAW)
        begin = game.index(position)
        if begin < len(moves):
            verdict = judge_repetition(game, root.rule_set)
            winner = position.side if root.outcome == Outcome.WIN else position.side.other
            # Without a verdict against the loser the line goes on: `choose` avoids the repetition.
            if is_lost_by(verdict, winner.other) or game.count(position) > MAX_OCCURRENCES:
                # The judged loop may begin later than the first occurrence.
                loop = begin + (verdict.span[0] if verdict and verdict.span else 0)
                return Mainline(start, first, tuple(moves), Ending.LOOP, loop, verdict)
        try:
            choice = choose(tables, position, root, choices, game[:-1])
        except MissingTableError as error:
            return Mainline(start, first, tuple(moves), Ending.UNKNOWN, missing=error.material)
        if choice is None:
            ending = Ending.MATE if in_check(position) else Ending.STALEMATE
            return Mainline(start, first, tuple(moves), ending)
        if plies is not None and len(moves) >= plies:
            return Mainline(start, first, tuple(moves), Ending.CUT)
        moves.append(LineMove(position, root, choice))
        if choice.result is None:
            return Mainline(start, first, tuple(moves), Ending.UNKNOWN, missing=choice.missing)
        game.append(choice.after)
