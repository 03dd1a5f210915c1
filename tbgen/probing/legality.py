# mypy: allow-untyped-defs, allow-untyped-calls
"""Legality of positions, which probes do not check, for kernels and for whole arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import kernel
from tbgen.rules.attacks import in_check


@kernel
def is_legal_board(board, side):
    """Return whether the side that is not to move is safe, and the kings do not face each other.

    board : int8 (90,), with both kings on it
    """
    return not in_check(board, 1 - side)


@kernel
def _mark_legal(boards, side, legal):
    """Write `is_legal_board` of every board.

    boards : int8 (n, 90); legal : bool (n,), out
    """
    for i in range(len(boards)):
        legal[i] = is_legal_board(boards[i], side)


def legal_boards(boards: NDArray[Any], side: int) -> NDArray[np.bool_]:
    """bool (n,): `is_legal_board` of many boards, (n, 90), with the same side to move."""
    legal = np.empty(len(boards), np.bool_)
    _mark_legal(np.ascontiguousarray(boards, np.int8), side, legal)
    return legal
