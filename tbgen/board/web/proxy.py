"""Requests that a proxy on this machine forwards: restore host, scheme, path prefix and client.

    X-Forwarded-Host, -Proto, -Prefix, -For  ->  host, scheme, root_path, client of the request
    answer that is a page                    ->  prefix inserted into its links

Only headers of a proxy on this machine count, and of each the value that the nearest proxy added.
Forwarded requests may come from anywhere: they cannot build, and pages name no directory.
"""

from __future__ import annotations

import re

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tbgen.board.web.limits import is_forwarded, is_loopback

_HOST = re.compile(r"[\w.:\[\]-]{1,100}")
_PREFIX = re.compile(r"(?:/[\w.~-]{1,50}){1,8}")

_LINK = re.compile(rb'(\b(?:href|src|action|data-root)=")/(?!/)')
"""Pattern of an HTML attribute that starts with `/`, an address of this server. Page text cannot
match: its quotes are escaped.
"""


class Forwarded:
    """ASGI middleware: restores host, scheme, prefix and client of forwarded requests."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        near = scope["type"] == "http" and scope["client"] and is_loopback(scope["client"][0])
        if not near or not is_forwarded(scope["headers"]):
            await self._app(scope, receive, send)
            return
        seen = _original_request(scope)
        scope["client"] = seen["client"]  # for the log
        prefix = seen["root_path"]
        await self._app(seen, receive, _Prefixing(send, prefix) if prefix else send)


class _Prefixing:
    """Send function that inserts the prefix into the addresses of an answer."""

    def __init__(self, send: Send, prefix: str) -> None:
        self._send = send
        self._prefix = prefix
        self._start: Message | None = None
        self._page = b""

    async def __call__(self, message: Message) -> None:
        """Send one message; a page is sent only when complete, as its length changes."""
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            if headers.get("location", "").startswith("/"):
                headers["location"] = self._prefix + headers["location"]
            if headers.get("content-type", "").startswith("text/html"):
                self._start = message
                return
        elif self._start is not None:
            self._page += message.get("body", b"")
            if message.get("more_body", False):
                return
            body = _LINK.sub(rb"\1" + self._prefix.encode() + b"/", self._page)
            headers = MutableHeaders(scope=self._start)
            if "content-length" in headers and self._page:
                headers["content-length"] = str(len(body))
            await self._send(self._start)
            self._start, message = None, {**message, "body": body}
        await self._send(message)


def _original_request(scope: Scope) -> Scope:
    """Return the request as the proxy received it; malformed headers are ignored."""
    headers = {name: value.decode("latin-1") for name, value in scope["headers"]}

    def of_nearest(name: bytes) -> str:
        return headers.get(name, "").rsplit(",", 1)[-1].strip()

    seen = {**scope, "root_path": ""}
    host, scheme = of_nearest(b"x-forwarded-host"), of_nearest(b"x-forwarded-proto")
    if _HOST.fullmatch(host):
        others = [(name, value) for name, value in scope["headers"] if name != b"host"]
        seen["headers"] = [*others, (b"host", host.encode("latin-1"))]
    if scheme in ("http", "https"):
        seen["scheme"] = scheme
    client = of_nearest(b"x-forwarded-for")
    if client:
        seen["client"] = (client[:100], 0)
    prefix = of_nearest(b"x-forwarded-prefix").rstrip("/")
    if _PREFIX.fullmatch(prefix):
        seen["root_path"] = prefix
        if not f"{scope['path']}/".startswith(f"{prefix}/"):
            seen["path"] = prefix + scope["path"]
    return seen
