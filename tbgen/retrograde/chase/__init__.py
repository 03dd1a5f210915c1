"""Phase 4b: direct wins by perpetual chase.

    search    the driver, which calls the modules below: initialise, prune, declare
    sieve     positions, row by row, in which a side has a piece under attack
    victims   the pieces that every move of a loss candidate chases, unless the move loses
    graph     the remaining candidates as a graph, with exact attacks and victims
    game      the winner's conditions on that graph: not to check, nor chase one piece, for ever

`tbgen.verify.chase_patterns` proves these direct wins. Both packages use `tbgen.rules` and
`tbgen.indexing`; they share no search.

Vocabulary
    offender       the side that loses if it must chase one piece for ever; the other is the winner
    attack anew    to create an attack by a move (docs/referee.md, section 2)
    victim         the piece that is chased; a *common victim* of a position is chased by each move
                   of the offender that does not lose, and there is such a move
    offence node   a position with the offender to move, and a victim
    reply node     the position after a chase, with the winner to move
    calm           of a reply: gives no check, and attacks nothing anew
    condition      that the winner replies again and again without a check, or without a chase of a
                   given piece

Parameters of kernels, unless a kernel says otherwise:
    row, square : int64, the slot of a position: its row, and the square of the inner piece
    key : int64, the slot as one number: row * 90 + square
    victim : int64, the square of the piece that is chased
    side : int64, side of the piece that attacks
    kind : int64, type of that piece: ROOK, KNIGHT or CANNON, or ADVISOR for advisor and elephant
    source, target : int64, squares; start and end of a move, or attacker and attacked piece
    lo, hi : uint64, the two words of a set of squares
    before, after : int8 (90,), the boards before and after a move
    squares : int64 (pieces,), squares of the pieces (on `after`), in the layout's order
    codes : int64 (pieces,), the piece codes in that order
    board : int8 (90,), a position
    chase_rules : int64, bits of the rule set (`tbgen.indexing.rulesets`)
    setting : ChaseSetting; converter : SlotConverter; boards : Boards, of the thread
    candidates : ChaseCandidates; graph : PatternGraph
    safe, inside : bool (offence nodes,) and bool (reply nodes,), the nodes that play must not leave
    nodes : int64 (offence nodes,), the key of the position of each offence node
    moves : int64 (reply nodes,), the chase that leads to each reply node, source * 90 + target
"""
