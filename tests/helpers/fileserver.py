"""HTTP server of the files of a folder, with or without byte ranges."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple


class Part(NamedTuple):
    """Answer to a request for a byte range: where it begins, status, bytes, and `Content-Range`.

    `range` is None if the answer has no such header.
    """

    first: int
    status: int
    body: bytes
    range: str | None


Change = Callable[[Part], Part]
"""Function that makes a faulty answer of a correct one."""


class _Plain(SimpleHTTPRequestHandler):
    """Request handler of Python's file server, which ignores byte ranges.

    missing : status of the answer for a missing file, a page in HTML
    sized : whether that page is sent with its length
    head : whether `HEAD` is answered; else its status is 405
    kind : `Content-Type` of all files; None for that of their suffix
    """

    def __init__(
        self,
        *arguments: Any,
        missing: int = 404,
        sized: bool = True,
        head: bool = True,
        kind: str | None = None,
        **options: Any,
    ) -> None:
        self._missing, self._sized, self._head, self._kind = missing, sized, head, kind
        super().__init__(*arguments, **options)

    def log_message(self, format: str, *arguments: object) -> None:
        pass

    def guess_type(self, path: Any) -> str:
        return self._kind or super().guess_type(path)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        super().send_error(self._missing if code == 404 else code, message, explain)

    def send_header(self, keyword: str, value: str) -> None:
        if (
            self._sized
            or keyword != "Content-Length"
            or Path(self.translate_path(self.path)).is_file()
        ):
            super().send_header(keyword, value)

    def do_HEAD(self) -> None:
        if self._head:
            super().do_HEAD()
        else:
            self.send_error(405)


class _Ranges(_Plain):
    """Request handler that also answers requests for a single byte range.

    change : called with each such answer; returns the answer that is sent
    """

    def __init__(self, *arguments: Any, change: Change = lambda part: part, **options: Any) -> None:
        self._change = change
        super().__init__(*arguments, **options)

    def do_GET(self) -> None:
        asked = self.headers.get("Range")
        path = Path(self.translate_path(self.path))
        if asked is None or not path.is_file():
            super().do_GET()
            return
        first, last = map(int, asked.removeprefix("bytes=").split("-"))
        content = path.read_bytes()
        body = content[first : last + 1]
        place = f"bytes {first}-{first + len(body) - 1}/{len(content)}"
        part = self._change(Part(first, 206, body, place))
        self.send_response(part.status)
        if part.range is not None:
            self.send_header("Content-Range", part.range)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Length", str(len(part.body)))
        self.end_headers()
        self.wfile.write(part.body)


@contextmanager
def files_served(
    folder: Path, ranges: bool = True, change: Change = lambda part: part, **options: Any
) -> Iterator[str]:
    """Yield the address of a server of a folder, without a trailing slash.

    ranges : False for a server that ignores byte ranges
    change : makes faulty answers to requests for byte ranges
    options : `missing`, `sized`, `head` and `kind` of the handler
    """
    options["directory"] = str(folder)
    handler = partial(_Ranges, change=change, **options) if ranges else partial(_Plain, **options)
    http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{http.server_address[1]}"
    finally:
        http.shutdown()
        thread.join()
        http.server_close()
