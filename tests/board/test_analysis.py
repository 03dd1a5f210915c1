"""Facts from tables on the board's pages: outcomes by square, lines, statistics, puzzles.

A ladder lists the loops through which a side loses by repetition, in falling order, down to mate. A
film shows a line of best play move by move.
"""

from __future__ import annotations

import json
import re
import shutil
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

pytest.importorskip("starlette", reason="the extra `web` is not installed")
pytest.importorskip("httpx", reason="starlette's test client needs it")

from starlette.testclient import TestClient

from tbgen import open_tablebase
from tbgen.board.knowledge.puzzles import find_puzzle
from tbgen.board.knowledge.store import TableStore
from tbgen.board.language.i18n import text as words
from tbgen.board.web import handbook
from tbgen.board.web.routes import create_app
from tbgen.board.web.verdict import short_value
from tbgen.board.web.view import View
from tbgen.finding.handbook import handbook_entry
from tbgen.indexing import Material, Position
from tbgen.tables import Outcome, Value
from tests.board.test_pages import KNIGHT, LOOP, MISSING, links, page
from tests.helpers.board_server import demo
from tests.helpers.built import built
from tests.helpers.languages import misfits

# -- facts from tables -----------------------------------------------------------------------


def test_a_piece_on_every_point(client: TestClient) -> None:
    text = page(client, "/", fen=KNIGHT, where="a0")
    points = re.findall(r'<a class="heat (\w+)" href="([^"]+)" aria-label="([^"]+)"', text)
    assert len(points) > 60
    with open_tablebase(demo().tables) as tables:
        for outcome, href, _ in points[::7]:
            fen = parse_qs(urlsplit(href).query)["fen"][0].replace("_", " ")
            assert tables.probe(Position.from_fen(fen)).outcome.name.lower() == outcome


def test_rules_side_by_side(tmp_path: Path) -> None:
    """A page lists the outcome under every rule set that has a table, the one in use first."""
    sets = ("check", "none", "wxf")
    for rules in sets:
        shutil.copy(built("KRKN", rules=rules) / f"KRKN.{rules}.dtm.xqt", tmp_path)
    with open_tablebase(tmp_path, rules="wxf") as tables:
        client = TestClient(create_app(tables, tmp_path))
        text = page(client, "/", fen=LOOP)
        assert "Won only because of the rules" in text
        assert "Where repetition is a draw: Draw" in text
        assert "/search/KRKN?differs=1" in text
        panel = text.split('<ul class="rules">')[1].split("</ul>")[0]
        others = sets[:2]
        names = [words("en", f"rules_{rules}") for rules in ("wxf", *others)]
        assert re.findall(r"<li><span>(.*?)</span>", panel) == names
        outcomes = ["draw" if rules == "none" else "win" for rules in ("wxf", *others)]
        assert re.findall(r'class="badge (\w+)"', panel) == outcomes
        same = page(client, "/", fen="9/9/4k4/9/9/9/9/9/9/R2K4n_w")
        assert "only because of the rules" not in same
        # One a day on the first page, all of them on the endgame's page.
        first = page(client, "/")
        today = first.split('<section class="chosen">')[1].split("</a>")[0]
        assert "Today: Rook against knight, won only because of the rules" in today
        fen = parse_qs(urlsplit(re.findall(r'href="([^"]+)"', today)[0]).query)["fen"][0]
        assert '<p class="matter"><b>Won only because of the rules' in page(client, "/", fen=fen)
        endgame = page(client, "/endgames/KRKN")
        assert "Won only because of the rules" in endgame


def test_other_rules_with_two_metrics(tmp_path: Path) -> None:
    shutil.copy(built("KRKN", rules="wxf") / "KRKN.wxf.dtm.xqt", tmp_path)
    for metric in ("dtm", "dtc"):
        tables = built("KRKN", rules="none", metric=metric)
        shutil.copy(tables / f"KRKN.none.{metric}.xqt", tmp_path)
    with open_tablebase(tmp_path, rules="wxf") as opened:
        text = page(TestClient(create_app(opened, tmp_path)), "/", fen=LOOP)
    assert "Where repetition is a draw: Draw" in text


