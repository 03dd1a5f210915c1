"""The board's HTTP API: answers, refusals, and the pages as text."""

from __future__ import annotations

import html
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra `web` is not installed")
pytest.importorskip("httpx", reason="starlette's test client needs it")

from starlette.testclient import TestClient

from tbgen import open_tablebase
from tbgen.answers.as_json import probe_answer
from tbgen.board.language import i18n, words
from tbgen.board.web.routes import create_app
from tbgen.board.web.view import MODES
from tbgen.indexing import Position
from tbgen.play.mainline import Ending
from tests.helpers.board_server import ROOT, demo

KNIGHT = "9/9/3ak4/9/9/9/9/9/9/N2K5 w"
LOOP = "9/9/4k4/9/9/9/9/9/1n7/R2K5 w"
CAPTURE = "3k5/9/9/9/9/9/9/9/n8/R3K4 w"


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with open_tablebase(demo().tables) as tables:
        yield TestClient(create_app(tables))


@pytest.fixture
def partial(tmp_path: Path) -> Iterator[TestClient]:
    """Client of a board that has only the table of KRKN, without those after captures."""
    shutil.copy(demo().tables / "KRKN.wxf.dtm.xqt", tmp_path)
    with open_tablebase(tmp_path) as tables:
        yield TestClient(create_app(tables))


def get(client: TestClient, path: str, status: int = 200, **query: Any) -> Any:
    answer = client.get(path, params=query)
    assert answer.status_code == status, answer.text
    return answer.json()


# -- positions -------------------------------------------------------------------------------


@pytest.mark.parametrize("fen", [KNIGHT, LOOP, CAPTURE])
def test_probe_agrees_with_the_command_line(client: TestClient, fen: str) -> None:
    with open_tablebase(demo().tables) as tables:
        position = Position.from_fen(fen)
        expected = probe_answer(position, *tables.probe_with_moves(position))
    answer = get(client, "/v1/probe", fen=fen.replace(" ", "_"))
    assert {key: answer[key] for key in expected if key != "moves"} == {
        key: value for key, value in expected.items() if key != "moves"
    }
    for move, wanted in zip(answer["moves"], expected["moves"], strict=True):
        assert {key: move[key] for key in wanted} == wanted


def test_any_notation_of_positions(client: TestClient) -> None:
    pai = get(client, "/v1/probe", pos="994K4999991N7r2k5")
    assert pai["fen"] == Position.from_fen(LOOP).fen
    assert get(client, "/v1/probe", pos="3K599999999r3k40")["side"] == "black"


def test_moves_in_every_notation(client: TestClient) -> None:
    texts = {
        notation: get(client, "/v1/probe", fen=LOOP, notation=notation)["moves"][0]["text"]
        for notation in ("wxf", "zh", "zh-hant")
    }
    assert texts == {"wxf": "K6+1", "zh": "帅六进一", "zh-hant": "帥六進一"}


def test_the_mechanism_is_named_on_request(client: TestClient) -> None:
    assert get(client, "/v1/probe", fen=LOOP)["mechanism"] is None
    answer = get(client, "/v1/probe", fen=LOOP, explain=1)
    assert (answer["mechanism"]["kind"], answer["mechanism"]["offender"]) == ("check", "black")
    assert get(client, "/v1/mainline", fen=LOOP)["mechanism"] == answer["mechanism"]
    reason = get(client, "/v1/probe", fen=LOOP, explain=1, lang="zh-Hant")["reason"]
    assert "長將，判負（1階）" in reason
    page = client.get("/", params={"fen": LOOP}).text
    assert html.escape(answer["reason"]) in page


def test_reasons_in_every_language(client: TestClient) -> None:
    reasons = {
        language: get(client, "/v1/probe", fen=KNIGHT, lang=language)["reason"]
        for language in i18n.LANGUAGES
    }
    assert reasons == {
        "en": "Red mates in 37 plies (19 moves)",
        "zh-Hans": "红方37步（19回合）胜",
        "zh-Hant": "紅方37步（19回合）勝",
    }


def test_a_missing_child_is_unknown(partial: TestClient) -> None:
    answer = get(partial, "/v1/probe", fen=CAPTURE)
    capture = next(move for move in answer["moves"] if move["capture"])
    assert capture["outcome"] == "unknown"
    assert capture["value"] is None
    outcomes = [move["outcome"] for move in answer["moves"]]
    order = {"win": 0, "draw": 1, "unknown": 2, "loss": 3}
    assert outcomes == sorted(outcomes, key=order.__getitem__)


