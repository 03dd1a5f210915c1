"""Worker process: runs one job after another until no more are sent.

    stdin        a pipe without data, which closes when the parent ends in any way
    connection   receives calls, and sends an `Attempt` for each

The parent stops a worker by SIGTERM, which is handled like Ctrl-C: incomplete files are removed,
and locks released. If the parent was killed, the end of the pipe has the same effect.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import threading
import time
from multiprocessing.connection import Connection
from typing import Any

from tbgen.__main__ import take_signals
from tbgen.scheduling.attempt import attempt

GRACE_SECONDS = 10.0
"""Time limit for a worker to clean up after SIGTERM, before it is killed."""


def main(descriptor: int) -> None:
    """Run the jobs that the parent sends through a connection, until the connection is closed.

    descriptor : inherited file descriptor of the connection
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # handled by the parent, which sends SIGTERM
    take_signals()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # The parent has ended, or has sent SIGTERM.
    with (
        contextlib.suppress(EOFError, ConnectionError, KeyboardInterrupt),
        Connection(descriptor) as connection,
    ):
        while True:
            message = connection.recv_bytes()
            connection.send(attempt(_call, message))
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def _call(message: bytes) -> Any:
    function, argument = pickle.loads(message)
    return function(argument)


def _end_with_parent() -> None:
    """Send SIGTERM to this process when the parent has ended; exit after `GRACE_SECONDS`."""
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_SECONDS)
    os._exit(1)
