"""/openapi.json describes the board's answers: every path, every example, every field."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.helpers.built import built
from tests.helpers.paths import DOCS, ROOT
from tests.helpers.sessions import blocks

pytest.importorskip("starlette", reason="the extra `web` is not installed")
pytest.importorskip("httpx", reason="starlette's test client needs it")
pytest.importorskip("jsonschema")

import jsonschema
from starlette.routing import Route
from starlette.testclient import TestClient

from tbgen import open_tablebase
from tbgen.board.web import http
from tbgen.board.web.http import JSON
from tbgen.board.web.openapi import ENDPOINTS, description
from tbgen.board.web.routes import create_app
from tbgen.board.web.schemas import SCHEMAS
from tests.docs.test_schemas import closed

sys.path.insert(0, str(ROOT / "scripts" / "docs"))

import openapi

DOCUMENT = description()
CHECKS = "9/9/4k4/9/9/9/9/3n5/9/R2K5_b"
LOOP = "f0e0,e8f8,e0f0,f8e8,f0e0,e8f8,e0f0,f8e8"
MATED = "3k5/9/9/9/9/9/9/9/9/3RK4_b"


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    """Client of a server with long timeouts, since a busy machine may still compile kernels."""
    with (
        open_tablebase(built("KRKN", rules="wxf")) as tables,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(http, "ANSWER_SECONDS", 600)
        patch.setattr(http, "SEARCH_SECONDS", 600)
        yield TestClient(create_app(tables))


def check(name: str, found: Any) -> None:
    jsonschema.Draft202012Validator(closed(SCHEMAS[name])).validate(found)


def test_the_file_is_current() -> None:
    """docs/openapi.json is what `python scripts/docs/openapi.py` writes."""
    assert openapi.FILE.read_text("utf-8") == openapi.document()


def test_every_address_is_described(client: TestClient) -> None:
    assert client.get("/openapi.json").json() == json.loads(json.dumps(DOCUMENT))
    routes = {route.path for route in client.app.routes if isinstance(route, Route)}  # type: ignore[attr-defined]
    page = client.get("/api", headers={"accept": "text/html"}).text
    assert all(f"<code>{path}</code>" in page for path in DOCUMENT["paths"])
    programs = {path for path in routes if path.startswith("/v1/")}
    assert programs | {"/export.pgn", "/healthz", "/metrics"} == set(DOCUMENT["paths"])
    assert all(bool(each.schema) == (each.media == JSON) for each in ENDPOINTS)
    assert {"error", "missing", *(each.schema for each in ENDPOINTS)} == {"", *SCHEMAS}


def examples() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield (path, names of the parameters to send) for every path of the board.

    Sent are the required parameters alone, then together with each optional one in turn. The
    parameter `differs` is left out, since it needs tables under two rule sets.
    """
    for path, methods in DOCUMENT["paths"].items():
        parameters = methods["get"]["parameters"]
        needed = tuple(p["name"] for p in parameters if p["required"])
        yield path, needed
        for parameter in parameters:
            if not parameter["required"] and parameter["name"] != "differs":
                yield path, (*needed, parameter["name"])


@pytest.mark.parametrize(("path", "names"), list(examples()))
def test_examples(client: TestClient, path: str, names: tuple[str, ...]) -> None:
    operation = DOCUMENT["paths"][path]["get"]
    given = {p["name"]: p["example"] for p in operation["parameters"] if p["name"] in names}
    answer = client.get(path.format(**given), params={n: v for n, v in given.items()
                                                      if "{" + n + "}" not in path})  # fmt: skip
    assert answer.status_code == 200, answer.text
    kind = answer.headers["content-type"].split(";")[0]
    content = operation["responses"]["200"]["content"][kind]
    if content:
        check(content["schema"]["$ref"].rpartition("/")[2], answer.json())
    assert answer.text


def limited() -> Iterator[tuple[str, str]]:
    """Yield (path, parameter) for each parameter that has a maximum."""
    for path, methods in DOCUMENT["paths"].items():
        for parameter in methods["get"]["parameters"]:
            if "maximum" in parameter["schema"]:
                yield path, parameter["name"]


@pytest.mark.parametrize(("path", "name"), list(limited()))
def test_values_above_a_limit_are_refused(client: TestClient, path: str, name: str) -> None:
    """A parameter above its limit is refused; the error names the limit of openapi.json."""
    parameters = DOCUMENT["paths"][path]["get"]["parameters"]
    given = {p["name"]: p["example"] for p in parameters if p["required"] and p["in"] == "query"}
    limit = next(p["schema"]["maximum"] for p in parameters if p["name"] == name)
    answer = client.get(path.format(material="KRKN"), params=given | {name: str(limit + 1)})
    assert answer.status_code == 400
    assert str(limit) in answer.text


def contains(found: Any, shown: Any) -> bool:
    """Return whether an answer has all fields and values that a page shows.

    A list on the page may be shorter than in the answer: only its entries are compared.
    """
    if isinstance(shown, dict):
        return all(key in found and contains(found[key], shown[key]) for key in shown)
    if isinstance(shown, list):
        return len(found) >= len(shown) and all(map(contains, found, shown))
    return bool(found == shown)


def test_answers_agree_with_the_page(client: TestClient) -> None:
    """The board's answers contain what the `http` blocks of docs/http.md show.

    A block is a request, an empty line, and a part of the answer.
    """
    examples = blocks((DOCS / "http.md").read_text("utf-8"), "http")
    assert len(examples) > 1
    for example in examples:
        request, _, shown = example.partition("\n\n")
        answer = client.get(request.removeprefix("GET "))
        assert answer.status_code == 200, answer.text
        assert contains(answer.json(), json.loads(shown)), answer.text
        assert not contains(answer.json(), {"verdict": "nobody wins"})


def test_more_answers(client: TestClient) -> None:
    for query in ({"fen": MATED}, {"fen": CHECKS, "moves": "d2b1,d0d1,b1c3,d1d0,c3b1"}):
        check("probe", client.get("/v1/probe", params=query).json())
    start = "9/4k4/9/9/9/9/9/9/2p6/3K1RBc1_w"
    judged = client.get("/v1/judge", params={"fen": start, "moves": LOOP}).json()
    check("judgement", judged)
    assert judged["verdict"] == "black wins"


def test_failures(client: TestClient) -> None:
    for path in ("/v1/probe?fen=x", "/v1/judge?fen=x", "/v1/tables/KXK", "/v1/tables/KRKR"):
        answer = client.get(path)
        assert answer.status_code in (400, 404)
        check("error", answer.json())
    missing = client.get("/v1/probe", params={"fen": "3k5/9/9/9/9/9/9/9/r8/R3K4_w"})
    assert missing.status_code == 404
    check("missing", missing.json())
