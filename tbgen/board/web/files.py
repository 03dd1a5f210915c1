"""`/files`: download of a directory's files (`serve --files`), whole or in ranges.

    /files/index.json              the index that `tbgen index` has written
    /files/KRK.wxf.dtm.xqt         a table; certificates likewise
    Range: bytes=1000-             the rest of the file, with 206

Only the index and the files listed in it are served, but no symbolic links (except on Windows).
Contents are not checked here: the client checks them (`tbgen.publishing`).
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections import Counter
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path
from typing import BinaryIO

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from tbgen.board.web.http import JSON, RequestError, Stream, failure, is_known
from tbgen.publishing.index import INDEX, MAX_INDEX, BadIndexError, read_index
from tbgen.tables.files import open_to_read

ADDRESS = "/files"
"""Path below which the files are served."""

CHUNK_BYTES = 1 << 16
"""Most bytes that are read and sent at once."""

_RANGE = re.compile(r"bytes=\s*(?:([0-9]{1,18})-([0-9]{0,18})|-([0-9]{1,18}))", re.IGNORECASE)
"""Pattern of a `Range` of bytes; its groups are the first and the last byte, or the number of last
bytes.
"""

_NO_GZIP = re.compile(r"\bgzip\s*;\s*q=0(\.0*)?\s*(,|$)", re.IGNORECASE)
"""Pattern of an `Accept-Encoding` that refuses gzip (RFC 9110, 12.5.3)."""


class FileEndpoint:
    """Endpoint of the index of `directory` and the files that the index lists.

    requests : counter to which each answer is added under ("file", HTTP status)
    """

    def __init__(self, directory: Path, requests: Counter[tuple[str, int]]) -> None:
        self._directory = directory
        self._requests = requests
        self._listed: tuple[tuple[int, ...], frozenset[str]] = (), frozenset()

    async def answer(self, request: Request) -> Response:
        """Answer a request for a file, whole or a range of its bytes; an error is sent as JSON."""
        try:
            answer = await run_in_threadpool(self._answer, request)
        except (RequestError, OSError) as error:
            answer = failure(error).response({"cache-control": "no-store"})
        self._requests["file", answer.status_code] += 1
        return answer

    def _answer(self, request: Request) -> Response:
        """Return an answer that sends the file opened here, even if it is replaced meanwhile.

        The answer is 304 if the client already has the file (`If-None-Match`, or without it
        `If-Modified-Since`). A `Range` that is no single valid range of bytes is ignored.
        """
        name = request.path_params["name"]
        if name != INDEX and name not in self._names():
            raise RequestError(404, "no file of this name is listed", f"see {INDEX}")
        try:
            file = self._open(name)
        except FileNotFoundError:
            raise RequestError(404, "there is no such file", f"see {INDEX}") from None
        with contextlib.ExitStack() as unsent:
            found = os.fstat(unsent.enter_context(file).fileno())
            size, tag = found.st_size, f'"{found.st_mtime_ns:x}-{found.st_size:x}"'
            modified = formatdate(found.st_mtime, usegmt=True)
            headers = {"cache-control": "no-cache", "etag": tag, "last-modified": modified}
            if "if-none-match" in request.headers:
                known = is_known(request, tag) or request.headers["if-none-match"] == "*"
            else:
                known = StaticFiles().is_not_modified(Headers(headers), request.headers)
            if known:
                return Response(None, 304, headers)
            status, part = 200, range(size)
            match = _RANGE.fullmatch(request.headers.get("range", ""))
            if (
                match
                and _is_valid(match)
                and request.headers.get("if-range", tag) in (tag, modified)
            ):
                status, part = 206, _part(match, size)
                if not part:
                    return Response(None, 416, {"content-range": f"bytes */{size}"})
                headers["content-range"] = f"bytes {part.start}-{part.stop - 1}/{size}"
            headers |= {"accept-ranges": "bytes", "content-length": str(len(part))}
            media = JSON if name.endswith(".json") else "application/octet-stream"
            if request.method == "HEAD":
                return Response(None, status, headers, media)
            unsent.pop_all()
            return Stream(file.close, _chunks(file, part), status, headers, media)

    def _names(self) -> frozenset[str]:
        """Return the file names in the index, which is read again only if its file has changed.

        Empty if the index is missing or invalid. Raises `OSError` if it cannot be read.
        """
        with contextlib.suppress(FileNotFoundError, BadIndexError), self._open(INDEX) as file:
            found = os.fstat(file.fileno())
            state = found.st_ino, found.st_size, found.st_mtime_ns
            if state != self._listed[0]:
                entries = read_index(file.read(MAX_INDEX + 1), INDEX)
                self._listed = state, frozenset(entry.file for entry in entries)
            return self._listed[1]
        return frozenset()

    def _open(self, name: str) -> BinaryIO:
        """Open a file of the directory to read.

        Raises `FileNotFoundError` also for a symbolic link (except on Windows), and for a file that
        is not regular.
        """
        try:
            descriptor = open_to_read(self._directory / name, links=False)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.EINVAL):
                raise FileNotFoundError from None
            raise
        return os.fdopen(descriptor, "rb", buffering=0)


def _is_valid(match: re.Match[str]) -> bool:
    """Return whether the last byte is not before the first (RFC 9110, 14.1.1)."""
    first, last, _ = match.groups()
    return not last or int(first) <= int(last)


def _part(match: re.Match[str], size: int) -> range:
    """Return the bytes of a file that a match of `_RANGE` asks for; empty if there are none."""
    first, last, length = match.groups()
    start = int(first) if first else max(0, size - int(length))
    return range(start, min(size, int(last) + 1) if last else size)


def _chunks(file: BinaryIO, part: range) -> Iterator[bytes]:
    """Yield the bytes `part` of a file in chunks of at most `CHUNK_BYTES`."""
    file.seek(part.start)
    left = len(part)
    while left and (chunk := file.read(min(left, CHUNK_BYTES))):
        left -= len(chunk)
        yield chunk


class CompressionExceptFiles(GZipMiddleware):
    """ASGI middleware: compresses answers except files, whose ranges count uncompressed bytes.

    The superclass ignores weights, so it does not get an `Accept-Encoding` that refuses gzip.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request (ASGI): compress its answer, unless a file is requested."""
        if scope["type"] != "http" or f"{ADDRESS}/" in scope["path"]:
            await self.app(scope, receive, send)
            return
        if _NO_GZIP.search(Headers(scope=scope).get("accept-encoding", "")):
            kept = [pair for pair in scope["headers"] if pair[0] != b"accept-encoding"]
            scope = {**scope, "headers": kept}  # the superclass adds `Vary` nevertheless
        await super().__call__(scope, receive, send)
