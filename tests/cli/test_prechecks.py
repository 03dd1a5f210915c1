"""Impossible builds, plans and dumps are refused in one line before any work."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli.test_errors import assert_says, run
from tests.helpers.built import built


@pytest.mark.parametrize(
    "command",
    [("build",), ("plan",), ("stats",), ("index",), ("fetch", "--from", ".")],
    ids=" ".join,
)
def test_a_material_without_a_table(command: tuple[str, ...], tmp_path: Path) -> None:
    assert_says(run(*command, "KK", "--tables", tmp_path), 2, "no table")


def test_a_build_names_the_largest_need_at_once(tmp_path: Path) -> None:
    """The message names the table that needs most memory, before any table is built."""
    result = run("build", "KRNKRB", "--tables", tmp_path, "--memory", "150MiB")
    assert_says(result, 2, "KRNKRB needs at least", "hint: allow more by --memory")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("materials", [("KRKN",), ("KRKN", "KRKA")])
def test_missing_kernels_are_part_of_the_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, materials: tuple[str, ...]
) -> None:
    """The stated memory of a refused build includes the compilation of missing kernels.

    Otherwise a second try with the stated memory would be refused, too.
    """
    monkeypatch.setattr("tbgen.retrograde.warm_up.is_compiled", lambda *rules, **which: False)
    result = run("build", *materials, "--tables", tmp_path, "--memory", "10MiB")
    assert_says(result, 2, "needs at least 272 MiB", "still to be compiled")


@pytest.mark.parametrize("option", [(), ("--closure",)])
def test_a_proof_needs_memory_for_its_kernels(option: tuple[str, ...]) -> None:
    tables = ("--rules", "check", "--tables", built("KRK"))
    result = run("verify", "KRK", *tables, "--memory", "1MiB", *option)
    assert_says(result, 2, "use --memory 100MiB")


def test_a_build_beyond_all_memory(tmp_path: Path) -> None:
    result = run("build", "KRNPKRN", "--tables", tmp_path)
    assert_says(result, 2, "KRNPKRN needs at least", "GiB of memory", "a machine with more memory")


@pytest.mark.parametrize("material", ["KRNCKRN", "KRNCKRNC"])
def test_a_table_that_cannot_be_solved(tmp_path: Path, material: str) -> None:
    """Nothing is built, and no more memory is asked for; totals of a plan leave such tables out."""
    result = run("build", material, "--tables", tmp_path)
    assert_says(result, 2, "cannot have a table", "too many for 32 bits")
    assert not list(tmp_path.iterdir())
    said = run("plan", material, "--json", "--tables", tmp_path)
    plan = json.loads(said.stdout)
    assert plan["missing"] < len(plan["tables"])
    assert re.search(rf"note: the totals leave out .*{material}: ", said.stderr)


def test_a_build_of_more_than_a_day_is_confirmed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tbgen.cli.build._LONG_SECONDS", 0)
    assert_says(run("build", "KRKN", "--tables", tmp_path), 2, "--yes", "hours")
    assert run("build", "KNAK", "--tables", tmp_path, "--yes").exit_code == 0


def test_a_build_beyond_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(NamedTuple):
        free: int = 1000

    monkeypatch.setattr("tbgen.building.collection.shutil.disk_usage", lambda path: Full())
    assert_says(run("build", "KRKNA", "--tables", tmp_path), 2, "KiB of disk", "1000 B left")
    result = run("build", "KRK", "--tables", tmp_path)
    assert (result.exit_code, "note: the build may take up to" in result.stderr) == (0, True)


def test_totals_are_printed_before_a_long_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tbgen.cli.build._TOTALS_SECONDS", 0)
    first = run("build", "KNAK", "--tables", tmp_path).stderr.splitlines()[0]
    assert re.match(r"2 tables to build, [\d,]+ slots a side: up to ", first)


def test_totals_count_states_as_they_will_be_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tbgen.cli.build._TOTALS_SECONDS", 0)
    for minutes, room in (("0", "3 KiB"), ("1e-9", "9 KiB")):
        done = run("build", "KRK", "--save-state", minutes, "--tables", tmp_path / minutes)
        assert f"and {room} more meanwhile" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("build", "KRK", "--tables", ""),
        ("build", "KRK", "--memory", "0"),
        ("verify", "KRK", "--memory", "0"),
        ("build", "KRK", "--save-state", "nan"),
        ("build", "KRK", "--threads", "100000"),
        ("pack", "KRK", "--threads", "100000"),
        ("build", "@"),
        ("verify", "KRK", "--digests", "--wdl"),
        ("verify", "KRK", "--digests", "--closure"),
        ("verify", "KRK", "--wdl", "--plain"),
        ("verify", "KRK", "--wdl", "--no-certificate"),
    ],
    ids=" ".join,
)
def test_invalid_arguments(arguments: tuple[str, ...]) -> None:
    assert_says(run(*arguments), 2)


def test_dump_checks_its_output_first(tmp_path: Path) -> None:
    """`tbgen dump` refuses an unsuitable output file before it looks for the table."""
    for out in (tmp_path, tmp_path / "missing" / "file.csv"):
        assert_says(run("dump", "KRKN", "--out", out, "--tables", tmp_path), 2, "name a file")
    unknown = run("dump", "KRKN", "--out", tmp_path / "x.foo", "--tables", tmp_path)
    assert_says(unknown, 2, ".csv, .npz, .parquet", "--format")
