"""The program `tbgen`, also as `python -m tbgen`: the command line and its signal handling.

Signals are handled before any module but `tbgen.system.signals` is imported. So a signal leaves no
traceback and no half-written file, even during imports or while the program ends. While a command
runs, `tbgen.cli` reports the interruption.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys

from tbgen.system.signals import leave_signals, take_signals

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
        if not os.path.exists(__file__):
            from tbgen.answers.failures import BAD_INPUT

            print("error: tbgen cannot run from a zip file: unpack or install it", file=sys.stderr)
            sys.exit(BAD_INPUT)
        from tbgen.compiling import ignore_environment

        ignore_environment()
        from tbgen.cli import main as command_line

        command_line(prog_name="tbgen")
    except KeyboardInterrupt:
        interrupted = True
    finally:
        leave_signals()
    if interrupted:  # before a command could report it, or after it had ended
        from tbgen.answers.failures import INTERRUPTED

        print("error: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
