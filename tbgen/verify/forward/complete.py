# mypy: allow-untyped-defs, allow-untyped-calls
"""Completed planes: every slot that a move leads to holds the rank of what it leads to.

    legal position in its canonical slot    its stored value, by kind
    mirror image, exchanged twin            the same as the canonical slot          (`k_repeat`)
    two pieces of different sides overlap   the position after the capture of the one that is to
                                            move now, from the supporting table
    anything else                           0

So that a row of children is just a row: moves need neither be made canonical, nor be told from
captures, and illegal ones count for nothing. Which positions are legal is computed here from the
rules, and nothing is believed of slots that the table should leave empty.
"""

from __future__ import annotations

import numpy as np

from tbgen.compiling.jit import borrowing_kernel, part
from tbgen.indexing.slots import lead_of_squares, slot_of_squares
from tbgen.indexing.squares import EMPTY, flip_square, piece_side
from tbgen.rules.attacks import is_attacked, pieces_between
from tbgen.verify.arrays import END_WORD, FIRST_WORD, NO_TABLE, SOURCES, SWAPPED, TABLE
from tbgen.verify.forward.index import (
    COLUMNS,
    INNER_SIDE,
    MIDS,
    MIRROR_MID,
    NUMBER_OF_ROW,
    ONE,
    OTHER,
    OVERLAPS,
    TWIN,
    is_canonical,
    largest_inside,
    mark_canonical,
    set_row,
)
from tbgen.verify.forward.lines import LANES, OFF
from tbgen.verify.forward.marks import ask, mark_asked, mark_checks, mark_kinds, mark_taken
from tbgen.verify.planes import rank_after_capture
from tbgen.verify.ranks import NO_POSITION

COUNT_LINES = 4
"""So many counters for each value."""


@part
def _list_after(taken, to_move, row, arrays):
    """List in `row.other` what `row.squares` are without a piece, as the table has it that the
    capture leads to: (the side to move there, the layout of the table).

    taken : int, which of the pieces; to_move : int, the side
    """
    capture = arrays.captures[taken]
    squares, other = row.squares, row.other
    swapped = capture[SWAPPED]
    for q in range(squares.size - 1):
        other[q] = squares[capture[SOURCES + q]]
        if swapped:
            other[q] = flip_square(other[q])
    there = to_move
    if swapped:
        there = 1 - to_move
    line = arrays.tables[capture[TABLE]]
    return there, arrays.descriptors[line[FIRST_WORD] : line[END_WORD]]


@part
def _rank_after(taken, to_move, row, arrays):
    """The rank of the position on `row.squares` without a piece, which has just been taken.

    taken : int, which of the pieces; to_move : int, the side
    """
    table = arrays.captures[taken, TABLE]
    if table == NO_TABLE:
        return np.int64(arrays.values.drawn[to_move])
    there, descriptor = _list_after(taken, to_move, row, arrays)
    slot = slot_of_squares(row.other, descriptor)
    return rank_after_capture(table, there, to_move, slot, arrays)


@part
def _is_exposed(side, row, arrays):
    """Whether a side is in check on `row.board`."""
    squares, men = row.squares, arrays.men
    king, other_king = squares[men.kings[side]], squares[men.kings[1 - side]]
    return (
        is_attacked(row.board, king, 1 - side) or pieces_between(row.board, king, other_king) == 0
    )


@part
def _take_inner(at, row, index, arrays):
    """Fill the columns in which an outer piece has taken the inner one, which was to move.

    at : int, the row in the plane of the inner piece's side
    """
    side = index.size[INNER_SIDE]
    inner = arrays.men.pieces.size - 1
    rank = np.int64(0)
    if not _is_exposed(1 - side, row, arrays):
        rank = _rank_after(inner, side, row, arrays)
    for p in range(inner):
        if piece_side(arrays.men.pieces[p]) != side:
            column = index.column[row.squares[p]]
            if column < index.size[COLUMNS]:
                arrays.ranks[at + column] = rank


@part
def _take_outer(at, row, index, arrays):
    """Fill the columns in which the inner piece has taken an outer one, whose side is to move.

    at : int, the row in the plane of the other side
    """
    side = index.size[INNER_SIDE]
    pieces, squares = arrays.men.pieces, row.squares
    inner = pieces.size - 1
    for p in range(inner):
        square = squares[p]
        column = index.column[square]
        if piece_side(pieces[p]) == side or column == index.size[COLUMNS]:
            continue
        if p == arrays.men.kings[1 - side]:
            continue
        row.board[square] = pieces[inner]
        squares[inner] = square
        squares[p] = OFF
        if not _is_exposed(side, row, arrays):
            arrays.ranks[at + column] = _rank_after(p, 1 - side, row, arrays)
        squares[p] = square
        squares[inner] = OFF
        row.board[square] = pieces[p]


@part
def _fill_legal(at, side, count, row, index, arrays):
    """Turn the codes of a row of one side into ranks, and count them; 0 where nothing is legal.

    at : int, the row in the plane of that side
    count : int64 (COUNT_LINES, places), inout, how often each place of the palette holds a
        position; columns take turns, or neighbours of one value would wait for each other
    """
    columns, lanes = index.size[COLUMNS], row.kinds.size // LANES * LANES
    ranks, own = arrays.ranks[at : at + columns], arrays.values.own[side]
    kinds, exposed = row.kinds[:lanes], row.checked[1 - side][:lanes]
    mark_kinds(side, row)
    for lane in range(lanes):
        if exposed[lane]:
            kinds[lane] = NO_POSITION
    mark_taken(NO_POSITION, row, index)
    for column in range(columns):
        kind, place = kinds[column], ranks[column]
        ranks[column] = own[kind, place]
        # As a number, for no processor foresees which slots hold nothing.
        count[column % COUNT_LINES, place] += row.canonical[column] & np.uint8(kind != NO_POSITION)


