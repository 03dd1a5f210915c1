"""The index of one position: squares -> slot, and back.

The scalar functions below read a *descriptor*, one flat integer array that holds everything a
reader needs to know of a layout, so that plain Python, compiled kernels and readers in other
languages share one definition.

    word  0   pieces
          1   1 if leads are reduced by the mirror
          2   mids              3   inner_size       4   groups        5   twin group or -1
          6   leads
          7   Red's advisors    8   Red's elephants  9   advisor ranks  10  elephant ranks
         11   offset of Red's rank table            12   offset of Red's mirror table
         13 to 18               the same for Black
         19   offset of lead_base                   20   offset of lead_offset
         21   offset of Red's defender squares      22   offset of Black's
         23   offset of the inner area              24   side and 25 kind of the inner piece
         32 + 8 g               group g: side, kind, count, size, stride, offset of its area
    SLOT_TABLE                  slot of a square: (side, kind, square), -1 outside the area
    CHOOSE                      binomial coefficients (n < 91, k < 6)

Squares are listed in the order of `Layout.piece_codes`; identical pieces may be listed in any
order.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tbgen.indexing.scalar import scalar
from tbgen.indexing.squares import SQUARES, PieceType, Side, area

if TYPE_CHECKING:
    from tbgen.indexing.layout import Layout

Integers = Any
"""A list of ints, `bytes`, or an integer array."""

GROUP_WORDS = 8
MAX_GROUPS = 8
FIRST_GROUP = 32
SLOT_TABLE = FIRST_GROUP + GROUP_WORDS * MAX_GROUPS
CHOOSE_WIDTH = 6
CHOOSE = SLOT_TABLE + len(Side) * len(PieceType) * SQUARES
_TABLES = CHOOSE + (SQUARES + 1) * CHOOSE_WIDTH


class DescriptorBuilder:
    """Writes the descriptor of one layout."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._tables: list[NDArray[np.int64]] = []
        self._length = _TABLES

    def _append(self, table: Sequence[int] | NDArray[Any]) -> int:
        """Add a table, and return its offset."""
        offset = self._length
        self._tables.append(np.asarray(table, np.int64).ravel())
        self._length += self._tables[-1].size
        return offset

    def build(self) -> NDArray[np.int64]:
        """The descriptor, int64."""
        layout = self._layout
        head = np.zeros(_TABLES, np.int64)
        head[0] = len(layout.piece_codes)
        head[1] = layout.reduced
        head[2:7] = layout.mids, layout.inner_size, len(layout.groups), layout.twin, layout.leads
        for side, defenders in enumerate(layout.defenders):
            at = 7 + 6 * side
            head[at : at + 4] = (
                defenders.advisors,
                defenders.elephants,
                defenders.ranks.shape[1],
                defenders.ranks.shape[2],
            )
            head[at + 4] = self._append(defenders.ranks)
            head[at + 5] = self._append(defenders.mirror)
            head[21 + side] = self._append(defenders.squares)
        head[19] = self._append(layout.lead_base)
        head[20] = self._append(layout.lead_offset)
        if layout.inner is not None:
            head[23] = self._append(layout.inner.area)
            head[24:26] = layout.inner.side, layout.inner.kind
        for g, (group, stride) in enumerate(zip(layout.groups, layout.strides, strict=True)):
            at = FIRST_GROUP + GROUP_WORDS * g
            head[at : at + 5] = group.side, group.kind, group.count, group.size, stride
            head[at + 5] = self._append(group.area)
        slot_table = np.full((len(Side), len(PieceType), SQUARES), -1, np.int64)
        for side in Side:
            for kind in PieceType:
                slot_table[side, kind, list(area(side, kind))] = range(len(area(side, kind)))
        head[SLOT_TABLE:CHOOSE] = slot_table.ravel()
        head[CHOOSE:] = [comb(n, k) for n in range(SQUARES + 1) for k in range(CHOOSE_WIDTH)]
        return np.concatenate([head, *self._tables])


@scalar
def group_rank(
    squares: Integers, first: int, count: int, side: int, kind: int, mirrored: bool, d: Integers
) -> int:
    """The rank of the placement of identical pieces on squares[first : first + count].

    The pieces are not sorted: each slot counts those below it, which is its place.
    """
    table = SLOT_TABLE + (side * 7 + kind) * 90
    rank = 0
    for i in range(count):
        square = squares[first + i]
        if mirrored:
            square = square + 8 - 2 * (square % 9)
        slot = d[table + square]
        place = 1
        for j in range(count):
            other = squares[first + j]
            if mirrored:
                other = other + 8 - 2 * (other % 9)
            if d[table + other] < slot:
                place += 1
        rank += d[CHOOSE + slot * CHOOSE_WIDTH + place]
    return rank


