# mypy: allow-untyped-defs, allow-untyped-calls
"""What one position leads to: its legal moves, and what the tables say of each child.

    set_up       a slot's pieces on the board        -> squares, board, piece_on
    list_legal   the legal moves of one side         -> movers, targets
    slot_after   the child of a quiet move           -> its slot; `load_key` has what is stored
    key_after_capture, worth_of_capture              -> what the tables say of a capture
    stored_keys  nodes                               -> their keys in this table

A position under examination lies on a *desk*. Except for `set_up` and `clear`, the functions
leave it as it was.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import borrowing_kernel, part
from tbgen.compiling.lending import lent
from tbgen.indexing.slots import attacker_slot, slot_of_squares, squares_of_slot
from tbgen.indexing.squares import EMPTY, SQUARES, flip_square, mirror_square, piece_side
from tbgen.rules.attacks import is_attacked, pieces_between
from tbgen.rules.board import MAX_MOVES
from tbgen.rules.moves import piece_moves
from tbgen.verify.arrays import (
    END_WORD,
    FIRST_WORD,
    NO_TABLE,
    SOURCES,
    SWAPPED,
    TABLE,
    Arrays,
    Numbers,
)
from tbgen.verify.keys import key_after_move
from tbgen.verify.planes import rank_after_capture


@lent
class MoveList(NamedTuple):
    """Moves of one side; whoever fills it says how many there are."""

    movers: NDArray[np.int64]
    """int64 (MAX_MOVES,): which of the pieces goes."""
    targets: NDArray[np.int64]
    """int64 (MAX_MOVES,): the square that it goes to."""

    @classmethod
    def make(cls) -> MoveList:
        """Room for the moves of any position."""
        return cls(np.zeros(MAX_MOVES, np.int64), np.zeros(MAX_MOVES, np.int64))


@lent
class Desk(NamedTuple):
    """What one thread needs to look at positions one after the other."""

    squares: NDArray[np.int64]
    """int64 (pieces,): the square of each piece, in the order of `Layout.piece_codes`."""
    board: NDArray[np.int8]
    """int8 (90,): piece codes; empty between two positions."""
    piece_on: NDArray[np.int64]
    """int64 (90,): which piece stands on an occupied square; anything on the others."""
    moves: MoveList
    other: NDArray[np.int64]
    """int64 (pieces,): the squares of another position, overwritten by most functions."""

    @classmethod
    def make(cls, pieces: int) -> Desk:
        """An empty desk for positions of so many pieces."""
        return cls(
            np.zeros(pieces, np.int64),
            np.zeros(SQUARES, np.int8),
            np.zeros(SQUARES, np.int64),
            MoveList.make(),
            np.zeros(pieces, np.int64),
        )


@part
def set_up(slot, desk, arrays):
    """Put the pieces of a slot on an empty desk; False, and still empty, where they overlap."""
    squares, board = desk.squares, desk.board
    squares_of_slot(slot, arrays.descriptor, squares)
    for p in range(squares.size):
        if board[squares[p]] != EMPTY:
            for q in range(p):
                board[squares[q]] = EMPTY
            return False
        board[squares[p]] = arrays.men.pieces[p]
        desk.piece_on[squares[p]] = p
    return True


@part
def clear(desk):
    """Take the pieces off the board: cheaper than to empty ninety squares."""
    for p in range(desk.squares.size):
        desk.board[desk.squares[p]] = EMPTY


@part
def is_checked(board, king, other_king, side):
    """Whether the king of a side is attacked, or faces the other one.

    king, other_king : int, their squares
    """
    return is_attacked(board, king, 1 - side) or pieces_between(board, king, other_king) == 0


@part
def _is_on_line(square, king):
    """Whether two squares share a rank or a file.

    king : int, the square of a king
    """
    return square // 9 == king // 9 or square % 9 == king % 9


@part
def _is_beside_corner(square, king):
    """Whether a square touches the king's diagonally: where the leg of an attacking knight is.

    king : int, the square of a king
    """
    return abs(square // 9 - king // 9) == 1 and abs(square % 9 - king % 9) == 1


@part
def list_legal(side, checked, board, moves, squares, men):
    """Write the legal moves of a side; returns how many.

    checked : bool, whether the side is in check; moves : MoveList, out
    """
    count = 0
    for p in range(men.pieces.size):
        if piece_side(men.pieces[p]) == side:
            count = list_legal_of(p, checked, board, moves, count, squares, men)
    return count


@part
def list_legal_of(p, checked, board, moves, count, squares, men):
    """Add the legal moves of one piece to a list; returns how many it has now.

    A king that was not attacked is not tested where it cannot be: another piece's move uncovers
    it only from its lines or from the leg of a knight, and covers it with a mount for a cannon
    only by a target on its lines.

    p : int, the piece; checked : bool, whether its side is in check
    moves : MoveList, inout; count : int, how many moves it has already
    """
    movers, targets = moves.movers, moves.targets
    code, source = men.pieces[p], squares[p]
    side = piece_side(code)
    king, other_king = squares[men.kings[side]], squares[men.kings[1 - side]]
    found = piece_moves(board, source, targets, count)
    is_king = p == men.kings[side]
    always = checked or is_king or _is_on_line(source, king) or _is_beside_corner(source, king)
    for i in range(count, found):
        target = targets[i]
        if always or _is_on_line(target, king):
            taken = board[target]
            board[source] = EMPTY
            board[target] = code
            exposed = is_checked(board, target if is_king else king, other_king, side)
            board[source] = code
            board[target] = taken
            if exposed:
                continue
        movers[count] = p
        targets[count] = target
        count += 1
    return count


@part
def gives_check(side, mover, target, board, squares, men):
    """Whether a legal move of a side attacks the other king."""
    source, taken = squares[mover], board[target]
    own_king = squares[men.kings[side]]
    if mover == men.kings[side]:
        own_king = target
    board[source] = EMPTY
    board[target] = men.pieces[mover]
    check = is_checked(board, squares[men.kings[1 - side]], own_king, 1 - side)
    board[source] = men.pieces[mover]
    board[target] = taken
    return check


@part
def load_key(side, slot, arrays):
    """The key that this table stores for a slot."""
    return arrays.values.keys[side, arrays.ranks[arrays.tables[0, side] + slot]]


@part
def image_of(slot, squares, arrays):
    """The slot of a position's mirror image where its lead is its own image, else -1."""
    lead = slot // arrays.lead_slots
    if not arrays.self_mirrored[lead]:
        return np.int64(-1)
    within = attacker_slot(squares, arrays.first_attacker, True, arrays.descriptor)
    return lead * arrays.lead_slots + within


