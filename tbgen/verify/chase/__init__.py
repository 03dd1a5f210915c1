"""Perpetual chases, proven: what should be a chase pattern is one, and nothing else is.

    bench      boards on which chases are tried, and what a move attacks anew
    chasers    who may have to chase one piece for ever
    edges      his chases, and the answers to them
    victims    whom those answers chase themselves
    game       the game of the chase pattern, on numbers alone
    patterns   the proof

Perpetual checks are none of its business (`tbgen.verify.checks`). Its independent twin is
`tbgen.retrograde.chase`; the two share no code.

Parameters of kernels, unless a kernel says otherwise:
    bench : Bench, the thread's own; the functions leave the position on it as it was
    before, after : int8 (90,), inout, the boards around a move; left as they were
    victim : int, which of the pieces is chased
    order, limit : int, orders of repetition
    numbers : int64 (chasers,), all chasers, ascending
    chases : int64 (chases, CHASE_COLUMNS), of all chasers
    edges : int64 (edges, EDGE_COLUMNS), of all chases
    graph : ChaseGraph, the same as starts
    victims : Victims, whom the winner-to-be chases
    due : bool (chases,), the chases that matter
    dead : bool (chases,), the chases that cannot be answered
    alive : bool (chasers,), the chasers that may belong to the pattern
"""
