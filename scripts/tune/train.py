# mypy: allow-untyped-defs, allow-untyped-calls
"""Train the network of the evaluation on games of the engine against itself.

    python scripts/tune/self_play.py games.npz --games 28000
    python scripts/tune/train.py games.npz [--seed 1] [--epochs 10]    (writes weights.json)

The target is the expected points of the side to move, 0 to 1: the mean of the game's result and of
the search's score, converted to points. The prediction is the logistic function of the network's
output (`tbgen.engine.search.network`, in floats here). The network has one hidden layer of `UNITS`
units. An input is a piece on a square in the view of a side: own or the opponent's, seen from that
side's end of the board. Each view is computed plain and mirrored left to right.

The optimiser is Adam with decay of the first layer. After every epoch the losses on the games that
are held out, one in ten, are printed. Exchange values (`PIECE_VALUES`) are not trained.
"""

from __future__ import annotations

import base64
import json
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import borrowing_kernel
from tbgen.engine.search import network
from tbgen.engine.search.geometry import FULL_PHASE, PHASES
from tbgen.indexing.squares import EMPTY, SQUARES, PieceType, Side, piece_code

Floats = NDArray[np.float64]

UNITS = 8
MAX_WEIGHT = 127 / network.FULL
"""Largest weight of the first layer, so that a byte holds it."""
PIECE_VALUES = (112, 119, 650, 333, 300, 70)
"""Exchange values of an advisor, elephant, rook, knight, cannon and pawn, in units of the score:
means over the squares, from a linear evaluation that was fitted to games of the engine.
"""


class Layers(NamedTuple):
    """Weights of the network, or their gradients."""

    shapes: NDArray[np.float32]
    """float32 (INPUTS, UNITS): weights of the first layer."""
    biases: NDArray[np.float32]
    """float32 (UNITS,): constants of the first layer."""
    outputs: NDArray[np.float32]
    """float32 (2, 2, UNITS): weights by output (opening, ending) and view (side to move, other)."""
    bases: NDArray[np.float32]
    """float32 (2,): constants of the two outputs, opening and ending."""


class Positions(NamedTuple):
    """Training positions (n rows).

    `boards` is uint8 (n, 90), piece codes; `sides` int8 (n,), the side to move; `phases` float32
    (n,), from 0 in an ending to 1 in an opening; `wanted` float32 (n,), Red's target points.
    """

    boards: NDArray[np.uint8]
    sides: NDArray[np.int8]
    phases: NDArray[np.float32]
    wanted: NDArray[np.float32]


def _inputs() -> NDArray[np.int64]:
    """Compute `INPUTS_OF`: an input's number by view, plain or mirrored, piece code and square."""
    table = np.zeros((2, 2, 16, SQUARES), np.int64)
    for code in (piece_code(side, kind) for side in Side for kind in PieceType):
        for view, wing, square in np.ndindex(2, 2, SQUARES):
            table[view, wing, code, square] = network.input_of(
                code, square, view, mirrored=bool(wing)
            )
    return table


INPUTS_OF = _inputs()
"""int64 (2, 2, 16, 90): number of the network's input for a piece code on a square. Indices: the
view (Red, Black), plain or mirrored, the piece code and the square.
"""


