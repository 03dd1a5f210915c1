# mypy: allow-untyped-defs, allow-untyped-calls
"""Compiled probes, which return a status and a score for a position.

    pieces, squares  ->  counts  ->  table  ->  slot  ->  block  ->  code  ->  score
                         colours exchanged if needed              |
                                                                  cold: wanted[block] = 1

A *score* orders all values of all tables by the preference of the side to move, as in negamax: the
score for the opponent is the negative.

    win     WIN - (order << 16) - plies        draw  0        loss   the negative of that

The *order* is 0 for mate or conversion, k >= 1 if the repetition rules decide. Any number of
threads may probe at once: probes only set the flags `wanted` and `used` from 0 to 1 (`buffers`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import borrowing_kernel, kernel, part
from tbgen.indexing.arrangement import block_of_slot
from tbgen.indexing.slots import SLOT_TABLE, slot_of_squares
from tbgen.indexing.squares import SQUARES, PieceType, Side, flip_square, piece_code

Integer = int | np.integer[Any]
"""Integer of Python or of NumPy, as parameters of the public probes."""

OK, COLD, MISSING, INVALID = 0, 1, 2, 3
"""Statuses of a probe.

`OK`: the score is valid. `COLD`: the block is not loaded, and is now marked as wanted. `MISSING`:
there is no table. `INVALID`: pieces, squares or side to move are impossible (`probe`).
"""

NOT_FOUND, ALL_DRAWN = -1, -2
"""Results of `find_number` other than numbers.

