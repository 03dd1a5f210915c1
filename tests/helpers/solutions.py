"""Materials solved in memory, once per process for equal arguments."""

from functools import cache

from tbgen.indexing import Material
from tbgen.indexing.rulesets import Rules
from tbgen.retrograde.memory import code_spaces
from tbgen.retrograde.solution import Solution
from tbgen.retrograde.solve import solve
from tbgen.tables.names import Metric
from tbgen.tables.rule_sets import RuleSet


@cache
def solution(
    name: str,
    rules: Rules = Rules.NONE,
    metric: Metric = Metric.DTM,
    orders: int | None = None,
    threads: int = 2,
    *,
    minor_chases: bool = True,
) -> Solution:
    """Solve a material in memory, and return its values; supporting materials are solved in DTM.

    name : canonical name, such as KRKN
    orders : highest order to search; None for all
    """
    material = Material.parse(name)
    assert material.name == name
    return solve(
        material,
        lambda child: solution(
            child.name, rules, Metric.DTM, orders, threads, minor_chases=minor_chases
        ),
        rule_set=RuleSet(rules, orders, minor_chases),
        metric=metric,
        code_space=code_spaces(material, rules)[0],
        threads=threads,
    )


def solution_under(name: str, rule_set: RuleSet) -> Solution:
    """Return the `solution` of a material, in DTM, under a rule set."""
    assert rule_set.rules is not None
    return solution(
        name, rule_set.rules, orders=rule_set.orders, minor_chases=rule_set.minor_chases
    )