def test_captures_are_valued_without_the_table(partial: TestClient) -> None:
    answer = get(partial, "/v1/probe", 404, fen="4ka3/9/9/9/9/R8/9/4n4/9/3K1R3 w")
    assert answer["hint"] == "run: tbgen build KRRKNA --rules wxf"
    assert answer["outcome"] == "unknown"
    assert {move["outcome"] for move in answer["moves"]} == {"unknown"}
    answer = get(partial, "/v1/probe", 404, fen="3k1a3/9/9/9/9/9/9/4n4/9/4KR3 w")
    outcomes = {move["move"]: move["outcome"] for move in answer["moves"]}
    assert outcomes["f0f9"] == "win"
    assert outcomes["f0f8"] == "unknown"
    assert answer["moves"][0]["move"] == "f0f9"


def test_a_material_too_large_for_a_table(client: TestClient) -> None:
    start = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w"
    answer = get(client, "/v1/probe", 404, fen=start)
    assert len(answer["moves"]) == 44
    assert get(client, "/v1/mainline", 404, fen=start)["error"] == answer["error"]
    assert get(client, "/v1/animation.svg", 404, fen=start)


def test_mainline(client: TestClient) -> None:
    line = get(client, "/v1/mainline", fen=KNIGHT)
    assert len(line["moves"]) == 37
    assert line["ending"] in (Ending.MATE, Ending.STALEMATE)
    assert len(get(client, "/v1/mainline", fen=KNIGHT, plies=5)["moves"]) == 5
    loop = get(client, "/v1/mainline", fen=LOOP)
    assert (loop["ending"], loop["loop_start"]) == ("loop", 0)
    assert "hint" in get(client, "/v1/mainline", 400, fen=KNIGHT, plies=10**9)
    assert "hint" in get(client, "/v1/mainline", 400, fen=KNIGHT, plies="²")


def test_a_game_has_a_suggestion_and_a_referee(client: TestClient) -> None:
    answer = get(client, "/v1/probe", fen=LOOP, moves="d0d1,b1c3,d1d0")
    assert answer["suggested"] is not None
    forbidden = [move["move"] for move in answer["moves"] if "forbidden" in move]
    assert forbidden == ["c3b1"]
    assert answer["judgement"] is None
    answer = get(client, "/v1/probe", fen=LOOP, moves="d0d1,b1c3,d1d0,c3b1")
    assert answer["judgement"]["verdict"] == "red wins"
    judged = get(client, "/v1/judge", fen=LOOP, moves="d0d1 b1c3 d1d0 c3b1")
    assert judged["level"] == {"red": 0, "black": 2}


def test_picture_and_export(client: TestClient) -> None:
    svg = client.get("/v1/render.svg", params={"fen": LOOP, "flip": 1, "pieces": "latin"})
    assert svg.headers["content-type"].startswith("image/svg+xml")
    assert svg.text.count("<use ") == 4
    assert "<text" not in svg.text  # so that pixels need no font
    pgn = client.get("/export.pgn", params={"fen": LOOP, "moves": "d0d1,b1c3", "notation": "wxf"})
    assert '[Format "WXF"]' in pgn.text
    assert "1. K6+1 H2-3\n" in pgn.text


# -- tables ----------------------------------------------------------------------------------


def test_tables(client: TestClient) -> None:
    listed = {entry["material"] for entry in get(client, "/v1/tables")["tables"]}
    assert {"KRKN", "KRKR", "KNKA", "KPKA"} <= listed
    (named,) = get(client, "/v1/tables", name="rook against knight")["tables"]
    assert named["material"] == "KRKN"
    assert named["red_to_move"]["wins"] > named["black_to_move"]["wins"]
    assert get(client, "/v1/tables", name="rook")["tables"] == []
    assert len(get(client, "/v1/tables", name="")["tables"]) == len(listed)  # an empty field
    figures = get(client, "/v1/tables/krkn")
    assert figures["material"] == "KRKN"
    assert figures["rule_decided"] == 1597
    assert figures["bytes_on_disk"] > 0
    histogram = get(client, "/v1/tables/KRKN/histogram")["histogram"]
    assert sum(line["positions"] for line in histogram) == figures["legal"]
    graph = get(client, "/v1/tables/KRKN/graph")
    assert [node["material"] for node in graph["nodes"]] == ["KNK", "KRK", "KRKN"]
    assert '"KRKN" -> "KRK" [label="n"];' in client.get("/v1/graph/KRKN.dot").text
    assert get(client, "/v1/tables/KRRKRR", 404)["hint"].startswith("run: tbgen build")
    assert get(client, "/v1/tables/KAK", 404)
    assert get(client, "/v1/tables/nonsense", 400)["hint"]
    assert get(client, "/v1/tables/KRRNNCCPPPPPAABBKRRNNCCPPPPPAABB/graph", 400)["hint"]


