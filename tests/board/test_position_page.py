"""The board in a real browser: keys and focus, dragging, mistakes, settings, contrast."""

from __future__ import annotations

from typing import Any

import pytest

selenium = pytest.importorskip("selenium", reason="selenium is not installed")

from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

from tests.helpers.browsing import (  # noqa: E402
    KNIGHT,
    LOOP,
    click,
    count,
    drag_from,
    live_text,
    moves_made,
    one,
    open_page,
    until,
)  # fmt: skip


def test_pieces_are_dragged_from_the_palette_and_typed_text_stays(page: Any) -> None:
    open_page(page, "/?mode=edit&fen=3k5/9/9/9/9/9/9/9/9/4K4_w")
    drag_from(page, ".piece[data-piece='N']", "a0")
    until(lambda: count(page, ".pieces use[data-square='a0']"))
    until(lambda: "Red wins" in one(page, ".fine h1").text)  # the piece is drawn before the answer
    field = one(page, "textarea[name=fen]")
    field.clear()
    field.send_keys("9/9/4k4/9/9/9/9/3n6/9/R2K5 b")
    until(lambda: count(page, ".bad") == 9)
    assert one(page, "textarea[name=fen]").get_attribute("value").endswith("R2K5 b")
    assert "Rank 2" in one(page, ".problem").text


def test_the_board_works_with_keys_only(page: Any) -> None:
    open_page(page, KNIGHT)
    board = one(page, ".board")
    # The cursor begins on e4; the knight is on a0.
    board.send_keys(Keys.ARROW_LEFT * 4, Keys.ARROW_DOWN * 4)
    assert "Red knight" in live_text(page)
    board.send_keys(Keys.ENTER)
    assert until(lambda: count(page, ".target")) == 2
    board.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_UP * 2, Keys.ENTER)
    until(lambda: moves_made(page) == ["a0b2"])
    until(lambda: "Black" in one(page, ".turn").text)
    assert "Red wins" in until(lambda: live_text(page))
    # The board keeps the focus from one page to the next.
    ActionChains(page).send_keys(" ").perform()
    until(lambda: len(moves_made(page)) == 2 and "Red" in one(page, ".turn").text)
    ActionChains(page).send_keys(Keys.BACKSPACE).perform()
    until(lambda: len(moves_made(page)) == 1)
    # Links are reached with Tab, too.
    open_page(page, KNIGHT)
    for _ in range(60):
        ActionChains(page).send_keys(Keys.TAB).perform()
        if page.execute_script("return document.activeElement.className") == "move":
            break
    ActionChains(page).send_keys(Keys.ENTER).perform()
    until(lambda: len(moves_made(page)) == 1)


def test_keys_belong_to_the_page_where_the_board_has_no_focus(page: Any) -> None:
    open_page(page, KNIGHT)
    page.execute_script("document.body.style.minHeight = '4000px'")
    before = page.current_url
    body = ActionChains(page)
    body.send_keys(Keys.ARROW_DOWN * 3, "f", " ").perform()
    until(lambda: page.execute_script("return scrollY") > 0)
    assert page.current_url == before


def test_a_mistake_keeps_the_board(page: Any) -> None:
    open_page(page, KNIGHT)
    one(page, ".find input").send_keys("nonsense", Keys.ENTER)
    until(lambda: count(page, ".problem.here"))
    assert count(page, ".pieces use") == 4
    assert "moves" not in page.current_url


def test_settings_are_remembered(page: Any) -> None:
    open_page(page, KNIGHT)
    page.find_element(By.LINK_TEXT, "Letters").click()
    until(lambda: "pieces=latin" in page.current_url)
    for address in ("/", KNIGHT, "/endgames"):  # a shared link does not contain the setting
        open_page(page, address)
        until(lambda: "pieces=latin" in page.current_url)
    open_page(page, f"{KNIGHT}&pieces=pictures")
    assert "latin" not in page.current_url
    open_page(page, KNIGHT)
    until(lambda: "pieces=latin" in page.current_url)
    page.find_element(By.LINK_TEXT, "Characters").click()
    until(lambda: "pieces=latin" not in page.current_url)
    page.execute_script("localStorage.clear()")


