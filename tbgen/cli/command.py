"""Class of every command: answers on stdout, errors on stderr.

An expected error (not a bug) decides the exit status. Its message is printed to stderr in one line,
its hint, if any, in a second one. With `--json`, stdout also has `{"input","error","hint"}`.
TBGEN_TRACEBACK=1 prints the traceback, too.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import click

from tbgen.answers import failures
from tbgen.cli.lessons import BESIDE_RULES, LESSONS, typed_options, write_lesson
from tbgen.cli.streams import Line, json_text, read_lines
from tbgen.system.platform import anonymous_pages

HELP_NAMES = ["-h", "--help"]

Answer = TypeVar("Answer")

_TO_LOAD_NUMPY = 96 << 20
"""Bytes of address space that numpy 2.4 needs to load, measured by
`python -m tests.faults.limits --only addresses`.
"""


def describe(error: BaseException, typed: str = "") -> failures.Failure | None:
    """Return the failure for an exception like `failures.describe`; also for those of click."""
    if isinstance(error, click.Abort):
        return failures.Failure(failures.INTERRUPTED, "interrupted")
    if isinstance(error, click.UsageError):
        path = error.ctx.command_path if error.ctx else "tbgen"
        hint = f"{path} -h lists arguments and options"
        return failures.Failure(failures.BAD_INPUT, error.format_message(), hint)
    if isinstance(error, click.ClickException):
        return failures.Failure(error.exit_code, error.format_message())
    return failures.describe(error, typed)


def show_failure(failure: failures.Failure, prefix: str = "") -> None:
    """Print a failure to stderr: a line of `prefix` and message, a line of hint if it has one."""
    click.echo(f"{prefix}error: {failure.message}", err=True)
    if failure.hint:
        click.echo(f"hint: {failure.hint}", err=True)


def show_json(answer: object) -> None:
    """Print one JSON object on one line of stdout."""
    click.echo(json_text(answer))


def answer_lines(
    context: click.Context,
    answer: Callable[[str], Answer],
    show: Callable[[Answer], object],
    to_json: Callable[[Answer], dict[str, Any]],
    lines: Iterable[Line] | None = None,
) -> int:
    """Answer every line of standard input, or of `lines`; return the worst (largest) exit status.

    context : context of the command, whose parameter `as_json` decides the form of answers
    answer : returns the answer to the text of a line, or raises
    show : prints an answer in one line
    to_json : returns the object that is printed with `as_json`

    A printed object also has the number of the line, or of the game, as `line` or `game`. If a line
    cannot be answered, the failure is printed, and the next line is read. Raises bugs,
    `BrokenPipeError`, and `InputError` for standard input in UTF-16.
    """
    worst = failures.OK
    for line in read_lines() if lines is None else lines:
        try:
            found = answer(line.read())
        except BrokenPipeError:
            raise
        except Exception as error:
            failure = failures.expected(error, typed_options(context, *BESIDE_RULES))
            show_traceback()
            worst = max(worst, failure.status)
            if context.params["as_json"]:
                show_json(failure.to_json(line.text) | {line.kind: line.number})
            else:
                show_failure(failure, f"{line.kind} {line.number}: ")
        else:
            if context.params["as_json"]:
                show_json(to_json(found) | {line.kind: line.number})
            else:
                show(found)
    return worst


def show_traceback() -> None:
    """Print the current exception with its traceback, if TBGEN_TRACEBACK is set."""
    if os.environ.get("TBGEN_TRACEBACK", "0") not in ("", "0"):
        traceback.print_exc()


class _Reporting(click.Command):
    """Base class of the commands and their group: reports errors and sets the exit status."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run the command line, and exit; overrides click's method.

        If not `standalone_mode`, raises all errors, and returns the result or exit status.
        """
        _replace_closed_streams()
        if isinstance(sys.stdout, io.TextIOWrapper):
            # Characters that stdout's encoding lacks become escapes; stderr does so by default.
            sys.stdout.reconfigure(errors="backslashreplace")
        try:
            status = super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        except (Exception, KeyboardInterrupt) as error:
            if not standalone_mode:
                raise
            status = _report(error, None, as_json="--json" in (sys.argv if args is None else args))
        if not standalone_mode:
            return status
        sys.exit(status if isinstance(status, int) else failures.OK)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the description, a docstring; overrides click's method."""
        super().format_help_text(ctx, formatter)
        if sys.flags.optimize > 1:
            formatter.write_paragraph()
            formatter.write_text("Python's -OO, or PYTHONOPTIMIZE=2, removed text from this help.")


class Group(_Reporting, click.Group):
    """Class of the click group `tbgen`."""

    def invoke(self, ctx: click.Context) -> Any:
        """Load and run a command; overrides click's method.

        Reports Ctrl-C while the command is loaded, since click would print an empty line.
        """
        as_json = "--json" in ctx.args
        try:
            # If memory is too little to load numpy, its BLAS would abort the process.
            anonymous_pages(_TO_LOAD_NUMPY).close()
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            ctx.exit(_report(error, None, as_json=as_json))


class Command(_Reporting):
    """Class of all commands of `tbgen`; for use as `@click.command(cls=Command)`."""

    def __init__(self, *args: Any, **options: Any) -> None:
        options.setdefault("context_settings", {}).setdefault("help_option_names", HELP_NAMES)
        super().__init__(*args, **options)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command's examples at the end of its help; overrides click's method."""
        write_lesson(formatter, LESSONS[str(self.name)])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, and report its errors; overrides click's method.

        Raises bugs, and usage errors, which `main` reports. A broken pipe only sets the status.
        """
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
            ctx.exit(_report(error, ctx))


def _report(error: BaseException, ctx: click.Context | None, *, as_json: bool = False) -> int:
    """Report an exception and return the exit status; raise the exception again if it is a bug.

    ctx : context of the command that failed; None if the error came before the command ran
    as_json : whether to print the failure as JSON, too, even without `--json` in `ctx`
    """
    if isinstance(error, click.Abort) and isinstance(error.__cause__, EOFError):
        error = error.__cause__  # click converts it to `Abort`, as for Ctrl-D at a prompt
    failure = describe(error, typed_options(ctx, *BESIDE_RULES) if ctx else "")
    if failure is None:
        raise error
    # If stderr cannot be written, the message is lost.
    with contextlib.suppress(OSError):
        if isinstance(error, click.exceptions.NoArgsIsHelpError):
            error.show()
        else:
            show_traceback()
            show_failure(failure)
    try:
        if as_json or (ctx is not None and ctx.params.get("as_json")):
            show_json(failure.to_json(_main_argument(ctx) if ctx is not None else ""))
        sys.stdout.flush()
    except OSError:
        _silence_stdout()
    return failure.status


def _main_argument(ctx: click.Context) -> str:
    """Return the words of the command's first argument, joined by blanks; empty without any."""
    for parameter in ctx.command.params:
        if isinstance(parameter, click.Argument) and parameter.name is not None:
            value = ctx.params.get(parameter.name) or ""
            return " ".join(value) if isinstance(value, tuple) else str(value)
    return ""


def _replace_closed_streams() -> None:
    """Replace closed standard streams by the null device.

    Otherwise a file opened later could get the descriptor of a closed stream, and receive its
    output. Reading the new stdin and writing the new stdout fail; the new stderr discards text.
    """
    if sys.stdin is None:
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_WRONLY), "r", encoding="utf-8")
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")


def _silence_stdout() -> None:
    """Redirect stdout to the null device, so that flushing it at exit reports no error."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