def test_health_and_metrics(client: TestClient) -> None:
    assert get(client, "/healthz")["status"] == "ok"
    text = client.get("/metrics").text
    assert re.search(r'tbgen_requests_total\{endpoint="health",status="200"\} \d', text)
    assert all(re.fullmatch(r"# TYPE \S+ \w+|\S+ \d+", line) for line in text.splitlines())


# -- HTTP ------------------------------------------------------------------------------------


def test_headers(client: TestClient) -> None:
    answer = client.get("/v1/probe", params={"fen": KNIGHT})
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "max-age" in answer.headers["cache-control"]
    again = client.get(
        "/v1/probe", params={"fen": KNIGHT}, headers={"if-none-match": answer.headers["etag"]}
    )
    assert again.status_code == 304
    assert "accept-language" in again.headers["vary"]
    for name in ("access-control-allow-origin", "cache-control"):
        assert again.headers[name] == answer.headers[name]
    other = client.get("/v1/probe", params={"fen": LOOP})
    assert other.headers["etag"] != answer.headers["etag"]
    bad = client.get("/v1/probe", params={"fen": "x"}, headers={"if-none-match": "*"})
    assert (bad.status_code, bad.headers["cache-control"]) == (400, "no-store")
    assert bad.headers["access-control-allow-origin"] == "*"
    assert client.options("/v1/probe").status_code == 204


def test_refusals(client: TestClient) -> None:
    assert set(get(client, "/v1/probe", 400)) == {"error", "hint"}
    assert "characters" in get(client, "/v1/probe", 400, fen="9" * 500)["error"]
    assert "kings face" in get(client, "/v1/probe", 400, fen="4k4/9/9/9/9/9/9/9/9/4K4 w")["error"]
    assert "moves" in get(client, "/v1/probe", 400, fen=LOOP, moves="d0d1," * 401)["error"]
    assert get(client, "/v1/probe", 400, fen=LOOP, moves="a0a9")["hint"]
    assert get(client, "/v1/probe", 414, fen=LOOP, x="y" * 7000)["hint"]
    assert client.post("/v1/probe").status_code == 405
    assert client.request("GET", "/v1/probe", content=b"body").status_code == 413
    assert get(client, "/v1/nothing", 404)["hint"]
    for path in ("/static/../server.py", "/static/%2e%2e/server.py", "/static/..%2fserver.py"):
        assert client.get(path).status_code == 404


def test_old_links(client: TestClient) -> None:
    for path, mode in (("/endgame.cgi", "read"), ("/play.cgi", "play")):
        answer = client.get(f"{path}?3K599999999r3k40:", follow_redirects=False)
        assert answer.status_code == 301
        shown = client.get(answer.headers["location"])
        assert 'data-flip="1"' in shown.text
        assert "Black to move" in shown.text
        assert f'data-mode="{mode}"' in shown.text


def test_pages_escape_their_input(client: TestClient) -> None:
    bad = "<script>alert(1)</script>"
    for path, asked in (
        *(("/", {"fen": bad, "mode": mode}) for mode in MODES),
        (f"/endgames/{bad}", {}),
        ("/find", {"q": bad}),
    ):
        answer = client.get(path, params=asked | {"lang": "<b>"})
        assert "<script>alert" not in answer.text
        assert "<b>" not in answer.headers["content-type"]


def test_every_page_in_every_language(client: TestClient) -> None:
    for language in i18n.LANGUAGES:
        modes = ({"fen": LOOP, "mode": mode} for mode in MODES)
        for path, asked in (*(("/", mode) for mode in modes), ("/endgames/KRKN", {})):
            answer = client.get(path, params=asked | {"lang": language})
            assert answer.status_code == 200
            assert f'<html lang="{language}"' in answer.text
    taiwan = client.get("/", headers={"accept-language": "zh-TW,zh;q=0.9"})
    assert '<html lang="zh-Hant"' in taiwan.text


def test_old_pages_without_a_table(partial: TestClient) -> None:
    page = partial.get("/", params={"fen": "3k1a3/9/9/9/9/9/9/4n4/9/4KR3 w"})
    assert page.status_code == 200
    assert "tbgen build KRKNA" in page.text
    line = partial.get("/", params={"mode": "line", "fen": "3k1a3/9/9/9/9/9/9/4n4/9/4KR3 w"})
    assert line.status_code == 404


