"""The search's own moves are those of the rules."""

import random

import numpy as np
import pytest

from tbgen.engine.search.state import STATE, begin
from tbgen.indexing import START_FEN, Position
from tbgen.referee.record import CHECKED
from tbgen.rules import legal_moves
from tbgen.rules.attacks import in_check
from tests.kits.strategies import ENDGAMES, random_position

MIDDLE = "r1ba1a3/4kn3/2n1b4/pNp1p1p1p/4c4/6P2/P1P2R2P/1CcC5/9/2BAKAB2 w"


@pytest.mark.parametrize(("depth", "count"), [(1, 44), (2, 1920), (3, 79666)])
def test_the_opening_array_has_the_known_numbers_of_lines(searcher, depth, count):
    assert searcher.perft(Position.from_fen(START_FEN), depth) == count


@pytest.mark.parametrize("position", [Position.from_fen(MIDDLE)], ids=["middle game"])
def test_a_middle_game(searcher, position):
    assert searcher.perft(position, 3) == _lines(position, 3)


def test_random_endgames(searcher):
    rng = random.Random(3)
    for _ in range(40):
        position = random_position(rng, ENDGAMES)
        assert searcher.perft(position, 1) == len(legal_moves(position)), position.fen
        assert searcher.perft(position, 2) == _lines(position, 2), position.fen


def test_every_check_of_random_games_is_seen(searcher):
    rng, checks = random.Random(9), 0
    for number in range(60):
        start = Position.from_fen(START_FEN) if number % 3 == 0 else random_position(rng, ENDGAMES)
        positions, played = [start], []
        while len(played) < 120 and (moves := legal_moves(positions[-1])):
            played.append(rng.choice(moves))
            positions.append(positions[-1].after(*played[-1]))
        states = np.zeros(1, STATE)
        states["boards"][0, 0] = np.frombuffer(start.board, np.int8)
        numbers = [move.source << 7 | move.target for move in played]
        begin(states, np.array(numbers, np.int32), int(start.side))
        seen = states["log"][0, : len(positions), CHECKED].tolist()
        assert seen == [in_check(each.board, each.side) for each in positions]
        checks += sum(seen)
        # And which moves leave a king safe, in check and out of it.
        for position in positions[::6]:
            assert searcher.perft(position, 1) == len(legal_moves(position)), position.fen
    assert checks > 100


def _lines(position: Position, depth: int) -> int:
    moves = legal_moves(position)
    if depth == 1:
        return len(moves)
    return sum(_lines(position.after(*move), depth - 1) for move in moves)
