"""Sources of files: an address of a web server, or a directory of this machine.

    https://example.org/egtb   any server of files; with range requests, downloads are resumed
    /mnt/egtb                  a directory

Of addresses, only http and https are supported, also after redirections. A server that sends a byte
now and then never exceeds the timeout of a single read. So a thread measures the rate from
connecting to the last byte, and shuts down connections that are slower than `LEAST_RATE`.
"""

from __future__ import annotations

import contextlib
import http.client
import math
import os
import re
import socket
import string
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import Any

from tbgen import __version__
from tbgen.indexing.errors import InputError, excerpt
from tbgen.tables.files import open_to_read

TIMEOUT_SECONDS = 30.0
"""Time limit for a single read from a server."""

WINDOW_SECONDS = 60.0
"""Interval over which the rate is measured; the first interval includes connecting and headers."""

LEAST_RATE = 8192
"""Minimal rate in bytes per second."""

_RANGE = re.compile(r"bytes (\d{1,19})-\d{1,19}/(?:\d{1,19}|\*)", re.ASCII)
"""Pattern of a `Content-Range` header; numbers are short, since `int` rejects very long ones."""


class SourceError(OSError):
    """Error of a source that cannot provide a file; `strerror` has the source and the reason."""


class _Transfer:
    """Transfer of a file; connections passed to `guard` are shut down if it is too slow.

    seconds : time limit for the whole transfer
    """

    def __init__(self, seconds: float = math.inf) -> None:
        self.received = 0
        """Number of received bytes, counted by `Stream`."""
        self.reason = ""
        """Reason why the connections were shut down; empty before that."""
        self._deadline = time.monotonic() + seconds
        self._seconds = seconds
        self._sockets: list[socket.socket] = []
        self._over = threading.Event()

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Context manager: a thread watches rate and deadline inside the context (`_watch`)."""
        thread = threading.Thread(target=self._watch, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._over.set()
            thread.join()
            for each in self._sockets:
                each.close()

    def guard(self, connection: socket.socket) -> None:
        """Add a duplicate of a connection to those to be shut down; shut it down if it is late."""
        # A duplicate, since the connection's own descriptor may be closed or taken over by TLS.
        self._sockets.append(connection.dup())
        if self.reason:
            self._end()

    def _watch(self) -> None:
        """Check rate and deadline until the transfer is over; if one fails, set `reason`."""
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
        """Shut the guarded connections down, so that reads from them return at once."""
        for each in self._sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)


class Stream:
    """Stream of a file from a source; all errors become `SourceError`, and bytes are counted."""

    def __init__(
        self, stream: BufferedReader | http.client.HTTPResponse, address: str, transfer: _Transfer
    ) -> None:
        self._stream, self._address, self._transfer = stream, address, transfer

    def read(self, most: int) -> bytes:
        """Read up to `most` bytes, possibly fewer; return no bytes at the end.

        Raises `SourceError`, also if the transfer has been shut down.
        """
        with _source_errors(self._address, self._transfer):
            found = self._stream.read1(most)
            if self._transfer.reason and not found:
                raise EOFError
            self._transfer.received += len(found)
            return found


def source_of(address: str) -> Source:
    """Return the source of an address or path; raises `InputError` for unknown schemes."""
    scheme = re.match(r"([a-z][a-z0-9+.-]*)://", address, re.IGNORECASE | re.ASCII)
    if scheme is None:
        return DirectorySource(Path(address))
    if scheme[1].lower() not in ("http", "https"):
        raise InputError(
            f"{excerpt(address, 80)}: {scheme[1]} is not supported",
            "give an address that begins with https:// or http://, or a directory",
        )
    return WebSource(address)


class DirectorySource:
    """Directory of this machine as a source."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def __str__(self) -> str:
        return str(self._directory)

    @contextlib.contextmanager
    def reading(
        self, file: str, offset: int, seconds: float = math.inf
    ) -> Iterator[tuple[Stream, int]]:
        """Context manager: yields a stream of a file that begins at `offset`, and the offset.

        `seconds` is ignored. Raises `SourceError`, also while the stream is read.
        """
        address, transfer = f"{self}/{file}", _Transfer()
        with _source_errors(address, transfer):
            opened = os.fdopen(open_to_read(self._directory / file), "rb")
        with opened:
            opened.seek(offset)
            yield Stream(opened, address, transfer), offset


class _Plain(http.client.HTTPConnection):
    """HTTP connection that its `transfer` shuts down if the transfer is too slow."""

    transfer: _Transfer

    def connect(self) -> None:
        """Connect, and guard the socket before any TLS handshake; overrides `http.client`."""
        super().connect()
        self.transfer.guard(self.sock)


