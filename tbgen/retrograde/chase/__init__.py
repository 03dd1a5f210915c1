"""Phase 4b: direct wins by perpetual chase.

    sieve     rows of positions in which a side has a piece under attack
    victims   the pieces that each move of a loss candidate attacks anew
    graph     the remaining pattern as a graph, with exact attacks and victims
    game      the winner's clauses on that graph: not for ever checking, nor for ever chasing
    search    all four in order: initialise, prune, declare

`tbgen.verify.chase` finds the same independently; the two share no code.

Parameters of kernels, unless a kernel says otherwise:
    row, square : int64, the slot of a position: the square is the inner piece's
    key : int64, the slot as one number: row * 90 + square
    victim : int64, the square of the piece that is chased
    lo, hi : uint64, the two words of a set of squares
    before, after : int8 (90,), the boards before and after a move
    squares : int64 (pieces,), squares of the pieces, in the layout's order
    codes : int64 (pieces,), the piece codes in that order
    board : int8 (90,), a position
    chase_rules : int64, bits of the rule set (`tbgen.indexing.rulesets`)
    setting : ChaseSetting
    converter : SlotConverter
    boards : Boards, of the thread
    candidates : ChaseCandidates
    graph : PatternGraph
    nodes : int64 (offence nodes,), the key of each
    moves : int64 (reply nodes,), the move that leads to each, source * 90 + target
"""
