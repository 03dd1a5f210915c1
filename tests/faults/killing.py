"""Signals to processes, and checks of their ends.

    send, check_end     send a signal; check the end of a process after a signal
    descendants         the processes that a process has started
    alive_after         processes that do not end

`kills` chooses processes and moments, and checks the files.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from pathlib import Path

from tests.faults.campaign import INTERRUPTED, OK, Ended, Tally, complaint

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)

SERVERS = ("serve", "board")
"""Kinds of processes that run until a signal ends them, SIGTERM with status 0."""

LAST_WORD = re.compile(r"^(\d+)/\1 .* in [0-9.]+ s$| positions of |^\d+ (fetched|present)")
"""Regular expression for the last output line of a finished build, dump or fetch.

A signal after this line does not reach the program.
"""


def send(number: signal.Signals, pid: int) -> None:
    """Send a signal, unless the process is gone; `Popen.send_signal` would reap an ended one."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def check_end(tally: Tally, name: str, number: signal.Signals, moment: float, ended: Ended) -> None:
    """Check that a process ended properly after a signal, and count the signal in the tally.

    name : kind of the process, for messages
    number : the signal; after SIGKILL nothing is checked
    moment : seconds from the start of the process to the signal

    Status 0 means that the signal came too late, except for `SERVERS`, which end so by SIGTERM.
    """
    tally.count("kills")
    tally.count(f"kills of {name} by {number.name}")
    if ended.status == OK and name not in SERVERS:
        tally.count("kills that came too late")
        return
    if number == signal.SIGKILL:
        return
    if not reached_the_program(ended, number):
        tally.count("stops before or after the program")
        return
    regular = name in SERVERS and number == signal.SIGTERM
    wrong = complaint(ended, [OK, INTERRUPTED] if regular else [INTERRUPTED])
    tally.expect(wrong is None, f"{name}, {number.name} after {moment:.2f} s: {wrong}")


def reached_the_program(ended: Ended, number: signal.Signals) -> bool:
    """Return whether a signal came while tbgen ran, not while Python started or ended.

    Before tbgen sets its handlers, a signal ends the process silently, and Ctrl-C leaves a
    traceback without a file of tbgen but `__init__.py`. After the last line of output, `LAST_WORD`,
    a signal may end the process, too.
    """
    frames = re.findall(r'File "[^"]*/tbgen/([^"]+)"', ended.stderr)
    if ended.stderr.rstrip().endswith("KeyboardInterrupt"):
        return any(name != "__init__.py" for name in frames)
    said = ended.stderr.splitlines()[-1:]
    return ended.status != -number or not all(map(LAST_WORD.search, said))


def descendants(pid: int) -> list[int]:
    """List the ids of the processes that a process started, directly or indirectly.

    Python's resource tracker, which only cleans up, is left out.
    """
    parents = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            parents[int(entry.name)] = int(fields[1]), (entry / "cmdline").read_bytes()
    found, waiting = [], [pid]
    while waiting:
        parent = waiting.pop()
        below = [child for child, (above, _) in parents.items() if above == parent]
        waiting += below
        found += below
    return [child for child in found if b"resource_tracker" not in parents[child][1]]


def alive_after(pids: list[int], patience: float = 60.0) -> list[int]:
    """Wait up to `patience` seconds for processes to end; return the ids of those still alive."""
    until = time.monotonic() + patience
    while alive := [pid for pid in pids if Path(f"/proc/{pid}").exists()]:
        if time.monotonic() > until:
            break
        time.sleep(0.05)
    return alive
