"""Cost of judging repetitions in the engine's search, and the share that a shortcut decides.

    python scripts/measure/bench_judge.py [--nodes N] [--repeat R]

Searches the same positions under all rules of repetition, under perpetual checks only, and under
none, where every repetition is a draw. The positions are those of scripts/measure/bench_engine.py,
and the first positions of the loops in `tests/data/repetition_cases.json`. Where a draw is enough
for a cutoff, a shortcut decides a repetition from the moves of the side to move alone (Tan &
Watkinson Medina, section 5.2).

Prints a line for each rule set, for each position of bench_engine.py and for all loops together:
nodes a CPU second (best of R rounds) and their ratio to no rules; judged repetitions in a thousand
nodes, and the percentage of them that were draws where a draw was enough, by the shortcut or by
equal offences of both sides.
"""

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from bench_engine import SPEED_POSITIONS
from frame import ROOT, arguments, by_turns

from tbgen.engine.search.searcher import Searcher
from tbgen.indexing import Position, PositionError
from tbgen.tables import Rules
from tbgen.tables.rule_sets import RuleSet

CASES = ROOT / "tests" / "data" / "repetition_cases.json"


@dataclass(slots=True)
class Cost:
    """Totals of the searches of all positions under one rule set.

    `seconds` is CPU time. `judged` counts judged repetitions; `spared` those judged a draw where a
    draw was enough for a cutoff. The shortcut decides these, except for draws by equal offences.
    """

    seconds: float = 0.0
    nodes: int = 0
    judged: int = 0
    spared: int = 0


def diagrams() -> list[Position]:
    """List the first positions of the published loops, each once; invalid ones are left out."""
    positions = {}
    for case in json.loads(CASES.read_text(encoding="utf-8")):
        try:
            positions[case["fen"]] = Position.from_fen(case["fen"])
        except PositionError:
            continue
    return list(positions.values())


def cost(searcher: Searcher, positions: Sequence[Position], rules: Rules, nodes: int) -> Cost:
    """Search each position to `nodes` nodes from an empty hash table; return the total cost."""
    total = Cost()
    for position in positions:
        searcher.clear()
        searcher.clear_stop()
        begin = time.process_time()
        *_, last = searcher.think([position], [], rule_set=RuleSet(rules), nodes=nodes)
        total.seconds += time.process_time() - begin
        total.nodes += last.nodes
        total.judged += last.judged
        total.spared += last.spared
    return total


def compare(
    searcher: Searcher, name: str, positions: Sequence[Position], options: argparse.Namespace
) -> None:
    """Search positions under each rule set; print a line of cost, titled `name`, for each set."""
    ways = {
        rules: partial(cost, searcher, positions, rules, options.nodes)
        for rules in (Rules.NONE, Rules.CHECK, Rules.WXF)
    }
    least = by_turns(ways, options.repeat, lambda used: used.seconds)
    free = least[Rules.NONE].nodes / least[Rules.NONE].seconds
    for rules, used in least.items():
        rate = used.nodes / used.seconds
        print(
            f"{name:12} {rules:5} {rate / 1e6:5.2f} M nodes/s, {rate / free:.3f} of none; "
            f"{1000 * used.judged / used.nodes:5.2f} judged in 1000 nodes, "
            f"{100 * used.spared / max(1, used.judged):4.1f} % of them by one side's conduct",
            flush=True,
        )


def main() -> None:
    """Read the command line, and compare the costs."""
    parser = arguments(__doc__)
    parser.add_argument("--nodes", type=int, default=200_000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    searcher = Searcher(hash_mebibytes=16)
    searcher.warm_up()
    for name, fen in SPEED_POSITIONS.items():
        compare(searcher, name, [Position.from_fen(fen)], options)
    compare(searcher, "diagrams", diagrams(), options)


if __name__ == "__main__":
    main()
