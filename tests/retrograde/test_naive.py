"""The solver against the naive one: every position, value and order.

The naive solver has its own rules, its own board and no index; see `tests/oracles/naive`.
"""

import pytest

from tbgen.indexing import Material, Position
from tbgen.indexing.layout import Layout
from tbgen.indexing.rulesets import Rules
from tbgen.tables.names import Metric
from tests.kits.solutions import solution
from tests.oracles.naive.cache import naive_solution

CASES = [
    ("KRK", Rules.NONE, Metric.DTM),
    ("KPK", Rules.NONE, Metric.DTM),
    ("KNKA", Rules.NONE, Metric.DTM),
    ("KCKA", Rules.NONE, Metric.DTM),
    ("KCAK", Rules.NONE, Metric.DTM),
    ("KNKP", Rules.NONE, Metric.DTM),
    ("KRKA", Rules.NONE, Metric.DTC),
    ("KRKN", Rules.CHECK, Metric.DTM),
    *(
        pytest.param(*case, marks=pytest.mark.certification)
        for case in (
            ("KRKN", Rules.NONE, Metric.DTM),
            ("KNKP", Rules.NONE, Metric.DTC),
            ("KRKR", Rules.CHECK, Metric.DTM),
            ("KRKN", Rules.CHECK, Metric.DTC),
            ("KRAKR", Rules.CHECK, Metric.DTM),
        )
    ),
]


@pytest.mark.parametrize(("name", "rules", "metric"), CASES)
def test_every_position_agrees(name: str, rules: Rules, metric: Metric) -> None:
    solved = solution(name, rules, metric)
    layout = Layout.of(Material.parse(name))
    planes = [solved.plane(side) for side in (0, 1)]
    compared = 0
    naive = naive_solution(name, rules=str(rules), metric=str(metric))
    for fen, outcome, value, order in naive.items():
        position = Position.from_fen(fen)
        code = int(planes[position.side][layout.slot(position)])
        assert code, f"{fen} is empty"
        found = solved.code_space.decode(code)
        assert (found.outcome, found.number, found.order) == (outcome, value, order), fen
        compared += 1
    assert compared == sum(int((plane != 0).sum()) for plane in planes)
