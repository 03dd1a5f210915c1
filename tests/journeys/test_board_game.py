"""Games on the board: against the engine and the tables, and a pasted game that is judged."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit
from urllib.request import urlopen

import pytest

from tbgen.indexing import START_FEN, Move, Position
from tbgen.rules import is_terminal, legal_moves
from tests.helpers.board_server import browser
from tests.helpers.commands import served

pytest.importorskip("uvicorn", reason="the extra `web` is not installed")
pytest.importorskip("selenium", reason="selenium is not installed")

from tests.helpers.browsing import assert_no_console_errors, one, until

PAWN_TO_TAKE = "3k5/9/9/9/r8/4P4/9/9/9/4K4 w"
"""FEN, Red to move: Black wins the pawn by search, then the game by the table KRK."""

PASTED = "9/9/4k4/9/9/9/9/9/1n7/R2K5 w - - 0 1 moves" + 2 * " d0d1 b1c3 d1d0 c3b1"
"""FEN and moves of a game in which Black gives perpetual check."""


class Game:
    """A game from `fen` between Red, who plays at random, and the opponent of the board at `url`.

    `moves` are those played, as ICCS, and `position` is the current position.
    """

    def __init__(self, url: str, fen: str) -> None:
        self.url, self.fen = url, fen
        self.moves: list[str] = []
        self.position = Position.from_fen(fen)
        self.replies: list[str] = []
        """Paths of the addresses that replied: /reply for the engine, / for a table."""
        self._chance = random.Random(1)

    def play(self) -> bool:
        """Make a random move for Red, and let the board reply; return False if the game is over."""
        self._push(self._chance.choice(legal_moves(self.position)).iccs)
        asked = {"fen": self.fen, "mode": "play", "side": "red", "moves": ",".join(self.moves)}
        with urlopen(f"{self.url}/?{urlencode(asked)}", timeout=60) as found:
            page = found.read().decode()
        reply = re.search(r'data-reply="([^"]+)"', page)
        assert ("The game is over: " in page) == (reply is None)
        if reply is None:
            return False
        with urlopen(self.url + unescape(reply[1]), timeout=60) as found:
            after = parse_qs(urlsplit(found.url).query)["moves"][0].split(",")
            is_over = "The game is over: " in found.read().decode()
        assert after[:-1] == self.moves
        self.replies.append(urlsplit(unescape(reply[1])).path)
        self._push(after[-1])
        return not is_over

    def _push(self, text: str) -> None:
        move = Move.from_iccs(text)
        assert move in legal_moves(self.position)
        self.moves.append(text)
        self.position = self.position.after(*move)


@pytest.fixture(scope="module")
def url(tables_dir: Path) -> Iterator[str]:
    with served(tables_dir, "--rules", "check") as found:
        yield found


def test_the_engine_replies_until_a_table_is_reached(url: str) -> None:
    opening = Game(url, START_FEN)
    assert opening.play()
    assert opening.replies == ["/reply"]
    ending = Game(url, PAWN_TO_TAKE)
    while ending.play():
        pass
    assert is_terminal(ending.position)
    by_table = ending.replies.index("/")
    assert set(ending.replies[:by_table]) == {"/reply"}
    assert set(ending.replies[by_table:]) == {"/"}


@pytest.mark.certification
def test_a_game_from_the_opening_to_mate(url: str) -> None:
    """The engine mates a random player on the board; it takes about a second a move."""
    game = Game(url, START_FEN)
    while game.play():
        pass
    assert is_terminal(game.position)
    assert game.position.side == 0, "the reader is mated"


def test_a_pasted_game_is_judged(url: str) -> None:
    page = browser()
    try:
        page.get(url)
        one(page, "input[name=q]").send_keys(f"{PASTED}\n")
        said = until(lambda: "moves=" in page.current_url and one(page, "#main").text)
        assert "The game is over: Red wins (the position repeats)" in said
        assert "Referee: Black checks on every move, Red's moves are idle: Red wins" in said
        record = one(page, ".game").text
        assert record.count("check") == 4
        assert record.count("d0d1 ↻1 b1c3 −↻1 check") == 2
        assert_no_console_errors(page)
    finally:
        page.quit()
