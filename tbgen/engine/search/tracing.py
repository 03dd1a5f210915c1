# mypy: allow-untyped-defs, allow-untyped-calls
"""What the evaluation sees of many positions at once: for the script that tunes it, and for tests.

Nothing in the search asks for this.
"""

from __future__ import annotations

import numpy as np

from tbgen.compiling.jit import borrowing_kernel
from tbgen.engine.search.features import list_features
from tbgen.engine.search.state import begin
from tbgen.indexing.squares import SQUARES


@borrowing_kernel
def trace(states, no_moves, boards, sides, features, phases):
    """List the features of positions, and their phases.

    states : `State` (1,), inout; overwritten
    no_moves : int32 (0,), in
    boards : int8 (n, 90), in; piece codes
    sides : int64 (n,), in; who is to move
    features : int32 (n, MAX_LISTED), out; as `list_features` writes them, -1 where there is none
    phases : int64 (n,), out; 0 to `FULL_PHASE`
    """
    state = states[0]
    for i in range(len(boards)):
        for square in range(SQUARES):
            state.boards[0, square] = boards[i, square]
        begin(states, no_moves, sides[i])
        count = list_features(state, np.int64(0), sides[i])
        for k in range(features.shape[1]):
            features[i, k] = -1
            if k < count:
                features[i, k] = state.features[k]
        phases[i] = state.phase[0]
