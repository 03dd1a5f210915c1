"""Examples in `tbgen` and `tbgen COMMAND --help`, and the pages of docs/ to read next.

Both are in lessons.toml. Tests parse the examples and run most; docs/commands.md links the pages.
"""

from __future__ import annotations

import shlex
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import click
from click.core import ParameterSource

CHECKS = "9/9/4k4/9/9/9/9/3n5/9/R2K5 b"
"""Example position, KRKN with Black to move: perpetual check seems to draw, but loses."""

LOOP = "f0e0 e8f8 e0f0 f8e8 f0e0 e8f8 e0f0 f8e8"
"""Example moves from `LOOP_FEN`: Red checks on every move (diagram D2 of the federation's book)."""

LOOP_FEN = "9/4k4/9/9/9/9/9/9/2p6/3K1RBc1 w"
"""Example position before the moves of `LOOP`."""


BESIDE_RULES = "tables", "metric"
"""Parameters that select tables beside the rule set: directory and metric."""
WHICH_TABLES = *BESIDE_RULES, "rules", "orders", "minor_chases"
"""Parameters of commands that select tables: directory, metric and rule set."""


class Lesson(NamedTuple):
    """Examples of a command, pairs [command line, meaning], and the path of a page to read next."""

    examples: list[list[str]]
    page: str


_text = Path(__file__).with_name("lessons.toml").read_text("utf-8")
for _name, _example in (("checks", CHECKS), ("loop_fen", LOOP_FEN), ("loop", LOOP)):
    _text = _text.replace(f"{{{_name}}}", _example)

LESSONS = {name: Lesson(**lesson) for name, lesson in tomllib.loads(_text).items()}
"""Lessons by name of the command."""
FIRST_STEPS = LESSONS.pop("tbgen")
"""Lesson of `tbgen` itself."""


def write_lesson(formatter: click.HelpFormatter, lesson: Lesson) -> None:
    """Append examples, and the page to read, to a command's help."""
    with formatter.section("Examples"):
        formatter.write_dl([(line, meaning) for line, meaning in lesson.examples])
    formatter.write_paragraph()
    formatter.write_text(f"More: {lesson.page}")


def show_next(*steps: tuple[str, str]) -> None:
    """Suggest commands to run next, on stderr, if stdout and stderr are terminals.

    steps : pairs of a command line, to which typed `WHICH_TABLES` are appended, and its purpose
    """
    if not (sys.stdout.isatty() and sys.stderr.isatty()):
        return
    chosen = typed_options(click.get_current_context(), *WHICH_TABLES)
    formatter = click.HelpFormatter()
    with formatter.section("\nNext"):
        formatter.write_dl([(step + chosen, meaning) for step, meaning in steps])
    click.echo(formatter.getvalue().rstrip("\n"), err=True)


def typed_options(context: click.Context, *names: str) -> str:
    """Return text like ` --tables DIR` with those of the named options that the user has typed.

    names : parameters such as `minor_chases`; options that the command ignores are left out, and
        the value `auto`, which only some commands accept
    """
    typed = ""
    for name in names:
        is_typed = context.get_parameter_source(name) == ParameterSource.COMMANDLINE
        value, option = context.params.get(name, "auto"), name.replace("_", "-")
        if not is_typed or value == "auto":
            continue
        if isinstance(value, bool):
            typed += f" --{option}" if value else f" --no-{option}"
        else:
            typed += f" --{option} {shlex.quote(str(value))}"
    return typed
