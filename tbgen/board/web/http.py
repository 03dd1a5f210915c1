"""HTTP around the endpoints: threads, ETags, errors as JSON or HTML, counts of requests.

    request  ->  `middleware`  ->  ETag known?  ->  turn  ->  worker thread  ->  answer
                                  304              503 if too many wait, or for too long

The answer of a cached endpoint depends only on address, language, tables, the build and the day, so
its ETag is known before the answer is computed. Redirects, errors and answers that a time limit has
cut short have no ETag.
Endpoints run in threads, so that a slow disk does not block other requests. A *lane* is a queue
with its own threads. A client has a share of each lane: its further requests wait for their turn
outside of the lane, where they do not delay other clients. A school may be one client, as its
browsers share an address.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from threading import Event, Semaphore, local
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from tbgen.answers import failures
from tbgen.board.knowledge.puzzles import NoReplyError, NothingFoundError
from tbgen.system.platform import usable_cores
from tbgen.system.threads import thread_pool
from tbgen.tables import UnsupportedMaterialError

MAX_WAITING = 128
"""Maximum number of running and waiting requests in a lane; others are answered 503."""

THREADS = 4
"""Threads of lane `PROMPT`. The lanes `PAGE`, `PUZZLE` and `LONG` have one each: Python runs one
thread at a time, so more would not finish sooner, and would delay other requests.
"""

MAX_OF_CLIENT = 16
"""Maximum requests of one client address in a lane, 1 in `SEARCH`; others wait for their turn."""

MAX_QUEUED = 256
"""Maximum number of requests of one client that wait for their turn in a lane; others are answered
503. The browsers of a class of 40 send six requests each at once.
"""

QUEUE_SECONDS = 15
"""Most seconds that a request waits for its turn."""

SEARCHERS = min(2, usable_cores())
"""Maximum number of searches at the same time."""

ANSWER_SECONDS = 20
"""Timeout in seconds of a request that is no search."""

SEARCH_SECONDS = 300
"""Timeout of a search in seconds; long, as the first search may have to compile kernels."""

BODY_SECONDS = 5
"""Timeout in seconds for the body of a form."""

RETRY_SECONDS = 5
"""Value of `Retry-After` in answers with status 503."""

MAX_AGE = 60
"""Seconds for which a browser may reuse an answer without asking; HTML pages are revalidated."""

_VARY = "accept-language"
"""Value of `Vary` before compression, which appends `Accept-Encoding`."""

_VARY_UNCHANGED = f"{_VARY}, Accept-Encoding"
"""Value of `Vary` in answers with status 304: that of the compressed answer (RFC 9110, 15.4.5)."""

_STATUS = {failures.FINDINGS: 404, failures.BAD_INPUT: 400, failures.CORRUPT: 500}
"""HTTP status of a failure by the exit status that the command line has for it."""

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
    """Answer of an endpoint: body (a mapping is sent as JSON), media type, HTTP status, headers.

    `complete` is false if a time limit has cut the answer short; then it is not cached.
    """

    body: str | bytes | Mapping[str, Any]
    media_type: str = JSON
    status: int = 200
    headers: Mapping[str, str] | None = None
    complete: bool = True

    def response(self, headers: Mapping[str, str] | None = None) -> Response:
        """Return the Starlette response; the answer's own headers override `headers`."""
        is_json = isinstance(self.body, Mapping)
        body = json.dumps(self.body, ensure_ascii=False) if is_json else self.body
        headers = {**(headers or {}), **(self.headers or {})}
        return Response(body, self.status, headers, media_type=self.media_type)


