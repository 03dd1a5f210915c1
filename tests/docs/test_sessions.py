"""The console sessions of docs/ and of the README, from top to bottom of each page.

Also the tutorial's program. Other tests run the examples of some pages: probing, searches and
research, notations and referee.
"""

from __future__ import annotations

import doctest
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tbgen.cli import main
from tests.helpers.paths import DOCS, ROOT
from tests.helpers.sessions import OMITTED, blocks, mismatch, steps_of, without_compiling

ELSEWHERE = {
    "engines.md", "find.md", "notations.md", "probing-c.md", "probing-numba.md",
    "probing-outcomes.md", "probing.md", "referee.md", "research.md", "train.md",
}  # fmt: skip
PAGES = [
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "README.md", *sorted(DOCS.glob("*.md")), DOCS / "zh" / "lesson.md")
    if "```console" in path.read_text("utf-8") and path.name not in ELSEWHERE
]
WITH_PYTHON = [
    path.relative_to(ROOT).as_posix()
    for path in sorted(DOCS.glob("*.md"))
    if "```pycon" in path.read_text("utf-8") and path.name not in ELSEWHERE
]
WIN = "python win.py"
"""Command of the tutorial that plays a won game against the engine.

It has a test of its own, since it needs the engine's kernels.
"""


def text_of(page: str) -> str:
    """Return the text of a page, whose path is relative to the repository."""
    return (ROOT / page).read_text("utf-8")


def run(command: str) -> list[str]:
    """Run a `tbgen` command in this process, and return the lines of its output on both streams."""
    program, *arguments = shlex.split(command)
    assert program == "tbgen"
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    return without_compiling(result.output)


def follow(page: str, *, left_out: tuple[str, ...] = ()) -> None:
    """Run the console commands of a page in order, and compare their output with the page.

    left_out : commands that are not run
    """
    for block in blocks(text_of(page), "console"):
        for command, shown in steps_of(block):
            if command not in left_out:
                printed = run(command)
                wrong = mismatch(printed, shown)
                said = "\n".join(printed)
                assert wrong is None, f"$ {command}\n{said}\nin {page}: {wrong}"


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an empty folder the working directory, without $TBGEN_TABLES, and return it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TBGEN_TABLES", raising=False)
    return tmp_path


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("page", PAGES)
def test_pages(page: str) -> None:
    follow(page, left_out=(WIN,))


@pytest.mark.parametrize("page", WITH_PYTHON)
def test_python_examples(page: str) -> None:
    example = "".join(blocks(text_of(page), "pycon"))
    test = doctest.DocTestParser().get_doctest(example, {}, page, page, 0)
    said: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    assert result.attempted
    assert not result.failed, "".join(said)


def test_pages_with_sessions_are_listed() -> None:
    assert "docs/the-index.md" in WITH_PYTHON
    assert {"README.md", "docs/repetition.md", "docs/zh/lesson.md"} <= set(PAGES)
    assert all((DOCS / page).exists() for page in ELSEWHERE)


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


@pytest.mark.certification
def test_the_won_game(elsewhere: Path) -> None:
    """The tutorial's program, run as printed, gives the output that the page shows.

    It plays against the installed engine in a process.
    """
    page = text_of("docs/tutorial.md")
    (program,) = (block for block in blocks(page, "python") if block.startswith("# win.py\n"))
    (shown,) = (
        lines
        for block in blocks(page, "console")
        for command, lines in steps_of(block)
        if command == WIN
    )
    run("tbgen build KRKN")
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    result = subprocess.run(
        [sys.executable, "-c", program],
        cwd=elsewhere, env={**os.environ, "PATH": programs},
        capture_output=True, text=True, check=False, timeout=900,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert mismatch(result.stdout.splitlines(), shown) is None, result.stdout
