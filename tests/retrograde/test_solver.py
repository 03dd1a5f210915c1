"""Properties of the solver besides its values: threads, symmetry, limits, bounds."""

import gc
import tracemalloc
from collections.abc import Iterator

import numpy as np
import pytest

from tbgen.indexing import InputError, Material, Position, Side
from tbgen.indexing.layout import Layout
from tbgen.indexing.rulesets import Rules
from tbgen.retrograde.captures import Captures, capture_value, compile_captures
from tbgen.retrograde.memory import code_spaces, memory_needed
from tbgen.retrograde.propagation import Propagation
from tbgen.retrograde.solve import solve
from tbgen.retrograde.supporting import DrawnTable
from tbgen.rows.frame import make_frame
from tbgen.rows.workers import Workers
from tbgen.tables.codes import CodeSpace, LimitExceededError, Outcome, Value
from tbgen.tables.errors import UnsupportedMaterialError
from tbgen.tables.names import Metric
from tbgen.tables.rule_sets import RuleSet
from tests.helpers.solutions import solution


@pytest.mark.parametrize("rules", [Rules.NONE, Rules.CHECK])
def test_the_result_does_not_depend_on_threads(rules: Rules) -> None:
    one = solution("KRKN", rules, threads=1)
    two = solution("KRKN", rules, threads=2)
    for side in Side:
        assert np.array_equal(one.plane(side), two.plane(side))


def test_colours_exchanged_in_a_symmetric_material_have_the_same_values() -> None:
    solved = solution("KRKR", Rules.CHECK)
    layout = Layout.of(Material.parse("KRKR"))
    planes = [solved.plane(side) for side in Side]
    for slot in range(0, layout.slots, 97):
        if planes[Side.RED][slot]:
            position = layout.position(slot, Side.RED)
            assert position is not None
            swapped = position.swapped()
            assert planes[swapped.side][layout.slot(swapped)] == planes[Side.RED][slot]


def test_a_distance_beyond_the_code_space_raises() -> None:
    short = CodeSpace(1, 5)
    with pytest.raises(LimitExceededError):
        solve(Material.parse("KNK"), lambda child: solution(child.name), code_space=short)


def test_a_capture_beyond_the_code_space_raises() -> None:
    longest = CodeSpace(1).decode(129)
    assert capture_value(longest, Metric.DTM) == Value(Outcome.LOSS, 0, longest.plies + 1)
    with pytest.raises(LimitExceededError):
        CodeSpace(1).encode(capture_value(longest, Metric.DTM))
    with pytest.raises(LimitExceededError):
        solve(
            Material.parse("KRNK"), lambda child: solution(child.name), code_space=CodeSpace(1, 6)
        )


@pytest.mark.parametrize("width", [4, 2])
def test_wide_codes_hold_the_same_values(width: int) -> None:
    """With two bytes of this span, the highest order with codes is 1, that of the table."""
    narrow = solution("KRKN", Rules.CHECK)
    wide = solve(
        Material.parse("KRKN"),
        lambda child: solution(child.name, Rules.CHECK),
        rule_set=RuleSet(Rules.CHECK),
        code_space=CodeSpace(width, 16383),
    )
    for side in Side:
        for code in np.unique(narrow.plane(side)):
            if code:
                value = narrow.code_space.decode(int(code))
                slots = narrow.plane(side) == code
                assert (wide.plane(side)[slots] == wide.code_space.encode(value)).all()


def test_captures_lead_into_tables_with_wide_codes() -> None:
    wide = {
        name: solve(
            Material.parse(name),
            lambda child: solution(child.name, Rules.CHECK),
            rule_set=RuleSet(Rules.CHECK),
            code_space=CodeSpace(4, 16383),
        )
        for name in ("KRK", "KNK")
    }
    narrow = solution("KRKN", Rules.CHECK)
    again = solve(
        Material.parse("KRKN"),
        lambda child: wide[child.name],
        rule_set=RuleSet(Rules.CHECK),
        code_space=narrow.code_space,
    )
    for side in Side:
        assert (again.plane(side) == narrow.plane(side)).all()


