"""Results of captures, against a plain game tree of captures on one square."""

from __future__ import annotations

import random

import numpy as np

from tbgen.engine.search.evaluation import EXCHANGE_VALUES
from tbgen.engine.search.state import STATE
from tbgen.indexing import START_FEN, Move, Position
from tbgen.indexing.squares import EMPTY, PieceType, piece_kind
from tbgen.rules import legal_moves
from tbgen.rules.attacks import attacks
from tests.helpers.strategies import random_game
from tests.helpers.tracing import is_sound_on_board


def net(board: bytearray, source: int, target: int) -> int:
    """Return the gain of the side that captures from `source` on `target`, after all recaptures.

    Both sides recapture with their cheapest piece first, and stop when it does not pay. A king does
    not recapture where it would be taken. The unit is that of `EXCHANGE_VALUES`.
    """
    gained = int(EXCHANGE_VALUES[board[target]])
    taken = bytearray(board)
    taken[target], taken[source] = taken[source], EMPTY
    takers = [
        square
        for square in range(90)
        if taken[square] != EMPTY
        and taken[square] >> 3 != taken[target] >> 3
        and attacks(taken, square, target)
    ]
    if not takers:
        return gained
    cheapest = min(takers, key=lambda square: (EXCHANGE_VALUES[taken[square]], square))
    if piece_kind(taken[cheapest]) == PieceType.KING:
        after = bytearray(taken)
        after[target], after[cheapest] = after[cheapest], EMPTY
        if any(
            after[square] != EMPTY
            and after[square] >> 3 != after[target] >> 3
            and attacks(after, square, target)
            for square in range(90)
        ):
            return gained
    return gained - max(0, net(taken, cheapest, target))


def captures(rng: random.Random, games: int) -> list[tuple[Position, Move]]:
    """Return all legal captures, with their positions, in `games` random games.

    In random games many pieces are attacked.
    """
    found = []
    for _ in range(games):
        for position in random_game(rng, Position.from_fen(START_FEN), 80):
            moves = legal_moves(position)
            found += [(position, move) for move in moves if position.board[move.target] != EMPTY]
    return found


def test_a_capture_is_sound_if_the_exchange_loses_nothing():
    state = np.zeros(1, STATE)
    sound = 0
    found = captures(random.Random(5), 16)
    for position, move in found:
        state["boards"][0, 0] = np.frombuffer(position.board, np.int8)
        expected = net(bytearray(position.board), *move) >= 0
        answer = is_sound_on_board(state, int(position.side), move.source, move.target)
        assert answer == expected, (position.fen, move.iccs)
        assert state["boards"][0, 0].tobytes() == position.board
        sound += answer
    assert 100 < sound < len(found) - 100
