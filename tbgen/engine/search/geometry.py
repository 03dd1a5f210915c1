# mypy: allow-untyped-defs, allow-untyped-calls
"""Tables of the squares that pieces reach from each square of an empty board, by the rules.

    LENGTHS, STEPS    how far a rook's or cannon's line goes in each direction
    TOWARDS           the direction from one square to another on a line with it
    SIGHTS            what stands on a line with a square, by which squares of the line are taken
    TARGETS, LEGS     the squares a short-range piece attacks, and what must be empty for that
    SOURCES           the same, seen from the square that is attacked
    CONCERNS          whether what happens on one square can matter to a king on another

`tbgen.rules.attacks` says what attacks what; generation and exchange look it up here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import part
from tbgen.indexing.squares import FILES, RANKS, SQUARES, PieceType, Side, area, piece_code
from tbgen.rules.attacks import attacks
from tbgen.rules.board import LEAPS
from tbgen.rules.board import STEPS as DIRECTIONS

MAX_TARGETS = 8
"""A knight has eight leaps; no other short-range piece has more than four moves."""

SHORT_RANGE = (
    PieceType.KING,
    PieceType.ADVISOR,
    PieceType.ELEPHANT,
    PieceType.KNIGHT,
    PieceType.PAWN,
)

RANK_OF, FILE_OF = (each.astype(np.int8) for each in np.divmod(np.arange(SQUARES), FILES))
"""int8 (90,): the rank and the file of each square."""

STEPS = np.array([9 * rank + file for rank, file in DIRECTIONS], np.int64)
"""int64 (4,): what a step in each direction adds to a square."""


def _lengths() -> NDArray[np.int64]:
    """int64 (90, 4): how many squares lie in each direction."""
    table = np.zeros((SQUARES, len(DIRECTIONS)), np.int64)
    for square in range(SQUARES):
        rank, file = divmod(square, FILES)
        for direction, (rank_step, file_step) in enumerate(DIRECTIONS):
            ranks = RANKS - 1 - rank if rank_step > 0 else rank
            files = FILES - 1 - file if file_step > 0 else file
            table[square, direction] = ranks if rank_step else files
    return table


def _leg(kind: PieceType, source: int, target: int) -> int:
    """The square that must be empty for a move, or -1: a knight's leg, an elephant's eye."""
    if kind == PieceType.ELEPHANT:
        return (source + target) // 2
    if kind == PieceType.KNIGHT:
        for rank, file, leg_rank, leg_file in LEAPS:
            if target - source == 9 * rank + file:
                return source + 9 * leg_rank + leg_file
    return -1


def _short_range() -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """`TARGETS` and `LEGS`."""
    targets = np.full((16, SQUARES, MAX_TARGETS + 1), -1, np.int8)
    legs = np.full((16, SQUARES, MAX_TARGETS + 1), -1, np.int8)
    for side in Side:
        for kind in SHORT_RANGE:
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
    """`SOURCES` and `SOURCE_LEGS`: the tables of targets, backwards."""
    sources, legs = np.full_like(TARGETS, -1), np.full_like(LEGS, -1)
    for code, square in np.ndindex(sources.shape[:2]):
        for number, (at, i) in enumerate(np.argwhere(TARGETS[code] == square)):
            sources[code, square, number], legs[code, square, number] = at, LEGS[code, at, i]
    return sources, legs


LENGTHS = _lengths()
LINES = RANKS + FILES
"""The ranks from 0 on, and behind them the files."""
FREE, FIRST_SHIFT, SECOND_SHIFT = 0b1111, 4, 8
"""A sight is three numbers of four bits: how many squares are free up to the first piece, how far
away that piece is, and how far the second; 0 where there is none. `FREE` is the mask of each."""
WAY_SHIFT = 12
"""Sights in opposite directions share a number: the second begins at this bit."""


def _towards() -> NDArray[np.int8]:
    """`TOWARDS`."""
    table = np.full((SQUARES, SQUARES), -1, np.int8)
    for square, direction in np.ndindex(LENGTHS.shape):
        for away in range(1, LENGTHS[square, direction] + 1):
            table[square, square + STEPS[direction] * away] = direction
    return table


TOWARDS = _towards()
"""int8 (90, 90): the direction, of `STEPS`, that leads from one square to another; -1 for none."""


def _sights() -> NDArray[np.int32]:
    """`SIGHTS`."""
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
"""int32 (2, 10, 1024), by the axis (0 for a file, `direction >> 1`), the place on the line, and a
bit for each place taken: what is seen both ways."""


@part
def sights(state, row, square, axis):
    """Return the squares seen from a square both ways along its file or its rank (`SIGHTS`).

    square : int64
    axis : int64; 0 for the file, 1 for the rank
    """
    rank, file = RANK_OF[square], FILE_OF[square]
    if axis == 0:
        return np.int64(SIGHTS[0, rank, state.lines[row, RANKS + file]])
    return np.int64(SIGHTS[1, file, state.lines[row, rank]])


TARGETS, LEGS = _short_range()
"""int8 (16, 90, 9), by piece code and square: targets up to the first -1, and beside each the
square that must be empty, or -1: a knight's leg, an elephant's eye."""

SOURCES, SOURCE_LEGS = _sources()
"""int8 (16, 90, 9), by piece code and square: where such a piece stands that attacks the square,
up to the first -1, and the square that must be empty for that, or -1."""


def _distances() -> NDArray[np.int8]:
    """`DISTANCES`."""
    squares = np.arange(SQUARES)
    ranks, files = squares // FILES, squares % FILES
    away = np.abs(ranks[:, None] - ranks), np.abs(files[:, None] - files)
    return np.maximum(*away).astype(np.int8)


DISTANCES = _distances()
"""int8 (90, 90): ranks or files between two squares, whichever are more."""


def _concerns() -> NDArray[np.bool_]:
    """`CONCERNS`: lines for rooks, cannons and kings, leaps and legs for knights."""
    same_rank, same_file = (of[:, None] == of for of in (RANK_OF, FILE_OF))
    return same_rank | same_file | (DISTANCES <= 2)


CONCERNS = _concerns()
"""bool (90, 90): whether a piece that comes to a square, or leaves it, may attack or uncover a
king on another. All else leaves the king as safe as it was."""
