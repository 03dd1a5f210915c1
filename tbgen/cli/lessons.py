"""Lessons in `tbgen` and `tbgen COMMAND --help` beside the options: examples, further pages.

One table for all commands, so that what is shown at a terminal, what docs/commands.md prints and
what the tests try are the same lines. The options themselves are explained where they are declared.
"""

from __future__ import annotations

import shlex
import sys
from typing import NamedTuple

import click
from click.core import ParameterSource

CHECKS = "9/9/4k4/9/9/9/9/3n5/9/R2K5 b"
"""KRKN, Black to move: he can check for ever, which looks like a draw and loses."""

LOOP = "f0e0 e8f8 e0f0 f8e8 f0e0 e8f8 e0f0 f8e8"
"""Red checks on every move (diagram D2 of the federation's book)."""

LOOP_FEN = "9/4k4/9/9/9/9/9/9/2p6/3K1RBc1 w"


class Lesson(NamedTuple):
    """Command lines with what they do, and the page of docs/ that tells more."""

    examples: tuple[tuple[str, str], ...]
    page: str


FIRST_STEPS = Lesson(
    (
        ("tbgen build KRKN", "three tables, in a second once the kernels are compiled"),
        (f'tbgen probe "{CHECKS}"', "a position, all its moves, and why"),
        ("tbgen verify KRKN", "a proof from the rules alone"),
        ("tbgen serve --demo", "the board in a browser"),
    ),
    "docs/tutorial.md",
)
"""Of `tbgen` itself."""

