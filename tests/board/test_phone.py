"""The board on a phone: what is touched stays in its place, and what is shown is in view."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("selenium", reason="selenium is not installed")

from tests.helpers.board_server import browser
from tests.helpers.browsing import (
    KNIGHT,
    LOOP,
    count,
    moves_made,
    occupied,
    one,
    open_page,
    touch,
    until,
)  # fmt: skip


@pytest.fixture(scope="module")
def phone() -> Iterator[Any]:
    found = browser(390, 844)
    yield found
    found.quit()


def top_of_board(driver: Any) -> float:
    """Return the distance of the board from the top of the screen, in CSS pixels."""
    script = "return document.querySelector('.stage .board').getBoundingClientRect().top"
    return float(driver.execute_script(script))


@pytest.mark.parametrize("scrolled", [0, 120])
def test_the_board_of_the_editor_stays_under_the_finger(phone: Any, scrolled: int) -> None:
    open_page(phone, "/?mode=edit&fen=4k4/9/9/9/9/9/9/9/9/3K5_w")
    phone.execute_script("document.querySelector('.piece[data-piece=R]').click()")
    phone.execute_script("scrollTo(0, arguments[0])", scrolled)
    before = top_of_board(phone)
    height = one(phone, ".verdict").size["height"]
    heights = {height}
    for square, men in (("e5", 3), ("d5", 4), ("e5", 3), ("d5", 2)):
        touch(phone, square)
        until(lambda men=men: len(occupied(phone)) == men and not count(phone, ".busy"))
        assert abs(top_of_board(phone) - before) < 2
        heights.add(
            phone.execute_script(
                "const all = document.querySelectorAll('.verdict > *');"
                "return all[all.length - 1].getBoundingClientRect().bottom"
                " - document.querySelector('.verdict').getBoundingClientRect().top"
            )
        )
    assert len(heights) > 2  # the verdicts differ in height


def test_the_board_of_a_game_stays_under_the_finger(phone: Any) -> None:
    open_page(phone, KNIGHT)
    phone.execute_script("scrollTo(0, 60)")
    before = top_of_board(phone)
    for number, (source, target) in enumerate((("a0", "b2"), ("e7", "e8")), 1):
        touch(phone, source)
        touch(phone, target)
        until(lambda number=number: len(moves_made(phone)) == number and not count(phone, ".busy"))
        assert abs(top_of_board(phone) - before) < 2


@pytest.mark.parametrize("path", [KNIGHT, f"{KNIGHT}&mode=play", "/?mode=edit", "/search/KRKN"])
@pytest.mark.parametrize("scrolled", [0, 150])
def test_an_error_is_in_view_and_moves_nothing(phone: Any, path: str, scrolled: int) -> None:
    open_page(phone, path)
    phone.execute_script("scrollTo(0, arguments[0])", scrolled)
    places = """return [scrollY, ...document.querySelectorAll("header, #main section, #main form")]
            .map((each) => each.getBoundingClientRect?.().top ?? each)"""
    before = phone.execute_script(places)
    one(phone, ".find input").send_keys("nonsense")
    phone.execute_script("scrollTo(0, arguments[0])", scrolled)
    phone.execute_script("document.querySelector('.find').requestSubmit()")
    note = until(lambda: one(phone, ".problem.here"))
    assert phone.execute_script(places) == before
    box = phone.execute_script("return arguments[0].getBoundingClientRect().toJSON()", note)
    assert box["top"] >= 0
    assert box["bottom"] <= 844
    assert box["left"] >= 0
    assert box["right"] <= 390
    note.click()
    assert not count(phone, ".problem.here")
    assert phone.execute_script(places) == before


def test_another_game_begins_at_the_top(phone: Any) -> None:
    open_page(phone, KNIGHT)
    one(phone, ".find input").send_keys("9/9/4k4/9/9/9/9/9/1n7/R2K5 w")
    phone.execute_script("scrollTo(0, 300); document.querySelector('.find').requestSubmit()")
    until(lambda: "b1" in occupied(phone))
    assert phone.execute_script("return scrollY") == 0


def test_a_film_that_starts_is_in_view(phone: Any) -> None:
    open_page(phone, f"/?{LOOP}&mode=line")
    link = phone.find_elements("css selector", ".ladder .button")[-1]
    phone.execute_script("arguments[0].scrollIntoView(); arguments[0].click()", link)
    until(lambda: "play=1" in phone.current_url)
    shown = """const [board, caption] = [".stage .board", ".caption"].map(
            (css) => document.querySelector(css).getBoundingClientRect());
        return board.top > -1 && caption.bottom < innerHeight + 1"""
    for ply in "12":
        until(lambda ply=ply: one(phone, ".film .now").get_attribute("data-frame") == ply)
        assert phone.execute_script(shown)
    one(phone, ".play-line").click()
    phone.execute_script("scrollTo(0, 300); document.querySelector('.play-line').click()")
    until(lambda: phone.execute_script(shown))


def test_the_list_of_a_film_follows_without_scrolling_the_page(page: Any) -> None:
    open_page(page, f"{KNIGHT}&mode=line")
    page.set_window_size(1200, 600)
    try:
        page.execute_script("document.querySelector('.film').style.maxHeight = '4rem'")
        page.execute_script("scrollTo(0, 0); document.querySelector('[data-step=last]').click()")
        seen = """const [list, now] = [".film", ".film .now"].map(
                (css) => document.querySelector(css).getBoundingClientRect());
            return now.top >= list.top && now.bottom <= list.bottom + 1 && scrollY === 0"""
        until(lambda: page.execute_script(seen))
    finally:
        page.set_window_size(1200, 900)


def test_the_order_is_explained(phone: Any) -> None:
    open_page(phone, f"/?{LOOP}")
    assert "order 1" in one(phone, ".reason").text
    assert one(phone, ".verdict .order").is_displayed()


_TARGETS = """
return [...document.querySelectorAll(arguments[0])].filter((each) => each.getClientRects().length)
    .map((each) => each.getBoundingClientRect()).map((box) => [box.width, box.height]);
