"""Failures: an exception as one line of message, a hint, and an exit status.

    0 ok   1 findings   2 usage or bad input   3 corrupt file   130 interrupted   141 broken pipe

An error is *expected* if input, files or the system can cause it; any other is a bug of tbgen.
*Findings* are faults that a command looked for and found, or a missing table. `tbgen.cli.command`
handles the exceptions of click and the broken pipe. `tbgen.tables` is imported in a function, so
that importing this module does not load that package.
"""

from __future__ import annotations

import errno
import sys
from dataclasses import dataclass
from pathlib import Path

from tbgen.indexing.errors import InputError, printable
from tbgen.system.platform import resource_limit

OK = 0
FINDINGS = 1
BAD_INPUT = 2
CORRUPT = 3
INTERRUPTED = 130
BROKEN_PIPE = 141
"""Exit status that a shell reports for a program ended by SIGPIPE; no message is printed."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An expected error: exit status, one line of message, and one line of hint or ""."""

    status: int
    message: str
    hint: str = ""

    def __post_init__(self) -> None:
        """Escape control and invisible characters in message and hint (`printable`)."""
        object.__setattr__(self, "message", printable(self.message))
        object.__setattr__(self, "hint", printable(self.hint))

    def to_json(self, source: str) -> dict[str, str]:
        """Return the object that `--json` prints for the input `source`, such as a FEN."""
        return {"input": source, "error": self.message, "hint": self.hint}


def describe(error: BaseException, typed: str = "") -> Failure | None:
    """Return the failure for an exception; None if the exception is unexpected, and so a bug.

    The hint for an interrupt is the text of the `KeyboardInterrupt`.

    typed : options such as ` --tables DIR`, added to the command that the hint for a missing table
        suggests
    """
    if isinstance(error, KeyboardInterrupt):
        return Failure(INTERRUPTED, "interrupted", str(error))
    if _lacks_memory(error):
        return Failure(BAD_INPUT, "there is not enough memory", _memory_hint())
    if isinstance(error, OSError):
        what = error.strerror or str(error) or type(error).__name__
        message = f"{what}: {error.filename}" if error.filename else what
        return Failure(BAD_INPUT, message, _system_hint(error))
    from tbgen import tables

    message = str(error)
    if isinstance(error, InputError):
        return Failure(BAD_INPUT, error.message, error.hint)
    if isinstance(error, tables.MissingTableError):
        return Failure(FINDINGS, error.message, f"run: {error.command}{typed}")
    if isinstance(error, tables.RulesMismatchError):
        hint = "--rules, --minor-chases, --orders and --metric select among them"
        return Failure(BAD_INPUT, message, hint)
    if isinstance(error, tables.IllegalPositionError):
        # The cause, an error of the rules, has the hint.
        return Failure(BAD_INPUT, message, getattr(error.__cause__, "hint", ""))
    if isinstance(error, tables.CorruptTableError | tables.FormatVersionError):
        return Failure(CORRUPT, message, f"the file is {error.file}")
    if isinstance(error, tables.TablebaseError | tables.LimitExceededError):
        return Failure(BAD_INPUT, message, getattr(error, "hint", ""))
    return None


def expected(error: BaseException, typed: str = "") -> Failure:
    """Return the failure for an exception, as `describe` does; raise an unexpected exception."""
    failure = describe(error, typed)
    if failure is None:
        raise error
    return failure


def _lacks_memory(error: BaseException | None) -> bool:
    """Return whether an exception, or one in its chain of causes, reports a lack of memory."""
    while error is not None:
        words = str(error).lower()
        if isinstance(error, MemoryError) or (
            isinstance(error, OSError) and error.errno == errno.ENOMEM
        ):
            return True
        if isinstance(error, ImportError | OSError) and (
            words.endswith("failed to map segment from shared object")
            or "cannot allocate memory" in words
        ):
            return True
        if isinstance(error, RuntimeError) and words == "can't start new thread":
            return True
        error = error.__cause__ or error.__context__
    return False


def _memory_hint() -> str:
    """Return a remedy for a lack of memory, which names the limits set for this process."""
    limits = {"RLIMIT_AS": "ulimit -v", "RLIMIT_DATA": "ulimit -d"}
    found = [shown for name, shown in limits.items() if resource_limit(name) < sys.maxsize]
    raised = f", or raise the limit that was set ({', '.join(found)})" if found else ""
    return f"close other programs{raised}"


def _system_hint(error: OSError) -> str:
    """Return a remedy for an error of the operating system; empty if none is known."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "free some space, or choose another directory"
    if error.errno == errno.EFBIG:
        return "raise the limit that was set (ulimit -f), or choose another directory"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return "choose another directory or file, one that you may use"
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return "close other programs, or raise the limit that was set (ulimit -n)"
    if error.errno == errno.ENOLCK:
        return "use a directory on a local disk, or on a file system with locks, as NFS 4"
    if error.errno == errno.EBADF:
        return "standard input or output is closed"
    if error.errno == errno.ENOTDIR:
        return "a file stands where a directory is needed; name a directory"
    if error.errno == errno.ENAMETOOLONG:
        return "choose a shorter name"
    if error.errno != errno.ENOENT:
        return ""
    if Path(str(error.filename or "")).is_absolute():
        return "check the path"
    try:
        looked_in = Path.cwd()
    except OSError:
        return "the working directory has been removed; change to another one"
    return f"there is no such directory or file; looked in {looked_in}" if error.filename else ""
