"""Materials solved in memory, each once per run: the tables that many tests look at."""

from functools import cache

from tbgen.build.plan import code_spaces
from tbgen.indexing import Material
from tbgen.retrograde.solve import Solution, solve
from tbgen.tables.names import Metric, Rules


@cache
def solution(
    name: str,
    rules: Rules = Rules.NONE,
    metric: Metric = Metric.DTM,
    orders: int | None = None,
    threads: int = 2,
) -> Solution:
    """The solution of a material, by its canonical name; its supporting tables are DTM."""
    material = Material.parse(name)
    assert material.name == name
    return solve(
        material,
        lambda child: solution(child.name, rules, Metric.DTM, orders, threads),
        rules=rules,
        orders=orders,
        metric=metric,
        code_space=code_spaces(material, rules)[0],
        threads=threads,
    )
