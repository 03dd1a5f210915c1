"""Worker process: runs job after job until no more are sent.

    stdin        a pipe that nobody writes to: at its end the parent is, however that ended
    connection   calls come, and an `Attempt` goes back for each

The parent asks it to stop by SIGTERM, which is a Ctrl-C here: what is being written is removed, and
locks are let go. A parent that was killed can ask for nothing: then the end of the pipe does.
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
"""How long a worker that is asked to stop may take to clean up before it is killed."""


def main(descriptor: int) -> None:
    """Serve the other end of a connection, whose descriptor this process has inherited."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent's, which says when to stop
    take_signals()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # Nobody is there any more, or this process is asked to stop.
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
    """Stop as if asked to when the parent has ended, and in any case soon after."""
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_SECONDS)
    os._exit(1)
