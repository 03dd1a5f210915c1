"""The rules inside kernels against plain Python, and a deep perft."""

import random

import numpy as np

from tbgen.compiling.jit import kernel
from tbgen.indexing import START_FEN, Position, Side
from tbgen.indexing.squares import SQUARES
from tbgen.rules import attacks, moves
from tbgen.rules.board import MAX_MOVES
from tests.helpers.strategies import ENDGAMES, random_position


@kernel
def k_perft(board, side, depth, buffer):
    """Return the leaf count of the move tree to a depth.

    buffer : int64 (depth, 2, MAX_MOVES), for the moves of each level
    """
    sources, targets = buffer[depth - 1, 0], buffer[depth - 1, 1]
    total = 0
    for i in range(moves.generate_moves(board, side, sources, targets)):
        source, target = sources[i], targets[i]
        if moves.is_safe_after(board, side, source, target):
            if depth == 1:
                total += 1
            else:
                moved, taken = board[source], board[target]
                board[target], board[source] = moved, 0
                total += k_perft(board, 1 - side, depth - 1, buffer)
                board[target], board[source] = taken, moved
    return total


@kernel
def k_tables(board, side, moves_out, attacks_out, legal_out):
    """Write pseudo-legal moves, attacked squares, and legal moves of a side into the arrays.

    Returns the number of moves, and True if the side is in check.

    moves_out : (2, moves), sources and targets; attacks_out : (90,); legal_out : (90, 90), by
        source and target
    """
    count = moves.generate_moves(board, side, moves_out[0], moves_out[1])
    for square in range(SQUARES):
        attacks_out[square] = attacks.is_attacked(board, square, side)
        for target in range(SQUARES):
            legal_out[square, target] = moves.is_legal_move(board, side, square, target)
    return count, attacks.in_check(board, side)


def board_of(position):
    return np.frombuffer(position.board, np.int8).copy()


def test_perft_of_the_opening_array():
    board = board_of(Position.from_fen(START_FEN))
    buffer = np.zeros((4, 2, MAX_MOVES), np.int64)
    counts = [k_perft(board, 0, depth, buffer) for depth in (1, 2, 3, 4)]
    assert counts == [44, 1920, 79666, 3290240]


def test_compiled_and_plain_agree():
    rng = random.Random(8)
    for _ in range(60):
        position = random_position(rng, ENDGAMES)
        for side in Side:
            compiled = (
                np.zeros((2, MAX_MOVES), np.int64),
                np.zeros(SQUARES, np.bool_),
                np.zeros((SQUARES, SQUARES), np.bool_),
            )
            plain = tuple(np.zeros_like(array) for array in compiled)
            board = board_of(position)
            fast = k_tables(board, int(side), *compiled)
            slow = k_tables.py_func(bytearray(position.board), int(side), *plain)
            assert fast == slow, position.fen
            assert board.tobytes() == position.board
            for one, other in zip(compiled, plain, strict=True):
                assert np.array_equal(one, other), position.fen
