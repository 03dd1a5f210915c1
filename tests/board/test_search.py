"""The board's search of a table: all results meet the query, and a complete search misses none."""

from __future__ import annotations

import itertools
import random
import re
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

pytest.importorskip("starlette", reason="the extra `web` is not installed")
pytest.importorskip("httpx", reason="starlette's test client needs it")

from starlette.requests import Request
from starlette.testclient import TestClient

from tbgen import find, open_tablebase
from tbgen.answers.mechanism import Offence
from tbgen.board.knowledge.search import positions_of_value, search
from tbgen.board.knowledge.store import TableStore
from tbgen.board.web import api, search_page, small_boards
from tbgen.board.web.api import Api
from tbgen.board.web.pages import Pages
from tbgen.board.web.routes import create_app
from tbgen.finding.query import Query
from tbgen.indexing import InputError, Material, Position, Side
from tbgen.indexing.errors import PositionError
from tbgen.indexing.layout import Layout
from tbgen.notation import format_move
from tbgen.rules import check_legal, legal_moves
from tbgen.tables import Outcome, ProbeResult
from tests.board.test_pages import page
from tests.helpers.board_server import demo
from tests.helpers.built import built
from tests.helpers.languages import misfits

KNK = Material.parse("KNK")
EVERYTHING = 10**9
PATIENT = 600.0


@pytest.fixture(scope="module")
def store() -> Iterator[TableStore]:
    with open_tablebase(demo().tables) as tables:
        yield TableStore(tables)


@pytest.fixture(scope="module")
def client(store: TableStore) -> TestClient:
    return TestClient(create_app(store.tables, demo().tables))


def legal(position: Position) -> bool:
    try:
        check_legal(position)
    except PositionError:
        return False
    return True


def everywhere(material: Material) -> Iterator[Position]:
    """Yield all legal positions of a material, each once; of mirror images only one."""
    layout = Layout.of(material)
    for slot, side in itertools.product(range(layout.slots), Side):
        position = layout.position(slot, side)
        if position is not None and legal(position) and layout.slot(position) == slot:
            yield position


def has(store: TableStore, wanted: Query, position: Position, value: ProbeResult) -> bool:
    """Return whether a position meets a query, by the definition of each condition.

    wanted : may have the conditions `turn`, `outcome`, `plies`, `only` and `zugzwang`
    value : probed value of the position

    For `only`, exactly one of several moves keeps the outcome: all are made and probed. For
    `zugzwang`, the position with the other side to move is probed.
    """
    tables = store.tables
    if wanted.turn not in (None, position.side) or wanted.outcome not in (None, value.outcome):
        return False
    if wanted.plies is not None:
        low, high = wanted.plies
        if not low <= (value.plies or 0) <= high:
            return False
    if wanted.only:
        if value.outcome == Outcome.LOSS:
            return False
        after = [tables.probe(position.after(*move)) for move in legal_moves(position)]
        kept = [result for result in after if -result.outcome == value.outcome]
        if len(kept) != 1 or len(after) < 2:
            return False
    if wanted.zugzwang:
        passed = Position(position.board, position.side.other)
        if not legal(passed):
            return False
        return bool(value.outcome < -tables.probe(passed).outcome)
    return True


def asked(query: str, material: str = "KRKN") -> dict[str, Any]:
    return {
        "type": "http", "method": "GET", "path": f"/search/{material}", "headers": [],
        "query_string": query.encode(), "path_params": {"material": material},
    }  # fmt: skip


QUESTIONS = (
    Query(outcome=Outcome.WIN, only=True, plies=(7, 30)),
    Query(turn=Side.BLACK, outcome=Outcome.DRAW, only=True),
    Query(turn=Side.RED, plies=(13, 13)),
)


def test_complete_results_agree_with_a_loop_over_the_table(store: TableStore) -> None:
    expected: dict[Query, set[Position]] = {wanted: set() for wanted in QUESTIONS}
    for position in everywhere(KNK):
        value = store.tables.probe(position)
        for wanted in QUESTIONS:
            if has(store, wanted, position, value):
                expected[wanted].add(position)
    for wanted in QUESTIONS:
        found = search(store, KNK, wanted, most=EVERYTHING, seconds=PATIENT)
        assert found.share == 1
        assert set(found.positions) == expected[wanted]
        assert len(found.positions) == len(expected[wanted])
    assert expected[QUESTIONS[0]]
    assert expected[QUESTIONS[2]]


