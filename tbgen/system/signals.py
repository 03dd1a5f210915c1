"""Signals that end the program, handled like Ctrl-C.

    SIGINT    Ctrl-C: KeyboardInterrupt, as usual in Python; exit status 130
    SIGTERM   request to end, by a batch system or a container
    SIGHUP    the terminal was closed
    SIGBREAK  Ctrl-Break, or the window was closed, on Windows

Signals stay ignored if the program was started with them ignored (`nohup`).
"""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from types import FrameType

_NAMES = "SIGTERM", "SIGHUP", "SIGBREAK"
_STOPS = tuple(getattr(signal, name) for name in _NAMES if hasattr(signal, name))
"""Signals of `_NAMES` that this system has."""

_RETRY_SECONDS = 0.02


def take_signals() -> None:
    """Handle the signals of `_STOPS` like Ctrl-C, unless ignored; called also in worker processes.

    Python drops an exception raised in a destructor or callback. To raise a dropped
    `KeyboardInterrupt` again (`_raise_later`), replaces `sys.unraisablehook` and the handler of
    SIGALRM. Must be called in the main thread.
    """
    sys.unraisablehook = _raise_later
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, _interrupt)
    for stop in _STOPS:
        if signal.getsignal(stop) != signal.SIG_IGN:
            signal.signal(stop, _interrupt)


def leave_signals() -> None:
    """Restore the default handlers before the exit, so that a further signal ends the process.

    Signals that are ignored stay ignored. From now on, a dropped `KeyboardInterrupt` stays dropped,
    except on Windows if `_raise_later` has started the timer for it.
    """
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)
    for stop in (signal.SIGINT, *_STOPS):
        if signal.getsignal(stop) != signal.SIG_IGN:
            signal.signal(stop, signal.SIG_DFL)
    sys.unraisablehook = sys.__unraisablehook__


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Handle SIGALRM or a signal of `_STOPS`: call the current handler of SIGINT (Ctrl-C).

    A web server's handler shuts the server down. Without a handler, as in worker processes, which
    ignore SIGINT, raises `KeyboardInterrupt`.
    """
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler):
        handler = signal.default_int_handler
    handler(signal.SIGINT, frame)


def _raise_later(dropped: sys.UnraisableHookArgs) -> None:
    """Report an exception that Python has dropped, but raise a `KeyboardInterrupt` again.

    SIGALRM or, on Windows, a thread raises it again after `_RETRY_SECONDS`.
    """
    if not issubclass(dropped.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(dropped)
    elif hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, _RETRY_SECONDS)
    else:
        threading.Timer(_RETRY_SECONDS, _thread.interrupt_main).start()
