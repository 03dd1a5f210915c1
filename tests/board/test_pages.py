"""Pages of the board: unusual positions, kept settings and input, and one language per page."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

pytest.importorskip("starlette", reason="the extra `web` is not installed")
pytest.importorskip("httpx", reason="starlette's test client needs it")

from starlette.testclient import TestClient

from tbgen import open_tablebase
from tbgen.board.language.i18n import LANGUAGES, TEXTS, read_csv, traditional
from tbgen.board.language.words import Chinese, material_name
from tbgen.board.web import pages
from tbgen.board.web.endgames import matrix
from tbgen.board.web.layout import with_settings
from tbgen.board.web.routes import create_app
from tbgen.board.web.verdict import rules_name
from tbgen.board.web.view import View, preferred_language
from tbgen.indexing import Material, Position
from tbgen.notation.materials import read_material
from tbgen.rules import legal_moves
from tbgen.tables import Metric, Rules, RuleSet
from tests.helpers.board_server import demo
from tests.helpers.languages import SIMPLIFIED, misfits, shown
from tests.helpers.paths import ROOT

LOOP = "9/9/4k4/9/9/9/9/9/1n7/R2K5_w"
"""FEN of KRKN, Red to move: Red wins, because Black can only resist by perpetual check."""
JUDGED = "d0d1,b1c3,d1d0,c3b1"
"""Moves from the position `LOOP` back to it; Black checks on each of its moves, and so loses."""
KNIGHT = "9/9/3ak4/9/9/9/9/9/9/N2K5_w"
BARREN = "9/4k4/4P4/9/9/9/9/9/9/3K5_b"
"""FEN, Black to move: the best move takes the last attacker on the board."""
MISSING = "3k1a3/9/9/9/9/9/9/4n4/9/4KR3_w"


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with open_tablebase(demo().tables) as tables:
        yield TestClient(create_app(tables, demo().tables), raise_server_exceptions=False)


def page(client: TestClient, path: str, status: int = 200, **query: str) -> str:
    answer = client.get(path, params=query or None, headers={"accept": "text/html"})
    assert answer.status_code == status, (path, query, answer.text[:300])
    return answer.text


# -- no position breaks a page ---------------------------------------------------------------


def test_children_of_the_longest_positions_have_pages(client: TestClient) -> None:
    with open_tablebase(demo().tables) as tables:
        starts = {
            Position.from_fen(entry.fen)
            for name in tables.available()
            for entry in tables.stats(name.material).longest
        }
    assert len(starts) > 20
    for start in starts:
        for move in legal_moves(start):
            fen = "_".join(start.fen.split()[:2])
            text = page(client, "/", fen=fen, moves=move.iccs)
            assert "<h1>" in text


def test_positions_without_attackers_or_without_a_move(client: TestClient, tmp_path: Path) -> None:
    for mode in ("read", "play", "line", "edit"):
        assert page(client, "/", fen=BARREN, moves="e8e7", mode=mode)
    with open_tablebase(tmp_path) as tables:
        empty = TestClient(create_app(tables))
        mated = page(empty, "/", fen="3P1k3/9/5P3/6P2/9/9/9/9/5K3/9_b")
        assert "Red wins" in mated
        stuck = page(empty, "/", fen="3k5/2P6/9/9/9/9/9/9/9/4K4_b")
        assert "Red wins" in stuck
        assert "Black has no legal move" in stuck


def test_the_editor_ignores_a_malformed_previous_position(client: TestClient) -> None:
    assert page(client, "/", mode="edit", fen="zz", was=f"{'_' * 130}/")


def test_an_internal_error_is_a_page_with_the_board(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(pages, "lookup_page", broken)
    text = page(client, "/", 500, fen=KNIGHT, lang="zh-Hans")
    assert 'data-square="a0"' in text
    assert "服务器内部出错" in text
    assert client.get("/", params={"fen": KNIGHT}).json().keys() == {"error", "hint"}


# -- nothing is lost -------------------------------------------------------------------------

CHOSEN = {"notation": "wxf", "pieces": "latin", "board": "paper", "lang": "en", "theme": "dark"}


def links(text: str) -> list[str]:
    return [link.replace("&amp;", "&") for link in re.findall(r'href="(/[^"#]*)"', text)]


@pytest.mark.parametrize("path", ["/", "/endgames", "/endgames/KRKN", "/?mode=edit", "/nothing"])
def test_every_link_keeps_the_settings(client: TestClient, path: str) -> None:
    query = "&".join(f"{key}={value}" for key, value in CHOSEN.items())
    answer = client.get(
        f"{path}{'&' if '?' in path else '?'}{query}", headers={"accept": "text/html"}
    )
    main = answer.text.split('<footer id="settings"')[0]
    for link in links(main):
        if link.startswith(("/static", "/v1", "/export")):
            continue
        asked = {key: value[0] for key, value in parse_qs(urlsplit(link).query).items()}
        assert CHOSEN.items() <= asked.items(), link


def test_every_setting_can_be_changed(client: TestClient) -> None:
    for path in ("/", "/endgames", "/endgames/KRKN"):
        text = page(client, path, **CHOSEN)
        rows = text.split('<footer id="settings"')[1].count("<p>")
        assert rows == 6
        assert "as the browser" in text
        assert "Characters" in text


def test_typed_text_is_kept(client: TestClient) -> None:
    typed = "9/9/4k4/9/9/9/9/3n6/9/R2K5 b"
    for query in ({"mode": "edit"}, {}):
        text = page(client, "/", 200 if query else 400, fen=typed, **query)
        assert f">{typed}</textarea>" in text
        assert "not understood" in text
        assert "Rank 2 of the FEN has 10 files" in text
        assert text.count('class="bad"') == 9
        assert 'data-square="d2"' in text
    text = page(client, "/", 400, fen="hello")
    assert ">hello</textarea>" in text
    text = page(client, "/", mode="edit", fen="hello", was=KNIGHT)
    assert 'data-square="a0"' in text
    assert "is no side to move" in page(client, "/", mode="edit", fen=KNIGHT[:-1] + "x")


def test_the_editor_reads_all_fields_of_a_fen(client: TestClient) -> None:
    def edited(after: str) -> str:
        return page(client, "/", mode="edit", fen=f"3k5/9/9/9/9/9/9/9/9/R3K4 {after}")

    for side, letter in (("w", "w"), ("b", "b"), ("红", "w"), ("黑", "b")):
        for counters in ("", " - -", " - - 0 1"):
            text = edited(f"{side}{counters}")
            assert "not understood" not in text
            assert f'data-fen="3k5/9/9/9/9/9/9/9/9/R3K4_{letter}"' in text
    for wrong in ("b - - 0", "b x - 0 1", "b - - 0 one", "b a0a1"):
        text = edited(wrong)
        assert "not understood" in text
        assert f"R3K4 {wrong}</textarea>" in text
        assert 'data-fen="3k5/9/9/9/9/9/9/9/9/R3K4_b"' in text


def test_the_editor_without_scripts_places_pieces(client: TestClient) -> None:
    text = page(client, "/", mode="edit", fen="3k5/9/9/9/9/9/9/9/9/4K4_w")
    palette = next(link for link in links(text) if link.endswith("piece=R"))
    text = page(client, palette)
    target = next(link for link in links(text) if "/9/9/9/9/9/9/9/9/R3K4_w" in link)
    assert 'data-square="a0"' in page(client, target)
    king = next(link for link in links(text) if link.endswith("piece=K"))
    moved = [link for link in links(page(client, king)) if "/9/9/9/9/9/9/9/9/5K3_w" in link]
    assert moved  # the only king


def test_the_editor_shows_the_value(client: TestClient) -> None:
    assert "mate in 19 moves" in page(client, "/", mode="edit", fen=KNIGHT)


def test_an_endgame_has_one_address(client: TestClient) -> None:
    for name in ("knkr", "KNvKR", "krkn"):
        answer = client.get(f"/endgames/{name}", follow_redirects=False)
        assert answer.status_code == 303
        assert answer.headers["location"] == "/endgames/KRKN"


@pytest.mark.parametrize(
    "name",
    ["KRNKR", "KNPKAABB", "KRRKA", "KCPABKAB", "KPPPKAABB", "KRK", "KRAABKABB", "KNABBKNAAB"],
)
def test_names_of_endgames_round_trip(name: str) -> None:
    material = Material.parse(name)
    for language in LANGUAGES:
        assert read_material(material_name(material, language)) == material
    assert read_material(name.lower()) == material


# -- the end of a game -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fen", "moves", "said"),
    [
        (LOOP, JUDGED, "Red wins (the position repeats)"),
        (BARREN, "e8e7", "Draw (no piece is left that can attack)"),
        ("3k5/9/9/9/R8/9/9/9/9/4K4_w", "a5d5", "Red wins (Black is mated)"),
    ],
)
def test_nothing_is_suggested_when_a_game_is_over(
    client: TestClient, fen: str, moves: str, said: str
) -> None:
    for side in ("red", "black"):
        text = page(client, "/", fen=fen, moves=moves, mode="play", side=side)
        assert f"The game is over: {said}" in text
        assert 'data-over="1"' in text
        assert "suggested" not in text
        assert "data-reply" not in text


def test_an_export_has_result_and_reason(client: TestClient) -> None:
    text = client.get("/export.pgn", params={"fen": LOOP, "moves": JUDGED}).text
    assert '[Result "1-0"]' in text
    assert "{Red's moves are idle, Black checks" in text or "Black checks on every move" in text
    assert "art. 6" in text
    best = client.get("/export.pgn", params={"fen": KNIGHT}).text
    assert best.count("{00-") == 37
    assert best.rstrip().endswith("1-0")
    draw = client.get("/export.pgn", params={"fen": BARREN, "moves": "e8e7"}).text
    assert '[Result "1/2-1/2"]' in draw


def test_the_language_of_a_browser() -> None:
    """The script in a language tag outweighs the region: `zh-Hans-HK` is simplified Chinese."""
    for accepted, expected in (
        ("zh-HK,zh;q=0.9", "zh-Hant"), ("zh-Hans-HK", "zh-Hans"), ("zh-CN,en", "zh-Hans"),
        ("zh-Hant-CN", "zh-Hant"), ("fr,zh-TW", "zh-Hant"), ("en,zh", "en"), ("", "en"),
        ("en;q=0.1, zh;q=0.9", "zh-Hans"), ("zh;q=0", "en"), ("fr, zh-HK;q=0.2, en;q=0.5", "en"),
    ):  # fmt: skip
        assert preferred_language(accepted) == expected


# -- one language ----------------------------------------------------------------------------

PAGES = (
    f"/?fen={LOOP}", f"/?fen={LOOP}&from=a0", f"/?fen={LOOP}&where=a0", f"/?fen={KNIGHT}",
    f"/?fen={LOOP}&moves={JUDGED}", f"/?fen={LOOP}&moves={JUDGED}&mode=play",
    f"/?fen={LOOP}&moves=d0d1,b1c3,d1d0&mode=play&side=black", f"/?fen={LOOP}&mode=line&at=2",
    f"/?fen={LOOP}&mode=edit", "/?mode=edit&fen=4k4/9/9/9/9/9/9/9/A3P4/4K3R_w",
    "/?mode=edit&fen=9/9/9/9/9/9/9/9/RRR6/4K4_b", "/?mode=edit&fen=9/9/9/9/9/9/9/9/10/4K4_b",
    "/?mode=edit&fen=4k4/9/9/9/4R4/9/9/9/9/4K4_w", "/?fen=hello", f"/?fen={KNIGHT}x",
    f"/?fen={KNIGHT}&moves=a0a9", f"/?fen={KNIGHT}&moves=zz", f"/?fen={MISSING}",
    f"/?fen={MISSING}&mode=line", f"/?fen={BARREN}&moves=e8e7", "/endgames", "/endgames/KRKN",
    "/endgames/KNKC", "/endgames/KRRKRR", "/endgames/KRRKRR?won=red&order=0&plies=3",
    "/endgames/nonsense", "/nothing", "/api",
    "/endgames/KRKN?won=black&order=0&plies=11", "/find?q=nonsense",
    "/find?q=KRRKRR", "/search/KRKN", "/search/KRKN?zugzwang=1", "/search/KRKN?outcome=win&only=1",
    "/search/KRRKRR", "/search/KRKN?decided=chase", "/search/KNKA?turn=red&order=0&least=30",
    "/build",
    "/?fen=rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR_w",
)  # fmt: skip


def test_a_first_visit_has_chosen_positions(client: TestClient) -> None:
    """The first page shows 3 to 6 positions with long wins or high orders.

    The stated values are those of the tables.
    """
    first = page(client, "/")
    chosen = first[first.index('<section class="chosen">') :].split("</section>")[0]
    shown = re.findall(r'href="([^"]+)">.*?<span>([^<]+)</span>', chosen)
    assert 3 <= len(shown) <= 6
    said = [caption for _, caption in shown]
    assert "Rook against knight: Decided by a perpetual check, order 1" in said
    for href, caption in shown:
        answer = client.get(href.replace("&amp;", "&").replace("/?", "/v1/probe?", 1)).json()
        assert answer["outcome"] == "win"
        if answer["order"]:
            assert caption.endswith(f"order {answer['order']}")
        else:
            assert caption.endswith(f": {(answer['plies'] + 1) // 2} moves")
    assert 'class="chosen"' not in page(client, "/", fen=KNIGHT, moves="a0b2")


def test_traditional_texts_have_traditional_characters_and_words() -> None:
    """The board's texts in traditional Chinese have no simplified characters or mainland terms."""
    said = "".join(
        node.value
        for path in (ROOT / "tbgen" / "board").rglob("*.py")
        if path.name != "i18n.py"  # which has both scripts
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    files = [*TEXTS.values(), *read_csv("error_messages.csv")]
    said += "".join([*(chinese for _, chinese in files), *Chinese.sentences.values()])
    found = traditional(said)
    assert not set(found) & SIMPLIFIED
    assert not re.search(
        "[複復]制|標准|日志|坐標|服務器|程序|內存|磁盤|文件|鏈接|數據|全屏|查找|信息", found
    )
    assert set(re.findall("複製|全螢幕", found)) == {"複製", "全螢幕"}


def test_every_message_is_used() -> None:
    """Each key of the board's texts occurs in its code.

    The key is written out, or composed as in `f"class_{kind}"`.
    """
    code = "".join(path.read_text("utf-8") for path in (ROOT / "tbgen" / "board").rglob("*.py"))
    written = set(re.findall(r"[\"']([\w/{}.-]+)[\"']", code)) | set(Metric)
    composed = [
        re.sub(r"\{.*?\}", r"[\\w -]+", found)
        for found in re.findall(r"f[\"']([\w-]*\{[\w.(), ]+\}[\w-]*)[\"']", code)
        if "_" in re.sub(r"\{.*?\}", "", found)
    ]
    assert any(re.fullmatch(pattern, "class_won") for pattern in composed)
    assert not [
        key
        for key in TEXTS
        if key not in written and not any(re.fullmatch(pattern, key) for pattern in composed)
    ]


@pytest.mark.parametrize("path", PAGES)
def test_a_chinese_page_has_no_english_and_one_script(client: TestClient, path: str) -> None:
    for language in ("zh-Hans", "zh-Hant"):
        answer = client.get(
            f"{path}{'&' if '?' in path else '?'}lang={language}", headers={"accept": "text/html"}
        )
        assert answer.status_code in (200, 400, 404)
        assert not misfits(answer.text, language)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        (f"/?fen={MISSING}&mode=line", "尚未生成车对马士（KRKNA）"),
        (f"/?fen={KNIGHT}&moves=a0a9", "“a0a9”：九路底线（a0）的马走不到九路第10线（a9）"),
        (f"/?fen={KNIGHT}&moves=a0a9", "它不能这样走，或有子阻挡"),
        (f"/?fen={KNIGHT}&moves=e7e8", "五路第8线（e7）是黑方的棋子"),
        (f"/?fen={KNIGHT}&moves=d0e0", "走后将帅照面"),
        (f"/?fen={KNIGHT}&moves=zz", "看不懂着法"),
        ("/search/KRRKRR", "尚未生成双车对双车（KRRKRR）"),
        ("/endgames/KRRKRR?plies=3", "尚未生成双车对双车（KRRKRR）"),
        ("/endgames/KAK", "“KAK”必和"),
        ("/nothing", "没有此页面"),
        ("/?fen=9/9/9", "有3行，应为10行"),
        ("/?fen=hello", "看不懂"),
        ("/endgames/KXK", "“KXK”中的“X”不是棋子"),
        ("/endgames/KRRRK", "一方有3个车"),
        ("/endgames?nothing=1", "没有参数“nothing”"),
        ("/search/KRKN?order=x", "“x”不是数的范围"),
        ("/handbook/KZ", "没有这一章"),
        ("/?fen=1+2+3+4+5", "编码有5个整数，应为六个"),
    ],
)
def test_errors_are_translated(client: TestClient, path: str, said: str) -> None:
    answer = client.get(path, params=None, headers={"accept": "text/html", "accept-language": "zh"})
    assert said in answer.text
    assert "无法理解这个请求" not in answer.text
    assert "“&#x27;" not in answer.text