@borrowing_kernel
def learn(rows, positions, layers, gradients, sums, sum_gradients, outputs):
    """Evaluate positions with the network, and add the gradients of their losses to `gradients`.

    rows : int64 (n,), in; indices of the positions to evaluate
    positions : `Positions`, in
    layers : `Layers`, in; the weights
    gradients : `Layers`, inout
    sums : float32 (2, 2, UNITS), scratch; by view (the side to move first), plain or mirrored
    sum_gradients : float32 (2, 2, UNITS), scratch; gradients of the sums
    outputs : float32 (n,), out; outputs of the network, for the side to move
    """
    one, none = np.float32(1), np.float32(0)
    for k in range(len(rows)):
        at = rows[k]
        board, side = positions.boards[at], np.int64(positions.sides[at])
        phase = positions.phases[at]
        for view in range(2):
            for wing in range(2):
                for i in range(UNITS):
                    sums[view, wing, i] = layers.biases[i]
        for square in range(SQUARES):
            if board[square] != EMPTY:
                for view in range(2):
                    for wing in range(2):
                        number = INPUTS_OF[view ^ side, wing, board[square], square]
                        for i in range(UNITS):
                            sums[view, wing, i] += layers.shapes[number, i]
        opening, ending = layers.bases[0], layers.bases[1]
        for view in range(2):
            for wing in range(2):
                for i in range(UNITS):
                    seen = min(max(sums[view, wing, i], none), one)
                    opening += layers.outputs[0, view, i] * seen * seen
                    ending += layers.outputs[1, view, i] * seen * seen
        outputs[k] = opening * phase + ending * (one - phase)
        wanted = positions.wanted[at]
        if side == 1:
            wanted = one - wanted
        error = np.float32(one / (one + np.exp(-outputs[k])) - wanted)
        gradients.bases[0] += error * phase
        gradients.bases[1] += error * (one - phase)
        for view in range(2):
            for wing in range(2):
                for i in range(UNITS):
                    seen = min(max(sums[view, wing, i], none), one)
                    gradients.outputs[0, view, i] += error * phase * seen * seen
                    gradients.outputs[1, view, i] += error * (one - phase) * seen * seen
                    gradient = layers.outputs[0, view, i] * phase
                    gradient += layers.outputs[1, view, i] * (one - phase)
                    gradient *= error * (seen + seen)
                    if seen == one:
                        gradient = none
                    sum_gradients[view, wing, i] = gradient
                    gradients.biases[i] += gradient
        for square in range(SQUARES):
            if board[square] != EMPTY:
                for view in range(2):
                    for wing in range(2):
                        number = INPUTS_OF[view ^ side, wing, board[square], square]
                        for i in range(UNITS):
                            gradients.shapes[number, i] += sum_gradients[view, wing, i]


def logistic(values: Floats) -> Floats:
    """Return 1 / (1 + e^-x) for each value, with x limited to -30..30."""
    return np.asarray(1 / (1 + np.exp(-np.clip(values, -30, 30))))


def loss(predicted: Floats, wanted: Floats) -> float:
    """Return the mean cross-entropy of predicted points (0 < p < 1) and wanted ones (0 to 1)."""
    return float(-np.mean(wanted * np.log(predicted) + (1 - wanted) * np.log(1 - predicted)))


def scale_of(scores: Floats, points: Floats) -> float:
    """Return the divisor, 80 to 790, for which `logistic(scores / divisor)` fits the points best.

    scores, points : scores of the search and results of the games (0 to 1), both for Red
    """
    scales = np.arange(80.0, 800.0, 10.0)
    return float(min(scales, key=lambda scale: loss(logistic(scores / scale), points)))


def begin_layers(rng: np.random.Generator) -> Layers:
    """Return the layers before training: small random weights, and constants."""
    return Layers(
        rng.normal(0, 0.1, (network.INPUTS, UNITS)).astype(np.float32),
        np.full(UNITS, 0.3, np.float32),
        rng.normal(0, 0.05, (2, 2, UNITS)).astype(np.float32),
        np.zeros(2, np.float32),
    )


def zeros(layers: Layers) -> Layers:
    """Return layers of zeros in the shapes of `layers`, for gradients and their moving means."""
    return Layers(*map(np.zeros_like, layers))


