"""The program `tbgen`, also as `python -m tbgen`: the command line, and what stops it.

    SIGINT    Ctrl-C: KeyboardInterrupt, as ever in Python; exit status 130
    SIGTERM   a request to end, by a batch system or a container: the same
    SIGHUP    the terminal is gone: the same

The signals are taken before anything else is loaded, so that there is no moment, from the first
import to the last cleaning up, at which a stop leaves a traceback or a half-written file. What a
shell has had ignored (`nohup`, a job in the background) stays so. `tbgen.cli` describes the
interruption where a command is running.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from types import FrameType

_STOPS = (signal.SIGTERM, signal.SIGHUP)

_RETRY_SECONDS = 0.02

_OBJECTS_BETWEEN_COLLECTIONS = 5_000
"""To look for garbage every 700 objects, among modules that stay, took 0.04 of the 0.55 CPU seconds
of a small proof; more than these gain nothing."""


def main() -> None:
    """Run the command line; never returns, but raises `SystemExit`."""
    interrupted = False
    # numpy's BLAS, which nothing here uses, takes memory for every thread when it is loaded, and
    # where a thread cannot be had it interrupts the program.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS, *gc.get_threshold()[1:])
    # At the end everything goes: to look through it for garbage before took up to 0.1 CPU seconds.
    atexit.register(gc.freeze)
    # Python remembers every KeyboardInterrupt that left source in a string (`exec`, as namedtuple
    # and numba do), and would in the end kill itself by SIGINT, whatever the exit status is to be.
    atexit.register(signal.pthread_sigmask, signal.SIG_BLOCK, {signal.SIGINT})
    try:
        take_signals()
        from tbgen.compiling import ignore_environment

        ignore_environment()
        from tbgen.cli import main as command_line

        command_line(prog_name="tbgen")
    except KeyboardInterrupt:
        interrupted = True
    finally:
        _leave_signals()
    if interrupted:  # before the first command was there to say so, or after the last word
        from tbgen.answers.failures import INTERRUPTED

        print("error: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)


def take_signals() -> None:
    """Handle signals that end a program as Ctrl-C, losing none; also called in pool processes."""
    sys.unraisablehook = _raise_later
    signal.signal(signal.SIGALRM, _interrupt)
    for stop in _STOPS:
        if signal.getsignal(stop) != signal.SIG_IGN:
            signal.signal(stop, _interrupt)


def _leave_signals() -> None:
    """Restore default handlers: the next signal then ends the process, whatever its threads do."""
    signal.setitimer(signal.ITIMER_REAL, 0)
    for stop in (signal.SIGINT, *_STOPS):
        if signal.getsignal(stop) != signal.SIG_IGN:
            signal.signal(stop, signal.SIG_DFL)
    sys.unraisablehook = sys.__unraisablehook__


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Do what Ctrl-C would do now: a server has a handler of its own, which ends it in order."""
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler):
        handler = signal.default_int_handler
    handler(signal.SIGINT, frame)


def _raise_later(dropped: sys.UnraisableHookArgs) -> None:
    """Interrupt again, soon, if Python had to drop it: nothing can be raised out of a callback.

    A destructor is one, and so is what the collector of garbage or a compiled library calls.
    """
    if issubclass(dropped.exc_type, KeyboardInterrupt):
        signal.setitimer(signal.ITIMER_REAL, _RETRY_SECONDS)
    else:
        sys.__unraisablehook__(dropped)


if __name__ == "__main__":
    main()