"""
"""Script that returns width and height of the elements that match a selector."""


@pytest.mark.parametrize("width", [320, 390])
def test_what_is_tapped_is_large(width: int) -> None:
    narrow: Any = browser(width, 844)
    often = ".controls > a, .controls > button, .plain-moves .move, .find button"
    try:
        for path in (KNIGHT, f"{KNIGHT}&mode=play", f"/?{LOOP}&mode=line", "/?mode=edit"):
            for language in ("en", "zh-Hans"):
                open_page(narrow, f"{path}&lang={language}")
                assert narrow.execute_script("return document.documentElement.scrollWidth") <= width
                found = narrow.execute_script(_TARGETS, often)
                assert found
                assert min(min(box) for box in found) >= 44
                tabs = narrow.execute_script(_TARGETS, ".tab")
                assert min(height for _, height in tabs) >= 44
                lists = narrow.execute_script(_TARGETS, ".film a, a.move, .button.small, footer a")
                assert min(min(box) for box in [*lists, *tabs]) >= 24
    finally:
        narrow.quit()


def test_values_on_the_board_can_be_read(phone: Any) -> None:
    open_page(phone, KNIGHT)
    touch(phone, "a0")
    until(lambda: count(phone, ".target text"))
    sizes = """return [...document.querySelectorAll(".target")].map((each) => {
            const [text, disc] = ["text", "circle"].map(
                (css) => each.querySelector(css).getBoundingClientRect());
            const size = parseFloat(getComputedStyle(each.querySelector("text")).fontSize);
            return [size * each.getScreenCTM().a, text.width < disc.width];
        })"""
    found = phone.execute_script(sizes)
    assert found
    assert all(size >= 13 and inside for size, inside in found)


@pytest.mark.parametrize("language", ["en", "zh-Hans", "zh-Hant"])
def test_the_outcomes_of_the_handbook_are_in_view(phone: Any, language: str) -> None:
    open_page(phone, f"/handbook?lang={language}")
    assert phone.execute_script("return document.documentElement.scrollWidth") <= 390
    ends = """return [...document.querySelectorAll(".chapter :is(td, th):nth-child(-n + 5)")].map(
            (cell) => { const range = document.createRange(); range.selectNodeContents(cell);
            return range.getBoundingClientRect().right; })"""
    found = phone.execute_script(ends)
    assert found
    assert max(found) <= 390
    names = "return document.querySelector('.chapter td').getBoundingClientRect().left >= 0"
    phone.execute_script("document.querySelector('.scroll').scrollLeft = 200")
    assert phone.execute_script(names)  # further columns are read beside the name of the endgame