class _Secure(http.client.HTTPSConnection, _Plain):
    """HTTPS connection that its `transfer` shuts down if the transfer or handshake is too slow."""


class _Handler(urllib.request.HTTPHandler, urllib.request.HTTPSHandler):
    """urllib handler of both schemes; `transfer` is that of the current request."""

    transfer: _Transfer

    def do_open(
        self, http_class: Any, req: urllib.request.Request, **http_conn_args: Any
    ) -> http.client.HTTPResponse:
        """Send a request through a new, guarded connection; overrides the method of urllib."""

        def connection(host: str, **options: Any) -> _Plain:
            secure = issubclass(http_class, http.client.HTTPSConnection)
            made = (_Secure if secure else _Plain)(host, **options)
            made.transfer = self.transfer
            return made

        return super().do_open(connection, req, **http_conn_args)  # type: ignore[arg-type]


def _as_ascii(address: str) -> str:
    """Return an address with its host in IDNA, and other characters percent-encoded in UTF-8.

    What is percent-encoded already stays so. Raises `ValueError` for an invalid host.
    """
    parts = urllib.parse.urlsplit(address)
    host, colon, port = parts.netloc.partition(":")
    if not host.isascii():
        host = host.encode("idna").decode("ascii")
    path, query = (
        urllib.parse.quote(text, string.punctuation, errors="surrogateescape")
        for text in (parts.path, parts.query)
    )
    return parts._replace(netloc=host + colon + port, path=path, query=query).geturl()


class WebSource:
    """Folder of a web server, at an http or https `address`, which may have any characters.

    Not thread-safe: callers must ensure that only one transfer (`reading`) runs at a time.
    """

    def __init__(self, address: str) -> None:
        self._address = address.rstrip("/")
        self._handler = _Handler()
        # Without handlers of files and ftp, to which a redirection might lead.
        self._opener = urllib.request.OpenerDirector()
        for handler in (
            urllib.request.ProxyHandler(), self._handler, urllib.request.HTTPRedirectHandler(),
            urllib.request.HTTPErrorProcessor(), urllib.request.HTTPDefaultErrorHandler(),
        ):  # fmt: skip
            self._opener.add_handler(handler)

    def __str__(self) -> str:
        return self._address

    @contextlib.contextmanager
    def reading(
        self, file: str, offset: int, seconds: float = math.inf
    ) -> Iterator[tuple[Stream, int]]:
        """Context manager: requests a file; yields a stream of it and the offset where it begins.

        The stream begins at `offset`, or at 0 if the server ignores ranges. Raises `SourceError`,
        also while the stream is read; and if the transfer takes more than `seconds`, or is slower
        than `LEAST_RATE` for an interval of `WINDOW_SECONDS`.
        """
        address = f"{self}/{file}"
        headers = {"User-Agent": f"tbgen/{__version__}", "Accept-Encoding": "identity"}
        if offset:
            headers["Range"] = f"bytes={offset}-"
        self._handler.transfer = transfer = _Transfer(seconds)
        with transfer.watching():
            with _source_errors(address, transfer):
                request = urllib.request.Request(_as_ascii(address), headers=headers)
                answer = self._opener.open(request, timeout=TIMEOUT_SECONDS)
            if answer is None:
                raise SourceError(0, f"{excerpt(address, 80)}: cannot be retrieved")
            with answer:
                begin = 0
                if offset and answer.status == 206:
                    match = _RANGE.fullmatch(answer.headers.get("Content-Range", ""))
                    begin = int(match[1]) if match else 0
                    if begin != offset:
                        raise SourceError(
                            0, f"{excerpt(address, 80)}: the server sent another range"
                        )
                yield Stream(answer, address, transfer), begin


Source = DirectorySource | WebSource


@contextlib.contextmanager
def _source_errors(address: str, transfer: _Transfer) -> Iterator[None]:
    """Context manager: converts errors of files, connections and HTTP to a `SourceError`."""
    try:
        yield
    except SourceError:
        raise
    except urllib.error.HTTPError as error:
        error.close()
        raise SourceError(0, f"{excerpt(address, 80)}: the server says {error.code}") from None
    except (OSError, EOFError, http.client.HTTPException, ValueError) as error:
        reason = transfer.reason or getattr(error, "reason", None)
        reason = reason or getattr(error, "strerror", None) or error
        raise SourceError(0, f"{excerpt(address, 80)}: {reason or type(error).__name__}") from None
