"""HTTP around the answers: threads, ETags, errors as JSON or HTML, counts of requests.

    request  ->  `limits`  ->  ETag known?  ->  worker thread  ->  answer
                                  304            503 if too many wait

An answer depends on the address, the language and the tables only, so its ETag is known before it
is worked out. Work is done in a few threads, so that a slow disk stops nobody else; how much may
wait is bounded. Pages of positions have a thread of their own, so has what may take longer, and
searches have processes (`helpers`): none of these waits for another. Work ends when nobody waits
for it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from enum import StrEnum
from threading import Event, Lock, local
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from tbgen.answers import failures
from tbgen.board.knowledge.errors import NothingFoundError, UnansweredError
from tbgen.indexing.systems import usable_cores
from tbgen.indexing.threads import thread_pool

MAX_WAITING = 64
"""Requests at work or waiting; more are answered 503."""

THREADS = 4

MAX_LONG = 24
"""Requests of a `Lane` that may take long, at work or waiting; more are answered 503."""

LONG_THREADS = 1
"""Python runs one thread at a time: more would end no sooner, and hold up everything else."""

MAX_OF_CLIENT = 16
"""Requests of one address at work or waiting; more are answered 503. A browser sends six."""

SEARCHERS = min(2, usable_cores())
"""Searches at once; one of each client."""

ANSWER_SECONDS = 20
"""How long a request may wait for its answer."""

SEARCH_SECONDS = 90
"""The same for a search, before whose first one kernels may have to be compiled."""

RETRY_SECONDS = 5
"""When to ask again where the server was busy."""

MAX_AGE = 60
"""Seconds for which an answer need not be asked for again; tables may be built meanwhile. Pages
are always asked for, and mostly have not changed."""

_STATUS = {failures.FINDINGS: 404, failures.BAD_INPUT: 400, failures.CORRUPT: 500}

JSON = "application/json"
HTML = "text/html"
SVG = "image/svg+xml"
PNG = "image/png"
GIF = "image/gif"
TEXT = "text/plain"
CSV = "text/csv"
EVENTS = "text/event-stream"


@dataclass(frozen=True)
class Answer:
    """An endpoint's answer: a body (or an object for JSON), its type, and a status."""

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

    def response(self, headers: Mapping[str, str] | None = None) -> Response:
        """Return it for starlette, with other headers than its own if they are given."""
        headers = self.headers if headers is None else headers
        return Response(self.content(), self.status, headers, media_type=self.media_type)


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
    if isinstance(error, UnansweredError):
        status = 404 if isinstance(error, NothingFoundError) else 503
        error = RequestError(status, str(error), error.hint)
    if isinstance(error, RequestError):
        headers = {"retry-after": str(RETRY_SECONDS)} if error.status == 503 else None
        said = {"error": str(error), "hint": error.hint}
        return Answer(said, status=error.status, headers=headers)
    described = failures.describe(error)
    if described is None:
        raise error
    if isinstance(error, OSError):
        return Answer({"error": "a file cannot be read", "hint": error.strerror or ""}, status=500)
    hint = "build the table again" if described.status == failures.CORRUPT else described.hint
    return Answer({"error": described.message, "hint": hint}, status=_STATUS[described.status])


class AbandonedError(Exception):
    """Nobody waits for this work any more."""


class Lane(StrEnum):
    """Queue of a request, which waits only for others of its lane."""

    PROMPT = "board"
    PAGE = "board-page"
    LONG = "board-long"
    SEARCH = "board-search"


class Pool:
    """Some threads, and a bounded number of requests that are at work in them or wait for one."""

    def __init__(self, name: str, threads: int, most: int) -> None:
        self._executor = thread_pool(threads, name)
        self._most = most
        self._held = 0
        self._lock = Lock()

    def submit(self, work: Callable[[], Answer]) -> Future[Answer] | None:
        """Do some work as soon as a thread is free; None if too much waits already."""
        with self._lock:
            if self._held >= self._most:
                return None
            self._held += 1
        future = self._executor.submit(work)
        future.add_done_callback(self._done)
        return future

    def _done(self, future: Future[Answer]) -> None:
        with self._lock:
            self._held -= 1


