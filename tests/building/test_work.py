"""Decisions of a build before any table is solved: supporting tables, metrics and code spaces."""

from __future__ import annotations

import pytest

from tbgen.building.work import Task, attempts, work_for
from tbgen.indexing import Material
from tbgen.indexing.material import needed_materials
from tbgen.indexing.rulesets import Rules
from tbgen.retrograde.memory import code_spaces
from tbgen.tables.names import Metric
from tbgen.tables.rule_sets import RuleSet

KNK, KRK, KRKN, KRKR = (Material.parse(name) for name in ("KNK", "KRK", "KRKN", "KRKR"))


def test_supporting_tables_come_first_without_duplicates() -> None:
    names = [material.name for material in needed_materials([KRKN, KRKR, KRKN])]
    assert names == ["KNK", "KRK", "KRKN", "KRKR"]


@pytest.mark.parametrize(
    ("metric", "below"), [(None, None), (Metric.DTC, None), (Metric.DTM, Metric.DTM)]
)
def test_only_dtm_requires_a_metric_of_supporting_tables(
    metric: Metric | None, below: Metric | None
) -> None:
    work = work_for([KRKN], metric, force=True)
    assert work == [Task(KNK, below), Task(KRK, below), Task(KRKN, metric, rebuild=True)]


def test_a_requested_supporting_table_has_the_requested_metric() -> None:
    assert Task(KRK, Metric.DTC) in work_for([KRK, KRKN], Metric.DTC, force=False)


@pytest.mark.parametrize("rules", list(Rules))
def test_attempts_end_with_the_widest_codes(rules: Rules) -> None:
    short, long = code_spaces(KRKN, rules)
    rule_set = RuleSet(rules)
    assert attempts(Task(KRKN, Metric.DTM), rule_set, all_support_dtm=True) == [
        (Metric.DTM, short), (Metric.DTM, long)
    ]  # fmt: skip
    dtc = [(Metric.DTC, short), (Metric.DTC, long)]
    assert attempts(Task(KRKN, Metric.DTC), rule_set, all_support_dtm=True) == dtc
    assert attempts(Task(KRKN, None), rule_set, all_support_dtm=False) == dtc
    assert attempts(Task(KRKN, None), rule_set, all_support_dtm=True) == [
        (Metric.DTM, short), *dtc
    ]  # fmt: skip
