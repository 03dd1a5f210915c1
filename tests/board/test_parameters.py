"""Unknown parameters and values are refused, and the nearest known parameter is named."""

from __future__ import annotations

import html
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest

pytest.importorskip("starlette", reason="the extra `web` is not installed")
pytest.importorskip("httpx", reason="starlette's test client needs it")

from starlette.routing import Route
from starlette.testclient import TestClient

from tbgen import open_tablebase
from tbgen.board.web.routes import create_app
from tbgen.board.web.view import MODES, VIEW, View
from tbgen.indexing import Position, Side
from tests.helpers.board_server import demo

LOOP = "9/9/4k4/9/9/9/9/9/1n7/R2K5 w"


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with open_tablebase(demo().tables) as tables:
        yield TestClient(create_app(tables))


def test_an_unknown_parameter_is_refused(client: TestClient) -> None:
    """Every route answers 400 to an unknown parameter, and says so.

    Redirects of old links, static files and robots.txt are not tested.
    """
    others = {"/endgame.cgi", "/play.cgi", "/static/{name}", "/robots.txt"}
    routes = client.app.routes  # type: ignore[attr-defined]
    for path in {route.path for route in routes if isinstance(route, Route)} - others:
        address = path.format(material="KRKN", attacker="KR")
        answer = client.get(address, params={"zugswang": "1"})
        assert answer.status_code == 400, path
        assert "has no parameter" in html.unescape(answer.text)


def test_a_repeated_parameter_is_refused(client: TestClient) -> None:
    fen = "3k5/9/9/9/9/9/9/9/9/R3K4 w"
    answer = client.get("/v1/probe", params=[("fen", fen), ("fen", fen)])
    assert answer.status_code == 400
    assert answer.json()["error"] == "fen is given 2 times"


@pytest.mark.parametrize(
    ("path", "asked", "least"),
    [
        ("/v1/mainline", "plies", 1),
        ("/v1/render.png", "width", 64),
        ("/v1/animation.gif", "width", 64),
        ("/v1/tables/KRKN/search", "limit", 1),
    ],
)
def test_the_limits_of_numbers_are_those_of_their_schema(
    client: TestClient, path: str, asked: str, least: int
) -> None:
    parameters = client.get("/openapi.json").json()["paths"]
    address = next(key for key in parameters if key.format(material="KRKN") == path)
    described = parameters[address]["get"]["parameters"]
    schema = next(entry["schema"] for entry in described if entry["name"] == asked)
    assert schema["minimum"] == least
    query = {} if "search" in path else {"fen": LOOP}
    for number in (least - 1, schema["maximum"] + 1, -1):
        answer = client.get(path, params={**query, asked: str(number)})
        assert answer.status_code == 400
        name, hint = answer.json()["hint"].split("=")
        assert name == asked
        assert least <= int(hint) <= schema["maximum"]


def test_every_answer_is_described(client: TestClient) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    for path in paths.values():
        errors = {"400", "404", "405", "413", "414", "421", "500", "503"}
        assert set(path["get"]["responses"]) == {"200", *errors}
    search = paths["/v1/tables/{material}/search"]["get"]["responses"]["200"]["content"]
    assert set(search) == {"application/json", "text/csv", "text/plain"}


@pytest.mark.parametrize(
    ("path", "asked", "hint"),
    [
        ("/v1/tables/KRKN/search", "zugswang", "write zugzwang"),
        ("/v1/probe", "fenn", "write fen"),
        ("/v1/mainline", "ply", "write play"),
        ("/healthz", "x", "it has none"),
        ("/v1/tables/KRKN/search", "x", "it has turn, outcome, decided, order, least, most, only"),
    ],
)
def test_the_nearest_parameter_is_named(
    client: TestClient, path: str, asked: str, hint: str
) -> None:
    assert client.get(path, params={asked: "1"}).json()["hint"].startswith(hint)


def test_a_view_and_its_links_are_known(client: TestClient) -> None:
    """The links of a page have no parameters besides those that `VIEW` lists.

    The board also accepts the parameter `play`.
    """
    view = View(
        Position.from_fen(LOOP), flip=True, notation="wxf", pieces="latin", theme="dark",
        board="paper", film_ply=2, autoplay=True, asked_language=True, visitor=Side.BLACK,
        task="win",
    )  # fmt: skip
    for mode in MODES:
        for point in ({"chosen": 3}, {"heat_square": 3}):
            asked = parse_qs(urlsplit(view.href(mode=mode, **point)).query)
            assert set(asked) <= set(VIEW)
    assert client.get("/", params={"fen": LOOP, "mode": "line", "play": "1"}).status_code == 200


@pytest.mark.parametrize("name", ["fen", "pos"])
def test_an_empty_position_counts_as_none(client: TestClient, name: str) -> None:
    assert client.get("/", params={name: ""}).status_code == 200
    assert client.get("/v1/probe", params={name: ""}).json()["error"] == "no position is given"


@pytest.mark.parametrize(
    ("path", "error"),
    [
        (
            f"/v1/probe?fen={LOOP}&notation=foo",
            "notation is none of iccs, fairy, wxf, zh, zh-hant",
        ),
        (f"/v1/probe?fen={LOOP}&lang=fr", "lang is none of en, zh-Hans, zh-Hant"),
        (f"/v1/probe?fen={LOOP}&explain=true", "explain is none of 1"),
        (f"/v1/render.svg?fen={LOOP}&flip=yes", "flip is none of 1"),
        (f"/export.pgn?fen={LOOP}&notation=foo", "notation is none of"),
    ],
)
def test_values_that_the_description_excludes(client: TestClient, path: str, error: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 400
    assert error in answer.json()["error"]


@pytest.mark.parametrize(
    ("path", "error", "hint"),
    [
        ("/v1/probe", "没有写局面", "请在地址后加“?fen=”和局面"),
        ("/v1/probe?fen=9/9_w", "局面串有2行，应为10行", "棋盘各行用斜线分开"),
        (f"/v1/judge?fen={LOOP}&moves=a0a9", "“a0a9”：走后红方被将军", "请应将"),
        ("/v1/probe?fen=4k4/9/9/9/9/9/9/9/9/RRNN1K3_w", "没有“KRRNNK”的残局表", ""),
    ],
)  # fmt: skip
def test_errors_have_the_language_asked_for(
    client: TestClient, path: str, error: str, hint: str
) -> None:
    joined = f"{path}{'&' if '?' in path else '?'}lang="
    answer = client.get(f"{joined}zh-Hans").json()
    assert answer["error"] == error
    assert answer["hint"].startswith(hint)
    assert client.get(f"{joined}en").json()["error"] == client.get(path).json()["error"]
    assert client.get(path).json()["error"].isascii()


def test_reasons_of_the_referee_have_the_language_asked_for(client: TestClient) -> None:
    query = {"fen": LOOP, "moves": "d0d1,b1c3,d1d0,c3b1", "lang": "zh-Hans"}
    reason = "红方走闲着，黑方步步将军：判红方胜（亚洲规则第6条）"
    assert client.get("/v1/judge", params=query).json()["reason"] == reason
    assert client.get("/v1/probe", params=query).json()["judgement"]["reason"] == reason
    before = query | {"moves": "d0d1,b1c3,d1d0"}
    moves = client.get("/v1/probe", params=before).json()["moves"]
    assert [move["forbidden"] for move in moves if "forbidden" in move] == [reason]
