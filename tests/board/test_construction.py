"""Building from the board: permissions, refusals, and progress on pages."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra `web` is not installed")
pytest.importorskip("httpx", reason="starlette's test client needs it")

from starlette.testclient import TestClient

from tbgen import open_tablebase
from tbgen.board.knowledge.builds import BuildProgress, Cost, Limits, Stage
from tbgen.board.web.building import ENTRY, KEY, MAX_STREAMS, TOKEN
from tbgen.board.web.middleware import MAX_BODY
from tbgen.board.web.routes import create_app
from tbgen.indexing import Material
from tests.board.test_http import ask
from tests.helpers.board_server import demo
from tests.helpers.languages import misfits

KRNKR = "9/9/5k3/9/9/9/9/Nr7/9/R2K5_w"
OURS = {"origin": "http://localhost"}
LIMITS = Limits(60, 1 << 30)


class FakeWorkshop:
    """Stand-in for the board's builder of tables: builds nothing, and records what is requested.

    `asked` has the materials of each build started; `cancelled` counts cancellations. A test may
    set `price`, the cost of any build, and `state`, the progress reported (None before a build).
    """

    def __init__(self, limits: Limits | None = LIMITS) -> None:
        self.limits = limits
        self.starters = {"small": [Material.parse("KRKN"), Material.parse("KRKR")]}
        self.asked: list[list[str]] = []
        self.cancelled = 0
        self.state: BuildProgress | None = None
        self.price: Cost | None = Cost(12.0, 240 << 20, 7 << 20)

    def cost(self, materials: Sequence[Material]) -> Cost | None:
        return self.price

    def progress(self) -> BuildProgress | None:
        return self.state

    def start(self, materials: Sequence[Material]) -> bool:
        if self.state is not None and self.state.goes_on:
            return False
        self.asked.append([str(material) for material in materials])
        self.state = BuildProgress(tuple(materials), Stage.BUILDING, 5, 2, ("KRNK",), 0.4, 3.0)
        return True

    def cancel(self) -> None:
        self.cancelled += 1
        assert self.state is not None
        self.state = replace(self.state, stage=Stage.CANCELLED)


@pytest.fixture
def workshop() -> FakeWorkshop:
    return FakeWorkshop()


@pytest.fixture
def client(tmp_path: Path, workshop: FakeWorkshop) -> Iterator[TestClient]:
    with open_tablebase(tmp_path) as tables:
        app = create_app(tables, tmp_path, loopback_only=True, workshop=workshop)
        found = TestClient(app, base_url="http://localhost", follow_redirects=False)
        assert found.get(ENTRY).headers["location"] == "/"
        yield found


def page(client: TestClient, path: str) -> str:
    return str(client.get(path, headers={"accept": "text/html"}).text)


def form(text: str, action: str = "/build") -> dict[str, str]:
    """Return the hidden fields of the first build form on a page, by name.

    action : address to which the form is sent
    """
    found = re.search(rf'<form class="build" action="{action}".*?</form>', text)
    assert found, f"there is no form of {action}"
    fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', found[0]))
    return {name: value.replace("&amp;", "&") for name, value in fields.items()}


def post(client: TestClient, fields: dict[str, str], path: str = "/build", **headers: str) -> Any:
    return client.post(path, data=fields, headers=OURS | headers)


def test_a_build_returns_to_the_page_of_its_table(
    client: TestClient, workshop: FakeWorkshop
) -> None:
    text = page(client, f"/?fen={KRNKR}")
    assert "about 12 s, 240 MiB of memory" in text
    answer = post(client, form(text))
    assert (answer.status_code, answer.headers["location"]) == (303, f"/?fen={KRNKR}")
    assert workshop.asked == [["KRNKR"]]
    going = page(client, f"/?fen={KRNKR}")
    assert "Tables: 2 of 5, now KRNK; 3.0 s so far" in going
    assert 'data-events="/build/events?lang=en"' in going
    assert '<form class="build" action="/build" ' not in going
    stop = form(going, "/build/cancel")
    assert post(client, stop, "/build/cancel").status_code == 303
    assert workshop.cancelled == 1
    assert "was cancelled" in page(client, f"/?fen={KRNKR}")


def test_other_users_of_the_machine_build_nothing(
    client: TestClient, workshop: FakeWorkshop
) -> None:
    """Only the address printed on the server's terminal allows builds.

    Other users of the machine can read pages and send any header, but not read the terminal.
    Their requests to build or to cancel are refused.
    """
    fields = form(page(client, f"/?fen={KRNKR}"))
    shared = {"cookie": "tbgen-build-80=guess"}
    client.cookies.clear()
    for path in ("/", "/build", "/build/events", "/openapi.json", "/metrics", "/enter/guess"):
        answer = client.get(path)
        assert KEY not in answer.text
        assert "set-cookie" not in answer.headers
    assert client.get("/enter/guess").status_code == 403
    for headers in ({}, shared, {"cookie": f"tbgen-build-80={TOKEN}"}):
        for path in ("/build", "/build/cancel"):
            answer = post(client, fields, path, **headers)
            assert answer.status_code == 403
            assert "Open the address that its terminal shows" in answer.text
    assert not workshop.asked
    assert not workshop.cancelled
    given = client.get(ENTRY).headers["set-cookie"]
    assert given == f"tbgen-build-80={KEY}; HttpOnly; Path=/build; SameSite=strict"
    assert post(client, fields).status_code == 303


def test_the_first_visit_offers_sets(client: TestClient, workshop: FakeWorkshop) -> None:
    for path in ("/", "/build", "/endgames"):
        fields = form(page(client, path))
        assert fields["set"] == "small"
    assert post(client, fields).status_code == 303
    assert workshop.asked == [["KRKN", "KRKR"]]
    assert "Tables: 2 of 5" in page(client, "/")


def test_present_endgames_are_not_offered(workshop: FakeWorkshop) -> None:
    workshop.starters = {"small": [Material.parse("KRKN")], "rules": [Material.parse("KRRKNN")]}
    with open_tablebase(demo().tables) as tables:
        app = create_app(tables, demo().tables, loopback_only=True, workshop=workshop)
        found = TestClient(app, base_url="http://localhost")
        found.get(ENTRY)
        offered = page(found, "/build")
        assert form(offered)["set"] == "rules"
        assert offered.count('<form class="build"') == 1
        del workshop.starters["rules"]
        assert "are all here" in page(found, "/build")


def test_one_build_at_a_time(client: TestClient) -> None:
    fields = form(page(client, f"/?fen={KRNKR}"))
    assert post(client, fields).status_code == 303
    assert post(client, fields).status_code == 409


@pytest.mark.parametrize(
    ("changed", "headers", "status"),
    [
        ({"token": ""}, {}, 403), ({"token": "guessed"}, {}, 403), ({"token": "\u00e9"}, {}, 403),
        ({}, {"origin": "http://evil.example"}, 403), ({}, {"origin": "null"}, 403),
        ({}, {"origin": "https://localhost"}, 403), ({}, {"origin": ""}, 403),
        ({}, {"origin": "http://localhost:81"}, 403),
        ({}, {"host": "evil.example", "origin": "http://evil.example"}, 421),
        ({"material": "KRK" * 50}, {}, 400), ({"material": "nonsense"}, {}, 400),
        ({"material": "x" * MAX_BODY}, {}, 413),
    ],
)  # fmt: skip
def test_invalid_requests_are_refused(
    client: TestClient,
    workshop: FakeWorkshop,
    changed: dict[str, str],
    headers: dict[str, str],
    status: int,
) -> None:
    fields = form(page(client, f"/?fen={KRNKR}")) | changed
    assert post(client, fields, **headers).status_code == status
    for path in ("/build", "/build/cancel"):
        cancelled = client.post(path, data=fields | {"token": ""})
        assert cancelled.status_code in (403, 413)
    assert not workshop.asked
    assert not workshop.cancelled


@pytest.mark.parametrize(
    ("price", "status"), [(Cost(61, 1, 1), 403), (Cost(1, 2 << 30, 1), 403), (None, 400)]
)
def test_limits_of_time_and_memory(
    client: TestClient, workshop: FakeWorkshop, price: Cost | None, status: int
) -> None:
    workshop.price = price
    text = page(client, f"/?fen={KRNKR}")
    assert "beyond the limits of this server" in text
    assert "tbgen build KRNKR" in text
    assert post(client, {"material": "KRNKR", "token": TOKEN}).status_code == status
    assert not workshop.asked


@pytest.mark.parametrize("back", ["//evil.example", "https://evil.example", "/\\evil", "", "/\n"])
def test_the_return_address_is_on_this_server(client: TestClient, back: str) -> None:
    fields = form(page(client, "/build")) | {"back": back}
    assert post(client, fields).headers["location"] == "/"


@pytest.mark.parametrize("language", ["zh-Hans", "zh-Hant"])
def test_refusals_are_translated(client: TestClient, workshop: FakeWorkshop, language: str) -> None:
    accepted = {"accept-language": language, "accept": "text/html"}
    fields = {"material": "KRNKR", "token": TOKEN}
    foreign = client.post("/build", data=fields, headers=accepted)
    answers = [foreign, post(client, fields | {"token": "x"}, **accepted)]
    workshop.price = Cost(61, 1, 1)
    answers.append(post(client, fields, **accepted))
    workshop.price = None
    answers.append(post(client, fields, **accepted))
    workshop.price = Cost(1, 1, 1)
    answers += [post(client, fields, **accepted) for _ in range(2)]
    client.cookies.clear()
    answers.append(post(client, fields, **accepted))
    assert [answer.status_code for answer in answers] == [403, 403, 403, 400, 303, 409, 403]
    for answer in answers:
        assert "无法理解" not in answer.text
        assert "無法理解" not in answer.text
        assert not misfits(answer.text, language)


def test_without_the_option_nothing_is_built(tmp_path: Path) -> None:
    workshop = FakeWorkshop(limits=None)
    with open_tablebase(tmp_path) as tables:
        app = create_app(tables, tmp_path, loopback_only=True, workshop=workshop)
        client = TestClient(app, base_url="http://localhost")
        text = page(client, f"/?fen={KRNKR}")
        assert f"tbgen build KRNKR --tables {tmp_path}" in text
        assert '<form class="build"' not in text
        assert f"tbgen build KRKN KRKR --tables {tmp_path}" in page(client, "/")
        for path in ("/build", "/build/cancel", "/"):
            assert client.post(path, headers=OURS).status_code == 405
        assert not workshop.asked


def test_only_the_machine_itself_may_build(tmp_path: Path) -> None:
    with open_tablebase(tmp_path) as tables, pytest.raises(ValueError, match="machine itself"):
        create_app(tables, tmp_path, workshop=FakeWorkshop())


def test_scripts_of_other_origins_cannot_read_the_token(client: TestClient) -> None:
    """Scripts of other origins may read other answers, but no page with a form's token."""
    for path in ("/", "/build", f"/?fen={KRNKR}", "/endgames", "/nowhere"):
        answer = client.get(path, headers={"accept": "text/html", "origin": "http://evil.example"})
        assert "access-control-allow-origin" not in answer.headers
        again = client.get(path, headers={"if-none-match": answer.headers.get("etag", "")})
        assert "access-control-allow-origin" not in again.headers or again.status_code == 404
    assert client.get("/v1/tables").headers["access-control-allow-origin"] == "*"


