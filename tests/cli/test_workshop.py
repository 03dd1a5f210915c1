"""Builds requested by a board: in other processes, observed, cancelled, one at a time."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tbgen.board.knowledge.builds import BuildProgress, Limits, Stage
from tbgen.building.plan import plan
from tbgen.cli.workshop import FIRST_SET, Workshop
from tbgen.indexing import Material
from tbgen.tables import Rules, RuleSet, Tablebase

RULES = RuleSet(Rules.WXF)


def workshop(directory: Path, limits: Limits | None = None) -> Workshop:
    return Workshop(directory, lambda: RULES, limits)


def ended(site: Workshop) -> BuildProgress:
    """Wait for a workshop's running build to end, and return its last progress report.

    Fails after 300 s. A workshop builds the tables that a board requests.
    """
    deadline = time.monotonic() + 300
    while True:
        progress = site.progress()
        assert progress is not None
        assert 0 <= progress.share <= 1
        assert progress.done <= progress.total or not progress.total
        if not progress.goes_on:
            return progress
        assert time.monotonic() < deadline
        time.sleep(0.05)


def names(directory: Path) -> set[str]:
    with Tablebase.open(directory) as tables:
        return {name.material.name for name in tables.available()}


def test_tables_are_built_with_their_supporting_tables(tmp_path: Path) -> None:
    site = workshop(tmp_path)
    assert site.progress() is None
    assert site.start([Material.parse("KRKN")])
    last = ended(site)
    assert (last.stage, last.done, last.total, last.share) == (Stage.BUILT, 3, 3, 1.0)
    assert names(tmp_path) == {"KRKN", "KRK", "KNK"}
    # Again: everything is there, and costs nothing.
    cost = site.cost([Material.parse("KRKN")])
    assert cost is not None
    assert cost.seconds == cost.disk_bytes == 0
    assert site.start([Material.parse("KRKN")])
    assert ended(site).stage == Stage.BUILT


def test_a_cancelled_build_keeps_finished_tables(tmp_path: Path) -> None:
    site = workshop(tmp_path)
    assert site.start([Material.parse("KRKN"), Material.parse("KRPKR")])
    assert not site.start([Material.parse("KRK")])
    while True:
        progress = site.progress()
        assert progress is not None
        if progress.done:
            break
        time.sleep(0.02)
    site.close()
    last = ended(site)
    assert last.stage == Stage.CANCELLED
    kept = names(tmp_path)
    assert len(kept) >= last.done > 0
    assert "KRPKR" not in kept
    assert not [path for path in tmp_path.iterdir() if path.suffix == ".tmp"]
    assert site.start([Material.parse("KRK")])
    assert ended(site).stage == Stage.BUILT


def test_the_demonstration_has_two_rule_sets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The demonstration has tables of two rule sets, each set in a directory of its own.

    So a command finds one rule set in each directory.
    """
    for name, value in {
        "FIRST_SET": ("KRK",),
        "RULES_MATERIAL": "KNK",
        "COMPARED": ("KRK",),
    }.items():
        monkeypatch.setattr(f"tbgen.cli.workshop.{name}", value)
    site = workshop(tmp_path)
    site.start_demo()
    last = ended(site)
    assert (last.stage, last.done, last.total) == (Stage.BUILT, 3, 3)
    assert set(names(tmp_path)) == {"KRK", "KNK"}
    assert [path.name for path in (tmp_path / "compared").glob("*.xqt")] == ["KRK.none.dtm.xqt"]


def test_a_failure_is_reported(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Readers of pages see the reason of a failure, but no path; the log has both."""
    (tmp_path / "file").write_text("")
    site = workshop(tmp_path / "file" / "tables")
    assert site.start([Material.parse("KRK")])
    last = ended(site)
    assert (last.stage, last.problem) == (Stage.FAILED, "KRK: Not a directory")
    assert str(tmp_path) in caplog.text


def test_a_killed_process_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A build whose process the system kills, as for lack of memory, is no bug of the server."""
    monkeypatch.setattr("tbgen.scheduling.processes.python_command", lambda *_: ["false"])
    site = workshop(tmp_path)
    assert site.start([Material.parse("KRK")])
    assert ended(site).problem.startswith("KRK: failed repeatedly: its process ended")
    assert "Traceback" not in capsys.readouterr().err


def test_the_cost_agrees_with_the_plan(tmp_path: Path) -> None:
    materials = [Material.parse(name) for name in FIRST_SET]
    planned = plan(materials, RuleSet(Rules.WXF), tmp_path)
    cost = workshop(tmp_path).cost(materials)
    assert cost is not None
    assert cost.seconds == pytest.approx(sum(table.seconds for table in planned))
    assert cost.memory_bytes == max(table.memory_bytes for table in planned)


def test_requests_that_take_long_to_plan_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A material whose plan would take long gets no cost and no plan; here one of twelve men."""
    planned: list[object] = []
    monkeypatch.setattr("tbgen.cli.workshop.Collection", lambda *asked: planned.append(asked))
    assert workshop(tmp_path).cost([Material.parse("KRNCAABBKRNC")]) is None
    assert not planned
