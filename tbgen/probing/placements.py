# mypy: allow-untyped-defs, allow-untyped-calls
"""Compiled functions for squares and legality of many slots, and for legality of a board.

    slots (n,)  ->  squares (n, pieces), in the order of `Layout.piece_codes`
                    legal (n,): bit 0 set if legal with Red to move, bit 1 with Black

Neither bit is set for holes of the index (slots without a canonical placement).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import borrowing_kernel, kernel
from tbgen.indexing.layout import Layout
from tbgen.indexing.slots import (
    INNER_AREA,
    INNER_SIZE,
    RED_ADVISORS,
    RED_ELEPHANTS,
    TWIN,
    lead_of_squares,
    slot_of_squares,
    squares_of_slot,
)
from tbgen.indexing.squares import EMPTY, SQUARES
from tbgen.rules.attacks import in_check, is_attacked, kings_face


@borrowing_kernel
def unpack_slots(slots, descriptor, codes, board, places, squares, legal):
    """Write the squares of the pieces at each slot, and the sides for which the position is legal.

    slots : int64 (n,), fastest if ascending: consecutive slots then mostly differ in one square
    descriptor : int64 (words,), `Layout.descriptor`
    codes : uint8 (pieces,), `Layout.piece_codes`
    board : int8 (90,), scratch: empty before the call, not afterwards
    places : int64 (pieces,), scratch: any squares before the call
    squares : uint8 (n, pieces), out; arbitrary for holes
    legal : uint8 (n,), out: bit 0 set if legal with Red to move, bit 1 with Black; 0 for holes
    """
    inner_size = descriptor[INNER_SIZE]
    fixed = len(codes)
    if inner_size > 1:
        fixed -= 1
    black_king = 1 + descriptor[RED_ADVISORS] + descriptor[RED_ELEPHANTS]
    row = np.int64(-1)
    distinct = False
    check = False
    for i in range(len(slots)):
        slot = slots[i]
        if slot // inner_size != row:
            row = slot // inner_size
            for p in range(fixed):
                board[places[p]] = EMPTY
            squares_of_slot(slot, descriptor, places)
            distinct = True
            for p in range(fixed):
                if board[places[p]] != EMPTY:
                    distinct = False
                board[places[p]] = codes[p]
            symmetric = lead_of_squares(places, descriptor)[2]
            check = symmetric or descriptor[TWIN] >= 0
        elif inner_size > 1:
            places[fixed] = descriptor[descriptor[INNER_AREA] + slot % inner_size]
        for p in range(len(codes)):
            squares[i, p] = places[p]
        legal[i] = 0
        if not distinct or (inner_size > 1 and board[places[fixed]] != EMPTY):
            continue
        if check and slot_of_squares(places, descriptor) != slot:
            continue
        if inner_size > 1:
            board[places[fixed]] = codes[fixed]
        if not kings_face(board):
            if not is_attacked(board, places[black_king], 0):
                legal[i] = 1
            if not is_attacked(board, places[0], 1):
                legal[i] += 2
        if inner_size > 1:
            board[places[fixed]] = EMPTY


def squares_and_legality(
    layout: Layout, slots: NDArray[np.int64]
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return squares, uint8 (n, pieces), and legality bits, uint8 (n,), of slots.

    Bit 0 is set if the position is legal with Red to move, bit 1 with Black. Squares of holes are
    arbitrary.
    """
    slots = np.ascontiguousarray(slots, np.int64)
    codes = np.array(layout.piece_codes, np.uint8)
    squares = np.empty((len(slots), len(codes)), np.uint8)
    legal = np.empty(len(slots), np.uint8)
    board, places = np.zeros(SQUARES, np.int8), np.zeros(len(codes), np.int64)
    unpack_slots(slots, layout.descriptor, codes, board, places, squares, legal)
    return squares, legal


@kernel
def is_legal_board(board: Any, side: Any) -> bool:
    """Return whether a board is legal with `side` to move (docs/values.md).

    Areas and numbers of pieces are not checked.

    board : int (90,), of any type, with both kings on it
    """
    return not in_check(board.astype(np.int8), 1 - side)
