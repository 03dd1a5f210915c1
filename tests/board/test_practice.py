"""Practice: puzzles that are kept, lost and solved, and games that go on without a table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import pytest

pytest.importorskip("starlette", reason="the extra `web` is not installed")
pytest.importorskip("httpx", reason="starlette's test client needs it")

from starlette.testclient import TestClient

from tbgen import open_tablebase
from tbgen.board.http import RequestError
from tbgen.board.library import Library
from tbgen.board.puzzles import find_puzzle
from tbgen.board.server import create_app
from tbgen.indexing import Material, Move, Position
from tbgen.rules import legal_moves
from tbgen.tables import Outcome
from tests.board.test_pages import MISSING, page
from tests.kits.boardkit import demo
from tests.kits.languages import misfits

SLIP = "5k3/9/9/9/9/R8/9/4n4/9/3K5_w"
"""d0e0 alone wins."""
MATE = "3k5/9/9/9/R8/9/9/9/9/4K4_w"


class FakeOpponent:
    """Plays the first legal move, or has nothing to say."""

    silent = False

    def __call__(self, start: Position, moves: Sequence[Move]) -> Move:
        if self.silent:
            raise RequestError(503, "the engine does not answer", "try again")
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
    assert puzzle(page(client, "/", fen=SLIP, moves="d0e0", **task)) == "open"
    assert puzzle(page(client, "/", fen=MATE, moves="a5d5", **task)) == "solved"
    assert "data-puzzle" not in page(client, "/", fen=SLIP, mode="play")


def test_a_puzzle_of_repetition_says_so(client: TestClient) -> None:
    loop = "9/9/4k4/9/9/9/9/9/1n7/R2K5_w"
    assert "Repetition decides here" in page(client, "/", fen=loop, mode="play", task="win")
    assert "Repetition decides here" not in page(client, "/", fen=MATE, mode="play", task="win")


def test_draws_to_be_held(client: TestClient) -> None:
    with open_tablebase(demo().tables) as tables:
        position = find_puzzle(Library(tables), Material.parse("KRKR"), Outcome.DRAW, seed=3)
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
    assert re.search(r'"/puzzle/KRKR\?[^"]*pieces=latin&amp;task=draw"', new)
    assert "task=draw" in page(client, "/endgames/KRKR")


def test_puzzles_are_asked_for_in_three_languages(client: TestClient) -> None:
    for language in ("zh-Hans", "zh-Hant"):
        for task in ("win", "draw"):
            for moves in ("", "d0d1", "d0e0"):
                text = page(
                    client, "/", fen=SLIP, moves=moves, mode="play", task=task, lang=language
                )
                assert not misfits(text, language)


def test_the_engine_plays_where_no_table_does(client: TestClient, opponent: FakeOpponent) -> None:
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
    # Where a table knows better, it plays.
    known = client.get(f"/reply?fen={MATE}&mode=play", follow_redirects=False)
    assert "moves" not in known.headers["location"]
    opponent.silent = True
    failed = client.get(reply, headers={"accept-language": "zh"})
    assert failed.status_code == 503
    assert "引擎没有应答" in failed.text
    for language in ("zh-Hans", "zh-Hant"):
        for moves in ("", "f0f1"):
            text = page(client, "/", fen=MISSING, mode="play", moves=moves, lang=language)
            assert not misfits(text, language)


def test_without_an_engine_nobody_plays() -> None:
    with open_tablebase(demo().tables) as tables:
        client = TestClient(create_app(tables, demo().tables))
        for moves in ("", "f0f1"):
            text = page(client, "/", fen=MISSING, mode="play", moves=moves)
            assert "nobody plays" in text
            assert "data-reply" not in text
            assert "/reply?" not in text
