"""Searches for direct wins: arrays borrowed from the solver, and cached candidates.

A direct win is a win in 0 plies, in a position where the opponent must check or chase for ever. A
search at each order (round of the solver) finds direct wins among its candidates, and keeps results
for later orders.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import tbgen.retrograde.solve as solve_module
from tbgen.building.plan import code_spaces
from tbgen.indexing import Material, Side
from tbgen.indexing.layout import Layout
from tbgen.indexing.rulesets import Rules
from tbgen.retrograde.candidates import LossFilter, Search, SearchState
from tbgen.retrograde.perpetual_check import declare_perpetual_checks, k_mark_in_check
from tbgen.retrograde.propagation import Propagation
from tbgen.retrograde.solve import settle_orders, solve
from tbgen.retrograde.state import BuildState
from tbgen.rows.records import Records
from tbgen.tables.codes import DIRECT_WIN, Outcome, Value
from tbgen.tables.rule_sets import RuleSet
from tests.helpers.solutions import solution

MATERIAL = "KRKNA"
"""Material in which Black checks perpetually; captures lead into KRKN, with wins of order 1."""


def state_of_checks(propagation: Propagation) -> SearchState:
    """Return the state of Red's searches for positions in which Black must check for ever."""
    sets = propagation.sets
    shared = sets.empty(), sets.empty(), sets.empty(), sets.empty_frontier()
    return SearchState(propagation, Side.RED, k_mark_in_check, shared)


def solve_with(monkeypatch: pytest.MonkeyPatch, settle: object) -> None:
    """Solve `MATERIAL` with `settle` in place of `settle_orders`; the codes must stay the same."""
    material = Material.parse(MATERIAL)
    children = {m.name: solution(m.name, Rules.CHECK) for m in material.captures().values()}
    expected = solution(MATERIAL, Rules.CHECK)
    monkeypatch.setattr(solve_module, "settle_orders", settle)
    solved = solve(
        material,
        lambda child: children[child.name],
        rule_set=RuleSet(Rules.CHECK),
        code_space=code_spaces(material, Rules.CHECK)[0],
    )
    for side in Side:
        assert np.array_equal(solved.plane(side), expected.plane(side))


def fail(state: SearchState) -> None:
    """Begin a search, which borrows arrays of the solver, and raise `KeyboardInterrupt` in it."""
    with state.search(1) as search:
        search.initialise(captures_wait=True)
        assert search.win_candidates.rows.any()
        assert search.captures_win
        raise KeyboardInterrupt


def test_an_interrupted_search_restores_borrowed_arrays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def settle(state: BuildState, layout: Layout, rule_set: RuleSet) -> None:
        propagation = state.propagation
        checks = state_of_checks(propagation)
        before = [rows.copy() for rows in (*propagation.losable, *propagation.unknown)]
        with pytest.raises(KeyboardInterrupt):
            fail(checks)
        assert checks.possible_losses is None, "an unfinished search is not remembered"
        after = [*propagation.losable, *propagation.unknown]
        assert all(map(np.array_equal, before, after))
        assert not any(front.rows.any() or front.counts.any() for front in propagation.frontiers)
        settle_orders(state, layout, rule_set)

    solve_with(monkeypatch, settle)


