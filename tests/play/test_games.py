"""Games of best_move with history, judged by the referee: won positions are won, draws are held.

A game from a won position ends in mate, in a smaller material that is won, or in a loop that the
referee gives to the winner. The defenders are in `tests.helpers.defences`;
`scripts/reproduce/play_tables.py` prints the results.
"""

from __future__ import annotations

import random

import pytest

from tbgen.indexing import Position, Side
from tbgen.play.tablebase import open_tablebase
from tests.helpers.built import built
from tests.helpers.defences import DEFENCES
from tests.helpers.play import Ending, hunt, play_drawn
from tests.helpers.starts import endangered
from tests.helpers.tournament import play_all

pytest.importorskip("pyffish")


def check_games(
    material: str, rules: str, per_code: int, limit: int, draws: int, dangers: int
) -> None:
    """Play games in a material by `tournament.play_all`, and check that none failed.

    Some games must end in a loop. `per_code` to `dangers` limit the positions, as in `play_all`.
    """
    with open_tablebase(built(material, rules=rules), rules=rules) as tables:
        tally = play_all(tables, material, per_code, limit, draws, dangers)
    assert tally.failures == []
    assert tally.positions
    assert tally.won[Ending.LOOP]
    assert tally.endangered


@pytest.mark.parametrize("rules", [pytest.param("check", marks=pytest.mark.certification), "wxf"])
def test_a_small_table(rules: str) -> None:
    check_games("KRKN", rules, per_code=2, limit=6, draws=1, dangers=6)


@pytest.mark.certification
@pytest.mark.parametrize("rules", ["check", "wxf"])
@pytest.mark.parametrize(
    "material",
    ["KRKN", "KRAKR", "KRKPP", "KNKPP", "KRKNN", "KRPKR", "KRCKR", "KNCKN", "KRKCP", "KRNKR"],
)
def test_large_tables(material: str, rules: str) -> None:
    check_games(material, rules, per_code=10, limit=60, draws=3, dangers=60)


@pytest.mark.certification
@pytest.mark.parametrize(
    ("material", "rules", "fen", "side", "defence"),
    [
        # The opponent closes the loop of checks: the first of them must be another one.
        ("KNKPP", "check", "3k5/9/9/N8/9/9/7p1/9/5p3/4K4 w", Side.RED, "longest"),
        ("KRKNN", "wxf", "9/5k3/3R5/9/2n6/3n5/9/3K5/9/9 w", Side.BLACK, "longest"),
        # The rest of the loop is forced from its first check on.
        ("KRPKR", "wxf", "9/9/5k3/9/4r4/9/P8/3K5/6R2/9 w", Side.BLACK, "longest"),
        # A chase that leads, after a check and its only answer, into a loop of chases.
        ("KRKNN", "wxf", "9/3k5/9/9/9/1n1n5/9/9/9/R2K5 w", Side.RED, "checking"),
        ("KRKNN", "wxf", "2R6/4k4/9/9/4n4/9/9/9/2n1K4/9 b", Side.RED, "checking"),
    ],
)
def test_draws_lost_before(material: str, rules: str, fen: str, side: Side, defence: str) -> None:
    with open_tablebase(built(material, rules=rules), rules=rules) as tables:
        for seed in range(5):
            start, rng = Position.from_fen(fen), random.Random(seed)
            game = play_drawn(tables, start, side, DEFENCES[defence], rng, plies=60)
            assert game.ending != Ending.LOST, game.fens


@pytest.mark.certification
@pytest.mark.parametrize(
    ("material", "fen"),
    [
        # Breaking off by another offence repeats a position too early; an idle move is in reach.
        ("KNKPP", "9/9/2N1k4/9/9/4p4/9/4K3p/9/9 w"),
        ("KNKPP", "3k5/9/9/2N6/9/2p6/8p/9/9/4K4 w"),
        ("KRKNN", "9/9/3k5/9/9/R8/5n3/9/3n5/4K4 b"),
        # Checks and chases in turn can go on for hundreds of moves.
        ("KRCKR", "7R1/3k5/9/9/9/9/9/8C/3r5/4K4 b"),
        ("KRCKR", "3k5/R8/9/3C5/9/9/6r2/9/9/4K4 b"),
        # No idle move can be forced: only offences of two kinds in turn hold the draw.
        ("KRCKR", "9/8R/3k5/9/9/9/9/9/4K4/3rC4 b"),
        ("KRNKR", "9/3k5/9/9/9/9/9/r8/3N1R3/4K4 b"),
    ],
)
def test_every_reply_in_danger(material: str, fen: str) -> None:
    with open_tablebase(built(material, rules="wxf"), rules="wxf") as tables:
        found = hunt(tables, Position.from_fen(fen), budget=3000)
        assert found.lost == []
        assert not found.unfinished
        assert found.games


def test_every_position_of_krkn_in_danger() -> None:
    """From every draw of KRKN that only checks and attacks hold, no game is lost.

    All games from one position end within 100 calls of best_move.
    """
    with open_tablebase(built("KRKN", rules="wxf"), rules="wxf") as tables:
        starts = endangered(tables, "KRKN", limit=10**6, rng=random.Random(1))
        assert len(starts) > 100
        for start in starts:
            found = hunt(tables, start, budget=100)
            assert not found.lost
            assert not found.unfinished