@pytest.mark.parametrize("metric", ["dtm", "dtc"])
def test_tables_of_two_metrics_are_listed_once(tmp_path: Path, metric: str) -> None:
    for each in ("dtm", "dtc"):
        tables = built("KRKN", rules="wxf", metric=each)
        shutil.copy(tables / f"KRKN.wxf.{each}.xqt", tmp_path)
    with open_tablebase(tmp_path, metric=metric) as opened:
        client = TestClient(create_app(opened, tmp_path))
        listed = client.get("/v1/tables").json()["tables"]
        assert [(table["material"], table["metric"]) for table in listed] == [("KRKN", metric)]
        assert page(client, "/endgames").count("<code>KRKN</code>") == 1


def test_a_damaged_table_does_not_break_the_first_page(tmp_path: Path) -> None:
    for rules in ("none", "wxf"):
        shutil.copy(built("KRKN", rules=rules) / f"KRKN.{rules}.dtm.xqt", tmp_path)
    (tmp_path / "KRKN.wxf.dtm.xqt").write_bytes(b"damaged")
    with open_tablebase(tmp_path, rules="wxf") as tables:
        assert page(TestClient(create_app(tables, tmp_path)), "/")


def test_no_value_contradicts_the_referee(client: TestClient) -> None:
    """After the referee's verdict against the winner by the table, pages do not show the value.

    In the test Red loses a won endgame by perpetual check.
    """
    game = {"fen": "4k4/R8/9/9/9/9/9/9/9/3K5_w", "moves": "a8a9,e9e8,a9a8,e8e9"}
    text = page(client, "/", **game).partition("<main")[2]
    assert "The game is over: Black wins (the position repeats)" in text
    for wrong in ('<span class="badge', "Red wins", 'class="arrow', ">Red to move", 'id="moves"'):
        assert wrong not in text.partition('class="panel where"')[0]
    assert ">Red to move" not in page(client, "/", **game, mode="play")
    embedded = page(client, "/embed", **game)
    assert "Black wins" in embedded
    assert "Red wins" not in embedded


def test_the_ladder_ends_in_mate(client: TestClient) -> None:
    text = page(client, "/", fen=LOOP, mode="line")
    ladder = text.split('<ol class="ladder">')[1].split("</ol>")[0]
    assert "again and again: forbidden (order 1)" in ladder
    assert "mated in" in ladder
    assert ladder.count("<svg") == 2
    assert ladder.count('class="arrow best"') == ladder.count('class="arrow check"') == 1
    assert "Red answers" in ladder
    rungs = re.findall(r'<a class="rung" href="([^"]+)"', ladder)
    assert len(rungs) == 2
    # All as one film: the loop once, the way out, and on to mate.
    whole = page(client, "/", fen=LOOP, mode="line", ladder="1")
    film = json.loads(unescape(re.findall(r'data-film="([^"]+)"', whole)[0]))
    labels = [shot["label"] for shot in film]
    assert "check 1 (checking for ever loses)" in labels
    assert any(label.startswith("last way out: mated in") for label in labels)
    assert labels[-1] == "Black is mated: Red wins"
    assert "mate" not in labels
    assert "All loops, to mate" in whole
    assert '<p class="end">Black is mated: Red wins</p>' in whole
    moves = ",".join(shot["move"] for shot in film)
    assert "is mated" in page(client, "/", fen=LOOP, moves=moves)
    for language in ("zh-Hans", "zh-Hant"):
        told = page(client, "/", fen=LOOP, mode="line", ladder="1", lang=language)
        assert not misfits(told, language)
    last = page(client, rungs[-1].replace("&amp;", "&"))
    assert "Red wins" in last
    assert "mate in" in last


def test_the_film_has_arrows_of_checks(client: TestClient) -> None:
    text = page(client, "/", fen=LOOP, mode="line", at="2")
    assert 'class="arrow check"' in text
    assert 'class="checked"' in text
    assert "Black checks on every move" in text
    assert "art. 6" in text


def test_a_move_that_loses_the_win_is_reported(client: TestClient) -> None:
    fen = "5k3/9/9/9/9/R8/9/4n4/9/3K5_w"
    text = page(client, "/", fen=fen, moves="d0d1")
    assert "d0d1 threw away the win: now it is a loss. d0e0 kept it." in text
    assert "threw away" not in page(client, "/", fen=fen, moves="d0e0")
    assert "threw away" not in page(client, "/", fen=fen, moves="d0d1", mode="play")


