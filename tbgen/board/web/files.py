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
from collections import Counter
from pathlib import Path
from typing import BinaryIO

from starlette.concurrency import run_in_threadpool
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from tbgen.board.web.http import RequestError, failure, is_known
from tbgen.publishing.index import INDEX, MAX_INDEX, BadIndexError, read_index
from tbgen.tables.files import open_to_read

ADDRESS = "/files"
"""Path below which the files are served."""


class FileEndpoint:
    """Endpoint of the index of `directory` and the files that the index lists.

    requests : counter to which each answer is added under ("file", HTTP status); an answer with a
        range (206) counts as 200
    """

    def __init__(self, directory: Path, requests: Counter[tuple[str, int]]) -> None:
        self._directory = directory
        self._requests = requests
        self._listed: tuple[tuple[int, ...], frozenset[str]] = (), frozenset()

    async def answer(self, request: Request) -> Response:
        """Answer a request for a file, whole or a range of its bytes; an error is sent as JSON."""
        answer: Response
        try:
            answer = await run_in_threadpool(self._answer, request.path_params["name"])
            if "if-none-match" in request.headers:
                known = is_known(request, answer.headers["etag"])
            else:
                known = StaticFiles().is_not_modified(answer.headers, request.headers)
            if known:
                kept = ("etag", "cache-control", "last-modified")
                answer = Response(None, 304, {name: answer.headers[name] for name in kept})
        except (RequestError, OSError) as error:
            answer = failure(error).response({"cache-control": "no-store"})
        self._requests["file", answer.status_code] += 1
        return answer

    def _answer(self, name: str) -> FileResponse:
        if name != INDEX and name not in self._names():
            raise RequestError(404, "no file of this name is listed", f"see {ADDRESS}/{INDEX}")
        try:
            with self._open(name) as file:
                found = os.fstat(file.fileno())
        except FileNotFoundError:
            raise RequestError(404, "there is no such file", f"see {ADDRESS}/{INDEX}") from None
        headers = {"cache-control": "no-cache"}
        return FileResponse(self._directory / name, headers=headers, stat_result=found)

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


class CompressionExceptFiles(GZipMiddleware):
    """ASGI middleware: compresses answers except files, whose ranges count uncompressed bytes."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request (ASGI): compress its answer, unless a file is requested."""
        is_file = scope["type"] == "http" and f"{ADDRESS}/" in scope["path"]
        await (self.app if is_file else super().__call__)(scope, receive, send)
