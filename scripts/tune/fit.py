"""The weights of the evaluation, by logistic regression on games of the engine with itself.

    python scripts/tune/self_play.py games.npz
    python scripts/tune/fit.py games.npz [--seed 1] [--steps 3000]    (writes weights.py)
    python scripts/tune/fit.py --start                                (the formulae below alone)

What is fitted is the share of the points that Red gets from a position: the mean of the game's
result and of what the search's score stood for. The prediction is the logistic function of the
evaluation, which is linear in its weights; the descent is Adam in numpy. Every weight is drawn
towards a start that is set by hand, so that squares which no game has seen keep a sensible number.
Afterwards all weights are scaled so that rooks are worth `ROOK_WORTH`. Printed are the losses on
the games of the sample that were not fitted, one in ten, before and after.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tbgen.engine.search import tracing
from tbgen.engine.search.features import FEATURES, GROUPS, MAX_LISTED
from tbgen.engine.search.state import STATE
from tbgen.engine.search.worths import FULL_PHASE
from tbgen.indexing.squares import FILES, RANKS, SQUARES, PieceType

Floats = NDArray[np.float64]

WEIGHTS = Path(tracing.__file__).with_name("weights.py")
ROOK_WORTH = 650
HALF = FILES // 2 + 1
PLACES = HALF * RANKS
"""Squares that are not each other's mirror image."""
PARAMETERS = len(PieceType) * PLACES + FEATURES
NOTHING = PARAMETERS
"""Where lists of parameters have ended."""

STARTS = {
    PieceType.KING: (0, 0), PieceType.ADVISOR: (110, 120), PieceType.ELEPHANT: (110, 110),
    PieceType.ROOK: (620, 660), PieceType.KNIGHT: (280, 320), PieceType.CANNON: (310, 280),
    PieceType.PAWN: (45, 50),
}  # fmt: skip
"""What a piece is worth at the start, in the opening and in the ending, wherever it stands."""

MOBILITY = {"rook's mobility": (3, 8), "cannon's mobility": (1, 8), "knight's mobility": (4, 4)}
"""What each free square is worth at the start, beyond so many."""


def _bonus(kind: PieceType, rank: int, file: int) -> tuple[int, int]:
    """What a square adds for Red's piece at the start, in the opening and in the ending."""
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
    if rank == 9:
        return 10 + 4 * centre, 10 + 6 * centre
    steps = min(rank, 8) - 4
    return 25 + 10 * steps + 7 * centre, 35 + 8 * steps + 9 * centre


def start_weights() -> Floats:
    """float64 (2, parameters): opening and ending, by the formulae."""
    weights = np.zeros((2, PARAMETERS))
    for kind in PieceType:
        for rank in range(RANKS):
            for file in range(HALF):
                bonus = _bonus(kind, rank, file)
                for stage in range(2):
                    at = PLACES * kind + HALF * rank + file
                    weights[stage, at] = STARTS[kind][stage] + bonus[stage]
    first = len(PieceType) * PLACES
    for name, count in GROUPS.items():
        if name in MOBILITY:
            each, average = MOBILITY[name]
            weights[:, first : first + count] = each * (np.arange(count) - average)
        if name == "the move":
            weights[:, first] = 6
        first += count
    return weights