class Trainer:
    """Adam optimiser of `layers`, the network's weights.

    `steps` is the number of batches in all; over them the learning rate falls to 0 along a cosine.
    `options` has `seed`, `rate` (the first learning rate) and `decay` (of the first layer).
    """

    def __init__(self, positions: Positions, options: Namespace, steps: int) -> None:
        self.positions, self.options, self.steps = positions, options, steps
        self.layers = begin_layers(np.random.default_rng(options.seed))
        self._first, self._second, self._step = zeros(self.layers), zeros(self.layers), 0

    def evaluate(self, rows: NDArray[np.int64]) -> tuple[Floats, Layers]:
        """Return the network's outputs, for Red, and the summed gradients of the losses.

        rows : indices of the positions to evaluate
        """
        gradients, outputs = zeros(self.layers), np.zeros(len(rows), np.float32)
        scratch = np.zeros((2, 2, 2, UNITS), np.float32)
        learn(rows, self.positions, self.layers, gradients, *scratch, outputs)
        return outputs * (1.0 - 2.0 * self.positions.sides[rows]), gradients

    def step(self, rows: NDArray[np.int64]) -> None:
        """Update the weights from a batch, the positions with the indices `rows`."""
        gradients = self.evaluate(rows)[1]
        self._step += 1
        rate = self.options.rate * (1 + np.cos(np.pi * self._step / self.steps)) / 2
        for layer, gradient, first, second in zip(
            self.layers, gradients, self._first, self._second, strict=True
        ):
            gradient /= len(rows)
            first[:] = 0.9 * first + 0.1 * gradient
            second[:] = 0.999 * second + 0.001 * gradient**2
            size = np.sqrt(second / (1 - 0.999**self._step)) + 1e-8
            layer -= rate * first / (1 - 0.9**self._step) / size
        shapes = self.layers.shapes
        np.clip(shapes * (1 - rate * self.options.decay), -MAX_WEIGHT, MAX_WEIGHT, out=shapes)


def write(layers: Layers, scale: float) -> None:
    """Write the trained weights to the engine's file, rounded to integers.

    scale : number of units of the engine's score in 1.0 of the output (`scale_of`)

    Raises `OverflowError` if an output could exceed 32 bits.
    """
    full, fine = network.FULL, network.FINE * scale
    shapes = np.rint(layers.shapes * full).astype(np.int8)
    outputs = np.rint(layers.outputs * fine).astype(int)
    # Every sum is used twice: for the board and for its mirror image.
    if 2 * np.abs(outputs).sum(axis=(1, 2)).max() * full**2 >= 1 << 31:
        raise OverflowError("an output does not fit into 32 bits")
    text = base64.b85encode(shapes.tobytes()).decode()
    numbers = {
        "values": PIECE_VALUES,
        "biases": np.rint(layers.biases * full).astype(int).tolist(),
        "outputs": outputs.tolist(),
        "output_bases": np.rint(layers.bases * fine).astype(int).tolist(),
    }
    lines = [f'"{name}": {json.dumps(value)},' for name, value in numbers.items()]
    rows = ",\n".join(json.dumps(text[i : i + 90]) for i in range(0, len(text), 90))
    network.WEIGHTS_FILE.write_text(
        "\n".join(["{", *lines, '"shapes": [', rows, "]", "}\n"]), "utf-8"
    )


def arguments() -> Namespace:
    """Parse the command line."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("games", type=Path, nargs="+")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch", type=int, default=8_192)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--decay", type=float, default=0.5)
    return parser.parse_args()


def main() -> None:
    """Train the network, print the losses, and write the weights."""
    options = arguments()
    files = [np.load(path) for path in options.games]
    boards, sides, seen, results, games = (
        np.concatenate([file[name] for file in files])
        for name in ("boards", "sides", "scores", "results", "games")
    )
    points, fitted = (1 + results) / 2, games % 10 != 0
    scale = scale_of(seen.astype(float)[fitted], points[fitted])
    wanted = (points + logistic(seen / scale)) / 2
    phases = PHASES.astype(np.uint8)[boards].sum(axis=1, dtype=np.float32) / FULL_PHASE
    positions = Positions(boards, sides, phases, wanted.astype(np.float32))
    held, rows = np.flatnonzero(~fitted), np.flatnonzero(fitted)
    batches = len(rows) // options.batch
    trainer = Trainer(positions, options, options.epochs * batches)
    rng = np.random.default_rng(options.seed)
    said = loss(logistic(seen[held] / scale), points[held])
    print(f"{len(rows)} positions, {len(held)} not fitted; scale {scale:.0f}; "
          f"loss of the search's scores on the results {said:.5f}", flush=True)  # fmt: skip
    for epoch in range(options.epochs):
        rng.shuffle(rows)
        for batch in range(batches):
            trainer.step(rows[batch * options.batch : (batch + 1) * options.batch])
        predicted = logistic(trainer.evaluate(held)[0])
        print(f"epoch {epoch + 1}: loss {loss(predicted, wanted[held]):.5f}, "
              f"of the results {loss(predicted, points[held]):.5f}", flush=True)  # fmt: skip
    write(trainer.layers, scale)


if __name__ == "__main__":
    main()
