"""The live status line of long commands, on a terminal and not."""

from __future__ import annotations

import sys

import pytest

from tbgen.cli.progress import LARGE_SET, SetProgress
from tbgen.cli.streams import LiveLine
from tbgen.indexing import Material
from tbgen.indexing.rulesets import Rules
from tbgen.tables.names import Metric, TableName
from tbgen.tables.rule_sets import RuleSet


@pytest.mark.parametrize("terminal", [False, True])
def test_messages_stay_after_the_live_line(
    terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    with LiveLine() as line:
        assert line.is_shown == terminal
        line.update("half done")
        line.print("KRK is there")
        line.clear()
    said = capsys.readouterr().err
    assert "KRK is there\n" in said
    assert ("half done" in said) == terminal


@pytest.mark.parametrize("total", [LARGE_SET, LARGE_SET + 1])
def test_a_large_set_prints_no_line_per_table(
    total: int, capsys: pytest.CaptureFixture[str]
) -> None:
    name = TableName(Material.parse("KRK"), RuleSet(Rules.WXF), Metric.DTM)
    with SetProgress(total, None, by_workers=False) as progress:
        progress.table(name, finished=False)
        progress.written(name, 954, 0.1)
    assert capsys.readouterr().err.count("KRK") == (total <= LARGE_SET)
    assert progress.tables[0]["bytes_on_disk"] == 954
