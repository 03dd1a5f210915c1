"""Engine for UCI and UCCI: search with repetition rules and tables.

    conversation   reads stdin and writes stdout; the first line selects the protocol
    uci, ucci      the two protocols: commands in, text out
    protocol       code shared by both protocols: game, options, running search
    options        options that a user can set
    game           positions and moves of the current game
    clock          time limits of a search
    thinking       search thread: tables at the root, else the search, else a move without search
    resources      tables, kernels and hash table, as the options set them
    tables         moves and lines from tables, without search
    search         the compiled search (a package)

A GUI waits for the answer to its first line. So the modules above `search` do not import numba: a
thread of `resources` loads it and the kernels later. docs/engine.md describes features and limits.
"""
