"""A match between two engines, judged by our referee.

    python scripts/match/play.py uci:tbgen-engine uci:/usr/games/fairy-stockfish --games 100 \
        --seconds 0.1 [--option-1 Hash=64] [--tables egtb] [--save games.txt]

Every opening is some random plies from the opening array, or with `--men` a random position of so
many men that a short search calls nearly even, and is played twice with colours reversed. A game
ends by mate or stalemate, by a repetition that the rules decide (with `--occurrences` of a
position, 3 unless said otherwise), by a table where `--tables` has one, and is drawn after
`--quiet-plies` without a capture, 120 unless said otherwise (100 for engines that would end such
a game themselves). An illegal move loses, and so does an engine that ends; it is started again.
Limits hold for both engines, `--nodes-2` and `--depth-2` for the second alone; `--clock 10+0.1`
gives each ten seconds for a game and a tenth for every move, and who has used them up has lost.

Printed are the games of the first engine, its score with the standard error over pairs of games,
and the difference in Elo that this stands for; then why games ended, and how each reason fell out
for the first engine; at the end the processor time of each engine for a move, its start included,
which says how equal limits of nodes were, and for how many moves it met positions of its tables.
`--save` keeps a line per game: engines, result, why it ended, FEN and moves; a match that was
stopped goes on behind the games that the file has.

What the rules of repetition are worth, by games between the engine that knows all of them and the
engine that knows perpetual checks only:

    python scripts/match/play.py uci:tbgen-engine uci:tbgen-engine --option-2 Rules=check \
        --games 600 --seconds 0.02 --save rules.txt

What tables are worth, by games of the engine that has them against the one that has none:

    python scripts/match/play.py uci:tbgen-engine uci:tbgen-engine --option-1 EGTBPaths=egtb \
        --option-2 UseEGTB=false --men 6 7 8 --games 200 --nodes 20000 --save tables.txt
"""

from __future__ import annotations

import argparse
import itertools
import math
import random
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import openings
from games import QUIET_PLIES, Judges, Played, play_game, save, saved_games, signs
from players import Clock, Limit, PlayerError, open_player

from tbgen.indexing import Side
from tbgen.play.tablebase import open_tablebase
from tbgen.referee import Rules


@dataclass(slots=True)
class Standing:
    """The score of the games so far for the first engine."""

    pairs: list[float] = field(default_factory=list)
    """Its points of each pair of games, 0 to 2."""
    tally: Counter[float] = field(default_factory=Counter)
    reasons: dict[str, Counter[float]] = field(default_factory=dict)

    def add(self, pair: Sequence[tuple[Played, Side]]) -> None:
        """Count two games of one opening, each with the colour of the first engine."""
        points = [played.points_of(side) for played, side in pair]
        self.pairs.append(sum(points))
        for (played, _), won in zip(pair, points, strict=True):
            self.tally[won] += 1
            self.reasons.setdefault(played.reason, Counter())[won] += 1

    def summary(self) -> str:
        """The score, its standard error over pairs, and the Elo difference."""
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
    """The difference in rating at which a score is expected; at most 1200 either way."""
    score = min(max(score, 1e-3), 1 - 1e-3)
    return 400 * math.log10(score / (1 - score))


