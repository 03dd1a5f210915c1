"""Commands and code of the pages about probing, and docs/positions.csv against the readers."""

from __future__ import annotations

import csv
import doctest
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tbgen.cli import main
from tbgen.indexing import Position
from tbgen.indexing.layout import Layout
from tbgen.tables import Tablebase
from tests.helpers.built import built
from tests.helpers.cprograms import missing_tool
from tests.helpers.paths import ROOT
from tests.oracles.naive_reader import value_of

PAGES = sorted((ROOT / "docs").glob("probing*.md"))
POSITIONS = list(csv.DictReader((ROOT / "docs" / "positions.csv").open(encoding="ascii")))
BUILT = {
    ("none", "dtm"): ("KRKN",),
    ("none", "dtc"): ("KRKN", "KNNKA"),
    ("check", "dtm"): ("KRKN", "KRAKR", "KPPKA", "KCAKB"),
}


def run_console(block: str) -> None:
    """Run the commands ("$ ...") of a page's block; check that each prints the text shown below it.

    The output of `tbgen pack` is not compared, and `tbgen build` is not run. Other programs are not
    run if gcc or the headers of zstd are missing.
    """
    for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
        if command.startswith("tbgen build"):
            continue  # built before; progress is not compared
        if command.startswith("tbgen pack"):
            # Its sizes depend on the version of zstd.
            assert CliRunner().invoke(main, shlex.split(command)[1:]).exit_code == 0, command
            continue
        if command.startswith("tbgen "):
            result = CliRunner().invoke(main, shlex.split(command)[1:])
            assert (result.exit_code, result.stdout) == (0, output), command
        elif missing_tool() is None:
            result = subprocess.run(command, shell=True, capture_output=True, text=True)
            assert (result.stderr, result.stdout) == ("", output), command


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = page.read_text("utf-8")
    found = re.findall(r"^```(console|pycon)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert found
    shutil.copytree(built("KRAKR"), tmp_path / "egtb")
    (tmp_path / "contrib").symlink_to(ROOT / "contrib")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TBGEN_TABLES", raising=False)
    names: dict[str, Any] = {}
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(verbose=False)
    for number, (kind, block) in enumerate(found):
        if kind == "console":
            run_console(block)
            continue
        example = parser.get_doctest(block, names, f"block {number}", page.name, 0)
        failures: list[str] = []
        result = runner.run(example, out=failures.append, clear_globs=False)
        assert result.attempted
        assert not result.failed, "".join(failures)
        names = example.globs


@pytest.mark.parametrize("kind", list(BUILT))
def test_positions_csv_agrees_with_the_readers(kind: tuple[str, str]) -> None:
    rules, metric = kind
    directory = built(*BUILT[kind], rules=rules, metric=metric)
    rows = [row for row in POSITIONS if (row["rules"], row["metric"]) == kind]
    assert len(rows) > 10
    with Tablebase.open(directory) as tablebase:
        for row in rows:
            position = Position.from_fen(row["fen"])
            file = tablebase.table(row["material"])
            looked_up = position.swapped() if position.is_swapped else position
            slot = Layout.of(position.material).slot(looked_up)
            result = tablebase.probe(position)
            written = (row["outcome"], int(row["order"]), int(row["plies"]))
            assert (position.material.name, slot) == (row["material"], int(row["slot"]))
            assert result.outcome.name.lower() == row["outcome"]
            assert (result.order, result.plies or 0, result.value) == (
                int(row["order"]),
                int(row["plies"]),
                int(row["value"]),
            )
            assert value_of(file.path, looked_up.fen) == written


def test_coverage_of_positions_csv() -> None:
    seen = {(row["outcome"], min(int(row["order"]), 2)) for row in POSITIONS}
    assert seen == {(o, k) for o in ("win", "loss") for k in range(3)} | {("draw", 0)}
    positions = [Position.from_fen(row["fen"]) for row in POSITIONS]
    assert sum(position.is_swapped for position in positions) > 20
    assert {position.side for position in positions} == {0, 1}
