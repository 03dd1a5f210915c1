# mypy: allow-untyped-defs, allow-untyped-calls
"""Captures: the rank of the value after each capture, in the slot that the capture leads to.

In the index, a capture leads to a *shared slot*: mover and captured piece are on one square. These
slots are filled in two steps:

    first     the rank of a draw if the capture is legal, else 0
    second    the rank in the supporting table, if the capture leads to one

The planes of supporting tables are loaded one at a time; `k_fill_captures` runs once without a
plane, then once for each. A material without a table is drawn. The package's docstring describes
the parameters of kernels.
"""

from __future__ import annotations

from tbgen.compiling.jit import borrowing_kernel, part
from tbgen.indexing.slots import slot_of_squares
from tbgen.indexing.squares import EMPTY, PieceType, flip_square, piece_kind, piece_side
from tbgen.rules.attacks import attacks, pieces_between
from tbgen.verify.index import NOWHERE, open_row
from tbgen.verify.values import order_of_key

_KING = int(PieceType.KING)


@part
def is_king_attacked(side, skipped, state, index):
    """Return whether an attacker of the opponent attacks the king of a side.

    skipped : int, number of an attacker whose attacks do not count; a negative number for none
    """
    king = state.kings[side]
    k = 0
    while index.attackers_of[1 - side, k] != NOWHERE:
        m = index.attackers_of[1 - side, k]
        if m != skipped and attacks(state.board, state.attacker_squares[m], king):
            return True
        k += 1
    return False


@part
def wins_by_capture(side, order, state, arrays, index):
    """Return whether a capture by the side to move wins by the repetition rules, up to `order`.

    The side must not be in check. The position must be open (a draw, or decided by the repetition
    rules), so that no capture wins by order 0. `Arrays.wins_by_rules` limits the captures examined.

    order : int, the highest order that counts
    """
    pieces, squares = index.pieces, state.piece_squares
    for taken in range(squares.size):
        if not arrays.wins_by_rules[taken] or piece_side(pieces[taken]) == side:
            continue
        target = squares[taken]
        for mover in range(squares.size):
            source = squares[mover]
            if piece_side(pieces[mover]) != side or not attacks(state.board, source, target):
                continue
            squares[mover] = target
            slot = slot_of_squares(squares, index.descriptor)
            squares[mover] = source
            rank = arrays.ranks[(1 - side) * index.slots + slot]
            if rank != 0:
                key = arrays.values.keys[1 - side, rank]
                if key < 0 and order_of_key(key) <= order:
                    return True
    return False


@part
def _clear(slot, index, arrays):
    """Write 0 into a slot, for both sides to move."""
    arrays.ranks[slot] = 0
    arrays.ranks[index.slots + slot] = 0


@part
def _draw_captures(x, y, slot, state, index, arrays):
    """Write the rank of a draw into a shared slot, for each of its two captures that is legal.

    Either piece may be the captured one, whose side is then to move. Captures of kings are illegal.

    x, y : int, the two pieces, of different sides, as indices of `Layout.piece_codes`
    """
    pieces, board = index.pieces, state.board
    square = state.piece_squares[x]
    stood = board[square]
    first = state.piece_squares.size - index.attackers.size
    for way in range(2):
        mover, taken = (x, y) if way == 0 else (y, x)
        side = piece_side(pieces[taken])
        board[square] = pieces[mover]
        # The side that has moved must not be in check.
        if (
            piece_kind(pieces[taken]) != _KING
            and pieces_between(board, state.kings[0], state.kings[1]) != 0
            and not is_king_attacked(1 - side, taken - first, state, index)
        ):
            arrays.ranks[side * index.slots + slot] = arrays.draws[side]
    board[square] = stood


@part
def _load_capture(x, y, slot, plane, state, index, arrays):
    """Replace the rank of a shared slot, with `plane.side` to move, by the supporting table's.

    The rank does not change if the capture is illegal or does not lead to the plane.

    x, y : int, the two pieces, of different sides, as indices of `Layout.piece_codes`
    plane : CapturePlane
    """
    taken = x if piece_side(index.pieces[x]) == plane.side else y
    number = plane.side * index.slots + slot
    if plane.survivors[taken, 0] == NOWHERE or arrays.ranks[number] == 0:
        return
    other = state.other_squares
    for q in range(plane.survivors.shape[1]):
        square = state.piece_squares[plane.survivors[taken, q]]
        other[q] = flip_square(square) if plane.swapped else square
    there = slot_of_squares(other[: plane.survivors.shape[1]], plane.descriptor)
    arrays.ranks[number] = plane.ranks[there]


@borrowing_kernel
def k_fill_captures(lead_0, lead_1, is_first, plane, state, index, arrays):
    """Fill the shared slots of a range of leads: with draws, or from a supporting table.

    is_first : bool; if True, legal captures get the rank of a draw, and all others 0; if False,
        legal captures that lead to `plane` get the rank in the supporting table
    plane : CapturePlane, not used if `is_first`
    """
    pieces, board, last = index.pieces, state.board, state.piece_squares.size - 1
    for lead in range(lead_0, lead_1):
        for row in range(index.lead_slots // index.row_slots):
            at, _, overlaps, x, y = open_row(lead, row, state, index)
            first = lead * index.lead_slots + at
            for place in range(index.row_slots if overlaps else 0):
                square = index.square_of_place[place]
                if is_first:
                    _clear(first + place, index, arrays)
                if overlaps == 1 and board[square] == EMPTY:
                    state.piece_squares[last], board[square] = square, pieces[last]
                    if is_first:
                        _draw_captures(x, y, first + place, state, index, arrays)
                    else:
                        _load_capture(x, y, first + place, plane, state, index, arrays)
                    board[square] = EMPTY
            for p in range(0 if overlaps else last):
                square = state.piece_squares[p]
                place = index.place_of_square[square]
                if place == NOWHERE:
                    continue
                if is_first:
                    _clear(first + place, index, arrays)
                if piece_side(pieces[p]) != piece_side(pieces[last]):
                    state.piece_squares[last] = square
                    if is_first:
                        _draw_captures(last, p, first + place, state, index, arrays)
                    else:
                        _load_capture(last, p, first + place, plane, state, index, arrays)
