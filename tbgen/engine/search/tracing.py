# mypy: allow-untyped-defs, allow-untyped-calls
"""What evaluation and exchange say of a position: for the script that tunes them, and for tests.

Nothing in the search asks for this.
"""

from __future__ import annotations

import numpy as np

from tbgen.compiling.jit import borrowing_kernel
from tbgen.engine.search.evaluation import evaluate
from tbgen.engine.search.exchange import is_sound
from tbgen.engine.search.features import ATTACKERS, GUARD_FEATURES, GUARD_SHIFT, see_features
from tbgen.engine.search.state import begin
from tbgen.indexing.squares import SQUARES


@borrowing_kernel
def trace(states, no_moves, boards, sides, features, phases):
    """List the features of positions, and their phases.

    states : `State` (1,), inout; overwritten
    no_moves : int32 (0,), in
    boards : int8 (n, 90), in; piece codes
    sides : int64 (n,), in; who is to move
    features : int32 (n, MAX_LISTED), out; as `see_features` writes them, then guards; -1 where
        there is none
    phases : int64 (n,), out; 0 to `FULL_PHASE`
    """
    state = states[0]
    for i in range(len(boards)):
        for square in range(SQUARES):
            state.boards[0, square] = boards[i, square]
        begin(states, no_moves, sides[i])
        state.listing = 1
        see_features(state, np.int64(0), sides[i])
        state.listing = 0
        count = state.listed
        for k in range(features.shape[1]):
            features[i, k] = -1
            if k < count:
                features[i, k] = state.features[k]
        for owner in range(2):
            attack = state.material[0, owner] & ATTACKERS
            guards = state.material[0, 1 - owner] >> GUARD_SHIFT
            for number in GUARD_FEATURES[attack, guards]:
                features[i, count] = number << 1 | owner
                count += 1
        phases[i] = state.phase[0]


@borrowing_kernel
def evaluate_board(states, no_moves, side, alpha, beta):
    """What the evaluation says of the board in row 0.

    states : `State` (1,), inout; `boards[0]` holds it, the rest is overwritten
    no_moves : int32 (0,), in
    """
    begin(states, no_moves, side)
    return evaluate(states[0], np.int64(0), side, alpha, beta)


@borrowing_kernel
def is_sound_on_board(states, side, source, target):
    """Whether a capture on the board in row 0 loses nothing in the exchange that it begins.

    states : `State` (1,), in; `boards[0]` holds it
    """
    return is_sound(states[0], np.int64(0), side, source, target)
