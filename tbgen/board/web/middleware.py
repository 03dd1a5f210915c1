"""ASGI middleware: limits of requests, security headers, and requests that a proxy forwards.

    request  ->  its host, method, address and body  ->  application  ->  answer + headers
                     421   405     414         413

    X-Forwarded-Host, -Proto, -Prefix, -For  ->  host, scheme, root_path, client of the request
    answer that is a page or a redirect      ->  prefix inserted into its addresses

X-Forwarded headers count only if a proxy on this machine sends them. Of a header with several
values, the last one counts, which the nearest proxy has added. Forwarded requests may come from
anywhere: `building` refuses them, and pages for them do not name the directory of the tables.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from ipaddress import ip_address
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tbgen.board.web.http import EVENTS, HTML, RequestError, failure

HOST = re.compile(r"[\w.:\[\]-]{1,100}")
"""Pattern of a host, with or without a port, in a header."""

MAX_QUERY = 6000
"""Limit on the bytes of path and query together: a game of `view.MAX_MOVES` plies fits."""

MAX_BODY = 1 << 18
"""Limit on the bytes of a form: an annotated game fits, in which a Chinese character takes nine."""

SAME_ORIGIN = (HTML, EVENTS)
"""Media types that scripts of other origins may not read."""

SECURITY_HEADERS = {
    "content-security-policy": (
        "default-src 'self'; style-src 'self' 'unsafe-inline'; base-uri 'none'; "
        "form-action 'self'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
}
"""Headers of every answer but a 304, unless it has its own (`embed.HEADERS`).

`unsafe-inline` allows the <style> of standalone pictures. The referrer policy is not `no-referrer`,
as browsers would then omit the origin of our own forms.
"""

OPEN_HEADERS = {
    "access-control-allow-origin": "*",
    "access-control-expose-headers": "ETag, Retry-After, Content-Range",
}
"""Additional headers of answers, except of media types in `SAME_ORIGIN`, and of a 304 without type.

They let scripts of any origin read an answer: no cookie or password is involved. Pages, which may
hold the token for builds, do not have them.
"""


class RequestLimits:
    """ASGI middleware: refuses requests beyond limits, answers OPTIONS, adds headers to answers.

    posts : paths that accept POST, also below the prefix of a proxy
    loopback_only : refuse requests whose host is not a loopback name, as `is_loopback` tests.
        Otherwise a foreign site could make its name resolve to this machine (DNS rebinding), and
        its scripts could read the answers
    """

    def __init__(self, app: ASGIApp, posts: Collection[str], loopback_only: bool = False) -> None:
        self._app = app
        self._posts = posts
        self._loopback_only = loopback_only

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request (ASGI): refuse it if beyond the limits; add headers to the answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                # Headers of a 304 replace stored ones (RFC 9111, 4.3.4), as those of `embed`.
                known, kind = message["status"] == 304, headers.get("content-type", "")
                own = kind.startswith(SAME_ORIGIN) or (known and not kind)
                added = ({} if known else SECURITY_HEADERS) | ({} if own else OPEN_HEADERS)
                for name, value in added.items():
                    headers.setdefault(name, value)
            await send(message)

        scope = _in_origin_form(scope)
        post = scope["method"] == "POST" and scope["path"].endswith(tuple(self._posts))
        app = _refusal(scope, self._loopback_only, post) or self._app
        await app(scope, receive, send_with_headers)


def _in_origin_form(scope: Scope) -> Scope:
    """Reduce a target that is a whole URL to its path and header `Host` (RFC 9112, 3.2.2)."""
    whole = _ABSOLUTE.fullmatch(scope["path"])
    if whole is None:
        return scope
    raw = (scope.get("raw_path") or b"").partition(b"://")[2].partition(b"/")[2]
    return _with_host(scope, whole[1]) | {"path": whole[2] or "/", "raw_path": b"/" + raw}


def _with_host(scope: Scope, host: str) -> dict[str, Any]:
    others = [(name, value) for name, value in scope["headers"] if name != b"host"]
    return {**scope, "headers": [*others, (b"host", host.encode("latin-1", "replace"))]}


def is_forwarded(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Return whether a proxy has forwarded a request, by its headers (lower-case name, value)."""
    return any(name.startswith(b"x-forwarded-") or name == b"forwarded" for name, _ in headers)


def is_loopback(host: str) -> bool:
    """Return whether a host or host:port is a loopback address, `localhost` or `NAME.localhost`.

    `::ffff:127.0.0.1` is a client over IPv4 of a server that listens on IPv6 (`serve --host ::`).
    """
    name = re.sub(r":[0-9]*$", "", host) if host.startswith("[") or host.count(":") == 1 else host
    name = name.strip("[]").removesuffix(".").lower()
    try:
        if f".{name}".endswith(".localhost"):
            return True
        address = ip_address(name)
        return (getattr(address, "ipv4_mapped", None) or address).is_loopback
    except ValueError:
        return False


