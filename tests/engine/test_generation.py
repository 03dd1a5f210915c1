"""The search's own moves are those of the rules."""

import random

import pytest

from tbgen.indexing import START_FEN, Position
from tbgen.rules import legal_moves
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


def _lines(position: Position, depth: int) -> int:
    moves = legal_moves(position)
    if depth == 1:
        return len(moves)
    return sum(_lines(position.after(*move), depth - 1) for move in moves)
