"""Play a match between two engines, judged by the referee.

    python scripts/match/play.py uci:tbgen-engine uci:/usr/games/fairy-stockfish --games 100
        --seconds 0.1 [--option-1 Hash=64] [--tables egtb] [--save games.txt]

An opening is some random plies from the opening array. With `--men` it is a random position of so
many men that a short search scores as nearly even. Each opening is played twice with colours
reversed. A game ends by mate or stalemate, by a repetition (judged when a position has occurred
`--occurrences` times, default 3), or by a table of `--tables`. It is drawn after `--quiet-plies`
without a capture, default 120 (use 100 for engines that end such a game themselves). An engine
loses if it plays an illegal move, gives up, does not answer or ends. After the latter two it is
restarted before the next game.

Limits hold for both engines; `--nodes-2` and `--depth-2` replace all limits of the second. `--clock
10+0.1` gives each ten seconds for a game and a tenth for every move, and replaces all other limits;
an engine that exceeds its clock loses.

Prints, in this order:

- after each pair of games: results of the first engine, its score with the standard error over
  pairs, and the Elo difference;
- at the end, its results by the reason of the end of the game;
- for each engine, the processor time per move, its start included, which shows whether equal limits
  of nodes cost the same; and the number of moves with positions found in its tables.

`--save` keeps a line per game, and an interrupted match resumes after the saved games.

Worth of the repetition rules, by games between the engine with all rules and the engine with
perpetual checks only:

    python scripts/match/play.py uci:tbgen-engine uci:tbgen-engine --option-2 Rules=check
        --games 600 --seconds 0.02 --save rules.txt

Worth of tables, by games of the engine with tables against the engine without:

    python scripts/match/play.py uci:tbgen-engine uci:tbgen-engine --option-1 EGTBPaths=egtb
        --option-2 UseEGTB=false --men 6 7 8 --games 200 --nodes 20000 --save tables.txt
"""

from __future__ import annotations

import itertools
import math
import random
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import openings
from games import QUIET_PLIES, Judges, Played, play_game, save, saved_games, signs
from players import Clock, Limit, PlayerError, open_player, open_players

from tbgen.indexing import Side
from tbgen.play.tablebase import open_tablebase
from tbgen.referee import Rules


@dataclass(slots=True)
class Standing:
    """Score of the first engine in the games so far."""

    pairs: list[float] = field(default_factory=list)
    """Points of the first engine in each pair of games, 0 to 2."""
    tally: Counter[float] = field(default_factory=Counter)
    """Number of games by points of the first engine: 1, 0.5 or 0."""
    reasons: dict[str, Counter[float]] = field(default_factory=dict)
    """For each reason of the end of a game, a tally of the games that ended so."""

    def add(self, pair: Sequence[tuple[Played, Side]]) -> None:
        """Add two games of one opening, as pairs of a game and the first engine's side in it."""
        points = [played.points_of(side) for played, side in pair]
        self.pairs.append(sum(points))
        for (played, _), won in zip(pair, points, strict=True):
            self.tally[won] += 1
            self.reasons.setdefault(played.reason, Counter())[won] += 1

    def summary(self) -> str:
        """Describe the results in a line: games, mean score with standard error, Elo difference.

        The standard error is computed over pairs of games. The interval of the Elo difference
        comes from the score minus and plus two errors.
        """
        count = len(self.pairs)
        mean = sum(self.pairs) / count / 2
        variance = sum((pair / 2 - mean) ** 2 for pair in self.pairs) / max(1, count - 1)
        error = math.sqrt(variance / count)
        low, high = elo(mean - 2 * error), elo(mean + 2 * error)
        return (
            f"{2 * count:4} games: {signs(self.tally)}, score {mean:.3f} +- {error:.3f}, "
            f"Elo {elo(mean):+.0f} ({low:+.0f} to {high:+.0f})"
        )


def elo(score: float) -> float:
    """Return the Elo difference for an expected score (0 to 1), limited to 1200 either way."""
    score = min(max(score, 1e-3), 1 - 1e-3)
    return 400 * math.log10(score / (1 - score))


