"""Naive solver: xiangqi endgames solved by slow code, written from the prose of the rules.

It is independent of `tbgen`: nothing here may import it.

    movegen         boards as dictionaries, moves, checks, legality
    patterns        a game graph, and the search for forced perpetual checks on it
    chases          chases of a move, under every rule set
    chase_patterns  the search for forced perpetual chases, and for the winner's own
    retrograde      propagation of distances, then of rule-decided values order by order
    graph_game      the same game on tiny graphs, solved exactly by other algorithms
    streak_game     games on tiny graphs in which both sides check and chase, solved exactly
    chase_game      the chase pattern on tiny graphs, solved exactly by two more algorithms
    solver          all positions of a material and its captures; the API for comparisons
    region          some positions of a material, with the values of all others given
    cache           solved materials, each computed once per process
"""