class Match:
    """Two engines, what they may use, who judges them, and the file of their games."""

    def __init__(self, options: argparse.Namespace) -> None:
        settings = parse_options(options.option_1), parse_options(options.option_2)
        self.engines = list(zip(options.engines, settings, strict=True))
        self.players = [open_player(*engine) for engine in self.engines]
        self.seconds = [0.0, 0.0]
        """Processor time of engines that have ended."""
        self.limits = limits_of(options)
        tables = open_tablebase(options.tables, rules=options.rules) if options.tables else None
        self.judges = Judges(Rules(options.rules), options.occurrences, tables, options.quiet_plies)
        self.file: Path | None = options.save
        self.saved = saved_games(self.file)
        self.moves = [0, 0]
        """How many moves each engine has made since the start of this program."""
        self.table_moves = [0, 0]
        """Moves of engines that have ended for which their tables answered."""

    def play(self, opening: openings.Opening, first: Side) -> Played:
        """A game with the first engine on a side, or the next one of the file.

        Raises `ValueError` if that one has begun otherwise.
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
        """Start engines that failed in the game before."""
        for number, player in enumerate(self.players):
            if player.failed:
                self.seconds[number] += player.close()
                self.table_moves[number] += player.table_moves
                self.players[number] = open_player(*self.engines[number])

    @staticmethod
    def _moves_made(played: Played, opening: int, first: Side) -> tuple[int, int]:
        """Count the moves of the first engine in a game, and of the second."""
        made = len(played.moves) - opening
        begins = Side((played.start.side + opening) % 2)
        mine = (made + (begins == first)) // 2
        return mine, made - mine

    def close(self) -> list[str]:
        """End the engines; what a move has cost each that has made any, as lines of text."""
        lines = []
        for number, (player, moves) in enumerate(zip(self.players, self.moves, strict=True)):
            seconds = self.seconds[number] + player.close()
            answered = self.table_moves[number] + player.table_moves
            if moves:
                tables = f", tables met for {answered} of {moves} moves" if answered else ""
                lines.append(
                    f"{player.name}: {1000 * seconds / moves:.1f} ms of CPU a move{tables}"
                )
        return lines


def limits_of(options: argparse.Namespace) -> tuple[Limit, Limit]:
    """The limits of each engine for a move."""
    if options.clock:
        seconds, increment = options.clock
        return (Limit(clock=Clock(seconds, seconds, increment)),) * 2
    first = Limit(options.seconds, options.nodes, options.depth)
    if options.nodes_2 or options.depth_2:
        return first, Limit(None, options.nodes_2, options.depth_2)
    return first, first


def parse_clock(text: str) -> tuple[float, float]:
    """SECONDS+INCREMENT as two numbers; raises `ValueError` if it is none."""
    seconds, _, increment = text.partition("+")
    return float(seconds), float(increment or 0)


def parse_options(texts: list[str]) -> dict[str, str]:
    """NAME=VALUE as a mapping."""
    return dict(text.split("=", 1) for text in texts)


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("engines", nargs=2, metavar="PROTOCOL:COMMAND")
    parser.add_argument("--option-1", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--option-2", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--games", type=int, default=20, help="an even number")
    parser.add_argument("--seconds", type=float, help="for a move; 0.1 where nothing is said")
    parser.add_argument("--clock", type=parse_clock, metavar="SECONDS+INCREMENT", help="for a game")
    parser.add_argument("--nodes", type=int, help="for a move")
    parser.add_argument("--depth", type=int, help="in plies")
    parser.add_argument("--nodes-2", type=int, help="of the second engine, in place of the above")
    parser.add_argument("--depth-2", type=int, help="the same for an engine that counts no nodes")
    parser.add_argument("--plies", type=int, default=6, help="of the openings")
    parser.add_argument("--men", type=int, nargs="+", help="begin with so many, at random")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rules", default="wxf", choices=[rules.value for rules in Rules])
    parser.add_argument("--occurrences", type=int, default=3)
    parser.add_argument("--quiet-plies", type=int, default=QUIET_PLIES)
    parser.add_argument("--tables", type=Path)
    parser.add_argument("--save", type=Path)
    options = parser.parse_args()
    if not (options.clock or options.seconds or options.nodes or options.depth):
        options.seconds = 0.1
    return options


def main() -> int:
    """Play the match; exit status 1 if an engine does not start, or another match was saved."""
    options = arguments()
    rng = random.Random(options.seed)
    if options.men:
        begun = openings.endings(rng, options.men)
    else:
        begun = openings.array(rng, options.plies)
    standing = Standing()
    try:
        match = Match(options)
        for opening in itertools.islice(begun, options.games // 2):
            standing.add([(match.play(opening, side), side) for side in Side])
            print(standing.summary(), flush=True)
    except (PlayerError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for reason, tally in sorted(standing.reasons.items(), key=lambda each: -each[1].total()):
        print(f"{reason}: {signs(tally)}")
    print("\n".join(match.close()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
