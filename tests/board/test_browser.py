"""The board in a real browser: lines, playing, editing, links, touch, and no scripts."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.helpers.board_server import browser

selenium = pytest.importorskip("selenium", reason="selenium is not installed")

from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.select import Select  # noqa: E402

from tests.helpers.browsing import (  # noqa: E402
    KNIGHT,
    LOOP,
    assert_no_console_errors,
    click,
    count,
    live_text,
    moves_made,
    one,
    open_page,
    own_value,
    press,
    screen_point,
    touch,
    until,
)  # fmt: skip


def test_a_line_of_thirty_plies(page: Any) -> None:
    open_page(page, KNIGHT)
    assert "Red mates in 37 plies (19 moves)" in one(page, ".reason").text
    for ply in range(30):
        before = page.current_url
        one(page, ".button.suggested").click()
        until(lambda before=before: page.current_url != before)
        until(lambda ply=ply: f"{36 - ply:03}" in own_value(page))
    assert len(moves_made(page)) == 30
    assert "7 plies" in one(page, ".reason").text
    page.back()
    until(lambda: len(moves_made(page)) == 29 and "008" in own_value(page))
    page.refresh()
    until(lambda: "008" in own_value(page))
    assert count(page, ".game a") == 29
    assert_no_console_errors(page)


def test_clicks_and_drags_make_moves(page: Any) -> None:
    open_page(page, KNIGHT)
    click(page, "a0")
    assert until(lambda: count(page, ".target")) == 2
    assert "Red knight, a0" in page.execute_script(
        "return document.querySelector('[data-square=a0] title').textContent"
    )
    click(page, "e5")  # no such move: deselects, and gives the reason
    assert until(lambda: not count(page, ".target"))
    assert "a0e5: the knight on a0 cannot reach e5" in until(
        lambda: one(page, ".problem.here").text
    )
    page.get_log("browser")  # clears the message about the refusal
    click(page, "a0")
    click(page, "b2")
    until(lambda: moves_made(page) == ["a0b2"])
    until(lambda: "Black" in one(page, ".turn").text)
    king = screen_point(page, "e7")
    target = screen_point(page, "e8")
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
    assert_no_console_errors(page)


def test_the_forced_loop_is_shown(page: Any) -> None:
    open_page(page, f"/?{LOOP}")
    assert "perpetual check, which loses (order 1)" in one(page, ".reason").text
    page.find_element(By.LINK_TEXT, "Show why").click()
    until(lambda: count(page, ".film a.loop") == 4)
    until(lambda: "check 1 (checking for ever loses)" in one(page, ".caption").text)  # playing
    assert "play=1" in page.current_url
    one(page, ".play-line").click()
    one(page, "[data-step=first]").click()
    names = """return [...document.querySelectorAll(".stage .pieces use")]
        .map((use) => use.getAttribute("aria-label") + use.dataset.square)"""
    before = sorted(page.execute_script(names))
    assert "Red king, d0d0" in before
    assert "Black checks on every move" in one(page, ".end").text
    assert count(page, ".ladder li") == 2
    for ply in (1, 2):
        one(page, "[data-step=forward]").click()
        until(lambda ply=ply: one(page, ".film .now").get_attribute("data-frame") == str(ply))
    assert count(page, ".stage .arrow.check") == 1
    assert "check" in one(page, ".caption").text
    assert one(page, ".caption").text == live_text(page)
    assert all(name[-2:] == name[-4:-2] for name in page.execute_script(names))
    one(page, "[data-step=last]").click()
    one(page, ".play-line").click()
    until(lambda: "round 2" in one(page, ".caption").text)
    one(page, ".play-line").click()
    one(page, "[data-step=first]").click()
    until(lambda: count(page, ".pieces use[data-square='d0']") == 1 and not count(page, ".now"))
    assert sorted(page.execute_script(names)) == before
    page.find_element(By.CSS_SELECTOR, ".board").send_keys(Keys.ARROW_RIGHT)
    until(lambda: count(page, ".pieces use[data-square='d1']") == 1)
    assert "at=1" in page.current_url
    assert_no_console_errors(page)


def test_a_film_and_its_caption_fit_a_projector(page: Any) -> None:
    page.set_window_size(1280, 720)
    try:
        open_page(page, f"/?{LOOP}&mode=line&at=2")
        bottom = """const box = document.querySelector(".caption").getBoundingClientRect();
            return [box.bottom, innerHeight]"""
        low, height = page.execute_script(bottom)
        assert one(page, ".caption").text
        assert low <= height
    finally:
        page.set_window_size(1200, 900)


def test_the_steps_of_a_film_are_one_entry_of_the_history(page: Any) -> None:
    open_page(page, f"/?{LOOP}&mode=line&at=1")
    for ply in (2, 3):
        one(page, "[data-step=forward]").click()
        until(lambda ply=ply: f"at={ply}" in page.current_url)
    page.back()
    until(lambda: one(page, ".film .now").get_attribute("data-frame") == "1")
    assert "at=1" in page.current_url


def test_full_screen(page: Any) -> None:
    open_page(page, f"/?{LOOP}&mode=line&at=2")
    shown = """const box = (css) => document.querySelector(css).getBoundingClientRect();
        const [board, caption] = [box(".stage .board"), box(".caption")];
        return [document.fullscreenElement !== null, board.height / innerHeight,
            caption.left >= board.right && caption.bottom <= innerHeight,
            box("header").height]"""
    before = page.execute_script(shown)
    assert not before[0]
    assert before[3] > 0
    one(page, ".whole-screen").click()
    until(lambda: one(page, ".whole-screen").text == "Leave full screen")
    whole, part, beside, header = page.execute_script(shown)
    assert (whole, beside, header) == (True, True, 0)
    assert part > 0.95
    page.find_element(By.CSS_SELECTOR, ".board").send_keys(Keys.SHIFT, "f")
    until(lambda: page.execute_script(shown)[0] is False)
    until(lambda: one(page, ".whole-screen").text == "Full screen")
    assert_no_console_errors(page)


def test_a_piece_without_a_move_is_announced(page: Any) -> None:
    open_page(page, KNIGHT)
    click(page, "a0")
    assert until(lambda: live_text(page)) == "Red knight, a0: b2, c1"
    open_page(page, "/?fen=3ak4/9/9/9/9/9/9/9/4r4/R3K4_w")
    click(page, "a0")
    assert "cannot move" in until(lambda: one(page, ".problem.here").text)


def test_pieces_and_points_are_announced_by_their_chinese_names(page: Any) -> None:
    open_page(page, f"{KNIGHT}&lang=zh-Hans")
    click(page, "a0")
    assert until(lambda: live_text(page)) == "红马，九路底线：八路第3线，七路第2线"
    keys = page.find_element(By.CSS_SELECTOR, ".board")
    for key, said in ((Keys.ARROW_UP, "九路第2线"), (Keys.ARROW_DOWN, "红马，九路底线，可以走")):
        keys.send_keys(key)
        until(lambda said=said: live_text(page) == said)


def test_playing_against_the_table(page: Any) -> None:
    open_page(page, KNIGHT)
    page.find_element(By.LINK_TEXT, "Play").click()
    until(lambda: "mode=play" in page.current_url and count(page, ".plain-moves"))
    assert count(page, ".moves code") == 0
    assert "mate" not in one(page, "#main").text
    click(page, "a0")
    assert until(lambda: count(page, ".target")) == 2
    assert not count(page, ".target text")
    click(page, "b2")
    until(lambda: len(moves_made(page)) == 2)  # the table has answered
    said = live_text(page)
    assert f"Black played {moves_made(page)[1]}" in said
    assert ".." not in said
    until(lambda: count(page, ".plain-moves"))
    page.find_element(By.LINK_TEXT, "Hint").click()
    until(lambda: "Look at the Red knight" in one(page, "span.hint").text)
    page.find_element(By.LINK_TEXT, "Show the move").click()
    until(lambda: len(one(page, "span.whole b").text) == 4)
    page.back()
    until(lambda: not count(page, "span.whole"))
    page.back()
    until(lambda: not count(page, "span.hint"))
    page.back()
    until(lambda: not moves_made(page) and count(page, ".plain-moves"))
    time.sleep(0.3)  # no reply to a move that was taken back
    assert not moves_made(page)
    page.forward()
    until(lambda: len(moves_made(page)) == 2 and count(page, ".button.back"))
    one(page, ".button.back").click()
    until(lambda: not moves_made(page))
    page.find_element(By.LINK_TEXT, "Look up").click()
    until(lambda: "37 plies" in one(page, ".reason").text)
    assert_no_console_errors(page)


def test_the_referee_announces_forbidden_repetitions(page: Any) -> None:
    open_page(page, f"/?mode=play&{LOOP}&side=black&moves=d0d1,b1c3,d1d0")
    assert until(lambda: count(page, ".forbidden")) == 1


def test_the_editor(page: Any) -> None:
    open_page(page, "/?mode=edit&fen=4k4/9/9/9/9/9/9/9/9/4K4_w")
    assert "kings face each other" in one(page, ".problem").text
    one(page, ".piece[data-piece='R']").click()
    click(page, "e4")
    until(lambda: count(page, ".pieces use") == 3)
    until(lambda: "in check" in one(page, ".problem").text)
    page.find_element(By.PARTIAL_LINK_TEXT, "Side to move").click()
    until(lambda: count(page, ".fine"))
    one(page, ".piece[data-piece='R']").click()  # deselect the rook
    click(page, "e9")
    click(page, "d9")
    until(lambda: count(page, ".pieces use[data-square='d9']"))
    page.back()
    until(lambda: count(page, ".pieces use[data-square='e9']"))
    page.forward()
    until(lambda: count(page, ".pieces use[data-square='d9']"))
    one(page, ".piece[data-piece='k']").click()
    click(page, "e8")  # the only king moves there
    until(lambda: count(page, ".pieces use[data-square='e8']"))
    assert count(page, ".pieces use") == 3
    click(page, "d9")
    until(lambda: count(page, ".pieces use[data-square='d9']"))
    one(page, ".piece[data-piece='k']").click()
    for name in ("Mirror", "Swap colours"):
        before = page.current_url
        page.find_element(By.LINK_TEXT, name).click()
        until(lambda before=before: page.current_url != before)
    until(lambda: count(page, ".pieces use[data-square='f0']"))
    field = one(page, "textarea[name=fen]")
    field.clear()
    field.send_keys("4K44B49994n495k3990")
    one(page, "form.text button").click()
    until(lambda: count(page, ".fine") and count(page, ".pieces use") == 4)
    # The typed text is looked up again.
    press(page, "Look up this position", By.LINK_TEXT)
    until(lambda: count(page, "#moves") and "KNKA" in one(page, ".turn").text)
    assert_no_console_errors(page)


def test_text_typed_while_the_page_is_loaded_is_kept(page: Any) -> None:
    open_page(page, "/?mode=edit")
    page.execute_script(
        "const own = window.fetch;"
        "window.fetch = async (...request) => {"
        " await new Promise((done) => setTimeout(done, 600)); return own(...request); };"
    )
    field = one(page, "textarea[name=fen]")
    field.clear()
    field.click()
    for letter in "4K44B49994n495k3990":
        ActionChains(page).send_keys(letter).perform()  # to the field that has the focus
        # The text is looked up when nothing has been typed for 0.4 s.
        time.sleep(0.5 if letter in "Bnk" else 0.1)
    until(lambda: count(page, ".fine") and count(page, ".pieces use[data-square='e9']"))
    assert one(page, "textarea[name=fen]").get_property("value") == "4K44B49994n495k3990"


def test_the_list_is_filtered_and_sorted(page: Any) -> None:
    def listed() -> list[str]:
        rows = page.find_elements(By.CSS_SELECTOR, ".endgames tbody tr")
        return [row.find_element(By.CSS_SELECTOR, "code").text for row in rows if row.text]

    open_page(page, "/endgames")
    everything = listed()
    outcome, proof = map(Select, page.find_elements(By.CSS_SELECTOR, "select.filter"))
    outcome.select_by_visible_text("drawn")
    assert until(lambda: listed() != everything)
    assert "KCK" in listed()
    assert "KRK" not in listed()
    outcome.select_by_value("")
    proof.select_by_visible_text("unproven")
    assert listed() == everything  # no table is proven here
    proof.select_by_visible_text("proven")
    until(lambda: not listed())
    proof.select_by_visible_text("but for others")
    assert not listed()
    proof.select_by_value("")
    until(lambda: listed() == everything)
    table = one(page, ".endgames")
    table.find_element(By.CSS_SELECTOR, "th:nth-child(5)").click()
    plies = [int(cell.text.split()[0])
             for cell in table.find_elements(By.CSS_SELECTOR, "tbody td:nth-child(5)")]  # fmt: skip
    assert plies == sorted(plies, reverse=True)
    assert len(set(plies)) > 1
    assert_no_console_errors(page)


def test_a_dark_page_is_printed_dark_on_white(page: Any) -> None:
    open_page(page, f"{KNIGHT}&theme=dark&board=slate&moves=a0b2")
    try:
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        found = page.execute_script("""
            const colour = (css, name) => getComputedStyle(document.querySelector(css))[name];
            return [colour("body", "backgroundColor"), colour(".reason", "color"),
                colour(".stage rect.wood", "fill"), colour(".game a[aria-current]", "color"),
                colour("header", "display"), colour("footer", "display")];""")
    finally:
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    white, black = "rgb(255, 255, 255)", "rgb(0, 0, 0)"
    assert found == [white, black, white, black, "none", "none"]


def test_endgame_pages_in_three_languages(page: Any) -> None:
    open_page(page, "/endgames")
    one(page, "input.filter").send_keys("krkn")
    assert page.find_elements(By.LINK_TEXT, "Rook against rook") == []
    one(page, "input.filter").clear()
    page.execute_async_script("setTimeout(arguments[0], 500)")  # an answer would narrow the list
    assert page.find_elements(By.LINK_TEXT, "Rook against rook")
    one(page, "input.filter").send_keys("r v n")
    shown = ".endgames tbody tr:not([hidden]) code"
    until(lambda: [row.text for row in page.find_elements(By.CSS_SELECTOR, shown)] == ["KRKN"])
    page.find_element(By.LINK_TEXT, "Rook against knight").click()
    until(lambda: "KRKN" in one(page, "h1").text)
    assert count(page, ".mini-board") >= 3
    assert count(page, ".histogram") == 2
    assert count(page, ".graph a") == 3
    for name, word in (("繁體", "紅方"), ("简体", "红方"), ("English", "Red wins")):
        page.find_element(By.LINK_TEXT, name).click()
        until(lambda word=word: word in one(page, "#main").text)
    one(page, ".mini-board").click()
    until(lambda: "25 plies" in one(page, ".reason").text)
    page.find_element(By.LINK_TEXT, "简体").click()
    until(lambda: "红方25步（13回合）胜" in one(page, ".reason").text)
    assert one(page, "a.move").text[0] in "帅车"


def test_a_phone(page: Any) -> None:
    phone = browser(390, 844)
    try:
        open_page(phone, KNIGHT)
        wide = phone.execute_script("return document.documentElement.scrollWidth")
        assert wide <= 390
        for path in (
            "/endgames", "/endgames/KRKN", "/?mode=edit", f"/?mode=line&{LOOP}", "/build",
            "/search/KRKN?outcome=win", f"/embed?{LOOP}", f"{KNIGHT}&mode=play&task=win",
        ):  # fmt: skip
            open_page(phone, path)
            assert phone.execute_script("return document.documentElement.scrollWidth") <= 390, path
        for path, table, name in (
            ("/endgames/KRKN", "results", "Black wins"), ("/handbook/KR", "chapter", "draw"),
        ):  # fmt: skip
            open_page(phone, path)
            heads = phone.find_elements(By.CSS_SELECTOR, f".{table} th")
            (box,) = (head.rect for head in heads if head.text.lower() == name.lower())
            assert box["x"] + box["width"] <= 390, path
        open_page(phone, KNIGHT)
        verdict, board = one(phone, "h1").rect, one(phone, ".board").rect
        assert verdict["y"] < board["y"]
        assert board["y"] + board["height"] < 750
        for above in (".home", ".find input"):
            box = one(phone, above).rect
            assert 0 <= box["y"] < verdict["y"], above
            assert box["width"] > 100
        touch(phone, "a0")
        assert until(lambda: count(phone, ".target")) == 2
        touch(phone, "b2")
        until(lambda: moves_made(phone) == ["a0b2"])
        until(lambda: "Black" in one(phone, ".turn").text)
        touch(phone, "e7", "e8")
        until(lambda: moves_made(phone) == ["a0b2", "e7e8"])
        open_page(phone, "/endgames")
        assert not count(phone, "details[open] .endgames")
        one(phone, "input.filter").send_keys("krkn")
        until(lambda: one(phone, ".endgames tbody tr:not([hidden]) a").is_displayed())
    finally:
        phone.quit()
    small = {"width": 320, "height": 640, "deviceScaleFactor": 1, "mobile": False}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", small)
    try:
        open_page(page, "/api")
        assert page.execute_script("return document.documentElement.scrollWidth") <= 320
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_without_scripts() -> None:
    plain = browser(scripts=False)
    try:
        open_page(plain, KNIGHT)
        assert "Red mates in 37 plies" in one(plain, ".reason").text
        one(plain, ".group.win a.move").click()
        until(lambda: len(moves_made(plain)) == 1)  # a click may return before the page changes
        until(lambda: one(plain, ".button.suggested")).click()
        until(lambda: len(moves_made(plain)) == 2)
        assert not count(plain, "button[type=button]:not([hidden])")
        until(lambda: one(plain, ".board a")).click()  # a piece that may move
        until(lambda: one(plain, ".board a.target")).click()
        until(lambda: len(moves_made(plain)) == 3)
        until(lambda: one(plain, ".button.back")).click()
        until(lambda: len(moves_made(plain)) == 2)
        open_page(plain, "/?mode=edit")
        field = one(plain, "textarea[name=fen]")
        field.clear()
        field.send_keys("4k4/9/9/9/9/9/9/9/9/4K4 w")
        one(plain, "form.text button").click()
        assert "kings face" in until(lambda: one(plain, ".problem").text)
        open_page(plain, "/endgame.cgi?994K4999991N7r2k5")
        assert "KRKN" in one(plain, ".turn").text
    finally:
        plain.quit()
