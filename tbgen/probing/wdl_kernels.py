# mypy: allow-untyped-defs, allow-untyped-calls
"""Compiled probes of outcomes; a probe hashes only the material, and allocates no memory.

    counts   ->  `find_wdl`  ->  found        once, and again after captures
    found, pieces, squares, side  ->  `probe_wdl_found`  ->  status, outcome

The index of an outcome is computed from two sums. Every *defender* (king, advisor or elephant) adds
a number to the first sum, every *attacker* (any other piece) to the second sum. Thus no list is
sorted, and no index is divided into digits.

    defenders  ->  joint[sum]  ->  lead (number of the defenders' placement, mirror images counted
                                   once), whether mirrored, whether it is its own mirror image
    attackers  ->  starts[lead] + sum  ->  one of five outcomes in a byte of `data`

If the defenders' placement is its own mirror image, the attackers are summed in both images, and
the outcome of the image with the smaller slot is read.

An engine updates `counts` by `1 << 4 * code` as pieces come and go. The arrays are described in
`wdl`. The kernels write no arrays, so any number of threads may probe at once.
"""

from __future__ import annotations

from itertools import product
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import borrowing_kernel, part
from tbgen.indexing.groups import FLIP, MIRROR
from tbgen.indexing.squares import SQUARES, PieceType, Side, area, piece_code
from tbgen.probing.kernels import (
    ALL_DRAWN,
    INVALID,
    MAX_COUNT,
    MISSING,
    OK,
    PIECE_CODES,
    Integer,
    find_number,
)
from tbgen.tables.outcomes import BYTES, SLOTS_PER_BYTE

# Words of a row of `WdlBuffers.tables`: those of the file, then a cache line for each piece code.
# `JOINT`, and the pairs (Red, Black) `STARTS` and `BASES`: where the file's parts of `joint`,
# `starts` and `data` begin; a base is -1 - code if all outcomes of the side have this code.
# `INNER_CODE`: code of the inner piece, the attacker whose square varies fastest in a lead's slots.
# `INNER_FILE`: its four factors in the index of an outcome, as in `FILE`.
JOINT, INNER_CODE, STARTS, BASES = 0, 1, 2, 4
INNER_FILE = 8
FIRST_CODE, CODE_SHIFT = 16, 3
COUNT, JOINT_WEIGHT, WITHIN, FILE = 0, 1, 2, 4
"""Indices of the words that describe a piece code in a row of `WdlBuffers.tables`.

`COUNT`: number of pieces. `JOINT_WEIGHT`: a defender's factor in the index in `joint`. `WITHIN`: an
attacker's factor in the slot within a lead. `FILE`: an attacker's four factors in the index of an
outcome, by side to move and whether in the last tile. A factor multiplies the number of the piece's
square within its area, or the binomial coefficient that ranks it among equal pieces.
"""
TABLE_WORDS = FIRST_CODE + (PIECE_CODES << CODE_SHIFT)

MIRRORED, OWN_IMAGE, LEAD_SHIFT = 1, 2, 2
"""Bits of an entry of `joint`: two flags, and the shift of the lead above them.

`MIRRORED`: the lead is of the mirror image. `OWN_IMAGE`: the placement is its own mirror image.
"""

_LAST_DEFENDER = 3
"""Largest code of a defender, without its colour bit: kings, advisors and elephants are 1 to 3."""


class WdlBuffers(NamedTuple):
    """Arrays for compiled probes (see `tbgen.probing.wdl`).

    Shapes: `keys` and `numbers` (size of the hash table,), a power of two; `tables` (files,
    TABLE_WORDS); `joint`, `starts` and `data` (n,), the parts of all files one after the other.
    """

    keys: NDArray[np.int64]
    numbers: NDArray[np.int64]
    tables: NDArray[np.int64]
    joint: NDArray[np.int32]
    starts: NDArray[np.int64]
    data: NDArray[np.uint8]


