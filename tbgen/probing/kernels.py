# mypy: allow-untyped-defs, allow-untyped-calls
"""The compiled probes: a position in, a status and a score out.

    pieces, squares  ->  counts  ->  table  ->  slot  ->  block  ->  code  ->  score
                         colours exchanged if need be             |
                                                                  cold: wanted[block] = 1

A *score* orders all values of all tables as the side to move prefers them, negamax fashion: the
score of a value for the opponent is its negative.

    win     WIN - (order << 16) - plies        draw  0        loss   the negative of that

Kernels that call these functions may run in any number of threads at once. They write two things
only: the flags of blocks that are wanted, and of frames that have been used; both only ever go
from 0 to 1, so it does not matter who writes them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tbgen.compiling.jit import borrowing_kernel, kernel, part
from tbgen.indexing.arrangement import block_of_slot
from tbgen.indexing.slots import SLOT_TABLE, slot_of_squares
from tbgen.indexing.squares import SQUARES, PieceType, Side, flip_square, piece_code

OK, COLD, MISSING, INVALID = 0, 1, 2, 3
"""Statuses: the score holds; the block is not loaded (and now wanted); there is no table; the
pieces cannot stand like that."""

NOT_FOUND, ALL_DRAWN = -1, -2
"""What `find_number` returns beside numbers: no file of the material; it needs none, all is drawn.
A number is twice that of the file, and one more where the colours are to be exchanged."""

WIN = 1 << 48
"""The score that a win in 0 plies would have."""

ORDER_SHIFT = 16
MAX_SPAN = 1 << 15
"""Tables of a longer span are refused: their plies would run into the order."""

MAX_COUNT = 5
PIECE_CODES = 16
MAX_PIECES = 32

_ATTACKER_BITS = np.int64(
    sum(7 << 4 * piece_code(side, kind) for side in Side for kind in PieceType if kind.is_attacker)
)

# The words of a table's row in `Buffers.tables`.
DESCRIPTOR, RED_BLOCK_MAP, BLACK_BLOCK_MAP, BLOCK_MAPS_END = range(4)
WIDTH, SPAN, PIECES, INNER_CODE = range(4, 8)
RED_BLOCKS = 8  # and Black's behind it
FIRST_PLACES = 10
TABLE_WORDS = FIRST_PLACES + PIECE_CODES


@kernel
def outcome_of(score):
    """1 for the score of a win, 0 of a draw, -1 of a loss."""
    if score > 0:
        return 1
    if score < 0:
        return -1
    return 0


@kernel
def order_of(score):
    """The order of a score; 0 for a draw."""
    if score == 0:
        return 0
    return (WIN - abs(score)) >> ORDER_SHIFT


@kernel
def plies_of(score):
    """The plies of a score; 0 for a draw."""
    if score == 0:
        return 0
    return (WIN - abs(score)) & ((1 << ORDER_SHIFT) - 1)


@part
def count_of(counts, code):
    """Return how many pieces of a code there are."""
    return counts >> (4 * code) & 15


@part
def hash_place(key, mask):
    """Return the first place to look for the counts of a material.

    key : int64, counts; mask : int, the length of the hash table less one, all bits set
    """
    word = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64(word >> np.uint64(40)) & mask


@borrowing_kernel
def fill_hash(keys, numbers, entries):
    """Enter keys and their numbers into an empty hash table.

    keys, numbers : int64 (size,), inout: all -1; a power of two, more than there are entries
    entries : int64 (n, 2), keys and numbers
    """
    mask = len(keys) - 1
    for i in range(len(entries)):
        at = hash_place(entries[i, 0], mask)
        while keys[at] != -1:
            at = (at + 1) & mask
        keys[at], numbers[at] = entries[i, 0], entries[i, 1]


@part
def find_number(keys, numbers, counts):
    """Return the number that a hash table has for `counts`; NOT_FOUND or ALL_DRAWN.

    keys, numbers : int64 (size,), the hash table
    """
    if counts & _ATTACKER_BITS == 0:
        return np.int64(ALL_DRAWN)
    mask = len(keys) - 1
    at = hash_place(counts, mask)
    while keys[at] != -1:
        if keys[at] == counts:
            return numbers[at]
        at = (at + 1) & mask
    return np.int64(NOT_FOUND)


@kernel
def _code_in_frame(frame, index, width):
    """The code of one slot of a block.

    frame : uint8 (bytes,), the block as `Block.packed` has it
    index : int, the place of the slot in the block
    """
    count = np.int64(frame[0]) | np.int64(frame[1]) << 8
    if count == 0:
        at = 2 + index * width
    else:
        at = 2 + np.int64(frame[2 + count * width + index]) * width
    code = np.int64(0)
    for byte in range(width):
        code |= np.int64(frame[at + byte]) << (8 * byte)
    return code


@kernel
def _score_of_code(code, width, span):
    """The score of a code (docs/format.md, "Codes").

    code : int, a table's code other than 0
    """
    top = (1 << (8 * width)) - 1
    draw = (top + 1) // 2
    if code == draw:
        return 0
    win = code > draw
    if win:
        rank = top - code
    else:
        rank = code - 1
    order = rank // span
    plies = 2 * (rank % span) + (1 if win == (order == 0) else 0)
    score = WIN - (order << ORDER_SHIFT) - plies
    return score if win else -score


@kernel
def _probe_counted(buffers, counts, pieces, squares, count, side):
    """Status and score of pieces of known `counts`, each on a square of its own."""
    if count_of(counts, 1) != 1 or count_of(counts, 9) != 1:
        return INVALID, 0
    found = find_number(buffers.keys, buffers.numbers, counts)
    if found == ALL_DRAWN:
        return OK, 0
    if found == NOT_FOUND:
        return MISSING, 0
    table, flip = buffers.tables[found >> 1], (found & 1) << 3
    descriptor = buffers.descriptors[table[DESCRIPTOR] : table[RED_BLOCK_MAP]]
    listed = np.empty(MAX_PIECES, np.int64)
    seen = np.int64(0)
    for i in range(count):
        code = np.int64(pieces[i])
        square: Any = np.int64(squares[i])
        place = count_of(seen, code)
        seen += np.int64(1) << (4 * code)
        own = code ^ flip
        if flip != 0:
            square = flip_square(square)
        if descriptor[SLOT_TABLE + ((own >> 3) * 7 + (own & 7) - 1) * SQUARES + square] < 0:
            return INVALID, 0
        # The inner piece is listed last, behind all groups; its twins are a group.
        if own == table[INNER_CODE] and place == count_of(counts, code) - 1:
            listed[table[PIECES] - 1] = square
        else:
            listed[table[FIRST_PLACES + own] + place] = square
    slot = slot_of_squares(listed, descriptor)
    if flip != 0:
        side = 1 - side
    first_block = table[RED_BLOCKS + side]
    if first_block < 0:
        return OK, _score_of_code(-2 - first_block, table[WIDTH], table[SPAN])
    map_start, map_end = table[RED_BLOCK_MAP + side], table[RED_BLOCK_MAP + side + 1]
    number, index = block_of_slot(slot, buffers.descriptors[map_start:map_end])
    block = first_block + number
    frame = buffers.blocks[block]
    if frame < -1:
        return OK, _score_of_code(-2 - frame, table[WIDTH], table[SPAN])
    if frame == -1:
        buffers.wanted[block] = 1
        return COLD, 0
    if buffers.used[frame] == 0:
        buffers.used[frame] = 1
    code = _code_in_frame(buffers.frames[frame], index, table[WIDTH])
    return OK, _score_of_code(code, table[WIDTH], table[SPAN])


@kernel
def probe(buffers, pieces, squares, count, side):
    """Status and score of a legal position, given as pieces[:count] on squares[:count].

    Returns (status, score); the score is 0 unless the status is `OK`. Pieces may be listed in any
    order; those that cannot stand where they do, or two on one square, are `INVALID`. Legality is
    not looked at: the score of an illegal position is arbitrary.

    pieces : int (count,) or longer, piece codes: Red's K A B R N C P are 1 to 7, Black's 9 to 15
    squares : int (count,) or longer, where they stand: 9 * rank + file
    side : int, the side to move: 0 Red, 1 Black
    """
    counts = np.int64(0)
    low, high = np.uint64(0), np.uint64(0)
    if side < 0 or side > 1:
        return INVALID, 0
    for i in range(count):
        code, square = np.int64(pieces[i]), np.int64(squares[i])
        if code < 1 or code > 15 or code == 8 or square < 0 or square >= SQUARES:
            return INVALID, 0
        if count_of(counts, code) == MAX_COUNT:
            return INVALID, 0
        counts += np.int64(1) << (4 * code)
        bit = np.uint64(1) << np.uint64(square & 63)
        if square < 64:
            taken = low & bit
            low |= bit
        else:
            taken = high & bit
            high |= bit
        if taken != 0:
            return INVALID, 0
    return _probe_counted(buffers, counts, pieces, squares, count, side)


@kernel
def probe_board(buffers, board, side):
    """Status and score of a legal position, given as ninety piece codes (0 = empty).

    Else as `probe`.
    """
    pieces = np.empty(SQUARES, np.int64)
    squares = np.empty(SQUARES, np.int64)
    counts, count = np.int64(0), np.int64(0)
    if side < 0 or side > 1:
        return INVALID, 0
    for square in range(SQUARES):
        code = np.int64(board[square])
        if code == 0:
            continue
        if code < 1 or code > 15 or code == 8 or count_of(counts, code) == MAX_COUNT:
            return INVALID, 0
        counts += np.int64(1) << (4 * code)
        pieces[count] = code
        squares[count] = square
        count += 1
    return _probe_counted(buffers, counts, pieces, squares, count, side)


@kernel
def probe_boards(buffers, boards, sides, pending, statuses, scores):
    """Probe the boards whose numbers are pending; returns how many were cold.

    sides : int (n,), the side to move in each
    pending : int64 (m,), the numbers of boards to probe
    statuses : int8 (n,), out; scores : int64 (n,), out
    """
    cold = 0
    for number in pending:
        status, score = probe_board(buffers, boards[number], sides[number])
        statuses[number] = status
        scores[number] = score
        if status == COLD:
            cold += 1
    return cold
