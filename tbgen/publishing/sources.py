"""Sources of files: an address of a web server, or a directory of this machine.

    https://example.org/egtb   any server of files; with range requests, downloads are resumed
    /mnt/egtb                  a directory

Only http and https are supported, also after redirections.
"""

from __future__ import annotations

import contextlib
import http.client
import math
import os
import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import Any

from tbgen import __version__
from tbgen.indexing.errors import InputError, excerpt
from tbgen.publishing.pace import MinimumRate
from tbgen.tables.files import open_to_read

TIMEOUT_SECONDS = 30.0
"""Time limit for a single read from a server."""

_RANGE = re.compile(r"bytes (\d{1,19})-\d{1,19}/(?:\d{1,19}|\*)", re.ASCII)
"""Pattern of a `Content-Range` header; it limits digits, since `int` rejects thousands of them."""


class SourceError(OSError):
    """Raised if a source cannot provide a file; `strerror` has the source and the reason."""


class Stream:
    """Stream of a file from a source; all errors become `SourceError`, and bytes are counted."""

    def __init__(
        self, stream: BufferedReader | http.client.HTTPResponse, what: str, watch: MinimumRate
    ) -> None:
        self._stream = stream
        self._what = what
        self._watch = watch

    def read(self, most: int) -> bytes:
        """Read up to `most` bytes, possibly fewer; return no bytes at the end."""
        with _source_errors(self._what, self._watch):
            found = self._stream.read1(most)
            if self._watch.reason and not found:
                raise EOFError
            self._watch.received += len(found)
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
        """Return the directory's path."""
        return str(self._directory)

    @contextlib.contextmanager
    def reading(
        self, file: str, offset: int, seconds: float = math.inf
    ) -> Iterator[tuple[Stream, int]]:
        """Open a file, and yield a stream that begins at `offset`, and the offset.

        `seconds` is ignored. Raises `SourceError`, also while the stream is read.
        """
        what, watch = f"{self}/{file}", MinimumRate()
        with _source_errors(what, watch):
            opened = os.fdopen(open_to_read(self._directory / file), "rb")
        with opened:
            opened.seek(offset)
            yield Stream(opened, what, watch), offset


class _Watched(urllib.request.AbstractHTTPHandler):
    """urllib handler whose connections are shut down if they are too slow (`pace`).

    `watch` is the `MinimumRate` of the current request, set before each request.
    """

    watch: MinimumRate

    def do_open(
        self, http_class: Any, req: urllib.request.Request, **http_conn_args: Any
    ) -> http.client.HTTPResponse:
        """Send a request through a new connection that `watch` shuts down if it is too slow.

        Overrides the method of urllib's handler.
        """
        connect: Any = partial(self.watch.connection, http_class)
        return super().do_open(connect, req, **http_conn_args)


class _HTTPHandler(_Watched, urllib.request.HTTPHandler):
    pass


class _HTTPSHandler(_Watched, urllib.request.HTTPSHandler):
    pass


class WebSource:
    """Folder of a web server as a source."""

    def __init__(self, address: str) -> None:
        self._address = address.rstrip("/")
        self._watched = _HTTPHandler(), _HTTPSHandler()
        # Without handlers of files and ftp, to which a redirection might lead.
        self._opener = urllib.request.OpenerDirector()
        for handler in (
            urllib.request.ProxyHandler(), *self._watched, urllib.request.HTTPRedirectHandler(),
            urllib.request.HTTPErrorProcessor(), urllib.request.HTTPDefaultErrorHandler(),
        ):  # fmt: skip
            self._opener.add_handler(handler)

    def __str__(self) -> str:
        """Return the address."""
        return self._address

    @contextlib.contextmanager
    def reading(
        self, file: str, offset: int, seconds: float = math.inf
    ) -> Iterator[tuple[Stream, int]]:
        """Request a file, and yield a stream and the offset at which it begins.

        The stream begins at `offset`, or at 0 if the server ignores ranges. Raises `SourceError`,
        also while the stream is read. It is also raised if the whole transfer takes more than
        `seconds`, or is too slow (`pace`).
        """
        watch = MinimumRate(seconds)
        for handler in self._watched:
            handler.watch = watch
        with watch.watching(), self._answered(file, offset, watch) as (answer, address, begin):
            yield Stream(answer, address, watch), begin

    @contextlib.contextmanager
    def _answered(
        self, file: str, offset: int, watch: MinimumRate
    ) -> Iterator[tuple[http.client.HTTPResponse, str, int]]:
        """Request a file from `offset` on; yield response, address, and the offset of its start."""
        address = f"{self._address}/{urllib.parse.quote(file)}"
        headers = {"User-Agent": f"tbgen/{__version__}", "Accept-Encoding": "identity"}
        if offset:
            headers["Range"] = f"bytes={offset}-"
        with _source_errors(address, watch):
            request = urllib.request.Request(address, headers=headers)
            answer = self._opener.open(request, timeout=TIMEOUT_SECONDS)
        if answer is None:
            raise SourceError(0, f"{excerpt(address, 80)}: cannot be retrieved")
        with answer:
            begin = 0
            if offset and answer.status == 206:
                match = _RANGE.fullmatch(answer.headers.get("Content-Range", ""))
                begin = int(match[1]) if match else 0
                if begin != offset:
                    raise SourceError(0, f"{excerpt(address, 80)}: the server sent another range")
            yield answer, address, begin


Source = DirectorySource | WebSource
"""Any source from which `reading` opens a file by its name."""


@contextlib.contextmanager
def _source_errors(what: str, watch: MinimumRate) -> Iterator[None]:
    """Return a context that converts errors of all lower layers to a `SourceError`.

    what : the address, named in the error's message
    watch : if it has shut the connection down, its reason is in the message
    """
    try:
        yield
    except SourceError:
        raise
    except urllib.error.HTTPError as error:
        error.close()
        raise SourceError(0, f"{excerpt(what, 80)}: the server says {error.code}") from None
    except (OSError, EOFError, http.client.HTTPException, ValueError) as error:
        reason = watch.reason or getattr(error, "reason", None)
        reason = reason or getattr(error, "strerror", None) or error
        raise SourceError(0, f"{excerpt(what, 80)}: {reason or type(error).__name__}") from None