def test_first_order_draws_of_krakr_agree_with_the_paper() -> None:
    """With one order KRAKR has as many draws as in the paper; with all orders it has fewer.

    The paper is Fang, Hsu & Hsu 2002, Table 1, where the material is named KRKRG. The number with
    all orders is another program's (tests/data/check_all_orders.csv). In a forced loop of order 1
    each way out loses by mate; in one of order 2, by mate or a loop of order 1, and so on.
    """
    material = "KRAKR"
    for orders, draws in ((1, 966498), (None, 966336)):
        solved = solution(material, Rules.CHECK, orders=orders)
        found = sum(int((solved.plane(side) == solved.code_space.draw).sum()) for side in Side)
        assert found == draws


def test_unknown_rules_are_refused() -> None:
    with pytest.raises(InputError, match="rules of the table are unknown"):
        solve(Material.parse("KRK"), lambda child: solution(child.name), rule_set=RuleSet(None))


def test_solving_frees_the_sets() -> None:
    """When the solver ends, reference counting alone frees its sets of positions."""
    children = {
        m.name: solution(m.name, Rules.WXF) for m in Material.parse("KRKN").captures().values()
    }
    gc.collect()
    gc.disable()
    try:
        solved = solve(
            Material.parse("KRKN"),
            lambda child: children[child.name],
            rule_set=RuleSet(Rules.WXF),
            code_space=code_spaces(Material.parse("KRKN"), Rules.WXF)[0],
        )
        assert solved.journals
        assert not any(type(each) is Propagation for each in gc.get_objects())
    finally:
        gc.enable()


def test_captures_count_from_their_order_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """A capture into a position of order k is due in the steps of order k, not before.

    In KRKNA, captures lead to positions of KRKN that perpetual check decides (order 1).
    """
    material, seen = Material.parse("KRKNA"), []
    steps = Propagation.steps

    def watched(propagation: Propagation, order: int, last: int = 0) -> Iterator[tuple[int, int]]:
        codes = [code for waiting in propagation.waiting for code in waiting.codes]
        seen.append({propagation.code_space.decode(code).order for code in codes})
        return steps(propagation, order, last)

    children = {m.name: solution(m.name, Rules.CHECK) for m in material.captures().values()}
    monkeypatch.setattr(Propagation, "steps", watched)
    solve(
        material,
        lambda child: children[child.name],
        rule_set=RuleSet(Rules.CHECK),
        code_space=code_spaces(material, Rules.CHECK)[0],
    )
    assert seen[:2] == [{0, 1}, {1}]
    assert all(min(orders, default=order) >= order for order, orders in enumerate(seen))


def test_figure_1a_of_the_paper_is_won_by_the_rule() -> None:
    position = Position.from_fen("3k5/R8/9/9/9/9/9/9/4p1p2/5K3 w")
    solved = solution("KRKPP", Rules.CHECK)
    code = solved.plane(position.side)[solved.layout.slot(position)]
    value = solved.code_space.decode(int(code))
    assert (value.outcome.name, value.order) == ("LOSS", 1)


@pytest.mark.parametrize("name", ["KRNCKRN", "KRNPPPPPK"])
def test_leads_whose_slots_exceed_32_bits_are_refused(name: str) -> None:
    def supporting(material: Material) -> object:
        raise AssertionError(f"{material} is opened")

    with pytest.raises(UnsupportedMaterialError, match="too many for 32 bits"):
        solve(Material.parse(name), supporting)  # type: ignore[arg-type]


@pytest.mark.parametrize("threads", [1, 32, 1000])
def test_many_threads_need_no_more_memory_than_all_arrays(threads: int) -> None:
    material = Material.parse("KRNKC")
    codes = code_spaces(material, Rules.WXF)[0]
    need = memory_needed(material, codes, Rules.WXF, threads)
    assert need.least <= need.in_memory


def test_the_arrays_of_many_leads_count_in_the_memory_needed() -> None:
    """The frame with the defenders' moves, then the views of the captures, of 49,404 leads."""
    material = Material.parse("KRAABBKAA")
    layout, codes = Layout.of(material), code_spaces(material, Rules.WXF)[0]
    need = memory_needed(material, codes, Rules.WXF, threads=1)
    process = memory_needed(Material.parse("KK"), CodeSpace(1), Rules.NONE, threads=1)

    def supporting(child: Material) -> DrawnTable:
        return DrawnTable(Layout.of(child))

    compile_captures()  # kernels take memory, too
    tracemalloc.start()
    try:
        frame = make_frame(layout)
        for side in Side:
            Captures(layout, frame, side, supporting, codes, Metric.DTM, Workers(1))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert layout.leads * 300 < peak < need.in_memory - process.in_memory