def test_no_tables_at_all(tmp_path: Path) -> None:
    with open_tablebase(tmp_path) as tables:
        client = TestClient(create_app(tables))
        for path in ("/", "/?mode=edit", "/endgames", "/handbook", "/healthz", "/v1/tables"):
            assert client.get(path).status_code == 200, path
        assert "/handbook/all" not in client.get("/handbook").text
        assert client.get("/handbook/all").status_code == 404
        assert "--demo" in client.get("/endgames").text


def test_tables_built_meanwhile_are_found(tmp_path: Path) -> None:
    with open_tablebase(tmp_path) as tables:
        client = TestClient(create_app(tables, tmp_path))
        before = client.get("/v1/probe", params={"fen": LOOP})
        assert before.status_code == 404
        shutil.copy(demo().tables / "KRKN.wxf.dtm.xqt", tmp_path)
        after = client.get("/v1/probe", params={"fen": LOOP})
        assert after.json()["order"] == 1
        page = client.get("/")
        assert "KRKN" in page.text
        same = client.get("/", headers={"if-none-match": page.headers["etag"]})
        assert same.status_code == 304
        shutil.copy(demo().tables / "KNKA.wxf.dtm.xqt", tmp_path)
        again = client.get("/", headers={"if-none-match": page.headers["etag"]})
        assert again.status_code == 200
        assert "KNKA" in again.text


def test_a_damaged_table_is_reported_without_its_path(tmp_path: Path) -> None:
    path = tmp_path / "KRKN.wxf.dtm.xqt"
    path.write_bytes((demo().tables / path.name).read_bytes()[:-100])
    with open_tablebase(tmp_path) as tables:
        client = TestClient(create_app(tables))
        answer = client.get("/v1/probe", params={"fen": LOOP})
        assert answer.status_code == 500
        assert str(tmp_path) not in answer.text
        listed = client.get("/endgames?lang=zh-Hans")
        assert "KRKN</code>" in listed.text
        assert "无法读取" in listed.text
        assert "Error" not in listed.text
        page = client.get("/endgames/KRKN?lang=zh-Hans", headers={"accept": "text/html"})
        assert page.status_code == 500
        assert "“KRKN”的残局表文件已损坏" in page.text
        assert "<p>请重新生成</p>" in page.text


EVERYWHERE = ("/", "/?mode=edit", "/endgames", "/static/board.js", "/healthz", "/metrics",
              "/v1/tables")  # fmt: skip


def test_a_removed_table_is_missing(tmp_path: Path) -> None:
    for name in ("KRKN", "KNKA"):
        shutil.copy(demo().tables / f"{name}.wxf.dtm.xqt", tmp_path)
    gone = tmp_path / "KRKN.wxf.dtm.xqt"
    with open_tablebase(tmp_path) as tables:
        client = TestClient(create_app(tables, tmp_path))
        assert get(client, "/v1/probe", fen=LOOP)["order"] == 1
        content = gone.read_bytes()
        gone.unlink()
        for path in EVERYWHERE:
            assert client.get(path).status_code == 200, path
        assert get(client, "/v1/probe", 404, fen=LOOP)["hint"].startswith("run: tbgen build")
        assert get(client, "/v1/tables/KRKN", 404)
        assert [entry["material"] for entry in get(client, "/v1/tables")["tables"]] == ["KNKA"]
        assert get(client, "/healthz") == {"status": "ok", "tables": 1}
        gone.write_bytes(content[:-100])
        assert get(client, "/v1/probe", 500, fen=LOOP)["hint"] == "build the table again"
        gone.unlink()
        gone.write_bytes(content)
        assert get(client, "/v1/probe", fen=LOOP)["order"] == 1
        shutil.rmtree(tmp_path)
        for path in EVERYWHERE:
            assert client.get(path).status_code == 200, path
        assert get(client, "/healthz") == {"status": "ok", "tables": 0}


