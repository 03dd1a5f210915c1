"""The evaluation sees both sides and both wings alike, and keeps to its window."""

from __future__ import annotations

import random

import numpy as np
import pytest
from numpy.typing import NDArray

from tbgen.engine.search import weights
from tbgen.engine.search.features import GROUPS
from tbgen.engine.search.scores import INFINITE
from tbgen.engine.search.state import STATE
from tbgen.engine.search.tracing import evaluate_board, trace
from tbgen.indexing import START_FEN, Position, Side
from tbgen.indexing.squares import EMPTY, SQUARES, flip_square, mirror_square, piece_kind
from tbgen.rules import legal_moves
from tbgen.rules.attacks import attacks
from tbgen.rules.moves import piece_moves


def value(position: Position, alpha: int = -INFINITE, beta: int = INFINITE) -> int:
    """What the evaluation says, for the side to move."""
    states = np.zeros(1, STATE)
    states["boards"][0, 0] = np.frombuffer(position.board, np.int8)
    return int(evaluate_board(states, np.zeros(0, np.int32), int(position.side), alpha, beta))


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


def traced(positions: list[Position]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The features of positions, -1 behind them, and the phases."""
    boards = np.stack([np.frombuffer(each.board, np.int8) for each in positions])
    sides = np.array([int(each.side) for each in positions])
    listed = np.zeros((len(positions), 80), np.int32)
    phases = np.zeros(len(positions), np.int64)
    trace(np.zeros(1, STATE), np.zeros(0, np.int32), boards, sides, listed, phases)
    return listed, phases


def test_it_is_the_sum_of_what_is_traced() -> None:
    """By the weights one by one, with nothing that is worked out beforehand or kept."""
    positions = random_positions(5, 8)
    for position, listed, phase in zip(positions, *traced(positions), strict=True):
        sums = np.zeros((2, 2), np.int64)
        for square, code in enumerate(position.board):
            if code != EMPTY:
                own = square if code < 8 else flip_square(square)
                place = 5 * (own // 9) + min(own % 9, 8 - own % 9)
                worth = np.array([stage[place] for stage in weights.PLACES[piece_kind(code)]])
                sums[0] += worth if code < 8 else -worth
        for feature in listed[listed >= 0]:
            worth = np.array([stage[feature >> 1] for stage in weights.FEATURES])
            sums[1] += -worth if feature & 1 else worth
        places, seen = ((opening * phase + ending * (32 - phase)) // 32 for opening, ending in sums)
        expected = places + min(max(seen, -320), 320)
        assert value(position) == (expected if position.side == Side.RED else -expected)


def test_what_is_traced_is_what_is_there() -> None:
    """Each side has one move to make, one siege, and two features for each kind of attackers."""
    positions = random_positions(3, 2)
    boards = np.stack([np.frombuffer(each.board, np.int8) for each in positions])
    sides = np.array([int(each.side) for each in positions])
    listed, phases = traced(positions)
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


def test_mobility_is_what_the_rules_allow() -> None:
    """Of every rook and cannon the quiet moves; of every knight the leaps whose leg is free."""
    first = dict(zip(GROUPS, np.cumsum([0, *GROUPS.values()]).tolist(), strict=False))
    mobility = {4: first["rook's mobility"], 6: first["cannon's mobility"]}
    mobility[5] = first["knight's mobility"]
    positions = random_positions(6, 6)
    for position, row in zip(positions, traced(positions)[0], strict=True):
        expected, targets = [], [0] * 32
        for square, code in enumerate(position.board):
            if code & 7 in mobility:
                # Pieces where a knight could leap to do not count, its own side.s neither.
                board = bytearray(position.board)
                if code & 7 == 5:
                    for other in range(SQUARES):
                        if attacks(board, square, other):
                            board[other] = EMPTY
                count = piece_moves(board, square, targets, 0)
                quiet = sum(board[target] == EMPTY for target in targets[:count])
                expected.append(2 * (mobility[code & 7] + quiet) + (code >> 3))
        listed = [
            number
            for number in row.tolist()
            if any(
                0 <= number // 2 - mobility[kind] < (9 if kind == 5 else 18) for kind in mobility
            )
        ]
        assert sorted(listed) == sorted(expected), position.fen


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
