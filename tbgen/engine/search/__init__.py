"""Compiled alpha-beta search, on the same record of positions as the referee.

    searcher       driver in plain Python: iterative deepening, MultiPV, threads
    prover         driver of proofs: start, continue and follow a proof beside the search
    proof_search   proof-number search: a graph of positions, grown until it proves a win
    graph          the graph: propagation of outcomes, perpetual checks, proof numbers
    tree           principal variation search with check extensions, and quiescence search
    selectivity    reductions and pruning by estimates
    judging        exact values without search: verdicts on repetitions, table values
    ordering       move ordering, in stages
    exchange       static exchange evaluation of a capture
    generation     pseudo-legal captures and quiet moves
    safety         legality of moves (king safety) and detection of checks
    evaluation     output of the network, scaled down for materials that are mostly drawn in tables
    network        evaluation network: sums updated with every move, and the output
    transposition  the hash table (transposition table)
    geometry       look-up tables of lines, leaps and legs; piece codes and the game phase
    state          memory of one search as one record, and making a move
    scores         bands of scores: mates, tables, verdicts, proofs, evaluation

Each module above `state` imports only modules below it. All modules but `scores` import numba;
`tbgen.engine.resources` loads them in the background. The search is one kernel with its parts, so
that it is optimised and compiled as a whole.

Parameters of kernels, unless a kernel says otherwise:
    states : `State` (1,), inout; the memory of this search, a record of `state.STATE`
    state : `State`, inout; the one element of `states`
    shared : `Shared`, inout; hash table and tables
    row : int64; row of the position in the record
    ply : int64; plies from the root of the search, `row - state.root`
    side : int64; the side to move, 0 Red, 1 Black
    depth : int64; plies left to search
    alpha, beta : int64; the window: scores for the side to move
    may_pass : bool; whether a null move may be tried; false right after a null move
    bound : int64; `UPPER`, `LOWER` or `EXACT` (`transposition`)
    score : int64; a *decided* score counts plies from the root of the search (`scores`)
    move : int64; `source << 7 | target`, 0 for none
    source, target, square : int64; squares; a move goes from `source` to `target`
    code, taken : int64; piece codes: of a piece, and of the captured piece, 0 for none
    board : int8 (90,), in; piece codes
    king : int64; square of the king of `side`
    key : int64; hash key of a position
    data : int64; an entry of the hash table, 0 for none
    count : int64; number of moves that `moves` has for the ply so far
    captures : bool; append captures, else quiet moves, which are all others
    searched : int64; number of moves of the node that were searched before
    best : int64; best score so far
    buffers : `Buffers`, inout; the tables, empty where there are none; blocks are marked as wanted
    bonus : int64; positive for the move that caused a cutoff, negative for moves tried before it
    graph : `Graph`, inout; graph of a proof
    number : int64; number of a node of the graph
    path : int64 (MAX_PLY,), scratch; nodes of the current path; place p is path[p - 1]
    inside : int8 (N,), scratch; 1 for nodes of a candidate set of perpetual checks
    winner : int64; the attacker: the side whose win is to be proven
    in_check : int64; 1 if the side to move is in check
    defender : int64; 1 if the side to move is the defender
    status : int64; `WON` or `LOST`
    place : int64; 1 + a node's index on the current path; 0 to take no path into account
    loop : int64; a loop is a win if it begins at this place or later: from there on, every move of
        the defender on the path gives check, and no move of the attacker does
"""
