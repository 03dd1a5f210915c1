"""Resuming the solver from a checkpoint gives the same result as an uninterrupted run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pytest

from tbgen.indexing import Material
from tbgen.indexing.rulesets import Rules
from tbgen.retrograde.memory import code_spaces
from tbgen.retrograde.solution import Solution
from tbgen.retrograde.solve import solve
from tbgen.rows.storage import DiskStorage, Storage
from tbgen.tables.rule_sets import RuleSet
from tests.helpers.solutions import solution


class AllSteps:
    """Checkpoint that is saved after every step, and keeps all saved states in `kept`.

    state : the saved state to resume from; None to begin anew
    """

    def __init__(self, state: list[bytes] | None = None) -> None:
        self.state = state
        self.kept: list[list[bytes]] = []

    def load(self) -> Iterator[bytes] | None:
        return None if self.state is None else iter(self.state)

    def is_due(self) -> bool:
        return True

    def save(self, parts: Iterable[bytes]) -> None:
        self.kept.append(list(parts))


def solved(
    name: str, rules: Rules, checkpoint: AllSteps, threads: int, storage: Storage | None = None
) -> Solution:
    material = Material.parse(name)

    def supporting(child: Material) -> Solution:
        assert checkpoint.state is None, "a solver that goes on has had its captures"
        return solution(child.name, rules)

    return solve(
        material, supporting, rule_set=RuleSet(rules), code_space=code_spaces(material, rules)[0],
        threads=threads, storage=storage, checkpoint=checkpoint,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "rules", "every"),
    [
        ("KPK", Rules.NONE, 1),
        ("KRKA", Rules.WXF, 1),
        ("KRKN", Rules.WXF, 5),
        pytest.param("KRAKCA", Rules.CHECK, 12, marks=pytest.mark.certification),
        ("KNKPA", Rules.WXF, 60),
    ],
)
def test_solving_resumes_from_any_step(name: str, rules: Rules, every: int) -> None:
    expected, first = solution(name, rules), AllSteps()
    assert_same(solved(name, rules, first, 2), expected)
    for number, state in enumerate(first.kept):
        if number % every and state is not first.kept[-1]:
            continue
        again = AllSteps(state)
        assert_same(solved(name, rules, again, 1 + number % 2), expected)
        # It resumes with the next step; after the last one of an order follows an empty one.
        rest = len(first.kept) - number - 1
        assert rest <= len(again.kept) <= rest + 1


def test_parts_behind_a_state_are_refused() -> None:
    """Before order 1, and after it, when the states of searches follow."""
    first = AllSteps()
    solved("KRKN", Rules.WXF, first, 1)
    for state in (first.kept[0], first.kept[-1]):
        with pytest.raises(ValueError, match="a state has more parts than it should"):
            solved("KRKN", Rules.WXF, AllSteps([*state, b""]), 1)


def test_solving_resumes_with_arrays_on_disk(tmp_path_factory: pytest.TempPathFactory) -> None:
    first = AllSteps()
    solved("KRKN", Rules.WXF, first, 1)
    for state in first.kept[:: len(first.kept) - 1]:
        storage = DiskStorage(tmp_path_factory.mktemp("arrays"), 1 << 20)
        found = solved("KRKN", Rules.WXF, AllSteps(state), 2, storage)
        assert_same(found, solution("KRKN", Rules.WXF))


def assert_same(found: Solution, expected: Solution) -> None:
    for side in (0, 1):
        assert np.array_equal(found.plane(side), expected.plane(side))
    assert found.chase_patterns == expected.chase_patterns