def test_a_broken_link_is_no_table(tmp_path: Path) -> None:
    there = tmp_path / "elsewhere"
    shutil.copy(demo().tables / "KRKN.wxf.dtm.xqt", there)
    tables_here = tmp_path / "tables"
    tables_here.mkdir()
    (tables_here / "KRKN.wxf.dtm.xqt").symlink_to(there)
    (tables_here / "KNKA.wxf.dtm.xqt").symlink_to(tmp_path / "nowhere")
    with open_tablebase(tables_here) as tables:
        client = TestClient(create_app(tables, tables_here))
        assert get(client, "/healthz")["tables"] == 1
        there.unlink()  # which does not change the directory
        for path in EVERYWHERE:
            assert client.get(path).status_code == 200, path
        (tables_here / "KRKR.wxf.dtm.xqt").symlink_to(tmp_path / "nowhere")
        for path in EVERYWHERE:
            assert client.get(path).status_code == 200, path
        assert get(client, "/v1/probe", 404, fen=LOOP)["hint"].startswith("run: tbgen build")
        assert get(client, "/v1/tables")["tables"] == []


def test_one_damaged_table_does_not_affect_others(tmp_path: Path) -> None:
    for name in ("KRKN", "KNKA"):
        shutil.copy(demo().tables / f"{name}.wxf.dtm.xqt", tmp_path)
    (tmp_path / "KRKN.wxf.dtm.xqt").write_bytes(b"nothing")
    newer = (tmp_path / "KNKA.wxf.dtm.xqt").read_bytes()
    (tmp_path / "KRKR.wxf.dtm.xqt").write_bytes(newer[:8] + b"\x09" + newer[9:])
    with open_tablebase(tmp_path) as tables:
        client = TestClient(create_app(tables, tmp_path))
        for path in EVERYWHERE:
            assert client.get(path).status_code == 200, path
        entries = {entry["material"]: entry for entry in get(client, "/v1/tables")["tables"]}
        assert entries["KNKA"]["legal"] > 0
        assert "error" not in entries["KNKA"]
        for name in ("KRKN", "KRKR"):
            assert entries[name].keys() == entries["KNKA"].keys() | {"error", "hint"}
            assert (entries[name]["rules"], entries[name]["legal"]) == ("wxf", None)
            assert str(tmp_path) not in str(entries[name])


def test_reasons_are_translated_for_every_kind_of_value(client: TestClient) -> None:
    """Chinese reasons contain no lower-case Latin letters; names of materials are in capitals."""
    for fen in (
        KNIGHT,
        LOOP,
        CAPTURE,
        "3k5/9/9/9/9/9/9/9/r8/R3K4 b",
        "4k4/9/9/9/9/9/9/n8/9/3K1R3 b",
    ):
        answer = client.get("/v1/probe", params={"fen": fen, "lang": "zh-Hans"}).json()
        for text in [answer.get("reason", ""), *(move["reason"] for move in answer["moves"])]:
            assert not re.search("[a-z]", text), text
    assert words.WORDS["en"].distance(1) == "1 ply (1 move)"


def test_the_documentation_names_every_address(client: TestClient) -> None:
    told = set(re.findall(r"^- `(/[^`?]+)", (ROOT / "docs/http.md").read_text("utf-8"), re.M))
    pages = {
        "/",
        "/find",
        "/build",
        "/embed",
        "/reply",
        "/puzzle",
        "/puzzle/{material}",
        "/handbook",
        "/handbook/{attacker}",
        "/search/{material}",
        "/api",
        "/static/{name}",
        "/robots.txt",
    }
    there = {route.path for route in client.app.routes} - pages  # type: ignore[attr-defined]
    assert told == {path for path in there if "endgame" not in path and "cgi" not in path}


def test_errors_are_json(client: TestClient) -> None:
    answer = client.get("/v1/probe", params={"fen": "x"})
    assert json.loads(answer.text).keys() == {"error", "hint"}


def test_the_editor_lists_every_fault(client: TestClient) -> None:
    page = client.get("/", params={"mode": "edit", "fen": "4k4/9/9/9/9/9/9/9/A3P4/4K3R w"}).text
    assert (
        "Black king: 0 on the board, not one"
        in client.get("/", params={"mode": "edit", "fen": "9/9/9/9/9/9/9/9/RRR6/4K4 b"}).text
    )
    assert "Red advisor cannot stand on a1: it stays on the five points of the palace" in page
    assert "Red pawn cannot stand on e1" in page
    page = client.get(
        "/", params={"mode": "edit", "fen": "9/9/9/9/9/9/9/9/RRR6/4K4 b", "lang": "zh-Hant"}
    ).text
    assert "黑將有0個，應為一個" in page
    assert "紅車有3個，最多2個" in page
    page = client.get("/", params={"mode": "edit", "fen": "4k4/9/9/9/4R4/9/9/9/9/4K4 w"}).text
    assert "Black is in check, but Red is to move" in page
