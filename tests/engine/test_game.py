"""The game of a protocol: only the new moves of a longer game are parsed."""

from __future__ import annotations

import random

import pytest

from tbgen.engine import game as module
from tbgen.engine.game import Game
from tbgen.indexing import InputError, Position
from tbgen.notation import parse_move
from tests.helpers.strategies import random_moves

START = "3k5/9/9/9/9/9/9/9/9/R3K4 w"


def moves_from(fen: str, count: int) -> list[str]:
    """Return the ICCS texts of `count` random legal moves, played from a position."""
    moves = random_moves(random.Random(4), Position.from_fen(fen), count)
    return [move.iccs for move in moves]


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """List that grows with every move that the engine parses."""
    found: list[str] = []

    def counting(position: Position, word: str, notation: str) -> object:
        found.append(word)
        return parse_move(position, word, notation)

    monkeypatch.setattr(module, "parse_move", counting)
    return found


def test_a_longer_game_parses_only_new_moves(parsed: list[str]) -> None:
    text = moves_from(START, 20)
    whole = Game.read(["fen", *START.split(), "moves", *text])
    game = Game.read(["fen", *START.split()])
    parsed.clear()
    for plies in range(2, 21, 2):
        game = Game.read(["fen", *START.split(), "moves", *text[:plies]], before=game)
    assert game == whole
    assert parsed == text


def test_another_game_is_parsed_completely(parsed: list[str]) -> None:
    words, text = ["fen", *START.split(), "moves"], moves_from(START, 8)
    before = Game.read([*words, *text])
    parsed.clear()
    shorter = Game.read([*words, *text[:6]], before=before)
    assert (shorter, parsed) == (Game.read([*words, *text[:6]]), 2 * text[:6])
    for other in (["startpos"], ["fen", *START.replace("R3K4", "1R2K4").split()]):
        assert Game.read(other, before=before) == Game.read(other)
    parsed.clear()
    # The same words in another notation may be other moves.
    with pytest.raises(InputError):
        Game.read([*words, *text], "wxf", before)
    assert parsed == text[:1]


def test_a_fen_has_at_most_six_fields() -> None:
    fen = ["fen", *START.split(), "-", "-", "0", "1"]
    assert Game.read(fen).positions == Game.read(fen[:3]).positions
    for more in ("1", "moved"):
        with pytest.raises(InputError, match=f"'{more}' is no part of a position"):
            Game.read([*fen, more])


def test_a_bad_move_after_the_game_is_refused() -> None:
    words, text = ["fen", *START.split(), "moves"], moves_from(START, 4)
    before = Game.read([*words, *text])
    with pytest.raises(InputError):
        Game.read([*words, *text, "a0a0"], before=before)
    assert before == Game.read([*words, *text])
