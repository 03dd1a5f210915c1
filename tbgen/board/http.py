"""HTTP around the answers: limits, headers, errors as JSON or HTML, counts of requests.

    request  ->  limits  ->  ETag known?  ->  worker thread  ->  answer + headers
                  413 414 405   304            503 if too many wait

An answer depends on the address, the language and the tables only, so its ETag is known before it
is worked out. Work is done in a few threads, so that a slow disk stops nobody else; how much may
wait is bounded.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tbgen.cli import errors

MAX_QUERY = 6000
"""Bytes of an address: a game of `state.MAX_MOVES` plies fits."""

MAX_WAITING = 64
"""Requests at work or waiting; more are answered 503."""

THREADS = 4

ANSWER_SECONDS = 20
"""How long a request may wait for its answer."""

MAX_AGE = 300
"""Seconds for which a browser need not ask again; tables may be built meanwhile."""

SECURITY_HEADERS = {
    "content-security-policy": (
        "default-src 'self'; style-src 'self' 'unsafe-inline'; base-uri 'none'; "
        "form-action 'self'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "access-control-allow-origin": "*",
}
"""Of every answer. Everything here may be read from anywhere: it changes nothing, and no cookie
or password is involved. `unsafe-inline` is for the style of a picture that stands alone."""

_STATUS = {errors.FINDINGS: 404, errors.BAD_INPUT: 400, errors.CORRUPT: 500}

JSON = "application/json"
HTML = "text/html"
SVG = "image/svg+xml"
TEXT = "text/plain"


@dataclass(frozen=True)
class Answer:
    """What an endpoint returns: a body (or an object for JSON), its type, and a status."""

    body: str | bytes | Mapping[str, Any]
    media_type: str = JSON
    status: int = 200
    headers: Mapping[str, str] | None = None

    def content(self) -> bytes:
        """The bytes to send."""
        if isinstance(self.body, bytes):
            return self.body
        if isinstance(self.body, str):
            return self.body.encode()
        return json.dumps(self.body, ensure_ascii=False).encode()


class RequestError(Exception):
    """A request that is refused, with the status and what to do about it."""

    def __init__(self, status: int, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.hint = hint


def failure(error: Exception) -> Answer:
    """The answer to a request that failed: `{"error", "hint"}`; raises what only a bug explains.

    Messages are those of the command line. The paths of this machine are not told.
    """
    if isinstance(error, RequestError):
        return Answer({"error": str(error), "hint": error.hint}, status=error.status)
    described = errors.describe(error)
    if described is None:
        raise error
    if isinstance(error, OSError):
        return Answer({"error": "a file cannot be read", "hint": error.strerror or ""}, status=500)
    hint = "build the table again" if described.status == errors.CORRUPT else described.hint
    return Answer({"error": described.message, "hint": hint}, status=_STATUS[described.status])


class Gate:
    """Runs endpoints in threads, and counts.

    An endpoint is a function of a request that returns an `Answer`; it may raise what
    `errors.describe` knows.
    """

    def __init__(self, fingerprint: Callable[[], str]) -> None:
        self._fingerprint = fingerprint
        self._pool = ThreadPoolExecutor(THREADS, "board")
        self._waiting = 0
        self.requests: Counter[tuple[str, int]] = Counter()

    def endpoint(
        self,
        name: str,
        function: Callable[[Request], Answer],
        on_error: Callable[[Request, Answer], Answer] = lambda request, answer: answer,
        *,
        cached: bool = True,
    ) -> Callable[[Request], Any]:
        """A starlette endpoint; `on_error` may dress an error up as a page."""

        async def respond(request: Request) -> Response:
            tag = self._etag(request) if cached else None
            if tag and tag in request.headers.get("if-none-match", ""):
                self.requests[name, 304] += 1
                return Response(status_code=304, headers={"etag": tag})
            answer = await self._run(function, on_error, request)
            self.requests[name, answer.status] += 1
            headers = dict(answer.headers or {})
            if tag and answer.status == 200:
                headers |= {"etag": tag, "cache-control": f"public, max-age={MAX_AGE}"}
                headers["vary"] = "accept-language"
            else:
                headers.setdefault("cache-control", "no-store")
            return Response(answer.content(), answer.status, headers, media_type=answer.media_type)

        return respond

    async def _run(
        self,
        function: Callable[[Request], Answer],
        on_error: Callable[[Request, Answer], Answer],
        request: Request,
    ) -> Answer:
        def work() -> Answer:
            try:
                return function(request)
            except Exception as error:
                return on_error(request, failure(error))

        if self._waiting >= MAX_WAITING:
            busy = RequestError(503, "the server is busy", "try again in a moment")
            return on_error(request, failure(busy))
        self._waiting += 1
        future = asyncio.get_running_loop().run_in_executor(self._pool, work)
        future.add_done_callback(self._done)
        try:
            # The thread goes on after a time-out, and keeps its place among those that wait.
            return await asyncio.wait_for(asyncio.shield(future), ANSWER_SECONDS)
        except TimeoutError:
            slow = RequestError(503, "the answer takes too long", "ask for fewer plies")
            return on_error(request, failure(slow))

    def _done(self, future: asyncio.Future[Answer]) -> None:
        self._waiting -= 1

    def _etag(self, request: Request) -> str:
        """Names the answer: address, language and tables determine it."""
        asked = f"{request.url.path}?{request.url.query}"
        language = request.headers.get("accept-language", "")
        key = f"{self._fingerprint()} {asked} {language}"
        return f'"{hashlib.sha256(key.encode()).hexdigest()[:24]}"'


class Limits:
    """ASGI middleware: refuses what no endpoint should see, and adds headers to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = {name for name, _ in message["headers"]}
                message["headers"] += [
                    (name.encode(), value.encode())
                    for name, value in SECURITY_HEADERS.items()
                    if name.encode() not in present
                ]
            await send(message)

        refusal = _refusal(scope)
        app = self._app if refusal is None else refusal
        await app(scope, receive, send_with_headers)


def _refusal(scope: Scope) -> Response | None:
    """The answer to a request that goes beyond the limits; None for others."""
    headers = dict(scope["headers"])
    if scope["method"] == "OPTIONS":
        allowed = {"access-control-allow-methods": "GET, HEAD", "access-control-max-age": "86400"}
        return Response(status_code=204, headers=allowed)
    problem = None
    if scope["method"] not in ("GET", "HEAD"):
        problem = RequestError(405, "only GET and HEAD are answered", "put everything in the query")
    elif len(scope["query_string"]) + len(scope.get("raw_path") or b"") > MAX_QUERY:
        problem = RequestError(414, "the address is too long", f"{MAX_QUERY} bytes are read")
    elif headers.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in headers:
        problem = RequestError(413, "no request has a body here", "put everything in the query")
    if problem is None:
        return None
    answer = failure(problem)
    # Whatever was sent beyond the limits is not read.
    return Response(
        answer.content(), answer.status, {"connection": "close", "allow": "GET, HEAD, OPTIONS"},
        media_type=answer.media_type,
    )  # fmt: skip
