"""The README: its session and its commands."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.paths import ROOT
from tests.helpers.sessions import OMITTED, blocks, mismatch, steps_of, without_compiling

README = (ROOT / "README.md").read_text("utf-8")


def run(command: str, folder: Path) -> list[str]:
    """Return the output of a command on both streams, without compilation messages."""
    program, *arguments = shlex.split(command)
    assert program == "tbgen"
    result = subprocess.run(
        [sys.executable, "-m", "tbgen", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout
    return without_compiling(result.stdout)


def test_the_session(tmp_path: Path) -> None:
    (session,) = blocks(README, "console")
    for command, shown in steps_of(session):
        printed = run(command, tmp_path)
        wrong = mismatch(printed, shown)
        assert wrong is None, f"$ {command}\n" + "\n".join(printed) + f"\nin the README: {wrong}"


@pytest.mark.parametrize("command", blocks(README, "sh"))
def test_the_first_commands_exist(command: str) -> None:
    assert subprocess.run(["sh", "-n", "-c", command], check=False).returncode == 0
    assert "\n" not in command.strip()
    for part in re.findall(r"\.venv/bin/(tbgen [a-z]+)", command):
        program, name = part.split()
        result = subprocess.run(
            [sys.executable, "-m", program, name, "--help"], capture_output=True, check=False
        )
        assert result.returncode == 0


def test_the_test_command_is_that_of_ci() -> None:
    """The last line of .ci/run is the README's command for the tests."""
    last = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()[-1]
    assert last.endswith("-m pytest")
    assert last in blocks(README, "sh")[1]


def test_comparison_of_output() -> None:
    printed = ["a 1.5 s", "b", "c 3 KiB, and more", "d"]
    assert mismatch(printed, ["a 2.0 s", "b", "c 3 KiB, ...", "d"]) is None
    assert mismatch(printed, ["a 4 min", "b", "c 17 MiB, ...", "d"]) == "c 17 MiB, ..."
    assert mismatch(printed, [OMITTED, "d"]) is None
    assert mismatch(printed, ["a 2.0 s", OMITTED]) is None
    assert mismatch(printed, ["b", OMITTED]) == "b"
    assert mismatch(printed, ["a 1 s", OMITTED, "e"]) == "e"
    assert mismatch(printed, ["a 1 s"]) == "more: b"
    first_build = "1/2 a: compile\n1/2 a: done\n2/2 b: compile; about 2 min left\n2/2 b: done"
    assert without_compiling(first_build) == ["1/2 a: done", "2/2 b: done"]