def test_an_english_page_has_no_chinese(client: TestClient) -> None:
    for path in PAGES:
        text = " ".join(shown(client.get(path, headers={"accept": "text/html"}).text))
        for name in (*LANGUAGES.values(), "炮二平五"):
            text = text.replace(name, "")
        assert not re.search(r"[\u4e00-\u9fff]", text), path


def test_pages_are_small(client: TestClient) -> None:
    for path in PAGES:
        answer = client.get(path, headers={"accept": "text/html", "accept-encoding": "gzip"})
        assert int(answer.headers["content-length"]) < 60_000, path
    for accepted, encoding in (("br, gzip;q=0.5", "gzip"), ("gzip; q=0, br", None)):
        answer = client.get("/", headers={"accept-encoding": accepted})
        assert answer.headers.get("content-encoding") == encoding
        assert "Accept-Encoding" in answer.headers["vary"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_longest_distance_of_zero_is_not_shown(language: str) -> None:
    """A table without wins of order 0 has no longest win: its cell reads `=`, not `0 plies`."""
    with open_tablebase(demo().tables) as tables:
        figures = replace(tables.table("KRKN").statistics, max_distance=0)
    view = View(Position.from_fen(KNIGHT.replace("_", " ")), language=language)
    cell = matrix({Material.parse("KRKN"): figures}, view)
    assert ">=</a>" in cell
    assert view.words.plies(0) not in cell


def test_settings_of_a_view_are_in_its_addresses() -> None:
    view = View(Position.from_fen(KNIGHT.replace("_", " ")), board="slate", pieces="picture")
    assert with_settings("/endgames", view) == "/endgames?pieces=picture&board=slate"
    assert view.href().endswith("&pieces=picture&board=slate")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_limit_on_orders_is_named(language: str) -> None:
    """Draws of a table limited to some orders may be wins: the name of its rules has the limit."""
    view = View(Position.from_fen(KNIGHT.replace("_", " ")), language=language)
    whole, limited = (rules_name(RuleSet(Rules.WXF, orders), view) for orders in (None, 2))
    assert limited.startswith(whole)
    assert "2" in limited
    assert language == "en" or not misfits(limited, language)


def test_a_verdict_names_its_rules_and_marks_its_plies(client: TestClient) -> None:
    early = page(client, "/", fen=LOOP, moves=JUDGED[:-5])
    before = page(client, "/", fen=LOOP, moves=JUDGED)
    assert "Judged when a position comes back for the first time" in before
    assert before.count('class="loop"') == 4
    assert 'class="loop"' not in early
    assert "（亚洲规则第6条）" in page(client, "/", fen=LOOP, moves=JUDGED, lang="zh-Hans")
