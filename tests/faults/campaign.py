"""Shared parts of fault campaigns: commands in processes of their own, and a tally of findings.

A campaign runs commands many times (tries), each with a random fault, and checks how they end. A
finding is a violated expectation. A part is a function of a campaign that tries one kind of faults.

    run(...)         ->  Ended: exit status, both streams, seconds, peak of memory
    complaint(...)   ->  what is wrong with the end of a command, or None
    contents(...)    ->  the digests of the files of a directory
    Tally            counts, largest figures, findings; the line of figures at the end
    main(...)        parse arguments, run the parts of a campaign, print their lines

Each campaign is a module beside this one, and ends with status 1 if there are findings.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from tests.helpers.commands import restore_signals

MIB = 1 << 20

OK, FINDINGS, REFUSED, CORRUPT, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 3, 130, 141
"""Exit statuses listed in the README, and the one after writing to a closed pipe."""

_SHOWN = 20
"""Largest number of findings that are printed; the others are only counted."""

PATIENCE = 1800.0
"""Timeout of a command in seconds, large enough for a busy machine."""


class Ended(NamedTuple):
    """Result of a command; `status` is None after a timeout, -N if signal N ended the command."""

    status: int | None
    stdout: bytes
    stderr: str
    seconds: float
    peak: int
    """Largest resident memory in bytes."""


def tbgen(*arguments: str | Path | bytes) -> list[str | bytes]:
    """Return the command line, as a list, that runs `tbgen` with this Python."""
    words = [word if isinstance(word, bytes) else str(word) for word in arguments]
    return [sys.executable, "-P", "-m", "tbgen", *words]


class Started:
    """A running command, with its streams in files so that no pipe can fill up."""

    def __init__(
        self,
        command: list[str | bytes],
        *,
        environment: Mapping[str, str] | None = None,
        stdin: bytes | None = None,
        cwd: Path | None = None,
        prepare: Callable[[], None] = restore_signals,
    ) -> None:
        """Start the command.

        environment : variables added to those of this process
        stdin : content of standard input
        prepare : function that runs in the child before the command
        """
        self._out = tempfile.TemporaryFile()  # noqa: SIM115 - closed when it is read
        self._err = tempfile.TemporaryFile()  # noqa: SIM115
        self._begun = time.monotonic()
        with tempfile.TemporaryFile() as given:
            given.write(stdin or b"")
            given.seek(0)
            self.process = subprocess.Popen(
                command, cwd=cwd, env={**os.environ, **(environment or {})}, preexec_fn=prepare,
                stdin=given, stdout=self._out, stderr=self._err,
            )  # fmt: skip

    def wait(self, patience: float = PATIENCE) -> Ended:
        """Wait for the command's end, and return its result; kill it after `patience` seconds."""
        code, usage = reap(self.process.pid, patience)
        self.process.returncode = -9 if code is None else code
        seconds = time.monotonic() - self._begun
        return Ended(code, _read(self._out), _read(self._err).decode("utf-8", "replace"),
                     seconds, usage.ru_maxrss * 1024)  # fmt: skip


def reap(pid: int, patience: float) -> tuple[int | None, resource.struct_rusage]:
    """Wait for a child; return its exit status (-N for signal N) and resource usage.

    After `patience` seconds the child is killed, and the status is None.
    """
    late = time.monotonic() + patience
    while True:
        ended, status, usage = os.wait4(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status), usage
        if time.monotonic() > late:
            os.kill(pid, signal.SIGKILL)
            return None, os.wait4(pid, 0)[2]
        time.sleep(0.005)


def _read(stream: Any) -> bytes:
    stream.seek(0)
    content: bytes = stream.read()
    stream.close()
    return content


def run(command: list[str | bytes], *, patience: float = PATIENCE, **how: Any) -> Ended:
    """Run a command to its end, and return its result.

    Further keywords are those of `Started`.
    """
    return Started(command, **how).wait(patience)


def complaint(ended: Ended, allowed: Collection[int]) -> str | None:
    """Return a description of the improper end of a command; None if it ended properly.

    The status must be one of `allowed`, and there must be no traceback. A refusal, a corrupt file
    and an interruption must be reported by exactly one line that begins with `error: `.
    """
    said = ended.stderr.splitlines()
    last = said[-1][:200] if said else "nothing said"
    if ended.status is None:
        return "it does not end"
    if "Traceback" in ended.stderr or "Exception ignored" in ended.stderr:
        return f"a traceback: {last}"
    if ended.status not in allowed:
        return f"exit status {ended.status}: {last}"
    if ended.status in (REFUSED, CORRUPT, INTERRUPTED):
        errors = [line for line in said if line.startswith("error: ")]
        if len(errors) != 1 or len(errors[0]) <= len("error: "):
            return f"{len(errors)} lines say what is wrong: {last}"
    return None


