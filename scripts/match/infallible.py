"""Does the engine with tables ever spoil what its tables say? Games from positions in them.

    python scripts/match/infallible.py --tables DIR [--count 1000] [--save FILE] KRKNA KRAKN ..

The materials share the positions, which are drawn at random among those where the side to move
draws, wins by mate or conversion, and wins by the rules of repetition, in equal parts as far as
there are so many. That side is played by the engine, which has the tables; the other one by
`--opponent`, which thinks about `--nodes`. The referee judges the whole game: a won position has
to be won, by mate or by his verdict, however long it takes, and a drawn one must not be lost; a
draw is held after 120 plies without a capture. Printed are, by material and kind of position, how
the games ended and how many plies they took. `--save` keeps a line per game; what was stopped
goes on behind the games that the file has. Exit status 1 if anything was spoilt.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from games import BY_THE_RULES, Judges, Played, play_game, save, saved_games, signs
from players import Limit, PlayerError, open_player

from tbgen.indexing import Material, Position, Side
from tbgen.play.tablebase import GameTablebase, open_tablebase
from tbgen.probing.columns import TableColumns, sampled_columns
from tbgen.referee import Rules
from tbgen.tables import Outcome

DRAWN, WON, WON_BY_RULES = "drawn", "won", "won by the rules"

OCCURRENCES = 3
"""How often a position must have stood on the board before the referee speaks."""

LOOKED_AT = 20_000
"""Positions of a material that those to be played are drawn from."""


def kinds_of(columns: TableColumns) -> dict[str, TableColumns]:
    """The rows of each kind of position."""
    won = columns["outcome"] == Outcome.WIN
    return {
        DRAWN: columns.take(columns["outcome"] == Outcome.DRAW),
        WON: columns.take(won & (columns["order"] == 0)),
        WON_BY_RULES: columns.take(won & (columns["order"] > 0)),
    }


def drawn_positions(
    tables: GameTablebase, material: Material, count: int
) -> dict[str, list[Position]]:
    """So many random positions of a material, by kind; fewer if there are no more."""
    file = tables.table(material)
    kinds = kinds_of(sampled_columns(file, LOOKED_AT, 1))
    found = {}
    # Rare kinds first: what they lack of their share is for the others.
    for number, kind in enumerate(sorted(kinds, key=lambda kind: kinds[kind].rows)):
        drawn = np.random.default_rng(1).permutation(kinds[kind].rows)
        columns = kinds[kind].take(drawn[: count // (len(kinds) - number)])
        count -= columns.rows
        if columns.rows:
            found[kind] = list(columns.positions())
    return found


class Trial:
    """The engine and its opponent, the referee, and the file of their games."""

    def __init__(self, options: argparse.Namespace) -> None:
        settings = {"EGTBPaths": str(options.tables.resolve()), "Rules": options.rules}
        self.players = open_player(options.engine, settings), open_player(options.opponent)
        self.limit = Limit(nodes=options.nodes)
        rules = Rules(options.rules)
        self.draws = Judges(rules, OCCURRENCES)
        self.wins = Judges(rules, OCCURRENCES, quiet_plies=None)
        self.file: Path | None = options.save
        self.saved = saved_games(self.file)

    def play(self, kind: str, position: Position) -> Played:
        """A game from a position, or the next one of the file.

        Raises `ValueError` if that one has begun otherwise.
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
    """Return whether a game has given less to the side that moved first than the tables do."""
    return played.points_of(played.start.side) < (0.5 if kind == DRAWN else 1.0)


def report(material: Material, kind: str, games: list[Played]) -> None:
    """Print what has become of the positions of a kind."""
    points = Counter(played.points_of(played.start.side) for played in games)
    plies = [len(played.moves) for played in games]
    judged = sum(played.reason == BY_THE_RULES for played in games)
    print(
        f"{material.name:6} {kind:16} {len(games):4}: {signs(points)}, {judged} by the referee's "
        f"verdict; {statistics.median(plies):.0f} plies, at most {max(plies)}",
        flush=True,
    )
    for played in games:
        if is_spoilt(kind, played):
            moves = " ".join(move.iccs for move in played.moves)
            print(f"spoilt: {played.start.fen} moves {moves}: {played.reason}")


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("materials", nargs="+", metavar="MATERIAL")
    parser.add_argument("--tables", type=Path, required=True)
    parser.add_argument("--rules", default="wxf", choices=[rules.value for rules in Rules])
    parser.add_argument("--engine", default="uci:tbgen-engine", metavar="PROTOCOL:COMMAND")
    parser.add_argument("--opponent", default="uci:fairy-stockfish", metavar="PROTOCOL:COMMAND")
    parser.add_argument("--nodes", type=int, default=3_000, help="of the opponent")
    parser.add_argument("--count", type=int, default=1_000, help="positions in all")
    parser.add_argument("--save", type=Path)
    return parser.parse_args()


def main() -> int:
    """Play all positions; exit status 1 if a game was spoilt, or an engine does not start."""
    options = arguments()
    spoilt, share = 0, len(options.materials)
    try:
        trial = Trial(options)
        with open_tablebase(options.tables, rules=options.rules) as tables:
            for number, name in enumerate(options.materials):
                material = Material.parse(name)
                count = (number + 1) * options.count // share - number * options.count // share
                for kind, positions in drawn_positions(tables, material, count).items():
                    games = [trial.play(kind, position) for position in positions]
                    spoilt += sum(is_spoilt(kind, played) for played in games)
                    report(material, kind, games)
        trial.close()
    except (PlayerError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return int(spoilt > 0)


if __name__ == "__main__":
    sys.exit(main())
