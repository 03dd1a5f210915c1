"""The end of connections that are too slow: from beginning to connect to the last byte.

    Watch      the bytes that one answer has brought, and a thread that ends its connection

A server that sends a byte now and then keeps any read from timing out: of heads, of handshakes and
of contents. So bytes are counted, and who brings too few in a while is cut off from outside.
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
"""The time between two looks at how many bytes have come; the first includes the headers."""

LEAST_RATE = 8192
"""Bytes a second; whoever gives fewer is not asked any longer."""


class Watch:
    """Ends a connection that brings too few bytes, or takes longer than some seconds."""

    def __init__(self, seconds: float = math.inf) -> None:
        self.received = 0
        """Bytes that have come."""
        self.reason = ""
        """What the connection was ended for; empty while it was not."""
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
        """Add a connection to those that are ended."""
        # A descriptor of our own: the connection's is closed, or taken over by TLS.
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
        """Return a connection of a class, guarded from its beginning."""
        made = (_Secure if issubclass(kind, http.client.HTTPSConnection) else _Plain)(
            host, **options
        )
        made.watch = self
        return made


class _Plain(http.client.HTTPConnection):
    """A connection that a watch guards."""

    watch: Watch

    def connect(self) -> None:
        """Connect; a handshake of TLS comes after this."""
        super().connect()
        self.watch.guard(self.sock)


class _Secure(http.client.HTTPSConnection, _Plain):
    """A guarded connection with TLS: it connects by `_Plain.connect`, and then shakes hands."""
