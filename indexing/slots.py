"""The index of one position: squares -> slot, and back.

The scalar functions below read a *descriptor*, their parameter `d`: a flat integer array that
describes a layout completely (`Layout.descriptor`). So plain Python and kernels share the code.

    0                  the words named below: sizes, and the offsets of tables
    FIRST_GROUP        `GROUP_WORDS` for each mid group, `MAX_GROUPS` of them
    SLOT_TABLE         slot of a square: (side, kind, square), -1 outside the area
    CHOOSE             binomial coefficients (n < 91, k < 6)
    ...                tables of this layout, concatenated

A *mid group* is a group of identical attackers (`groups`), without the inner piece. The parameter
`squares` may have identical pieces in any order.
"""

from __future__ import annotations

from typing import Any

from tbgen.indexing.squares import SQUARES, PieceType, Side
from tbgen.system.scalar import scalar

Integers = Any
"""A list of ints, `bytes`, or an integer array."""

PIECES, REDUCED, MIDS, INNER_SIZE, GROUPS, TWIN, RED = range(7)
"""Indices of words in the descriptor.

PIECES, MIDS, GROUPS : number of pieces, of mids per lead, and of mid groups
REDUCED : 1 if a placement of the defenders and its mirror image share one lead, else 0
INNER_SIZE : slots per row, 1 without an inner piece
TWIN : index of the mid group with the inner piece's side and kind, -1 if there is none
RED : first of Red's `SIDE_WORDS` words (listed below); Black's follow
"""
ADVISORS, ELEPHANTS, ADVISOR_RANKS, ELEPHANT_RANKS, RANKS, MIRROR, SIDE_WORDS = range(7)
"""Indices of words within the part of one side in the descriptor.

ADVISORS, ELEPHANTS : number of advisors, and of elephants
ADVISOR_RANKS, ELEPHANT_RANKS : number of placements of each of these types alone
RANKS, MIRROR : offsets in the descriptor of `Defenders.ranks` and `Defenders.mirror`
SIDE_WORDS : number of these words
"""
BLACK = RED + SIDE_WORDS
RED_ADVISORS, RED_ELEPHANTS, RED_MIRROR = RED + ADVISORS, RED + ELEPHANTS, RED + MIRROR
BLACK_ADVISORS, BLACK_ELEPHANTS, BLACK_MIRROR = BLACK + ADVISORS, BLACK + ELEPHANTS, BLACK + MIRROR

_REST = BLACK + SIDE_WORDS
LEAD_BASE, LEAD_OFFSET, RED_SQUARES, BLACK_SQUARES = range(_REST, _REST + 4)
"""Indices of words in the descriptor: offsets of tables.

The tables are `Layout.lead_base`, `Layout.lead_offset`, and each side's `Defenders.squares`.
"""
INNER_AREA, INNER_SIDE, INNER_KIND = range(_REST + 4, _REST + 7)
"""Indices of words in the descriptor for the inner piece.

The words are the offset of its area's squares in the descriptor, its side, and its `PieceType`.
"""

FIRST_GROUP = 32
GROUP_SIDE, GROUP_KIND, GROUP_COUNT, GROUP_SIZE, GROUP_STRIDE, GROUP_AREA, GROUP_WORDS = range(7)
"""Indices of words within the part of one mid group in the descriptor.

GROUP_SIDE, GROUP_KIND, GROUP_COUNT : side, `PieceType`, number of pieces
GROUP_SIZE, GROUP_STRIDE : number of placements, stride of the group's rank in the mid
GROUP_AREA : offset in the descriptor of the squares of the group's area
GROUP_WORDS : number of these words
"""
MAX_GROUPS = 8

KINDS = len(PieceType)
_ADVISOR, _ELEPHANT = int(PieceType.ADVISOR), int(PieceType.ELEPHANT)
"""Piece types as plain integers: without `tbgen.compiling.internals`, numba would compile
`group_rank` again for members of `PieceType`.
"""
SLOT_TABLE = FIRST_GROUP + GROUP_WORDS * MAX_GROUPS
CHOOSE_WIDTH = 6
CHOOSE = SLOT_TABLE + len(Side) * KINDS * SQUARES
TABLES = CHOOSE + (SQUARES + 1) * CHOOSE_WIDTH


