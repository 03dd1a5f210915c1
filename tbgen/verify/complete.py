# mypy: allow-untyped-defs, allow-untyped-calls
"""Completion of the planes: the rank of a value in every slot that a move may lead to.

A *plane* has a rank for each slot, with one side to move. A *rank* is the number of a value, the
larger the better for the side that has moved there; 0 means that there is no position (`values`).

    stored rank  --rules----->  rank in the slot of each legal position; these are counted
                 --index----->  the same rank in the slots of mirror images and of positions
                                with exchanged identical pieces
                 --captures-->  rank after the capture, where two pieces share a square

A loaded plane has meaningful ranks only in canonical slots of legal positions. In a complete plane,
the value after any move is in the slot that the move leads to. For a capture, this is a slot in
which only two pieces, of different sides, share a square. The package's docstring describes the
parameters of kernels.
"""

from __future__ import annotations

import numpy as np

from tbgen.compiling.jit import borrowing_kernel, part
from tbgen.indexing.slots import attacker_slot, slot_of_squares
from tbgen.indexing.squares import EMPTY, PieceType, flip_square, piece_kind, piece_side
from tbgen.rules.attacks import attacks, pieces_between
from tbgen.rules.chases import may_be_victim
from tbgen.rules.moves import is_safe_after
from tbgen.verify.acceleration import mark_row
from tbgen.verify.arrays import (
    END_WORD,
    FIRST_WORD,
    NO_PLANE,
    PLANE,
    SOURCES,
    SWAPPED,
    WINS_BY_RULES,
)  # fmt: skip
from tbgen.verify.index import FACING, NOWHERE, RED_CHECKED, RED_HANGS, open_row
from tbgen.verify.moves import has_bit, has_unique_slots, set_bit
from tbgen.verify.values import CHECKED, DECIDED_BY_RULES, FREE, HANGING, NEVER, order_of_key

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
def hangs(side, chase_rules, state, index):
    """Return whether a piece of a side can be chased, and a piece that can chase attacks it.

    chase_rules : int, bits of the rule set
    """
    board, squares = state.board, state.piece_squares
    for v in range(squares.size):
        square, n = squares[v], 0
        if piece_side(board[square]) != side or not may_be_victim(
            board[square], square, chase_rules
        ):
            continue
        while index.able_to_chase[v, n] != NOWHERE:
            if attacks(board, squares[index.able_to_chase[v, n]], square):
                return True
            n += 1
    return False


@part
def after_capture(side, taken, state, arrays):
    """Return the rank or mark of the position after a capture.

    side : int, the side to move, which has lost a piece
    taken : int, the captured piece, which has the same square in `state.piece_squares` as the piece
        that has captured it
    """
    capture = arrays.captures[taken]
    if capture[PLANE] == NO_PLANE:
        return np.int64(arrays.captured[side])
    other = state.other_squares
    for q in range(state.piece_squares.size - 1):
        square = state.piece_squares[capture[SOURCES + q]]
        other[q] = flip_square(square) if capture[SWAPPED] else square
    words = arrays.descriptors[capture[FIRST_WORD] : capture[END_WORD]]
    slot = slot_of_squares(other[: state.piece_squares.size - 1], words)
    return np.int64(arrays.captured[capture[PLANE] + slot])


@part
def wins_by_capture(side, order, state, arrays):
    """Return whether a capture by the side to move wins by the repetition rules, up to `order`.

    The position must be open (a draw, or decided by the repetition rules), and the side not in
    check. An open position has no capture that wins by order 0: its value would then be a win of
    order 0. So only captures into planes with wins of order 1 and above are tried.

    order : int, the highest order that counts
    """
    pieces, squares, board = arrays.pieces, state.piece_squares, state.board
    for taken in range(squares.size):
        if arrays.captures[taken, WINS_BY_RULES] != 1 or piece_side(pieces[taken]) == side:
            continue
        target = squares[taken]
        for mover in range(squares.size):
            source = squares[mover]
            if piece_side(pieces[mover]) != side or not attacks(board, source, target):
                continue
            squares[mover] = target
            rank = after_capture(1 - side, taken, state, arrays)
            squares[mover] = source
            key = arrays.values.keys[1 - side, rank]
            if key < 0 and order_of_key(key) <= order and is_safe_after(
                board, side, source, target
            ):  # fmt: skip
                return True
    return False


