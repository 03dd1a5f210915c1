"""The board in a real browser: lines, playing, editing, links, keys, touch, and no scripts."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlparse

import pytest

from tests.kits.boardkit import browser, demo

selenium = pytest.importorskip("selenium", reason="selenium is not installed")

from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

KNIGHT = "/?fen=9/9/3ak4/9/9/9/9/9/9/N2K5_w"
"""Red mates in 37 plies."""

LOOP = "fen=9/9/4k4/9/9/9/9/9/1n7/R2K5_w"
"""Black must check for ever."""

PICTURES = os.environ.get("TBGEN_SCREENSHOTS")
"""Where to keep pictures of what was seen; nowhere by default."""


@pytest.fixture(scope="module")
def page() -> Iterator[Any]:
    found = browser()
    yield found
    found.quit()


def open_page(driver: Any, path: str) -> None:
    driver.get(demo().url + path)


def until(what: Callable[[], Any], seconds: float = 8) -> Any:
    """What `what` returns as soon as it is true; elements may vanish while it looks."""
    end = time.monotonic() + seconds
    while True:
        try:
            found = what()
        except Exception:
            if time.monotonic() > end:
                raise
            found = None
        if found:
            return found
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def one(driver: Any, css: str) -> Any:
    return driver.find_element(By.CSS_SELECTOR, css)


def count(driver: Any, css: str) -> int:
    return len(driver.find_elements(By.CSS_SELECTOR, css))


def moves_made(driver: Any) -> list[str]:
    found = parse_qs(urlparse(driver.current_url).query).get("moves", [""])[0]
    return found.split(",") if found else []


def picture(driver: Any, name: str) -> None:
    if PICTURES:
        driver.save_screenshot(str(Path(PICTURES) / f"{name}.png"))


def at(driver: Any, square: str) -> tuple[int, int]:
    """Where a square is on the screen."""
    return tuple(
        driver.execute_script(
            """const svg = document.querySelector("svg.board");
            const file = "abcdefghi".indexOf(arguments[0][0]), rank = +arguments[0][1];
            const turned = svg.dataset.flip === "1";
            svg.scrollIntoView({block: "nearest"});
            const x = turned ? 8 - file : file, y = turned ? rank : 9 - rank;
            const p = new DOMPoint(100 * x, 100 * y).matrixTransform(svg.getScreenCTM());
            return [Math.round(p.x), Math.round(p.y)];""",
            square,
        )
    )


def click(driver: Any, square: str) -> None:
    x, y = at(driver, square)
    chain = ActionChains(driver, duration=0)
    chain.w3c_actions.pointer_action.move_to_location(x, y)
    chain.w3c_actions.pointer_action.click()
    chain.perform()


def touch(driver: Any, square: str, target: str | None = None) -> None:
    """Tap a square with a finger, or drag from it to another."""

    def event(kind: str, points: list[dict[str, int]]) -> None:
        driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    x, y = at(driver, square)
    event("touchStart", [{"x": x, "y": y}])
    if target is not None:
        to_x, to_y = at(driver, target)
        for step in range(1, 5):
            event("touchMove", [{"x": x + (to_x - x) * step // 4, "y": y + (to_y - y) * step // 4}])
    event("touchEnd", [])


def no_complaints(driver: Any) -> None:
    serious = [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
    assert not serious, serious


def test_a_line_of_thirty_plies(page: Any) -> None:
    open_page(page, KNIGHT)
    assert "Red mates in 37 plies (19 moves)" in one(page, ".reason").text
    for ply in range(30):
        before = page.current_url
        one(page, ".button.suggested").click()
        until(lambda before=before: page.current_url != before)
        until(lambda ply=ply: f"{36 - ply:03}" in one(page, ".turn code").text)
    assert len(moves_made(page)) == 30
    assert "7 plies" in one(page, ".reason").text
    picture(page, "board")
    page.back()
    until(lambda: len(moves_made(page)) == 29 and "008" in one(page, ".turn code").text)
    page.refresh()
    until(lambda: "008" in one(page, ".turn code").text)
    assert count(page, ".game a") == 29
    no_complaints(page)


def test_clicks_and_drags_make_moves(page: Any) -> None:
    open_page(page, KNIGHT)
    click(page, "a0")
    assert until(lambda: count(page, ".target")) == 2
    click(page, "e5")  # no such move: the choice is given up
    assert until(lambda: not count(page, ".target"))
    click(page, "a0")
    click(page, "b2")
    until(lambda: moves_made(page) == ["a0b2"])
    until(lambda: "Black" in one(page, ".turn").text)
    king = at(page, "e7")
    target = at(page, "e8")
    chain = ActionChains(page, duration=20)
    pointer = chain.w3c_actions.pointer_action
    pointer.move_to_location(*king)
    pointer.pointer_down()
    pointer.move_to_location((king[0] + target[0]) // 2, (king[1] + target[1]) // 2)
    pointer.move_to_location(*target)
    pointer.pointer_up()
    chain.perform()
    until(lambda: moves_made(page) == ["a0b2", "e7e8"])
    one(page, ".button.flip").click()
    until(
        lambda: page.execute_script("return document.querySelector('.board').dataset.flip") == "1"
    )
    click(page, "b2")
    assert until(lambda: count(page, ".target"))
    no_complaints(page)


def test_the_best_line_plays_itself(page: Any) -> None:
    open_page(page, KNIGHT)
    one(page, ".autoplay").click()
    until(lambda: len(moves_made(page)) >= 3)
    one(page, ".autoplay").click()
    time.sleep(1)
    made = len(moves_made(page))
    time.sleep(1)
    assert len(moves_made(page)) == made


def test_the_forced_loop_is_shown(page: Any) -> None:
    open_page(page, f"/?{LOOP}")
    assert "perpetual check, order 1" in one(page, ".reason").text
    page.find_element(By.LINK_TEXT, "Show the forced loop").click()
    until(lambda: count(page, "ol.line li.loop") == 4)
    assert "Black checks on every move" in one(page, ".end").text
    start = page.execute_script("return document.querySelector('.board .pieces').innerHTML")
    one(page, ".play-line").click()
    until(lambda: count(page, "ol.line li.now") == 1)
    picture(page, "loop")
    seen = set()
    end = time.monotonic() + 6
    while len(seen) < 4 and time.monotonic() < end:
        seen.add(page.execute_script("return document.querySelector('li.now')?.dataset.move"))
        time.sleep(0.1)
    assert len(seen - {None}) == 4
    one(page, ".play-line").click()
    until(
        lambda: (
            page.execute_script("return document.querySelector('.board .pieces').innerHTML")
            == start
        )
    )


def test_playing_against_the_table(page: Any) -> None:
    open_page(page, KNIGHT)
    page.find_element(By.LINK_TEXT, "Playing mode").click()
    until(lambda: "/play" in page.current_url and count(page, ".plain-moves"))
    assert count(page, ".moves code") == 0
    assert "mates" not in one(page, "#main").text
    click(page, "a0")
    click(page, "b2")
    until(lambda: len(moves_made(page)) == 2)  # the table has answered
    until(lambda: count(page, ".plain-moves"))
    one(page, "details.hint summary").click()
    assert len(one(page, "details.hint b").text) == 4
    picture(page, "play")
    page.back()
    until(lambda: not moves_made(page) and count(page, ".plain-moves"))
    time.sleep(0.3)  # nobody answers a move that has been taken back
    assert not moves_made(page)
    page.forward()
    until(lambda: len(moves_made(page)) == 2)
    one(page, ".button.back").click()
    until(lambda: not moves_made(page))
    page.find_element(By.LINK_TEXT, "Look up answers").click()
    until(lambda: "37 plies" in one(page, ".reason").text)
    no_complaints(page)


def test_the_referee_announces_forbidden_repetitions(page: Any) -> None:
    moves = "b1c3,d1d0,c3b1,d0d1"
    fen = "9/9/4k4/9/9/9/9/9/1n1K5/R8_b"
    open_page(page, f"/play?fen={fen}&side=black&moves={moves}")
    assert "Red wins" in one(page, ".referee").text
    assert "checks on every move" in one(page, ".referee").text
    open_page(page, f"/play?{LOOP}&side=black&moves=d0d1,b1c3,d1d0")
    assert until(lambda: count(page, ".forbidden")) == 1
    picture(page, "referee")


def test_the_editor(page: Any) -> None:
    open_page(page, "/edit?fen=4k4/9/9/9/9/9/9/9/9/4K4_w")
    assert "kings face each other" in one(page, ".problem").text
    picture(page, "editor")
    one(page, ".piece[data-piece='R']").click()
    click(page, "e4")
    until(lambda: count(page, ".pieces use") == 3)
    assert "in check" in one(page, ".problem").text
    page.find_element(By.PARTIAL_LINK_TEXT, "Side to move").click()
    until(lambda: count(page, ".fine"))
    one(page, ".piece[data-piece='R']").click()  # put the rook away again
    click(page, "e9")
    click(page, "d9")
    until(lambda: count(page, ".pieces use[data-square='d9']"))
    for name in ("Mirror", "Swap colours"):
        before = page.current_url
        page.find_element(By.LINK_TEXT, name).click()
        until(lambda before=before: page.current_url != before)
    until(lambda: count(page, ".pieces use[data-square='f0']"))
    field = one(page, "textarea[name=fen]")
    field.clear()
    field.send_keys("4K44B49994n495k3990")
    one(page, "form button").click()
    until(lambda: count(page, ".fine") and count(page, ".pieces use") == 4)
    page.find_element(By.LINK_TEXT, "Look up this position").click()
    until(lambda: one(page, "h1").text == "KNKA")
    no_complaints(page)


def test_keys_alone_are_enough(page: Any) -> None:
    open_page(page, KNIGHT)
    keys = ActionChains(page, duration=0)
    # The cursor begins on e0; the knight is on a0.
    keys.send_keys(Keys.ARROW_LEFT * 5, Keys.ENTER).perform()
    assert until(lambda: count(page, ".target")) == 2
    ActionChains(page).send_keys(Keys.ARROW_RIGHT, Keys.ARROW_UP * 2, Keys.ENTER).perform()
    until(lambda: moves_made(page) == ["a0b2"])
    until(lambda: "Black" in one(page, ".turn").text)
    ActionChains(page).send_keys(" ").perform()
    until(lambda: len(moves_made(page)) == 2 and "Red" in one(page, ".turn").text)
    ActionChains(page).send_keys(Keys.BACKSPACE).perform()
    until(lambda: len(moves_made(page)) == 1)
    # Links are reached with the tabulator too.
    open_page(page, KNIGHT)
    for _ in range(60):
        ActionChains(page).send_keys(Keys.TAB).perform()
        if page.execute_script("return document.activeElement.className") == "move":
            break
    ActionChains(page).send_keys(Keys.ENTER).perform()
    until(lambda: len(moves_made(page)) == 1)


def test_endgame_pages_in_three_languages(page: Any) -> None:
    open_page(page, "/endgames")
    page.find_element(By.LINK_TEXT, "KRKN").click()
    until(lambda: one(page, "h1").text == "KRKN")
    assert count(page, ".longest a") == 4
    assert count(page, ".histogram") == 2
    assert count(page, ".graph a") == 3
    picture(page, "endgame")
    for name, word in (("繁體", "紅方"), ("简体", "红方"), ("English", "Red to move")):
        page.find_element(By.LINK_TEXT, name).click()
        until(lambda word=word: word in one(page, "#main").text)
    one(page, ".longest a").click()
    until(lambda: "25 plies" in one(page, ".reason").text)
    page.find_element(By.LINK_TEXT, "简体").click()
    until(lambda: "红方25步（13回合）杀" in one(page, ".reason").text)
    assert one(page, "a.move").text[0] in "帅车"
    picture(page, "chinese")


def test_a_phone(page: Any) -> None:
    phone = browser(390, 844)
    try:
        open_page(phone, KNIGHT)
        wide = phone.execute_script("return document.documentElement.scrollWidth")
        assert wide <= 390
        for path in ("/endgames", "/endgames/KRKN", "/edit", f"/line?{LOOP}"):
            open_page(phone, path)
            assert phone.execute_script("return document.documentElement.scrollWidth") <= 390, path
        open_page(phone, KNIGHT)
        touch(phone, "a0")
        assert until(lambda: count(phone, ".target")) == 2
        touch(phone, "b2")
        until(lambda: moves_made(phone) == ["a0b2"])
        until(lambda: "Black" in one(phone, ".turn").text)
        touch(phone, "e7", "e8")
        until(lambda: moves_made(phone) == ["a0b2", "e7e8"])
        phone.execute_script("scrollTo(0, 0)")
        picture(phone, "phone")
    finally:
        phone.quit()


def test_without_scripts() -> None:
    plain = browser(scripts=False)
    try:
        open_page(plain, KNIGHT)
        assert "Red mates in 37 plies" in one(plain, ".reason").text
        one(plain, ".group.win a.move").click()
        assert len(moves_made(plain)) == 1
        one(plain, ".button.suggested").click()
        assert len(moves_made(plain)) == 2
        one(plain, ".board a").click()  # a piece that may move
        assert count(plain, ".board a.target")
        one(plain, ".board a.target").click()
        assert len(moves_made(plain)) == 3
        one(plain, ".button.back").click()
        assert len(moves_made(plain)) == 2
        open_page(plain, "/edit")
        field = one(plain, "textarea[name=fen]")
        field.clear()
        field.send_keys("4k4/9/9/9/9/9/9/9/9/4K4 w")
        one(plain, "form button").click()
        assert "kings face" in until(lambda: one(plain, ".problem").text)
        open_page(plain, "/endgame.cgi?994K4999991N7r2k5")
        assert one(plain, "h1").text == "KRKN"
        picture(plain, "no-script")
    finally:
        plain.quit()
