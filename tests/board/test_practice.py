"""Practice: puzzles that are open, lost and solved, and games without a table."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from datetime import date

import pytest

pytest.importorskip("starlette", reason="the extra `web` is not installed")
pytest.importorskip("httpx", reason="starlette's test client needs it")

from starlette.testclient import TestClient

from tbgen import open_tablebase
from tbgen.board.knowledge.puzzles import (
    ATTEMPTS,
    LEVELS,
    NoReplyError,
    NothingFoundError,
    answer,
    find_puzzle,
    level_of,
    puzzle_of_the_day,
)
from tbgen.board.knowledge.store import TableStore
from tbgen.board.web.routes import create_app
from tbgen.indexing import Material, Move, Position
from tbgen.rules import legal_moves
from tbgen.tables import Outcome
from tests.board.test_pages import MISSING, page
from tests.helpers.board_server import demo
from tests.helpers.languages import misfits

SLIP = "5k3/9/9/9/9/R8/9/4n4/9/3K5_w"
"""Position with one winning move, d0e0; all other moves draw or lose."""
MATE = "3k5/9/9/9/R8/9/9/9/9/4K4_w"


class FakeOpponent:
    """Stand-in for the engine as opponent: plays the first legal move, sorted by squares.

    If `silent` is set, it raises `NoReplyError`.
    """

    silent = False

    def __call__(self, start: Position, moves: Sequence[Move]) -> Move:
        if self.silent:
            raise NoReplyError("the engine does not answer", "try again")
        for move in moves:
            start = start.after(*move)
        return sorted(legal_moves(start))[0]


@pytest.fixture
def opponent() -> FakeOpponent:
    return FakeOpponent()


@pytest.fixture
def client(opponent: FakeOpponent) -> Iterator[TestClient]:
    with open_tablebase(demo().tables) as tables:
        yield TestClient(create_app(tables, demo().tables, opponent=opponent))


def puzzle(text: str) -> str:
    return re.findall(r'data-puzzle="(\w+)"', text)[0]


def test_a_puzzle_is_open_lost_or_solved(client: TestClient) -> None:
    task = {"mode": "play", "task": "win"}
    text = page(client, "/", fen=SLIP, **task)
    assert puzzle(text) == "open"
    assert "One move alone wins" in text
    lost = page(client, "/", fen=SLIP, moves="d0d1", **task)
    assert puzzle(lost) == "lost"
    assert "Try again" in lost
    right = page(client, "/", fen=SLIP, moves="d0e0", **task)
    assert puzzle(right) == "right"
    assert "Right!" in right
    assert puzzle(page(client, "/", fen=MATE, moves="a5d5", **task)) == "solved"
    assert "data-puzzle" not in page(client, "/", fen=SLIP, mode="play")


def test_sides_are_changed_in_games_but_not_in_puzzles(client: TestClient) -> None:
    """A task is one of its side: after a change it would count as lost, or be done by the table."""
    for task in ("win", "draw"):
        assert "Play the other side" not in page(client, "/", fen=SLIP, mode="play", task=task)
    assert "Play the other side" in page(client, "/", fen=SLIP, mode="play")


def test_a_puzzle_ends_with_its_game(client: TestClient) -> None:
    """The referee decides a game that is over, even if its last position is won by the table."""
    game = {"fen": "4k4/R8/9/9/9/9/9/9/9/3K5_w", "moves": "a8a9,e9e8,a9a8,e8e9", "mode": "play"}
    for task in ("win", "draw"):  # Red has checked for ever
        assert puzzle(page(client, "/", **game, task=task)) == "lost"
    drawn = {"fen": "3k5/9/9/9/9/9/9/9/R8/4K4_w", "moves": "a1b1,d9d8,b1a1,d8d9", "mode": "play"}
    assert puzzle(page(client, "/", **drawn, task="win")) == "lost"


def test_a_puzzle_of_repetition_is_labelled(client: TestClient) -> None:
    loop = "9/9/4k4/9/9/9/9/9/1n7/R2K5_w"
    assert "Repetition decides here" in page(client, "/", fen=loop, mode="play", task="win")
    assert "Repetition decides here" not in page(client, "/", fen=MATE, mode="play", task="win")


def test_draws_to_be_held(client: TestClient) -> None:
    with open_tablebase(demo().tables) as tables:
        position = find_puzzle(TableStore(tables), Material.parse("KRKR"), Outcome.DRAW, seed=3)
        moves = tables.probe_root(position)
    assert [move.outcome for move in moves].count(Outcome.DRAW) == 1
    task = {"fen": position.fen, "mode": "play", "task": "draw",
            "side": position.side.name.lower()}  # fmt: skip
    assert puzzle(page(client, "/", **task)) == "open"
    for move in moves:
        after = page(client, "/", moves=move.move.iccs, **task)
        assert puzzle(after) == ("solved" if move.outcome == Outcome.DRAW else "lost")
    answer = client.get("/puzzle/KRKR?task=draw&pieces=latin", follow_redirects=False)
    assert "task=draw" in answer.headers["location"]
    new = page(client, answer.headers["location"])
    assert re.search(r'"/puzzle/KRKR\?[^"]*task=draw[^"]*pieces=latin', new)
    assert "task=draw" in page(client, "/endgames/KRKR")


def test_a_puzzle_does_not_contain_its_solution(client: TestClient) -> None:
    """Neither text nor source of the page has the solution; a hint has an address of its own."""
    task = {"fen": SLIP, "mode": "play", "task": "win"}
    plain = page(client, "/", **task)
    assert "Look at" not in plain
    assert plain.count("d0e0") == plain.count("d0d1")  # a move like any other
    piece = page(client, "/", hint="piece", **task)
    assert "Look at the Red king" in piece
    assert piece.count("d0e0") == piece.count("d0d1")
    assert "<b>d0e0</b>" in page(client, "/", hint="move", **task)
    for told in ("/v1/animation", "/v1/probe", "/export.pgn"):  # best play, or values
        assert told not in plain
    shared = re.findall(r'href="([^"]+)">Link</a>', plain)[0]
    assert "mode=play" in shared
    assert "task=win" in shared
    assert "/v1/animation.svg" in page(client, "/", moves="d0e0", **task)


def test_the_puzzle_of_the_day(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    found = set()
    for day in (1, 2):
        for module in ("small_boards", "pages", "routes"):
            monkeypatch.setattr(
                f"tbgen.board.web.{module}.today", lambda day=day: date(2026, 1, day)
            )
        answers = {client.get("/puzzle", follow_redirects=False).headers["location"] for _ in "ab"}
        assert len(answers) == 1
        found |= answers
        assert 'href="/puzzle"' in page(client, "/")
    assert len(found) == 2
    assert puzzle(page(client, found.pop())) == "open"


def test_the_puzzle_of_the_day_comes_from_two_attackers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most tables of one attacker have no puzzle in a sample, so four of them are not enough."""
    names = [f"KR{own}K{other}" for own in "RNCAB" for other in ("", "A", "B", "AB", "R", "N", "C")]
    tried: list[Material] = []

    def find_none(store: TableStore, material: Material, **how: int) -> Position:
        tried.append(material)
        raise NothingFoundError("no puzzle was found", "")

    monkeypatch.setattr("tbgen.board.knowledge.puzzles.find_puzzle", find_none)
    with open_tablebase(demo().tables) as tables:
        store = TableStore(tables)
        monkeypatch.setattr(store, "materials", lambda: [Material.parse(name) for name in names])
        for day in range(1, 29):
            tried.clear()
            assert puzzle_of_the_day(store, date(2026, 2, day)) is None
            assert len(set(tried)) == ATTEMPTS
            assert all(material.both_armed for material in tried)


