"""The C reader in a web page and in Node.js agrees with Python, on tables of a file server."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tbgen import GameTablebase, Outcome, Position, PositionError, open_tablebase
from tbgen.notation.positions import format_position
from tests.helpers.board_server import browser
from tests.helpers.browsing import assert_no_console_errors, one, until
from tests.helpers.built import built
from tests.helpers.commands import TBGEN, run
from tests.helpers.fileserver import Part, files_served
from tests.helpers.paths import ROOT
from tests.helpers.sessions import blocks
from tests.helpers.strategies import random_position
from tests.helpers.webreader import ask, built_module, needs_clang, needs_node

MOST_BYTES = 120_000
MATERIALS = ("KRKN", "KRK", "KNK", "KPK")

pytestmark = needs_clang


@pytest.fixture(scope="module")
def module() -> Path:
    return built_module()


@pytest.fixture(scope="module")
def site(module: Path, tables_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of static files: the module with its page, tables, and win-draw-loss files."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(module, folder, dirs_exist_ok=True)
    (folder / "tables").symlink_to(tables_dir)
    packing = [TBGEN, "pack", "--men", "4", "--rules", "check", "--tables", tables_dir]
    run(*packing, "--out", folder / "outcomes")
    return folder


@pytest.fixture(scope="module")
def server(site: Path) -> Iterator[str]:
    with files_served(site) as address:
        yield address


@pytest.fixture(scope="module")
def tables(tables_dir: Path) -> Iterator[GameTablebase]:
    with open_tablebase(tables_dir, rules="check") as found:
        yield found


def value_of(result: Any) -> tuple[str, int, int | None]:
    outcome = Outcome(result.outcome).name.lower()
    return outcome, result.order, None if outcome == "draw" else result.plies


def plain(value: dict[str, Any]) -> tuple[str, int, int | None]:
    return value["outcome"], value["order"], value["plies"]


def fens(count: int, materials: tuple[str, ...] = MATERIALS) -> list[str]:
    rng = random.Random(39)
    return [format_position(random_position(rng, materials)) for _ in range(count)]


def test_the_module_is_small_and_imports_no_system(module: Path) -> None:
    sizes = {name: (module / name).stat().st_size for name in ("xqprobe.wasm", "xqprobe.js")}
    assert sum(sizes.values()) < MOST_BYTES, sizes
    assert b"wasi_snapshot" not in (module / "xqprobe.wasm").read_bytes()


def moves_of(tables: GameTablebase, fen: str) -> list[tuple[Any, ...]]:
    """Return (text, capture, check, best, value as by `value_of`) of each move, best move first."""
    found = []
    for move in tables.probe_root(fen):
        worth = move.worth
        assert worth is not None
        found.append((str(move.move), move.capture, move.check, move.best, value_of(worth)))
    return found


def answered(answer: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [
        (move["move"], move["capture"], move["check"], move["best"], plain(move["value"]))
        for move in answer["moves"]
    ]


def agree(module: Path, address: str, tables: GameTablebase, asked: list[str]) -> None:
    """Check the module's values of the FENs `asked`, and moves of a fifth of them, by Python's."""
    values = ask(module, address, [["value", fen] for fen in asked])
    assert [plain(value) for value in values] == [value_of(tables.probe(fen)) for fen in asked]
    some = asked[: len(asked) // 5]
    answers = ask(module, address, [["moves", fen] for fen in some])
    assert [answered(answer) for answer in answers] == [moves_of(tables, fen) for fen in some]


@needs_node
def test_values_and_moves(module: Path, server: str, tables: GameTablebase) -> None:
    agree(module, f"{server}/tables", tables, fens(300))


@needs_node
@pytest.mark.certification
def test_ten_thousand_positions(module: Path) -> None:
    directory = built("KRAKR", "KRKN", "KNAKN", rules="wxf")
    with open_tablebase(directory) as tables, files_served(directory) as address:
        positions = fens(10_000, ("KRAKR", "KRKN", "KNAKN", "KRK"))
        values = ask(module, address, [["value", fen] for fen in positions], rules="wxf")
        assert [plain(value) for value in values] == [
            value_of(tables.probe(fen)) for fen in positions
        ]
        answers = ask(module, address, [["moves", fen] for fen in positions[:1000]], rules="wxf")
        assert [answered(answer) for answer in answers] == [
            moves_of(tables, fen) for fen in positions[:1000]
        ]


@needs_node
def test_best_moves_and_outcomes_alone(module: Path, server: str, tables: GameTablebase) -> None:
    asked = fens(60)
    best = ask(module, f"{server}/tables", [["bestMove", fen] for fen in asked])
    outcomes = ask(module, f"{server}/outcomes", [["moves", fen] for fen in asked])
    kept = ask(module, f"{server}/outcomes", [["bestMove", fen] for fen in asked])
    for fen, move, answer, other in zip(asked, best, outcomes, kept, strict=True):
        moves = {str(each.move): each for each in tables.probe_root(fen)}
        if not moves:
            assert move is None
            continue
        assert moves[move].best, fen
        assert {each["move"]: each["value"]["outcome"] for each in answer["moves"]} == {
            name: Outcome(each.outcome).name.lower() for name, each in moves.items()
        }
        assert moves[other].outcome == tables.probe(fen).outcome
    values = [each["value"] for answer in outcomes for each in (answer, *answer["moves"])]
    assert {value["outcome"] for value in values} == {"win", "draw", "loss"}
    assert {(value["order"], value["plies"], value["metric"]) for value in values} == {3 * (None,)}


@needs_node
def test_the_table_needed_is_that_of_the_last_position(
    module: Path, server: str, tables: GameTablebase
) -> None:
    """A game may begin in a position without a table; without a directory it is not looked for."""
    start, played = "3k5/9/9/9/9/9/9/9/R1c6/5K3 w", ["a1c1", "d9e9"]
    (move,) = ask(module, f"{server}/tables", [["bestMove", start, played]])
    moves = {str(each.move): each for each in tables.probe_root("4k4/9/9/9/9/9/9/9/2R6/5K3 w")}
    assert moves[move].best
    assert ask(module, f"{server}/tables", [["value", start], ["value", "9/9/9 wr"]]) == [
        f"there is no table KRKC.check at {server}/tables/", "not a position: 9/9/9 wr",
    ]  # fmt: skip


@needs_node
def test_fields_after_the_side_to_move(module: Path, server: str) -> None:
    """The reader accepts and refuses the same fields of a FEN as `Position.from_fen`."""
    sides = [
        f"{side}{more}" for side in "wb红紅" for more in ("", "_-_-", " - - 0 1 ", "+--+-+9+12")
    ]
    refused = ["", "w -", "w - - 0", "w x - 0 1", "w - - 0 one", "w - - 0 1 2", "w a0a1"]
    fens = [f"3k5/9/9/9/9/9/9/9/9/R4K3 {after}" for after in (*sides, *refused)]
    for fen, said in zip(
        fens, ask(module, f"{server}/tables", [["value", fen] for fen in fens]), strict=True
    ):
        if said == f"not a position: {fen}":
            with pytest.raises(PositionError):
                Position.from_fen(fen)
        else:
            assert isinstance(said, dict), said
            Position.from_fen(fen)


@needs_node
def test_errors_are_reported(module: Path, site: Path, server: str) -> None:
    (site / "bad").mkdir()
    (site / "bad" / "KRK.check.dtm.xqt").write_bytes(b"no table" * 100)
    mate, pawn = "3k5/9/9/9/9/9/9/9/9/R3K4 w", "3k5/9/9/9/9/9/9/9/9/CR2K4 w"
    assert ask(module, f"{server}/tables", [
        ["value", pawn], ["moves", "no position"], ["value", "4k4/9/9/9/9/9/9/9/9/R3K4 w"],
        ["bestMove", mate, ["e9e8"]],
    ]) == [
        f"there is no table KRCK.check at {server}/tables/",
        "not a position: no position",
        "the kings face each other, or the side that is not to move is in check",
        "move 1, e9e8, is illegal",
    ]  # fmt: skip
    damaged = f"{server}/bad/KRK.check.dtm.xqt"
    assert ask(module, f"{server}/bad", [["value", mate]]) == [
        f"{damaged}: the file is damaged or no table"
    ]
    with files_served(site, ranges=False) as without:
        small = ask(module, f"{without}/tables", [["value", mate]])
        assert small == ask(module, f"{server}/tables", [["value", mate]])
        (said,) = ask(module, f"{without}/tables", [["value", mate]], whole=100)
        assert "the server ignores Range and sends a file of" in said


ROOK = "3k5/9/9/9/9/9/9/9/9/R3K4 w"
LOOP = "9/9/4k4/9/9/9/9/9/1n7/R2K5 w"
"""Position of KRKN, whose table is longer than what the module fetches at first."""


def failing(part: Part) -> Part:
    return part._replace(status=500)


def cut(part: Part) -> Part:
    return part._replace(body=part.body[:-1])


def growing(part: Part) -> Part:
    """Tell another size in every request but the first."""
    assert part.range is not None
    return part._replace(range=part.range + "0") if part.first else part


def vanishing(part: Part) -> Part:
    return part._replace(status=404) if part.first else part


@needs_node
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (failing, "{file}: the server answers 500"),
        (cut, "{file}: the server sent other bytes than were asked for"),
        (growing, "{file} has changed: load the page again"),
        (vanishing, "{file} is gone: load the page again"),
    ],
)
def test_faults_of_a_server_are_reported(
    module: Path, tables_dir: Path, change: Any, said: str
) -> None:
    with files_served(tables_dir, change=change) as address:
        found = ask(module, address, [["value", LOOP]])
        assert found == [said.format(file=f"{address}/KRKN.check.dtm.xqt")]


@needs_node
def test_a_table_is_asked_for_again_after_a_failure(module: Path, tables_dir: Path) -> None:
    asked: list[Part] = []

    def first_fails(part: Part) -> Part:
        asked.append(part)
        return failing(part) if len(asked) == 1 else part

    with files_served(tables_dir, change=first_fails) as address:
        failed, found = ask(module, address, 2 * [["value", ROOK]])
    assert failed.endswith("the server answers 500")
    assert plain(found) == ("win", 0, 1)


@needs_node
def test_a_hidden_size_is_asked_for(module: Path, tables_dir: Path, tables: GameTablebase) -> None:
    """The header `Content-Range` is hidden from pages of other origins."""
    with files_served(tables_dir, change=lambda part: part._replace(range=None)) as address:
        (found,) = ask(module, address, [["value", LOOP]])
    assert plain(found) == value_of(tables.probe(LOOP))


@needs_node
def test_fetched_bytes_are_kept_up_to_the_limit(module: Path, tables_dir: Path) -> None:
    """Without a limit each byte is sent once; with one, bytes are dropped, and sent again."""
    sent: list[tuple[int, int]] = []

    def noted(part: Part) -> Part:
        sent.append((part.first, len(part.body)))
        return part

    questions = [["value", fen] for fen in fens(100, ("KRKN",))]
    size = (tables_dir / "KRKN.check.dtm.xqt").stat().st_size
    with files_served(tables_dir, change=noted) as address:
        kept = ask(module, address, questions)
        assert sum(count for _, count in sent) == size
        sent.clear()
        assert ask(module, address, questions, memory=1) == kept
        assert sum(count for _, count in sent) > size


@needs_node
@pytest.mark.parametrize("fen", ["3k5/9/9/9/n8/9/9/9/9/R3K4 w", "3k5/9/9/9/9/9/9/1n7/9/R3K4 b"])
def test_tables_after_captures_are_opened(
    module: Path, server: str, tables: GameTablebase, fen: str
) -> None:
    """The first question needs the table after a capture, of the rook or of the knight."""
    (found,) = ask(module, f"{server}/tables", [["moves", fen]])
    assert any(move["capture"] for move in found["moves"])
    assert answered(found) == moves_of(tables, fen)


@needs_node
def test_no_table_is_fetched_that_a_best_move_does_not_need(
    module: Path, tables_dir: Path, tables: GameTablebase
) -> None:
    """With Black to move in KRKN, the tables are KRKN, and KNK after a capture of the rook."""
    fen, opened = "3k5/9/9/9/9/9/9/1n7/9/R3K4 b", 0

    def counted(part: Part) -> Part:
        nonlocal opened
        opened += part.first == 0
        return part

    with files_served(tables_dir, change=counted) as address:
        (move,) = ask(module, address, [["bestMove", fen]])
    assert move in {str(each.move) for each in tables.probe_root(fen) if each.best}
    assert opened == 2


@needs_node
def test_spellings_and_limits_of_questions(module: Path, server: str) -> None:
    knight, written = "3k5/9/9/9/n8/9/9/9/9/R3K4_w", "3k5/9/9/9/h8/9/9/9/9/R3K4 r"
    first, second, many, wrong = ask(module, f"{server}/tables", [
        ["value", knight], ["value", written], ["bestMove", ROOK, 10_001 * ["a0a1"]],
        ["bestMove", ROOK, ["a0"]],
    ])  # fmt: skip
    assert first == second
    assert first["outcome"] == "win"
    assert (many, wrong) == ("more than 10000 moves", "not a move: a0")
    (refused,) = ask(module, f"{server}/tables", [["value", ROOK]], rules="nonsense")
    assert refused.startswith("no rule set nonsense: there are none, check, wxf, ")


@needs_node
def test_the_example_of_the_page_on_it(site: Path, server: str, tables: GameTablebase) -> None:
    (example,) = blocks((ROOT / "docs" / "web.md").read_text("utf-8"), "js")
    here = example.replace('"tables/"', f'"{server}/tables/"').replace('"wxf"', '"check"')
    here += "console.log(JSON.stringify([outcome, plies, moves[0].best, move]));\n"
    (site / "example.mjs").write_text(here, "utf-8")
    command = ["node", "--no-warnings", str(site / "example.mjs")]
    said = subprocess.run(command, capture_output=True, text=True)
    assert said.returncode == 0, said.stderr[-2000:]
    *found, move = json.loads(said.stdout)
    assert found == ["win", tables.probe("4k4/9/9/9/9/9/9/9/9/R2K5 w").plies, True]
    after = tables.probe_root("9/4k4/9/9/9/9/9/9/R8/3K5 w")
    assert next(each for each in after if str(each.move) == move).best


def test_page_in_a_browser(server: str, tables: GameTablebase) -> None:
    """The example page lists moves and values as the tablebase has them.

    Tested with tables, which have distances, and with the files of `tbgen pack --out`.
    """
    fen = "9/9/4k4/9/9/9/9/9/9/R2K5 w"
    moves, plies = tables.probe_root(fen), tables.probe(fen).plies
    driver = browser()
    try:
        driver.get(f"{server}/example.html?rules=check&fen={fen.replace(' ', '+')}")
        until(lambda: one(driver, "#moves li"))
        found = [line.text for line in driver.find_elements("css selector", "#moves li")]
        assert [line.split()[0] for line in found] == [str(move.move) for move in moves]
        assert one(driver, "#value").text == f"Red to move: win in {plies}"
        one(driver, "#moves button").click()
        until(lambda: one(driver, "#value").text == f"Black to move: loss in {moves[0].plies}")
        assert_no_console_errors(driver)
        driver.get(f"{server}/example.html?tables=outcomes&rules=check&fen={fen.replace(' ', '+')}")
        until(lambda: one(driver, "#value").text == "Red to move: win")
    finally:
        driver.quit()
