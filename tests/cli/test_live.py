"""The live status line of long commands, on a terminal and not."""

from __future__ import annotations

import sys
from concurrent.futures import Future
from typing import Any

import pytest

from tbgen.cli import progress
from tbgen.cli.progress import LARGE_SET, SetProgress
from tbgen.cli.streams import LiveLine
from tbgen.indexing import Material
from tbgen.indexing.rulesets import Rules
from tbgen.scheduling.forecast import Forecast
from tbgen.scheduling.queue import Job, Start
from tbgen.scheduling.run import Executor, run
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


def test_a_build_without_workers_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line about the trouble of the executor replaces the one about running tables."""
    monkeypatch.setattr(progress, "QUIET_SECONDS", 0.0)

    class Stuck(Executor):
        waits = 0

        def submit(self, start: Start) -> Future[Any]:
            return Future()

        def wait(self, futures: object, timeout: float | None) -> set[Future[Any]]:
            self.waits += 1
            if self.waits > 1:
                raise InterruptedError
            return set()

        def trouble(self) -> str:
            return "no worker is connected"

    with SetProgress(1, Forecast((), 1), by_workers=True) as shown, pytest.raises(InterruptedError):
        run([Job("KRK")], Stuck(), shown)
    assert "0/1 done, 1 waiting: KRK; no worker is connected\n" in capsys.readouterr().err


@pytest.mark.parametrize("total", [LARGE_SET, LARGE_SET + 1])
def test_a_large_set_prints_no_line_per_table(
    total: int, capsys: pytest.CaptureFixture[str]
) -> None:
    name = TableName(Material.parse("KRK"), RuleSet(Rules.WXF), Metric.DTM)
    with SetProgress(total, Forecast((), 1), by_workers=False) as shown:
        shown.table(name, finished=False)
        shown.written(name, 954, 0.1)
    assert capsys.readouterr().err.count("KRK") == (total <= LARGE_SET)
    assert shown.tables[0]["bytes_on_disk"] == 954