def test_puzzles_have_levels(client: TestClient) -> None:
    with open_tablebase(demo().tables) as tables:
        store = TableStore(tables)
        for level in LEVELS:
            position = find_puzzle(store, Material.parse("KRKN"), seed=1, level=level)
            assert level_of(position, tables.probe(position)) == level
            side = position.side.name.lower()
            shown = page(client, "/", fen=position.fen, mode="play", task="win", side=side)
            assert f"Difficulty: {level}" in shown
            assert f"/puzzle/KRKN?level={level}" in shown
    assert client.get("/puzzle/KRKN?level=9").status_code == 400
    none = page(client, "/puzzle/KRK?task=draw&level=hard&lang=en", 404)
    assert "KRK has no such puzzle" in none
    assert 'href="/endgames/KRK?lang=en"' in none


def test_draws_have_puzzles_of_every_level(client: TestClient) -> None:
    with open_tablebase(demo().tables) as tables:
        store, material = TableStore(tables), Material.parse("KRKR")
        for level in LEVELS:
            position = find_puzzle(store, material, Outcome.DRAW, seed=1, level=level)
            assert level_of(position, tables.probe(position)) == level


def test_puzzles_differ() -> None:
    with open_tablebase(demo().tables) as tables:
        store = TableStore(tables)
        found = {find_puzzle(store, Material.parse("KRKN"), seed=seed).fen for seed in range(20)}
    assert len(found) > 15


