"""Request limits without a network: waiting, cancelled and long requests."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any
from urllib.parse import urlencode

import pytest

pytest.importorskip("starlette", reason="the extra `web` is not installed")

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route

from tbgen import open_tablebase
from tbgen.board.knowledge.store import TableStore
from tbgen.board.web import http, routes
from tbgen.board.web.http import Answer, EndpointRunner, Lane
from tbgen.board.web.middleware import is_loopback
from tbgen.board.web.routes import create_app
from tbgen.board.web.view import MAX_MOVES
from tbgen.indexing import Move, Position
from tbgen.referee import record
from tbgen.rules import legal_moves
from tests.helpers.strategies import played

ARRAY = "r1bakab1r/9/1cn1c1n2/p1p1p1p1p/9/9/P1P1P1P1P/1CN1C1N2/9/R1BAKAB1R w"


async def ask(
    app: Any,
    path: str,
    gone: asyncio.Event | None = None,
    host: bytes = b"localhost",
    client: str = "127.0.0.1",
) -> int:
    """Send a GET request to an ASGI application, and return the status of its answer.

    gone : event at which the client disconnects; None for a client that stays
    host, client : Host header, and IP address of the client
    """
    messages = [{"type": "http.request", "body": b"", "more_body": False}]
    statuses = []

    async def receive() -> Any:
        if messages:
            return messages.pop()
        await (gone or asyncio.Event()).wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        statuses.append(message.get("status"))

    scope = {
        "type": "http", "method": "GET", "path": path, "raw_path": path.encode(),
        "query_string": b"", "headers": [(b"host", host)], "root_path": "", "scheme": "http",
        "server": ("127.0.0.1", 80), "client": (client, 1), "http_version": "1.1",
    }  # fmt: skip
    await app(scope, receive, send)
    return int(statuses[0])


async def until(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds; raises `TimeoutError` after 20 seconds."""
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.001)


class Work:
    """Web application with endless requests, /long and /search, and short ones, /page and /short.

    An endless request ends if its client has gone, its time is up, or the server ends. A request
    for /slow takes 10 ms. Each of the five addresses has its own lane, a queue of requests with its
    own threads. `begun` counts the endless requests begun; `ended` is set when one of them has
    ended.
    """

    def __init__(self) -> None:
        self.begun = 0
        self.ended = Event()
        self.runner = EndpointRunner(lambda: "")

        def long(request: Request) -> Answer:
            self.begun += 1
            try:
                while True:
                    self.runner.checkpoint()
                    time.sleep(0.001)
            finally:
                self.ended.set()

        def short(request: Request) -> Answer:
            self.runner.checkpoint()
            return Answer({})

        def slow(request: Request) -> Answer:
            time.sleep(0.01)
            return short(request)

        self.app = Starlette(routes=[
            Route("/long", self.runner.endpoint("long", long, lane=lambda request: Lane.LONG)),
            Route("/search", self.runner.endpoint("search", long, lane=lambda _: Lane.SEARCH)),
            Route("/page", self.runner.endpoint("page", short, lane=lambda request: Lane.PAGE)),
            Route("/slow", self.runner.endpoint("slow", slow, lane=Lane.PUZZLE)),
            Route("/short", self.runner.endpoint("short", short)),
        ])  # fmt: skip

    @property
    def admitted(self) -> int:
        """Number of requests that run or wait."""
        return len(self.runner._waiting)


def test_work_ends_when_the_client_leaves() -> None:
    work = Work()

    async def leave() -> None:
        gone = asyncio.Event()
        task = asyncio.ensure_future(ask(work.app, "/long", gone))
        await until(lambda: work.begun == 1)
        gone.set()
        await task

    begun = time.monotonic()
    asyncio.run(leave())
    assert work.ended.wait(5)
    assert time.monotonic() - begun < http.ANSWER_SECONDS / 2


def test_work_ends_when_it_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "ANSWER_SECONDS", 0.05)
    work = Work()
    assert asyncio.run(ask(work.app, "/long")) == 503
    assert work.ended.wait(5)


def test_work_ends_when_the_server_does() -> None:
    work = Work()

    async def ending() -> int:
        task = asyncio.ensure_future(ask(work.app, "/long"))
        await until(lambda: work.begun == 1)
        work.runner.close()
        return await task

    assert asyncio.run(ending()) == 503
    assert work.ended.wait(5)


def test_long_work_is_bounded_and_does_not_delay_short_work() -> None:
    work, crowded = Work(), http.MAX_WAITING + 30

    async def crowd() -> list[int]:
        gone = asyncio.Event()
        many = [
            asyncio.ensure_future(ask(work.app, "/long", gone, client=f"10.0.0.{number}"))
            for number in range(crowded)
        ]
        await until(lambda: sum(task.done() for task in many) >= 30)
        assert [await ask(work.app, "/short") for _ in range(5)] == [200] * 5
        assert not work.ended.is_set()
        refused = [task.result() for task in many if task.done()]
        gone.set()
        await asyncio.gather(*many)
        return refused

    assert asyncio.run(crowd()) == [503] * 30
    assert work.begun < http.MAX_WAITING  # abandoned requests were not started
    assert asyncio.run(ask(work.app, "/short")) == 200


