"""Building from the board in a real browser: the first visit, a missing table, the demo."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.board_server import Demo, serve

selenium = pytest.importorskip("selenium", reason="selenium is not installed")

from selenium.webdriver.common.keys import Keys  # noqa: E402

from tests.helpers.browsing import assert_no_console_errors, count, one, until  # noqa: E402


def tables(server: Demo) -> int:
    """Return the number of tables that a server has, from /healthz."""
    with urllib.request.urlopen(f"{server.url}/healthz") as answer:
        return int(json.load(answer)["tables"])


def test_a_missing_table_is_built_on_request(page: Any, tmp_path: Path) -> None:
    server = serve(tmp_path, "--allow-build")
    page.get(f"{server.url}/?fen=3k5/4a4/9/9/9/9/9/9/9/N3K4_w")
    one(page, ".missing form.build button").click()  # as any other user of the machine
    until(lambda: "Only who has started" in one(page, ".problem.here").text)
    page.get_log("browser")  # clears the message about the refusal
    page.get(server.entry)
    assert count(page, "form.build") == 3  # the suggested sets
    page.get(f"{server.url}/?fen=3k5/4a4/9/9/9/9/9/9/9/N3K4_w")
    assert "No table yet" in one(page, "h1").text
    one(page, ".missing form.build button").click()
    until(lambda: count(page, ".building progress"))
    until(lambda: "Red wins" in one(page, "h1").text, 120)
    assert not count(page, ".missing")
    assert "fen=3k5" in page.current_url
    assert tables(server) == 2
    assert_no_console_errors(page)


def test_a_build_is_cancelled(page: Any, tmp_path: Path) -> None:
    server = serve(tmp_path, "--allow-build")
    page.get(server.entry)
    one(page, ".find input").send_keys("KRPKR", Keys.ENTER)
    until(lambda: "It needs" in one(page, ".missing").text)
    one(page, ".missing form.build button").click()
    until(lambda: count(page, ".building"))
    until(lambda: "now" in one(page, ".building .said").text, 60)
    one(page, ".building form.build button").click()
    until(lambda: "was cancelled" in one(page, ".missing").text, 60)
    assert "Build it" in one(page, ".missing").text


def test_the_demo_opens_at_once_and_shows_its_progress(page: Any, tmp_path: Path) -> None:
    server = serve(tmp_path, "--demo")
    page.get(f"{server.url}/")
    assert count(page, ".building progress") == 1
    assert not count(page, "form.build")  # only the demo builds here
    until(lambda: tables(server) > 3, 120)
    share = until(lambda: one(page, ".building progress").get_attribute("value"))
    assert 0 < float(share) <= 1