@part
def _write_captures(x, y, slot, state, arrays, index):
    """Write the ranks after captures into a slot in which two pieces share a square.

    The two pieces are of different sides. Either may have captured the other, so there is a rank
    for each side to move. A rank is left unchanged if its capture is illegal or takes a king.

    x, y : int, the two pieces, as indices of `Layout.piece_codes`
    """
    pieces, board = arrays.pieces, state.board
    square = state.piece_squares[x]
    stood = board[square]
    first = state.piece_squares.size - index.attackers.size
    for way in range(2):
        mover, taken = (x, y) if way == 0 else (y, x)
        side = piece_side(pieces[taken])
        if piece_kind(pieces[taken]) == _KING:
            continue
        board[square] = pieces[mover]
        # The side that has moved is not in check.
        if pieces_between(board, state.kings[0], state.kings[1]) != 0 and not is_king_attacked(
            1 - side, taken - first, state, index
        ):
            number = after_capture(side, taken, state, arrays)
            arrays.ranks[side * index.slots + slot] = number
    board[square] = stood


@part
def find_canonical(lead, within, image, state, index):
    """Return the canonical slot of the position in `state.piece_squares`.

    lead : int, the lead of one of its slots
    within, image : int, this slot and that of the mirror image, as returned by `moves.set_up`
    """
    base, symmetric = lead * index.lead_slots, index.self_mirrored[lead]
    if index.twin == NOWHERE:
        return base + (min(within, image) if symmetric else within)
    first = state.piece_squares.size - index.attackers.size
    best = attacker_slot(state.piece_squares, first, False, index.descriptor)
    if symmetric:
        best = min(best, attacker_slot(state.piece_squares, first, True, index.descriptor))
    return base + best


@part
def _mark_places(state, index, arrays):
    """Fill the masks of a row (`mark_row`), examining one place after the other.

    Places on which another piece stands are left unchanged.
    """
    board, masks, last = state.board, state.masks, index.attackers.size - 1
    for place in range(index.row_slots):
        square = index.square_of_place[place]
        if board[square] != EMPTY:
            continue
        board[square] = index.attackers[last]
        state.attacker_squares[last] = square
        masks[FACING, place] = pieces_between(board, state.kings[0], state.kings[1]) == 0
        for side in range(2):
            masks[RED_CHECKED + side, place] = is_king_attacked(side, NOWHERE, state, index)
            masks[RED_HANGS + side, place] = arrays.judges_chases and hangs(
                side, arrays.chase_rules, state, index
            )
        board[square] = EMPTY


@part
def _fill_row(side, slot, counts, state, arrays, index):
    """Correct the ranks of a row with a side to move by the rules, and count its positions.

    Illegal positions get 0. Draws get the rank of their kind: CHECKED, HANGING or FREE; only FREE
    if the rules judge no checks. Slots that are not canonical get 0; `k_complete` fills them. Adds
    to `arrays.hanging` the wins of the row that belong there. `state.masks` and `state.canonical`
    must hold the masks and the canonical slots of the row.

    slot : int, the first one of the row
    counts : int64 (2, ranks), inout, the number of positions of each rank from 1 on, draws as FREE
    """
    masks, canonical, last = state.masks, state.canonical, state.piece_squares.size - 1
    hit, hit_other, facing = masks[RED_CHECKED + side], masks[RED_CHECKED + 1 - side], masks[FACING]
    hanging, keys, draw = masks[RED_HANGS + side], arrays.values.keys[side], arrays.captured[side]
    line = counts[side]
    first = side * index.slots + slot
    row = arrays.ranks[first : first + index.row_slots]
    for place in range(row.size):
        is_kept = (canonical[place] == slot + place) & (hit_other[place] | facing[place] == 0)
        row[place] = row[place] if is_kept else 0
    for place in range(row.size):
        rank = row[place]
        line[rank] += 1
        key = keys[rank]
        if 0 < key <= DECIDED_BY_RULES and not hit[place]:
            square = index.square_of_place[place]
            state.piece_squares[last], state.board[square] = square, arrays.pieces[last]
            if hanging[place] or wins_by_capture(side, NEVER, state, arrays):
                set_bit(arrays.hanging[side], slot + place)
            state.board[square] = EMPTY
    if arrays.judges_checks:
        for place in range(row.size):
            kind = CHECKED if hit[place] else FREE - (FREE - HANGING) * hanging[place]
            row[place] = row[place] - (FREE - kind) if row[place] == draw else row[place]