LESSONS = {
    "plan": Lesson(
        (
            ("tbgen plan KRKNN", "what it needs before anything is built"),
            ("tbgen plan --men 5 --workers 8", "all of at most five men, on eight workers"),
            ("tbgen plan --attackers 2 --men 5", "of at most two attackers, whatever defends"),
            ("tbgen plan KRNKR KRPKR --json", "the same of two materials, for a script"),
        ),
        "docs/build-big.md",
    ),
    "build": Lesson(
        (
            ("tbgen build KRKN", "KRKN, and the tables that its captures lead to"),
            ("tbgen build KRKN --rules none", "the same where repetition draws"),
            ("tbgen build --men 4 --jobs auto --wdl", "all of at most four men, several at once"),
            ("tbgen build KRNKR --memory 300MiB", "with arrays on disk where that is too little"),
        ),
        "docs/build-big.md",
    ),
    "pack": Lesson(
        (
            ("tbgen pack KRKN", "win, draw or loss alone, for engines"),
            ("tbgen pack --men 5", "of all tables here of at most five men"),
            ("tbgen pack --men 5 --out download", "the same in a folder to hand out"),
        ),
        "docs/engines.md",
    ),
    "probe": Lesson(
        (
            (f'tbgen probe "{CHECKS}"', "value, moves and reasons"),
            (f'tbgen probe "{CHECKS}" --notation zh', "moves in Chinese"),
            ("tbgen probe - --json < positions.txt", "one position a line, one object each"),
        ),
        "docs/values.md",
    ),
    "line": Lesson(
        (
            (f'tbgen line "{CHECKS}"', "to mate, or to the loop that is forced"),
            (f'tbgen line "{CHECKS}" --plies 4 --json', "the first four plies, for a script"),
        ),
        "docs/studies.md",
    ),
    "verify": Lesson(
        (
            ("tbgen verify KRKN", "one table, if those below it are right"),
            ("tbgen verify --closure KRKN", "with all that it rests on"),
            ("tbgen verify --wdl KRKN", "its win-draw-loss file"),
        ),
        "docs/proof.md",
    ),
    "stats": Lesson(
        (
            ("tbgen stats KRKN", "counts, distances, orders, the longest wins"),
            ("tbgen stats KRKN --histogram --json", "every value with its count"),
        ),
        "docs/values.md",
    ),
    "ls": Lesson((("tbgen ls", "the tables in ./egtb, with digests"),), "docs/publish.md"),
    "index": Lesson(
        (("tbgen index", "a manifest of the tables in ./egtb, for others to fetch"),),
        "docs/publish.md",
    ),
    "fetch": Lesson(
        (("tbgen fetch KRKN --from http://localhost:8000", "a table and what it needs, checked"),),
        "docs/publish.md",
    ),
    "find": Lesson(
        (
            ("tbgen find KNKP --zugzwang", "every position in which both sides would rather wait"),
            (
                "tbgen find KRKN --outcome win --only --sort=-plies --limit 3",
                "the longest only wins",
            ),
        ),
        "docs/find.md",
    ),
    "dump": Lesson(
        (
            ("tbgen dump KRKN --sample 5", "five random positions as CSV"),
            ("tbgen dump KRKN --format npz --out krkn.npz", "all of them, an array per column"),
        ),
        "docs/research.md",
    ),
    "judge": Lesson(
        (
            (f'tbgen judge "{LOOP_FEN}" {LOOP}', "who breaks the rules of repetition, and why"),
            ("tbgen judge - < games.txt", "one `FEN;MOVE MOVE ...` a line"),
        ),
        "docs/judge-games.md",
    ),
    "convert": Lesson(
        (
            ("tbgen convert 4K44B49994n495k399 --to board", "a position of another program"),
            (f'tbgen convert "{CHECKS}" --move d2b1 --notation zh', "a move in Chinese"),
        ),
        "docs/notations.md",
    ),
    "diagram": Lesson(
        (
            (f'tbgen diagram "{CHECKS}" -o checks.svg', "a picture for a text or a web page"),
            (f'tbgen diagram "{CHECKS}" --last d2b1 --pieces latin', "after a move, with letters"),
        ),
        "docs/studies.md",
    ),
    "engine": Lesson(
        (("tbgen engine --tables egtb", "then type: uci, position fen ..., go movetime 1000"),),
        "docs/engine.md",
    ),
    "serve": Lesson(
        (
            ("tbgen serve --demo", "builds a few small tables first"),
            ("tbgen serve --tables egtb --port 8080", "the tables of a directory"),
        ),
        "docs/board.md",
    ),
    "doctor": Lesson(
        (
            ("tbgen doctor", "versions, memory, space, where compiled code is"),
            ("tbgen doctor --numba", "also tries the compiler"),
        ),
        "docs/build-big.md",
    ),
}
"""By the name of the command."""


def write_lesson(formatter: click.HelpFormatter, lesson: Lesson | None) -> None:
    """Append examples, and the page to read, to a command's help."""
    if lesson is None:
        return
    with formatter.section("Examples"):
        formatter.write_dl(lesson.examples)
    formatter.write_paragraph()
    formatter.write_text(f"More: {lesson.page}")


def show_next(*steps: tuple[str, str]) -> None:
    """Print commands that may come next, and what for, to somebody who sits at a terminal.

    They go to stderr, and nowhere if either stream is a pipe or a file: scripts get answers alone.
    Options that chose the tables of the command that runs are repeated.
    """
    if not (sys.stdout.isatty() and sys.stderr.isatty()):
        return
    formatter = click.HelpFormatter()
    with formatter.section("\nNext"):
        formatter.write_dl([(step + _chosen_tables(), meaning) for step, meaning in steps])
    click.echo(formatter.getvalue().rstrip("\n"), err=True)


def _chosen_tables() -> str:
    """The options on the command line that say which tables are meant, to be typed again."""
    context = click.get_current_context()
    typed = ""
    for name in ("tables", "rules", "orders"):
        if context.get_parameter_source(name) == ParameterSource.COMMANDLINE:
            typed += f" --{name} {shlex.quote(str(context.params[name]))}"
    return typed + (" --no-minor-chases" if context.params["minor_chases"] is False else "")
