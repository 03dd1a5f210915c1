"""Retrograde analysis: the phases that compute the values of a material.

In the order in which they run; sections are those of Fang, Hsu & Hsu 2002, *Indefinite Sequence of
Moves in Chinese Chess Endgames*:

    phase                     file                 result                                  section
    1   legality              legality             the legal positions
    2a  supporting tables     supporting           tables after captures, laid out anew    5.2
    2b  captures              captures             the best capture of every position      5.2, 6.3
                              capture_kernels      kernels of phase 2b
    2c  initialization        initialisation       losable positions, waiting captures     4, 5
    3   propagation           propagation          order 0, ply by ply                     5, 6.1
    4   revised propagation   solve                orders 1, 2, ...                        5
        candidates            candidates           initialise, prune, declare              5.1
    4a  perpetual check       perpetual_check      direct wins by checks                   5.1
    4b  perpetual chase       chase/               direct wins by chases                  3.3
    5   final phase           solution             codes of all positions; draws           5

    solve         all phases for one material
    state         results so far as bytes, from which another process resumes
    journal       records of settled and of waiting positions, with codes
    memory        memory that solving a material takes
    encoding      blocks of a file, by kernel
    outcomes      the outcomes of a finished table, and their blocks
    value_digest  the digest of a finished table's values alone
    warm_up       compiling the kernels, once on a machine

This package uses `tbgen.rows` (sets, sweeps, threads, storage). Files, closures and the cost of a
build are in `tbgen.building`. Proofs are in `tbgen.verify`, which is independent of this package.

The glossary in docs/architecture.md gives the names of the paper's terms in this code.

Vocabulary; leads, mids, rows, frontiers, chunks and records are those of `tbgen.rows`
    code        value of a position as a number, larger if better (`tbgen.tables.codes`)
    plane       array by slot, for one side to move, of codes or of their numbers in a palette
                (`tbgen.tables.palettes`)
    settled     with a code, which is recorded in a journal; an *unknown* position is not settled
    waiting     with a best capture, or a direct win, that is not *due* yet: the propagation has not
                reached the order and plies of that value
    losable     unknown, and either without a capture or with a best capture that loses and is due
    offence     a check or a chase; the *offender* loses if it must repeat offences for ever
    pattern     set of positions in which each move of the offender loses, or is an offence and
                stays in the set (docs/values.md, "Patterns, exactly")
    direct win  a position of a pattern, the winner to move: won in 0 plies at this order
    seed        position from which propagation begins: without moves, with a waiting capture, or a
                direct win
    order       at order 0 the rules of repetition decide nothing; order k >= 1 is the k-th
                iteration of `solve.settle_orders`
    parent      the table that is solved; a *view* is a supporting table with the parent's index

Parameters of kernels, unless a kernel says otherwise, those of `tbgen.rows`, and:

    legal : Rows of the given leads, in (out in `k_legal`); the legal positions
    area : int64 (inner size,), the squares where the inner piece may stand
    numbers : unsigned (rows of the given leads * 90,), inout; the number of each position's
        code, or of its best capture found so far, in a palette
    view : unsigned (rows of the view * 90,), or (rows of the view,) without an inner piece: a
        supporting table with the parent's index; numbers in the palette of `numbers`
    view_frame : Frame, of the view
    base : int64, index in `numbers` of a row's first square
    strides : int64 (groups,), the view's stride of each group of `frame`; 0 if the view lacks it
    saved : unsigned (90,), scratch, of the type of `numbers`
"""
