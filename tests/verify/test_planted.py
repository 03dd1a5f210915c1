"""Planted errors, a few of each kind; scripts/reproduce/planted_errors.py plants thousands.

A direct win is a win in 0 plies: the opponent must check or chase for ever, and loses by that.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tbgen.indexing import Position
from tbgen.indexing.rulesets import Rules
from tbgen.tables.codes import Outcome, Value
from tbgen.tables.rule_sets import RuleSet
from tbgen.verify import VerifyReport, verify
from tbgen.verify.passes import Passes
from tests.helpers import planting
from tests.helpers.paths import ROOT
from tests.helpers.planting import SINGLE, Change, Target, kinds_found, regions, single

sys.path.insert(0, str(ROOT / "scripts" / "reproduce"))

import planted_errors
from planted_errors import Row, planted_before, read, write

OTHERS = [RuleSet(rules) for rules in Rules if rules not in (Rules.CHECK, Rules.WXF)]
OTHERS.append(RuleSet(Rules.WXF, minor_chases=False))
"""Rule sets under which the small table has the same values."""


@pytest.mark.parametrize(
    "rule_set",
    [
        RuleSet(Rules.CHECK),
        RuleSet(Rules.WXF),
        *(pytest.param(each, marks=pytest.mark.certification) for each in OTHERS),
    ],
    ids=str,
)
def test_each_kind_is_found_in_a_small_table(rule_set: RuleSet) -> None:
    target = Target("KNK", rule_set)
    assert target.is_sound()
    kinds = kinds_found(target, random.Random(1))
    assert kinds == {"outcome", "distance", "order", "invented", "pair", "shift"}
    assert target.is_sound()  # all changes were undone


def test_whole_regions_are_found() -> None:
    """The proof refutes tables in which a whole region of values is wrong.

    The planted values agree with each other, so only the check of direct wins refutes them. One
    removed direct win is refuted, too.
    """
    target = Target("KRKN", RuleSet(Rules.CHECK))
    found = list(regions(target))
    assert [change.kind for change in found] == ["next order", "no orders", "loop"]
    for change in found:
        assert len(change.values) > 1
        assert target.is_found(change)
    removed = single(target, "removed", random.Random(2))
    assert removed is not None
    assert target.is_found(removed)
    assert target.is_sound()


def test_a_direct_win_that_no_check_leads_to() -> None:
    """The proof refutes a direct win stored as a longer win, if no offender can check into it."""
    target = Target("KNKCA", RuleSet(Rules.CHECK))
    position = Position.from_fen("9/9/3a1k3/3N5/9/9/9/5c3/3K5/9 b")
    node = position.side, target.table.layout.slot(position)
    assert target.value(node) == Value(Outcome.WIN, 4)
    assert target.is_found(Change("removed", {node: Value(Outcome.WIN, 4, 2)}))


@pytest.mark.certification
@pytest.mark.parametrize("rules", [Rules.COMPUTER, Rules.TAIWAN, Rules.UNPROTECTED])
@pytest.mark.parametrize("name", ["KNKPP", "KCKPP", "KRKNP", "KNPKN", "KRCKR"])
def test_errors_where_chases_decide(name: str, rules: Rules) -> None:
    """The proof refutes planted errors of every kind where chases decide; takes some minutes.

    Loops of wrong values, one kind of whole region, are planted in small tables only.
    """
    target = Target(name, RuleSet(rules))
    assert target.is_sound()
    kinds = kinds_found(target, random.Random(4))
    assert kinds == {"outcome", "distance", "order", "invented", "removed", "pair", "shift"}
    found = list(regions(target))
    assert {"next order", "no orders"} <= {change.kind for change in found}
    for change in found:
        assert target.is_found(change), change.kind


@pytest.mark.parametrize("kind", ["outcome", "no orders"])
def test_a_refutation_needs_no_second_search(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With `counts_all` False, the first finding ends the proof; else all findings are counted."""
    target = Target("KRKN", RuleSet(Rules.CHECK))
    changes = [single(target, "outcome", random.Random(5)), *regions(target)]
    change = next(each for each in changes if each is not None and each.kind == kind)
    reports = []

    def prove(*arguments: Any, counts_all: bool, **options: Any) -> VerifyReport:
        reports.append(verify(*arguments, counts_all=True, **options))
        monkeypatch.setattr(Passes, "all_candidates", refuse)
        reports.append(verify(*arguments, counts_all=counts_all, **options))
        return reports[-1]

    def refuse(*_: object) -> None:
        raise AssertionError("all open positions are searched")

    monkeypatch.setattr(planting, "verify", prove)
    assert target.is_found(change)
    full, brief = reports
    assert 0 < brief.findings <= full.findings


def test_an_unchanged_table_is_not_refuted() -> None:
    target = Target("KNK", RuleSet(Rules.NONE))
    node = target.random_node(random.Random(3))
    with pytest.raises(AssertionError):
        target.is_found(Change("none", {node: target.value(node)}))


def test_changes_of_a_kind_that_runs_dry_count(monkeypatch: pytest.MonkeyPatch) -> None:
    left = {"order": 6}

    def some(target: Target, kind: str, rng: random.Random) -> Change | None:
        left[kind] = left.get(kind, 100) - 1
        return Change(kind, {}) if left[kind] >= 0 else None

    monkeypatch.setattr(planted_errors, "single", some)
    changes = planted_errors.changes_of(Target("KNK", RuleSet(Rules.NONE)), 100, random.Random(1))
    kinds = Counter(change.kind for change in changes)
    assert [kinds[kind] for kind in SINGLE] == [24, 24, 6, 23, 23]


def test_figures_are_stored_by_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planted_errors, "FIGURES", tmp_path / "figures.csv")
    assert read() == []
    assert planted_before("KNK", "wxf") == 0
    other = Row("KNK", "check", "outcome", 7, 7)
    write([Row("KNK", "wxf", "outcome", 5, 5), Row("KNK", "wxf", "pair", 2, 2)])
    write([other])
    assert planted_before("KNK", "wxf") == 5  # a pair is no single change
    again = [Row("KNK", "wxf", "order", 9, 8), Row("KNK", "wxf", "invented", 3, 3)]
    write(again)
    assert read() == sorted([other, *again])
    assert planted_before("KNK", "wxf") == 12
