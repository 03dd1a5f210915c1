# mypy: allow-untyped-defs, allow-untyped-calls
"""Evaluation and static exchange of a single position, by the kernels of the search."""

from __future__ import annotations

import numpy as np

from tbgen.compiling.jit import borrowing_kernel
from tbgen.engine.search.evaluation import evaluate
from tbgen.engine.search.exchange import is_sound
from tbgen.engine.search.state import begin


@borrowing_kernel
def evaluate_board(states, no_moves, side):
    """Return the engine's evaluation of one board for `side`, the side to move.

    states : `State` (1,), inout; `boards[0]` holds the board, other fields are overwritten
    no_moves : int32 (0,), in; an empty history
    """
    begin(states, no_moves, side)
    return evaluate(states[0], np.int64(0), side)


@borrowing_kernel
def is_sound_on_board(states, side, source, target):
    """Return whether a capture by `side` loses no material by recaptures on its target square.

    states : `State` (1,), inout; `boards[0]` holds the board, and is unchanged in the end
    """
    return is_sound(states[0], np.int64(0), side, source, target)
