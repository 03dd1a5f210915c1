"""Random requests to every address of the board, and raw bytes to the running server."""

from __future__ import annotations

import contextlib
import random
import socket
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("starlette", reason="the extra `web` is not installed")
pytest.importorskip("httpx", reason="starlette's test client needs it")

from starlette.testclient import TestClient

from tbgen import open_tablebase
from tbgen.board.web.routes import create_app
from tbgen.board.web.server import HEADER_SECONDS
from tbgen.cli.workshop import Workshop
from tests.helpers.board_server import demo, resident_bytes

PATHS = (
    "/", "/endgames", "/endgames/KRKN", "/endgame.cgi", "/play.cgi",
    "/export.pgn", "/v1/probe", "/v1/mainline", "/v1/judge", "/v1/render.svg", "/v1/tables",
    "/v1/tables/KRKN", "/v1/tables/KRKN/histogram", "/v1/tables/KRKN/graph", "/v1/graph/KRKN.dot",
    "/find", "/puzzle/KRKN", "/static/board.js", "/healthz", "/metrics", "/reply", "/search/KRKN",
    "/embed", "/build", "/build/events", "/api", "/openapi.json", "/v1/render.png",
    "/v1/animation.svg", "/files/index.json", "/files/KRKN.wxf.dtm.xqt",
)  # fmt: skip

NAMES = ("fen", "pos", "moves", "flip", "lang", "notation", "pieces", "theme", "side", "from",
         "plies", "where", "mode", "at", "piece", "board", "q", "was", "won", "order", "turn",
         "outcome", "decided", "least", "most", "only", "zugzwang", "differs", "seed", "width",
         "explain", "task", "loop", "set", "material")  # fmt: skip

TEXTS = st.one_of(
    st.text(max_size=60),
    st.text("kabrncpKABRNCP123456789/ _wb:0", max_size=90),
    st.sampled_from(
        [
            "9/9/4k4/9/9/9/9/9/1n7/R2K5 w",
            "9/9/4k4/9/9/9/9/9/1n7/R2K5_b",
            "994K4999991N7r2k50:",
            "11017,30,570,0,0,0",
            "KRKN",
            "d0d1,b1c3",
            "e0",
            "zh",
            "1",
            "edit",
            "line",
            "play",
            "x",
            "R",
        ]
    ),
)


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    directory = demo().tables
    with open_tablebase(directory) as tables:
        workshop = Workshop(directory, lambda: tables.rule_set, None)
        app = create_app(tables, directory, workshop=workshop, files=True)
        yield TestClient(app, follow_redirects=False)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    path=st.sampled_from(PATHS),
    query=st.dictionaries(st.sampled_from(NAMES), TEXTS, max_size=4),
    language=st.sampled_from(["", "zh-TW", "de,en;q=0.5", "\u00e9"]),
)
def test_random_queries(
    client: TestClient, path: str, query: dict[str, str], language: str
) -> None:
    answer = client.get(path, params=query, headers={"accept-language": language.encode()})
    assert answer.status_code in (200, 301, 303, 400, 404), answer.text
    if answer.status_code >= 400 and path.startswith("/v1/"):
        assert {"error", "hint"} <= answer.json().keys()


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    base=st.sampled_from(
        [
            "/",
            "/endgames/",
            "/v1/tables/",
            "/v1/graph/",
            "/static/",
            "/files/",
            "/search/",
            "/puzzle/",
        ]
    ),
    rest=st.text(max_size=40),
)
def test_random_paths(client: TestClient, base: str, rest: str) -> None:
    from urllib.parse import quote

    answer = client.get(base + quote(rest, safe=""))
    assert answer.status_code in (200, 303, 307, 400, 404), answer.text


# -- the running server ----------------------------------------------------------------------


def send(data: bytes, wait: float = 3.0) -> bytes:
    """Send bytes to the demo's server on a new connection, and return all that it answers.

    Stops without an error when the server is silent for `wait` seconds or resets the connection.
    """
    with socket.create_connection(("127.0.0.1", urlsplit(demo().url).port or 0), 5) as connection:
        connection.settimeout(wait)
        found = b""
        try:
            connection.sendall(data)
            while part := connection.recv(65536):
                found += part
        except (TimeoutError, ConnectionError):
            pass
        return found


def get(target: bytes, headers: bytes = b"") -> bytes:
    return send(
        b"GET "
        + target
        + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        + headers
        + b"\r\n"
    )


def is_well() -> bool:
    return b'"status": "ok"' in get(b"/healthz")


def test_the_server_listens_only_on_loopback() -> None:
    assert urlsplit(demo().url).hostname == "127.0.0.1"


@pytest.mark.parametrize(
    "target",
    [b"/static/../server.py", b"/static/../../../../etc/passwd", b"/../../etc/passwd",
     b"//etc/passwd", b"/static/%2e%2e%2fserver.py", b"/v1/tables/..%2f..%2fx", b"*", b"x"],
)  # fmt: skip
def test_paths_outside_the_site(target: bytes) -> None:
    answer = get(target)
    assert answer.split()[1] in (b"400", b"404"), answer[:200]
    assert b"root:" not in answer
    assert b"import" not in answer


def test_oversized_requests() -> None:
    assert b" 414 " in get(b"/v1/probe?fen=" + b"9" * 20_000).split(b"\r\n")[0]
    assert b" 200 " not in get(b"/", b"x: " + b"y" * 200_000 + b"\r\n")[:20]
    body = b"POST /v1/probe HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999999\r\n\r\n"
    assert b" 405 " in send(body + b"z" * 100_000)[:20]
    chunked = b"GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nffffff\r\n"
    assert b" 413 " in send(chunked + b"z" * 100_000)[:20]
    assert is_well()


def test_garbage() -> None:
    rng = random.Random(3)
    before = resident_bytes(demo().pid)
    for _ in range(150):
        send(rng.randbytes(rng.randrange(1, 3000)) + b"\r\n\r\n", 0.2)
    assert is_well()
    assert resident_bytes(demo().pid) - before < 30 << 20


def test_slow_requests_are_dropped() -> None:
    address = ("127.0.0.1", urlsplit(demo().url).port or 0)
    slow = [socket.create_connection(address, 5) for _ in range(50)]
    begun = time.monotonic()
    for connection in slow[1:]:
        connection.sendall(b"GET / HTTP/1.1\r\nX: ")
    while time.monotonic() - begun < HEADER_SECONDS + 1:
        assert is_well()
        for connection in slow[25:]:
            try:
                connection.sendall(b"y")  # a byte now and then does not help
            except OSError:
                continue
        time.sleep(0.5)
    for connection in slow:
        connection.settimeout(2)
        with contextlib.suppress(ConnectionError):
            assert connection.recv(100) == b""
        connection.close()
