"""Output of commands with `--json` agrees with docs/answers.schema.json, without other fields."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jsonschema")

import jsonschema
from click.testing import CliRunner

from tbgen.cli import COMMANDS, main
from tests.helpers.built import built
from tests.helpers.paths import DOCS

CHECKS = "9/9/4k4/9/9/9/9/3n5/9/R2K5 b"
LOOP_FEN = "9/4k4/9/9/9/9/9/9/2p6/3K1RBc1 w"
LOOP = "f0e0 e8f8 e0f0 f8e8 f0e0 e8f8 e0f0 f8e8"
SCHEMA = json.loads((DOCS / "answers.schema.json").read_text("utf-8"))["$defs"]

REMEDY = (
    "describe it in scripts/docs/answers.py or tbgen/answers/schema.py, then run "
    "python scripts/docs/schemas.py"
)

CALLS: dict[str, tuple[str, ...]] = {
    "plan": ("KRKN",),
    "build": ("KRKN",),
    "pack": ("KNK",),
    "index": (),
    "fetch": ("KNK", "--from", "source", "--tables", "fetched"),
    "probe": (CHECKS,),
    "line": (CHECKS,),
    "verify": ("KNK", "--threads", "1"),
    "stats": ("KRKN",),
    "ls": (),
    "find": ("KRKN", "--study", "--limit", "3"),
    "dump": ("KNK", "--sample", "3", "--out", "knk.csv"),
    "judge": (LOOP_FEN, *LOOP.split()),
    "convert": (CHECKS, "--move", "d2b1"),
    "diagram": (CHECKS, "-o", "checks.svg"),
    "doctor": (),
}
"""Arguments with which the tests run each command that has `--json`.

`serve` is left out: tests/board covers it.
"""

MORE = {
    "a mate": ("line", "5k3/9/9/9/9/R8/9/4n4/9/3K5 w"),
    "a draw": ("probe", "3k1a3/9/9/9/9/9/9/9/9/4K4 w"),
    "mated": ("probe", "3k5/9/9/9/9/9/9/9/9/3RK4 b"),
    "a chase": ("judge", "3k5/9/9/1c7/9/2R5r/9/9/9/5K3 w", "c4b4", "b6c6", "b4c4", "c6b6"),
    "nothing repeats": ("judge", "3k5/9/9/9/9/9/9/9/9/R3K4 w"),
    "drawn": ("find", "KRKN", "--outcome", "draw", "--limit", "3"),
    "without rules": ("plan", "KRKN", "--rules", "none"),
    "digests": ("verify", "KNK", "KRK", "--digests"),
    "workers": ("plan", "--men", "5", "--workers", "2"),
    "a profile": ("build", "KNK", "--profile", "--tables", "own"),
    "a compiled function": ("doctor", "--numba"),
}

MISTAKES = (("probe", "nonsense"), ("stats", "KRKRA"), ("build", "nonsense"), ("convert", "?"))


def closed(schema: Any) -> Any:
    """Return a copy of a schema that allows no fields besides those that it describes."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {key: closed(part) for key, part in schema.items()}
    return inner | ({"additionalProperties": False} if "properties" in schema else {})


def answer(folder: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> Any:
    """Run a command with --json in `folder`, and return the object that it prints.

    The tables are those of KRKN. For `fetch`, the folder gets an indexed copy of them, `source`.
    """
    monkeypatch.setenv("TBGEN_TABLES", str(built("KRKN", rules="wxf")))
    monkeypatch.chdir(folder)
    if arguments[0] == "fetch":
        shutil.copytree(built("KRKN", rules="wxf"), "source")
        CliRunner().invoke(main, ["index", "--tables", "source"])
    return json.loads(CliRunner().invoke(main, [*arguments, "--json"]).stdout)


def check(name: str, found: Any) -> None:
    """Validate an answer against the schema of this name; fail with the main difference."""
    validator = jsonschema.Draft202012Validator(closed(SCHEMA[name]))
    error = jsonschema.exceptions.best_match(validator.iter_errors(found))
    if error is not None:
        place = error.json_path.replace("$", name, 1)
        pytest.fail(f"{place}: {error.message[:200]}; {REMEDY}", pytrace=False)


def test_the_schema_is_valid() -> None:
    for schema in SCHEMA.values():
        jsonschema.Draft202012Validator.check_schema(schema)
    assert set(SCHEMA) == set(COMMANDS) - {"engine"} | {"error"}
    assert set(CALLS) == set(COMMANDS) - {"engine", "serve"}


@pytest.mark.parametrize("name", CALLS)
def test_answers(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check(name, answer(tmp_path, monkeypatch, name, *CALLS[name]))


@pytest.mark.parametrize("case", MORE)
def test_more_answers(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name, *arguments = MORE[case]
    check(name, answer(tmp_path, monkeypatch, name, *arguments))


@pytest.mark.parametrize("arguments", MISTAKES)
def test_errors(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check("error", answer(tmp_path, monkeypatch, *arguments))


def test_answers_to_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TBGEN_TABLES", str(built("KRKN", rules="wxf")))
    pgn = f'[FEN "{CHECKS}"]\n*\n\n[FEN "{CHECKS}"]\n1.'
    for name, text in (
        ("probe", CHECKS), ("judge", CHECKS), ("convert", CHECKS), ("judge", pgn),
    ):  # fmt: skip
        given = f"{text}\nnonsense\n"
        printed = CliRunner().invoke(main, [name, "-", "--json"], input=given).stdout
        first, second = map(json.loads, printed.splitlines())
        check(name, first)
        check("error", second)
        kind = "game" if text == pgn else "line"
        assert (first[kind], second[kind]) == (1, 2)


def test_each_kind_of_proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers of `tbgen verify` agree with the schema for every result of a proof.

    Tested are tables that are proven, certified, damaged and not tried, and a win-draw-loss file.
    """
    tables = tmp_path / "tables"
    shutil.copytree(
        built("KRKN", rules="wxf"), tables, ignore=shutil.ignore_patterns("*.proof.json")
    )
    whole = ("verify", "KRKN", "--closure", "--jobs", "1", "--tables", str(tables))
    krk = tables / "KRK.wxf.dtm.xqt"
    for by, damaged in (
        (["proof"] * 3, False),
        (["certificate"] * 3, False),
        (["certificate", None, None], True),
    ):
        if damaged:
            krk.write_bytes(krk.read_bytes()[:-1])
        found = answer(tmp_path, monkeypatch, *whole)
        check("verify", found)
        assert [table["by"] for table in found["tables"]] == by
    assert all(table["error"] for table in found["tables"][1:])
    answer(tmp_path, monkeypatch, "pack", "KNK", "--tables", str(tables))
    found = answer(tmp_path, monkeypatch, "verify", "KNK", "--wdl", "--tables", str(tables))
    check("verify", found)
    assert found["ok"]


def test_undescribed_fields_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = answer(tmp_path, monkeypatch, "probe", CHECKS)
    found["moves"][0]["surprise"] = 1
    with pytest.raises(pytest.fail.Exception, match=r"^probe\.moves\[0\]: .*surprise.*answers\.py"):
        check("probe", found)
    del found["moves"][0]["surprise"], found["mechanism"]
    with pytest.raises(pytest.fail.Exception, match=r"^probe: 'mechanism'"):
        check("probe", found)
