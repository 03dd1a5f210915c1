"""Fixture: a web server of one table, with faults on request."""

from __future__ import annotations

import contextlib
import hashlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tbgen.publishing.index import Entry

CONTENT = bytes(range(256)) * 20_000
KRK = Entry("KRK.wxf.dtm.xqt", len(CONTENT), hashlib.sha256(CONTENT).hexdigest(), "0" * 32)


@dataclass
class Server:
    """Settings and requests of a web server of files in memory, with faults on request.

    `files` has contents by path, and `redirect` the address to which all requests are redirected.
    `ranges` is False for a server that ignores range requests. Setting `ended` ends all answers.
    """

    files: dict[str, bytes]
    ranges: bool = True
    cut_at: int | None = None
    """Number of bytes after which each answer ends, whatever length it has announced."""
    off_by: int = 0
    """Number of bytes by which the stated start of a range is above the real one."""
    redirect: str | None = None
    range: str | None = None
    """Content-Range header of answers to range requests; None for the real one."""
    drips: str = ""
    """Part of answers that is sent byte by byte and without end: `head`, `body`, or empty."""
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    """Path and range of each request so far."""
    address: str = ""
    ended: threading.Event = field(default_factory=threading.Event)


@pytest.fixture
def server() -> Iterator[Server]:
    found = Server({"/KRK.wxf.dtm.xqt": CONTENT})

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = self.headers.get("Range")
            found.asked.append((self.path, asked))
            if found.drips:
                self.drip()
                return
            if found.redirect:
                self.send_response(302)
                self.send_header("Location", found.redirect)
                self.end_headers()
                return
            body = found.files.get(self.path)
            if body is None:
                self.send_error(404)
                return
            begin = 0
            if asked and found.ranges:
                begin = int(asked.removeprefix("bytes=").removesuffix("-"))
                self.send_response(206)
                given = f"bytes {begin + found.off_by}-{len(body) - 1}/{len(body)}"
                self.send_header("Content-Range", found.range or given)
            else:
                self.send_response(200)
            body = body[begin:]
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with contextlib.suppress(ConnectionError):  # the client may close the connection
                self.wfile.write(body[: found.cut_at])

        def drip(self) -> None:
            self.wfile.write(b"HTTP/1.1 200 OK\r\n" + (b"\r\n" if found.drips == "body" else b""))
            with contextlib.suppress(ConnectionError):
                while not found.ended.wait(0.01):
                    self.wfile.write(b"x")

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    found.address = f"http://127.0.0.1:{http.server_address[1]}"
    yield found
    found.ended.set()
    http.shutdown()
    thread.join()
    http.server_close()