def test_a_missing_table_has_one_card(client: TestClient) -> None:
    text = page(client, "/", fen=MISSING)
    assert text.count("tbgen build KRKNA --rules wxf") == 2  # shown, and to be copied
    assert "Rook against knight and advisor (KRKNA) has not been built" in text
    assert "--tables" not in text
    with open_tablebase(demo().tables) as tables:
        local = TestClient(
            create_app(tables, demo().tables, loopback_only=True), base_url="http://localhost"
        )
        assert f"--tables {demo().tables}" in page(local, "/", fen=MISSING)


def test_a_bar_leads_to_its_positions(client: TestClient) -> None:
    text = page(client, "/endgames/KRKN")
    bars = [link for link in links(text) if "plies=" in link]
    assert len(bars) > 40
    with open_tablebase(demo().tables) as tables:
        for bar in bars[::9]:
            asked = {key: value[0] for key, value in parse_qs(urlsplit(bar).query).items()}
            boards = re.findall(r'class="mini-board" href="([^"]+)"', page(client, bar))
            assert boards, bar
            for board in boards:
                fen = parse_qs(urlsplit(board.replace("&amp;", "&")).query)["fen"][0]
                position = Position.from_fen(fen.replace("_", " "))
                found = tables.probe(position)
                winner = position.side if found.outcome == 1 else position.side.other
                assert asked.items() >= {
                    "won": winner.name.lower(), "order": str(found.order), "plies": str(found.plies)
                }.items()  # fmt: skip
    assert "There are no such positions" in page(
        client, "/endgames/KRKN", 404, won="red", order="7", plies="3"
    )


def test_the_longest_wins_of_both_sides_are_shown(client: TestClient) -> None:
    text = page(client, "/endgames/KRKN")
    boards = re.findall(r'class="mini-board".*?<span>([^<]*)</span>', text)
    assert [board for board in boards if "order" not in board and board.startswith("Red")]
    assert [board for board in boards if board.startswith("Black wins")]
    drawn = page(client, "/endgames/KCK")
    assert "<h2>How long it takes" in text
    assert "Longest" not in drawn
    assert "<h2>How long it takes" not in drawn


def test_the_longest_win_may_begin_with_the_loser() -> None:
    """In the longest win of KRNK the loser, Black, is to move: Black's king takes the rook.

    The knight then mates. All wins with Red to move are shorter.
    """
    folder = built("KRNK")
    with open_tablebase(folder) as tables:
        client = TestClient(create_app(tables, folder))
        text = page(client, "/endgames/KRNK")
        assert "14 plies (7 moves)" in text
        assert "<span>Red wins, 7 moves</span>" in text
        assert "<span>longest: 7 moves</span>" in page(client, "/handbook/KRN")


def test_a_mated_position_has_no_number() -> None:
    """A mate on the board is shown as a loss by mate, without a number of moves."""
    values = [Value(Outcome.LOSS, 0, 0), Value(Outcome.WIN, 0, 1), Value(Outcome.LOSS, 0, 2)]
    assert [short_value(value) for value in values] == ["−#", "#", "−1"]


def test_an_added_table_leaves_the_statistics_of_others_cached(tmp_path: Path) -> None:
    krkn = Material.parse("KRKN")
    source = demo().tables
    shutil.copy(source / "KRKN.wxf.dtm.xqt", tmp_path)
    with open_tablebase(tmp_path) as tables:
        store = TableStore(tables, tmp_path)
        assert not store.all_statistics(seconds=-1)
        first, _ = store.statistics(krkn)
        shutil.copy(source / "KRKR.wxf.dtm.xqt", tmp_path)
        assert set(store.all_statistics(seconds=-1)) == {krkn}
        assert len(store.all_statistics()) == 2
        assert store.statistics(krkn)[0] is first


def test_the_handbook_has_the_longest_win_of_the_attacker(client: TestClient) -> None:
    """The handbook states the longest win of Red, the attacker: 11 moves in KRKPA.

    Black's longest win there takes 12 moves and is not stated.
    """
    row = page(client, "/handbook").split("<code>KRKPA</code>")[1].split("</tr>")[0]
    assert "<td>11 moves</td>" in row


