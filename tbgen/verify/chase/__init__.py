"""Perpetual chases, proven: what should be a chase pattern is one, and nothing else is.

    chasers    who may have to chase one piece for ever, and what a move attacks anew
    edges      his chases, the answers to them, and whom those chase themselves
    patterns   the proof: a game on numbers alone

Perpetual checks are none of its business (`tbgen.verify.checks`). Its independent twin is
`tbgen.retrograde.chase`; the two share no code.

Parameters of kernels, unless a kernel says otherwise:
    boards : ChaseBoards, the thread's own; the functions leave the position on them as it was
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
