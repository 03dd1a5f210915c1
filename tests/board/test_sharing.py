"""Sharing: PNG, animations, pages to embed in an <iframe>, and previews of links."""

from __future__ import annotations

import io
import re
import struct
import sys
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

import pytest

pytest.importorskip("starlette", reason="the extra `web` is not installed")
pytest.importorskip("httpx", reason="starlette's test client needs it")

from starlette.testclient import TestClient

from tbgen.board.drawing import bitmap
from tbgen.board.drawing.diagram import BOARDS, place
from tbgen.indexing import Move, Position
from tbgen.notation import MOVE_NOTATIONS
from tests.board.test_pages import KNIGHT, LOOP, MISSING, page
from tests.helpers.board_server import browser, demo
from tests.helpers.browsing import open_page, until
from tests.helpers.languages import misfits

CAPTURE = "3k5/9/9/9/9/9/9/9/n8/R3K4_w"


def tags(text: str) -> dict[str, str]:
    return dict(re.findall(r'<meta property="(og:\w+)" content="([^"]*)">', text))


# -- pixels ----------------------------------------------------------------------------------


def test_png(client: TestClient) -> None:
    for asked, width in ({}, 640), ({"width": "64"}, 64):
        answer = client.get("/v1/render.png", params={"fen": KNIGHT, **asked})
        assert answer.headers["content-type"] == "image/png"
        assert answer.content[:8] == b"\x89PNG\r\n\x1a\n"
        assert struct.unpack(">I", answer.content[16:20])[0] == width
    for width in "63", "2001":
        answer = client.get("/v1/render.png", params={"fen": KNIGHT, "width": width})
        assert answer.status_code == 400
    assert "/v1/render.png?fen=" in page(client, "/", fen=KNIGHT)


def test_pixels_show_coordinates_and_colours(client: TestClient) -> None:
    looks = [{"notation": each} for each in MOVE_NOTATIONS] + [{"board": each} for each in BOARDS]
    pictures = {
        client.get("/v1/render.png", params={"fen": KNIGHT, **look}).content for look in looks
    }
    # Both Chinese notations have the same coordinates, and wood with ICCS is the default.
    assert len(pictures) == len(looks) - 2


def test_the_link_of_a_film_plays_it(client: TestClient) -> None:
    text = page(client, "/", fen=KNIGHT, mode="line", at="3")
    (link,) = re.findall(r'<p class="links"><a href="([^"]*)">', text)
    query = parse_qs(urlsplit(unescape(link)).query)
    assert (query["mode"], query["play"]) == (["line"], ["1"])
    assert "at" not in query


def test_links_to_pictures_name_the_language(client: TestClient) -> None:
    text = client.get("/", params={"fen": KNIGHT}, headers={"accept-language": "zh-TW"}).text
    links = re.findall(r'href="(/(?:v1/render|v1/animation|embed|export)[^"]*)"', text)
    assert len(links) == 6
    assert all("lang=zh-Hant" in link for link in links)


