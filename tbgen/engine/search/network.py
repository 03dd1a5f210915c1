# mypy: allow-untyped-defs, allow-untyped-calls
"""The network of the evaluation: a layer of sums over the board, and two outputs.

    pieces on squares  ->  `hidden`: for each view and wing, `SHAPES` sums of weights
    sums               ->  clipped to 0..`FULL`, squared
    squares            ->  what the opening says and what the ending says, mixed by the phase

Each side has a view: its own pieces against the other's, from its own side of the board; the side
to move comes first in the outputs. Each view is looked at twice, as it is and in a mirror, by the
same weights, so that both wings are alike by construction. The first layer is a sum over pieces:
a move adds a row of `SHAPE_ROWS` and takes another away (`move_hidden`), in a vector or two.

The weights are in `weights`, found by `scripts/tune/train.py`; all here is integers, so that the
same position has the same value on every machine.
"""

from __future__ import annotations

import base64

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import part
from tbgen.engine.search import weights
from tbgen.engine.search.kinds import FULL_PHASE
from tbgen.indexing.squares import (
    SQUARES,
    PieceType,
    Side,
    flip_square,
    mirror_square,
    piece_code,
)

SHAPES = len(weights.BIASES)
"""Sums of one side's view of the board as it is; a mirrored board has as many."""
OWN = 2 * SHAPES
"""Sums of one side's view, of the board as it is and mirrored."""
HIDDEN = 2 * OWN
"""All sums of a position: Red's view, then Black's, each as it is and then in a mirror."""
INPUTS = 2 * len(PieceType) * SQUARES

FULL = 181
"""A sum of 1.0: the largest whose square fits into 15 bits."""
FINE = 4
"""Outputs are kept in quarters of a unit of the score."""


def input_of(code: int, square: int, view: int, *, mirrored: bool) -> int:
    """The number of the input that a piece on a square is, seen by a side.

    The side's own kinds come first, then the other's, with ninety squares each.
    """
    seen = flip_square(square) if view == 1 else square
    if mirrored:
        seen = mirror_square(seen)
    others = (code >> 3) != view
    return (len(PieceType) * others + (code & 7) - 1) * SQUARES + seen


def _shape_rows() -> NDArray[np.int16]:
    """`SHAPE_ROWS`."""
    shapes = np.frombuffer(base64.b85decode(weights.SHAPES), np.int8)
    shapes = shapes.reshape(INPUTS, SHAPES)
    rows = np.zeros((16, SQUARES, HIDDEN), np.int16)
    for code in (piece_code(side, kind) for side in Side for kind in PieceType):
        for square in range(SQUARES):
            rows[code, square] = np.concatenate([
                shapes[input_of(code, square, view, mirrored=mirrored)]
                for view in range(2)
                for mirrored in (False, True)
            ])  # fmt: skip
    return rows


SHAPE_ROWS = _shape_rows()
"""int16 (16, 90, HIDDEN): what a piece code on a square adds to the sums."""
EMPTY_HIDDEN = np.tile(np.array(weights.BIASES, np.int16), 4)
"""int16 (HIDDEN,): the sums of a board without pieces."""

OPENING, ENDING = np.tile(np.array(weights.OUTPUTS, np.int32), (1, 1, 2)).reshape(2, HIDDEN)
"""int32 (HIDDEN,): what each sum, squared, counts for: the mover's view first."""
OPENING_BASE, ENDING_BASE = weights.OUTPUT_BASES


@part
def add_hidden(state, row, code, square):
    """Count a piece in.

    code, square : int64
    """
    for i in range(HIDDEN):
        state.hidden[row, i] += SHAPE_ROWS[code, square, i]


@part
def move_hidden(state, row, code, source, target, taken):
    """Give the next row its sums: a piece has moved, and may have taken another.

    code, taken : int64; piece codes; 0 where nothing was taken
    """
    before, after = state.hidden[row], state.hidden[row + 1]
    come, gone = SHAPE_ROWS[code, target], SHAPE_ROWS[code, source]
    if taken == 0:
        for i in range(HIDDEN):
            after[i] = before[i] + come[i] - gone[i]
    else:
        lost = SHAPE_ROWS[taken, target]
        for i in range(HIDDEN):
            after[i] = before[i] + come[i] - gone[i] - lost[i]


@part
def keep_hidden(state, row):
    """Give the next row the same sums."""
    for i in range(HIDDEN):
        state.hidden[row + 1, i] = state.hidden[row, i]


@part
def _squared(value):
    """A sum, clipped and squared.

    value : int16
    """
    clipped = np.int32(min(max(value, np.int16(0)), np.int16(FULL)))
    return np.int32(clipped * clipped)


@part
def see(state, row, side):
    """Return the network's evaluation for the side to move, in units of the score."""
    sums = state.hidden[row]
    own, other = side * OWN, (1 - side) * OWN
    # Numbers of 32 bits, for vectors of twice as many: `train.py` keeps the totals within them.
    opening, ending = np.int32(0), np.int32(0)
    for i in range(OWN):
        seen = _squared(sums[own + i])
        opening += np.int32(seen * OPENING[i])
        ending += np.int32(seen * ENDING[i])
        seen = _squared(sums[other + i])
        opening += np.int32(seen * OPENING[OWN + i])
        ending += np.int32(seen * ENDING[OWN + i])
    phase = np.int64(state.phase[row])
    mixed = np.int64(opening) // (FULL * FULL) * phase
    mixed += np.int64(ending) // (FULL * FULL) * (FULL_PHASE - phase)
    mixed += OPENING_BASE * phase + ENDING_BASE * (FULL_PHASE - phase)
    return mixed // (FULL_PHASE * FINE)
