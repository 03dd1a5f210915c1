"""Play a game between two engines, and store it as a line of a file.

The engines only choose moves; the referee decides when a game is over. With tables, a game also
ends if the position after the opening, or one after a capture, is in a table. `play_game` returns a
`Played`, `save` and `saved_games` write and read files. A win is 1 point, a draw 0.5, a loss 0.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from players import Limit, Player, PlayerError

from tbgen.indexing import InputError, Move, Position, Side
from tbgen.indexing.squares import EMPTY
from tbgen.play.tablebase import GameTablebase
from tbgen.referee import Game, Rules, Verdict, repetition_verdict
from tbgen.rules import is_terminal
from tbgen.tables import TablebaseError

QUIET_PLIES = 120
"""Plies without a capture after which a game is drawn."""

LOST_BY_REPETITION = "the rules of repetition"
"""Reason that is stored for a game that a side lost by perpetual check or chase."""


@dataclass(frozen=True, slots=True)
class Judges:
    """Conditions that end a game.

    At the `occurrences`-th occurrence of a position the repetition is judged by `rules`. With
    `tables`, the game ends if the position after the opening or a capture is in a table. The game
    is drawn after `quiet_plies` plies without a capture; None removes this limit.
    """

    rules: Rules
    occurrences: int
    tables: GameTablebase | None = None
    quiet_plies: int | None = QUIET_PLIES

    def verdict(self, game: Game, quiet: int) -> tuple[float, str] | None:
        """Return Red's points and the reason if the game is over, else None.

        quiet : plies since the opening or the last capture; tables are probed only if it is 0
        """
        last = game.last
        if is_terminal(last):
            return float(last.side == Side.BLACK), "no legal move"
        verdict = repetition_verdict(game, rules=self.rules, occurrences=self.occurrences)
        if verdict == Verdict.DRAW:
            return 0.5, "repetition"
        if verdict != Verdict.UNDECIDED:
            return float(verdict == Verdict.won_by(Side.RED)), LOST_BY_REPETITION
        if self.tables is not None and quiet == 0:
            with contextlib.suppress(TablebaseError):
                points = (1 + self.tables.probe(last).outcome) / 2
                return points if last.side == Side.RED else 1 - points, "table"
        if self.quiet_plies is not None and quiet >= self.quiet_plies:
            return 0.5, f"{self.quiet_plies} plies without a capture"
        return None


@dataclass(frozen=True, slots=True)
class Played:
    """A finished game: first position, all moves, Red's points, and the reason of its end."""

    start: Position
    moves: tuple[Move, ...]
    points: float
    reason: str

    def points_of(self, side: Side) -> float:
        """Return the points of a side."""
        return self.points if side == Side.RED else 1 - self.points


def play_game(
    players: Sequence[Player],
    start: Position,
    opening: Sequence[Move],
    limits: Sequence[Limit],
    judges: Judges,
) -> Played:
    """Play a game from the position after an opening to its end; the result has the opening, too.

    players, limits : indexed by side; both limits have the same clock, or none has one
    opening : moves played from `start` before the engines begin

    An engine loses if it plays an illegal move, does not answer, gives up, exceeds its clock, or
    ends. Raises `PlayerError` if one cannot begin, `ValueError` if its protocol lacks its limit.
    """
    game, moves, quiet = Game.read(start, opening), list(opening), 0
    clock = limits[Side.RED].clock
    for player in players:
        player.begin()
    while (ended := judges.verdict(game, quiet)) is None:
        side = game.last.side
        try:
            limit = limits[side] if clock is None else Limit(clock=clock)
            begun = monotonic()
            move = players[side].choose(start, moves, limit)
            seconds = monotonic() - begun
            if clock is not None and seconds > clock[side]:
                ended = float(side == Side.BLACK), f"{players[side].name} lost on time"
                break
            if move is None:
                ended = float(side == Side.BLACK), f"{players[side].name} gave up"
                break
            quiet = quiet + 1 if game.last.board[move.target] == EMPTY else 0
            game.push(move)
            clock = clock and clock.after(side, seconds)
        except (PlayerError, InputError) as error:
            ended = float(side == Side.BLACK), f"{players[side].name}: {error}"
            break
        moves.append(move)
    return Played(start, tuple(moves), *ended)


def save(path: Path, names: str, played: Played) -> None:
    """Append a line to a file: names, Red's points, reason, FEN and moves, separated by tabs.

    names : of both engines, as "RED - BLACK"
    """
    text = " ".join(move.iccs for move in played.moves)
    with path.open("a", encoding="utf-8") as games:
        games.write(f"{names}\t{played.points}\t{played.reason}\t{played.start.fen}\t{text}\n")


def saved_games(path: Path | None) -> list[Played]:
    """Read the games of a file, none if it is missing; removes an incomplete last line from it."""
    if path is None or not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        path.write_text(whole, encoding="utf-8")
    games = []
    for line in whole.splitlines():
        _, points, reason, fen, text = line.split("\t")
        moves = tuple(Move.from_iccs(each) for each in text.split())
        games.append(Played(Position.from_fen(fen), moves, float(points), reason))
    return games


def signs(points: Counter[float]) -> str:
    """Format the points of some games as numbers of games won, drawn and lost: `+3 =1 -2`.

    points : number of games by their points
    """
    return f"+{points[1.0]} ={points[0.5]} -{points[0.0]}"