`NOT_FOUND`: the material has no file. `ALL_DRAWN`: it has no attackers, so all positions are draws.
"""

WIN = 1 << 48
"""Score above that of every win: a win of order 0 in n plies has `WIN - n`."""

ORDER_SHIFT = 16
"""Bits of a score below the order: plies of tables are below 32768."""

MAX_COUNT = 5
"""Largest number of pieces of one code that a probe accepts."""
PIECE_CODES = 16
MAX_PIECES = 32

_ATTACKER_BITS = np.int64(
    sum(7 << 4 * piece_code(side, kind) for side in Side for kind in PieceType if kind.is_attacker)
)
"""Mask of rooks, knights, cannons and pawns in `counts` (four bits for each piece code)."""

# Words of a row of `Buffers.tables`. The first four are offsets in `descriptors`: the layout, Red's
# block map, Black's block map, the end. `RED_BLOCKS` and the next word: a side's first block, or
# -2 - code if all its slots have that code. `INNER_CODE`: code of the inner piece (the attacker
# whose square varies fastest in the index), 0 for none. `FIRST_PLACES` + code: index in
# `Layout.piece_codes` of the first piece with that code.
DESCRIPTOR, RED_BLOCK_MAP, BLACK_BLOCK_MAP, BLOCK_MAPS_END = range(4)
WIDTH, SPAN, PIECES, INNER_CODE = range(4, 8)
RED_BLOCKS = 8  # followed by Black's
FIRST_PLACES = 10
TABLE_WORDS = FIRST_PLACES + PIECE_CODES


class Buffers(NamedTuple):
    """Arrays for compiled probes (see `tbgen.probing.buffers`).

    Shapes: `keys` and `numbers` (size of the hash table,), a power of two; `tables` (tables,
    TABLE_WORDS); `descriptors` (words,); `blocks` and `wanted` (blocks,); `frames` (frames, bytes);
    `used` (frames,).
    """

    keys: NDArray[np.int64]
    numbers: NDArray[np.int64]
    tables: NDArray[np.int64]
    descriptors: NDArray[np.int64]
    blocks: NDArray[np.int64]
    frames: NDArray[np.uint8]
    wanted: NDArray[np.uint8]
    used: NDArray[np.uint8]


@kernel
def outcome_of(score: Any) -> int:
    """Return the outcome of a score: 1 win, 0 draw, -1 loss."""
    return (score > 0) - (score < 0)


@kernel
def order_of(score: Any) -> int:
    """Return the order of a score; 0 for a draw."""
    if score == 0:
        return 0
    return (WIN - abs(score)) >> ORDER_SHIFT


@kernel
def plies_of(score: Any) -> int:
    """Return the distance of a score in plies; 0 for a draw."""
    if score == 0:
        return 0
    return (WIN - abs(score)) & ((1 << ORDER_SHIFT) - 1)


@part
def count_of(counts, code):
    """Return the number of pieces with a code."""
    return counts >> (4 * code) & 15


@part
def hash_place(key, mask):
    """Return the index in a hash table at which the search for a material begins.

    key : int64, the material's number of pieces of each code, four bits each (`count_of`)
    mask : int, length of the hash table (a power of two) minus 1
    """
    word = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64(word >> np.uint64(40)) & mask


@borrowing_kernel
def fill_hash(keys, numbers, entries):
    """Store keys and their numbers in an empty hash table.

    keys, numbers : int64 (size,), inout: all -1; size is a power of two, greater than n
    entries : int64 (n, 2), a key and its number in each row
    """
    mask = len(keys) - 1
    for i in range(len(entries)):
        at = hash_place(entries[i, 0], mask)
        while keys[at] != -1:
            at = (at + 1) & mask
        keys[at], numbers[at] = entries[i, 0], entries[i, 1]


@part
def find_number(buffers, counts):
    """Look up a material, given by its piece counts, in the hash table; return its number.

    It is twice the index of the file, plus 1 to exchange colours; or `ALL_DRAWN`, or `NOT_FOUND`.
    """
    if counts & _ATTACKER_BITS == 0:
        return np.int64(ALL_DRAWN)
    mask = len(buffers.keys) - 1
    at = hash_place(counts, mask)
    while buffers.keys[at] != -1:
        if buffers.keys[at] == counts:
            return buffers.numbers[at]
        at = (at + 1) & mask
    return np.int64(NOT_FOUND)


@kernel
def _code_in_frame(frame, index, width):
    """Return the code of one slot of a block, in which codes have `width` bytes.

    frame : uint8 (bytes,), the decompressed block. Its first two bytes are n. If n is above 0, n
        different codes follow, then a byte for each slot: the index of the slot's code among them.
        If n is 0, the code of each slot follows.
    index : int, place of the slot in the block
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
    """Return the score of a code (docs/format.md, "Codes").

    code : int, not 0 (no position), of `width` bytes
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
    """Return the result of `probe`; only kings and areas are checked here."""
    if count_of(counts, 1) != 1 or count_of(counts, 9) != 1:
        return INVALID, 0
    found = find_number(buffers, counts)
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
        # The inner piece is the last of the list; others of its code form a group before it.
        if own == table[INNER_CODE] and place == count_of(counts, code) - 1:
            listed[table[PIECES] - 1] = square
        else:
            listed[table[FIRST_PLACES + own] + place] = square
    slot = slot_of_squares(listed, descriptor)
    if flip != 0:
        side = 1 - side
    block = table[RED_BLOCKS + side]
    frame, index = block, np.int64(0)
    if block >= 0:
        map_start, map_end = table[RED_BLOCK_MAP + side], table[RED_BLOCK_MAP + side + 1]
        number, index = block_of_slot(slot, buffers.descriptors[map_start:map_end])
        block += number
        frame = buffers.blocks[block]
    if frame == -1:
        buffers.wanted[block] = 1
        return COLD, 0
    if frame < 0:  # one code for all slots of the side, or of the block
        return OK, _score_of_code(-2 - frame, table[WIDTH], table[SPAN])
    if buffers.used[frame] == 0:
        buffers.used[frame] = 1
    code = _code_in_frame(buffers.frames[frame], index, table[WIDTH])
    return OK, _score_of_code(code, table[WIDTH], table[SPAN])


@kernel
def probe(
    buffers: Buffers, pieces: NDArray[Any], squares: NDArray[Any], count: Integer, side: Integer
) -> tuple[int, int]:
    """Return status and score of a legal position, given as pieces[:count] on squares[:count].

    The score is 0 unless the status is `OK`, and arbitrary for an illegal position. Pieces may be
    in any order. The status is `INVALID` for an unknown piece, square or side, two pieces on one
    square, more than five pieces of a code, a side without exactly one king, and, if the material
    has a table, a piece outside its area. A draw for lack of attackers needs no table.

    pieces : int (count,) or longer, piece codes: Red's K A B R N C P are 1 to 7, Black's 9 to 15
    squares : int (count,) or longer, squares of the pieces: 9 * rank + file
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
def probe_board(buffers: Buffers, board: NDArray[Any], side: Integer) -> tuple[int, int]:
    """Return status and score, as defined for `probe`, of a legal position given as a board."""
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
def probe_boards(
    buffers: Buffers,
    boards: NDArray[Any],
    sides: NDArray[Any],
    pending: NDArray[np.int64],
    statuses: NDArray[np.int8],
    scores: NDArray[np.int64],
) -> int:
    """Probe some boards; return the number of probes with status `COLD` (block not loaded).

    boards : int (n, 90), piece codes by square; sides : int (n,), the side to move in each
    pending : int64 (m,), the indices of the boards to probe
    statuses : int8 (n,), out; scores : int64 (n,), out; both are written for `pending` only
    """
    cold = 0
    for number in pending:
        status, score = probe_board(buffers, boards[number], sides[number])
        statuses[number] = status
        scores[number] = score
        if status == COLD:
            cold += 1
    return cold