class Gate:
    """Runs endpoints in threads, and counts.

    An endpoint is a function of a request that returns an `Answer`; it may raise what
    `failures.describe` knows. Work that takes long calls `checkpoint` now and then.
    """

    def __init__(self, fingerprint: Callable[[], str]) -> None:
        self._fingerprint = fingerprint
        self._pools = {
            Lane.PROMPT: Pool(Lane.PROMPT, THREADS, MAX_WAITING),
            Lane.PAGE: Pool(Lane.PAGE, LONG_THREADS, MAX_LONG),
            Lane.LONG: Pool(Lane.LONG, LONG_THREADS, MAX_LONG),
            Lane.SEARCH: Pool(Lane.SEARCH, SEARCHERS, MAX_LONG),
        }
        self._searching: set[str] = set()
        self._clients: Counter[str] = Counter()
        self._at_work = local()
        self._waiting: set[asyncio.Future[None]] = set()
        self._closed = False
        self.requests: Counter[tuple[str, int]] = Counter()

    def checkpoint(self) -> None:
        """Raise `AbandonedError` if this thread works for a request that nobody waits for."""
        abandoned: Event | None = getattr(self._at_work, "abandoned", None)
        if abandoned is not None and abandoned.is_set():
            raise AbandonedError

    @property
    def closed(self) -> bool:
        """Return whether the server is about to end."""
        return self._closed

    def close(self) -> None:
        """Let nobody wait any longer, so that the server can end; called by its event loop."""
        self._closed = True
        for gone in list(self._waiting):
            gone.cancel()

    def endpoint(
        self,
        name: str,
        function: Callable[[Request], Answer],
        on_error: Callable[[Request, Answer], Answer] = lambda request, answer: answer,
        *,
        cached: bool = True,
        lane: Lane | Callable[[Request], Lane] = Lane.PROMPT,
    ) -> Callable[[Request], Any]:
        """A starlette endpoint; `on_error` may dress an error up as a page.

        `lane`, or what it says of a request, is the queue. A client has one search at a time.
        """

        async def respond(request: Request) -> Response:
            tag = self._etag(request) if cached else None
            if tag and tag in request.headers.get("if-none-match", ""):
                self.requests[name, 304] += 1
                return Response(status_code=304, headers={"etag": tag})
            queue = lane if isinstance(lane, Lane) else lane(request)
            try:
                answer = await self._admit(queue, function, on_error, request)
            except RequestError as error:
                answer = on_error(request, failure(error))
            self.requests[name, answer.status] += 1
            headers = dict(answer.headers or {})
            if tag and answer.status == 200:
                kept = "no-cache" if answer.media_type == HTML else f"public, max-age={MAX_AGE}"
                headers = {"etag": tag, "cache-control": kept, "vary": "accept-language"} | headers
            else:
                headers.setdefault("cache-control", "no-store")
            return answer.response(headers)

        return respond

    async def _admit(
        self,
        lane: Lane,
        function: Callable[[Request], Answer],
        on_error: Callable[[Request, Answer], Answer],
        request: Request,
    ) -> Answer:
        """Run a request; raises `RequestError` if its client has too many others at work."""
        client = request.client.host if request.client is not None else ""
        if self._clients[client] >= MAX_OF_CLIENT:
            raise RequestError(503, "too many requests at once", "wait for your other requests")
        if lane is Lane.SEARCH and client in self._searching:
            hint = "wait for your other search, or stop it"
            raise RequestError(503, "one search at a time", hint)
        self._clients[client] += 1
        if lane is Lane.SEARCH:
            self._searching.add(client)
        try:
            return await self._run(lane, function, on_error, request)
        finally:
            self._clients[client] -= 1
            if not self._clients[client]:
                del self._clients[client]
            if lane is Lane.SEARCH:
                self._searching.remove(client)

    async def _run(
        self,
        lane: Lane,
        function: Callable[[Request], Answer],
        on_error: Callable[[Request, Answer], Answer],
        request: Request,
    ) -> Answer:
        """Run a request in a thread; raises `RequestError` if there is no answer in time."""
        abandoned = Event()

        def work() -> Answer:
            self._at_work.abandoned = abandoned
            try:
                return function(request)
            except AbandonedError:
                return Answer("", TEXT, 503)  # which nobody reads
            except Exception as error:
                return on_error(request, failure(error))

        submitted = self._pools[lane].submit(work)
        if submitted is None:
            raise RequestError(503, "the server is busy", "try again in a moment")
        answer = asyncio.wrap_future(submitted)
        gone = asyncio.ensure_future(_client_gone(request))
        self._waiting.add(gone)
        try:
            either: set[asyncio.Future[Any]] = {answer, gone}
            seconds = SEARCH_SECONDS if lane is Lane.SEARCH else ANSWER_SECONDS
            await asyncio.wait(either, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if answer.done():
                return answer.result()
        finally:
            abandoned.set()
            submitted.cancel()
            gone.cancel()
            self._waiting.discard(gone)
        if self._closed:
            raise RequestError(503, "the server ends")
        raise RequestError(503, "the answer takes too long", "ask for less, or again in a moment")

    def _etag(self, request: Request) -> str:
        """Name of the answer: the whole address, language and tables determine it."""
        language = request.headers.get("accept-language", "")
        key = f"{self._fingerprint()} {request.url} {language}"
        return f'"{hashlib.sha256(key.encode()).hexdigest()[:24]}"'


async def _client_gone(request: Request) -> None:
    """Wait until the client has closed the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
