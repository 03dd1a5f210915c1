"""Check by games that the engine with tables keeps the result that its tables give.

    python scripts/match/infallible.py --tables DIR [--count 1000] [--save FILE] KRKNA KRAKN ..

Positions are divided evenly among the materials, and as far as possible among three kinds: the side
to move draws, wins by mate or conversion, or wins by the rules of repetition. The engine with the
tables plays that side, `--opponent` the other one. Both search at most `--nodes` for a move.

The referee judges the whole game. A won position must be won by mate or by the referee's verdict,
in any number of plies. A drawn position must not be lost; its game is drawn after 120 plies without
a capture. Prints the results of the games and their plies, by material and kind of position.
`--save` keeps a line per game, and an interrupted run resumes after the saved games. Exit status 1
if a result was worse than the tables' (the game is *spoilt*), or after an error.
"""

from __future__ import annotations

import statistics
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections import Counter
from contextlib import closing
from pathlib import Path

import numpy as np
from games import LOST_BY_REPETITION, Judges, Played, play_game, save, saved_games, signs
from players import Limit, PlayerError, open_players

from tbgen.indexing import Material, Position, Side
from tbgen.play.tablebase import GameTablebase, open_tablebase
from tbgen.probing.columns import TableColumns, sampled_columns
from tbgen.referee import Rules
from tbgen.tables import Outcome

DRAWN, WON, WON_BY_RULES = "drawn", "won", "won by the rules"

OCCURRENCES = 3
"""Number of occurrences of a position at which the referee judges a repetition."""

SAMPLE_SIZE = 20_000
"""Size of the random sample of a material from which the starting positions are drawn."""


def kinds_of(columns: TableColumns) -> dict[str, TableColumns]:
    """Divide positions by kind: `DRAWN`, `WON` by mate or conversion, `WON_BY_RULES`.

    columns : positions with their values; lost positions are left out
    """
    won = columns["outcome"] == Outcome.WIN
    return {
        DRAWN: columns.take(columns["outcome"] == Outcome.DRAW),
        WON: columns.take(won & (columns["order"] == 0)),
        WON_BY_RULES: columns.take(won & (columns["order"] > 0)),
    }


def sampled_positions(
    tables: GameTablebase, material: Material, count: int
) -> dict[str, list[Position]]:
    """Choose up to `count` random starting positions of a material; return them by kind.

    Each kind (`kinds_of`) gets an equal part of `count` if a sample of `SAMPLE_SIZE` positions has
    enough of it; else the others get more. A kind that the sample lacks has no key.
    """
    file = tables.table(material)
    kinds = kinds_of(sampled_columns(file, SAMPLE_SIZE, 1))
    found = {}
    # Rare kinds first: the unused part of their share goes to the other kinds.
    for number, kind in enumerate(sorted(kinds, key=lambda kind: kinds[kind].rows)):
        drawn = np.random.default_rng(1).permutation(kinds[kind].rows)
        columns = kinds[kind].take(drawn[: count // (len(kinds) - number)])
        count -= columns.rows
        if columns.rows:
            found[kind] = list(columns.positions())
    return found


class Trial:
    """A series of games between `players`, the engine and its opponent, with a file of the games.

    `draws` judges games from drawn positions; `wins` judges the others, without a limit of plies.
    `saved` has the games of an earlier run that `play` has not returned yet.
    """

    def __init__(self, options: Namespace) -> None:
        self.limit = Limit(nodes=options.nodes)
        rules = Rules(options.rules)
        self.draws = Judges(rules, OCCURRENCES)
        self.wins = Judges(rules, OCCURRENCES, quiet_plies=None)
        self.file: Path | None = options.save
        self.saved = saved_games(self.file)
        settings = {"EGTBPaths": str(options.tables.resolve()), "Rules": options.rules}
        self.players = open_players((options.engine, settings), (options.opponent, {}))

    def play(self, kind: str, position: Position) -> Played:
        """Play a game from a position of a kind, and save it; or return the next saved game.

        Raises `ValueError` if the saved game has another start.
        """
        if self.saved:
            played = self.saved.pop(0)
            if played.start != position:
                raise ValueError(f"{self.file} has other games")
            return played
        by_colour = self.players[:: 1 if position.side == Side.RED else -1]
        judges = self.draws if kind == DRAWN else self.wins
        played = play_game(by_colour, position, (), (self.limit, self.limit), judges)
        if self.file is not None:
            save(self.file, " - ".join(player.name for player in by_colour), played)
        return played

    def close(self) -> None:
        """End the engines."""
        for player in self.players:
            player.close()


def is_spoilt(kind: str, played: Played) -> bool:
    """Return whether the engine, first to move, got under 0.5 points (`DRAWN`) or 1 (others)."""
    return played.points_of(played.start.side) < (0.5 if kind == DRAWN else 1.0)


def report(material: Material, kind: str, games: list[Played]) -> None:
    """Print the results of one material's games from positions of one kind, and spoilt games."""
    points = Counter(played.points_of(played.start.side) for played in games)
    plies = [len(played.moves) for played in games]
    judged = sum(played.reason == LOST_BY_REPETITION for played in games)
    print(
        f"{material.name:6} {kind:16} {len(games):4}: {signs(points)}, {judged} by the referee's "
        f"verdict; {statistics.median(plies):.0f} plies, at most {max(plies)}",
        flush=True,
    )
    for played in games:
        if is_spoilt(kind, played):
            moves = " ".join(move.iccs for move in played.moves)
            print(f"spoilt: {played.start.fen} moves {moves}: {played.reason}")


def arguments() -> Namespace:
    """Parse the command line."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("materials", nargs="+", metavar="MATERIAL")
    parser.add_argument("--tables", type=Path, required=True)
    parser.add_argument("--rules", default="wxf", choices=[rules.value for rules in Rules])
    parser.add_argument("--engine", default="uci:tbgen-engine", metavar="PROTOCOL:COMMAND")
    parser.add_argument("--opponent", default="uci:fairy-stockfish", metavar="PROTOCOL:COMMAND")
    parser.add_argument("--nodes", type=int, default=3_000, help="of each move")
    parser.add_argument("--count", type=int, default=1_000, help="positions in all")
    parser.add_argument("--save", type=Path)
    return parser.parse_args()


def main() -> int:
    """Play a game from each position; return 1 if a game is spoilt, or after an error, else 0."""
    options = arguments()
    spoilt, share = 0, len(options.materials)
    try:
        with (
            open_tablebase(options.tables, rules=options.rules) as tables,
            closing(Trial(options)) as trial,
        ):
            for number, name in enumerate(options.materials):
                material = Material.parse(name)
                count = (number + 1) * options.count // share - number * options.count // share
                for kind, positions in sampled_positions(tables, material, count).items():
                    games = [trial.play(kind, position) for position in positions]
                    spoilt += sum(is_spoilt(kind, played) for played in games)
                    report(material, kind, games)
    except (PlayerError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return int(spoilt > 0)


if __name__ == "__main__":
    sys.exit(main())
