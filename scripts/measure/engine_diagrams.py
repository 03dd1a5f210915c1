"""Count the rule-book diagrams that the engine's search decides.

    python scripts/measure/engine_diagrams.py [--nodes N]

Searches the first position of every loop in `tests/data/repetition_cases.json` without a history,
under all rules of repetition and under none, until it is decided or the nodes are used up. Prints
the decisions for the side to move, their number, and how many need the rules of repetition.
Positions that no game can reach are left out.
"""

import json
from pathlib import Path

from frame import arguments

from tbgen.engine.search import scores
from tbgen.engine.search.scores import Iteration
from tbgen.engine.search.searcher import Searcher
from tbgen.indexing import Position, PositionError
from tbgen.tables import Rules
from tbgen.tables.names import RuleSet

CASES = Path(__file__).resolve().parents[2] / "tests" / "data" / "repetition_cases.json"


def solve(searcher: Searcher, position: Position, rules: Rules, nodes: int) -> Iteration | None:
    """Search a position; return the iteration that decided it, or None."""
    searcher.clear()
    searcher.clear_stop()
    for found in searcher.think([position], [], rule_set=RuleSet(rules), nodes=nodes):
        if scores.is_decided(found.lines[0].score):
            return found
    return None


def main() -> None:
    """Read the command line, and count the decided diagrams."""
    parser = arguments(__doc__)
    parser.add_argument("--nodes", type=int, default=300_000)
    options = parser.parse_args()
    searcher = Searcher(hash_mebibytes=64)
    positions = {case["fen"]: case for case in json.loads(CASES.read_text(encoding="utf-8"))}
    searched = decided = by_rules = 0
    for fen, case in positions.items():
        try:
            position = Position.from_fen(fen)
        except PositionError:
            continue
        searched += 1
        found = solve(searcher, position, Rules.WXF, options.nodes)
        if found is None:
            continue
        decided += 1
        alone = solve(searcher, position, Rules.NONE, options.nodes) is None
        by_rules += alone
        line = found.lines[0]
        print(
            f"{case['diagram'] or '-':5} {case['id']:14} {'won' if line.score > 0 else 'lost':4} "
            f"{'by the rules alone' if alone else 'by mate':18} depth {found.depth:2} "
            f"nodes {found.nodes:7} {' '.join(move.iccs for move in line.moves[:4])}",
            flush=True,
        )
    print(f"{searched} positions, {decided} decided, {by_rules} of them by the rules alone")


if __name__ == "__main__":
    main()
