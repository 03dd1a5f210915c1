"""Builds that are killed or interrupted, resume from saved states, and end with the same tables."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.helpers.commands import TBGEN, answer, restore_signals, run

BUILD = ("build", "KRKNA", "--rules", "wxf", "--save-state", "0.000001")
STATE = ".KRKNA.wxf.dtm.state"

STOPPED = """
import os, signal, time
from tbgen.building.states import StateFile

save = StateFile.save

def save_and_stop(self, parts):
    save(self, parts)
    if self.path.name == "{state}":
        {action}

StateFile.save = save_and_stop
"""
"""Module that Python imports at its start: a build stops when it has saved the last table's state.

`action` is a statement that ends the process (`KILL`), or makes it wait to be stopped (`WAIT`).
"""

KILL, WAIT = "os.kill(os.getpid(), signal.SIGKILL)", "time.sleep(600)"


def stopping(folder: Path, action: str) -> dict[str, str]:
    """Write the module `STOPPED` to a new folder; return variables that make Python import it."""
    folder.mkdir()
    text = STOPPED.format(state=STATE, action=action)
    (folder / "sitecustomize").with_suffix(".py").write_text(text, "ascii")
    return {"PYTHONPATH": str(folder)}


def resumed_at(said: str) -> tuple[int, int] | None:
    """Return the order and ply at which a build resumed, by its messages; None if it began anew."""
    found = re.search(r"resumes from its saved state: order (\d+), ply (\d+)", said)
    return None if found is None else (int(found[1]), int(found[2]))


def test_a_killed_build_is_resumed_and_proven(tmp_path: Path) -> None:
    tables = tmp_path / "tables"
    command = (TBGEN, *BUILD, "--jobs", "1", "--tables", tables)
    killed = stopping(tmp_path / "killed", KILL)
    first, second = (
        run(*command, environment=killed, status=-signal.SIGKILL).stderr for _ in range(2)
    )
    listed = answer(TBGEN, "ls", "--tables", tables)["tables"]
    assert "KRKNA" not in {table["material"] for table in listed}
    assert {"KRKN", "KRKA"} <= {table["material"] for table in listed}
    third = run(*command).stderr
    begun, once, twice = map(resumed_at, (first, second, third))
    assert begun is None
    assert once is not None
    assert twice is not None
    assert once < twice
    assert "1 built" in third
    assert not list(tables.glob(".*"))
    proven = answer(TBGEN, "verify", "KRKNA", "--closure", "--jobs", "1", "--tables", tables)
    assert {table["proof"]["status"] for table in proven["tables"]} == {"proven"}
    run(TBGEN, "verify", "KRKNA", "--digests", "--tables", tables)


def test_a_build_without_dask_resumes_one_on_dask(tmp_path: Path) -> None:
    for package in ("cryptography", "distributed"):
        pytest.importorskip(package, reason="the extra `cluster` is not installed")
    tables = tmp_path / "tables"
    command = [str(TBGEN), *BUILD, "--tables", str(tables)]
    with subprocess.Popen(
        [*command, "--dask", "local:2"], stderr=subprocess.PIPE, text=True,
        env=os.environ | stopping(tmp_path / "waiting", WAIT), preexec_fn=restore_signals,
    ) as build:  # fmt: skip
        while build.poll() is None and not (tables / STATE).exists():
            time.sleep(0.01)
        build.send_signal(signal.SIGINT)
        said = build.communicate()[1]
    assert "error: interrupted" in said.splitlines(), said
    resumed = run(*command, "--jobs", "1").stderr
    assert resumed_at(resumed) is not None
    assert "1 built" in resumed
    assert not list(tables.glob(".*"))
    run(TBGEN, "verify", "--men", "5", "--digests", "--tables", tables)
