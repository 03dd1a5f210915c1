# mypy: allow-untyped-defs, allow-untyped-calls
"""A guess at what a quiet position is worth: pieces on squares, and what `features` lists.

    sums of weights for opening and ending  ->  mixed by what is left on the board
    the fewer positions of a material are decided  ->  the less it is worth to be ahead in it

A side that has nothing left to win with is never ahead.

All weights were found by `scripts/tune/fit.py` from games of the engine with itself, and are in
`weights`. Unit: one hundredth of a pawn, roughly; a rook is worth about 650.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import part
from tbgen.engine.search import outcomes, weights
from tbgen.engine.search.features import (
    ADVISOR,
    ATTACKERS,
    CANNON,
    GUARD_FEATURES,
    GUARD_SHIFT,
    KING,
    KNIGHT,
    PAWN,
    ROOK,
    see_features,
)
from tbgen.engine.search.scores import MAX_EVALUATION
from tbgen.engine.search.worths import FEATURE_WORTHS, mixed
from tbgen.indexing.squares import LETTERS, PieceType, piece_code

PHASES = np.zeros(16, np.int64)
"""What a piece code adds to the phase: 32 in the opening, 0 without rook, knight and cannon."""
for _code, _weight in ((ROOK, 4), (KNIGHT, 2), (CANNON, 2)):
    PHASES[[_code, _code + 8]] = _weight

LAZY_MARGIN = 320
"""All features of a position together count for no more than this, either way."""

EXCHANGE_VALUES = np.tile(np.array([0, 10_000, *weights.VALUES]), 2)
"""int64 (16,): what a piece code is worth in an exchange, wherever it stands; a king most."""


GUARD_WORTHS = FEATURE_WORTHS[GUARD_FEATURES].sum(axis=-1)
"""int64 (162, 9): the sum of the features that a side's attackers have against these guards."""

FEW_PHASE = 12
"""No more than three rooks: so few men may be known by their outcomes."""
KNOWN_MEN = 5


def _decided_shares() -> NDArray[np.int64]:
    """`DECIDED`."""
    shares = np.full(16 ** (KNOWN_MEN - 2), 1_000)
    kinds = {letter: kind for kind, letter in zip(PieceType, LETTERS, strict=True)}
    for name, (_, drawn, _) in outcomes.OUTCOMES.items():
        armies = [[kinds[letter] for letter in army] for army in name[1:].split("K")]
        for side in range(2):
            own = [piece_code(side, kind) for kind in armies[0]]
            others = [piece_code(1 - side, kind) for kind in armies[1]]
            number = 0
            for code in sorted(own + others):
                number = number << 4 | code
            shares[number] = 1_000 - drawn
    return shares


DECIDED = _decided_shares()
"""int64 (4096,): of a thousand positions of a material so many are won or lost, by the codes of its
men but for the kings, in order, four bits each; 1000 where no table has told."""


@part
def _decided_share(state, row):
    """Of a thousand positions of the material so many are won or lost."""
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
def evaluate(state, row, side, alpha, beta):
    """The guess for the side to move, at most `MAX_EVALUATION` either way.

    Outside of the window it is a bound on the guess, on the same side of the window: features are
    not looked at where they could not bring it in.
    """
    phase = np.int64(state.phase[row])
    score = mixed(state.worths[row], phase)
    rough = score - 2 * score * side
    if phase > FEW_PHASE and rough + LAZY_MARGIN <= alpha:
        return max(rough + LAZY_MARGIN, -MAX_EVALUATION)
    if phase > FEW_PHASE and rough - LAZY_MARGIN >= beta:
        return min(rough - LAZY_MARGIN, MAX_EVALUATION)
    red, black = state.material[row, 0], state.material[row, 1]
    seen = GUARD_WORTHS[red & ATTACKERS, black >> GUARD_SHIFT]
    seen -= GUARD_WORTHS[black & ATTACKERS, red >> GUARD_SHIFT]
    seen += see_features(state, row, side)
    score += min(max(mixed(seen, phase), -LAZY_MARGIN), LAZY_MARGIN)
    if state.material[row, np.int64(score < 0)] & ATTACKERS == 0:
        score = np.int64(0)
    elif phase <= FEW_PHASE:
        score = score * _decided_share(state, row) // 1_000
    if side == 1:
        score = -score
    return min(max(score, -MAX_EVALUATION), MAX_EVALUATION)
