"""The board in a browser on a slow network, and without one."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("selenium", reason="selenium is not installed")

from tests.helpers.browsing import (
    KNIGHT,
    click,
    count,
    moves_made,
    network,
    occupied,
    one,
    open_page,
    until,
)  # fmt: skip


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
