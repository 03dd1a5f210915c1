# mypy: allow-untyped-defs, allow-untyped-calls
"""Evaluation network: one hidden layer of sums over the pieces, and two outputs.

    pieces on squares  ->  `accumulator`: `UNITS` sums of weights for each view, plain and mirrored
    sums               ->  clipped to 0..`FULL`, squared
    squared sums       ->  outputs for opening and endgame, mixed by the game phase (`geometry`)

The *view* of a side is the board seen from that side. Each view is computed plain and mirrored left
to right with the same weights, so that evaluation is symmetric. A move adds one row of `INPUT_ROWS`
to the sums, and subtracts one, or two if it captures. All numbers are integers, so that a position
has the same value on every machine.

`scripts/tune/train.py` writes the weights, `weights.json`:

    values        exchange values of advisor, elephant, rook, knight, cannon and pawn
    shapes        first layer, int8 (inputs, units) encoded in base 85: an input is a piece on a
                  square, and adds its row to the sums
    biases        sum of each unit for an empty board
    outputs       output layer, for the squared sums. Indices: opening or endgame, then view of the
                  side to move or of the opponent, then the unit
    output_bases  constants added to the outputs for opening and endgame
"""

from __future__ import annotations

import base64
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import part
from tbgen.engine.search.geometry import FULL_PHASE
from tbgen.indexing.squares import SQUARES, PieceType, Side, flip_square, mirror_square, piece_code

WEIGHTS_FILE = Path(__file__).with_name("weights.json")
WEIGHTS = json.loads(WEIGHTS_FILE.read_text("utf-8"))

UNITS = len(WEIGHTS["biases"])
"""Number of units of the hidden layer."""
VIEW_SIZE = 2 * UNITS
"""Number of sums of one side's view: `UNITS` plain, then as many mirrored."""
ACCUMULATOR_SIZE = 2 * VIEW_SIZE
"""Number of sums of a position: Red's view, then Black's."""
INPUTS = 2 * len(PieceType) * SQUARES
"""Number of inputs: own and the opponent's pieces of each kind, on each square."""

FULL = 181
"""Integer for 1.0, the upper limit of clipped sums; the largest with a square below 2^15."""
FINE = 4
"""Number of units of the network's output in one unit of the engine's score."""


def input_of(code: int, square: int, view: int, *, mirrored: bool) -> int:
    """Return the index of the input for a piece on a square, in the view of a side.

    view : the side, 0 Red, 1 Black; inputs for its pieces come first, then the opponent's, ninety
        squares for each kind
    mirrored : whether the board is mirrored left to right
    """
    seen = flip_square(square) if view == 1 else square
    if mirrored:
        seen = mirror_square(seen)
    others = (code >> 3) != view
    return (len(PieceType) * others + (code & 7) - 1) * SQUARES + seen


def _input_rows() -> NDArray[np.int16]:
    weights = np.frombuffer(base64.b85decode("".join(WEIGHTS["shapes"])), np.int8)
    weights = weights.reshape(INPUTS, UNITS)
    rows = np.zeros((16, SQUARES, ACCUMULATOR_SIZE), np.int16)
    for code in (piece_code(side, kind) for side in Side for kind in PieceType):
        for square in range(SQUARES):
            rows[code, square] = np.concatenate([
                weights[input_of(code, square, view, mirrored=mirrored)]
                for view in range(2)
                for mirrored in (False, True)
            ])  # fmt: skip
    return rows


INPUT_ROWS = _input_rows()
"""int16 (16, 90, ACCUMULATOR_SIZE): weights of the first layer, by piece code and square."""
EMPTY_ACCUMULATOR = np.tile(np.array(WEIGHTS["biases"], np.int16), 4)
"""int16 (ACCUMULATOR_SIZE,): sums for an empty board, which are the biases."""

OPENING, ENDING = np.tile(np.array(WEIGHTS["outputs"], np.int32), (1, 1, 2)).reshape(2, -1)
"""int32 (ACCUMULATOR_SIZE,) each: output weights of the squared sums for opening and endgame; the
view of the side to move comes first.
"""
OPENING_BASE, ENDING_BASE = WEIGHTS["output_bases"]


@part
def update_accumulator(state, row, code, source, target, taken):
    """Write the accumulator of row + 1, the position after a move, computed from that of `row`."""
    before, after = state.accumulator[row], state.accumulator[row + 1]
    come, gone = INPUT_ROWS[code, target], INPUT_ROWS[code, source]
    if taken == 0:
        for i in range(ACCUMULATOR_SIZE):
            after[i] = before[i] + come[i] - gone[i]
    else:
        lost = INPUT_ROWS[taken, target]
        for i in range(ACCUMULATOR_SIZE):
            after[i] = before[i] + come[i] - gone[i] - lost[i]


@part
def _squared(value):
    """Return a sum, clipped to 0..`FULL` and squared (activation function).

    value : int16
    """
    clipped = np.int32(min(max(value, np.int16(0)), np.int16(FULL)))
    return np.int32(clipped * clipped)


@part
def network_output(state, row, side):
    """Return the network's evaluation for the side to move, in units of the score."""
    sums = state.accumulator[row]
    own, other = side * VIEW_SIZE, (1 - side) * VIEW_SIZE
    # 32 bits, for more numbers per vector: scripts/tune/train.py keeps the totals within them.
    opening, ending = np.int32(0), np.int32(0)
    for i in range(VIEW_SIZE):
        seen = _squared(sums[own + i])
        opening += np.int32(seen * OPENING[i])
        ending += np.int32(seen * ENDING[i])
        seen = _squared(sums[other + i])
        opening += np.int32(seen * OPENING[VIEW_SIZE + i])
        ending += np.int32(seen * ENDING[VIEW_SIZE + i])
    phase = np.int64(state.phase[row])
    mixed = np.int64(opening) // (FULL * FULL) * phase
    mixed += np.int64(ending) // (FULL * FULL) * (FULL_PHASE - phase)
    mixed += OPENING_BASE * phase + ENDING_BASE * (FULL_PHASE - phase)
    return mixed // (FULL_PHASE * FINE)
