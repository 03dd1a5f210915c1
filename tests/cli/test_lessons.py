"""Help texts: examples run, pages exist, shells complete commands."""

from __future__ import annotations

import os
import pty
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete, get_completion_class
from click.testing import CliRunner

from tbgen.cli import COMMANDS, main
from tbgen.cli.lessons import FIRST_STEPS, LESSONS
from tests.helpers.built import built
from tests.helpers.paths import ROOT

EXAMPLES = [line for lesson in (FIRST_STEPS, *LESSONS.values()) for line, _ in lesson.examples]
SLOW = {"tbgen doctor --numba"}
"""Commands among the examples of help texts that are not run, since other tests cover them."""

RUN = {"probe", "line", "stats", "ls", "dump", "judge", "convert", "diagram", "doctor"}
"""Commands whose examples in help texts are run: they neither build, prove nor serve."""

CHECKS = "9/9/4k4/9/9/9/9/3n5/9/R2K5 b"
STDIN = {"positions.txt": f"{CHECKS}\n", "games.txt": "3k5/9/9/9/9/9/9/9/9/R3K4 w;a0a1\n"}


def test_every_command_has_examples_and_a_page() -> None:
    assert set(LESSONS) == set(COMMANDS)
    for name, lesson in {"": FIRST_STEPS, **LESSONS}.items():
        assert (ROOT / lesson.page).exists()
        shown = CliRunner().invoke(main, [*name.split(), "--help"]).output
        assert lesson.examples[0][0] in shown
        assert f"More: {lesson.page}" in shown


def test_without_a_command_first_steps_are_shown() -> None:
    result = CliRunner().invoke(main, [])
    assert result.exit_code == 2
    assert FIRST_STEPS.examples[0][0] in result.stderr


@pytest.mark.parametrize("line", EXAMPLES)
def test_examples_are_valid(line: str) -> None:
    program, name, *arguments = shlex.split(line.partition(" < ")[0])
    assert program == "tbgen"
    command = main.get_command(click.Context(main), name)  # type: ignore[attr-defined]
    command.make_context(name, arguments)


@pytest.mark.parametrize(
    "line", [line for line in EXAMPLES if line.split()[1] in RUN and line not in SLOW]
)
def test_examples_run(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TBGEN_TABLES", str(built("KRKN", rules="wxf")))
    monkeypatch.chdir(tmp_path)
    command, _, file = line.partition(" < ")
    result = CliRunner().invoke(main, shlex.split(command)[1:], input=STDIN.get(file))
    assert result.exit_code == 0, result.output
    assert result.stdout or list(tmp_path.iterdir())
    assert "Next:" not in result.output  # it is no terminal


def on_terminal(*arguments: str) -> str:
    """Return the output of a command, stdout and stderr, run at a pseudo-terminal."""
    terminal, other_end = pty.openpty()
    command = [sys.executable, "-m", "tbgen", *arguments]
    with subprocess.Popen(command, stdout=other_end, stderr=other_end) as process:
        os.close(other_end)
        shown = b""
        while True:
            try:
                read = os.read(terminal, 65536)
            except OSError:  # on Linux, the other end is closed
                read = b""
            if not read:
                break
            shown += read
    os.close(terminal)
    assert process.returncode == 0, shown
    return shown.decode()


def test_next_steps_are_shown_on_a_terminal() -> None:
    tables = str(built("KRKN", rules="wxf"))
    chosen = ["--tables", tables, "--metric", "dtm", "--rules", "wxf", "--minor-chases"]
    shown = on_terminal("probe", CHECKS, *chosen)
    _, found, steps = shown.partition("Next:")
    assert found
    line = shlex.split(next(step for step in steps.splitlines() if "tbgen line" in step))
    assert line[3:] == chosen
    assert CliRunner().invoke(main, line[1:]).exit_code == 0


def completions(words: list[str], incomplete: str) -> list[str]:
    """Return the words that Tab offers after `words` for the beginning `incomplete`."""
    found = ShellComplete(main, {}, "tbgen", "_TBGEN_COMPLETE").get_completions(words, incomplete)
    return [item.value for item in found]


def test_shells_complete() -> None:
    assert completions([], "pr") == ["probe"]
    assert completions([], "") == list(COMMANDS)
    assert "--version" in completions([], "--")
    assert completions(["build"], "--ru") == ["--rules"]
    assert completions(["build", "--rules"], "c") == ["check", "computer"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str) -> None:
    kind = get_completion_class(shell)
    assert kind is not None
    script = kind.source_template % kind(main, {}, "tbgen", "_TBGEN_COMPLETE").source_vars()
    assert f"_TBGEN_COMPLETE={shell}_complete" in script


def test_completion_by_the_program() -> None:
    """The program completes a word if it is run as the completion script of a shell runs it."""
    question = {"_TBGEN_COMPLETE": "zsh_complete", "COMP_WORDS": "tbgen pr", "COMP_CWORD": "1"}
    command = [sys.executable, "-c", "from tbgen.__main__ import main; main()"]
    asked = subprocess.run(command, env={**os.environ, **question}, capture_output=True, text=True)
    assert (asked.returncode, asked.stderr) == (0, "")
    assert asked.stdout == f"plain\nprobe\n{COMMANDS['probe']}\n"
