"""The program `tbgen`, also as `python -m tbgen`: the command line and its signal handling.

    SIGINT    Ctrl-C: KeyboardInterrupt, as usual in Python; exit status 130
    SIGTERM   request to end, by a batch system or a container: handled like SIGINT
    SIGHUP    the terminal was closed: handled like SIGINT
    SIGBREAK  Ctrl-Break, or the window was closed, on Windows: handled like SIGINT

Handlers are installed before any other module of tbgen is imported. So a signal leaves no traceback
and no half-written file, even during imports or while the program ends. Signals stay ignored if the
program was started with them ignored (`nohup`). While a command runs, `tbgen.cli` reports the
interruption.
"""

from __future__ import annotations

import _thread
import atexit
import gc
import os
import signal
import sys
import threading
from types import FrameType

_NAMES = "SIGTERM", "SIGHUP", "SIGBREAK"
_STOPS = tuple(getattr(signal, name) for name in _NAMES if hasattr(signal, name))
"""Signals that are handled like Ctrl-C, of those that this system has."""

_RETRY_SECONDS = 0.02

_OBJECTS_BETWEEN_COLLECTIONS = 5_000
"""Threshold of the garbage collector. With Python's default of 700 objects, collections took 0.04
of the 0.55 CPU seconds of a small proof; larger thresholds than this one gain nothing.
"""


def main() -> None:
    """Run the command line; raise `SystemExit`, or the exception of a bug."""
    interrupted = False
    # numpy's BLAS, which nothing here uses, allocates memory for every thread when it is loaded,
    # and interrupts the program if it cannot start a thread.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS, *gc.get_threshold()[1:])
    # A garbage collection at exit would take up to 0.1 CPU seconds.
    atexit.register(gc.freeze)
    # After a KeyboardInterrupt in source from a string (`exec`, as in namedtuple and numba) Python
    # would kill itself by SIGINT at exit, whatever the exit status.
    if hasattr(signal, "pthread_sigmask"):
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
    if interrupted:  # before a command could report it, or after it had ended
        from tbgen.answers.failures import INTERRUPTED

        print("error: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)


def take_signals() -> None:
    """Handle the signals of `_STOPS` like Ctrl-C, unless ignored; called also in worker processes.

    Python drops an exception raised in a destructor or callback. A `KeyboardInterrupt` that was
    dropped is raised again soon after (`_raise_later`).
    """
    sys.unraisablehook = _raise_later
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, _interrupt)
    for stop in _STOPS:
        if signal.getsignal(stop) != signal.SIG_IGN:
            signal.signal(stop, _interrupt)


def _leave_signals() -> None:
    """Restore the default handlers before the exit, so that a further signal ends the process.

    Signals that are ignored stay ignored.
    """
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)
    for stop in (signal.SIGINT, *_STOPS):
        if signal.getsignal(stop) != signal.SIG_IGN:
            signal.signal(stop, signal.SIG_DFL)
    sys.unraisablehook = sys.__unraisablehook__


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Handle SIGALRM or a signal of `_STOPS`: call the current handler of SIGINT (Ctrl-C).

    By default that handler raises `KeyboardInterrupt`; that of a web server shuts the server down.
    """
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler):
        handler = signal.default_int_handler
    handler(signal.SIGINT, frame)


def _raise_later(dropped: sys.UnraisableHookArgs) -> None:
    """Report an exception that Python has dropped; raise a `KeyboardInterrupt` again.

    Python calls this hook (`sys.unraisablehook`) for exceptions in destructors, and in functions
    called by the garbage collector or a compiled library. The exception is raised again after
    `_RETRY_SECONDS`, by SIGALRM or, on Windows, by a thread.
    """
    if not issubclass(dropped.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(dropped)
    elif hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, _RETRY_SECONDS)
    else:
        threading.Timer(_RETRY_SECONDS, _thread.interrupt_main).start()


if __name__ == "__main__":
    main()