def test_the_matrix_has_every_endgame_once(client: TestClient) -> None:
    text = page(client, "/endgames")
    table = text.split('<table class="matrix">')[1].split("</table>")[0]
    cells = dict(re.findall(r'<td class="(?:won|open|drawn)"><a href="/endgames/(\w+)"[^>]*'
                            r'aria-label="([^"]*)"', table))  # fmt: skip
    with open_tablebase(demo().tables) as tables:
        names = {name.material.name for name in tables.available()}
    assert set(cells) == names
    assert cells["KRKN"] == "Rook against knight: won, 26 plies"
    rows = [re.findall(r"<t[dh]", row) for row in table.split("<tr>")[1:]]
    assert len({len(row) for row in rows}) == 1
    chinese = page(client, "/endgames", lang="zh-Hans")
    assert "车对马：例胜，26步" in chinese
    # Endgames that nobody wins have no distance.
    assert cells["KCK"].endswith(": drawn")
    assert ">0 plies<" not in text
    assert ">0 步<" not in chinese


def test_the_handbook_classes_every_endgame(client: TestClient) -> None:
    """The handbook states the class of each endgame, its share of wins, and its exceptions.

    An exception is a position whose outcome differs from the class of its endgame. The stated
    outcome of each exception is that of the table.
    """
    endgames = page(client, "/endgames")
    assert 'href="/handbook"' in endgames
    assert 'href="/handbook/KR"' in endgames
    whole = page(client, "/handbook")
    chapter = page(client, "/handbook/KR")
    with open_tablebase(demo().tables) as tables:
        for name in ("KRKN", "KRKR"):
            figures = tables.table(name).statistics
            entry = handbook_entry(figures)
            assert entry.wins + entry.draws + entry.losses == pytest.approx(1)
            for text in (whole, chapter):
                row = text.split(f"<code>{name}</code>")[1].split("</tr>")[0]
                assert f'class="class {entry.kind}"' in row
                assert f"<td>{entry.wins:.1%}</td>" in row
        shown = re.findall(r'href="(/\?fen=[^"]+)">.*?<span>([^<]+)</span>', chapter)
        expected = {"here the attacker wins": Outcome.WIN, "here the defender holds": Outcome.DRAW,
                    "here the attacker loses": Outcome.LOSS}  # fmt: skip
        exceptions = [(href, said) for href, said in shown if said in expected]
        assert exceptions
        for href, said in exceptions:
            position = Position.from_fen(parse_qs(urlsplit(href).query)["fen"][0].replace("_", " "))
            assert tables.probe(position).outcome == expected[said]
    document = page(client, "/handbook/all")
    assert document.count('class="part"') == whole.count("<section>")
    sections = re.findall(r'<section class="entry">.*?</section>', chapter)
    assert sections
    assert all(section in document for section in sections)
    assert client.get("/handbook/KRRRR").status_code == 404
    for language in ("zh-Hans", "zh-Hant"):
        assert not misfits(page(client, "/handbook", lang=language), language)
        assert not misfits(page(client, "/handbook/KR", lang=language), language)
        assert not misfits(page(client, "/handbook/all", lang=language), language)


def test_an_incomplete_document_can_be_loaded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with open_tablebase(demo().tables) as tables:
        client = TestClient(create_app(tables, demo().tables))
        monkeypatch.setattr(handbook, "DOCUMENT_SECONDS", -1.0)
        cut = client.get("/handbook/all")
        assert "etag" not in cut.headers
        assert cut.headers["cache-control"] == "no-store"
        monkeypatch.undo()
        whole = client.get("/handbook/all")
        assert "are still missing" not in whole.text
        again = client.get("/handbook/all", headers={"if-none-match": whole.headers["etag"]})
        assert again.status_code == 304
        assert "access-control-allow-origin" not in again.headers


def test_an_incomplete_document_names_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handbook, "DOCUMENT_SECONDS", -1.0)
    with open_tablebase(demo().tables) as tables:
        store = TableStore(tables)
        view = View(store.first_position)
        cut = str(handbook.chapter_page(store, view, "all").body)
        assert "are still missing: 15. Load the page again" in cut
        assert "here the defender holds" not in cut
        monkeypatch.undo()
        handbook.chapter_page(store, view, "KR")
        monkeypatch.setattr(handbook, "DOCUMENT_SECONDS", -1.0)
        assert "here the defender holds" in str(handbook.chapter_page(store, view, "all").body)


