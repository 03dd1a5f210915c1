"""Search materials with one attacking side for patterns of repetition.

    python scripts/reproduce/one_armed.py --men 4               a quick run
    python scripts/reproduce/one_armed.py --men 5               all materials of docs/proof.md
    python scripts/reproduce/one_armed.py KRKAB --no-minor-chases

A pattern is a loop in which a side must check or chase for ever (docs/values.md). The solver does
not search these materials for patterns. The script solves their tables in memory, proves them, and
lists candidates: draws in which every legal move loses or commits the same offence, a check or a
chase of one piece (tests/helpers/onearmed.py). Then it searches the candidates for patterns. Prints
a line for each material with candidates, and the sums. Exit status 1 if there is a pattern.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, BooleanOptionalAction, RawDescriptionHelpFormatter
from collections.abc import Sequence
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tbgen.indexing import Material
from tbgen.indexing.rulesets import Rules
from tbgen.retrograde.memory import code_spaces
from tbgen.retrograde.solution import Solution
from tbgen.retrograde.solve import solve
from tbgen.tables.names import Metric
from tbgen.tables.rule_sets import RuleSet
from tests.helpers.onearmed import find_candidates, one_armed_materials


def main() -> int:
    """Print the numbers of candidates by material; return 1 if any of them form a pattern."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("materials", nargs="*", type=Material.parse, metavar="MATERIAL")
    parser.add_argument("--men", type=int, default=5, help="Without materials: all up to so many.")
    parser.add_argument("--minor-chases", action=BooleanOptionalAction, default=True)
    options = parser.parse_args()
    rule_set = RuleSet(Rules.WXF, minor_chases=options.minor_chases)

    @cache
    def solved(material: Material) -> Solution:
        space = code_spaces(material, rule_set.rules)[0]
        return solve(material, solved, rule_set=rule_set, metric=Metric.DTM, code_space=space)

    materials = options.materials or one_armed_materials(options.men)
    print(f"{'':10} {'armed side, may':>23} {'armless side, may':>23} {'in':>9}")
    print(
        f"{'material':10} {'check':>11} {'chase':>11} {'check':>11} {'chase':>11} {'patterns':>9}"
    )
    found: dict[str, tuple[int, ...]] = {}
    for material in materials:
        counts = find_candidates(solved(material), solved, rule_set).counts
        found[material.name] = counts
        if any(counts):
            show(material.name, counts)
    show("sum", [sum(column) for column in zip(*found.values(), strict=True)])
    print(f"{len(found)} materials, {sum(map(any, found.values()))} with candidates")
    return 1 if any(counts[-1] for counts in found.values()) else 0


def show(name: str, counts: Sequence[int]) -> None:
    """Print a line of the table of counts, titled `name`.

    counts : candidates of the armed side by checks and by chases, the same two of the armless side
        (without attackers), and the number in patterns: positions in check for patterns of checks,
        pairs (position, chased piece) for patterns of chases
    """
    *may, patterns = counts
    print(f"{name:10} " + " ".join(f"{count:11,}" for count in may) + f" {patterns:9,}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
