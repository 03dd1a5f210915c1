"""The proof by rows, forwards: the best of the moves of ninety positions at a time.

    lines       where pieces go on an empty board
    index       what stands in a row, and which row a move leads to
    marks       checks and attacks of a whole row
    complete    planes in which every slot that a move leads to holds what it leads to
    best        maxima of the rows that the moves of a row lead to
    judge       what is stored against that, and the marks of `settle` against those of the moves
    settle      perpetual checks: what is claimed and what cannot be, by classes
    first_pass  the driver

The solver works backwards, with sets; this works forwards, with values, and shares only the index
and the rules with it. Its witness is `tbgen.verify.positions`, which shares neither rows nor
maxima with it.

Parameters of kernels, unless a kernel says otherwise:
    index : RowIndex
    row : Row, the thread's own
    number : int, of a row
    at : int, where the row of a plane begins in `Arrays.ranks`
    plane : int, where the plane of the other side begins there
    man : int, which of the men of the mid
    side : int, who moves or whose pieces are meant, 0 for Red
"""
