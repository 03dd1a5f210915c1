# mypy: allow-untyped-defs, allow-untyped-calls
"""A guess at what a quiet position is worth: material, squares, mobility.

    sum over the pieces of a number for opening and ending  ->  mixed by what is left on the board
    + free moves of rooks, knights and cannons
    no side is ahead that has nothing left to win with

The numbers are set by hand from the formulae below, not tuned, and taken from nowhere. Unit: one
hundredth of a pawn that has crossed the river and stands well.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import borrowing_kernel, part
from tbgen.engine.search.geometry import LEGS, LENGTHS, STEPS
from tbgen.engine.search.scores import MAX_EVALUATION
from tbgen.indexing.squares import EMPTY, FILES, SQUARES, PieceType, flip_square, piece_code

VALUES = {
    PieceType.KING: (0, 0),
    PieceType.ADVISOR: (110, 120),
    PieceType.ELEPHANT: (110, 110),
    PieceType.ROOK: (620, 660),
    PieceType.KNIGHT: (280, 320),
    PieceType.CANNON: (310, 280),
    PieceType.PAWN: (45, 50),
}
"""What a piece is worth in the opening and in the ending, wherever it stands."""

EXCHANGE_VALUES = np.array(
    [0] + [VALUES[kind][0] + 10_000 * (kind == PieceType.KING) for kind in PieceType] + [0]
    + [VALUES[kind][0] + 10_000 * (kind == PieceType.KING) for kind in PieceType], np.int64,
)  # fmt: skip
"""The same by piece code, for the order of captures; a king is worth most."""

_WEIGHTS = {PieceType.ROOK: 4, PieceType.KNIGHT: 2, PieceType.CANNON: 2}
PHASES = np.zeros(16, np.int64)
"""What a piece code adds to the phase: 32 in the opening, 0 without rook, knight and cannon."""
FULL_PHASE = 32
TEMPO = 6
LAZY_MARGIN = 200
"""More than mobility changes: two rooks, knights and cannons at their best make 2 (51 + 32 + 17)
together, and nobody's opponent has none."""

_MOBILITY_ROOK, _MOBILITY_CANNON, _MOBILITY_KNIGHT = 3, 1, 4


def _bonus(kind: PieceType, rank: int, file: int) -> tuple[int, int]:
    """What a square adds for Red's piece, in the opening and in the ending."""
    centre = 4 - abs(file - 4)
    if kind == PieceType.KING:
        return 5 * (file == 4) - 20 * rank, 8 * (file == 4) - 3 * rank
    if kind == PieceType.ADVISOR:
        return 6 * (file == 4), 4 * (file == 4)
    if kind == PieceType.ELEPHANT:
        return 10 * (file == 4) - 8 * (file in (0, 8)), 6 * (file == 4)
    if kind == PieceType.ROOK:
        return 3 * centre + 4 * min(rank, 6) - 8 * (rank == 0), 2 * centre + 3 * min(rank, 7)
    if kind == PieceType.KNIGHT:
        away = 12 * (file in (0, 8)) + 15 * (rank == 0) + 20 * (rank == 9)
        return 5 * centre + 7 * min(rank, 6) - away, 5 * centre + 5 * min(rank, 6) - away
    if kind == PieceType.CANNON:
        return 4 * centre + 8 * (file == 4) - 3 * abs(rank - 2) + 6 * (rank >= 8), 3 * centre
    if rank < 5:
        return 4 * (file == 4), 5 * (rank - 3)
    # Past the river a pawn grows with every step, and is worn out on the last rank.
    steps = min(rank, 8) - 4
    if rank == 9:
        return 10 + 4 * centre, 10 + 6 * centre
    return 25 + 10 * steps + 7 * centre, 35 + 8 * steps + 9 * centre


def _square_tables() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """`OPENING` and `ENDING`."""
    tables = np.zeros((2, 16, SQUARES), np.int64)
    for kind in PieceType:
        for square in range(SQUARES):
            bonus = _bonus(kind, square // FILES, square % FILES)
            for stage in range(2):
                worth = VALUES[kind][stage] + bonus[stage]
                tables[stage, piece_code(0, kind), square] = worth
                tables[stage, piece_code(1, kind), flip_square(square)] = -worth
    return tables[0], tables[1]


OPENING, ENDING = _square_tables()
"""int64 (16, 90): what a piece code on a square is worth to Red."""

for _kind, _weight in _WEIGHTS.items():
    PHASES[[piece_code(0, _kind), piece_code(1, _kind)]] = _weight

ROOK, KNIGHT, CANNON = (piece_code(0, kind) for kind in _WEIGHTS)
PAWN = piece_code(0, PieceType.PAWN)


@part
def _free_moves(state, row, square, code):
    """What the free moves of a rook, knight or cannon are worth.

    square : int64; where the piece stands
    code : int64; the piece without its side
    """
    board = state.boards[row]
    free = np.int64(0)
    if code == KNIGHT:
        i = 0
        while LEGS[KNIGHT, square, i] >= 0:
            if board[LEGS[KNIGHT, square, i]] == EMPTY:
                free += _MOBILITY_KNIGHT
            i += 1
        return free
    for direction in range(4):
        to = square
        for _ in range(LENGTHS[square, direction]):
            to += STEPS[direction]
            if board[to] != EMPTY:
                break
            free += 1
    if code == ROOK:
        return free * _MOBILITY_ROOK
    return free * _MOBILITY_CANNON


@borrowing_kernel
def evaluate(state, row, side, alpha, beta):
    """The guess for the side to move, at most `MAX_EVALUATION` either way.

    Mobility is left out where it could not bring the guess into the window.
    """
    phase = np.int64(state.phase[row])
    mixed = state.opening[row] * phase + state.ending[row] * (FULL_PHASE - phase)
    score = mixed // FULL_PHASE
    rough = score - 2 * score * side
    exact = rough > alpha - LAZY_MARGIN and rough < beta + LAZY_MARGIN
    attackers = np.int64(0)
    for man in range(state.men_count[0] + state.men_count[1]):
        square = np.int64(state.squares[row, man])
        code = np.int64(state.codes[man])
        if square < 0 or code & 7 < ROOK:
            continue
        sign = 1 - 2 * (code >> 3)
        # Sixteen times for Red, once for Black: both counts in one number.
        attackers += 16 - 15 * (code >> 3)
        if exact and code & 7 != PAWN:
            score += sign * _free_moves(state, row, square, code & 7)
    if (score > 0 and attackers < 16) or (score < 0 and attackers % 16 == 0):
        score = np.int64(0)
    if side == 1:
        score = -score
    return min(max(score + TEMPO, -MAX_EVALUATION), MAX_EVALUATION)
