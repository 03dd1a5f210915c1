"""HTTP server of the files of a folder, with or without byte ranges."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class _Plain(SimpleHTTPRequestHandler):
    """Request handler of Python's file server, which ignores byte ranges."""

    def log_message(self, format: str, *arguments: object) -> None:
        pass


class _Ranges(_Plain):
    """Request handler that also answers requests for a single byte range."""

    def do_GET(self) -> None:
        asked = self.headers.get("Range")
        path = Path(self.translate_path(self.path))
        if asked is None or not path.is_file():
            super().do_GET()
            return
        first, last = map(int, asked.removeprefix("bytes=").split("-"))
        content = path.read_bytes()
        part = content[first : last + 1]
        self.send_response(206)
        end = first + len(part) - 1
        self.send_header("Content-Range", f"bytes {first}-{end}/{len(content)}")
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        self.wfile.write(part)


@contextmanager
def files_served(folder: Path, ranges: bool = True) -> Iterator[str]:
    """Yield the address of a server of a folder, without a trailing slash.

    ranges : False for a server that ignores byte ranges
    """
    handler = partial(_Ranges if ranges else _Plain, directory=str(folder))
    http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{http.server_address[1]}"
    finally:
        http.shutdown()
        thread.join()
        http.server_close()
