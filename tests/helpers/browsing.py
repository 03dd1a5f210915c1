"""Actions on the page of the board in a browser: find elements, wait, click squares, touch.

`driver` is a Selenium driver; a square has its ICCS name, such as `e0`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlparse

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By

from tests.helpers.board_server import demo

KNIGHT = "/?fen=9/9/3ak4/9/9/9/9/9/9/N2K5_w"
"""Address, relative to the server, of the page of a position in which Red mates in 37 plies."""

LOOP = "fen=9/9/4k4/9/9/9/9/9/1n7/R2K5_w"
"""Query parameter `fen` of a position that Red wins, since Black must give perpetual check."""

_STYLED = """
const styles = getComputedStyle(document.documentElement);
return document.readyState === "complete" && styles.getPropertyValue("--paper") !== "";
"""
"""Script that returns whether the page is loaded and the board's style sheet applies to it."""


def open_page(driver: Any, path: str) -> None:
    """Open the page at `path` of the demo server, and wait until its style applies."""
    driver.get(demo().url + path)
    until(lambda: driver.execute_script(_STYLED))


def until(what: Callable[[], Any], seconds: float = 8) -> Any:
    """Call the function `what` until its result is true, and return the result.

    An exception counts as a false result. After `seconds`, raises the last exception or fails.
    """
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


def own_value(driver: Any) -> str:
    """Return order and number (docs/values.md) of the position on the page, such as `01-254`."""
    return str(one(driver, "code.own").get_attribute("textContent"))


def screen_point(driver: Any, square: str) -> tuple[int, int]:
    """Scroll the board into view, and return (x, y) of a square in the window, in CSS pixels."""
    return tuple(
        driver.execute_script(
            """const svg = document.querySelector(".stage svg.board");
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
    x, y = screen_point(driver, square)
    chain = ActionChains(driver, duration=0)
    chain.w3c_actions.pointer_action.move_to_location(x, y)
    chain.w3c_actions.pointer_action.click()
    chain.perform()


def press(driver: Any, value: str, by: str = By.CSS_SELECTOR) -> None:
    """Find and click an element, again if the page is replaced at the same time."""
    until(lambda: driver.find_element(by, value).click() or True)


def touch(driver: Any, square: str, target: str | None = None) -> None:
    """Tap a square with a finger; with `target`, drag from the square to that one."""

    def event(kind: str, points: list[dict[str, int]]) -> None:
        driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    x, y = screen_point(driver, square)
    event("touchStart", [{"x": x, "y": y}])
    if target is not None:
        to_x, to_y = screen_point(driver, target)
        for step in range(1, 5):
            event("touchMove", [{"x": x + (to_x - x) * step // 4, "y": y + (to_y - y) * step // 4}])
    event("touchEnd", [])


def assert_no_console_errors(driver: Any) -> None:
    serious = [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
    assert not serious, serious


def live_text(driver: Any) -> str:
    """Return the latest text that the page announces to screen readers (its live region)."""
    return str(one(driver, "#said").get_attribute("textContent"))


def drag_from(driver: Any, css: str, square: str) -> None:
    """Drag with the mouse from the middle of the element with this CSS selector to a square."""
    box = one(driver, css).rect
    target = screen_point(driver, square)
    chain = ActionChains(driver, duration=20)
    pointer = chain.w3c_actions.pointer_action
    pointer.move_to_location(int(box["x"] + box["width"] / 2), int(box["y"] + box["height"] / 2))
    pointer.pointer_down()
    pointer.move_to_location(target[0] + 20, target[1] + 20)
    pointer.move_to_location(*target)
    pointer.pointer_up()
    chain.perform()


def network(driver: Any, latency: int = 0, *, offline: bool = False) -> None:
    """Delay the answers to a page by `latency` milliseconds, or take the page offline."""
    driver.execute_cdp_cmd("Network.enable", {})
    conditions = {
        "offline": offline, "latency": latency, "downloadThroughput": -1, "uploadThroughput": -1
    }  # fmt: skip
    driver.execute_cdp_cmd("Network.emulateNetworkConditions", conditions)


def occupied(driver: Any) -> list[str]:
    """Return the names of the squares with a piece on the board, in order."""
    script = """return [...document.querySelectorAll(".stage .pieces use")]
        .map((use) => use.dataset.square).sort()"""
    return list(driver.execute_script(script))
