"""What the engine's search is worth: its speed, and its claims against tables.

    python scripts/measure/bench_engine.py speed
    python scripts/measure/bench_engine.py claims --tables DIR [--count N] [--nodes N] KRKN ...

`speed`: nodes a CPU second on one thread, with judge and hash table, as a ratio to perft of the
same run. `claims`: positions drawn from tables are searched without them, until something is
decided or the nodes are used up; printed are the decisions that the table contradicts (one is a
bug), and of the wins in at most so many plies how often the move chosen keeps the win, and how
often the search announces it, for wins by mate or conversion and by the rules. Exit status 1 if a
table contradicts the search.
"""

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tbgen.engine.search import scores
from tbgen.engine.search.searcher import Iteration, Searcher
from tbgen.indexing import START_FEN, Material, Position, Side
from tbgen.play.tablebase import GameTablebase, open_tablebase
from tbgen.probing.dump import all_rows
from tbgen.tables import Outcome
from tbgen.tables.names import RuleSet

SPEED_POSITIONS = {
    "opening": START_FEN,
    "middle game": "r1ba1a3/4kn3/2n1b4/pNp1p1p1p/4c4/6P2/P1P2R2P/1CcC5/9/2BAKAB2 w",
    "ending": "3ak4/4a4/4b4/9/2p3N2/6P2/4r4/4B4/4A4/R2AK4 w",
}


def speed(searcher: Searcher, nodes: int) -> None:
    """Print perft and search a CPU second for each position."""
    searcher.perft(Position.from_fen(START_FEN), 1)
    for name, fen in SPEED_POSITIONS.items():
        position = Position.from_fen(fen)
        begin = time.process_time()
        counted = searcher.perft(position, 4)
        perft = counted / (time.process_time() - begin)
        searcher.clear()
        searcher.forgive()
        begin = time.process_time()
        *_, last = searcher.think([position], [], nodes=nodes)
        rate = last.nodes / (time.process_time() - begin)
        print(
            f"{name:12} perft {perft / 1e6:5.1f} M/s   search {rate / 1e6:5.2f} M/s   "
            f"ratio {rate / perft:.3f}   depth {last.depth}"
        )


def decide(
    searcher: Searcher, position: Position, rule_set: RuleSet, nodes: int
) -> Iteration | None:
    """Search until something is decided, or the nodes are used up."""
    searcher.clear()
    searcher.forgive()
    found = None
    for found in searcher.think([position], [], rule_set=rule_set, nodes=nodes):
        if scores.is_decided(found.lines[0].score):
            break
    return found


def claims(
    searcher: Searcher, tables: GameTablebase, name: str, options: argparse.Namespace
) -> int:
    """Print what a material's positions show; returns how many claims are wrong."""
    file = tables.table(Material.parse(name))
    everything = np.concatenate(list(all_rows(file)))
    short = (everything["outcome"] == 1) & (everything["plies"] <= options.plies)
    groups = {
        "any": everything,
        "won": everything[short & (everything["order"] == 0)],
        "won by rules": everything[short & (everything["order"] > 0)],
    }
    wrong = 0
    for group, rows in groups.items():
        drawn = np.random.default_rng(1).permutation(len(rows))[: options.count]
        boards = file.layout.boards_of_squares(rows[drawn]["squares"]).astype(np.uint8)
        tally: Counter[str] = Counter()
        for row, board in zip(rows[drawn], boards, strict=True):
            position = Position(board.tobytes(), Side(int(row["side"])))
            found = decide(searcher, position, tables.rule_set, options.nodes)
            if found is None:
                continue
            tally["positions"] += 1
            line = found.lines[0]
            if scores.is_decided(line.score):
                tally["claims"] += 1
                tally["by the judge"] += abs(line.score) <= scores.VERDICT_WIN
                if (line.score > 0) - (line.score < 0) != row["outcome"]:
                    tally["wrong"] += 1
                    print(f"wrong: {position.fen} {line.score}, table {row['outcome']}")
            if row["outcome"] == Outcome.WIN:
                after = position.after(*line.moves[0])
                tally["wins"] += 1
                tally["kept"] += tables.probe(after).outcome == Outcome.LOSS
        wrong += tally["wrong"]
        print(f"{name:10} {group:13} of {len(rows):>9,}: {dict(tally)}", flush=True)
    return wrong


def main() -> int:
    """Run one of the two."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    fast = commands.add_parser("speed")
    fast.add_argument("--nodes", type=int, default=1_000_000)
    proof = commands.add_parser("claims")
    proof.add_argument("materials", nargs="+")
    proof.add_argument("--tables", type=Path, required=True)
    proof.add_argument("--rules", default="wxf")
    proof.add_argument("--count", type=int, default=100)
    proof.add_argument("--nodes", type=int, default=200_000)
    proof.add_argument("--plies", type=int, default=8)
    options = parser.parse_args()
    searcher = Searcher(hash_mebibytes=16)
    searcher.warm_up()
    if options.command == "speed":
        speed(searcher, options.nodes)
        return 0
    with open_tablebase(options.tables, rules=options.rules) as tables:
        return int(sum(claims(searcher, tables, name, options) for name in options.materials) > 0)


if __name__ == "__main__":
    sys.exit(main())