def test_zugzwangs() -> None:
    """The board's search finds the zugzwangs of KNKP and no other positions.

    For 15 of the positions found, the knight is put on every square: probing must find a
    zugzwang exactly where the search has found one.
    """
    chance, material = random.Random(1), Material.parse("KNKP")
    with open_tablebase(built("KNKP", rules="wxf")) as tables:
        store = TableStore(tables)
        wanted = Query(zugzwang=True)
        found = search(store, material, wanted, most=EVERYTHING, seconds=PATIENT)
        assert found.share == 1
        known = set(found.positions)
        assert len(known) > 100
        met = 0
        for position in chance.sample(found.positions, 15):
            for moved in with_the_knight_elsewhere(position):
                is_one = has(store, wanted, moved, tables.probe(moved))
                assert is_one == bool({moved, moved.mirrored()} & known)
                met += is_one
        assert met >= 15


def with_the_knight_elsewhere(position: Position) -> Iterator[Position]:
    """Yield the legal positions with Red's knight on any free square, its own included."""
    knight = next(code for code, _ in position.pieces() if code & 7 == 5 and code < 8)
    board = bytearray(position.board)
    board[board.index(knight)] = 0
    for square in range(90):
        if not board[square]:
            changed = Position(
                bytes([*board[:square], knight, *board[square + 1 :]]), position.side
            )
            if legal(changed):
                yield changed


def test_a_sample_is_labelled_and_depends_on_the_seed(store: TableStore) -> None:
    wanted = Query(outcome=Outcome.WIN, plies=(11, 99))
    material = Material.parse("KRKN")
    for seek in (search, positions_of_value):
        one, again, other = (seek(store, material, wanted, seed) for seed in (0, 0, 1))
        assert one == again
        assert 0 < one.share < 1
        assert len(one.positions) == 24
        assert set(one.positions) != set(other.positions)
    hasty = search(store, material, Query(zugzwang=True), seconds=0.0)
    assert hasty.share < 0.1


def test_a_search_cut_short_is_not_cached(store: TableStore) -> None:
    for seek in (search, positions_of_value):
        hasty, patient = (
            seek(store, Material.parse("KRKN"), Query(zugzwang=True), seed=77, seconds=seconds)
            for seconds in (-1.0, 0.5)
        )
        assert hasty.share < patient.share


