"""Shutdown of connections that are too slow, from connecting to the last byte.

    MinimumRate  counter of received bytes, and a thread that shuts the connection down

A slow server that sends a byte now and then never causes the timeout of a single read, in TLS
handshakes, headers and contents. So another thread shuts down connections below a minimal rate.
"""

from __future__ import annotations

import contextlib
import http.client
import math
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

WINDOW_SECONDS = 60.0
"""Interval over which the rate is measured; the first one includes connecting and headers."""

LEAST_RATE = 8192
"""Minimal rate in bytes per second."""


class MinimumRate:
    """Counter of received bytes that shuts connections down if they are too slow.

    seconds : time limit for the whole transfer
    """

    def __init__(self, seconds: float = math.inf) -> None:
        self.received = 0
        """Number of received bytes."""
        self.reason = ""
        """Reason why the connections were shut down; empty before that."""
        self._deadline = time.monotonic() + seconds
        self._seconds = seconds
        self._sockets: list[socket.socket] = []
        self._over = threading.Event()

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Watch the rate in a thread during the `with` block; shut slow connections down."""
        thread = threading.Thread(target=self._look, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._over.set()
            thread.join()
            for each in self._sockets:
                each.close()

    def guard(self, connection: socket.socket) -> None:
        """Watch the socket of a connection, too, and shut it down if the transfer is too slow."""
        # A duplicate, since the connection's own descriptor is closed, or owned by TLS.
        self._sockets.append(connection.dup())
        if self.reason:
            self._end()

    def _look(self) -> None:
        before = 0
        while not self._over.wait(min(WINDOW_SECONDS, self._deadline - time.monotonic())):
            if time.monotonic() >= self._deadline:
                self.reason = f"not done after {self._seconds:.0f} seconds"
            elif self.received - before < LEAST_RATE * WINDOW_SECONDS:
                self.reason = f"fewer than {LEAST_RATE // 1024} KiB a second"
            if self.reason:
                self._end()
                return
            before = self.received

    def _end(self) -> None:
        """Shut the watched connections down, so that reads from them return at once."""
        for each in self._sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def connection(
        self, kind: type[http.client.HTTPConnection], host: str, **options: Any
    ) -> http.client.HTTPConnection:
        """Return a new HTTP or HTTPS connection (`kind`) to a host, watched from the start."""
        made = (_Secure if issubclass(kind, http.client.HTTPSConnection) else _Plain)(
            host, **options
        )
        made.watch = self
        return made


class _Plain(http.client.HTTPConnection):
    """HTTP connection that a `MinimumRate` shuts down if the transfer is too slow."""

    watch: MinimumRate

    def connect(self) -> None:
        """Connect, and watch the socket before any TLS handshake; overrides `http.client`."""
        super().connect()
        self.watch.guard(self.sock)


class _Secure(http.client.HTTPSConnection, _Plain):
    """HTTPS connection that a `MinimumRate` shuts down if it is too slow.

    The TLS handshake is included.
    """
