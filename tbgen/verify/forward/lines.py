"""Where pieces go on an empty board, as arrays of squares: the constants of the row kernels.

Drawn from the steps and leaps of `tbgen.rules.board`; what stands in the way is for the kernels.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbgen.indexing.squares import SQUARES, PieceType, Side, area, piece_code
from tbgen.rules.attacks import attacks
from tbgen.rules.board import DIAGONALS, LEAPS, STEPS, is_on_board

OFF = -1
"""In place of a square: there is none."""

ROOK, KNIGHT, CANNON, PAWN = 3, 4, 5, 6
"""The attackers' kinds as plain numbers, which compile faster than members of an enumeration."""

LANES = 32
"""How many columns of a row kernels take at once: loops of so many become vectors."""

BOARD_RANKS, BOARD_FILES = 10, 9

MARGIN = LANES - BOARD_FILES
"""How far beyond the board rows are read and written: sweeps of files by so much, leaps by 19."""

DIRECTIONS, RAY_LENGTH, LEAP_COUNT, PAWN_STEPS = 4, 9, 8, 3


def _walk(square: int, rank_step: int, file_step: int) -> int:
    rank, file = square // 9 + rank_step, square % 9 + file_step
    return 9 * rank + file if is_on_board(rank, file) else OFF


def _rays() -> NDArray[np.int64]:
    """`RAYS`."""
    rays = np.full((SQUARES, DIRECTIONS, RAY_LENGTH + 1), OFF, np.int64)
    for square in range(SQUARES):
        for direction, (rank_step, file_step) in enumerate(STEPS):
            at = _walk(square, rank_step, file_step)
            for i in range(RAY_LENGTH):
                if at == OFF:
                    break
                rays[square, direction, i] = at
                at = _walk(at, rank_step, file_step)
    return rays


def _leaps(*, backwards: bool) -> NDArray[np.int64]:
    """`LEAPS_FROM`, or `LEAPS_TO`."""
    leaps = np.full((SQUARES, LEAP_COUNT, 2), OFF, np.int64)
    for square in range(SQUARES):
        for i, (rank_step, file_step, leg_rank, leg_file) in enumerate(LEAPS):
            sign = -1 if backwards else 1
            other = _walk(square, sign * rank_step, sign * file_step)
            if other != OFF:
                leaps[square, i] = other, _walk(other if backwards else square, leg_rank, leg_file)
    return leaps


def _pawn_steps(*, backwards: bool) -> NDArray[np.int64]:
    """`PAWN_FROM`, or `PAWN_TO`."""
    steps = np.full((len(Side), SQUARES, PAWN_STEPS), OFF, np.int64)
    for side in Side:
        board = [0] * SQUARES
        for source in area(side, PieceType.PAWN):
            board[source] = piece_code(side, PieceType.PAWN)
            for step in STEPS:
                target = _walk(source, *step)
                if target != OFF and attacks(board, source, target):
                    line = steps[side, target if backwards else source]
                    line[np.flatnonzero(line == OFF)[0]] = source if backwards else target
            board[source] = 0
    return steps


RAYS = _rays()
"""int64 (90, 4, 10): the squares that one meets from a square in each direction, then OFF."""

LEAPS_FROM = _leaps(backwards=False)
"""int64 (90, 8, 2): where a knight on a square may leap, and over which leg."""

LEAPS_TO = _leaps(backwards=True)
"""int64 (90, 8, 2): from where a knight may leap to a square, and over which leg."""

LEAP_STEPS = np.array([(9 * rank + file, 9 * leg_rank + leg_file)
                       for rank, file, leg_rank, leg_file in LEAPS], np.int64)  # fmt: skip
"""int64 (8, 2): what each leap, and its leg, add to the knight's square."""


def _stays_on_board() -> NDArray[np.uint8]:
    """`STAYS_ON_BOARD`."""
    stays = np.zeros((LEAP_COUNT, -(-SQUARES // LANES) * LANES), np.uint8)
    stays[:, :SQUARES] = (LEAPS_FROM[:, :, 0] != OFF).T
    return stays


STAYS_ON_BOARD = _stays_on_board()
"""uint8 (8, lanes): 1 for each leap and the squares that it may start from; 0 beyond the last."""

PAWN_FROM = _pawn_steps(backwards=False)
"""int64 (2, 90, 3): where a side's pawn may step from a square."""

PAWN_TO = _pawn_steps(backwards=True)
"""int64 (2, 90, 3): from where a side's pawn may step to a square."""

DIAGONAL = np.array([[_walk(s, *step) for step in DIAGONALS] for s in range(SQUARES)], np.int64)
"""int64 (90, 4): the squares that touch a square at its corners."""