def test_a_search_queues_direct_wins_and_keeps_its_known_candidates(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def settle(state: BuildState, layout: Layout, rule_set: RuleSet) -> None:
        propagation = state.propagation
        sets = propagation.sets
        checks = state_of_checks(propagation)
        lost = declare_perpetual_checks(checks, 1, keep_losses=True)
        assert lost is not None
        assert len(lost)
        direct = propagation.code_space.encode(Value(Outcome.WIN, 1, 0))
        assert direct in propagation.waiting[Side.RED].codes
        assert checks.possible_losses is not None
        known = sets.empty()
        sets.add(checks.possible_losses, known)
        assert known.any()
        assert not (known & ~propagation.unknown[Side.BLACK]).any()
        settle_orders(state, layout, rule_set)

    solve_with(monkeypatch, settle)


def solve_again(name: str, rules: Rules) -> None:
    """Solve a material with the caller's patches; the codes must be those of an unpatched run.

    The unpatched run, which is cached, must have taken place before the patches.
    """
    material = Material.parse(name)
    expected = solution(name, rules)
    children = {m.name: solution(m.name, rules) for m in material.captures().values()}
    solved = solve(
        material, lambda child: children[child.name], rule_set=RuleSet(rules),
        code_space=code_spaces(material, rules)[0],
    )  # fmt: skip
    for side in Side:
        assert np.array_equal(solved.plane(side), expected.plane(side))


@pytest.mark.parametrize("rules", [Rules.CHECK, Rules.WXF])
def test_later_orders_search_only_affected_candidates(
    monkeypatch: pytest.MonkeyPatch, rules: Rules
) -> None:
    """In later orders, a search of the affected loss candidates gives the codes of a full search.

    New losses affect less than half of the candidates. The material, KNKCA, has four orders.
    """
    solution("KNKCA", rules)
    affected = Search._find_affected
    searched: Counter[str] = Counter()

    def find_all(search: Search, lost: Records | None, loss_filter: LossFilter | None) -> None:
        affected(search, lost, loss_filter)
        searched["affected"] += int(search.loss_candidates.counts.sum())
        search._find_all(lost)
        searched["all"] += int(search.loss_candidates.counts.sum())

    monkeypatch.setattr(Search, "_find_affected", find_all)
    solve_again("KNKCA", rules)
    assert 0 < searched["affected"] < searched["all"] / 2


def test_no_row_of_affected_candidates_is_listed_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search lists each row of candidates that new losses affect once.

    Regression: a row listed twice took the room of another, so that two direct wins of order 9 were
    missing in KNKCPB. In KNKCP perpetual checks decide candidates of chases.
    """
    keep, removed, examined = Search._keep_affected, Counter[str](), Counter[str]()
    affected = Search._find_affected

    def find(search: Search, lost: Records | None, loss_filter: LossFilter | None) -> None:
        removed["lost"] += lost is not None
        affected(search, lost, loss_filter)

    def keep_affected(search: Search, loss_filter: LossFilter | None) -> None:
        keep(search, loss_filter)
        losses = search.loss_candidates
        for lead in np.flatnonzero((losses.counts > 0) & (losses.counts <= losses.limit)):
            first = lead * losses.limit
            mids = losses.listed[first : first + losses.counts[lead]]
            assert len(np.unique(mids)) == len(mids)
            examined["leads"] += 1

    monkeypatch.setattr(Search, "_find_affected", find)
    monkeypatch.setattr(Search, "_keep_affected", keep_affected)
    solution("KNKCP", Rules.WXF)
    solve_again("KNKCP", Rules.WXF)
    assert removed["lost"]
    assert examined["leads"]


@pytest.mark.certification
def test_the_judge_reduces_the_affected_candidates(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With a filter by the chase rules, later orders of KRKNN search fewer loss candidates."""
    solution("KRKNN", Rules.WXF)
    affected = Search._keep_affected

    def candidates(*, judged: bool) -> int:
        """Solve with the filter (`judged`) or without; return the number of affected candidates."""
        count = 0

        def keep_affected(search: Search, loss_filter: LossFilter | None) -> None:
            nonlocal count
            affected(search, loss_filter if judged else None)
            if loss_filter is not None:
                count += search.sets.count(search.loss_candidates.rows)

        with monkeypatch.context() as patch:
            patch.setattr(Search, "_keep_affected", keep_affected)
            solve_again("KRKNN", Rules.WXF)
        return count

    assert 0 < candidates(judged=True) < candidates(judged=False)


def test_an_order_without_new_losses_examines_no_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def settle(state: BuildState, layout: Layout, rule_set: RuleSet) -> None:
        propagation = state.propagation
        sets = propagation.sets
        checks = state_of_checks(propagation)
        with checks.search(7) as search:
            assert search.initialise(captures_wait=True)
        known = checks.possible_losses
        assert [settled for _, settled in propagation.steps(7)] == [0]
        rows = sets.workers.meter.rows
        with checks.search(8) as search:
            assert not search.initialise(captures_wait=True)
            assert not search.win_candidates.rows.any()
            assert not search.loss_candidates.rows.any()
        assert checks.possible_losses is known
        assert sets.workers.meter.rows == rows
        settle_orders(state, layout, rule_set)

    solve_with(monkeypatch, settle)


def test_a_direct_win_is_255_and_the_loss_before_it_254() -> None:
    assert Value(Outcome.WIN, 3, 0).number == DIRECT_WIN == 255
    assert Value(Outcome.LOSS, 3, 1).number == 254