@scalar
def defender_rank(squares: Integers, first: int, side: int, d: Integers) -> int:
    """The rank of one side's defenders (king, advisors, elephants) from squares[first] on."""
    at = 7 + 6 * side
    king = d[SLOT_TABLE + side * 7 * 90 + squares[first]]
    advisors = group_rank(squares, first + 1, d[at], side, 1, False, d)
    elephants = group_rank(squares, first + 1 + d[at], d[at + 1], side, 2, False, d)
    return d[d[at + 4] + (king * d[at + 2] + advisors) * d[at + 3] + elephants]


@scalar
def attacker_slot(squares: Integers, first: int, mirrored: bool, d: Integers) -> int:
    """The (mid, inner) part of the slot: attackers from squares[first] on."""
    mid = 0
    at = first
    inner_square = -1
    if d[3] > 1:
        inner_square = squares[d[0] - 1]
        if mirrored:
            inner_square = inner_square + 8 - 2 * (inner_square % 9)
    for g in range(d[4]):
        word = FIRST_GROUP + GROUP_WORDS * g
        side, kind, count, stride = d[word], d[word + 1], d[word + 2], d[word + 4]
        if g == d[5]:
            # Of the inner piece and its twins, the one on the largest square is the inner piece.
            # The rank is summed over the others, so that nothing need be sorted or written.
            table = SLOT_TABLE + (side * 7 + kind) * 90
            largest = inner_square
            for i in range(count):
                square = squares[at + i]
                if mirrored:
                    square = square + 8 - 2 * (square % 9)
                if square > largest:
                    largest = square
            rank = 0
            for i in range(count + 1):
                square = squares[at + i] if i < count else squares[d[0] - 1]
                if mirrored:
                    square = square + 8 - 2 * (square % 9)
                if square == largest:
                    continue
                slot = d[table + square]
                place = 1
                for j in range(count + 1):
                    other = squares[at + j] if j < count else squares[d[0] - 1]
                    if mirrored:
                        other = other + 8 - 2 * (other % 9)
                    if d[table + other] < slot:
                        place += 1
                rank += d[CHOOSE + slot * CHOOSE_WIDTH + place]
            inner_square = largest
        else:
            rank = group_rank(squares, at, count, side, kind, mirrored, d)
        mid += rank * stride
        at += count
    if d[3] == 1:
        return mid
    return mid * d[3] + d[SLOT_TABLE + (d[24] * 7 + d[25]) * 90 + inner_square]


@scalar
def slot_of_squares(squares: Integers, d: Integers) -> int:
    """The slot of the placement `squares` (in the order of `Layout.piece_codes`)."""
    black_first = 1 + d[7] + d[8]
    first = black_first + 1 + d[13] + d[14]
    w = defender_rank(squares, 0, 0, d)
    b = defender_rank(squares, black_first, 1, d)
    mirrored = False
    symmetric = False
    if d[1]:
        w_image = d[d[12] + w]
        b_image = d[d[18] + b]
        symmetric = w_image == w and b_image == b
        if w_image < w or (w_image == w and b_image < b):
            mirrored = True
            w = w_image
            b = b_image
            w_image = d[d[12] + w]
        lead = d[d[19] + w] + (d[d[20] + b] if w_image == w else b)
    else:
        lead = d[d[19] + w] + b
    within = attacker_slot(squares, first, mirrored, d)
    if symmetric:
        within = min(within, attacker_slot(squares, first, True, d))
    return lead * d[2] * d[3] + within


@scalar
def squares_of_slot(slot: int, d: Integers, squares: Integers) -> None:
    """Write the squares of a slot into `squares`, in the order of `Layout.piece_codes`.

    Every slot has squares; where two of them are equal the slot is a hole.
    """
    inner = slot % d[3]
    row = slot // d[3]
    mid = row % d[2]
    lead = row // d[2]
    low = 0
    high = d[20] - d[19] - 1  # lead_base has one entry more than Red has placements
    while high - low > 1:
        middle = (low + high) // 2
        if d[d[19] + middle] <= lead:
            low = middle
        else:
            high = middle
    w = low
    b = lead - d[d[19] + w]
    if d[1] and d[d[12] + w] == w:
        # The b-th of Black's placements that are not above their image.
        rank = b
        b = 0
        while d[d[20] + b] != rank:
            b += 1
    at = 0
    for i in range(1 + d[7] + d[8]):
        squares[at] = d[d[21] + w * (1 + d[7] + d[8]) + i]
        at += 1
    for i in range(1 + d[13] + d[14]):
        squares[at] = d[d[22] + b * (1 + d[13] + d[14]) + i]
        at += 1
    for g in range(d[4]):
        word = FIRST_GROUP + GROUP_WORDS * g
        rank = mid // d[word + 4] % d[word + 3]
        for j in range(d[word + 2], 0, -1):
            # The largest slot whose binomial fits is the j-th piece.
            slot_j = j - 1
            while d[CHOOSE + (slot_j + 1) * CHOOSE_WIDTH + j] <= rank:
                slot_j += 1
            rank -= d[CHOOSE + slot_j * CHOOSE_WIDTH + j]
            squares[at + j - 1] = d[d[word + 5] + slot_j]
        at += d[word + 2]
    if d[3] > 1:
        squares[at] = d[d[23] + inner]
