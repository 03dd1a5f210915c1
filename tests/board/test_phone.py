"""The board on a phone: what is touched stays in its place, and what is shown is in view."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("selenium", reason="selenium is not installed")

from tests.helpers.board_server import browser
from tests.helpers.browsing import (
    KNIGHT,
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


def test_another_game_begins_at_the_top(phone: Any) -> None:
    open_page(phone, KNIGHT)
    one(phone, ".find input").send_keys("9/9/4k4/9/9/9/9/9/1n7/R2K5 w")
    phone.execute_script("scrollTo(0, 300); document.querySelector('.find').requestSubmit()")
    until(lambda: "b1" in occupied(phone))
    assert phone.execute_script("return scrollY") == 0
