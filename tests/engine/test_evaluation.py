"""The evaluation sees both sides and both wings alike, and keeps to its window."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tbgen.engine.search.evaluation import evaluate
from tbgen.engine.search.scores import INFINITE
from tbgen.engine.search.state import STATE, begin
from tbgen.engine.search.tracing import trace
from tbgen.indexing import START_FEN, Position, Side
from tbgen.indexing.squares import EMPTY, SQUARES, flip_square, mirror_square
from tbgen.rules import legal_moves


def value(position: Position, alpha: int = -INFINITE, beta: int = INFINITE) -> int:
    """What the evaluation says, for the side to move."""
    states = np.zeros(1, STATE)
    states["boards"][0, 0] = np.frombuffer(position.board, np.int8)
    begin(states, np.zeros(0, np.int32), int(position.side))
    return int(evaluate(states[0], 0, int(position.side), alpha, beta))


def random_positions(seed: int, games: int) -> list[Position]:
    """Positions of random games, every seventh."""
    rng, found = random.Random(seed), []
    for _ in range(games):
        position = Position.from_fen(START_FEN)
        for ply in range(140):
            moves = legal_moves(position)
            if not moves:
                break
            position = position.after(*rng.choice(moves))
            if ply % 7 == 0:
                found.append(position)
    return found


def colours_changed(position: Position) -> Position:
    """The same with Red as Black."""
    board = bytearray(SQUARES)
    for square, code in enumerate(position.board):
        if code != EMPTY:
            board[flip_square(square)] = code ^ 8
    return Position(bytes(board), position.side.other)


def mirrored(position: Position) -> Position:
    """The same seen in a mirror."""
    board = bytes(position.board[mirror_square(square)] for square in range(SQUARES))
    return Position(board, position.side)


def test_both_sides_and_both_wings_are_alike() -> None:
    for position in random_positions(1, 8):
        own = value(position)
        assert value(mirrored(position)) == own
        # Halves are rounded towards Black.
        assert abs(value(colours_changed(position)) - own) <= 3


def test_outside_of_the_window_it_is_a_bound() -> None:
    rng = random.Random(2)
    for position in random_positions(2, 8):
        exact = value(position)
        alpha = exact + rng.randrange(-900, 900)
        bound = value(position, alpha, alpha + 1)
        assert exact <= bound <= alpha or alpha < bound <= exact


def test_what_is_traced_is_what_is_there() -> None:
    """Each side has one move to make, one siege, and two features for each kind of attackers."""
    positions = random_positions(3, 2)
    boards = np.stack([np.frombuffer(each.board, np.int8) for each in positions])
    sides = np.array([int(each.side) for each in positions])
    listed = np.zeros((len(positions), 80), np.int32)
    phases = np.zeros(len(positions), np.int64)
    trace(np.zeros(1, STATE), np.zeros(0, np.int32), boards, sides, listed, phases)
    weights = np.zeros(16, np.int64)
    for kind, weight in ((4, 4), (5, 2), (6, 2)):
        weights[[kind, kind + 8]] = weight
    assert (phases == weights[boards].sum(axis=1)).all()
    assert (listed[:, -1] == -1).all()
    for board, side, row in zip(boards, sides, listed, strict=True):
        codes = board[board != 0]
        sliding = np.isin(codes & 7, (4, 5, 6)).sum()
        assert (row >= 0).sum() >= 1 + 2 + 16 + sliding
        assert row[0] & 1 == side


@pytest.mark.parametrize(
    ("drawn", "won"),
    [
        ("3ak4/4a4/9/9/4N4/9/9/9/9/4K4 w", "3ak4/9/9/3N5/4N4/9/9/9/9/4K4 w"),
        ("4k4/4a4/3a5/9/9/4P4/9/9/9/4K4 w", "4k4/4a4/9/9/4P1P2/9/9/9/9/4K4 w"),
    ],
)
def test_being_ahead_is_worth_little_where_nothing_is_decided(drawn: str, won: str) -> None:
    less, more = value(Position.from_fen(drawn)), value(Position.from_fen(won))
    assert 0 <= less < 30
    assert more > 100
    assert Position.from_fen(won).side == Side.RED
