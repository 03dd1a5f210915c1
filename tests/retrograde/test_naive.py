"""The solver against the naive one: every position, value and order.

The naive solver has its own rules, its own board and no index; see `tests/oracles/naive`.
`tests/oracles/test_naive_endgames.py` compares KRKN under the check rule.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tbgen.building.sets import materials_of
from tbgen.indexing import Material, Position
from tbgen.indexing.layout import Layout
from tbgen.indexing.rulesets import Rules
from tbgen.tables.names import Metric
from tests.helpers.solutions import solution
from tests.oracles.naive.cache import forget, naive_solution

CASES = [
    ("KRK", Rules.NONE, Metric.DTM),
    ("KPK", Rules.NONE, Metric.DTM),
    ("KNKA", Rules.NONE, Metric.DTM),
    ("KCKA", Rules.NONE, Metric.DTM),
    ("KCAK", Rules.NONE, Metric.DTM),
    ("KRKA", Rules.NONE, Metric.DTC),
    *(
        pytest.param(*case, marks=pytest.mark.certification)
        for case in (
            ("KNKP", Rules.NONE, Metric.DTM),
            ("KRKN", Rules.NONE, Metric.DTM),
            ("KNKP", Rules.NONE, Metric.DTC),
            ("KRKR", Rules.CHECK, Metric.DTM),
            ("KRKN", Rules.CHECK, Metric.DTC),
            ("KRAKR", Rules.CHECK, Metric.DTM),
        )
    ),
]

CHASING = [rules for rules in Rules if rules.judges_chases]
FOUR_MEN = materials_of((), 4)


@pytest.fixture
def forgetting() -> Iterator[None]:
    """Clear the naive solver's caches after each test, since its positions take a gigabyte."""
    yield
    forget()


@pytest.mark.parametrize(("name", "rules", "metric"), CASES)
def test_every_position_agrees(name: str, rules: Rules, metric: Metric) -> None:
    assert compared(name, rules, metric) == sum(
        int((solution(name, rules, metric).plane(side) != 0).sum()) for side in (0, 1)
    )


@pytest.mark.certification
@pytest.mark.usefixtures("forgetting")
@pytest.mark.parametrize("rules", CHASING)
@pytest.mark.parametrize("name", [m.name for m in FOUR_MEN if m.both_armed])
def test_four_men_where_chases_lose(name: str, rules: Rules) -> None:
    """The solver agrees with the naive one for four men, under rules with chases.

    Both sides have attackers. Each material takes 15 seconds to a minute.
    """
    assert compared(name, rules, Metric.DTM) > 100_000


@pytest.mark.certification
@pytest.mark.usefixtures("forgetting")
@pytest.mark.parametrize("name", [m.name for m in FOUR_MEN if not m.both_armed])
def test_four_men_without_attackers_on_a_side(name: str) -> None:
    """The solver agrees with the naive one where a side has no attackers; all orders are 0."""
    assert compared(name, Rules.WXF, Metric.DTM) > 1000
    assert not naive_solution(name, "wxf").orders()


@pytest.mark.certification
@pytest.mark.usefixtures("forgetting")
@pytest.mark.parametrize("rules", CHASING)
@pytest.mark.parametrize(("name", "orders"), [("KNKPP", 5), ("KCKPP", 0)])
def test_five_men_where_chases_lose(name: str, orders: int, rules: Rules) -> None:
    """The solver agrees with the naive one in two materials of five men, under chase rules.

    Compared are positions with pawns on their last three ranks: 1.4 million, three minutes
    each.
    """
    assert compared(name, rules, Metric.DTM, pawn_ranks=3) > 1_000_000
    assert max(naive_solution(name, str(rules), pawn_ranks=3).orders(), default=0) >= orders


def compared(name: str, rules: Rules, metric: Metric, pawn_ranks: int | None = None) -> int:
    """Compare the solver with the naive one at every position, and return the number of positions.

    pawn_ranks : number of last ranks on which all pawns must stand; None for all positions
    """
    solved = solution(name, rules, metric)
    layout = Layout.of(Material.parse(name))
    planes = [solved.plane(side) for side in (0, 1)]
    naive = naive_solution(name, str(rules), str(metric), pawn_ranks=pawn_ranks)
    for fen, outcome, value, order in naive.items():
        position = Position.from_fen(fen)
        code = int(planes[position.side][layout.slot(position)])
        assert code, f"{fen} is empty"
        found = solved.code_space.decode(code)
        assert (found.outcome, found.number, found.order) == (outcome, value, order), fen
    return len(naive)
