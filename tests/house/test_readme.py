"""What the README shows is what happens: its session, its Python, its commands."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kits.paths import ROOT

README = (ROOT / "README.md").read_text("utf-8")
OMITTED = "..."

Step = tuple[str, list[str]]
"""A command, and the lines that it prints; `...` stands for any lines, or for the rest of one."""


def blocks(language: str) -> list[str]:
    """The blocks of the README in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def session() -> list[Step]:
    """The commands of "A session", in order."""
    (text,) = blocks("console")
    steps: list[Step] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            steps.append((line[2:], []))
        else:
            steps[-1][1].append(line)
    return steps


def normalised(line: str) -> str:
    """A line without what differs from run to run: seconds, and bytes of compressed files."""
    line = re.sub(r"\b[\d.]+ s\b", "SECONDS", line)
    return re.sub(r"\b[\d.]+ ([KM]i)?B\b", "SIZE", line)


def agrees(printed: str, shown: str) -> bool:
    """Whether a printed line is the shown one."""
    if shown.endswith(" " + OMITTED):
        return normalised(printed).startswith(normalised(shown.removesuffix(OMITTED)))
    return normalised(printed) == normalised(shown)


def mismatch(printed: list[str], shown: list[str]) -> str | None:
    """The first shown line that was not printed where it should have been."""
    at, anywhere = 0, False
    for line in shown:
        if line == OMITTED:
            anywhere = True
            continue
        found = [i for i in range(at, len(printed)) if agrees(printed[i], line)]
        if not found or (found[0] > at and not anywhere):
            return line
        at, anywhere = found[0] + 1, False
    return None if at == len(printed) or anywhere else f"more: {printed[at]}"


def run(command: str, folder: Path) -> list[str]:
    """What a command prints on both channels, compilation aside."""
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
    # The first build on a machine says so while it compiles.
    return [line for line in result.stdout.splitlines() if not line.endswith(": compile")]


def test_the_session(tmp_path: Path) -> None:
    for command, shown in session():
        printed = run(command, tmp_path)
        wrong = mismatch(printed, shown)
        assert wrong is None, f"$ {command}\n" + "\n".join(printed) + f"\nin the README: {wrong}"
    # The Python of the README reads the tables of its session.
    (script,) = blocks("python")
    result = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True)
    assert result.returncode == 0, result.stderr.decode()
    assert b"order=1" in result.stdout


@pytest.mark.parametrize("command", blocks("sh"))
def test_the_two_commands_are_commands(command: str) -> None:
    assert subprocess.run(["sh", "-n", "-c", command], check=False).returncode == 0
    assert "\n" not in command.strip()
    for part in re.findall(r"\.venv/bin/(tbgen [a-z]+)", command):
        program, name = part.split()
        result = subprocess.run(
            [sys.executable, "-m", program, name, "--help"], capture_output=True, check=False
        )
        assert result.returncode == 0


def test_the_command_of_the_tests_is_what_is_run() -> None:
    """The last line of .ci/run is the README's command for the tests."""
    last = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()[-1]
    assert last.endswith("-m pytest")
    assert last in blocks("sh")[1]


def test_every_command_is_listed() -> None:
    from tbgen.cli import COMMANDS

    table = README[README.index("## Commands") : README.index("## From Python")]
    listed = set(
        re.findall(r"`([a-z]+)\b[^`]*`", "".join(re.findall(r"^\|([^|]*)\|", table, re.M)))
    )
    assert listed == set(COMMANDS)


def test_how_output_is_compared() -> None:
    printed = ["a 1.5 s", "b", "c 3 KiB, and more", "d"]
    assert mismatch(printed, ["a 2.0 s", "b", "c 17 MiB, ...", "d"]) is None
    assert mismatch(printed, [OMITTED, "d"]) is None
    assert mismatch(printed, ["a 2.0 s", OMITTED]) is None
    assert mismatch(printed, ["b", OMITTED]) == "b"
    assert mismatch(printed, ["a 1 s", OMITTED, "e"]) == "e"
    assert mismatch(printed, ["a 1 s"]) == "more: b"