@part
def slot_after(slot, image, mover, target, squares, arrays):
    """The slot after a quiet move.

    A piece whose square simply adds to the slot shifts it; everything else is indexed anew.
    """
    weights = arrays.weights
    source = squares[mover]
    if weights[mover, source] >= 0:
        shifted = slot + weights[mover, target] - weights[mover, source]
        if image < 0:
            return shifted
        mirrored = weights[mover, mirror_square(target)] - weights[mover, mirror_square(source)]
        return min(shifted, image + mirrored)
    squares[mover] = target
    after = slot_of_squares(squares, arrays.descriptor)
    squares[mover] = source
    return after


@part
def key_after_capture(side, mover, taken, desk, arrays):
    """The key, for the opponent, of the position after a capture; `desk.other` is overwritten."""
    capture = arrays.captures[taken]
    table = capture[TABLE]
    if table == NO_TABLE:
        return 0
    squares, other = desk.squares, desk.other
    source = squares[mover]
    squares[mover] = squares[taken]
    for q in range(squares.size - 1):
        other[q] = squares[capture[SOURCES + q]]
    squares[mover] = source
    to_move = 1 - side
    if capture[SWAPPED]:
        to_move = side
        for q in range(squares.size - 1):
            other[q] = flip_square(other[q])
    line = arrays.tables[table]
    slot = slot_of_squares(other, arrays.descriptors[line[FIRST_WORD] : line[END_WORD]])
    rank = rank_after_capture(table, to_move, 1 - side, slot, arrays)
    return arrays.values.keys[1 - side, rank]


@part
def worth_of_capture(side, mover, taken, desk, arrays):
    """What a capture is worth to its mover: a key; `desk.other` is overwritten.

    Where distances count to conversion, `Arrays` has the keys that make this a move like others.
    """
    return key_after_move(key_after_capture(side, mover, taken, desk, arrays))


@borrowing_kernel
def _k_load_keys(nodes, keys, arrays):
    """Write the keys that this table stores for nodes.

    nodes : int64 (n,); keys : int64 (n,), out
    """
    for n in range(nodes.size):
        keys[n] = load_key(nodes[n] % 2, nodes[n] // 2, arrays)


def stored_keys(nodes: Numbers, arrays: Arrays) -> Numbers:
    """The keys that this table stores for nodes, int64 (n,)."""
    keys = np.zeros(len(nodes), np.int64)
    _k_load_keys(nodes, keys, arrays)
    return keys
