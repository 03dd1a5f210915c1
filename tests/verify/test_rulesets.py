"""Solver and proof use each rule set: values of one are refuted under another.

The naive solver, with its own definition of the rules, confirms the values.
"""

from __future__ import annotations

import csv
import random

import pytest

from tbgen.indexing import Side
from tbgen.indexing.rulesets import Rules
from tbgen.tables.codes import Outcome
from tbgen.tables.rule_sets import RuleSet
from tbgen.verify.prove import verify
from tests.helpers.paths import DATA
from tests.helpers.regions import decided_by_chases, where_chases_decide, with_moves
from tests.helpers.solutions import solution

MATERIAL = "KNPKC"
"""Material of five men in which the rules `wxf` and `computer` differ."""

CHASING = [rules for rules in Rules if rules.judges_chases]


DIFFERING = {
    "KRKN": (
        (Rules.NONE, Rules.WXF), (Rules.NONE, Rules.COMPUTER),
        (Rules.NONE, Rules.TAIWAN), (Rules.NONE, Rules.UNPROTECTED),
    ),
    "KNPKC": (
        (Rules.CHECK, Rules.WXF), (Rules.CHECK, Rules.TAIWAN), (Rules.CHECK, Rules.UNPROTECTED),
        (Rules.COMPUTER, Rules.WXF), (Rules.COMPUTER, Rules.TAIWAN),
        (Rules.COMPUTER, Rules.UNPROTECTED), (Rules.WXF, Rules.COMPUTER),
        (Rules.TAIWAN, Rules.COMPUTER), (Rules.UNPROTECTED, Rules.COMPUTER),
    ),
    "KNPKN": ((Rules.CHECK, Rules.COMPUTER),),
    "KRKNC": (
        (Rules.WXF, Rules.UNPROTECTED), (Rules.TAIWAN, Rules.UNPROTECTED),
        (Rules.UNPROTECTED, Rules.WXF), (Rules.UNPROTECTED, Rules.TAIWAN),
    ),
}  # fmt: skip
"""Pairs (rule set of the values, rule set of the proof) by a material whose values differ.

All pairs but `wxf` and `taiwan`: no material of five men is known in which their values differ.
"""


def proof(material: str, values: Rules, rules: Rules):
    """Return the report of a proof under `rules` of a table solved under the rules `values`.

    The supporting tables are solved under `rules`.
    """
    return verify(
        solution(material, values),
        lambda child: solution(child.name, rules),
        rule_set=RuleSet(rules),
    )


@pytest.mark.parametrize("rules", CHASING)
def test_values_are_proven_under_their_own_rules(rules: Rules) -> None:
    assert proof(MATERIAL, rules, rules).ok


@pytest.mark.certification
@pytest.mark.parametrize(
    ("material", "values", "rules"),
    [(material, *pair) for material, pairs in DIFFERING.items() for pair in pairs],
)
def test_values_of_other_rules_are_refuted(material: str, values: Rules, rules: Rules) -> None:
    """The proof under one rule set refutes a table that was solved under another.

    It would not if solver or proof judged chases by a wrong rule set. 16 seconds each.
    """
    assert not proof(material, values, rules).ok


@pytest.mark.parametrize("rules", CHASING)
def test_the_naive_solver_agrees_where_chases_decide(rules: Rules) -> None:
    """The solver agrees with a naive solver on positions that chases decide under `wxf`.

    The positions after their moves are compared, too. Under `rules`, chases decide some of these
    positions if and only if the counts of wins, draws and losses differ from the check rule's.
    """
    positions = where_chases_decide(MATERIAL, Rules.WXF, 20, random.Random(1))
    found = decided_by_chases(with_moves(positions), rules)
    assert (found > 0) == (counts(rules) != counts(Rules.CHECK))


def counts(rules: Rules) -> list[int]:
    """Return the numbers of wins, draws and losses of `MATERIAL`: Red to move, then Black."""
    table, found = solution(MATERIAL, rules), []
    for side in Side:
        sums = dict.fromkeys((Outcome.WIN, Outcome.DRAW, Outcome.LOSS), 0)
        for code, count in table.counted_plane(side)[1].items():
            sums[table.code_space.decode(code).outcome] += count.positions
        found += sums.values()
    return found


def test_the_rule_sets_differ_as_an_independent_solver_says() -> None:
    """Under the rules `computer`, the counts of outcomes are those of an independent solver.

    That solver computed tests/data/computer_counts.csv. The counts under `wxf` are others.
    """
    with (DATA / "computer_counts.csv").open(newline="") as file:
        (row,) = (row for row in csv.DictReader(file) if row["material"] == MATERIAL)
    names = [f"{side}_{outcome}" for side in ("red", "black") for outcome in "wdl"]
    assert counts(Rules.COMPUTER) == [int(row[name]) for name in names]
    assert counts(Rules.WXF) != counts(Rules.COMPUTER)
