# mypy: allow-untyped-defs, allow-untyped-calls
"""Evaluation network: one hidden layer of sums over the pieces, and two outputs.

    pieces on squares  ->  `hidden`: `SHAPES` sums of weights for each view, plain and mirrored
    sums               ->  clipped to 0..`FULL`, squared
    squares            ->  outputs for opening and endgame, mixed by the phase

There is a view for each side: own pieces and the opponent's pieces, from the own side of the board.
The view of the side to move comes first in the outputs. Each view is computed plain and mirrored
left to right with the same weights, so that evaluation is symmetric. A move updates the sums: one
row of `SHAPE_ROWS` is added and another subtracted (`move_hidden`), in a few vector instructions.

`scripts/tune/train.py` trains the weights (`weights`). All numbers are integers, so that a position
has the same value on every machine.
"""

from __future__ import annotations

import base64

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import part
from tbgen.engine.search import weights
from tbgen.engine.search.kinds import FULL_PHASE
from tbgen.indexing.squares import SQUARES, PieceType, Side, flip_square, mirror_square, piece_code

SHAPES = len(weights.BIASES)
"""Number of sums (units of the hidden layer) for one side's view of the board. A view is also
computed mirrored left to right, with as many sums.
"""
OWN = 2 * SHAPES
"""Number of sums (units of the hidden layer) of one side's view: `SHAPES` plain, then as many
mirrored.
"""
HIDDEN = 2 * OWN
"""Number of sums (units of the hidden layer) of a position: Red's view, then Black's, each plain
and then mirrored.
"""
INPUTS = 2 * len(PieceType) * SQUARES

FULL = 181
"""Integer that stands for 1.0 in the sums of the hidden layer, which are clipped to it: the largest
whose square fits into 15 bits.
"""
FINE = 4
"""Factor between the network's output and the engine's score: `FINE` units are one unit of the
score.
"""


def input_of(code: int, square: int, view: int, *, mirrored: bool) -> int:
    """Return the input number of a piece on a square, in the view of a side.

    Inputs of the view's own kinds come first, then the opponent's, ninety squares each.
    """
    seen = flip_square(square) if view == 1 else square
    if mirrored:
        seen = mirror_square(seen)
    others = (code >> 3) != view
    return (len(PieceType) * others + (code & 7) - 1) * SQUARES + seen


def _shape_rows() -> NDArray[np.int16]:
    """Compute the table `SHAPE_ROWS` of the network's first layer from the stored weights."""
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
"""int16 (16, 90, HIDDEN): weights of the first layer. A piece code on a square adds its row to the
sums of the hidden layer.
"""
EMPTY_HIDDEN = np.tile(np.array(weights.BIASES, np.int16), 4)
"""int16 (HIDDEN,): sums of the hidden layer for an empty board, which are the biases."""

OPENING, ENDING = np.tile(np.array(weights.OUTPUTS, np.int32), (1, 1, 2)).reshape(2, HIDDEN)
"""int32 (HIDDEN,): output weights of the squared sums for opening (`OPENING`) and endgame
(`ENDING`); the view of the side to move comes first.
"""
OPENING_BASE, ENDING_BASE = weights.OUTPUT_BASES


@part
def add_hidden(state, row, code, square):
    """Add the weights of a piece on a square to the hidden layer of a position.

    code, square : int64
    """
    for i in range(HIDDEN):
        state.hidden[row, i] += SHAPE_ROWS[code, square, i]


@part
def move_hidden(state, row, code, source, target, taken):
    """Compute the hidden layer of the next row, the position after a move, from that of the row.

    code, taken : int64; piece codes of the moved and the captured piece; `taken` 0 for none
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
def _squared(value):
    """Return a sum of the hidden layer, clipped to 0..`FULL` and squared (activation function).

    value : int16
    """
    clipped = np.int32(min(max(value, np.int16(0)), np.int16(FULL)))
    return np.int32(clipped * clipped)


@part
def network_output(state, row, side):
    """Return the network's evaluation for the side to move, in units of the score."""
    sums = state.hidden[row]
    own, other = side * OWN, (1 - side) * OWN
    # 32 bits, for more numbers per vector: `train.py` keeps the totals within them.
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