def test_pages_do_not_wait_for_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "QUEUE_SECONDS", 0.2)
    work = Work()

    async def crowd() -> list[int]:
        gone = asyncio.Event()
        others = [
            asyncio.ensure_future(ask(work.app, path, gone, client=f"10.0.0.{number}"))
            for number in range(8)
            for path in ("/search", "/long")
        ]
        await until(lambda: work.admitted == len(others))
        found = [await ask(work.app, "/page") for _ in range(3)]
        found.append(await ask(work.app, "/search", client="10.0.0.1"))
        assert not any(task.done() for task in others)
        gone.set()
        await asyncio.gather(*others)
        again = asyncio.Event()
        last = asyncio.ensure_future(ask(work.app, "/search", again, client="10.0.0.1"))
        await until(lambda: work.admitted == 1 or last.done())
        assert not last.done()  # running, not refused
        again.set()
        await last
        return found

    assert asyncio.run(crowd()) == [200, 200, 200, 503]


@pytest.mark.parametrize("path", ["/slow", "/page", "/short"])
def test_a_class_behind_one_address_is_answered(path: str) -> None:
    work = Work()

    async def crowd() -> list[int]:
        return await asyncio.gather(*(ask(work.app, path) for _ in range(240)))

    assert asyncio.run(crowd()) == [200] * 240
    assert not work.runner._shares


def test_a_search_waits_for_another_of_its_client() -> None:
    work = Work()

    async def both() -> None:
        leave = [asyncio.Event(), asyncio.Event(), asyncio.Event()]
        tasks = [asyncio.ensure_future(ask(work.app, "/search", gone)) for gone in leave]
        await until(lambda: work.begun == 1 and work.admitted == 3)
        leave[1].set()  # a client that has left does not get its turn
        await tasks[1]
        await asyncio.sleep(0.05)
        assert work.begun == 1
        leave[0].set()
        await until(lambda: work.begun == 2)
        leave[2].set()
        await asyncio.gather(*tasks)

    asyncio.run(both())
    assert work.begun == 2


def test_requests_of_a_client_are_bounded_in_each_lane(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MAX_OF_CLIENT", 2)
    monkeypatch.setattr(http, "MAX_QUEUED", 3)
    work = Work()

    async def flood() -> list[int]:
        gone = asyncio.Event()
        flooding = [asyncio.ensure_future(ask(work.app, "/long", gone)) for _ in range(9)]
        await until(lambda: sum(task.done() for task in flooding) == 4)
        refused = [task.result() for task in flooding if task.done()]
        found = [await ask(work.app, path) for path in ("/short", "/page")]
        gone.set()
        await asyncio.gather(*flooding)
        return [*refused, *found]

    assert asyncio.run(flood()) == [503] * 4 + [200, 200]


def test_a_busy_server_sends_retry_after() -> None:
    busy = http.failure(http.RequestError(503, "the server is busy"))
    assert busy.headers == {"retry-after": str(http.RETRY_SECONDS)}
    assert http.failure(http.RequestError(404, "nothing")).headers is None


# -- who is answered -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True), ("127.0.0.1:8064", True), ("localhost", True), ("LocalHost:1", True),
        ("[::1]", True), ("[::1]:8064", True), ("::1", True), ("board.localhost", True),
        ("localhost.", True), ("127.1.2.3:", True), ("::ffff:127.0.0.1", True),
        ("::ffff:192.168.1.2", False),
        ("", False), ("evil.example", False), ("evil.example:8064", False),
        ("localhost.evil", False),
        ("127.0.0.1.evil.example", False), ("0.0.0.0", False), ("192.168.1.2", False),
        ("127.0.0.1:80:80", False), ("localhost@evil", False),
    ],
)  # fmt: skip
def test_names_of_this_machine(host: str, expected: bool) -> None:
    assert is_loopback(host) == expected


def test_other_names_are_refused_on_loopback_only(tmp_path: Path) -> None:
    with open_tablebase(tmp_path) as tables:
        closed = create_app(tables, loopback_only=True)
        for path in ("/", "/static/board.js", "/v1/tables", "/healthz"):
            assert asyncio.run(ask(closed, path, host=b"evil.example")) == 421
            assert asyncio.run(ask(closed, path, host=b"127.0.0.1:8064")) == 200
        assert asyncio.run(ask(create_app(tables), "/", host=b"board.example")) == 200


# -- what a request costs --------------------------------------------------------------------


def taken_back(start: Position, plies: int) -> list[Move]:
    """Return the moves of a game in which both sides make a move and take it back, repeatedly.

    plies : number of moves to return
    """
    moves: list[Move] = []
    for first in legal_moves(start):
        after = start.after(*first)
        for reply in legal_moves(after):
            back = [Move(first.target, first.source), Move(reply.target, reply.source)]
            now, four = start, [first, reply, *back]
            for move in four:
                if move not in legal_moves(now):
                    break
                now = now.after(*move)
            if now == start:
                moves += four
                break
    return (moves * plies)[:plies]


