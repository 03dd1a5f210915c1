"""The compiled full-width search against the plain alpha-beta of `tests.oracles.naive_search`.

The compiled search runs with and without a hash table. The depths are so small that no line repeats
one of its own positions.
"""

from __future__ import annotations

import json
import random
from functools import cache

import pytest

from tbgen.engine.search.searcher import Searcher
from tbgen.indexing import START_FEN, Move, Position, PositionError
from tbgen.referee import Rules
from tbgen.rules import legal_moves
from tbgen.tables.rule_sets import RuleSet
from tests.helpers.paths import DATA
from tests.helpers.strategies import ENDGAMES, played, random_moves, random_position
from tests.oracles.naive_search import naive_value

START = Position.from_fen(START_FEN)


def random_games(rng: random.Random, count: int) -> list[list[Move]]:
    """Return games of 30 to 89 random moves from the opening array, as lists of moves.

    In the last position of each game, the side to move has a legal move. Many pieces are attacked
    there.
    """
    games: list[list[Move]] = []
    while len(games) < count:
        moves = random_moves(rng, START, rng.randrange(30, 90))
        if legal_moves(played(START, moves)[-1]):
            games.append(moves)
    return games


@pytest.fixture(scope="module", params=[0, 4], ids=["no hash table", "a hash table"])
def each_searcher(request: pytest.FixtureRequest) -> Searcher:
    return Searcher(hash_mebibytes=request.param)


@cache
def plain_value(start: Position, moves: tuple[Move, ...], depth: int, rules: Rules) -> int:
    """Return the plain search's score after `moves`; cached: two compiled searches need it."""
    return naive_value(start, moves, depth, rules)


def check(
    searcher: Searcher, start: Position, moves: list[Move], depth: int, rules: Rules = Rules.WXF
) -> None:
    """Check that both searches give equal scores after `moves`, at depths 1 to `depth`."""
    positions = played(start, moves)
    searcher.clear()
    searcher.clear_stop()
    found = searcher.think(positions, moves, depth=depth, rule_set=RuleSet(rules), full_width=True)
    for each in found:
        expected = plain_value(start, tuple(moves), each.depth, rules)
        assert each.lines[0].score == expected, (positions[-1].fen, each.depth)


def test_endgames(each_searcher: Searcher) -> None:
    rng = random.Random(11)
    for depth in (3, 3, 2, 2, 2, 2):
        position = random_position(rng, ENDGAMES)
        if legal_moves(position):
            check(each_searcher, position, [], depth)


def test_middle_games(each_searcher: Searcher) -> None:
    for moves in random_games(random.Random(12), 4):
        check(each_searcher, START, moves, 1)


def cases() -> list[dict[str, str]]:
    """Return every seventeenth of the referee's test cases."""
    everything = json.loads((DATA / "repetition_cases.json").read_text(encoding="utf-8"))
    return everything[::17]


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["id"])
def test_repetitions(each_searcher: Searcher, case: dict[str, str]) -> None:
    """Both searches give equal scores near a repetition that the referee judges.

    The search starts two plies before the loop closes, so its tree contains the verdict. The
    earlier occurrences of the position are in the game before the root.
    """
    try:
        start = Position.from_fen(case["fen"])
    except PositionError:
        pytest.skip("a diagram that no game can reach")
    moves = [Move.from_iccs(text) for text in case["moves"].split()]
    check(each_searcher, start, moves[:-2], 2)