@scalar
def group_rank(
    squares: Integers, first: int, count: int, side: int, kind: int, mirrored: bool,
    vacated: int, taken: int, d: Integers,
) -> int:  # fmt: skip
    """Return the rank of a group's placement: its pieces are on squares[first : first + count].

    The squares may be in any order.

    count : int, number of pieces
    vacated, taken : int, squares after mirroring, or -1; a piece on `vacated` ranks as on `taken`
    """
    table = SLOT_TABLE + (side * KINDS + kind) * SQUARES
    rank = 0
    for i in range(count):
        square = squares[first + i]
        if mirrored:
            square = square + 8 - 2 * (square % 9)
        if square == vacated:
            square = taken
        slot = d[table + square]
        number = 1
        for j in range(count):
            other = squares[first + j]
            if mirrored:
                other = other + 8 - 2 * (other % 9)
            if other == vacated:
                other = taken
            if d[table + other] < slot:
                number += 1
        rank += d[CHOOSE + slot * CHOOSE_WIDTH + number]
    return rank


@scalar
def defender_rank(squares: Integers, first: int, side: int, d: Integers) -> int:
    """Return the rank of one side's king, advisors and elephants, which begin at squares[first].

    The result is -1 if pieces of two types share a square.
    """
    at = RED + SIDE_WORDS * side
    king = d[SLOT_TABLE + side * KINDS * SQUARES + squares[first]]
    count = d[at + ADVISORS]
    advisors = group_rank(squares, first + 1, count, side, _ADVISOR, False, -1, -1, d)
    elephants = group_rank(
        squares, first + 1 + count, d[at + ELEPHANTS], side, _ELEPHANT, False, -1, -1, d
    )
    rank = (king * d[at + ADVISOR_RANKS] + advisors) * d[at + ELEPHANT_RANKS] + elephants
    return d[d[at + RANKS] + rank]


@scalar
def attacker_slot(squares: Integers, first: int, mirrored: bool, d: Integers) -> int:
    """Return the part of a slot that the attackers determine: mid * inner_size + inner.

    The attackers are on squares[first:], the inner piece last.
    """
    mid = 0
    at = first
    inner_square = -1
    if d[INNER_SIZE] > 1:
        inner_square = squares[d[PIECES] - 1]
        if mirrored:
            inner_square = inner_square + 8 - 2 * (inner_square % 9)
    for g in range(d[GROUPS]):
        word = FIRST_GROUP + GROUP_WORDS * g
        side, kind = d[word + GROUP_SIDE], d[word + GROUP_KIND]
        count = d[word + GROUP_COUNT]
        largest = inner_square
        if g == d[TWIN]:
            # Of the inner piece and its twins, the one on the largest square is the inner piece.
            for i in range(count):
                square = squares[at + i]
                if mirrored:
                    square = square + 8 - 2 * (square % 9)
                if square > largest:
                    largest = square
        # If a twin is on the largest square, the former inner piece takes its place in the group.
        rank = group_rank(squares, at, count, side, kind, mirrored, largest, inner_square, d)
        inner_square = largest
        mid += rank * d[word + GROUP_STRIDE]
        at += count
    if d[INNER_SIZE] == 1:
        return mid
    inner_table = SLOT_TABLE + (d[INNER_SIDE] * KINDS + d[INNER_KIND]) * SQUARES
    return mid * d[INNER_SIZE] + d[inner_table + inner_square]