def test_answers_of_a_search_cut_short_are_incomplete(
    store: TableStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer whose search ran out of time is marked, so that no browser keeps it."""
    hasty = partial(positions_of_value, seconds=-1.0)
    monkeypatch.setattr(small_boards, "positions_of_value", hasty)
    for module in (api, search_page):
        monkeypatch.setattr(module, "search", partial(search, seconds=-1.0))
    own, query = TableStore(store.tables), "zugzwang=1&seed=78"
    for more in ("", "&format=csv", "&format=pgn"):
        assert not Api(own).search(Request(asked(query + more))).complete
    for more in ("", "&sheet=1"):
        assert not Pages(own).search(Request(asked(query + more))).complete
    assert not Pages(own).endgame(Request(asked("won=red&order=0&plies=9"))).complete
    monkeypatch.undo()
    assert Api(own).search(Request(asked(query))).complete
    assert Pages(own).search(Request(asked(query))).complete


def test_a_glance_agrees_with_a_search(store: TableStore) -> None:
    wanted = Query(turn=Side.RED, outcome=Outcome.WIN, plies=(11, 13))
    whole = [seek(store, KNK, wanted, most=EVERYTHING) for seek in (positions_of_value, search)]
    assert [found.share for found in whole] == [1, 1]
    assert {*whole[0].positions} == {*whole[1].positions}
    assert len(whole[0].positions) == whole[0].candidates == whole[1].candidates


def test_orders_of_positions_and_studies(store: TableStore) -> None:
    """The board's search lists the first 24 results of `tbgen find`, in the same sort order.

    Compared are the orders of wins, and the lengths of studies (wins by unique moves).
    """
    question = "outcome=win&order=1-9&sort=-order&at=R@e2"
    found = Api(store).search(Request(asked(question))).body
    rows = find("KRKN", store.tables, outcome=Outcome.WIN, orders=(1, 9), pieces=["R@e2"])
    orders = [entry["order"] for entry in found["positions"]]
    assert orders == sorted((each.order for each in rows), reverse=True)[:24]
    assert found["share"] == 1
    lengths = find("KRKN", store.tables, turn=Side.RED, study=True, sort="-length").columns()
    question = "study=1&turn=red&sort=-length"
    found = Api(store).search(Request(asked(question))).body
    assert [entry["length"] for entry in found["positions"]] == lengths["length"].tolist()[:24]
    shown = Pages(store).search(Request(asked(question))).body
    assert "unique for 1 ply" in shown


def test_studies_of_large_tables_are_refused(
    store: TableStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tbgen.board.knowledge.search.MOST_WINS", 1)
    with pytest.raises(InputError, match="studies of KRKN take too long"):
        Api(store).search(Request(asked("study=1&turn=black")))
    assert "study=1" not in Pages(store).search(Request(asked(""))).body


def test_direct_wins_by_offence(store: TableStore) -> None:
    found = search(store, Material.parse("KRKN"), Query(offence=Offence.CHECK))
    assert found.positions
    for position in found.positions[:4]:
        result = store.tables.probe(position)
        assert (result.outcome, result.plies) == (Outcome.WIN, 0)
        assert result.order
        mechanism = store.mechanism(store.probe(position))
        assert mechanism is not None
        assert mechanism.offence == Offence.CHECK
    none = search(store, Material.parse("KRKN"), Query(offence=Offence.CHASE))
    assert (none.positions, none.share) == ((), 1)


def test_positions_that_the_rules_change(tmp_path: Path, store: TableStore) -> None:
    material, wanted = Material.parse("KRKN"), Query(differs=True)
    with pytest.raises(InputError, match="no table of KRKN under other rules"):
        search(store, material, wanted)
    for rules in ("wxf", "none"):
        for path in built("KRKN", rules=rules).glob("*.xqt"):
            shutil.copy(path, tmp_path)
    with open_tablebase(tmp_path, rules="wxf") as own, open_tablebase(tmp_path, rules="none") as no:
        for seek in (search, positions_of_value):
            found = seek(TableStore(own, tmp_path), material, wanted, most=6, seconds=PATIENT)
            assert len(found.positions) == 6
            for position in found.positions:
                assert own.probe(position).outcome != no.probe(position).outcome


def test_a_field_given_twice(client: TestClient) -> None:
    """`at` may be given twice; any other field given twice is refused with status 400."""
    path = "/v1/tables/KRKN/search"
    listed = client.get(f"{path}?at=R@e5&at=n@e6").json()["positions"]
    assert listed == client.get(f"{path}?at=R@e5,n@e6").json()["positions"]
    assert listed
    answer = client.get(f"{path}?turn=red&turn=black")
    assert answer.status_code == 400
    assert "turn is given 2 times" in answer.json()["error"]
    assert client.get("/search/KRKN?turn=red&turn=black").status_code == 400


@pytest.mark.parametrize("condition", ["turn=red", "at=R@e5"])
def test_colours_of_a_material_named_weaker_first(client: TestClient, condition: str) -> None:
    """KNKR is the table KRKN, in which Red has the rook: a condition on colours is refused."""
    for path in ("/search/KNKR", "/v1/tables/KNKR/search"):
        answer = client.get(f"{path}?{condition}")
        assert answer.status_code == 400
        assert "names the table KRKN" in answer.text
    answer = client.get("/v1/tables/KNKR/search?outcome=win&order=1")
    assert answer.json()["material"] == "KRKN"


def test_a_full_sorted_page_has_the_first_positions(client: TestClient) -> None:
    """The page says that it lists the first positions, not that there are no others."""
    asked = {"turn": "red", "outcome": "win", "only": "1", "sort": "-plies"}
    assert "The first 24 positions" in page(client, "/search/KRKN", **asked)


def test_the_api_agrees_with_the_page(client: TestClient) -> None:
    asked = {"outcome": "win", "only": "1", "turn": "black", "least": "3"}
    answer = client.get("/v1/tables/KRKN/search", params=asked).json()
    listed = [Position.from_fen(entry["fen"]) for entry in answer["positions"]]
    assert listed == boards(page(client, "/search/KRKN", **asked))
    assert 0 < answer["share"] < 1
    for entry, position in zip(answer["positions"], listed, strict=True):
        probed = client.get("/v1/probe", params={"fen": entry["fen"]}).json()
        assert entry == {key: probed[key] for key in entry}
        assert position.side == Side.BLACK
    csv = client.get("/v1/tables/KRKN/search", params={**asked, "format": "csv"})
    assert csv.headers["content-disposition"] == 'attachment; filename="KRKN.csv"'
    head, *lines = csv.text.splitlines()
    assert head == "fen,side,outcome,order,plies"
    assert [line.split(",")[0] for line in lines] == [e["fen"] for e in answer["positions"]]
    assert [int(line.split(",")[-1]) for line in lines] == [
        e["plies"] or 0 for e in answer["positions"]
    ]
    pgn = client.get("/v1/tables/KRKN/search", params={**asked, "format": "pgn", "limit": "2"})
    assert pgn.text.count("[FEN ") == min(2, len(lines))
    wrong = client.get("/v1/tables/KRKN/search", params={**asked, "format": "xls"})
    assert wrong.json()["error"] == "format is none of json, csv, pgn"
    few = client.get("/v1/tables/KRKN/search", params={**asked, "limit": "2"}).json()
    assert len(few["positions"]) == 2
    everything = client.get(
        "/v1/tables/KNK/search", params={"turn": "red", "least": "13", "most": "13", "limit": "200"}
    ).json()
    if everything["share"] == 1:
        assert len(everything["positions"]) <= everything["candidates"]


def test_exercises_are_printed_without_values(client: TestClient, store: TableStore) -> None:
    """A printed sheet has the positions found by a search without values, and folded solutions."""
    asked = {"outcome": "win", "only": "1", "turn": "black", "least": "3", "lang": "zh-Hans"}
    found = page(client, "/search/KRKN", **asked)
    assert "sheet=1" in found
    sheet = page(client, "/search/KRKN", **asked, sheet="1")
    assert boards(sheet) == boards(found)
    exercises, solutions = sheet.split('<details class="solutions"><summary>')
    assert "1. 黑方先走取胜" in exercises
    assert "回合" not in exercises
    assert "mode=play&amp;lang=zh-Hans&amp;side=black" in exercises
    listed = re.findall(r"<li>(.*?)</li>", solutions)
    assert len(listed) == len(boards(sheet))
    for position, solution in zip(boards(sheet), listed, strict=True):
        best = store.tables.best_move(position)
        assert best is not None
        assert solution.startswith('<span class="pair"><b>1.</b> … ')
        assert format_move(position, best.move, "zh") in solution
    assert not misfits(sheet, "zh-Hans")
    draws = page(client, "/search/KRKN", outcome="draw", only="1", sheet="1")
    assert "to move and draw" in draws


def test_games_of_a_search_are_in_its_language(client: TestClient) -> None:
    path, asked = "/v1/tables/KRKN/search", {"outcome": "win", "limit": "2", "format": "pgn"}
    traditional = {"lang": "zh-Hant", "notation": "zh-hant"}
    text = client.get(path, params=asked | traditional).text
    assert '[Event "車對馬殘局"]' in text
    assert re.search("[車馬帥將].[進退平].", text)
    assert '[Event "KRKN endgame"]' in client.get(path, params=asked).text
    shown = page(client, "/search/KRKN", outcome="win", lang="zh-Hant")
    assert "notation=zh-hant&amp;lang=zh-Hant&amp;format=pgn" in shown


@pytest.mark.parametrize(
    "asked",
    [
        {"turn": "purple"},
        {"least": "-1"},
        {"decided": "idle"},
        {"only": "yes"},
        {"limit": "201"},
        {"order": "3-1"},
        {"at": "R@z9"},
        {"outcome": "win", "sort": "length"},
        {"sort": "fen"},
        {"outcome": "draw", "least": "3"},
        {"decided": "check", "outcome": "loss"},
    ],
)
def test_invalid_searches_are_refused(client: TestClient, asked: dict[str, str]) -> None:
    assert client.get("/v1/tables/KRKN/search", params=asked).status_code == 400


def test_a_lower_end_above_the_upper_one_is_named(client: TestClient) -> None:
    asked = {"least": "30", "most": "20"}
    page = client.get("/search/KRKN", params=asked | {"lang": "zh-Hans"})
    assert page.status_code == 400
    assert "“至少几步”大于“至多几步”" in page.text


def boards(text: str) -> list[Position]:
    found = re.findall(r'class="mini-board" href="([^"]+)"', text)
    return [
        Position.from_fen(parse_qs(urlsplit(href).query)["fen"][0].replace("_", " "))
        for href in found
    ]


def test_the_page_shows_form_and_results(client: TestClient, store: TableStore) -> None:
    empty = page(client, "/search/KRKN")
    assert not boards(empty)
    assert empty.count('class="button small"') == 6  # without another rule set to compare with
    assert "The rules change it" not in empty
    text = page(client, "/search/KRKN", outcome="win", only="1", turn="black", least="3")
    assert len(boards(text)) > 3
    for position in boards(text):
        moves = store.tables.probe_root(position)
        assert position.side == Side.BLACK
        assert [move.outcome for move in moves].count(Outcome.WIN) == 1
    assert '<option value="black" selected>' in text
    chinese = page(client, "/search/KRKN", lang="zh-Hans")
    assert '<option value="check">长将</option><option value="chase">长捉</option>' in chinese
    assert 'name="least" inputmode="numeric" pattern="[0-9]*" maxlength="5" value="3"' in text
    assert "of the table: a sample" in text
    assert "seed=1" in text
    asked = {"outcome": "loss", "at": "R@e5", "turn": "black"}
    assert 'value="R@e5"' in (english := page(client, "/search/KRKN", **asked))
    chinese = page(client, "/search/KRKN", **{**asked, "at": "红车e5", "lang": "zh-Hans"})
    assert 'value="红车e5"' in chinese
    assert 'placeholder="红车e5，黑车a9"' in chinese
    assert boards(chinese) == boards(english)
    assert "No position of this endgame has such a value" in page(client, "/search/KRKN", order="7")
    assert page(client, "/search/KRRKRR", 404, outcome="win")
    assert "/search/KRKN" in page(client, "/endgames/KRKN")
