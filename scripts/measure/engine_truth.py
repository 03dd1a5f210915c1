"""What the engine's search says, against tables that it does not see.

    python scripts/measure/engine_truth.py claims --tables DIR [--count N] [--depth D] KRKN ..
    python scripts/measure/engine_truth.py kept --tables DIR [--nodes N] [--fewer] KRKN ..

`claims`: random positions are searched to depths up to D, and whatever is called decided there, by
mate or by the judge, has to be so in the table. A tenth of them is also searched in full width, to
depths up to 3, with and without a hash table, in one thread and in two: all values must be equal.
`kept`: wins in at most so many plies are searched until something is decided or the nodes are used
up; printed are how often the move chosen keeps the win, and how often the win is announced, by
order: 0 for mate or conversion, more by the rules of repetition. `--fewer` lets the search see
the tables of fewer men. Shares have the standard error behind them. Exit status 1 if a table
contradicts the search, or values differ.
"""

import argparse
import math
import sys
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tbgen.engine.search import scores
from tbgen.engine.search.searcher import Iteration, Searcher
from tbgen.indexing import Material, Position, Side
from tbgen.indexing.layout import Layout
from tbgen.play.tablebase import GameTablebase, open_tablebase
from tbgen.probing import NumbaTables
from tbgen.probing.dump import Rows, all_rows, sampled_rows
from tbgen.rules import legal_moves
from tbgen.tables import Outcome

FULL_WIDTH_DEPTH = 3
"""So deep no line is long enough to repeat a position of its own way alone."""


def positions_of(layout: Layout, rows: Rows) -> list[Position]:
    """The positions of rows of a table."""
    boards = layout.boards_of_squares(rows["squares"]).astype(np.uint8)
    sides = rows["side"].tolist()
    return [
        Position(board.tobytes(), Side(side)) for board, side in zip(boards, sides, strict=True)
    ]


def share(part: int, whole: int) -> str:
    """A share in percent, with its standard error."""
    if whole == 0:
        return "-"
    mean = part / whole
    error = math.sqrt(mean * (1 - mean) / whole)
    return f"{100 * mean:.1f} +- {100 * error:.1f} % of {whole}"


class Truth:
    """Searchers, the tables that know better, and what was found out."""

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
        """Search a position without a history, with nothing remembered."""
        searcher = searcher or self.searcher
        searcher.clear()
        searcher.forgive()
        found: list[Iteration] = []
        for each in searcher.think([position], [], rule_set=self.tables.rule_set, **limits):
            found.append(each)
            if until_decided and scores.is_decided(each.lines[0].score):
                break
        return found

    def is_true(self, position: Position, score: int, outcome: int) -> bool:
        """Whether a score contradicts nothing; says so if it does."""
        if not scores.is_decided(score) or (score > 0) - (score < 0) == outcome:
            return True
        self.wrong += 1
        print(f"wrong: {position.fen} {score}, table {outcome}")
        return False

    def claims(self, name: str, count: int, depth: int) -> None:
        """Search random positions of a material to several depths."""
        file = self.tables.table(Material.parse(name))
        rows = sampled_rows(file, count, 1)
        tally: Counter[str] = Counter()
        outcomes = rows["outcome"].tolist()
        for number, position in enumerate(positions_of(file.layout, rows)):
            if not legal_moves(position):
                continue
            for found in self.think(position, depth=1 + number % depth):
                score = found.lines[0].score
                tally["searches"] += 1
                tally["decided"] += scores.is_decided(score)
                tally["by the judge"] += (
                    0
                    < abs(score) - scores.MAX_EVALUATION
                    <= (scores.VERDICT_WIN - scores.MAX_EVALUATION)
                )
                tally["wrong"] += not self.is_true(position, score, outcomes[number])
            tally["positions"] += 1
            if number % 10 == 0:
                tally["full width"] += 1
                tally["unequal"] += not self._are_equal(position)
        self.wrong += tally["unequal"]
        print(f"{name:8} {dict(tally)}", flush=True)

    def _are_equal(self, position: Position) -> bool:
        """Whether all searches in full width have the same values."""
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

    def kept(self, name: str, options: argparse.Namespace) -> None:
        """Search short wins of a material, order by order."""
        material = Material.parse(name)
        if options.fewer:
            fewer = [
                each.material
                for each in self.tables.available()
                if each.rule_set == self.tables.rule_set and each.material.men < material.men
            ]
            self.searcher.use_tables(NumbaTables(self.tables, [str(each) for each in fewer]))
        file = self.tables.table(material)
        rows = np.concatenate(list(all_rows(file)))
        rows = rows[(rows["outcome"] == Outcome.WIN) & (rows["plies"] <= options.plies)]
        for order in np.unique(rows["order"]).tolist():
            drawn = rows[rows["order"] == order]
            drawn = drawn[np.random.default_rng(1).permutation(len(drawn))[: options.count]]
            kept = announced = 0
            for position in positions_of(file.layout, drawn):
                *_, last = self.think(position, until_decided=True, nodes=options.nodes)
                line = last.lines[0]
                self.is_true(position, line.score, Outcome.WIN)
                announced += scores.is_decided(line.score)
                kept += self.tables.probe(position.after(*line.moves[0])).outcome == Outcome.LOSS
            print(
                f"{name:8} order {order}: kept {share(kept, len(drawn))}, "
                f"announced {share(announced, len(drawn))}",
                flush=True,
            )


def main() -> int:
    """Run one of the two."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name, count in (("claims", 1_000), ("kept", 100)):
        command = commands.add_parser(name)
        command.add_argument("materials", nargs="+")
        command.add_argument("--tables", type=Path, required=True)
        command.add_argument("--rules", default="wxf")
        command.add_argument("--count", type=int, default=count)
        if name == "claims":
            command.add_argument("--depth", type=int, default=7)
        else:
            command.add_argument("--nodes", type=int, default=200_000)
            command.add_argument("--plies", type=int, default=8)
            command.add_argument("--fewer", action="store_true")
    options = parser.parse_args()
    with open_tablebase(options.tables, rules=options.rules) as tables:
        truth = Truth(tables)
        for material in options.materials:
            if options.command == "claims":
                truth.claims(material, options.count, options.depth)
            else:
                truth.kept(material, options)
    return int(truth.wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