@scalar
def lead_of_ranks(w: Any, b: Any, d: Integers) -> tuple[Any, Any, Any]:
    """Return the lead of the defenders' placement, and two bools.

    If d[REDUCED], a placement and its mirror image share one lead (mirror rule, module `layout`).
    The first bool is True if the lead is that of the mirror image: attackers must then be mirrored,
    too. The second is True if the placement is its own mirror image: mirroring the attackers alone
    then gives an equal position. Without d[REDUCED], both are False.

    w, b : int, ranks of Red's and Black's defenders; or int64 (n,) in plain Python, where the
        results are arrays, too
    """
    if not d[REDUCED]:
        return d[d[LEAD_BASE] + w] + b, w < 0, w < 0
    w_image, b_image = d[d[RED_MIRROR] + w], d[d[BLACK_MIRROR] + b]
    centred = w_image == w
    mirrored = (w_image < w) | (centred & (b_image < b))
    symmetric = centred & (b_image == b)
    w = w + mirrored * (w_image - w)
    b = b + mirrored * (b_image - b)
    within = b + centred * (d[d[LEAD_OFFSET] + b] - b)
    return d[d[LEAD_BASE] + w] + within, mirrored, symmetric


@scalar
def lead_of_squares(squares: Integers, d: Integers) -> tuple[int, bool, bool]:
    """Return the lead of the defenders on `squares`, and the two bools of `lead_of_ranks`."""
    w = defender_rank(squares, 0, 0, d)
    b = defender_rank(squares, 1 + d[RED_ADVISORS] + d[RED_ELEPHANTS], 1, d)
    return lead_of_ranks(w, b, d)


@scalar
def slot_of_squares(squares: Integers, d: Integers) -> int:
    """Return the slot of the placement `squares` (in the order of `Layout.piece_codes`)."""
    first = 2 + d[RED_ADVISORS] + d[RED_ELEPHANTS] + d[BLACK_ADVISORS] + d[BLACK_ELEPHANTS]
    lead, mirrored, symmetric = lead_of_squares(squares, d)
    within = attacker_slot(squares, first, mirrored, d)
    if symmetric:
        within = min(within, attacker_slot(squares, first, True, d))
    return lead * d[MIDS] * d[INNER_SIZE] + within


@scalar
def squares_of_slot(slot: int, d: Integers, squares: Integers) -> None:
    """Write the squares of a slot into `squares`, in the order of `Layout.piece_codes`.

    A slot is a hole if two squares are equal, or if `slot_of_squares` returns another slot.

    squares : Integers (pieces,), out
    """
    inner = slot % d[INNER_SIZE]
    row = slot // d[INNER_SIZE]
    mid = row % d[MIDS]
    lead = row // d[MIDS]
    low = 0
    high = d[LEAD_OFFSET] - d[LEAD_BASE] - 1  # lead_base has one entry more than Red has placements
    while high - low > 1:
        middle = (low + high) // 2
        if d[d[LEAD_BASE] + middle] <= lead:
            low = middle
        else:
            high = middle
    w = low
    b = lead - d[d[LEAD_BASE] + w]
    if d[REDUCED] and d[d[RED_MIRROR] + w] == w:
        # Find Black's b-th placement, from 0, whose rank is at most that of its mirror image.
        rank = b
        b = 0
        while d[d[LEAD_OFFSET] + b] != rank:
            b += 1
    at = 0
    defenders = 1 + d[RED_ADVISORS] + d[RED_ELEPHANTS]
    for i in range(defenders):
        squares[at] = d[d[RED_SQUARES] + w * defenders + i]
        at += 1
    defenders = 1 + d[BLACK_ADVISORS] + d[BLACK_ELEPHANTS]
    for i in range(defenders):
        squares[at] = d[d[BLACK_SQUARES] + b * defenders + i]
        at += 1
    for g in range(d[GROUPS]):
        word = FIRST_GROUP + GROUP_WORDS * g
        rank = mid // d[word + GROUP_STRIDE] % d[word + GROUP_SIZE]
        for j in range(d[word + GROUP_COUNT], 0, -1):
            # The j-th piece has the largest slot with C(slot, j) <= rank.
            slot_j = j - 1
            while d[CHOOSE + (slot_j + 1) * CHOOSE_WIDTH + j] <= rank:
                slot_j += 1
            rank -= d[CHOOSE + slot_j * CHOOSE_WIDTH + j]
            squares[at + j - 1] = d[d[word + GROUP_AREA] + slot_j]
        at += d[word + GROUP_COUNT]
    if d[INNER_SIZE] > 1:
        squares[at] = d[d[INNER_AREA] + inner]
