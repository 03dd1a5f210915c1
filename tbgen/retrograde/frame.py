"""A layout as the row kernels see it: flat arrays, and the moves of the leads.

    lead_moves   for each lead and side, every quiet move of a defender, as
                 (lead after the move, mirrored | eye + 1 << 1 | target << 8 | source << 15)
    mid_taken    the squares of each mid; all ones where its pieces overlap, so that one test
                 against the (never empty) lead finds both kinds of overlap

A row is lead * mids + mid. Planes of codes have STRIDE slots per row in memory (every square of
the inner piece), so that a row is addressed by squares even where the file leaves squares out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.indexing.groups import Defenders
from tbgen.indexing.layout import Layout
from tbgen.indexing.squares import SQUARES, PieceType, Side, area
from tbgen.jit import part
from tbgen.retrograde.bitsets import AREA, BIT, FULL, MIRROR, OFF_BOARD

STRIDE = SQUARES
"""Slots per row of a plane in memory, where there is an inner piece."""


class Frame(NamedTuple):
    """The arrays of one layout. Shapes: L leads, M mids, G groups, P placements of all groups."""

    size: NDArray[np.int64]
    """int64 (7,): the words named below."""
    lead_squares: NDArray[np.int8]
    """int8 (L, pieces): Red's king, advisors, elephants, then Black's."""
    lead_taken: NDArray[np.uint64]
    """uint64 (L, 2): the squares of each lead."""
    self_mirrored: NDArray[np.bool_]
    """bool (L,): leads that are their own mirror image."""
    move_start: NDArray[np.int64]
    """int64 (2, L + 1): where the moves of each side's defenders begin in `lead_moves`."""
    lead_moves: NDArray[np.int32]
    """int32 (n, 2): lead after the move; mirrored | (eye + 1) << 1 | target << 8 | source << 15."""
    mid_taken: NDArray[np.uint64]
    """uint64 (M, 2): the squares of each mid, all ones where they overlap."""
    mid_mirror: NDArray[np.int32]
    """int32 (M,): the mirror image of each mid."""
    groups: NDArray[np.int64]
    """int64 (G, 7): kind, side, count, size, stride, first placement, first row of `extend`."""
    placements: NDArray[np.int8]
    """int8 (P, 5): the squares of each placement, ascending, -1 beyond `count`."""
    companions: NDArray[np.int32]
    """int32 (P, 5): the rank of the placement without its j-th piece."""
    extend: NDArray[np.int32]
    """int32 (companion placements, 90): the placement that a square makes of companions."""
    inner_area: NDArray[np.uint64]
    """uint64 (2,): the squares of the inner piece; the off-board bit where there is none."""


LEADS, MIDS, GROUPS, INNER_KIND, INNER_SIDE, RED_DEFENDERS, TWIN = range(7)
"""Words of `Frame.size`; INNER_KIND and TWIN are -1 where there is none."""
KIND, SIDE, COUNT, SIZE, GROUP_STRIDE, FIRST_PLACEMENT, FIRST_EXTEND = range(7)
"""Words of `Frame.groups`."""

_STEPS = {
    PieceType.KING: ((1, 0), (-1, 0), (0, 1), (0, -1)),
    PieceType.ADVISOR: ((1, 1), (1, -1), (-1, 1), (-1, -1)),
    PieceType.ELEPHANT: ((2, 2), (2, -2), (-2, 2), (-2, -2)),
}


