"""End of connections that are too slow, from connecting to the last byte.

    Watch      counter of received bytes, and a thread that shuts the connection down

A server that sends a byte now and then prevents timeouts of single reads, in TLS handshakes,
headers and contents. So another thread shuts down connections below a minimal rate of bytes.
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
"""Interval over which the rate is measured; the first includes the headers."""

LEAST_RATE = 8192
"""Minimal rate in bytes per second."""


class Watch:
    """Shuts down connections that are too slow, or exceed a time limit in seconds."""

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
        """Watch the connections that are opened inside the `with` block."""
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
        """Add a connection to those that are watched."""
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
        """Shut the connections down, so that reads from them return at once."""
        for each in self._sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def connection(
        self, kind: type[http.client.HTTPConnection], host: str, **options: Any
    ) -> http.client.HTTPConnection:
        """Return a connection of a class, watched from the beginning."""
        made = (_Secure if issubclass(kind, http.client.HTTPSConnection) else _Plain)(
            host, **options
        )
        made.watch = self
        return made


class _Plain(http.client.HTTPConnection):
    """HTTP connection that is watched."""

    watch: Watch

    def connect(self) -> None:
        """Connect, and watch the socket before any TLS handshake."""
        super().connect()
        self.watch.guard(self.sock)


class _Secure(http.client.HTTPSConnection, _Plain):
    """HTTPS connection that is watched; `_Plain.connect` connects it before the TLS handshake."""