@part
def _find_canonical_row(lead, at, image, state, index):
    """Fill `state.canonical` with the canonical slot of each position of a row.

    It is NOWHERE for places on which another piece stands.

    lead : int
    at, image : int, the first slot of the row, and that of its mirror image, relative to the lead
    """
    canonical, last = state.canonical, state.piece_squares.size - 1
    for place in range(index.row_slots):
        canonical[place] = lead * index.lead_slots + at + place
    if not has_unique_slots(lead, index):
        for place in range(index.row_slots):
            square = index.square_of_place[place]
            if state.board[square] == EMPTY:
                state.piece_squares[last] = square
                canonical[place] = find_canonical(
                    lead, at + place, image + index.mirrored_place[place], state, index
                )
    for p in range(last):
        place = index.place_of_square[state.piece_squares[p]]
        if place != NOWHERE:
            canonical[place] = NOWHERE


@part
def _fill_shared(slot, square, overlaps, x, y, state, arrays, index):
    """Fill a slot in which pieces share a square, for both sides to move.

    It gets the ranks after the legal captures if exactly two pieces, of different sides, share a
    square; else, and for other captures, it gets 0.

    square : int, of the innermost attacker; overlaps, x, y : int, as returned by `open_row`
    """
    planes, board = arrays.ranks, state.board
    last = state.piece_squares.size - 1
    state.piece_squares[last] = square
    planes[slot] = 0
    planes[index.slots + slot] = 0
    if overlaps == 1 and board[square] == EMPTY:
        board[square] = arrays.pieces[last]
        _write_captures(x, y, slot, state, arrays, index)
        board[square] = EMPTY
    elif overlaps == 0 and piece_side(board[square]) != piece_side(arrays.pieces[last]):
        p = 0
        while state.piece_squares[p] != square:
            p += 1
        _write_captures(last, p, slot, state, arrays, index)


@borrowing_kernel
def k_complete(lead_0, lead_1, plain, counts, state, index, arrays):
    """Fill all slots of a range of leads: each gets the rank after the moves that lead to it.

    Fills `arrays.hanging` and counts the positions, too.

    plain : bool, whether to examine positions one by one
    counts : int64 (2, ranks), inout, the number of positions of each rank from 1 on, draws as FREE
    """
    planes, slots = arrays.ranks, index.slots
    for lead in range(lead_0, lead_1):
        for row in range(index.lead_slots // index.row_slots):
            at, image, overlaps, x, y = open_row(lead, row, state, index)
            first = lead * index.lead_slots + at
            if overlaps:
                for place in range(index.row_slots):
                    square = index.square_of_place[place]
                    _fill_shared(first + place, square, overlaps, x, y, state, arrays, index)
                continue
            if plain:
                _mark_places(state, index, arrays)
            else:
                mark_row(state, index, arrays)
            _find_canonical_row(lead, at, image, state, index)
            for side in range(2):
                _fill_row(side, first, counts, state, arrays, index)
            for p in range(state.piece_squares.size - 1):
                square = state.piece_squares[p]
                place = index.place_of_square[square]
                if place != NOWHERE:
                    _fill_shared(first + place, square, overlaps, x, y, state, arrays, index)
            if has_unique_slots(lead, index):
                continue
            for place in range(index.row_slots):
                slot, canonical = first + place, state.canonical[place]
                if canonical != NOWHERE and canonical != slot:
                    for side in range(2):
                        planes[side * slots + slot] = planes[side * slots + canonical]
                        if has_bit(arrays.hanging[side], canonical):
                            set_bit(arrays.hanging[side], slot)
