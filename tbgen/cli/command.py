"""The class of every command: answers on stdout, errors as `describe` words them.

An expected error is one line and a hint on stderr and an exit status; with `--json`, stdout has
`{"input","error","hint"}` besides. TBGEN_TRACEBACK=1 shows where it came from.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from tbgen.answers import failures
from tbgen.cli.lessons import LESSONS, write_lesson
from tbgen.cli.streams import json_text, never_fail_to_write, read_lines

HELP_NAMES = ["-h", "--help"]

Answer = TypeVar("Answer")

_TO_LOAD_NUMPY = 96 << 20
"""Addresses. Beside the 20 MiB of an interpreter, numpy 2.4 could be loaded in as many
(`python -m tests.faults.limits --only addresses`)."""


def describe(error: BaseException, tables_option: str = "") -> failures.Failure | None:
    """Return the report of an exception, as `failures.describe` does, click's own included."""
    if isinstance(error, click.Abort):
        return failures.Failure(failures.INTERRUPTED, "interrupted")
    if isinstance(error, click.UsageError):
        path = error.ctx.command_path if error.ctx else "tbgen"
        hint = f"{path} -h lists what it takes"
        return failures.Failure(failures.BAD_INPUT, error.format_message(), hint)
    if isinstance(error, click.ClickException):
        return failures.Failure(error.exit_code, error.format_message())
    return failures.describe(error, tables_option)


def show_failure(failure: failures.Failure, prefix: str = "") -> None:
    """Print a failure to stderr: one line that says what, one on what to do."""
    click.echo(f"{prefix}error: {failure.message}", err=True)
    if failure.hint:
        click.echo(f"hint: {failure.hint}", err=True)


def show_json(answer: object) -> None:
    """Print one JSON object on one line of stdout."""
    click.echo(json_text(answer))


def tables_option(context: click.Context) -> str:
    """The option that names the same tables directory again; empty where none was given."""
    if context.get_parameter_source("tables") != ParameterSource.COMMANDLINE:
        return ""
    return f" --tables {context.params['tables']}"


def answer_lines(
    context: click.Context,
    answer: Callable[[str], Answer],
    show: Callable[[Answer], object],
) -> int:
    """Answer every line of standard input, a bad one by its failure; returns the worst exit status.

    answer : makes the answer to a line, or raises
    show : prints it, as a line or as JSON
    """
    worst = failures.OK
    for line in read_lines():
        try:
            found = answer(line.read())
        except BrokenPipeError:
            raise
        except Exception as error:
            failure = failures.expected(error, tables_option(context))
            show_traceback()
            worst = max(worst, failure.status)
            if context.params["as_json"]:
                show_json(failure.to_json(line.text))
            else:
                show_failure(failure, f"line {line.number}: ")
        else:
            show(found)
    return worst


def show_traceback() -> None:
    """Print the exception at hand with its traceback, if the user has asked for that."""
    if os.environ.get("TBGEN_TRACEBACK", "0") not in ("", "0"):
        traceback.print_exc()


class _Reporting(click.Command):
    """Error reporting shared by commands and their group."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run the command line; what goes wrong before a command runs ends here.

        That is bad usage, or memory too short to load the command; all else ends in
        `Command.invoke`.
        """
        _replace_closed_streams()
        never_fail_to_write()
        try:
            status = super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        except (Exception, KeyboardInterrupt) as error:
            if not standalone_mode:
                raise
            status = _end(error, None)
        if not standalone_mode:
            return status
        sys.exit(status if isinstance(status, int) else failures.OK)


class Group(_Reporting, click.Group):
    """The group of all commands."""

    def invoke(self, ctx: click.Context) -> Any:
        """Load and run a command; of an interruption meanwhile, click would print a line itself."""
        try:
            _have_room_to_load()
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            ctx.exit(_end(error, None))


class Command(_Reporting):
    """A command; use as `@click.command(cls=Command)`."""

    def __init__(self, *args: Any, **options: Any) -> None:
        options.setdefault("context_settings", {}).setdefault("help_option_names", HELP_NAMES)
        super().__init__(*args, **options)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """End the help with examples."""
        write_lesson(formatter, LESSONS.get(self.name or ""))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, and report what went wrong."""
        try:
            answer = super().invoke(ctx)
            sys.stdout.flush()
            return answer
        except (click.exceptions.Exit, click.UsageError):
            raise
        except BrokenPipeError:
            _silence_stdout()
            ctx.exit(failures.BROKEN_PIPE)
        except (Exception, KeyboardInterrupt) as error:
            ctx.exit(_end(error, ctx))


def _end(error: BaseException, ctx: click.Context | None) -> int:
    """Report an exception and return the exit status; raise it again if it is a bug."""
    if isinstance(error, click.Abort) and isinstance(error.__cause__, EOFError):
        error = error.__cause__  # click takes it for Ctrl-D at a prompt
    failure = describe(error, tables_option(ctx) if ctx else "")
    if failure is None:
        raise error
    # Where the failure is that nothing can be written, nobody is left to be told.
    with contextlib.suppress(OSError):
        if isinstance(error, click.exceptions.NoArgsIsHelpError):
            error.show()
        else:
            show_traceback()
            show_failure(failure)
    try:
        if ctx is not None and ctx.params.get("as_json"):
            show_json(failure.to_json(_main_argument(ctx)))
        sys.stdout.flush()
    except OSError:
        _silence_stdout()
    return failure.status


def _main_argument(ctx: click.Context) -> str:
    """Return the command's main argument as it was typed."""
    for parameter in ctx.command.params:
        if isinstance(parameter, click.Argument) and parameter.name is not None:
            value = ctx.params.get(parameter.name) or ""
            return " ".join(value) if isinstance(value, tuple) else str(value)
    return ""


def _have_room_to_load() -> None:
    """Raise `OSError` if there is no memory to load numpy, whose BLAS would abort the process."""
    mmap.mmap(-1, _TO_LOAD_NUMPY, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()


def _replace_closed_streams() -> None:
    """Replace closed standard streams by streams that fail when they are used.

    The replacement also occupies the descriptor: else a file opened later would get it, and with it
    the output of the program. Messages on stderr may be lost.
    """
    if sys.stdin is None:
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_WRONLY), "r", encoding="utf-8")
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")


def _silence_stdout() -> None:
    """Redirect stdout to null, so that the interpreter reports no error when it ends."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