def test_events_report_the_build_to_its_end(client: TestClient, workshop: FakeWorkshop) -> None:
    workshop.state = BuildProgress((), Stage.BUILT, 5, 5, share=1.0)
    answer = client.get("/build/events", params={"lang": "zh-Hant"})
    assert answer.headers["content-type"].startswith("text/event-stream")
    event = json.loads(answer.text.removeprefix("data: "))
    assert event["ended"]
    assert event["share"] == 1
    assert event["said"].startswith("5張殘局表已完成5張")
    other = client.get("/build/events", params={"lang": "fr"})
    assert "Tables: 5 of 5" in other.text
    workshop.state = BuildProgress((), Stage.BUILDING)
    with client.stream("GET", "/build/events") as events:
        told = events.iter_lines()
        assert not json.loads(next(told).removeprefix("data: "))["ended"]
        workshop.state = replace(workshop.state, stage=Stage.FAILED, problem="no room")
        assert any('"ended": true' in line for line in told)


def test_streams_of_events_are_limited(client: TestClient, workshop: FakeWorkshop) -> None:
    """Of many requests at the same time, those beyond the limit are refused."""
    workshop.state = BuildProgress((), Stage.BUILDING)

    async def crowd() -> None:
        gone = asyncio.Event()
        asked = [
            asyncio.ensure_future(ask(client.app, "/build/events", gone))
            for _ in range(MAX_STREAMS + 3)
        ]
        for refused in itertools.islice(asyncio.as_completed(asked, timeout=60), 3):
            assert await refused == 503
        gone.set()
        assert sorted(await asyncio.gather(*asked)) == [200] * MAX_STREAMS + [503] * 3

    for _ in range(2):
        asyncio.run(crowd())


def test_a_page_changes_with_the_build(client: TestClient, workshop: FakeWorkshop) -> None:
    path = f"/?fen={KRNKR}"
    tag = client.get(path).headers["etag"]
    assert client.get(path, headers={"if-none-match": tag}).status_code == 304
    workshop.start([Material.parse("KRNKR")])
    assert client.get(path, headers={"if-none-match": tag}).status_code == 200


@pytest.mark.parametrize("stage", list(Stage))
def test_progress_in_chinese(client: TestClient, workshop: FakeWorkshop, stage: Stage) -> None:
    workshop.state = BuildProgress((Material.parse("KRNKR"),), stage, 5, 2, ("KRNK",), 0.4, 3.0)
    for language in ("zh-Hans", "zh-Hant"):
        for path in (f"/?fen={KRNKR}&lang={language}", f"/build?lang={language}"):
            assert not misfits(page(client, path), language)