def _refusal(scope: Scope, loopback_only: bool, post: bool) -> Response | None:
    """Return the refusal of a request beyond the limits, or the answer to OPTIONS; else None.

    `post` is true for a POST to a path that accepts one.
    """
    headers = dict(scope["headers"])
    hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
    foreign = loopback_only and not all(map(is_loopback, hosts))
    if scope["method"] == "OPTIONS" and not foreign:
        allowed = {
            "access-control-allow-methods": "GET, HEAD",
            "access-control-allow-headers": "*",
            "access-control-max-age": "86400",
        }
        return Response(status_code=204, headers=allowed)
    length = headers.get(b"content-length", b"0")
    known = length.isdigit() and len(length) < 9 and b"transfer-encoding" not in headers
    hint = "put everything in the query"
    if foreign:
        hint = "ask for 127.0.0.1 or localhost; serve --host lets others in"
        if is_forwarded(scope["headers"]):
            hint = "the proxy must not pass Host on, but as X-Forwarded-Host (docs/board-public.md)"
        problem = RequestError(421, "only this machine is answered, by its own name", hint)
    elif scope["method"] not in ("GET", "HEAD") and not post:
        problem = RequestError(405, "only GET and HEAD are answered", hint)
    elif len(scope["query_string"]) + len(scope.get("raw_path") or b"") > MAX_QUERY:
        problem = RequestError(414, "the address is too long", f"{MAX_QUERY} bytes are read")
    elif known and int(length) <= (MAX_BODY if post else 0):
        return None
    elif post:
        problem = RequestError(413, "the form is too large", f"{MAX_BODY} bytes are read")
    else:
        problem = RequestError(413, "no request has a body here", hint)
    # Close, as the rest of the request is not read.
    return failure(problem).response({"connection": "close", "allow": "GET, HEAD, OPTIONS"})


_ABSOLUTE = re.compile(r"https?://([^/]+)(/.*)?", re.IGNORECASE | re.DOTALL)
"""Pattern of a whole URL; the groups are host and path."""

_PREFIX = re.compile(r"(?:/[\w.~-]{1,50}){1,8}")
"""Pattern of the path prefix of a proxy."""

_LINK = re.compile(rb'(\b(?:href|src|action|data-root)=")/(?!/)')
"""Pattern of an HTML attribute with an address of this server, which starts with `/`. Texts of a
page cannot match, as their quotes are escaped.
"""


class ForwardedHeaders:
    """ASGI middleware: restores host, scheme, path prefix and client of forwarded requests."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request (ASGI); change only one that a proxy on this machine forwards."""
        near = scope["type"] == "http" and scope["client"] and is_loopback(scope["client"][0])
        if not near or not is_forwarded(scope["headers"]):
            await self._app(scope, receive, send)
            return
        seen = _original_request(scope)
        scope["client"] = seen["client"]  # for the log
        prefix = seen["root_path"]
        await self._app(seen, receive, _prefixing(send, prefix) if prefix else send)


def _prefixing(send: Send, prefix: str) -> Send:
    """Return a replacement of `send` that puts `prefix` before the paths of links and redirects."""
    start: Message | None = None
    page = b""

    async def send_prefixed(message: Message) -> None:
        nonlocal start, page
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            if headers.get("location", "").startswith("/"):
                headers["location"] = prefix + headers["location"]
            if headers.get("content-type", "").startswith("text/html"):
                start = message
                return
        elif start is not None:  # a page is sent only when complete, as its length changes
            page += message.get("body", b"")
            if message.get("more_body", False):
                return
            body = _LINK.sub(rb"\1" + prefix.encode() + b"/", page)
            headers = MutableHeaders(scope=start)
            if "content-length" in headers and page:
                headers["content-length"] = str(len(body))
            await send(start)
            start, message = None, {**message, "body": body}
        await send(message)

    return send_prefixed


def _original_request(scope: Scope) -> Scope:
    """Return the request as the proxy received it; malformed X-Forwarded headers are ignored."""
    headers = {name: value.decode("latin-1") for name, value in scope["headers"]}

    def of_nearest(name: bytes) -> str:
        return headers.get(name, "").rsplit(",", 1)[-1].strip()

    host, scheme = of_nearest(b"x-forwarded-host"), of_nearest(b"x-forwarded-proto")
    seen = {**(_with_host(scope, host) if HOST.fullmatch(host) else scope), "root_path": ""}
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
