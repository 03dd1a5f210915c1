"""`/files`: the files of a directory that others may fetch (`serve --files`), whole or in part.

    /files/index.json              the index that `tbgen index` has written
    /files/KRK.wxf.dtm.xqt         a table; a certificate, likewise
    Range: bytes=1000-             what is left of it, with 206

What the index lists is served, letter by letter, and is a file of the directory itself: links are
not followed. Files are read a piece at a time while they are sent. Whoever fetches checks what he
gets (`tbgen.publishing`): here nothing is.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from starlette.concurrency import run_in_threadpool
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from tbgen.board.web.http import JSON, RequestError, failure
from tbgen.publishing.index import INDEX, MAX_INDEX, BadIndexError, decoded, read_index
from tbgen.tables.files import open_to_read

ADDRESS = "/files"

_PIECE = 1 << 18
"""Bytes that are read at a time."""

_RANGE = re.compile(r"bytes=([0-9]{1,18})-([0-9]{0,18})")
"""One range with a beginning; others may be answered by the whole file."""

_BYTES = "application/octet-stream"


class Mirror:
    """The endpoint of a directory; `requests` counts answers by name and status."""

    def __init__(self, directory: Path, requests: Counter[tuple[str, int]]) -> None:
        self._directory = directory
        self._requests = requests
        self._listed: tuple[str, frozenset[str]] = "", frozenset()

    async def answer(self, request: Request) -> Response:
        """Answer one request: the endpoint."""
        try:
            answer = await run_in_threadpool(self._answer, request)
        except (RequestError, OSError) as error:
            said = failure(error)
            answer = Response(said.content(), said.status, media_type=said.media_type)
            answer.headers["cache-control"] = "no-store"
        self._requests["file", answer.status_code] += 1
        return answer

    def _answer(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name != INDEX and name not in self._names():
            raise RequestError(404, "no file of this name is listed", f"see {ADDRESS}/{INDEX}")
        try:
            file = self._open(name)
        except FileNotFoundError:
            raise RequestError(404, "there is no such file", f"see {ADDRESS}/{INDEX}") from None
        found, tag = os.fstat(file.fileno()), _tag(file)
        headers = {"accept-ranges": "bytes", "etag": tag, "cache-control": "no-cache"}
        status, kind = 200, JSON if name == INDEX else _BYTES
        first, end = 0, found.st_size
        part = _part(request, tag, found.st_size)
        if part is not None:
            status, (first, end) = 206, part
            headers["content-range"] = f"bytes {first}-{end - 1}/{found.st_size}"
        if first > end or (first == end and part is not None):
            file.close()
            headers["content-range"] = f"bytes */{found.st_size}"
            return Response(b"", 416, headers)
        headers["content-length"] = str(end - first)
        if request.method == "HEAD":
            file.close()
            return Response(b"", status, headers, kind)
        return Download(file, first, end, status, headers, kind)

    def _names(self) -> frozenset[str]:
        """The files that the index lists, read again when it has changed; none without an index."""
        with contextlib.suppress(FileNotFoundError, BadIndexError), self._open(INDEX) as file:
            tag = _tag(file)
            if tag != self._listed[0]:
                text = decoded(file.read(MAX_INDEX + 1), INDEX)
                self._listed = tag, frozenset(entry.file for entry in read_index(text))
            return self._listed[1]
        return frozenset()

    def _open(self, name: str) -> BinaryIO:
        """A file of the directory; raises `FileNotFoundError` for links, and what is no file."""
        try:
            descriptor = open_to_read(self._directory / name, links=False)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.EINVAL):
                raise FileNotFoundError from None
            raise
        return os.fdopen(descriptor, "rb", buffering=0)


def _tag(file: BinaryIO) -> str:
    """An ETag: changes with the file."""
    found = os.fstat(file.fileno())
    return f'"{found.st_ino:x}-{found.st_size:x}-{found.st_mtime_ns:x}"'


def _part(request: Request, tag: str, size: int) -> tuple[int, int] | None:
    """The bytes that are asked for, from the first one to the one after the last; None for all.

    A beginning behind the end of the file is given back as it is.
    """
    match = _RANGE.fullmatch(request.headers.get("range", ""))
    if match is None or request.headers.get("if-range", tag) != tag:
        return None
    first, last = int(match[1]), int(match[2] or size - 1)
    if last < first < size:
        return None
    return first, min(last + 1, size)


class Download(StreamingResponse):
    """A part of a file, which is closed at the end, also where the reader breaks off."""

    def __init__(
        self, file: BinaryIO, first: int, end: int, status: int, headers: Mapping[str, str],
        kind: str,
    ) -> None:  # fmt: skip
        super().__init__(_pieces(file, first, end), status, headers, kind)
        self._file = file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        with self._file:
            await super().__call__(scope, receive, send)


def _pieces(file: BinaryIO, first: int, end: int) -> Iterator[bytes]:
    """The bytes of a file from one place to another."""
    file.seek(first)
    while first < end and (piece := file.read(min(_PIECE, end - first))):
        first += len(piece)
        yield piece


class ZipOthers:
    """ASGI middleware: compresses answers, but not files, whose ranges count bytes as they are."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._zipped = GZipMiddleware(app, minimum_size=1000, compresslevel=4)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        is_file = scope["type"] == "http" and f"{ADDRESS}/" in scope["path"]
        await (self._app if is_file else self._zipped)(scope, receive, send)