def _places() -> NDArray[np.int8]:
    """Compute `_PLACES`, int8 (2, 2, 16, 90): number of each square within a piece's area.

    The indices are: colours exchanged (0 or 1), board mirrored (0 or 1), and piece code and square
    before both. The number is that of the square after both, in the area of the piece after both;
    -1 outside the area.
    """
    places = np.full((2, 2, PIECE_CODES, SQUARES), -1, np.int8)
    for flip, side, kind in product((0, 1), Side, PieceType):
        own = np.array(area(side ^ flip, kind))
        squares, code = FLIP[own] if flip else own, piece_code(side, kind)
        places[flip, 0, code, squares] = np.arange(len(own))
        places[flip, 1, code, MIRROR[squares]] = np.arange(len(own))
    return places


_PLACES = _places()
_CHOOSE = np.array([[comb(n, k) for k in range(MAX_COUNT + 1)] for n in range(SQUARES)], np.int64)
_SIGNS = (np.arange(BYTES)[:, None] // 3 ** np.arange(SLOTS_PER_BYTE) % 3 - 1).astype(np.int8)
"""The five outcomes for each value of a byte of `data`, int8 (243, 5): 1 win, 0 draw, -1 loss."""


@borrowing_kernel
def find_wdl(buffers: WdlBuffers, counts: Integer) -> int:
    """Look up the win-draw-loss file of a material, given by its piece counts.

    Returns the parameter `found` of `probe_wdl_found`: a number, or `ALL_DRAWN` for a material
    without attackers, `NOT_FOUND` if there is no file.
    """
    return find_number(buffers, counts)


@part
def _rank(i, place, flip, mirrored, pieces, squares, count):
    """Return the rank of a piece among the pieces of the same code: 1 for the lowest place.

    A place is the number of a piece's square within the piece's area (`_PLACES`).

    i : int, index of the piece; place : int64, its place; flip, mirrored : int, as in `_PLACES`
    """
    code = np.int64(pieces[i])
    rank = np.int64(1)
    for j in range(count):
        if (
            np.int64(pieces[j]) == code
            and np.int64(_PLACES[flip, mirrored, code, np.int64(squares[j])]) < place
        ):
            rank += 1
    return rank


@part
def _attacker_sums(number, flip, mirrored, row, pieces, squares, count, buffers):
    """Return two sums over the attackers (rooks, knights, cannons, pawns).

    The first is the slot within the lead. The second, added to the start of the lead, is the index
    of the outcome among those of the side to move. An attacker outside its area gives -1 and 0.

    number : int64, number of the file
    flip, mirrored : int, 1 if colours are exchanged, and if the board is mirrored (`_PLACES`)
    row : int64, selects one of a piece's four factors: 2 * side to move, plus 1 in the last tile
    """
    tables = buffers.tables
    within, place_in_file = np.int64(0), np.int64(0)
    inner = tables[number, INNER_CODE]
    for i in range(count):
        code = np.int64(pieces[i])
        if code & 7 <= _LAST_DEFENDER:
            continue
        own = code ^ (flip << 3)
        place = np.int64(_PLACES[flip, mirrored, code, np.int64(squares[i])])
        if place < 0:
            return np.int64(-1), np.int64(0)
        words = FIRST_CODE + (own << CODE_SHIFT)
        same = tables[number, words + COUNT]
        rank = np.int64(1)
        if same > 1:
            rank = _rank(i, place, flip, mirrored, pieces, squares, count)
        if own == inner and rank == same:
            within += place
            place_in_file += place * tables[number, INNER_FILE + row]
        else:
            place = _CHOOSE[place, rank]
            within += place * tables[number, words + WITHIN]
            place_in_file += place * tables[number, words + FILE + row]
    return within, place_in_file


@borrowing_kernel
def probe_wdl_found(
    buffers: WdlBuffers,
    found: Integer,
    pieces: NDArray[Any],
    squares: NDArray[Any],
    count: Integer,
    side: Integer,
) -> tuple[int, int]:
    """Return status and outcome of a legal position, given the result of `find_wdl`.

    The status is `OK`, `MISSING` without a file, or `INVALID` for a piece outside its area. Areas
    are not checked in a material without attackers; those of attackers are not checked if all
    outcomes of the side to move are equal. The outcome is 1 win, 0 draw, -1 loss for the side to
    move; 0 unless the status is `OK`. The pieces, in any order, must be those of the material, on
    different squares: neither this nor legality is checked.

    found : int64, result of `find_wdl`
    pieces : int (count,) or longer, piece codes: Red's K A B R N C P are 1 to 7, Black's 9 to 15
    squares : int (count,) or longer, squares of the pieces: 9 * rank + file, from 0 to 89
    side : int, the side to move: 0 Red, 1 Black
    """
    if found == ALL_DRAWN:
        return OK, 0
    if found < 0:
        return MISSING, 0
    number, flip = found >> 1, found & 1
    tables = buffers.tables
    at = tables[number, JOINT]
    for i in range(count):
        code = np.int64(pieces[i])
        if code & 7 > _LAST_DEFENDER:
            continue
        own = code ^ (flip << 3)
        place = np.int64(_PLACES[flip, 0, code, np.int64(squares[i])])
        if place < 0:
            return INVALID, 0
        words = FIRST_CODE + (own << CODE_SHIFT)
        if tables[number, words + COUNT] > 1:
            place = _CHOOSE[place, _rank(i, place, flip, 0, pieces, squares, count)]
        at += place * tables[number, words + JOINT_WEIGHT]
    word = np.int64(buffers.joint[at])
    if word < 0:
        return INVALID, 0
    own_side = side ^ flip
    base = tables[number, BASES + own_side]
    if base < 0:
        return OK, -base - 3
    start = buffers.starts[tables[number, STARTS + own_side] + (word >> LEAD_SHIFT)]
    row = 2 * own_side + (start & 1)
    within, added = _attacker_sums(
        number, flip, word & MIRRORED, row, pieces, squares, count, buffers
    )
    if word & OWN_IMAGE:
        other, other_added = _attacker_sums(number, flip, 1, row, pieces, squares, count, buffers)
        if 0 <= other < within:
            added = other_added
    if within < 0:
        return INVALID, 0
    # Unsigned, so that the compiler divides by five with a multiplication.
    in_file = np.uint64((start >> 1) + added)
    byte = in_file // np.uint64(SLOTS_PER_BYTE)
    digits = np.int64(buffers.data[np.int64(np.uint64(base) + byte)])
    place = np.int64(in_file - np.uint64(SLOTS_PER_BYTE) * byte)
    outcome: Any = np.int64(_SIGNS[digits, place])
    return OK, outcome


@borrowing_kernel
def probe_wdl(
    buffers: WdlBuffers, pieces: NDArray[Any], squares: NDArray[Any], count: Integer, side: Integer
) -> tuple[int, int]:
    """Return status and outcome of a legal position: `find_wdl`, then `probe_wdl_found`.

    The status is `INVALID` also for an unknown code, square or side, for more than five pieces of a
    code, and for a side without exactly one king. Two pieces on one square are not detected.
    """
    counts = np.int64(0)
    if side < 0 or side > 1:
        return INVALID, 0
    for i in range(count):
        code, square = np.int64(pieces[i]), np.int64(squares[i])
        if code < 1 or code > 15 or code == 8 or square < 0 or square >= SQUARES:
            return INVALID, 0
        if counts >> (4 * code) & 15 == MAX_COUNT:
            return INVALID, 0
        counts += np.int64(1) << (4 * code)
    if counts & 0xF0 != 0x10 or counts >> 36 & 15 != 1:
        return INVALID, 0
    return probe_wdl_found(buffers, find_wdl(buffers, counts), pieces, squares, count, side)