@part
def _fill_captures(at, side, row, index, arrays):
    """Fill a row in which outer pieces stand on each other, with a side to move.

    If there are two, of different sides, the side to move has lost its own; else there is nothing.

    at : int, the row in the plane of that side
    """
    pieces, squares, board, words = arrays.men.pieces, row.squares, row.board, row.words
    columns, taken, taker = index.size[COLUMNS], words[ONE], words[OTHER]
    if piece_side(pieces[taken]) != side:
        taken, taker = taker, taken
    for column in range(columns):
        arrays.ranks[at + column] = 0
    if (
        words[OVERLAPS] > 1
        or piece_side(pieces[taken]) == piece_side(pieces[taker])
        or taken == arrays.men.kings[side]
    ):
        return
    inner = pieces.size - 1
    square = squares[taken]
    board[square] = pieces[taker]
    squares[taken] = OFF
    mark_checks(1 - side, row, index, arrays)
    wanted = row.kinds
    for column in range(columns):
        wanted[column] = board[index.area[column]] == EMPTY and not row.checked[1 - side, column]
    _fill_after(at, taken, side, row, index, arrays)
    squares[inner] = OFF
    squares[taken] = square


@part
def _fill_after(at, taken, side, row, index, arrays):
    """Fill the columns for which `row.kinds` is 1 with the ranks after a capture.

    at : int, the row in the plane of `side`, which is to move; taken : int, its piece
    """
    columns, inner, ranks = index.size[COLUMNS], arrays.men.pieces.size - 1, arrays.ranks
    weights, wanted = arrays.moved_along[taken], row.kinds
    table = arrays.captures[taken, TABLE]
    if table != NO_TABLE and weights[0, 0] >= 0:
        row.squares[inner] = index.area[0]
        there, descriptor = _list_after(taken, side, row, arrays)
        _, mirrored, symmetric = lead_of_squares(row.other, descriptor)
        if not symmetric:
            line = weights[np.int64(mirrored)]
            rest = slot_of_squares(row.other, descriptor) - line[0]
            for column in range(columns):
                if wanted[column]:
                    slot = rest + line[column]
                    ranks[at + column] = rank_after_capture(table, there, side, slot, arrays)
            return
    for column in range(columns):
        if wanted[column]:
            row.squares[inner] = index.area[column]
            ranks[at + column] = _rank_after(taken, side, row, arrays)


@borrowing_kernel
def k_complete(row_0, row_1, counts, row, index, arrays):
    """Turn the codes of some rows into ranks, except for mirror images and exchanged twins.

    counts : int64 (2, COUNT_LINES, places), inout: of both sides, how often each place of the
        palette holds a legal position in its canonical slot; the sum of the lines
    """
    columns, inner_side = index.size[COLUMNS], index.size[INNER_SIDE]
    for number in range(row_0, row_1):
        set_row(number, row, index, arrays)
        if row.words[OVERLAPS]:
            for side in range(2):
                _fill_captures(arrays.tables[0, side] + number * columns, side, row, index, arrays)
            continue
        red, black = arrays.tables[0, 0] + number * columns, arrays.tables[0, 1] + number * columns
        asks = arrays.values.asks
        asked = ask(red, asks[0], columns, arrays), ask(black, asks[1], columns, arrays)
        mark_asked(asked[0], asked[1], row, index, arrays)
        mark_canonical(row, index, arrays)
        for side in range(2):
            mark_checks(side, row, index, arrays)
        for side in range(2):
            at = arrays.tables[0, side] + number * columns
            _fill_legal(at, side, counts[side], row, index, arrays)
            if side == inner_side:
                _take_inner(at, row, index, arrays)
            else:
                _take_outer(at, row, index, arrays)


@borrowing_kernel
def k_repeat(row_0, row_1, row, index, arrays):
    """Copy into mirror images and exchanged twins what their canonical slots hold.

    Those are only read, and all rows are complete, so that threads do not disturb each other.
    """
    columns, mids = index.size[COLUMNS], index.size[MIDS]
    for number in range(row_0, row_1):
        symmetric = arrays.self_mirrored[number // mids]
        if not symmetric and index.size[TWIN] == OFF:
            continue
        set_row(number, row, index, arrays)
        if row.words[OVERLAPS]:
            continue
        first = number - number % mids
        for column in range(columns):
            if row.board[index.area[column]] != EMPTY or is_canonical(column, row, index, arrays):
                continue
            mid, place = largest_inside(row.words[NUMBER_OF_ROW] % mids, column, index)
            if symmetric:
                image, image_place = largest_inside(
                    row.words[MIRROR_MID], index.mirror_column[column], index
                )
                if image < mid or (image == mid and image_place < place):
                    mid, place = image, image_place
            for side in range(2):
                plane = arrays.tables[0, side]
                arrays.ranks[plane + number * columns + column] = arrays.ranks[
                    plane + (first + mid) * columns + place
                ]
