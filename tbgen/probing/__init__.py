"""Tables as arrays: probing from compiled code, and columns of positions with their values.

    Tablebase  ->  NumbaTables.buffers  ->  probe(buffers, pieces, squares, count, side)
                   arrays, no objects       probe_board(buffers, board, side)
                   ^                        inside any njit function, without the GIL
                   `load_wanted`, from Python, for blocks that a probe found cold

A table stores the *code* (value) of each *slot* (number of a placement of the pieces) for each side
to move, in compressed blocks. A *cold* block is not loaded; a probe that needs it marks it as
*wanted*.

    buffers    arrays of tables, and loading of blocks into them
    kernels    the probes
    wdl, wdl_kernels    win-draw-loss files, wholly loaded as arrays, and their probes
    placements    squares and legality of many slots, legality of a board
    columns    a table as columns, every legal position or a sample
    dump       columns as files

This package imports numba; `tbgen.tables` and `tbgen.play` never do.

Parameters of kernels, unless a kernel says otherwise:
    buffers : Buffers, in which probes write only `wanted` and `used`; or WdlBuffers, read only
    pieces : int (count,), piece codes: Red's K A B R N C P are 1 to 7, Black's 9 to 15
    squares : int (count,), squares of the pieces: 9 * rank + file
    count : int, number of pieces
    board : int (90,), piece codes by square, 0 for an empty square
    side : int, the side to move: 0 Red, 1 Black
    counts : int64, number of pieces of each code, four bits for each code (`kernels.count_of`)
    code : int, a piece code
    score : int64, as defined in `kernels`
    width : int, bytes of a code of a table
    span : int, number of distances per order; an order has this many codes of wins, and of losses
"""

from tbgen.probing.buffers import NumbaTables
from tbgen.probing.kernels import (
    COLD,
    INVALID,
    MISSING,
    OK,
    Buffers,
    order_of,
    outcome_of,
    plies_of,
    probe,
    probe_board,
    probe_boards,
)
from tbgen.probing.placements import is_legal_board
from tbgen.probing.wdl import WdlTables
from tbgen.probing.wdl_kernels import WdlBuffers, find_wdl, probe_wdl, probe_wdl_found

__all__ = [
    "COLD", "INVALID", "MISSING", "OK", "Buffers", "NumbaTables", "WdlBuffers", "WdlTables",
    "find_wdl", "is_legal_board", "order_of", "outcome_of", "plies_of", "probe", "probe_board",
    "probe_boards", "probe_wdl", "probe_wdl_found",
]  # fmt: skip
