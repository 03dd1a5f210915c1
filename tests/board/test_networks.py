"""The board in a browser on a slow network, and without one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("selenium", reason="selenium is not installed")

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By

from tests.helpers.browsing import (
    KNIGHT,
    assert_no_console_errors,
    click,
    count,
    moves_made,
    network,
    occupied,
    one,
    open_page,
    press,
    until,
)  # fmt: skip

KINGS = "/?mode=edit&fen=4k4/9/9/9/9/9/9/9/9/3K5_w"


def test_address_and_board_agree_when_going_back_offline(page: Any) -> None:
    open_page(page, KNIGHT)
    for number, (source, target) in enumerate((("a0", "b2"), ("e7", "e8")), 1):
        click(page, source)
        click(page, target)
        until(lambda number=number: len(moves_made(page)) == number and not count(page, ".busy"))
    network(page, offline=True)
    try:
        for _ in range(2):  # a retry
            page.execute_script("history.back()")
            assert "does not answer" in until(lambda: one(page, ".problem.here").text)
            until(lambda: moves_made(page) == ["a0b2", "e7e8"])
            assert "e8" in occupied(page)
            page.execute_script("document.querySelector('.problem.here').remove()")
    finally:
        network(page)
    page.back()
    until(lambda: moves_made(page) == ["a0b2"] and "e7" in occupied(page))
    page.execute_script("history.go(-1)")
    until(lambda: not moves_made(page) and "a0" in occupied(page))
    page.execute_script("history.go(2)")
    until(lambda: moves_made(page) == ["a0b2", "e7e8"] and "e8" in occupied(page))


def test_going_forward_at_once_shows_the_page_left(page: Any) -> None:
    open_page(page, KNIGHT)
    click(page, "a0")
    click(page, "b2")
    until(lambda: moves_made(page) == ["a0b2"])
    network(page, 500)
    try:
        page.execute_script("history.back()")
        until(lambda: not moves_made(page))
        page.execute_script("history.forward()")
        until(lambda: moves_made(page) and not count(page, ".busy"))
        assert "b2" in occupied(page)
    finally:
        network(page)


def test_going_back_to_an_error_page_shows_it(page: Any) -> None:
    open_page(page, "/nothing")
    one(page, ".home").click()
    until(lambda: count(page, ".stage .board"))
    page.back()
    until(lambda: not count(page, ".stage .board") and "/nothing" in page.current_url)


@pytest.fixture
def slow(page: Any) -> Iterator[Any]:
    """Browser in which the editor shows two kings, and whose network then becomes slow."""
    open_page(page, KINGS)
    page.get_log("browser")  # clears the messages of other tests
    network(page, 500)
    yield page
    network(page)


def loaded(driver: Any, squares: str) -> bool:
    """Return whether no page is loading, and pieces stand on exactly these squares."""
    return not count(driver, ".busy") and occupied(driver) == squares.split()


def test_the_editor_keeps_every_piece(slow: Any) -> None:
    one(slow, ".piece[data-piece='N']").click()
    for number, square in enumerate(("d5", "f5", "h5"), 3):
        click(slow, square)
        assert len(occupied(slow)) == number  # drawn before the page is loaded
    until(lambda: loaded(slow, "d0 d5 e9 f5 h5"))
    assert "/3N1N1N1/" in slow.current_url
    slow.back()
    until(lambda: loaded(slow, "d0 d5 e9 f5"))
    slow.execute_script("history.go(-2)")
    until(lambda: loaded(slow, "d0 e9"))
    assert_no_console_errors(slow)


def test_changes_by_the_server_and_on_the_board_keep_their_order(slow: Any) -> None:
    one(slow, ".piece[data-piece='N']").click()
    click(slow, "a5")
    for name in ("Mirror", "Swap colours"):
        press(slow, name, By.LINK_TEXT)
    click(slow, "c3")
    until(lambda: loaded(slow, "c3 e0 f9 i4"))
    until(lambda: "/8n/" in slow.current_url)


def test_the_editor_keeps_a_selection(slow: Any) -> None:
    click(slow, "d0")
    click(slow, "e0")
    click(slow, "e9")
    until(lambda: not count(slow, ".busy") and count(slow, ".selected") == 1)
    click(slow, "f9")
    until(lambda: loaded(slow, "e0 f9"))


def test_a_change_without_the_server_is_taken_back(page: Any) -> None:
    open_page(page, KINGS)
    one(page, ".piece[data-piece='N']").click()
    network(page, offline=True)
    try:
        click(page, "d5")
        assert "does not answer" in until(lambda: one(page, ".problem.here").text)
        assert loaded(page, "d0 e9")
    finally:
        network(page)
    click(page, "d5")
    until(lambda: loaded(page, "d0 d5 e9"))


def mark_palette(driver: Any) -> None:
    """Add the class `old` to the palette, which a new page replaces."""
    driver.execute_script("document.querySelector('.palette').classList.add('old')")


@pytest.mark.parametrize("finger", [False, True])
def test_a_press_on_the_palette_outlives_its_button(slow: Any, finger: bool) -> None:
    one(slow, ".piece[data-piece='N']").click()
    mark_palette(slow)
    click(slow, "d5")
    box = one(slow, ".piece[data-piece='R']").rect
    x, y = (int(box[at] + box[size] / 2) for at, size in (("x", "width"), ("y", "height")))
    if finger:
        slow.execute_cdp_cmd(
            "Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]}
        )
    else:
        held = ActionChains(slow, duration=0)
        held.w3c_actions.pointer_action.move_to_location(x, y)
        held.w3c_actions.pointer_action.pointer_down()
        held.perform()
    until(lambda: not count(slow, ".palette.old, .busy"))
    if finger:
        slow.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    else:
        ActionChains(slow).release().perform()
    until(lambda: one(slow, ".piece[data-piece='R']").get_attribute("aria-pressed") == "true")
    click(slow, "f5")
    until(lambda: loaded(slow, "d0 d5 e9 f5"))
    assert "/3N1R3/" in slow.current_url


def typed(driver: Any, text: str) -> None:
    """Type a position into the field of the editor, in one moment."""
    driver.execute_script(
        "const field = document.querySelector('form.text textarea'); field.focus();"
        "field.value = arguments[0]; field.dispatchEvent(new Event('input', {bubbles: true}))",
        text,
    )


def test_a_change_follows_the_text_typed_before(slow: Any) -> None:
    one(slow, ".piece[data-piece='N']").click()
    typed(slow, "3k5/9/9/9/9/9/9/9/9/R3K4 w")
    click(slow, "i5")
    until(lambda: loaded(slow, "a0 d9 e0 i5"))
    typed(slow, "3k5/9/9/9/9/9/9/9/9/R3K4 w")
    press(slow, "Mirror", By.LINK_TEXT)
    until(lambda: loaded(slow, "e0 f9 i0"))
    assert_no_console_errors(slow)


def test_text_typed_after_a_change_is_kept(slow: Any) -> None:
    one(slow, ".piece[data-piece='N']").click()
    mark_palette(slow)
    click(slow, "i5")
    press(slow, "form.text textarea")
    typed(slow, "3k5/9/9/9/9/9/9/9/9/R3K4")
    until(lambda: not count(slow, ".palette.old"))
    ActionChains(slow).send_keys(" b").perform()
    until(lambda: loaded(slow, "a0 d9 e0") and count(slow, "#main[data-fen$='R3K4_b']"))
    assert one(slow, "form.text textarea").get_property("value") == "3k5/9/9/9/9/9/9/9/9/R3K4 b"
