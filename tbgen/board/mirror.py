"""`/files`: the files of a directory that others may fetch (`serve --files`), whole or in part.

    /files/index.json              the index that `tbgen index` has written
    /files/KRK.wxf.dtm.xqt         a table; a certificate, likewise
    Range: bytes=1000-             what is left of it, with 206

Names are those of an index, letter by letter, so that nothing else of the directory is served, and
nothing outside of it. Files are read a piece at a time while they are sent. Whoever fetches checks
what he gets (`tbgen.publishing`): here nothing is.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from starlette.concurrency import run_in_threadpool
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from tbgen.board.http import JSON, RequestError, failure
from tbgen.publishing.index import INDEX, table_of
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
        if name != INDEX and table_of(name) is None:
            raise RequestError(404, "no table has this name", f"see {ADDRESS}/{INDEX}")
        try:
            file = os.fdopen(open_to_read(self._directory / name), "rb", buffering=0)
        except FileNotFoundError:
            raise RequestError(404, "there is no such file", f"see {ADDRESS}/{INDEX}") from None
        found = os.fstat(file.fileno())
        tag = f'"{found.st_ino:x}-{found.st_size:x}-{found.st_mtime_ns:x}"'
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
        return StreamingResponse(_pieces(file, first, end), status, headers, kind)


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


def _pieces(file: BinaryIO, first: int, end: int) -> Iterator[bytes]:
    """The bytes of a file from one place to another, which closes it."""
    with file:
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
        is_file = scope["type"] == "http" and scope["path"].startswith(f"{ADDRESS}/")
        await (self._app if is_file else self._zipped)(scope, receive, send)
