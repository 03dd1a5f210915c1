# mypy: allow-untyped-defs, allow-untyped-calls
"""Static evaluation of a position: output of the network, scaled by known outcomes.

The evaluation of a side without attacking pieces (rooks, knights, cannons, pawns) is never
positive. The unit is about a hundredth of a pawn; a rook is worth about 650.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import part
from tbgen.engine.search.geometry import ADVISOR, KING, PAWN
from tbgen.engine.search.network import WEIGHTS, network_output
from tbgen.engine.search.scores import MAX_EVALUATION
from tbgen.indexing.squares import LETTERS, piece_code

EXCHANGE_VALUES = np.tile(np.array([0, 10_000, *WEIGHTS["values"]]), 2)
"""int64 (16,): value of a piece code in an exchange, on any square; the king's is the largest."""

FEW_PHASE = 12
"""Largest game phase for which `DECIDED` is looked up: that of three rooks."""
KNOWN_MEN = 5
"""Maximum pieces, kings included, of the materials in `OUTCOMES`."""
OUTCOMES = Path(__file__).with_name("outcomes.csv")
"""CSV file: wins, draws and losses of materials of at most `KNOWN_MEN` pieces, in thousandths."""


def _decided_shares() -> NDArray[np.int64]:
    """Compute `DECIDED` from `OUTCOMES`: won and lost positions per thousand, by material."""
    shares = np.full(16 ** (KNOWN_MEN - 2), 1_000)
    for line in OUTCOMES.read_text("ascii").splitlines()[1:]:
        name, _, drawn, _ = line.split(",")
        first, second = name[1:].split("K")
        for red, black in ((first, second), (second, first)):
            codes = [piece_code(0, LETTERS.index(letter)) for letter in red]
            codes += [piece_code(1, LETTERS.index(letter)) for letter in black]
            number = 0
            for code in sorted(codes):
                number = number << 4 | code
            shares[number] = 1_000 - int(drawn)
    return shares


DECIDED = _decided_shares()
"""int64 (4096,): share of won and lost positions of a material, in thousandths; 1000 for a material
that is not in `OUTCOMES`. Index: codes of the pieces without kings, ascending, four bits each.
"""


@part
def _decided_share(state, row):
    """Return the material's entry in `DECIDED`; 1000 with more than `KNOWN_MEN` pieces."""
    if state.men_left[row] > KNOWN_MEN:
        return np.int64(1_000)
    number = np.int64(0)
    for code in range(ADVISOR, 8 + PAWN + 1):
        for man in range(state.men_count[code >> 3]):
            piece = state.men[code >> 3, man]
            if code & 7 != KING and state.codes[piece] == code and state.squares[row, piece] >= 0:
                number = number << 4 | code
    return DECIDED[number]


@part
def evaluate(state, row, side):
    """Return the static evaluation of a row for its side to move, within +-`MAX_EVALUATION`."""
    score = np.int64(network_output(state, row, side))
    ahead = side if score >= 0 else 1 - side
    if state.attackers_left[row, ahead] == 0:
        score = np.int64(0)
    elif state.phase[row] <= FEW_PHASE:
        score = score * _decided_share(state, row) // 1_000
    return min(max(score, -MAX_EVALUATION), MAX_EVALUATION)
