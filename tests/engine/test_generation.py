"""The search's move generator agrees with the rules."""

import random
import sys

import numpy as np
import pytest

from tbgen.engine.search.state import STATE, begin
from tbgen.indexing import START_FEN, Move, Position
from tbgen.indexing.squares import SQUARES, PieceType, piece_code
from tbgen.referee.record import CHECKED
from tbgen.rules import legal_moves
from tbgen.rules.attacks import attacks, in_check
from tests.helpers.paths import ROOT
from tests.helpers.strategies import ENDGAMES, random_position

sys.path.insert(0, str(ROOT / "scripts" / "measure"))

from perft import perft

MIDDLE = "r1ba1a3/4kn3/2n1b4/pNp1p1p1p/4c4/6P2/P1P2R2P/1CcC5/9/2BAKAB2 w"

CROWDED = ("KRNNCCPPPKRNNCCPPP",)
"""Materials of many pieces, in which lines and knights' legs are often blocked and freed."""


@pytest.mark.parametrize(("depth", "count"), [(1, 44), (2, 1920), (3, 79666)])
def test_the_opening_array_has_the_known_numbers_of_lines(depth, count):
    assert perft(Position.from_fen(START_FEN), depth) == count


@pytest.mark.parametrize("position", [Position.from_fen(MIDDLE)], ids=["middle game"])
def test_a_middle_game(position):
    assert perft(position, 3) == _lines(position, 3)


def test_random_endgames():
    rng = random.Random(3)
    for _ in range(40):
        position = random_position(rng, ENDGAMES)
        assert perft(position, 1) == len(legal_moves(position)), position.fen
        assert perft(position, 2) == _lines(position, 2), position.fen


def test_every_check_is_detected():
    rng, states, checks, uncovered = random.Random(9), np.zeros(1, STATE), 0, 0
    for _ in range(700):
        position = random_position(rng, CROWDED)
        legal = legal_moves(position)
        assert perft(position, 1) == len(legal), position.fen
        for move in legal:
            states["boards"][0, 0] = np.frombuffer(position.board, np.int8)
            played = np.array([move.source << 7 | move.target], np.int32)
            begin(states, played, int(position.side))
            after = position.after(*move)
            checked = in_check(after.board, after.side)
            assert states["log"][0, 1, CHECKED] == checked, (position.fen, move.iccs)
            checks += checked
            uncovered += checked and _is_knights_leg_free(after, move)
    assert checks > 100
    assert uncovered > 0


def _is_knights_leg_free(after: Position, move: Move) -> bool:
    """Return whether `move` uncovers a check by another piece, a knight whose leg it frees.

    after : the position after the move
    """
    board = after.board
    king = board.index(piece_code(after.side, PieceType.KING))
    knight = piece_code(1 - after.side, PieceType.KNIGHT)
    return any(
        board[square] == knight and square != move.target and attacks(board, square, king)
        for square in range(SQUARES)
    )


def _lines(position: Position, depth: int) -> int:
    moves = legal_moves(position)
    if depth == 1:
        return len(moves)
    return sum(_lines(position.after(*move), depth - 1) for move in moves)