def test_a_puzzle_has_one_winning_move(client: TestClient) -> None:
    with open_tablebase(demo().tables) as tables:
        store = TableStore(tables)
        for name, seed in (("KRKN", 0), ("KRKN", 1), ("KRKN", 5)):
            position = find_puzzle(store, Material.parse(name), seed=seed)
            outcomes = [move.outcome for move in tables.probe_root(position)]
            assert outcomes.count(Outcome.WIN) == 1
            assert find_puzzle(store, Material.parse(name), seed=seed) == position
    answer = client.get("/puzzle/KRKN?lang=zh-Hant", follow_redirects=False)
    assert answer.status_code == 303
    shown = page(client, answer.headers["location"])
    assert 'data-mode="play"' in shown
    assert 'lang="zh-Hant"' in shown
    assert "/puzzle/KRKN" in page(client, "/endgames/KRKN")


def test_a_won_game_is_compared_with_perfect_play(client: TestClient) -> None:
    text = page(client, "/", fen="3k5/9/9/9/R8/9/9/9/9/4K4_w", moves="a5d5", mode="play")
    assert "You won in 1 move; perfect play takes 1 move." in text
    query = {"fen": "3k5/9/9/9/R8/9/9/9/9/4K4_w", "moves": "a5d5", "mode": "play"}
    lost = page(client, "/", **query, side="black")
    assert "You won" not in lost
    swindle = page(client, "/", fen="4n4/6R2/3k5/9/9/9/9/9/9/4K4_b", moves="e9c8,g8c8", mode="play")
    assert "Red wins" in swindle
    assert "You won" not in swindle, "perfect play would have lost"


@pytest.mark.parametrize(
    ("language", "lost", "title", "end"),
    [
        ("en", "stalemated in", "All loops, to stalemate", "Black is stalemated: Red wins"),
        ("zh-Hans", "回合内被困毙", "逐个循环，直到困毙", "黑方被困毙：红方胜"),
        ("zh-Hant", "回合內被困斃", "逐個循環，直到困斃", "黑方被困斃：紅方勝"),
    ],
)
def test_a_ladder_may_end_in_stalemate(
    client: TestClient, language: str, lost: str, title: str, end: str
) -> None:
    """The list of loops, and the film with its last caption, do not call a stalemate mate."""
    asked = {"fen": "4k4/9/9/3R5/9/9/9/3K5/1n7/9_w", "mode": "line", "lang": language}
    whole = page(client, "/", **asked, ladder="1")
    assert title in whole
    assert whole.count(lost) >= 3
    assert f'<p class="end">{end}</p>' in whole
    film = json.loads(unescape(re.findall(r'data-film="([^"]+)"', whole)[0]))
    assert film[-1]["label"] == end
    loops = page(client, "/", **asked)
    assert lost in loops
    for text in (whole, loops):
        assert not re.search("\\bmated in|被将死|被將死", text)


def test_a_win_is_not_called_mate_in_chinese(client: TestClient) -> None:
    """A distance does not tell whether mate or stalemate ends the game."""
    for language, said in (("zh-Hans", "步（5回合）胜"), ("zh-Hant", "步（5回合）勝")):
        fen = "4k4/9/9/3R5/9/9/9/3K5/1n7/9_w"
        moves = json.loads(
            unescape(
                re.findall(
                    r'data-film="([^"]+)"', page(client, "/", fen=fen, mode="line", ladder="1")
                )[0]
            )
        )
        played = ",".join(shot["move"] for shot in moves[:-9])
        assert said in page(client, "/", fen=fen, moves=played, lang=language)


def test_the_ladder_counts_as_the_metric_of_its_table() -> None:
    with open_tablebase(built("KRKN", metric="dtc")) as tables:
        client = TestClient(create_app(tables))
        pages = [
            page(client, "/", fen=LOOP, mode="line", ladder=whole, lang=language)
            for whole in ("", "1") for language in ("en", "zh-Hans")
        ]  # fmt: skip
        assert not misfits(page(client, "/", fen=LOOP, mode="line", lang="zh-Hant"), "zh-Hant")
    said = "mated or converted in 5 moves", "5回合内告负或转入败局"
    for text, expected in zip(pages, (*said, *said), strict=True):
        assert text.count(expected) >= 2
        assert not re.search("mated in|内被将死|内告负(?!或)", text)


def test_a_won_game_is_not_compared_with_distances_to_conversion() -> None:
    with open_tablebase(built("KRK", metric="dtc")) as tables:
        client = TestClient(create_app(tables))
        text = page(client, "/", fen="3k5/9/9/9/R8/9/9/9/9/4K4_w", moves="a5d5", mode="play")
    assert "Red wins" in text
    assert "You won" not in text
