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

BESIDE_RULES = "tables", "metric"
"""Parameters that select tables beside the rule set: directory and metric."""
WHICH_TABLES = *BESIDE_RULES, "rules", "orders", "minor_chases"
"""Parameters of commands that select tables: directory, metric and rule set."""


class Lesson(NamedTuple):
    """Examples of a command, pairs [command line, meaning], and the path of a page to read next."""

    examples: list[list[str]]
    page: str


_TEXT = Path(__file__).with_name("lessons.toml").read_text("utf-8")
LESSONS = {name: Lesson(**lesson) for name, lesson in tomllib.loads(_TEXT).items()}
FIRST_STEPS = LESSONS.pop("tbgen")


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
