"""Building closures of materials: what is needed, what it costs, and doing it.

    sets           which materials words such as `table1` and `--men 5` mean
    work           which tables, in which order, of which metric: decided before anything is solved
    builder        doing it: solve, count, write; skip what is finished, survive interruption
    states         the state of a table that takes long, in a file beside it
    collection     many tables at once: the builders of single tables, run by `tbgen.scheduling`
    exchange       the same where machines share no directory: tables travel by an address
    packing        the win-draw-loss file of a finished table
    contents       the digest of a finished table's values
    plan           index, memory, disk and time of a build, for who wants to know first
    outlook        what many workers would make of a plan
    estimate       seconds and bytes of tables that are not there yet, learned from measured ones
    features       what the supporting tables of a material tell about its own
    measured       what tables cost where they were measured, read from measured.csv

How a table is solved is in `tbgen.retrograde`, which also knows what memory that takes; what its
bytes are, in `tbgen.tables`. Nothing here prints: who calls a build gives it a `Progress`. Only
`builder`, `packing` and `contents` load the compiler, and only where they have to work.
"""
