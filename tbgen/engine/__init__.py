"""The engine: a search that consumes the tables and knows the rules.

    conversation   stdin and stdout: the first line decides the protocol, each line is a command
    uci, ucci      the two protocols: commands in, text out
    dialogue       what they share: the game, the options, what is being thought about
    options        what a user can set
    game           the game so far
    clock          how long to think
    thinking       a thread that thinks: tables at the root, else the search, else a shallow pick
    known          moves and lines out of tables, without any search
    search         the search itself, compiled; see there

    line  ->  Uci | Ucci  ->  Thinker  ->  known | search  ->  Report, ...  ->  Answer  ->  line

A GUI waits for the answer to its first line, so nothing above `search` imports numba, and numpy
only where tables are opened: kernels are loaded in the background (`thinking`). What the engine
does, and what it does not do yet, is in docs/engine.md.
"""
