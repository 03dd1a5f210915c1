# mypy: allow-untyped-defs, allow-untyped-calls
"""Look-up tables of the squares that pieces reach and attack from each square.

A *line* is a file or a rank. A *sight* describes a line from a square in one direction: the number
of empty squares before the first piece, and the distances of the first and the second piece. A
*short-range piece* is any but rook and cannon; its targets are computed by `tbgen.rules.attacks`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import part
from tbgen.indexing.squares import FILES, RANKS, SQUARES, PieceType, Side, area, piece_code
from tbgen.rules.attacks import attacks
from tbgen.rules.board import LEAPS
from tbgen.rules.board import STEPS as DIRECTIONS

KING, ADVISOR, ELEPHANT, ROOK, KNIGHT, CANNON, PAWN = (piece_code(0, kind) for kind in PieceType)
"""Codes of Red's pieces in ascending order; from `ROOK` on, pieces can cross the river."""

FULL_PHASE = 32
"""Game phase of the starting position. The phase is the sum of `PHASES` over all pieces."""
PHASES = np.zeros(16, np.int64)
"""int64 (16,): weight of a piece code in the game phase; 0 for all but rook, knight and cannon."""
for _code, _weight in ((ROOK, 4), (KNIGHT, 2), (CANNON, 2)):
    PHASES[[_code, _code + 8]] = _weight

MAX_TARGETS = 8
"""Maximum moves of a short-range piece: a knight has eight, all others at most four."""

_RANK_OF, _FILE_OF = (each.astype(np.int8) for each in np.divmod(np.arange(SQUARES), FILES))

LINE_OF, PLACE_OF = np.stack([_FILE_OF + RANKS, _RANK_OF]), np.stack([_RANK_OF, _FILE_OF])
"""int8 (2, 90) each, by axis (0 file, 1 rank) and square: number of the line through the square
(ranks 0..9, files 10..18), and the square's index on it. Index i of `STEPS` has the axis i >> 1.
"""

STEPS = np.array([9 * rank + file for rank, file in DIRECTIONS], np.int64)
"""int64 (4,): difference of square numbers for one step in each direction."""

LENGTHS = np.stack(
    [RANKS - 1 - _RANK_OF, _RANK_OF, FILES - 1 - _FILE_OF, _FILE_OF], 1, dtype=np.int64
)
"""int64 (90, 4): number of steps from a square to the edge, in each direction of `STEPS`."""


def _leg(kind: PieceType, source: int, target: int) -> int:
    """Return the square that must be empty for a knight or elephant move; -1 for other pieces."""
    if kind == PieceType.ELEPHANT:
        return (source + target) // 2
    if kind == PieceType.KNIGHT:
        for rank, file, leg_rank, leg_file in LEAPS:
            if target - source == 9 * rank + file:
                return source + 9 * leg_rank + leg_file
    return -1


def _short_range() -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Compute `TARGETS` and `LEGS`: squares by [piece code, source, number], -1 for none."""
    targets, legs = np.full((2, 16, SQUARES, MAX_TARGETS + 1), -1, np.int8)
    for side in Side:
        for kind in set(PieceType) - {PieceType.ROOK, PieceType.CANNON}:
            code = piece_code(side, kind)
            for source in area(side, kind):
                board = bytearray(SQUARES)
                board[source] = code
                near = range(max(0, source - 20), min(SQUARES, source + 21))
                found = [target for target in near if attacks(board, source, target)]
                for i, target in enumerate(found):
                    targets[code, source, i] = target
                    legs[code, source, i] = _leg(kind, source, target)
    return targets, legs


def _sources() -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Compute `SOURCES` and `SOURCE_LEGS`, the inverse of `TARGETS` and `LEGS`."""
    sources, legs = np.full_like(TARGETS, -1), np.full_like(LEGS, -1)
    for code, square in np.ndindex(sources.shape[:2]):
        for number, (at, i) in enumerate(np.argwhere(TARGETS[code] == square)):
            sources[code, square, number], legs[code, square, number] = at, LEGS[code, at, i]
    return sources, legs


LINES = RANKS + FILES
"""Number of lines of the board; ranks are numbered before files."""
FREE, FIRST_SHIFT, SECOND_SHIFT = 0b1111, 4, 8
"""Layout of a sight: three numbers of four bits (mask `FREE`). The lowest is the number of empty
squares before the first piece or the edge; at `FIRST_SHIFT` and `SECOND_SHIFT` are the distances of
the first and of the second piece, 0 without a piece.
"""
WAY_SHIFT = 12
"""Shift of the sight in a line's second direction; an entry of `SIGHTS` holds both sights."""


DIRECTION_TO = np.full((SQUARES, SQUARES), -1, np.int8)
"""int8 (90, 90): direction (index of `STEPS`) from square to square; -1 if equal or not in line."""
for _square, _direction in np.ndindex(LENGTHS.shape):
    for _away in range(1, LENGTHS[_square, _direction] + 1):
        DIRECTION_TO[_square, _square + STEPS[_direction] * _away] = _direction


def _sights() -> NDArray[np.int32]:
    table = np.zeros((2, RANKS, 1 << RANKS), np.int32)
    for direction, (rank_step, file_step) in enumerate(DIRECTIONS):
        axis, way = divmod(direction, 2)
        places = RANKS if rank_step else FILES
        for place, taken in np.ndindex(places, 1 << places):
            step = rank_step + file_step
            ahead = range(place + step, places if step > 0 else -1, step)
            pieces = [i + 1 for i, at in enumerate(ahead) if taken >> at & 1]
            first, second = [*pieces, 0, 0][:2]
            free = first - 1 if first else len(ahead)
            sight = free | first << FIRST_SHIFT | second << SECOND_SHIFT
            table[axis, place, taken] |= sight << way * WAY_SHIFT
    return table


SIGHTS = _sights()
"""int32 (2, 10, 1024): sights in both directions, by axis, index of the square on the line, and bit
mask of the line's occupied squares.
"""


@part
def sights(state, row, square, axis):
    """Return the entry of `SIGHTS` for a square: its sights in both directions of a line.

    axis : int64; the line: 0 for the square's file, 1 for its rank
    """
    taken = state.occupancy[row, LINE_OF[axis, square]]
    return np.int64(SIGHTS[axis, PLACE_OF[axis, square], taken])


TARGETS, LEGS = _short_range()
"""int8 (16, 90, 9) each, by code of a short-range piece and square: targets, ended by -1; and for
each target the square that must be empty (a knight's leg, an elephant's eye), -1 for none.
"""

SOURCES, SOURCE_LEGS = _sources()
"""int8 (16, 90, 9) each, by code of a short-range piece and square: squares from which the piece
attacks the square, ended by -1; and for each the square that must be empty, -1 for none.
"""


_APART = [np.abs(np.subtract.outer(of, of)) for of in PLACE_OF]
DISTANCES = np.maximum(*_APART)
"""int8 (90, 90): the larger of the differences of two squares in ranks and in files."""

EXPOSES_KING = (np.minimum(*_APART) == 0) | (DISTANCES <= 2)
"""bool (90, 90), symmetric, by the square of a king and a square that a piece leaves or comes to:
whether the move may expose the king to an attack. True for two squares on one line, and for squares
at most two files and two ranks apart, as in a knight's leap.
"""
