"""Forecasts of a build by many workers: its time, and tables by class of memory."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from tbgen.building.plan import CLASSES, forecast_workers, plan
from tbgen.building.sets import materials_of
from tbgen.cli import main
from tbgen.indexing.rulesets import Rules
from tbgen.tables.rule_sets import RuleSet


def test_more_workers_take_less_time_down_to_the_longest_chain() -> None:
    planned = plan(materials_of((), 4), RuleSet(Rules.WXF))
    found = {workers: forecast_workers(planned, workers).simulation for workers in (1, 2, 1000)}
    total = sum(table.cpu_seconds for table in planned)
    assert found[1].seconds == pytest.approx(total)
    assert total / 2 <= found[2].seconds < total
    assert found[1000].seconds == pytest.approx(found[1000].longest_path)


def test_each_table_is_in_one_class_of_memory() -> None:
    needs = [1, CLASSES[0], CLASSES[0] + 1, CLASSES[-1], CLASSES[-1] + 1]
    tables = plan(materials_of((), 4), RuleSet(Rules.WXF))[: len(needs)]
    planned = [replace(table, memory_bytes=need) for table, need in zip(tables, needs, strict=True)]
    classes = forecast_workers(planned, 3).classes
    assert [(each.memory_bytes, each.tables) for each in classes] == [
        (CLASSES[0], 2), (CLASSES[1], 1), (CLASSES[-1], 1), (None, 1)
    ]  # fmt: skip
    total = sum(table.cpu_seconds for table in planned)
    assert sum(each.seconds for each in classes) == pytest.approx(total)


def test_the_command_forecasts_missing_tables_for_workers(tmp_path: Path) -> None:
    arguments = ["plan", "KRKN", "--tables", str(tmp_path), "--workers", "4"]
    shown = json.loads(CliRunner().invoke(main, [*arguments, "--json"]).stdout)
    assert shown["workers"]["workers"] == 4
    assert sum(each["tables"] for each in shown["workers"]["classes"]) == shown["missing"] == 3
    (tmp_path / "KRK.wxf.dtm.xqt").write_bytes(bytes(100))
    shown = json.loads(CliRunner().invoke(main, [*arguments, "--json"]).stdout)
    assert sum(each["tables"] for each in shown["workers"]["classes"]) == shown["missing"] == 2
    text = CliRunner().invoke(main, arguments).stdout
    assert "4 workers of one thread: " in text
    assert "2 tables" in text
