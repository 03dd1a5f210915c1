"""The slow twin of the generator: xiangqi endgames solved from the prose of the rules.

It shares no code with `tbgen` (nothing here may import it), so that agreement proves something.

    movegen         boards as dictionaries, moves, checks, legality
    patterns        a game graph, and the search for forced perpetual checks on it
    chases          what a move chases, under every rule set
    chase_patterns  the search for forced perpetual chases, and for the winner's own
    retrograde      propagation of distances, then of rule-decided values order by order
    graph_game      the same game on tiny graphs, solved exactly by entirely different means
    chase_game      the chase pattern on tiny graphs, solved exactly in two ways of its own
    solver          all positions of a material and its captures; the API for comparisons
    region          some positions of a material, with the values of all others given
    cache           solved materials, each computed once per process
"""