def _defender_moves(defenders: Defenders) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Quiet moves among one side's own placements.

    Returns int64 (size + 1,) starts and int64 (n, 4): placement after the move, eye or -1,
    target, source. An elephant's eye may be taken by any other piece, so it is kept for the rows.
    """
    kinds = (
        [PieceType.KING]
        + [PieceType.ADVISOR] * defenders.advisors
        + [PieceType.ELEPHANT] * defenders.elephants
    )
    starts, after, extra = [0], [], []
    for placement in defenders.squares:
        taken = set(placement.tolist())
        for j, kind in enumerate(kinds):
            rank, file = divmod(int(placement[j]), 9)
            for up, right in _STEPS[kind]:
                target = 9 * (rank + up) + file + right
                if not 0 <= file + right < 9 or target not in area(defenders.side, kind):
                    continue
                eye = 9 * (rank + up // 2) + file + right // 2
                if kind != PieceType.ELEPHANT:
                    eye = -1
                if target in taken or eye in taken:
                    continue
                moved = placement.copy()
                moved[j] = target
                after.append(moved)
                extra.append((eye, target, placement[j]))
        starts.append(len(after))
    if not after:
        return np.array(starts, np.int64), np.zeros((0, 4), np.int64)
    ranks = defenders.rank(np.array(after, np.int8))
    return np.array(starts, np.int64), np.column_stack([ranks, np.array(extra, np.int64)])


def _lead_moves(layout: Layout) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """`Frame.move_start` and `Frame.lead_moves`."""
    ranks = layout.lead_ranks
    starts, moves, offset = [], [], 0
    for side in Side:
        first, table = _defender_moves(layout.defenders[side])
        counts = np.diff(first)[ranks[side]]
        start = np.concatenate([[0], np.cumsum(counts)])
        lead = np.repeat(np.arange(layout.leads), counts)
        entry = table[first[ranks[side]][lead] + np.arange(start[-1]) - start[lead]]
        other = ranks[1 - side][lead]
        red, black = (entry[:, 0], other) if side == Side.RED else (other, entry[:, 0])
        target_lead, mirrored = layout.lead_of(red, black)
        packed = mirrored | (entry[:, 1] + 1) << 1 | entry[:, 2] << 8 | entry[:, 3] << 15
        moves.append(np.column_stack([target_lead, packed]).astype(np.int32))
        starts.append(start + offset)
        offset += int(start[-1])
    return np.stack(starts).astype(np.int64), np.concatenate(moves)


def _taken(squares: NDArray[Any]) -> NDArray[np.uint64]:
    """uint64 (n, 2): the union of the squares in each row; all ones where two are equal."""
    taken = np.zeros((len(squares), 2), np.uint64)
    overlap = np.zeros(len(squares), bool)
    for column in squares.T.astype(np.int64):
        bit = BIT[column]
        overlap |= ((taken & bit) != 0).any(axis=1)
        taken |= bit
    taken[overlap] = FULL
    return taken


def make_frame(layout: Layout, *, with_moves: bool = True) -> Frame:
    """Lay out the arrays; without moves for layouts that are only read (views after captures)."""
    leads, mids = layout.leads, layout.mids
    ranks = layout.lead_ranks
    lead_squares = np.concatenate(
        [defenders.squares[ranks[side]] for side, defenders in enumerate(layout.defenders)], axis=1
    )
    if with_moves:
        move_start, lead_moves = _lead_moves(layout)
    else:
        move_start, lead_moves = np.zeros((2, leads + 1), np.int64), np.zeros((0, 2), np.int32)

    groups = np.zeros((len(layout.groups), 7), np.int64)
    placements, companions, extend = [], [], []
    first_placement = first_extend = 0
    mid_squares = []
    mid_mirror = np.zeros(mids, np.int64)
    for g, (group, stride) in enumerate(zip(layout.groups, layout.strides, strict=True)):
        groups[g] = (group.kind, group.side, group.count, group.size, stride,
                     first_placement, first_extend)  # fmt: skip
        padding = ((0, 0), (0, 5 - group.count))
        placements.append(np.pad(group.squares, padding, constant_values=-1))
        companions.append(np.pad(group.companions, padding, constant_values=-1))
        extend.append(group.extend)
        first_placement += group.size
        first_extend += len(group.extend)
        digit = np.arange(mids) // stride % group.size
        mid_squares.append(group.squares[digit])
        mid_mirror += group.mirror[digit].astype(np.int64) * stride

    inner = layout.inner
    inner_words = (-1, -1) if inner is None else (int(inner.kind), int(inner.side))
    red_pieces = layout.defenders[Side.RED].pieces
    return Frame(
        size=np.array([leads, mids, len(layout.groups), *inner_words, red_pieces, layout.twin]),
        lead_squares=np.ascontiguousarray(lead_squares),
        lead_taken=_taken(lead_squares),
        self_mirrored=layout.self_mirrored if layout.reduced else np.zeros(leads, np.bool_),
        move_start=move_start,
        lead_moves=lead_moves,
        mid_taken=_taken(np.concatenate(mid_squares, axis=1))
        if mid_squares
        else np.zeros((1, 2), np.uint64),
        mid_mirror=mid_mirror.astype(np.int32),
        groups=groups,
        placements=np.concatenate(placements) if placements else np.zeros((0, 5), np.int8),
        companions=np.concatenate(companions) if companions else np.zeros((0, 5), np.int32),
        extend=np.concatenate(extend) if extend else np.zeros((0, SQUARES), np.int32),
        inner_area=AREA[inner.side, inner.kind].copy()
        if inner is not None
        else np.array([OFF_BOARD, 0], np.uint64),
    )


@part
def canonical(lead, mid, square, frame):
    """The mid and the inner square that the index uses for the placement of a slot.

    See `tbgen.indexing.layout`: of the twins of the inner piece, the one on the largest square
    is the inner piece; of the two images on a self-mirrored lead, the smaller slot counts.
    """
    mid_a, square_a = _largest_inside(mid, square, frame)
    if not frame.self_mirrored[lead]:
        return mid_a, square_a
    image = np.int64(frame.mid_mirror[mid])
    mid_b, square_b = _largest_inside(image, MIRROR[square], frame)
    if mid_b < mid_a or (mid_b == mid_a and square_b < square_a):
        return mid_b, square_b
    return mid_a, square_a


@part
def _largest_inside(mid, square, frame):
    """Exchange the inner piece with the twin on the largest square, if that is larger."""
    g = frame.size[TWIN]
    if g < 0:
        return mid, square
    stride = frame.groups[g, GROUP_STRIDE]
    rank = mid // stride % frame.groups[g, SIZE]
    placement = frame.groups[g, FIRST_PLACEMENT] + rank
    last = frame.groups[g, COUNT] - 1
    largest = np.int64(frame.placements[placement, last])
    if square > largest:
        return mid, square
    companions = frame.groups[g, FIRST_EXTEND] + frame.companions[placement, last]
    return mid + (frame.extend[companions, square] - rank) * stride, largest
