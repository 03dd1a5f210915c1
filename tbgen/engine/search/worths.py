# mypy: allow-untyped-defs, allow-untyped-calls
"""What pieces on squares and features are worth, as the search adds it up.

    weights  ->  packed: the opening's worth and the ending's in one number  ->  sums  ->  `mixed`

The numbers themselves are in `weights`, what is counted is in `features`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import part
from tbgen.engine.search import weights
from tbgen.indexing.squares import FILES, SQUARES, PieceType, flip_square, piece_code

FULL_PHASE = 32
"""The phase of the opening; 0 is the ending."""

_HALF = 32
"""The opening's worth is in the bits from here on, the ending's in those below."""


def _packed(opening: NDArray[np.int64], ending: NDArray[np.int64]) -> NDArray[np.int64]:
    """Worths of opening and ending in one number each, to be added up together (`mixed`)."""
    return (opening << _HALF) + ending


def _square_worths() -> NDArray[np.int64]:
    """`SQUARE_WORTHS`."""
    tables = np.zeros((2, 16, SQUARES), np.int64)
    half = FILES // 2 + 1
    for kind in PieceType:
        for square in range(SQUARES):
            rank, file = divmod(square, FILES)
            for stage in range(2):
                worth = weights.PLACES[kind][stage][half * rank + min(file, FILES - 1 - file)]
                tables[stage, piece_code(0, kind), square] = worth
                tables[stage, piece_code(1, kind), flip_square(square)] = -worth
    return _packed(*tables)


SQUARE_WORTHS = _square_worths()
"""int64 (16, 90): what a piece code on a square is worth to Red, packed."""

FEATURE_WORTHS = _packed(*np.array(weights.FEATURES, np.int64))
"""int64 (features,): what each feature is worth to its side, packed."""


@part
def mixed(worths, phase):
    """Packed worths mixed by what is left on the board.

    worths : int64; a sum of packed worths
    phase : int64; 0 to `FULL_PHASE`
    """
    ending = (worths + (1 << _HALF - 1) & (1 << _HALF) - 1) - (1 << _HALF - 1)
    opening = worths - ending >> _HALF
    return (opening * phase + ending * (FULL_PHASE - phase)) // FULL_PHASE
