"""Probing from compiled code: tables as arrays, and functions for other people's kernels.

    Tablebase  ->  NumbaTables.buffers  ->  probe(buffers, pieces, squares, count, side)
                   arrays, no objects       probe_board(buffers, board, side)
                   ^                        inside any njit function, without the GIL
                   `load_wanted`, from Python, for blocks that a probe found cold

    buffers    the arrays, and bringing blocks into them
    kernels    the probes
    legality   what the probes do not look at

This package imports numba; `tbgen.tables` and `tbgen.tablebase` never do.
"""

from tbgen.probing.buffers import Buffers, NumbaTables
from tbgen.probing.kernels import (
    COLD,
    INVALID,
    MISSING,
    OK,
    order_of,
    outcome_of,
    plies_of,
    probe,
    probe_board,
    probe_boards,
)
from tbgen.probing.legality import is_legal_board, legal_boards

__all__ = [
    "COLD",
    "INVALID",
    "MISSING",
    "OK",
    "Buffers",
    "NumbaTables",
    "is_legal_board",
    "legal_boards",
    "order_of",
    "outcome_of",
    "plies_of",
    "probe",
    "probe_board",
    "probe_boards",
]
