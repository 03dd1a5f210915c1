"""The search, compiled: alpha-beta over the record that the referee reads.

    searcher       the driver: iterative deepening, several best lines, time and stop; plain Python
    prover         when a proof is tried beside it, and follows it
    proving        the proof: a graph of positions, grown until it shows that one side wins
    estimates      where to go on with it: how much is left to show
    graph          what follows in it, and which of its loops are perpetual checks
    tree           principal variation search, with check extensions
    selectivity    what is searched less deep, or not at all
    quiescence     captures until the position is quiet, and every evasion of a check
    judging        what is known without searching: a repetition's verdict, a table's value
    ordering       the moves of a position, the likeliest best first
    exchange       what comes of a capture on its square
    generation     pseudo-legal captures and quiet moves
    safety         which of them leave the king safe
    evaluation     the network's guess, less where tables say that little is decided
                   (`outcomes.csv`, written by a script)
    network        pieces on squares, summed up from move to move, and what follows from the sums
    weights        its numbers (`weights.json`, written by a script)
    transposition  the hash table
    perft          counts of legal lines: is the generation right, and how fast
    kinds          pieces by name
    geometry       lines, leaps and legs as tables
    state          the memory of one search as one record, and playing a move in it
    scores         what a number means: mates, tables, verdicts, evaluation

The modules above `state` import downwards only. Everything here but `scores` and `weights` imports
numba: it is loaded by `tbgen.engine.thinking`, in the background. All of the
search is one kernel and its parts, so that everything is optimised and turned into machine code
once. What calls itself passes on no literals (`tbgen.compiling.jit.recursive_part`).

Parameters of kernels, unless a kernel says otherwise:
    state : `State`, inout; the memory of this search, a record of `state.STATE`
    shared : `Shared`, inout; hash table and tables
    row : int64; the position: its row in the record
    ply : int64; plies from the root of the search, `row - state.root`
    side : int64; the side to move, 0 Red, 1 Black
    depth : int64; plies still to search
    alpha, beta : int64; the window: scores for the side to move
    move : int64; `source << 7 | target`, 0 for none
    source, target : int64; squares of a move
    buffers : `Buffers`, in; the tables, empty where there are none
    graph : `Graph`, inout; of a proof
    number : int64; a node of it
    winner : int64; the side that a proof is to show to win
"""