def test_a_game_is_judged_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0
    chase_pairs: Callable[..., int] = record.chase_pairs

    def counted(*arguments: Any) -> int:
        nonlocal calls
        calls += 1
        return chase_pairs(*arguments)

    monkeypatch.setattr(record, "chase_pairs", counted)
    moves = taken_back(Position.from_fen(ARRAY), MAX_MOVES)
    positions = played(ARRAY, moves)
    with open_tablebase(tmp_path) as tables:
        facts = TableStore(tables).probe_game(positions, moves)
    assert facts.judgement is not None
    assert sum(move.after in positions for move in facts.moves) > 20
    assert calls < 3 * MAX_MOVES


async def head_of(app: Any, path: str, host: bytes = b"localhost", **asked: Any) -> dict[str, Any]:
    """Return the headers of the answer to a GET request by name, and its status as `status`.

    asked : entries that replace those of the request's ASGI scope
    """
    found: dict[str, Any] = {}

    async def receive() -> Any:
        await asyncio.Event().wait()

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            found.update({name.decode(): value.decode() for name, value in message["headers"]})
            found["status"] = message["status"]

    scope = {
        "type": "http", "method": "GET", "path": path, "raw_path": path.encode(),
        "query_string": b"", "headers": [(b"host", host)], "root_path": "", "scheme": "http",
        "server": ("127.0.0.1", 80), "client": ("127.0.0.1", 1), "http_version": "1.1",
    }  # fmt: skip
    await app({**scope, **asked}, receive, send)
    return found


@pytest.mark.parametrize("media", ["", http.HTML])
def test_an_answer_depends_on_the_language(media: str) -> None:
    """Answers have an ETag for each language; answers with status 304 also have `Vary`."""
    runner = EndpointRunner(lambda: "")
    hello = runner.endpoint("hello", lambda request: Answer("hello", http.HTML), media=media)
    app = Starlette(routes=[Route("/", hello)])

    def head(language: bytes, tag: str = "") -> dict[str, Any]:
        headers = [(b"accept-language", language), (b"if-none-match", tag.encode())]
        return asyncio.run(head_of(app, "/", headers=headers))

    english = head(b"en")
    again, chinese = head(b"en", english["etag"]), head(b"zh", english["etag"])
    assert [answer["status"] for answer in (english, again, chinese)] == [200, 304, 200]
    assert english["vary"] == chinese["vary"] == "accept-language"
    assert again["vary"] == "accept-language, Accept-Encoding"
    assert english["etag"] == again["etag"] != chinese["etag"]


def test_a_whole_address_as_target(tables_dir: Path) -> None:
    """If the target of a request is a whole address, its host counts, not that of the header."""
    with open_tablebase(tables_dir, rules="check") as tables:
        app = create_app(tables, tables_dir, loopback_only=True)
        for path, host, status in (
            ("http://localhost:8064/robots.txt", b"elsewhere.org", 200),
            ("HTTP://127.0.0.1/robots.txt", b"127.0.0.1", 200),
            ("http://elsewhere.org/robots.txt", b"localhost", 421),
            ("http://localhost/nothing", b"localhost", 404),
        ):
            assert asyncio.run(head_of(app, path, host))["status"] == status


def test_scripts_of_other_origins(tables_dir: Path) -> None:
    with open_tablebase(tables_dir, rules="check") as tables:
        app = create_app(tables, tables_dir)
        asked = asyncio.run(head_of(app, "/v1/tables", method="OPTIONS"))
        assert (asked["status"], asked["access-control-allow-headers"]) == (204, "*")
        answer = asyncio.run(head_of(app, "/v1/tables"))
        assert "Retry-After" in answer["access-control-expose-headers"]
        assert answer["etag"].startswith('W/"')


def test_an_interrupted_form_is_no_error_of_the_server(tables_dir: Path) -> None:
    """If a client leaves before its form is complete, the status is 408, and no error is raised."""
    statuses = []

    async def receive() -> Any:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        statuses.append(message.get("status"))

    scope = {
        "type": "http", "method": "POST", "path": "/find", "raw_path": b"/find",
        "query_string": b"", "headers": [(b"content-length", b"9")], "root_path": "",
        "scheme": "http", "server": ("127.0.0.1", 80), "client": ("127.0.0.1", 1),
    }  # fmt: skip
    with open_tablebase(tables_dir) as tables:
        asyncio.run(create_app(tables)(scope, receive, send))
    assert statuses[0] == 408


def test_only_long_games_are_long_requests() -> None:
    def lane(**query: str) -> Lane:
        scope = {"type": "http", "query_string": urlencode(query).encode(), "headers": []}
        return routes._lane_of_game(Request(scope))

    moves = ",".join(["d0d1", "b1c3"] * 50)
    assert lane(fen="F") == lane(fen="F", moves=moves[:-1]) == Lane.PROMPT
    assert lane(fen="F", moves=moves + ",d0d1") == lane(fen="F", explain="1") == Lane.LONG