def test_the_table_plays_at_other_strengths(client: TestClient) -> None:
    """`varied` plays any move that keeps the outcome; `beginner` sometimes gives it away."""
    with open_tablebase(demo().tables) as tables:
        position = Position.from_fen(SLIP)
        facts = TableStore(tables).probe_game((position,), ())
        worth = {move.move: move.outcome for move in facts.moves}
        chance = random.Random(1)
        assert {worth[answer(facts, "varied", chance)] for _ in range(20)} == {Outcome.WIN}
        assert len({worth[answer(facts, "beginner", chance)] for _ in range(60)}) > 1
        assert facts.suggested is not None
        assert answer(facts, "best") == facts.suggested.move
    text = page(client, "/", fen=SLIP, mode="play", side="black", strength="varied")
    reply = re.findall(r'data-reply="([^"]+)"', text)[0].replace("&amp;", "&")
    assert reply.startswith("/reply?")
    assert "moves=d0e0" in client.get(reply, follow_redirects=False).headers["location"]


def test_puzzles_in_three_languages(client: TestClient) -> None:
    for language in ("zh-Hans", "zh-Hant"):
        for task in ("win", "draw"):
            for moves in ("", "d0d1", "d0e0"):
                text = page(
                    client, "/", fen=SLIP, moves=moves, mode="play", task=task, lang=language
                )
                assert not misfits(text, language)


def test_the_engine_plays_without_a_table(client: TestClient, opponent: FakeOpponent) -> None:
    text = page(client, "/", fen=MISSING, mode="play")
    assert "the engine plays here" in text
    assert "data-reply" not in text
    text = page(client, "/", fen=MISSING, mode="play", moves="f0f1")
    reply = re.findall(r'data-reply="([^"]+)"', text)[0].replace("&amp;", "&")
    assert reply.startswith("/reply?")
    answer = client.get(reply, follow_redirects=False)
    assert answer.status_code == 303
    assert len(answer.headers["location"].split("moves=")[1].split("&")[0].split(",")) == 2
    assert page(client, answer.headers["location"])
    # With a table, the table plays.
    known = client.get(f"/reply?fen={MATE}&mode=play", follow_redirects=False)
    assert "moves=a5" in known.headers["location"]
    opponent.silent = True
    failed = client.get(reply, headers={"accept-language": "zh"})
    assert failed.status_code == 503
    assert "引擎没有应答" in failed.text
    assert "管理员" not in failed.text  # only errors of the server are for its operator
    for language in ("zh-Hans", "zh-Hant"):
        for moves in ("", "f0f1"):
            text = page(client, "/", fen=MISSING, mode="play", moves=moves, lang=language)
            assert not misfits(text, language)


def test_without_an_engine_there_is_no_reply() -> None:
    with open_tablebase(demo().tables) as tables:
        client = TestClient(create_app(tables, demo().tables))
        for moves in ("", "f0f1"):
            text = page(client, "/", fen=MISSING, mode="play", moves=moves)
            assert "no engine plays" in text
            assert "data-reply" not in text
            assert "/reply?" not in text


def test_rare_puzzles_are_found_in_the_whole_table(client: TestClient) -> None:
    """A puzzle of KRKPA is found, though only 30 of its millions of positions are puzzles.

    A sample would miss these. An endgame without puzzles gives status 404.
    """
    answer = client.get("/puzzle/KRKPA", follow_redirects=False)
    assert answer.status_code == 303
    assert puzzle(page(client, answer.headers["location"])) == "open"
    for query in ({}, {"level": "easy"}):
        none = client.get("/puzzle/KRK", params=query)
        assert none.status_code == 404
        assert "Try another endgame" in none.text


def test_a_lost_puzzle_tells_the_move_and_leads_on(client: TestClient) -> None:
    """A lost puzzle shows the right move and links to another puzzle.

    Tested after the wrong move, and after a capture that leaves no attackers.
    """
    task = {"fen": "4Na3/4k4/9/9/9/9/9/9/9/3K5_w", "mode": "play", "task": "win"}
    for moves in ("d0d1", "d0d1,e8e9"):
        lost = page(client, "/", moves=moves, **task)
        assert ">e9c8</a>" in lost.partition("Solution</summary>")[2]
        assert "/puzzle/KNKA" in lost
