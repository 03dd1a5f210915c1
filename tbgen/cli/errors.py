"""What can go wrong, as one line to read, a hint, and an exit status (DESIGN 3).

    0 ok   1 findings   2 usage or bad input   3 corrupt file   130 interrupted

`describe` is the only place that knows which exception means what. It imports the exceptions when
it is called, so that a command that fails early has not paid for the tables package.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

OK = 0
FINDINGS = 1
BAD_INPUT = 2
CORRUPT = 3
INTERRUPTED = 130
BROKEN_PIPE = 141
"""What a shell reports of a program that SIGPIPE ended; nobody is left to read a message."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An expected error: exit status, one line that says what, and one on what to do."""

    status: int
    message: str
    hint: str = ""

    def to_json(self, source: str) -> dict[str, str]:
        """The object that `--json` prints in place of an answer to `source`."""
        return {"input": source, "error": self.message, "hint": self.hint}


def describe(error: BaseException, tables_option: str = "") -> Failure | None:
    """What to say of an exception; None for one that only a bug explains.

    `tables_option` (` --tables DIR`) completes the command that builds a missing table.
    """
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return Failure(INTERRUPTED, "interrupted")
    if isinstance(error, click.UsageError):
        path = error.ctx.command_path if error.ctx else "tbgen"
        return Failure(BAD_INPUT, error.format_message(), f"{path} -h lists what it takes")
    if isinstance(error, click.ClickException):
        return Failure(error.exit_code, error.format_message())
    if isinstance(error, MemoryError):
        return Failure(BAD_INPUT, "there is not enough memory", "close other programs")
    if isinstance(error, OSError):
        return Failure(BAD_INPUT, _system_message(error), _system_hint(error))
    return _describe_own(error, tables_option)


def _describe_own(error: BaseException, tables_option: str) -> Failure | None:
    """What to say of this package's own exceptions."""
    from tbgen import tables
    from tbgen.indexing import InputError

    message = str(error)
    if isinstance(error, InputError):
        return Failure(BAD_INPUT, message, error.hint)
    if isinstance(error, tables.MissingTableError):
        what = message.removesuffix(f"; run: {error.command}")
        return Failure(FINDINGS, what, f"run: {error.command}{tables_option}")
    if isinstance(error, tables.RulesMismatchError):
        hint = "--rules, --minor-chases, --orders and --metric choose among them"
        return Failure(BAD_INPUT, message, hint)
    if isinstance(error, tables.IllegalPositionError):
        # The rules' own error says what to do about it.
        return Failure(BAD_INPUT, message, getattr(error.__cause__, "hint", ""))
    if isinstance(error, tables.CorruptTableError):
        return Failure(CORRUPT, message, f"the file is {error.file}")
    if isinstance(error, tables.FormatVersionError):
        return Failure(CORRUPT, message, f"the file is {error.file}")
    if isinstance(error, tables.TablebaseError | tables.LimitExceededError):
        return Failure(BAD_INPUT, message)
    return None


def _system_message(error: OSError) -> str:
    """`No space left on device: egtb/KRKN.check.dtm.xqt`."""
    what = error.strerror or str(error) or type(error).__name__
    return f"{what}: {error.filename}" if error.filename else what


def _system_hint(error: OSError) -> str:
    """What may help against an error of the operating system."""
    import errno

    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "make room, or choose another directory with --tables"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return "choose a directory that you may use with --tables"
    if error.errno in (errno.ENOENT, errno.ENOTDIR) and error.filename:
        return f"there is no such directory or file; looked in {Path.cwd()}"
    return ""