class Stream(StreamingResponse):
    """Response that is sent in parts, and calls `ended` at its end, even if the client leaves.

    arguments, keywords : those of `StreamingResponse`
    """

    def __init__(self, ended: Callable[[], object], *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self._ended = ended

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response (ASGI)."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._ended()


class RequestError(Exception):
    """Refused request: HTTP status, message, and a hint on what the client can do."""

    def __init__(self, status: int, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.hint = hint


INTERNAL = RequestError(500, "something went wrong here", "see the server's log")
"""Error for a request that failed unexpectedly."""


def failure(error: Exception) -> Answer:
    """Return the answer `{"error", "hint"}` to a failed request, with a status of 4xx or 5xx.

    Errors other than `RequestError` have the message and hint of the command line (`failures`),
    unless these would name a path. A material that cannot have a table is answered 404, as if its
    table were missing. Raises an unexpected error again.
    """
    if isinstance(error, NoReplyError):
        error = RequestError(503, error.message, error.hint)
    if isinstance(error, RequestError):
        headers = {"retry-after": str(RETRY_SECONDS)} if error.status == 503 else None
        said = {"error": str(error), "hint": error.hint}
        return Answer(said, status=error.status, headers=headers)
    described = failures.expected(error)
    if isinstance(error, OSError):
        return Answer({"error": "a file cannot be read", "hint": error.strerror or ""}, status=500)
    hint = "build the table again" if described.status == failures.CORRUPT else described.hint
    is_missing = isinstance(error, UnsupportedMaterialError | NothingFoundError)
    status = 404 if is_missing else _STATUS[described.status]
    return Answer({"error": described.message, "hint": hint}, status=status)


class AbandonedError(Exception):
    """Error that ends the work on a request whose answer is no longer needed."""


class Lane(StrEnum):
    """Queue of requests with its own threads; a request waits only for others of its lane.

    `PROMPT` has short requests, `PAGE` position pages, `PUZZLE` puzzles from samples of tables,
    `LONG` long requests, `SEARCH` searches.
    """

    PROMPT = "board"
    PAGE = "board-page"
    PUZZLE = "board-puzzle"
    LONG = "board-long"
    SEARCH = "board-search"


class _Share:
    """Requests of a client for a lane: `places` admits them in turn, `requests` counts all."""

    def __init__(self, most: int) -> None:
        self.places = asyncio.Semaphore(most)
        self.requests = 0


class EndpointRunner:
    """Runner of endpoints in threads, which counts requests.

    An endpoint is a function of a request that returns an `Answer`. It may raise the errors that
    `failure` turns into answers. Long work calls `checkpoint` regularly. `closed` is true once
    `close` was called. `requests` counts answers by name of the endpoint and status, except those
    to unexpected errors.

    fingerprint : returns a text that changes when any answer may have changed
    examine : lets `fingerprint` see files that were written in place; called after a status 500,
        and if `fingerprint` has changed since the request, this is answered again
    """

    def __init__(
        self, fingerprint: Callable[[], str], examine: Callable[[], None] = lambda: None
    ) -> None:
        self._fingerprint = fingerprint
        self._examine = examine
        threads = {Lane.PROMPT: THREADS, Lane.SEARCH: SEARCHERS}
        self._pools = {lane: thread_pool(threads.get(lane, 1), lane) for lane in Lane}
        self._free = {lane: Semaphore(MAX_WAITING) for lane in Lane}
        self._shares: dict[tuple[str, Lane], _Share] = {}
        self._at_work = local()
        self._waiting: set[asyncio.Future[None]] = set()
        self.closed = False
        self.requests: Counter[tuple[str, int]] = Counter()

    def checkpoint(self) -> None:
        """Raise `AbandonedError` if the answer to this thread's request is no longer needed.

        The client has disconnected, the request has timed out, or the server ends.
        """
        abandoned: Event | None = getattr(self._at_work, "abandoned", None)
        if abandoned is not None and abandoned.is_set():
            raise AbandonedError

    def close(self) -> None:
        """Answer running and waiting requests with 503; called by the event loop at shutdown."""
        self.closed = True
        for gone in list(self._waiting):
            gone.cancel()

    def endpoint(
        self,
        name: str,
        function: Callable[[Request], Answer],
        on_error: Callable[[Request, Answer], Answer] = lambda request, answer: answer,
        *,
        cached: bool = True,
        media: str = "",
        lane: Lane | Callable[[Request], Lane] = Lane.PROMPT,
    ) -> Callable[[Request], Any]:
        """Return a Starlette endpoint that runs `function` in the pool of its lane.

        name : name under which requests are counted in `requests`
        on_error : converts the JSON answer of an error, for example into a page
        cached : whether complete answers have an ETag and may be stored by browsers
        media : media type of all complete answers, for the headers of an answer with status 304;
            "" if they have several
        lane : the lane, or a function that returns the lane of a request
        """

        async def respond(request: Request) -> Response:
            before = await asyncio.to_thread(self._fingerprint)
            tag = _etag(before, request) if cached else None
            if tag and is_known(request, tag):
                self.requests[name, 304] += 1
                headers = _stored(tag, media) if media else {"etag": tag}
                headers |= {"vary": _VARY_UNCHANGED}
                return Response(None, 304, headers, media or None)
            queue = lane if isinstance(lane, Lane) else lane(request)

            def work(abandoned: Event) -> Answer:  # the event is set once the answer is not needed
                self._at_work.abandoned = abandoned
                try:
                    return self._answer(function, request, before)
                except AbandonedError:
                    return Answer("", TEXT, 503)  # never sent
                except Exception as error:
                    return on_error(request, failure(error))

            try:
                answer = await self._admit(queue, work, request)
            except RequestError as error:
                answer = on_error(request, failure(error))
            self.requests[name, answer.status] += 1
            headers = {"cache-control": "no-store"}
            if tag and answer.status == 200 and answer.complete:
                headers = _stored(tag, answer.media_type)
            return answer.response(headers)

        return respond

    def _answer(
        self, function: Callable[[Request], Answer], request: Request, before: str
    ) -> Answer:
        """Return or raise like `function`; after a status 500, call it again if files have changed.

        before : the fingerprint when the request came
        """
        try:
            return function(request)
        except Exception as error:
            if failure(error).status != 500:
                raise
            self._examine()
            if self._fingerprint() == before:
                raise
        return function(request)

    async def _admit(self, lane: Lane, work: Callable[[Event], Answer], request: Request) -> Answer:
        """Return or raise like `_take_turn`; `RequestError` once the client or server is gone."""
        client = request.client.host if request.client is not None else ""
        answer = asyncio.ensure_future(self._take_turn(client, lane, work))
        gone = asyncio.ensure_future(_client_gone(request))
        self._waiting.add(gone)
        try:
            either: set[asyncio.Future[Any]] = {answer, gone}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if answer.done():
                return answer.result()
        finally:
            answer.cancel()
            gone.cancel()
            self._waiting.discard(gone)
        raise RequestError(503, "the server ends")  # not sent to a client that has disconnected

    async def _take_turn(self, client: str, lane: Lane, work: Callable[[Event], Answer]) -> Answer:
        """Call `_run` once fewer than `MAX_OF_CLIENT` requests of the client are in the lane.

        A search waits until no other search of the client runs. Raises `RequestError` after
        `QUEUE_SECONDS`, or if `MAX_QUEUED` requests of the client already wait; and like `_run`.
        """
        is_search = lane is Lane.SEARCH
        most = 1 if is_search else MAX_OF_CLIENT
        share = self._shares.setdefault((client, lane), _Share(most))
        problem = "too many requests at once from your network"
        if is_search:
            problem = "too many searches at once from your network"
        refused = RequestError(503, problem, "try again in a moment")
        if share.requests >= most + MAX_QUEUED:
            raise refused
        share.requests += 1
        try:
            async with asyncio.timeout(QUEUE_SECONDS) as waiting, share.places:
                waiting.reschedule(None)
                return await self._run(lane, work)
        except TimeoutError:
            raise refused from None
        finally:
            share.requests -= 1
            if not share.requests:
                del self._shares[client, lane]

    async def _run(self, lane: Lane, work: Callable[[Event], Answer]) -> Answer:
        """Run `work` in a thread of the lane, and return the answer that it computes.

        Raises `RequestError` if too many requests of the lane run or wait, and after the timeout;
        also unexpected errors of `work`.
        """
        free, abandoned = self._free[lane], Event()
        if not free.acquire(blocking=False):
            raise RequestError(503, "the server is busy", "try again in a moment")
        submitted = self._pools[lane].submit(work, abandoned)
        submitted.add_done_callback(lambda _: free.release())
        answer = asyncio.wrap_future(submitted)
        try:
            seconds = SEARCH_SECONDS if lane is Lane.SEARCH else ANSWER_SECONDS
            await asyncio.wait([answer], timeout=seconds)
            if answer.done():
                return answer.result()
        finally:
            abandoned.set()
            submitted.cancel()
        hint = "ask for less, or try again in a moment"
        raise RequestError(503, "the answer takes too long", hint)


def _etag(fingerprint: str, request: Request) -> str:
    """Return the ETag of the answer; weak, as the compressed and the plain answer share it."""
    language = request.headers.get("accept-language", "")
    key = f"{fingerprint} {request.url} {language}"
    return f'W/"{hashlib.sha256(key.encode()).hexdigest()[:24]}"'


def is_known(request: Request, tag: str) -> bool:
    """Return whether the client has the contents with an ETag, by its `If-None-Match`.

    `*` is ignored: it is not known here whether the answer would be an error.
    """
    return tag.removeprefix("W/") in request.headers.get("if-none-match", "")


def _stored(tag: str, media: str) -> dict[str, str]:
    """Return the headers of a complete answer with an ETag, which browsers may store."""
    kept = "no-cache" if media == HTML else f"public, max-age={MAX_AGE}"
    return {"etag": tag, "cache-control": kept, "vary": _VARY}


async def body_of(request: Request) -> bytes:
    """Return the body of a form; raises `RequestError` if it does not arrive in `BODY_SECONDS`."""
    try:
        return await asyncio.wait_for(request.body(), BODY_SECONDS)
    except (TimeoutError, ClientDisconnect):
        hint = "try again in a moment"
        raise RequestError(408, "the request does not arrive", hint) from None


async def _client_gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