class Match:
    """Two engines with their options and limits, the judges, and the file of their games.

    `saved` has the games of an earlier run that `play` has not returned yet. Pairs and lists are
    indexed by engine: 0 for the first one, 1 for the second.
    """

    def __init__(self, options: Namespace) -> None:
        settings = parse_options(options.option_1), parse_options(options.option_2)
        self.engines = list(zip(options.engines, settings, strict=True))
        self.seconds = [0.0, 0.0]
        """Processor seconds of each engine's ended processes."""
        self.limits = limits_of(options)
        tables = open_tablebase(options.tables, rules=options.rules) if options.tables else None
        self.judges = Judges(Rules(options.rules), options.occurrences, tables, options.quiet_plies)
        self.file: Path | None = options.save
        self.saved = saved_games(self.file)
        self.moves = [0, 0]
        """Number of moves of each engine since the start of this program."""
        self.table_moves = [0, 0]
        """Number of moves for which each engine's ended processes found positions in tables."""
        self.players = open_players(*self.engines)

    def play(self, opening: openings.Opening, first: Side) -> Played:
        """Play a game with the first engine as side `first`, and save it; or return a saved game.

        Raises `ValueError` if the saved game has another opening.
        """
        start, moves = opening
        if self.saved:
            played = self.saved.pop(0)
            if played.start != start or played.moves[: len(moves)] != moves:
                raise ValueError(f"{self.file} has another match")
            return played
        self._start_again()
        order = 1 if first == Side.RED else -1
        by_colour = self.players[::order]
        played = play_game(by_colour, start, moves, self.limits[::order], self.judges)
        for player, count in enumerate(self._moves_made(played, len(moves), first)):
            self.moves[player] += count
        if self.file is not None:
            save(self.file, " - ".join(player.name for player in by_colour), played)
        return played

    def _start_again(self) -> None:
        """Restart engines that did not answer or ended in the previous game."""
        for number, player in enumerate(self.players):
            if player.failed:
                self._end(number)
                self.players[number] = open_player(*self.engines[number])

    def _end(self, number: int) -> None:
        """End the process of an engine, and add its processor time and moves with tables."""
        self.seconds[number] += self.players[number].close()
        self.table_moves[number] += self.players[number].table_moves

    @staticmethod
    def _moves_made(played: Played, opening: int, first: Side) -> tuple[int, int]:
        """Count the moves that each engine made in a game, those of the first engine first.

        opening : number of moves of the opening, which no engine made
        first : side of the first engine
        """
        made = len(played.moves) - opening
        begins = Side((played.start.side + opening) % 2)
        mine = (made + (begins == first)) // 2
        return mine, made - mine

    def close(self) -> None:
        """End the engines."""
        for number in range(len(self.players)):
            self._end(number)

    def costs(self) -> str:
        """Return a line with the CPU time per move of each engine that made moves, once closed."""
        lines = []
        for player, moves, seconds, answered in zip(
            self.players, self.moves, self.seconds, self.table_moves, strict=True
        ):
            if moves:
                tables = f", tables met for {answered} of {moves} moves" if answered else ""
                lines.append(
                    f"{player.name}: {1000 * seconds / moves:.1f} ms of CPU a move{tables}"
                )
        return "\n".join(lines)


def limits_of(options: Namespace) -> tuple[Limit, Limit]:
    """Return the limits of the first and the second engine; `--clock` replaces all other limits."""
    if options.clock:
        seconds, increment = options.clock
        return (Limit(clock=Clock(seconds, seconds, increment)),) * 2
    first = Limit(options.seconds, options.nodes, options.depth)
    if options.nodes_2 or options.depth_2:
        return first, Limit(None, options.nodes_2, options.depth_2)
    return first, first


def parse_clock(text: str) -> tuple[float, float]:
    """Parse SECONDS or SECONDS+INCREMENT (default 0); raises `ValueError` for other text."""
    seconds, _, increment = text.partition("+")
    return float(seconds), float(increment or 0)


def parse_options(texts: list[str]) -> dict[str, str]:
    """Parse texts NAME=VALUE; returns the values by name. Raises `ValueError` without `=`."""
    return dict(text.split("=", 1) for text in texts)


def arguments() -> Namespace:
    """Parse the command line."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("engines", nargs=2, metavar="PROTOCOL:COMMAND")
    parser.add_argument("--option-1", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--option-2", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--games", type=int, default=20, help="an even number")
    parser.add_argument("--seconds", type=float, help="for a move; default 0.1")
    parser.add_argument("--clock", type=parse_clock, metavar="SECONDS+INCREMENT", help="for a game")
    parser.add_argument("--nodes", type=int, help="for a move")
    parser.add_argument("--depth", type=int, help="in plies")
    parser.add_argument("--nodes-2", type=int, help="of the second engine, instead of --nodes")
    parser.add_argument("--depth-2", type=int, help="of the second engine, instead of --depth")
    parser.add_argument("--plies", type=int, default=6, help="of the openings")
    parser.add_argument("--men", type=int, nargs="+", help="start positions of so many men")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rules", default="wxf", choices=[rules.value for rules in Rules])
    parser.add_argument("--occurrences", type=int, default=3)
    parser.add_argument("--quiet-plies", type=int, default=QUIET_PLIES)
    parser.add_argument("--tables", type=Path)
    parser.add_argument("--save", type=Path)
    options = parser.parse_args()
    if options.games % 2:
        parser.error("--games is an even number: each opening is played twice")
    if not (options.clock or options.seconds or options.nodes or options.depth):
        options.seconds = 0.1
    return options


def main() -> int:
    """Play the match; return 1 after an error, else 0.

    Errors are engines that cannot begin or take their limit, and a `--save` of another match.
    """
    options = arguments()
    rng = random.Random(options.seed)
    if options.men:
        begun = openings.endings(rng, options.men)
    else:
        begun = openings.array(rng, options.plies)
    standing = Standing()
    try:
        with closing(Match(options)) as match:
            for opening in itertools.islice(begun, options.games // 2):
                standing.add([(match.play(opening, side), side) for side in Side])
                print(standing.summary(), flush=True)
    except (PlayerError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for reason, tally in sorted(standing.reasons.items(), key=lambda each: -each[1].total()):
        print(f"{reason}: {signs(tally)}")
    print(match.costs())
    return 0


if __name__ == "__main__":
    sys.exit(main())