def test_a_piece_on_every_point(page: Any) -> None:
    open_page(page, KNIGHT)
    one(page, ".where summary").click()
    page.find_element(By.PARTIAL_LINK_TEXT, "Red knight").click()
    until(lambda: count(page, ".heat") > 60)
    click(page, "e4")
    until(lambda: "4N4" in page.current_url and not count(page, ".heat"))


CONTRASTS = """
const light = (rgb) => { const [r, g, b] = rgb.map((v) => (v /= 255, v <= .03928 ? v / 12.92 :
  ((v + .055) / 1.055) ** 2.4)); return .2126 * r + .7152 * g + .0722 * b; };
const parse = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
const behind = (element) => { for (let at = element; at; at = at.parentElement) {
  const [r, g, b, a = 1] = parse(getComputedStyle(at).backgroundColor);
  if (a === 1) return [r, g, b]; } return [255, 255, 255]; };
const poor = [];
for (const element of document.querySelectorAll("body *:not(svg *)")) {
  const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  if (!own || !element.getClientRects().length) continue;
  const [one, other] = [light(parse(getComputedStyle(element).color).slice(0, 3)),
    light(behind(element))].sort((x, y) => y - x);
  if ((one + .05) / (other + .05) < 4.5) poor.push(element.outerHTML.slice(0, 120));
}
return poor;
"""


def test_contrast_and_headings(page: Any) -> None:
    for theme in ("light", "dark"):
        for path in (
            f"/?{LOOP}", f"/?{LOOP}&moves=d0d1,b1c3,d1d0", f"/?mode=line&{LOOP}&at=2",
            "/?mode=edit", "/endgames", "/endgames/KRKN", "/?fen=hello", "/nothing", "/api",
        ):  # fmt: skip
            open_page(page, f"{path}{'&' if '?' in path else '?'}theme={theme}")
            page.execute_script(
                "document.querySelectorAll('details').forEach((d) => d.open = true)"
            )
            assert page.execute_script(CONTRASTS) == [], (theme, path)
            assert count(page, "h1") == 1, path
            empty = "return [...document.querySelectorAll('th')].filter((th) => !th.textContent)"
            assert page.execute_script(empty) == []


def test_solved_puzzles_are_counted_in_the_browser(page: Any) -> None:
    mates = ("3k5/9/9/9/R8/9/9/9/9/4K4_w", "3k5/9/9/9/1R7/9/9/9/9/4K4_w")
    for number, (fen, rook) in enumerate(zip(mates, ("a5", "b5"), strict=True), 1):
        open_page(page, f"/?fen={fen}&mode=play&task=win")
        click(page, rook)
        click(page, "d5")
        until(lambda: "Solved" in one(page, ".puzzle").text)
        until(lambda number=number: f"{number} in a row" in one(page, ".streak").text)
    # Solving one again does not count; a lost one starts again.
    open_page(page, f"/?fen={mates[1]}&moves=b5d5&mode=play&task=win")
    until(lambda: "2 in a row, 2 at best" in one(page, ".streak").text)
    open_page(page, "/?fen=5k3/9/9/9/9/R8/9/4n4/9/3K5_w&mode=play&task=win")
    until(lambda: "2 in a row" in one(page, ".streak").text)
    click(page, "d0")
    click(page, "d1")
    until(lambda: "0 in a row, 2 at best" in one(page, ".streak").text)
    page.execute_script("localStorage.clear()")


def test_the_engine_answers_without_a_table(page: Any) -> None:
    open_page(page, "/?fen=3k1a3/9/9/9/9/9/9/4n4/9/4KR3_w&mode=play")
    click(page, "f0")
    click(page, "f1")
    until(lambda: len(moves_made(page)) == 2, 20)
    until(lambda: "Make a move" in one(page, ".task").text)
