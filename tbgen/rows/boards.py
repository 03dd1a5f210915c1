# mypy: allow-untyped-defs, allow-untyped-calls
"""Conversion of slots to boards and back: between row kernels and rules for single positions.

(row, square)  ->  set_up  ->  board and squares  ->  moves  ->  slot_of  ->  (row, square)

A slot is a row and the square of the inner piece, the only piece whose square differs within a
row. The list `squares` has the square of each piece in the layout's order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import by_pointer, part
from tbgen.indexing.layout import Layout
from tbgen.indexing.slots import slot_of_squares
from tbgen.indexing.squares import SQUARES
from tbgen.rows.frame import Frame
from tbgen.rules.board import MAX_MOVES

PAIRS = 256
"""Length of buffers for pairs of an attacker and an enemy piece that it attacks, up to 16 * 16."""


@by_pointer
class SlotConverter(NamedTuple):
    """Arrays of one layout for converting slots (row and inner square) to boards, and back."""

    frame: Frame
    codes: NDArray[np.int64]
    """int64 (pieces,): piece codes in the layout's order."""
    descriptor: NDArray[np.int64]
    """int64 (words,): the layout (`tbgen.indexing.slots`)."""
    inner_squares: NDArray[np.int64]
    """int64 (inner size,): the squares of the inner piece, in the order of a row's slots."""


def make_converter(layout: Layout, frame: Frame) -> SlotConverter:
    """Return the converter of a layout, which must have an inner piece."""
    assert layout.inner is not None
    return SlotConverter(
        frame,
        np.array(layout.piece_codes, np.int64),
        layout.descriptor,
        np.array(layout.inner.area, np.int64),
    )


@part
def set_up(row, square, converter, squares, board):
    """Set up a slot: overwrite `squares` (in the layout's order) and `board` with its pieces."""
    frame = converter.frame
    lead, mid = row // frame.mids, row % frame.mids
    at = frame.lead_squares.shape[1]
    for i in range(at):
        squares[i] = frame.lead_squares[lead, i]
    for man in range(frame.men.shape[0]):
        squares[at] = frame.mid_squares[mid, man]
        at += 1
    if frame.inner_kind >= 0:
        squares[at] = square
    for s in range(SQUARES):
        board[s] = 0
    for i in range(converter.codes.size):
        board[squares[i]] = converter.codes[i]


@part
def slot_of(squares, converter):
    """Return row and inner square of the canonical slot of the placement `squares`.

    The slot may be that of the mirror image (`is_mirrored`).
    """
    slot = slot_of_squares(squares, converter.descriptor)
    size = converter.inner_squares.size
    return slot // size, converter.inner_squares[slot % size]


@part
def is_mirrored(row, square, squares, converter, scratch, scratch_board):
    """Return whether a slot has the mirror image of the placement `squares`, not `squares` itself.

    row, square : int64, a slot that `slot_of` has returned for `squares`
    scratch : int64 (pieces,), out; squares of the pieces in the slot's placement
    scratch_board : int8 (90,), out; its board
    """
    set_up(row, square, converter, scratch, scratch_board)
    differs = False
    for i in range(converter.codes.size):
        differs = differs or scratch_board[squares[i]] != converter.codes[i]
    return differs


@part
def move(squares, board, source, target):
    """Make a quiet move, in place, on a board and in the list of squares of the pieces."""
    board[target] = board[source]
    board[source] = 0
    for i in range(squares.size):
        if squares[i] == source:
            squares[i] = target


@by_pointer
class Boards(NamedTuple):
    """Boards and lists of squares that one thread uses while it tries moves in a position.

    squares : int64 (pieces,), squares of the pieces, in the layout's order
    board, after, replied : int8 (90,), a position, that after a move, and that after a reply
    other, scratch : int64 (pieces,) and int8 (90,), squares and board of the canonical slot of a
        position, written by `is_mirrored`
    sources, targets : int64 (MAX_MOVES,), start and end of each move on `board`
    answers, answer_targets : int64 (MAX_MOVES,), start and end of each move on `after`
    attackers, victims : int64 (PAIRS,), squares of attackers, and the piece that each attacks, as
        index of `squares`
    """

    squares: NDArray[np.int64]
    other: NDArray[np.int64]
    board: NDArray[np.int8]
    after: NDArray[np.int8]
    replied: NDArray[np.int8]
    scratch: NDArray[np.int8]
    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    answers: NDArray[np.int64]
    answer_targets: NDArray[np.int64]
    attackers: NDArray[np.int64]
    victims: NDArray[np.int64]


def make_boards(converter: SlotConverter) -> Boards:
    """Return the boards and lists of one thread."""
    return Boards(
        *np.zeros((2, len(converter.codes)), np.int64), *np.zeros((4, SQUARES), np.int8),
        *np.zeros((4, MAX_MOVES), np.int64), *np.zeros((2, PAIRS), np.int64),
    )  # fmt: skip


@part
def copy(board, target):
    """Copy a board to another one. target : int8 (90,), out."""
    for s in range(SQUARES):
        target[s] = board[s]
