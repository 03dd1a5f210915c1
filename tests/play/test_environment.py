"""Games against the table: order of moves, and ends of games."""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tbgen import (
    Environment,
    GameTablebase,
    IllegalPositionError,
    InputError,
    MissingTableError,
    MoveTextError,
    Outcome,
    Position,
    Side,
    open_tablebase,
)
from tests.helpers.built import built

FORK = "3k5/9/9/9/9/9/4n4/9/9/R3K4 w"
CHECKS = "9/9/4k4/9/9/9/9/3n5/9/R2K5 b"
MATED = "3k5/9/9/9/9/9/9/9/9/3RK4 b"


@pytest.fixture(scope="module")
def tables() -> Iterator[GameTablebase]:
    with open_tablebase(built("KRKN", rules="wxf")) as opened:
        yield opened


def test_a_winning_player_wins_in_the_distance_of_the_table(tables: GameTablebase) -> None:
    game = Environment(tables, FORK)
    plies = tables.probe(FORK).plies
    while game.result is None:
        best = tables.best_move(game.position, game.positions[:-1])
        assert best is not None
        step = game.step(best.move.iccs)
    assert (game.result, step.reward, step.reply) == (Outcome.WIN, 1, None)
    assert len(game.positions) - 1 == plies
    assert game.legal_moves == []
    with pytest.raises(MoveTextError, match="is no legal move"):
        game.step(best.move)
    assert game.reset() == Position.from_fen(FORK)
    assert game.result is None


def test_a_failed_reset_leaves_the_game_as_before(tmp_path: Path) -> None:
    """The table that moves first needs KNK for the worth of its captures, which is missing."""
    for name in ("KRKN", "KRK"):
        shutil.copy(built("KRKN", rules="wxf") / f"{name}.wxf.dtm.xqt", tmp_path)
    with open_tablebase(tmp_path) as some:
        game = Environment(some, FORK, side=Position.from_fen(FORK).side)
        before = game.position, game.positions, game.legal_moves
        with pytest.raises(MissingTableError, match="KNK"):
            game.reset("9/5R3/5k1n1/9/9/9/9/9/9/3K5 b")
        assert (game.position, game.positions, game.legal_moves) == before


def test_a_step_has_the_position_after_the_reply(tables: GameTablebase) -> None:
    game = Environment(tables, FORK)
    best = tables.best_move(game.position)
    assert best is not None
    step = game.step(best.move)
    assert step.reply is not None
    assert step.position == best.after.after(*step.reply) == game.positions[-1]


def test_the_table_begins_where_the_player_has_the_other_side(tables: GameTablebase) -> None:
    game = pickle.loads(pickle.dumps(Environment(tables, FORK, side="black")))
    assert (game.side, game.position.side, len(game.positions)) == (Side.BLACK, Side.BLACK, 2)
    while game.result is None:
        step = game.step(game.legal_moves[0])
    assert (game.result, step.reward) == (Outcome.LOSS, -1)


def test_repetitions_are_judged(tables: GameTablebase) -> None:
    """A game ends by the referee: a side whose only moves are perpetual checks loses."""
    game = Environment(tables, CHECKS)
    while game.result is None:
        best = tables.best_move(game.position, game.positions[:-1])
        assert best is not None
        game.step(best.move)
    assert game.result == Outcome.LOSS
    assert game.positions.count(game.position) == 3 or not game.legal_moves


def test_games_that_are_over_at_the_start_or_at_the_limit(tables: GameTablebase) -> None:
    assert Environment(tables, MATED).result == Outcome.LOSS
    assert Environment(tables, MATED, side=Side.RED).result == Outcome.WIN
    assert Environment(tables, FORK, plies=1).step("a0b0").result == Outcome.DRAW
    with pytest.raises(IllegalPositionError):
        Environment(tables, MATED.replace(" b", " w"))
    with pytest.raises(InputError, match="is no number of plies"):
        Environment(tables, FORK, plies=2.5)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="a game of 0 plies"):
        Environment(tables, FORK, plies=0)
    with pytest.raises(InputError, match="is no number of plies"):
        tables.mainline(FORK, 2.5)  # type: ignore[arg-type]
    game = Environment(tables, FORK)
    with pytest.raises(MoveTextError, match="is no legal move"):
        game.step("a0a0")
    with pytest.raises(IllegalPositionError):
        game.reset(MATED.replace(" b", " w"))
    assert game.reset() == Position.from_fen(FORK)
