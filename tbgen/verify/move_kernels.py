"""What one position leads to: its legal moves, and what the tables say of each child.

    set_up   a slot's pieces on the board            -> squares, board, piece_on
    list_legal   the legal moves of one side         -> movers, targets
    look_up  the child of one move                   -> its key, and its slot if it is in this table

A position under examination is held three times: `squares` int64 (pieces,), the square of each
piece in the order of `Layout.piece_codes`; `board` int8 (90,), piece codes; `piece_on` int64
(90,), which piece stands on an occupied square. The functions leave all three as they were.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbgen.indexing.slots import slot_of_squares, squares_of_slot
from tbgen.indexing.squares import EMPTY, SQUARES, flip_square, mirror_square, piece_side
from tbgen.jit import borrowing_kernel
from tbgen.rules.attacks import is_attacked, pieces_between
from tbgen.rules.board import MAX_MOVES
from tbgen.rules.moves import piece_moves
from tbgen.verify.keys import key_of_code
from tbgen.verify.material_arrays import (
    DRAW,
    END_WORD,
    FIRST_WORD,
    NO_TABLE,
    SOURCES,
    SPAN,
    SWAPPED,
    TABLE,
    TOP,
    WIDTH,
)

Scratch = tuple[NDArray[np.int64], NDArray[np.int8], NDArray[np.int64], NDArray[np.int64]]
"""squares, board, piece_on, and `work` int64 (3, MAX_MOVES): lists of moves."""


def make_scratch(pieces: int) -> Scratch:
    """What a kernel needs to look at positions one after the other, an empty board."""
    return (
        np.zeros(pieces, np.int64),
        np.zeros(SQUARES, np.int8),
        np.zeros(SQUARES, np.int64),
        np.zeros((3, MAX_MOVES), np.int64),
    )


@borrowing_kernel
def k_set_up(slot, descriptor, pieces, squares, board, piece_on):
    """Put the pieces of a slot on the board; False, and an empty board, where they overlap.

    Parameters
    ----------
    descriptor : int64, the layout; pieces : int64 (pieces,), piece codes
    squares, board, piece_on : the position, out; the board is empty before
    """
    squares_of_slot(slot, descriptor, squares)
    for p in range(pieces.size):
        if board[squares[p]] != EMPTY:
            for q in range(p):
                board[squares[q]] = EMPTY
            return False
        board[squares[p]] = pieces[p]
        piece_on[squares[p]] = p
    return True


@borrowing_kernel
def k_clear(squares, board):
    """Take the pieces off the board."""
    for p in range(squares.size):
        board[squares[p]] = EMPTY


@borrowing_kernel
def k_is_checked(board, king, other_king, side):
    """Whether the king of `side` is attacked, or faces the other one."""
    return is_attacked(board, king, 1 - side) or pieces_between(board, king, other_king) == 0


@borrowing_kernel
def _k_on_line(square, king):
    """Whether two squares share a rank or a file."""
    return square // 9 == king // 9 or square % 9 == king % 9


@borrowing_kernel
def _k_beside_corner(square, king):
    """Whether a square touches the king's diagonally: where the leg of an attacking knight is."""
    return abs(square // 9 - king // 9) == 1 and abs(square % 9 - king % 9) == 1


@borrowing_kernel
def k_list_legal(side, checked, kings, pieces, squares, board, movers, targets):
    """Write the legal moves of a side; returns how many.

    A king that was not attacked is not tested where it cannot be: another piece's move uncovers
    it only from its lines or from the leg of a knight, and covers it with a mount for a cannon
    only by a target on its lines.

    Parameters
    ----------
    checked : whether the side is in check; kings : (Red's king, Black's king) among the pieces
    pieces : int64 (pieces,); squares, board : the position
    movers, targets : int64 (MAX_MOVES,), out: which piece goes where
    """
    count = 0
    king, other_king = squares[kings[side]], squares[kings[1 - side]]
    for p in range(pieces.size):
        if piece_side(pieces[p]) != side:
            continue
        source = squares[p]
        found = piece_moves(board, source, targets, count)
        is_king = p == kings[side]
        always = checked or is_king or _k_on_line(source, king) or _k_beside_corner(source, king)
        for i in range(count, found):
            target = targets[i]
            if always or _k_on_line(target, king):
                taken = board[target]
                board[source] = EMPTY
                board[target] = pieces[p]
                exposed = k_is_checked(board, target if is_king else king, other_king, side)
                board[source] = pieces[p]
                board[target] = taken
                if exposed:
                    continue
            movers[count] = p
            targets[count] = target
            count += 1
    return count


@borrowing_kernel
def k_gives_check(side, mover, target, kings, pieces, squares, board):
    """Whether a legal move of `side` attacks the other king."""
    source, taken = squares[mover], board[target]
    king, own_king = squares[kings[1 - side]], squares[kings[side]]
    if mover == kings[side]:
        own_king = target
    board[source] = EMPTY
    board[target] = pieces[mover]
    check = k_is_checked(board, king, own_king, 1 - side)
    board[source] = pieces[mover]
    board[target] = taken
    return check


@borrowing_kernel
def k_load_key(codes, line, side, slot):
    """The key that a table stores for a slot; line int64 (TABLE_COLUMNS,)."""
    at = line[side] + slot * line[WIDTH]
    code = np.int64(codes[at])
    for i in range(1, line[WIDTH]):
        code |= np.int64(codes[at + i]) << (8 * i)
    return key_of_code(code, line[TOP], line[DRAW], line[SPAN])


@borrowing_kernel
def k_slot_after(slot, image, mover, target, descriptor, weights, squares):
    """The slot after a quiet move.

    A piece whose square simply adds to the slot shifts it; everything else is indexed anew.

    Parameters
    ----------
    slot : the canonical slot of the position
    image : the slot of its mirror image where the lead is its own image, else -1
    weights : int64 (pieces, 90); squares : int64 (pieces,)
    """
    source = squares[mover]
    if weights[mover, source] >= 0:
        shifted = slot + weights[mover, target] - weights[mover, source]
        if image < 0:
            return shifted
        mirrored = weights[mover, mirror_square(target)] - weights[mover, mirror_square(source)]
        return min(shifted, image + mirrored)
    squares[mover] = target
    after = slot_of_squares(squares, descriptor)
    squares[mover] = source
    return after


@borrowing_kernel
def k_key_after_capture(side, mover, taken, codes, tables, descriptors, capture, squares, other):
    """The key, for the opponent, of the position after a capture.

    Parameters
    ----------
    mover, taken : the two pieces; capture : int64, the line of `captures` of the taken piece
    squares : int64 (pieces,), before the capture; other : int64 (pieces,), overwritten
    """
    table = capture[TABLE]
    if table == NO_TABLE:
        return 0
    target = squares[taken]
    source = squares[mover]
    squares[mover] = target
    for q in range(squares.size - 1):
        square = squares[capture[SOURCES + q]]
        other[q] = flip_square(square) if capture[SWAPPED] else square
    squares[mover] = source
    line = tables[table]
    slot = slot_of_squares(other, descriptors[line[FIRST_WORD] : line[END_WORD]])
    to_move = side if capture[SWAPPED] else 1 - side
    return k_load_key(codes, line, to_move, slot)
