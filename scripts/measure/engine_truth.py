"""Compare scores of the engine's search with tables that the search does not use.

    python scripts/measure/engine_truth.py claims --tables DIR [--count N] [--depth D] KRKN ..
    python scripts/measure/engine_truth.py claims --tables DIR [--count N] --nodes N KRKN ..
    python scripts/measure/engine_truth.py kept --tables DIR [--nodes N] [--fewer] KRKN ..

`claims` searches random positions to depths up to D, or with N nodes. With `--nodes`, proof search
runs, too. A decided score (a mate, or a verdict of the referee) must agree with the table. A tenth
of the positions is also searched in full width to depths up to 3, three times: with a hash table,
without one, and in two threads with one. The values of these searches must be equal.

`kept` searches positions that the table wins in at most `--plies` plies, until the score is decided
or the nodes are used up. It prints two shares with standard errors: how often the chosen move keeps
the win, and how often the search announces the win. There is a line for each order (0: mate or
conversion; above: rules of repetition), from up to `--count` random wins of that order. Then come
means over the orders of a material, weighted by their numbers of wins, and at last means over the
materials. `--fewer` gives the search the tables of fewer men.

Exit status 1 if a decided score contradicts a table, or the values of full-width searches differ.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from frame import arguments
from short_wins import Share, ShortWins, share_of, weighted

from tbgen.engine.search import scores
from tbgen.engine.search.scores import Iteration
from tbgen.engine.search.searcher import Searcher
from tbgen.indexing import Material, Position
from tbgen.play.tablebase import GameTablebase, open_tablebase
from tbgen.probing import NumbaTables
from tbgen.probing.columns import sampled_columns
from tbgen.rules import legal_moves
from tbgen.tables import Outcome

FULL_WIDTH_DEPTH = 3
"""Largest depth at which no line can return to one of its positions."""


class Kept(NamedTuple):
    """Two shares of a sample of won positions.

    `kept`: the chosen move keeps the win; `announced`: the search reports the win.
    """

    kept: Share
    announced: Share

    def __str__(self) -> str:
        """Format the two shares for the report."""
        return f"kept {self.kept}, announced {self.announced}"


def together(parts: list[Kept], weights: list[int]) -> Kept:
    """Return the mean of both shares over several samples, weighted by `weights`."""
    kept, announced = zip(*parts, strict=True)
    return Kept(weighted(kept, weights), weighted(announced, weights))


KINDS = {
    "mate or conversion": lambda order: order == 0,
    "rules": lambda order: order > 0,
    "all": lambda order: True,
}
"""For each kind of win, a function that returns whether an order is of this kind."""


class Truth:
    """Comparison of searches with tables; `wrong` counts contradictions and unequal searches.

    `others` are two more searchers for full width: without a hash table, and with two threads.
    """

    def __init__(self, tables: GameTablebase) -> None:
        self.tables = tables
        self.searcher = Searcher(hash_mebibytes=16)
        self.others = Searcher(hash_mebibytes=0), Searcher(hash_mebibytes=4)
        self.others[1].use_threads(2)
        self.wrong = 0

    def think(
        self,
        position: Position,
        *,
        until_decided: bool = False,
        searcher: Searcher | None = None,
        **limits: int,
    ) -> list[Iteration]:
        """Search a position without a history, and return the result of each iteration.

        The hash table is emptied first.

        until_decided : end after the first iteration with a decided score
        searcher : None for the searcher with one thread and a hash table
        limits : other arguments of `Searcher.think`, such as `depth` or `nodes`
        """
        searcher = searcher or self.searcher
        searcher.clear()
        searcher.clear_stop()
        found: list[Iteration] = []
        for each in searcher.think([position], [], rule_set=self.tables.rule_set, **limits):
            found.append(each)
            if until_decided and scores.is_decided(each.lines[0].score):
                break
        return found

    def is_true(self, position: Position, score: int, outcome: int) -> bool:
        """Return whether a score agrees with the table or is undecided; print and count if not.

        outcome : the table's, 1, 0 or -1 for the side to move
        """
        if not scores.is_decided(score) or (score > 0) - (score < 0) == outcome:
            return True
        self.wrong += 1
        print(f"wrong: {position.fen} {score}, table {outcome}")
        return False

    def claims(
        self, name: str, count: int, depth: int, nodes: int | None = None, seed: int = 1
    ) -> None:
        """Search random positions, compare decided scores with the table, and print the counts.

        name : material of the table
        count, seed : size and seed of the random sample of positions
        depth : position number i is searched to depth 1 + i mod `depth`
        nodes : nodes of every search, in place of depths; None for depths
        """
        file = self.tables.table(Material.parse(name))
        columns = sampled_columns(file, count, seed)
        tally: Counter[str] = Counter()
        outcomes = columns["outcome"].tolist()
        for number, position in enumerate(columns.positions()):
            if not legal_moves(position):
                continue
            limits = {"depth": 1 + number % depth} if nodes is None else {"nodes": nodes}
            for found in self.think(position, **limits):
                score = found.lines[0].score
                tally["searches"] += 1
                tally["decided"] += scores.is_decided(score)
                by_judge = scores.MAX_EVALUATION < abs(score) <= scores.VERDICT_WIN
                tally["by judge or proof"] += by_judge
                tally["wrong"] += not self.is_true(position, score, outcomes[number])
            tally["positions"] += 1
            if number % 10 == 0:
                tally["full width"] += 1
                tally["unequal"] += not self._are_equal(position)
        self.wrong += tally["unequal"]
        print(f"{name:8} {dict(tally)}", flush=True)

    def _are_equal(self, position: Position) -> bool:
        """Return whether all full-width searches give the same values; print them if not."""
        values = {
            tuple(
                found.lines[0].score
                for found in self.think(
                    position, searcher=searcher, depth=FULL_WIDTH_DEPTH, full_width=True
                )
            )
            for searcher in (self.searcher, *self.others)
        }
        if len(values) > 1:
            print(f"unequal: {position.fen} {values}")
        return len(values) == 1

    def kept(self, name: str, options: argparse.Namespace) -> dict[str, Kept]:
        """Search short wins of a material, order by order, and print the two shares of `Kept`.

        Returns the means of both shares over the orders of each kind of win (`KINDS`) that occurs,
        weighted by the numbers of wins.

        name, options : the material, and the options of the command `kept`
        """
        material = Material.parse(name)
        if options.fewer:
            fewer = [
                each.material
                for each in self.tables.available()
                if each.rule_set == self.tables.rule_set and each.material.men < material.men
            ]
            self.searcher.use_tables(NumbaTables(self.tables, [str(each) for each in fewer]))
        file = self.tables.table(material)
        wins = ShortWins(file, options.plies)
        of_order: dict[int, Kept] = {}
        for order, positions in sorted(wins.positions.items()):
            drawn = wins.draw(order, options.count, options.seed)
            kept = announced = 0
            for position in drawn.positions():
                *_, last = self.think(position, until_decided=True, nodes=options.nodes)
                line = last.lines[0]
                self.is_true(position, line.score, Outcome.WIN)
                announced += scores.is_decided(line.score)
                kept += self.tables.probe(position.after(*line.moves[0])).outcome == Outcome.LOSS
            of_order[order] = Kept(
                *(share_of(part, drawn.rows, positions) for part in (kept, announced))
            )
            print(
                f"{name:8} order {order}: {of_order[order]}, {drawn.rows} of {positions}",
                flush=True,
            )
        found = {}
        for kind, is_meant in KINDS.items():
            orders = [order for order in of_order if is_meant(order)]
            if orders:
                found[kind] = together(
                    [of_order[order] for order in orders],
                    [wins.positions[order] for order in orders],
                )
                print(f"{name:8} {kind}: {found[kind]}", flush=True)
        return found


def main() -> int:
    """Run `claims` or `kept`; return the exit status."""
    parser = arguments(__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, count in (("claims", 1_000), ("kept", 100)):
        command = commands.add_parser(name)
        command.add_argument("materials", nargs="+")
        command.add_argument("--tables", type=Path, required=True)
        command.add_argument("--rules", default="wxf")
        command.add_argument("--count", type=int, default=count)
        command.add_argument("--seed", type=int, default=1)
        if name == "claims":
            command.add_argument("--depth", type=int, default=7)
            command.add_argument("--nodes", type=int)
        else:
            command.add_argument("--nodes", type=int, default=200_000)
            command.add_argument("--plies", type=int, default=8)
            command.add_argument("--fewer", action="store_true")
    options = parser.parse_args()
    with open_tablebase(options.tables, rules=options.rules) as tables:
        truth = Truth(tables)
        if options.command == "claims":
            for material in options.materials:
                truth.claims(material, options.count, options.depth, options.nodes, options.seed)
        else:
            found = [truth.kept(material, options) for material in options.materials]
            for kind in KINDS:
                parts = [each[kind] for each in found if kind in each]
                if parts:
                    mean = together(parts, [1] * len(parts))
                    print(f"{len(parts)} materials, {kind}: {mean}")
    return int(truth.wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