def contents(directory: Path) -> dict[str, str]:
    """Return the SHA-256 in hex of each file in a directory by name; subfolders are left out."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in directory.iterdir()
        if path.is_file()
    }


def tables_of(directory: Path) -> dict[str, str]:
    """Return the SHA-256 in hex of each table file (`*.xqt`) in a directory, by file name.

    Win-draw-loss files are included. The result is empty if the directory does not exist.
    """
    found = contents(directory) if directory.is_dir() else {}
    return {name: digest for name, digest in found.items() if name.endswith(".xqt")}


def unknown_files(directory: Path) -> list[str]:
    """List the names in a directory that no finished command leaves there, such as temporary files.

    Not listed are tables, their records of the build, certificates, and the index.
    """
    ours = (".xqt", ".build.json", ".proof.json")
    return sorted(
        path.name
        for path in directory.iterdir()
        if path.name.startswith(".") or not (path.name.endswith(ours) or path.name == "index.json")
    )


class Tally:
    """Findings of one part of a campaign, its counters (`counts`) and its largest `figures`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.figures: dict[str, float] = {}
        self.counts: Counter[str] = Counter()
        self.findings: list[str] = []
        self._begun = time.monotonic()

    def count(self, what: str, number: int = 1) -> None:
        """Add a number to the counter called `what`."""
        self.counts[what] += number

    def largest(self, what: str, value: float) -> None:
        """Record `value` as the figure called `what`, unless it already has a larger value."""
        self.figures[what] = max(value, self.figures.get(what, value))

    def finding(self, what: str) -> None:
        """Record a finding, and print it to stderr if it is one of the first `_SHOWN`."""
        self.findings.append(what)
        if len(self.findings) <= _SHOWN:
            print(f"{self.name}: {what}", file=sys.stderr, flush=True)

    def expect(self, right: bool, what: str) -> None:
        """Record the finding `what` unless `right` is true."""
        if not right:
            self.finding(what)

    def line(self) -> str:
        """Return counters, figures, number of findings and seconds so far, as one JSON object."""
        rounded = {name: round(value, 4) for name, value in self.figures.items()}
        seconds = round(time.monotonic() - self._begun, 1)
        return json.dumps({"campaign": self.name, **self.counts, **rounded,
                           "findings": len(self.findings), "seconds": seconds})  # fmt: skip


class Budget:
    """Limit of one part of a campaign: tries, and seconds from the first use (None: no limit)."""

    def __init__(self, count: int, seconds: float | None) -> None:
        self._count = count
        self._seconds = math.inf if seconds is None else seconds
        self._begun: float | None = None

    @property
    def spent(self) -> bool:
        """Return whether the tries or the seconds are used up."""
        if self._begun is None:
            self._begun = time.monotonic()
        return self._count <= 0 or time.monotonic() - self._begun > self._seconds

    def take(self) -> bool:
        """Use one try; return False if there is none left."""
        if self.spent:
            return False
        self._count -= 1
        return True

    def take_up_to(self, number: int) -> Iterator[int]:
        """Yield 0, 1, ... below `number`, using one try for each, until no try is left."""
        for taken in range(number):
            if not self.take():
                return
            yield taken


Part = Callable[[Tally, Budget, int], None]
"""Part of a campaign: function (tally, budget, seed of random numbers) that makes tries within the
budget, and records its findings in the tally.
"""


def main(name: str, description: str, parts: Mapping[str, Part], count: int) -> NoReturn:
    """Run the parts of a campaign that `sys.argv` selects, print a line of JSON for each, and exit.

    The status is 1 if there are findings.

    count : default number of tries of each part
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=count, help="tries of each part")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, help="stop each part after so many")
    parser.add_argument("--only", choices=list(parts), help="this part alone")
    arguments = parser.parse_args()
    status = OK
    for part in parts if arguments.only is None else [arguments.only]:
        tally = Tally(f"{name} {part}".strip())
        try:
            parts[part](tally, Budget(arguments.count, arguments.seconds), arguments.seed)
        finally:  # also after an interruption
            print(tally.line(), flush=True)
        if tally.findings:
            status = FINDINGS
    sys.exit(status)
