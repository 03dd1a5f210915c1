"""The evaluation: symmetry of sides and wings, and agreement with plain arithmetic."""

from __future__ import annotations

import base64
import random

import numpy as np
import pytest
from numpy.typing import NDArray

from tbgen.engine.search.network import WEIGHTS
from tbgen.engine.search.state import STATE, begin
from tbgen.indexing import START_FEN, Position, Side
from tbgen.indexing.squares import (
    EMPTY,
    SQUARES,
    PieceType,
    flip_square,
    mirror_square,
    piece_kind,
)
from tests.helpers.strategies import played, random_game, random_moves
from tests.helpers.tracing import evaluate_board

START = Position.from_fen(START_FEN)


def value(position: Position) -> int:
    """Return the compiled evaluation of a position, for its side to move."""
    states = np.zeros(1, STATE)
    states["boards"][0, 0] = np.frombuffer(position.board, np.int8)
    return int(evaluate_board(states, np.zeros(0, np.int32), int(position.side)))


def random_positions(seed: int, games: int) -> list[Position]:
    """Return every seventh position of `games` random games."""
    rng, found = random.Random(seed), []
    for _ in range(games):
        found += list(random_game(rng, START, 140))[1::7]
    return found


def colours_changed(position: Position) -> Position:
    """Return the position with the board upside down, and colours and side to move exchanged."""
    board = bytearray(SQUARES)
    for square, code in enumerate(position.board):
        if code != EMPTY:
            board[flip_square(square)] = code ^ 8
    return Position(bytes(board), position.side.other)


def mirrored(position: Position) -> Position:
    """Return the mirror image of a position."""
    board = bytes(position.board[mirror_square(square)] for square in range(SQUARES))
    return Position(board, position.side)


def test_mirror_images_have_equal_values() -> None:
    for position in random_positions(1, 8):
        assert value(mirrored(position)) == value(position)


def test_exchanged_colours_have_equal_values() -> None:
    """A position has the same value for its side to move after the colours are exchanged.

    The evaluation reads the board from both sides; rounding must not treat them differently.
    """
    for position in random_positions(2, 8):
        assert value(colours_changed(position)) == value(position)


def first_layer() -> NDArray[np.int64]:
    """Return the weights of the network's first layer, int64 (inputs, width of the layer)."""
    packed = base64.b85decode("".join(WEIGHTS["shapes"]))
    return np.frombuffer(packed, np.int8).astype(np.int64).reshape(-1, len(WEIGHTS["biases"]))


def naive_value(position: Position, layer: NDArray[np.int64]) -> float:
    """Return the network's value of a position in plain arithmetic; `layer` is `first_layer()`."""
    outputs = np.zeros(2)
    for view in range(2):
        side = position.side if view == 0 else position.side.other
        for mirror in (False, True):
            sums = np.array(WEIGHTS["biases"])
            for square, code in enumerate(position.board):
                if code == EMPTY:
                    continue
                rank, file = divmod(square, 9)
                if side == Side.BLACK:
                    rank, file = 9 - rank, 8 - file
                if mirror:
                    file = 8 - file
                theirs = (code >= 8) != (side == Side.BLACK)
                kind = piece_kind(code) + 7 * theirs
                sums = sums + layer[90 * kind + 9 * rank + file]
            seen = np.clip(sums / 181, 0, 1) ** 2
            outputs += np.array(WEIGHTS["outputs"])[:, view] @ seen
    outputs += WEIGHTS["output_bases"]
    counts = {PieceType.ROOK: 4, PieceType.KNIGHT: 2, PieceType.CANNON: 2}
    phase = sum(counts.get(piece_kind(code), 0) for code in position.board if code != EMPTY)
    return float((outputs[0] * phase + outputs[1] * (32 - phase)) / 32 / 4)


def test_values_agree_with_plain_arithmetic() -> None:
    """Evaluations agree with plain arithmetic, up to 2 for rounding.

    Tested are positions of more than five men with attackers on both sides, since the
    evaluation takes smaller materials from known outcomes.
    """
    layer, looked_at = first_layer(), 0
    for position in random_positions(5, 8):
        men = [code for code in position.board if code != EMPTY]
        if len(men) > 5 and all(
            any(piece_kind(code) >= PieceType.ROOK for code in men if code >> 3 == side)
            for side in range(2)
        ):
            assert abs(value(position) - naive_value(position, layer)) <= 2
            looked_at += 1
    assert looked_at > 50


def test_incremental_sums_agree_with_new_ones() -> None:
    """The first layer's sums, updated at each move and capture, equal sums computed anew."""
    rng = random.Random(7)
    for _ in range(6):
        moves, states = random_moves(rng, START, 90), np.zeros(1, STATE)
        position = played(START, moves)[-1]
        states["boards"][0, 0] = np.frombuffer(START.board, np.int8)
        begin(states, np.array([move[0] << 7 | move[1] for move in moves], np.int32), 0)
        anew = np.zeros(1, STATE)
        anew["boards"][0, 0] = np.frombuffer(position.board, np.int8)
        begin(anew, np.zeros(0, np.int32), int(position.side))
        for name in ("accumulator", "phase", "attackers_left", "men_left"):
            assert (states[name][0, len(moves)] == anew[name][0, 0]).all(), name


def test_sums_and_outputs_do_not_overflow() -> None:
    """For any board, sums fit in signed 16 bits, and outputs in signed 32 bits."""
    totals = 2 * np.abs(np.array(WEIGHTS["outputs"])).sum(axis=(1, 2))
    assert totals.max() * 181**2 < 1 << 31
    assert 32 * np.abs(first_layer()).max() + np.abs(WEIGHTS["biases"]).max() < 1 << 15


@pytest.mark.parametrize(
    ("drawn", "won"),
    [
        ("3ak4/4a4/9/9/4N4/9/9/9/9/4K4 w", "3ak4/9/9/3N5/4N4/9/9/9/9/4K4 w"),
        ("4k4/4a4/3a5/9/9/4P4/9/9/9/4K4 w", "4k4/4a4/9/9/4P1P2/9/9/9/9/4K4 w"),
    ],
)
def test_an_advantage_in_drawn_material_has_a_small_value(drawn: str, won: str) -> None:
    less, more = value(Position.from_fen(drawn)), value(Position.from_fen(won))
    assert 0 <= less < 30
    assert more > 100
    assert Position.from_fen(won).side == Side.RED
