"""Headers of every answer of the server, refusals and errors included."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the extra `web` is not installed")
pytest.importorskip("httpx", reason="starlette's test client needs it")

from starlette.testclient import TestClient

from tbgen import open_tablebase
from tbgen.board.web import routes
from tbgen.board.web.middleware import MAX_QUERY, SECURITY_HEADERS
from tbgen.board.web.routes import create_app

FEN = "3k5/9/9/9/9/9/9/9/9/R3K4 w"


@pytest.mark.parametrize(
    ("path", "method", "host", "status"),
    [
        (f"/?fen={FEN}", "GET", "localhost", 200), ("/static/board.js", "GET", "localhost", 200),
        ("/v1/tables", "HEAD", "localhost", 200), ("/endgames/nonsense", "GET", "localhost", 400),
        ("/nowhere", "GET", "localhost", 404), ("/", "POST", "localhost", 405),
        ("/" + "x" * MAX_QUERY, "GET", "localhost", 414), ("/", "GET", "evil.example", 421),
        ("/", "OPTIONS", "localhost", 204), ("/endgame.cgi?x", "GET", "localhost", 301),
    ],
)  # fmt: skip
def test_every_answer_has_the_headers(
    tmp_path: Path, path: str, method: str, host: str, status: int
) -> None:
    with open_tablebase(tmp_path) as tables:
        client = TestClient(create_app(tables, loopback_only=True), follow_redirects=False)
        answer = client.request(method, path, headers={"host": host})
    assert answer.status_code == status
    assert SECURITY_HEADERS.items() <= {**answer.headers}.items()


def test_an_internal_error_has_the_headers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*arguments: object) -> None:
        raise IndexError("a bug")

    monkeypatch.setattr(routes, "list_page", fails)
    with open_tablebase(tmp_path) as tables:
        client = TestClient(create_app(tables), raise_server_exceptions=False)
        answer = client.get("/endgames")
    assert (answer.status_code, answer.json()["hint"]) == (500, "see the server's log")
    assert SECURITY_HEADERS.items() <= {**answer.headers}.items()


def test_the_policy_allows_no_external_content() -> None:
    policy = SECURITY_HEADERS["content-security-policy"]
    rules = {words[0]: words[1:] for words in map(str.split, policy.split(";"))}
    assert rules["default-src"] == ["'self'"]
    assert rules["frame-ancestors"] == ["'none'"]
    assert "script-src" not in rules or "'unsafe-inline'" not in rules["script-src"]
    assert SECURITY_HEADERS["x-content-type-options"] == "nosniff"
