"""The reader for web pages: faults of pages, servers and files, and queries at the same time."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.board_server import browser
from tests.helpers.browsing import one, until
from tests.helpers.commands import TBGEN, run
from tests.helpers.fileserver import Part, files_served
from tests.helpers.paths import ROOT
from tests.helpers.webreader import ask, built_module, needs_clang, needs_node

pytestmark = needs_clang

ROOK = "3k5/9/9/9/9/9/9/9/9/R3K4 w"
LOOP = "9/9/4k4/9/9/9/9/9/1n7/R2K5 w"
"""Position of KRKN, whose table is longer than what the module fetches at first."""
INLINE = "'unsafe-inline'"
"""Source of a Content-Security-Policy that the script in example.html needs."""
ANSWERED = {"outcome": "win", "order": 0, "plies": 1, "metric": "dtm"}
"""Value of `ROOK`."""


@pytest.fixture(scope="module")
def module() -> Path:
    return built_module()


@pytest.fixture(scope="module")
def server(tables_dir: Path) -> Iterator[str]:
    with files_served(tables_dir) as address:
        yield address


class Slow:
    """Change of a file server that waits before it sends parts of KRKN, and lists the parts."""

    def __init__(self, tables: Path) -> None:
        self.size = (tables / "KRKN.check.dtm.xqt").stat().st_size
        self.wait = 0.4
        self.parts: list[Part] = []

    def __call__(self, part: Part) -> Part:
        if part.range is not None and part.range.endswith(f"/{self.size}"):
            self.parts.append(part)
            if part.first > 0:
                time.sleep(self.wait)
        return part


@needs_node
def test_an_added_file_is_used_beside_a_folder(module: Path, server: str) -> None:
    nowhere, file = f"{server}/nothing", f"{server}/KRKN.check.dtm.xqt"
    absent, added, found, other = ask(module, nowhere, [
        ["value", LOOP], ["add", file], ["value", LOOP], ["value", ROOK],
    ])  # fmt: skip
    assert absent == f"there is no table KRKN.check at {nowhere}/"
    assert added is True
    assert found["outcome"] == "win"
    assert other == f"there is no table KRK.check at {nowhere}/"
    assert ask(module, None, [["value", ROOK], ["add", file], ["value", LOOP]]) == [
        "there is no table KRK.check among the added files", True, found,
    ]  # fmt: skip
    capture = "4k4/9/9/9/9/9/9/5K3/5r3/3N5 w"
    _, best = ask(module, None, [["add", file], ["bestMove", capture]])
    assert best == "a table after a capture is missing: KNK.check"


@needs_node
def test_a_full_cache_causes_no_second_request_of_a_query(module: Path, tables_dir: Path) -> None:
    """While KRKN is opened, queries of KRK drop all cached bytes."""
    slow = Slow(tables_dir)
    with files_served(tables_dir, change=slow) as address:
        other = [["add", f"{address}/KRK.check.dtm.xqt"], ["value", ROOK]]
        both = ["together", ["value", LOOP], ["turns", *(20 * other)]]
        _, found = ask(module, address, [["value", ROOK], both], memory=1)
    assert found[1] == 20 * [True, ANSWERED]
    firsts = [part.first for part in slow.parts]
    assert len(set(firsts)) == len(firsts), firsts


@needs_node
def test_queries_at_the_same_time_share_requests(module: Path, tables_dir: Path) -> None:
    slow = Slow(tables_dir)
    slow.wait = 0.1
    with files_served(tables_dir, change=slow) as address:
        (alone,) = ask(module, address, [["moves", LOOP]])
        parts, slow.parts = slow.parts, []
        (found,) = ask(module, address, [["together", *([["moves", LOOP]] * 30)]])
    assert found == 30 * [alone]
    assert [part.range for part in slow.parts] == [part.range for part in parts]


@needs_node
def test_all_errors_are_tables_errors(module: Path, server: str) -> None:
    closed = "http://127.0.0.1:1"  # a port that clients refuse
    (said,) = ask(module, closed, [["value", ROOK]])
    assert said.startswith(f"{closed}/KRK.check.dtm.xqt: no answer that this page may read: ")
    assert ask(module, server, [["value", None], ["bestMove", ROOK, "a0a1"], ["value", ROOK]]) == [
        "not a position: null", "not a list of moves: a0a1", ANSWERED,
    ]  # fmt: skip
    (missing,) = ask(module, server, [["value", ROOK]], wasm="https://")
    assert missing == "not the address of xqprobe.wasm: https://"
    (page,) = ask(module, server, [["value", ROOK]], wasm=f"{server}/")
    assert page == f"{server}/: the server does not send xqprobe.wasm"
    (refused,) = ask(module, server, [["value", ROOK]], wasm=f"{closed}/x.wasm")
    assert refused.startswith(f"{closed}/x.wasm: no answer that this page may read: ")
    (file,) = ask(module, server, [["value", ROOK]], wasm="nothing.wasm")
    assert file.startswith("file:///")
    assert "nothing.wasm: ENOENT" in file


@needs_node
def test_errors_name_the_move_the_pieces_and_the_file(
    module: Path, server: str, tables_dir: Path, tmp_path: Path
) -> None:
    played = ["a0a1", "d9d8", "a1b3", "d8d9"]
    assert ask(module, server, [
        ["bestMove", ROOK, played], ["bestMove", ROOK, played[2:]],
        ["value", "3k5/9/9/9/9/9/9/9/9/RRR1K4 w"], ["value", "3k1k3/9/9/9/9/9/9/9/9/R3K4 w"],
    ]) == [
        "move 3, a1b3, is illegal", "move 1, a1b3, is illegal",
        "Red has 3 pieces of the kind R", "Black has 2 kings",
    ]  # fmt: skip
    for name in ("KRKN", "KRK", "KNK"):
        shutil.copy(tables_dir / f"{name}.check.dtm.xqt", tmp_path)
    damaged = tmp_path / "KRKN.check.dtm.xqt"
    content = bytearray(damaged.read_bytes())
    for at in range(1000, len(content) // 2, 50):
        content[at] ^= 255
    damaged.write_bytes(content)
    with files_served(tmp_path) as address:
        (said,) = ask(module, address, [["moves", LOOP]])
    assert said == f"{address}/KRKN.check.dtm.xqt: the file is damaged or no table"


@needs_node
@pytest.mark.parametrize(("status", "sized"), [(403, True), (410, True), (200, True), (200, False)])
def test_missing_files_have_several_statuses(
    module: Path, tables_dir: Path, tmp_path: Path, status: int, sized: bool
) -> None:
    """The outcomes are found after the answer for the missing file of distances.

    With 200 the server sends a page of the site, as servers of applications do, with or without its
    length.
    """
    packing = [TBGEN, "pack", "--men", "3", "--rules", "check", "--tables", tables_dir]
    run(*packing, "--out", tmp_path / "outcomes")
    with files_served(tmp_path / "outcomes", missing=status, sized=sized) as address:
        found, missing = ask(module, address, [["value", ROOK], ["value", LOOP]])
    assert found == {"outcome": "win", "order": None, "plies": None, "metric": None}
    assert missing == f"there is no table KRKN.check at {address}/" + (
        " (the server answers 403 for some files)" if status == 403 else ""
    )


@needs_node
@pytest.mark.parametrize("ranges", [True, False])
def test_tables_sent_as_html_are_read(module: Path, tables_dir: Path, ranges: bool) -> None:
    with files_served(tables_dir, ranges, kind="text/html") as address:
        (found,) = ask(module, address, [["value", ROOK]])
    assert found["outcome"] == "win"


@needs_node
def test_a_refused_size_is_reported(module: Path, tables_dir: Path) -> None:
    hidden = {"change": lambda part: part._replace(range=None), "head": False}
    with files_served(tables_dir, **hidden) as address:
        (said,) = ask(module, address, [["value", ROOK]])
    file = f"{address}/KRK.check.dtm.xqt"
    assert said.startswith(f"{file}: the server hides its size (HEAD: 405)")


@needs_node
def test_spellings_of_positions_and_addresses(module: Path, server: str) -> None:
    fen = "3k5/9/9/P8/9/9/9/9/9/4K4"
    spellings = [f"{fen} w", f"{fen.replace('P', 'S')}+w", f"{fen}_红", f"{fen} r - - 0 1"]
    found = ask(module, f"{server}/?v=2", [["value", each] for each in spellings])
    assert found[0]["outcome"] in ("win", "draw")
    assert found == 4 * found[:1]
    black = ask(module, server, [["value", f"{fen} b"], ["value", f"{fen} 黑"]])
    assert black[0]["outcome"] in ("loss", "draw")
    assert black[0] == black[1]


def test_bundlers_find_no_module_of_node(module: Path) -> None:
    """A bundler for browsers refuses `import("node:fs/promises")`, but leaves a variable alone."""
    for script in module.glob("*.js"):
        assert not re.search(r"(import\(|from )[^;]*[\"']node:", script.read_text("utf-8"))


def test_the_page_reads_every_spelling(module: Path, tables_dir: Path, tmp_path: Path) -> None:
    shutil.copytree(module, tmp_path, dirs_exist_ok=True)
    (tmp_path / "tables").symlink_to(tables_dir)
    page = (tmp_path / "example.html").read_text("utf-8")
    text = (ROOT / "docs" / "web.md").read_text("utf-8")
    (allowing,) = re.findall(r"script-src [^`]*'wasm-unsafe-eval'", text)
    for name, policy in (("allowing", allowing), ("strict", "script-src 'self'")):
        strict = f'<meta http-equiv="Content-Security-Policy" content="{policy} {INLINE}">'
        written = page.replace("<title>", f"{strict}<title>")
        (tmp_path / f"{name}.html").write_text(written, "utf-8")
    slow = Slow(tables_dir)
    driver = browser()

    def pieces() -> str:
        return "".join(each.text for each in driver.find_elements("css selector", "#board text"))

    def value() -> str:
        return str(one(driver, "#value").text)

    def ask_for(fen: str) -> None:
        script = "const [form, fen] = arguments; form.fen.value = fen; form.requestSubmit();"
        driver.execute_script(script, one(driver, "form"), fen)

    try:
        with files_served(tmp_path, change=slow) as address:
            driver.get(f"{address}/example.html?rules=check&fen=3k5/9/9/9/9/9/9/9/9/R3K4_b_-_-_0_1")
            until(lambda: value().startswith("Black to move: "))
            assert pieces() == "將俥帥"
            one(driver, "#moves button").click()
            until(lambda: value().startswith("Red to move: "))
            assert one(driver, "[name=fen]").get_attribute("value").endswith(" w")
            # The answer to the first of two questions comes last.
            ask_for("3k5/9/9/9/9/9/9/9/n8/R3K4 w")
            ask_for("3k5/9/9/9/9/9/9/9/9/H3K4 w")
            until(lambda: pieces() == "將傌帥" and value().startswith("Red to move: "))
            time.sleep(4 * slow.wait)
            assert pieces() == "將傌帥"
            ask_for("3k5/9/9/9/9/9/9/9/9/R3K4_x")
            until(lambda: value().startswith("not a position: "))
            driver.get(f"{address}/example.html?rules=nonsense")
            until(lambda: value().startswith("no rule set nonsense: "))
            driver.get(f"{address}/strict.html?rules=check")
            until(lambda: value().startswith("xqprobe.wasm is refused "))
            driver.get(f"{address}/allowing.html?rules=check")
            until(lambda: value() == "Red to move: win in 1")
    finally:
        driver.quit()