class Samples:
    """Positions as lists of parameters: `numbers` int32 (n, m), and `signs` int8, -1 for Black."""

    def __init__(self, boards: NDArray[np.uint8], sides: NDArray[np.int8]) -> None:
        states, count = np.zeros(1, STATE), len(boards)
        listed = np.zeros((count, MAX_LISTED), np.int32)
        phases = np.zeros(count, np.int64)
        tracing.trace(states, np.zeros(0, np.int32), boards.astype(np.int8), sides.astype(np.int64),
              listed, phases)  # fmt: skip
        self.phases = phases / FULL_PHASE
        listed = listed[:, : (listed >= 0).sum(axis=1).max()]
        there = np.argsort(boards == 0, axis=1, kind="stable")[:, :32]
        codes = np.take_along_axis(boards, there, axis=1).astype(np.int32)
        black, kinds = codes >> 3, (codes & 7) - 1
        squares = np.where(black == 1, SQUARES - 1 - there, there)
        files = squares % FILES
        places = PLACES * kinds + HALF * (squares // FILES) + np.minimum(files, FILES - 1 - files)
        pieces = np.where(codes == 0, NOTHING, places)
        features = np.where(listed < 0, NOTHING, len(PieceType) * PLACES + (listed >> 1))
        self.numbers = np.concatenate([pieces, features], axis=1).astype(np.int32)
        self.signs = (1 - 2 * np.concatenate([black, listed & 1], axis=1)).astype(np.int8)

    def evaluate(self, weights: Floats, rows: NDArray[np.int64]) -> Floats:
        """What the weights make of some of the positions, for Red."""
        padded = np.concatenate([weights, np.zeros((2, 1))], axis=1)
        numbers, signs = self.numbers[rows], self.signs[rows]
        opening, ending = ((padded[stage][numbers] * signs).sum(axis=1) for stage in range(2))
        phases = self.phases[rows]
        return np.asarray(opening * phases + ending * (1 - phases))

    def gradient(self, errors: Floats, rows: NDArray[np.int64]) -> Floats:
        """float64 (2, parameters): the errors of some of the positions, by parameter."""
        numbers, signs, phases = self.numbers[rows].ravel(), self.signs[rows], self.phases[rows]
        return np.stack([
            np.bincount(numbers, (signs * share[:, None]).ravel(), PARAMETERS + 1)[:-1]
            for share in (errors * phases, errors * (1 - phases))
        ])  # fmt: skip


def logistic(values: Floats) -> Floats:
    """1 / (1 + e^-x)."""
    return np.asarray(1 / (1 + np.exp(-np.clip(values, -30, 30))))


def loss(predicted: Floats, wanted: Floats) -> float:
    """The mean cross-entropy."""
    return float(-np.mean(wanted * np.log(predicted) + (1 - wanted) * np.log(1 - predicted)))


def scale_of(scores: Floats, points: Floats) -> float:
    """How many units of the score are one of the logistic function, by the results."""
    scales = np.arange(80.0, 800.0, 10.0)
    return float(min(scales, key=lambda scale: loss(logistic(scores / scale), points)))


def fit(samples: Samples, wanted: Floats, scale: float, options: argparse.Namespace) -> Floats:
    """The weights."""
    rng = np.random.default_rng(options.seed)
    start = start_weights()
    weights, first, second = start.copy(), np.zeros_like(start), np.zeros_like(start)
    rows = np.flatnonzero(options.fitted)
    for step in range(1, options.steps + 1):
        batch = rng.choice(rows, options.batch)
        errors = logistic(samples.evaluate(weights, batch) / scale) - wanted[batch]
        slope = samples.gradient(errors, batch) / len(batch)
        slope += options.pull * (weights - start) / scale
        first = 0.9 * first + 0.1 * slope
        second = 0.999 * second + 0.001 * slope**2
        rate = options.rate * (1 - step / (options.steps + 1))
        towards = (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-9)
        weights -= rate * towards
    return weights


def write(weights: Floats, worth: NDArray[np.int64]) -> None:
    """Write the module, in the project's format."""
    whole = np.rint(weights).astype(int)
    places = whole[:, :-FEATURES].reshape(2, len(PieceType), PLACES)
    lines = [
        '"""Numbers of the evaluation, written by `scripts/tune/fit.py`: not to be edited by hand.',
        "",
        "    VALUES     what an advisor, elephant, rook, knight, cannon and pawn are worth",
        "    PLACES     by kind, then opening and ending: Red's piece on the squares of the ranks",
        "               from below, five files of each, which stand for their mirror images, too",
        "    FEATURES   opening and ending: what each feature (`features`) is worth to its side",
        '"""',
        "",
        "# fmt: off",
        f"VALUES = {tuple(worth.tolist())}",
        "PLACES = (",
    ]
    for kind in PieceType:
        lines.append(f"    (  # {kind.name.lower()}")
        for stage in range(2):
            lines.append("        (")
            for rank in range(RANKS):
                row = places[stage, kind, HALF * rank : HALF * (rank + 1)].tolist()
                lines.append(f"            {', '.join(map(str, row))},")
            lines.append("        ),")
        lines.append("    ),")
    lines += [")", "FEATURES = ("]
    for stage in range(2):
        lines.append("    (")
        first = 0
        for name, count in GROUPS.items():
            numbers: Sequence[int] = whole[stage, -FEATURES:][first : first + count].tolist()
            lines += [f"        # {name}", f"        {', '.join(map(str, numbers))},"]
            first += count
        lines.append("    ),")
    lines.append(")")
    WEIGHTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> int:
    """Fit, print the losses, write the weights."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("games", type=Path, nargs="*")
    parser.add_argument("--start", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=3_000)
    parser.add_argument("--batch", type=int, default=4_096)
    parser.add_argument("--rate", type=float, default=3.0)
    parser.add_argument("--pull", type=float, default=1e-3)
    options = parser.parse_args()
    worth = np.array([round(sum(STARTS[kind]) / 2) for kind in PieceType][1:])
    if options.start:
        write(start_weights(), worth)
        return 0
    if not options.games:
        parser.error("name the files of scripts/tune/self_play.py")
    files = [np.load(path) for path in options.games]
    boards, sides, seen, results, games = (
        np.concatenate([file[name] for file in files])
        for name in ("boards", "sides", "scores", "results", "games")
    )
    points = (1 + results) / 2
    options.fitted = games % 10 != 0
    scale = scale_of(seen.astype(float), points)
    wanted = (points + logistic(seen / scale)) / 2
    samples = Samples(boards, sides)
    held = np.flatnonzero(~options.fitted)
    weights = fit(samples, wanted, scale, options)
    for name, each in (("start", start_weights()), ("fitted", weights)):
        predicted = logistic(samples.evaluate(each, held) / scale)
        print(f"{name:7} loss {loss(predicted, wanted[held]):.5f}, "
              f"of the results {loss(predicted, points[held]):.5f}")  # fmt: skip
    # What a kind is worth on the squares where it has stood.
    kinds = [
        np.bincount(samples.numbers[:, :32].ravel(), minlength=PARAMETERS + 1)[
            PLACES * kind : PLACES * (kind + 1)
        ]
        for kind in PieceType
    ]
    places = weights[:, :-FEATURES].mean(axis=0).reshape(len(PieceType), PLACES)
    means = np.array([np.average(places[kind], weights=kinds[kind]) for kind in PieceType])
    factor = ROOK_WORTH / means[PieceType.ROOK]
    print(f"{len(boards)} positions, scale {scale:.0f}, weights times {factor:.3f}")
    print("features:", np.round(np.quantile(np.abs(_features(samples, weights * factor)),
                                            [0.5, 0.9, 0.99, 0.999])))  # fmt: skip
    write(weights * factor, np.rint(means * factor).astype(int)[1:])
    return 0


def _features(samples: Samples, weights: Floats) -> Floats:
    """What the features of each position count for together."""
    alone = weights.copy()
    alone[:, :-FEATURES] = 0
    return samples.evaluate(alone, np.arange(len(samples.phases)))


if __name__ == "__main__":
    sys.exit(main())