def test_without_resvg_there_is_no_png(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    bitmap.can_rasterise.cache_clear()
    answer = client.get("/v1/render.png", params={"fen": KNIGHT})
    assert answer.status_code == 400
    assert "tbgen[png]" in answer.json()["hint"]
    text = page(client, "/", fen=KNIGHT, pieces="latin")
    assert "render.png" not in text
    assert "/v1/render.svg?" in tags(text)["og:image"]
    monkeypatch.undo()
    bitmap.can_rasterise.cache_clear()


# -- pictures that move ----------------------------------------------------------------------


def shown_at(picture: str, second: float) -> dict[tuple[int, int], str]:
    """Return the FEN letters of an animated SVG's pieces by (x, y), `second` s after its start.

    Pieces must not be moving at that time.
    """
    root = ElementTree.fromstring(picture)
    space = "{http://www.w3.org/2000/svg}"
    style = "".join(node.text or "" for node in root.iter(f"{space}style"))
    found = {}
    for group in root.iter(f"{space}g"):
        css = group.get("class", "")
        if not re.fullmatch(r"m\d+", css):
            continue
        at = re.findall(r"-?\d+", group.get("style", ""))
        piece = group[0].get("href", "")
        length = re.search(rf"\.{css}\{{animation:{css} ([\d.]+)s", style)
        if length is not None:
            now = 100 * second / float(length[1])
            frames = style.split(f"@keyframes {css}{{")[1].split("}}")[0]
            for percent, x, y in re.findall(
                r"([\d.]+)%\{transform:translate\((-?\d+)px,(-?\d+)px\)", frames
            ):
                if float(percent) <= now + 0.02:
                    at = [x, y]
            gone = re.search(rf"@keyframes {css}t\{{0\.00%\{{opacity:1\}}([\d.]+)%", style)
            if gone is not None and now > float(gone[1]):
                continue
        found[int(at[0]), int(at[1])] = piece.removeprefix("#p-")
    return found


def placed(position: Position) -> dict[tuple[int, int], str]:
    rows = position.fen.split()[0].split("/")
    found = {}
    for number, row in enumerate(rows):
        file = 0
        for letter in row:
            if letter.isdigit():
                file += int(letter)
            else:
                found[place(9 * (9 - number) + file, False)] = letter
                file += 1
    return found


@pytest.mark.parametrize(
    ("fen", "moves"), [(KNIGHT, "a0b2,e7e8,b2c4"), (CAPTURE, "a0a1,d9d8,a1a8"), (LOOP, "d0d1")]
)
def test_animations_show_the_game(client: TestClient, fen: str, moves: str) -> None:
    answer = client.get("/v1/animation.svg", params={"fen": fen, "moves": moves})
    assert answer.headers["content-type"].startswith("image/svg+xml")
    assert "<script" not in answer.text
    position = Position.from_fen(fen.replace("_", " "))
    assert shown_at(answer.text, 0) == placed(position)
    for number, word in enumerate(moves.split(",")):
        position = position.after(*Move.from_iccs(word))
        assert shown_at(answer.text, 1.5 + 1.1 * number + 0.6) == placed(position)


def test_best_play_shows_its_loop(client: TestClient) -> None:
    text = client.get("/v1/animation.svg", params={"fen": LOOP}).text
    line = client.get("/v1/mainline", params={"fen": LOOP}).json()
    plies = len(line["moves"])
    loop = plies - line["loop_start"]
    frames = re.search(r"@keyframes l1\{(.*?)100%", text)
    assert frames is not None
    assert frames[1].count("transform") == plies + 2 * loop
    assert client.get("/v1/animation.svg", params={"fen": MISSING}).status_code == 404


def test_checks_have_arrows_while_they_are_shown(client: TestClient) -> None:
    """An animation shows an arrow for each check, only while the check stands.

    Of the moves d0d1 and b1c3 the second checks: one arrow, from the knight to the king.
    """
    text = client.get("/v1/animation.svg", params={"fen": LOOP, "moves": "d0d1,b1c3"}).text
    groups = re.findall(r'<g class="(a\d)" style="opacity:0">(.*?)</g>', text)
    assert [name for name, _ in groups] == ["a1"]
    assert groups[0][1].count('<polygon class="arrow check"') == 1
    assert "@keyframes a1{0.00%{opacity:0}" in text


def test_chases_have_arrows_in_a_game(client: TestClient) -> None:
    """An animation shows an arrow for each chase of a game, and none for idle moves.

    Red's rook chases the cannon at each move; Black's moves are idle.
    """
    asked = {"fen": "3k5/9/9/1c7/9/2R5r/9/9/9/5K3_w", "moves": "c4b4,b6c6,b4c4,c6b6"}
    text = client.get("/v1/animation.svg", params=asked).text
    groups = re.findall(r'<g class="(a\d)" style="opacity:0"><polygon class="arrow (\w+)"', text)
    assert groups == [("a0", "chase"), ("a2", "chase")]


@pytest.mark.parametrize(("fen", "moves"), [(KNIGHT, "a0b2,e7e8"), (CAPTURE, "a0a1,d9d8,a1a8")])
def test_a_gif_ends_as_the_game_does(client: TestClient, fen: str, moves: str) -> None:
    """An animated GIF shows each position of the game, and the last one at its end.

    Each still frame must resemble `render.png` of its position more than that of any other one.
    """
    picture = pytest.importorskip("PIL.Image")
    answer = client.get("/v1/animation.gif", params={"fen": fen, "moves": moves, "width": "240"})
    assert answer.headers["content-type"] == "image/gif"
    film = picture.open(io.BytesIO(answer.content))
    words = moves.split(",")
    assert film.n_frames == 1 + 4 * len(words)
    assert film.info["loop"] == 0
    stills = []
    for number in range(len(words) + 1):
        asked = {"fen": fen, "moves": ",".join(words[:number]), "width": "240"}
        png = picture.open(io.BytesIO(client.get("/v1/render.png", params=asked).content))
        stills.append(picture.new("RGB", png.size, "white"))
        stills[-1].paste(png, (0, 0), png)
    seconds = 0.0
    for number, still in enumerate(stills):
        film.seek(4 * number)
        shown = film.convert("RGB")
        others = [difference(shown, other) for other in stills if other is not still]
        assert difference(shown, still) < min(others)
    for number in range(film.n_frames):
        film.seek(number)
        seconds += film.info["duration"] / 1000
    assert seconds == pytest.approx(1.5 + 1.1 * len(words) + 2.5, abs=0.1)


def difference(one: Any, other: Any) -> float:
    """Return the mean squared difference of two pictures, reduced to 1/6 of their size.

    The reduction makes edges that are off by a pixel count little.
    """
    import numpy as np

    apart = np.asarray(one.reduce(6), np.float64) - np.asarray(other.reduce(6), np.float64)
    return float((apart**2).mean())


@pytest.mark.parametrize(
    ("missing", "extra"), [(("resvg_py", "PIL"), "tbgen[png]"), (("PIL",), "tbgen[web]")]
)
def test_without_libraries_there_is_no_gif(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, missing: tuple[str, ...], extra: str
) -> None:
    for name in missing:
        monkeypatch.setitem(sys.modules, name, None)
    answer = client.get("/v1/animation.gif", params={"fen": KNIGHT, "moves": "a0b2"})
    assert (answer.status_code, extra in answer.json()["hint"]) == (400, True)


# -- elsewhere -------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["read", "line"])
@pytest.mark.parametrize("language", ["en", "zh-Hans", "zh-Hant"])
def test_frames_for_other_pages(client: TestClient, mode: str, language: str) -> None:
    answer = client.get("/embed", params={"fen": LOOP, "mode": mode, "lang": language})
    assert answer.status_code == 200
    assert "frame-ancestors *" in answer.headers["content-security-policy"]
    assert "<script" not in answer.text
    assert "<form" not in answer.text
    assert answer.text.count("<svg") == 1
    assert language == "en" or not misfits(answer.text, language)
    assert "frame-ancestors 'none'" in client.get("/").headers["content-security-policy"]


def test_a_stored_frame_keeps_its_policy(client: TestClient) -> None:
    """A browser replaces the stored headers of a page by those of an answer with status 304."""
    first = client.get("/embed", params={"fen": LOOP})
    known = {"if-none-match": first.headers["etag"]}
    again = client.get("/embed", params={"fen": LOOP}, headers=known)
    assert again.status_code == 304
    merged = {**first.headers, **again.headers}
    assert "frame-ancestors *" in merged["content-security-policy"]


def test_the_card_of_a_link(client: TestClient) -> None:
    text = page(client, "/", fen=KNIGHT)
    card = tags(text)
    assert card["og:title"] == "Knight against advisor, Red to move"
    assert card["og:description"] == "Red mates in 37 plies (19 moves)"
    assert card["og:image"].startswith("http://testserver/v1/render.")
    assert client.get(card["og:image"].replace("&amp;", "&")).status_code == 200
    assert card["og:url"] == f"http://testserver/?fen={KNIGHT}"
    odd = client.get("/", params={"fen": KNIGHT}, headers={"host": 'a"><b'})
    assert not tags(odd.text)
    assert tags(page(client, "/", fen=LOOP, mode="line"))
    played = tags(page(client, "/", fen=KNIGHT, mode="play"))
    assert played["og:description"] == "To be played against the table."


def test_the_panel_lists_all_exports(client: TestClient) -> None:
    for query in ({"fen": KNIGHT}, {"fen": LOOP, "mode": "line"}):
        text = page(client, "/", **query)
        for path in ("/v1/animation.svg?", "/embed?", "/v1/render.svg?", "/export.pgn?"):
            assert f'href="{path}fen=' in text
        assert "&lt;iframe src=&quot;http://testserver/embed?fen=" in text


@pytest.mark.parametrize("query", [LOOP, f"{LOOP}&lang=zh-Hans", f"{LOOP}&mode=line"])
def test_the_frame_fits_a_narrow_page(query: str) -> None:
    """The offered code does not widen a page of 320 pixels, and shows its content whole."""
    driver = browser(800, 640)
    try:
        open_page(driver, f"/?fen={query}")
        codes = driver.execute_script(
            "return [...document.querySelectorAll('.codes code')].map(code => code.textContent)"
        )
        (frame,) = (code for code in codes if code.startswith("<iframe"))
        small = {"width": 320, "height": 640, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", small)
        driver.get(f"{demo().url}/robots.txt")
        meta = '<meta name="viewport" content="width=device-width, initial-scale=1">'
        driver.execute_script("document.write(arguments[0])", f"<!doctype html>{meta}{frame}")
        shown = "return frames[0].document.querySelector('h1') !== null"
        until(lambda: driver.execute_script(shown))
        assert driver.execute_script("return document.documentElement.scrollWidth") <= 320
        for size in ("Width", "Height"):
            script = "const root = frames[0].document.documentElement;"
            script += f"return root.scroll{size} <= root.client{size}"
            until(lambda script=script: driver.execute_script(script))
    finally:
        driver.quit()


def test_shared_content_does_not_contain_the_solution(client: TestClient) -> None:
    """Page, link preview and <iframe> of a puzzle do not have its outcome."""
    asked = {"fen": LOOP, "mode": "play", "task": "win"}
    for path in ("/", "/embed"):
        text = page(client, path, **asked)
        for word in ("Red wins", "Black wins", "perpetual", "order", "mates"):
            assert word not in re.sub(r"<code>.*?</code>", "", text), word
    said = tags(page(client, "/", **asked))
    assert said["og:description"] == "One move alone wins. Find it, and win."


def test_a_move_that_is_forbidden_is_not_called_best(client: TestClient) -> None:
    moves = "d2b1,d0d1,b1c3,d1d0"
    text = page(client, "/", fen="9/9/4k4/9/9/9/9/3n5/9/R2K5_b", moves=moves)
    rows = [row for row in text.split("<tr>") if 'class="forbidden"' in row]
    assert rows
    assert not any('tag best"' in row for row in rows)


def test_pages_without_a_table_offer_nothing_that_needs_it(client: TestClient) -> None:
    board = page(client, "/", fen=MISSING)
    assert "/v1/render.svg" in board
    for path in ("/v1/animation", "/export.pgn"):
        assert path not in board
        assert path in page(client, "/", fen=MISSING, moves="f0f1")
    for text in (
        page(client, "/", 404, fen=MISSING, mode="line"),
        page(client, "/search/KRRKR", 404),
    ):
        assert "has not been built" in text
        assert "tbgen build" in text


def test_a_table_that_is_too_large_has_no_command(client: TestClient) -> None:
    for name in ("KRNAABBKRAABB", "KRNAABBKRAAB"):
        text = page(client, f"/endgames/{name}", 404)
        assert "is too large for a table" in text
        assert "tbgen build" not in text
