# mypy: allow-untyped-defs, allow-untyped-calls
"""A layout as flat arrays for the row kernels, with the moves of the leads.

    lead   placement of the defenders (kings, advisors, elephants) of both sides: `lead_squares` has
           their squares, `lead_after` and `lead_moves` each of their moves
    mid    placement of the *men*, all attackers except the inner piece: `mid_squares` has their
           squares, `mid_mirror` the mirror image, `men` the kind, side, stride and group of each
           man, `groups` the groups of identical men, `mid_companions` and `extend` the moves to
           other mids

A mid is the sum over all groups of *rank* (number of the placement of the group's men) times
*stride*. A man's *companions* are the other men of its group. A man's move changes one rank, to

    extend[mid_companions[mid, man], square after the move]
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import by_pointer, part
from tbgen.indexing.groups import Defenders
from tbgen.indexing.layout import Layout
from tbgen.indexing.squares import SQUARES, PieceType, Side, piece_kind
from tbgen.rows.bitsets import AREA, BIT, FULL, MIRROR, NOWHERE, OFF_BOARD
from tbgen.rules.board import MAX_MOVES
from tbgen.rules.moves import piece_moves

STRIDE = SQUARES
"""Number of slots of a row in memory: one for each square, even where the inner piece cannot stand.
Without an inner piece, a row has one slot.
"""


@by_pointer
class Frame(NamedTuple):
    """Arrays of one layout. Shapes: L leads, M mids, N men, G groups of identical men."""

    leads: int
    mids: int
    inner_kind: int
    inner_side: int
    """Side of the inner piece; `inner_kind` is its `PieceType`. Both are -1 if there is none."""
    red_defenders: int
    """Number of Red's defenders."""
    twin: int
    """Column of `mid_squares` of the inner piece's twin, a man of its side and kind; of several,
    the one on the largest square. -1 if there is none.
    """
    lead_squares: NDArray[np.int8]
    """int8 (L, defenders): squares of Red's king, advisors and elephants, then of Black's."""
    lead_taken: NDArray[np.uint64]
    """uint64 (L, 2): the occupied squares of each lead."""
    self_mirrored: NDArray[np.bool_]
    """bool (L,): leads that are their own mirror image; all False if mirror images have leads of
    their own (`Layout.reduced`).
    """
    move_start: NDArray[np.int64]
    """int64 (2, L + 1): start of each lead's moves in `lead_after` and `lead_moves`, by the side
    whose king, advisor or elephant moves. Without the moves (`make_frame`), all are 0.
    """
    lead_after: NDArray[np.int32]
    """int32 (moves,): the lead that each move of a king, advisor or elephant leads to. Attackers
    are not considered.
    """
    lead_moves: NDArray[np.int8]
    """int8 (moves, 4): `MIRRORED`, `EYE`, `TARGET` and `SOURCE` of the moves in `lead_after`."""
    mid_squares: NDArray[np.int8]
    """int8 (M, N): the square of each man; ascending within a group."""
    mid_companions: NDArray[np.int32]
    """int32 (M, N): the row of `extend` of each man's companions."""
    mid_taken: NDArray[np.uint64]
    """uint64 (M, 2): the occupied squares of each mid; all ones if two men share a square, so that
    the mid overlaps with every lead.
    """
    mid_mirror: NDArray[np.int32]
    """int32 (M,): the mirror image of each mid."""
    men: NDArray[np.int64]
    """int64 (N, 4): the columns `KIND`, `SIDE`, `GROUP_STRIDE` and `GROUP` of each man."""
    groups: NDArray[np.int64]
    """int64 (G, 7): the columns `KIND`, `SIDE`, `GROUP_STRIDE`, and `SIZE` to `COMPANIONS`."""
    extend: NDArray[np.int32]
    """int32 (companion placements of all groups, 90): rank of the placement that consists of these
    companions and one more man on each square; -1 if the square is outside the man's area, or
    occupied by a companion.
    """
    inner_area: NDArray[np.uint64]
    """uint64 (2,): the squares where the inner piece may stand; OFF_BOARD if there is none."""


KIND, SIDE, GROUP_STRIDE = range(3)
"""Columns of `Frame.men` and `Frame.groups`: kind and side of the men, and the group's stride."""
GROUP = 3
"""Column of `Frame.men`: the number of the group that the man belongs to."""
SIZE, FIRST_MAN, FIRST_EXTEND, COMPANIONS = range(3, 7)
"""Columns of `Frame.groups`: number of the group's placements, column of its first man in
`Frame.mid_squares`, and first row and number of its companion placements in `Frame.extend`.
"""
MIRRORED, EYE, TARGET, SOURCE = range(4)
"""Columns of `Frame.lead_moves`. MIRRORED: 1 if the placement after the move is the mirror image of
the lead `lead_after`. EYE: the square that must be free for an elephant's move, NOWHERE for other
pieces. TARGET, SOURCE: squares of the move, not mirrored.
"""

_BLOCK = 1 << 12
"""Number of leads whose moves are found at a time; this limits the memory of temporary arrays."""


def _defender_moves(defenders: Defenders) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the moves of one side's king, advisors and elephants, by placement.

    Only these pieces block moves. Returns two int64 arrays: the start of each placement's moves,
    (placements + 1,), and the moves, (n, 4): rank of the placement after the move, and the columns
    `EYE`, `TARGET` and `SOURCE` of `Frame.lead_moves`.
    """
    starts, after, extra = [0], [], []
    targets = [0] * MAX_MOVES
    for placement in defenders.squares.tolist():
        board = bytearray(SQUARES)
        for code, square in zip(defenders.codes, placement, strict=True):
            board[square] = code
        for j, (code, source) in enumerate(zip(defenders.codes, placement, strict=True)):
            for target in targets[: piece_moves(board, source, targets, 0)]:
                after.append([*placement[:j], target, *placement[j + 1 :]])
                eye = (source + target) // 2 if piece_kind(code) == PieceType.ELEPHANT else NOWHERE
                extra.append((eye, target, source))
        starts.append(len(after))
    ranks = defenders.rank(np.array(after, np.int8))
    return np.array(starts, np.int64), np.column_stack([ranks, np.array(extra, np.int64)])


def _lead_moves(
    layout: Layout, ranks: tuple[NDArray[np.int64], NDArray[np.int64]]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int8]]:
    """Return `Frame.move_start`, `Frame.lead_after` and `Frame.lead_moves`.

    ranks : `Layout.lead_ranks`
    """
    leads = layout.leads
    tables = [_defender_moves(defenders) for defenders in layout.defenders]
    counts = [np.diff(first)[ranks[side]] for side, (first, _) in enumerate(tables)]
    ends = np.cumsum(np.concatenate([[0], *counts]))
    starts = np.stack([ends[: leads + 1], ends[leads:]])
    after = np.zeros(ends[-1], np.int32)
    moves = np.zeros((ends[-1], 4), np.int8)
    for lead_0 in range(0, leads, _BLOCK):
        lead_1 = min(leads, lead_0 + _BLOCK)
        for side, (first, table) in enumerate(tables):
            own = slice(starts[side, lead_0], starts[side, lead_1])
            # Of each move: its lead, and its number among the moves of the lead.
            lead = np.repeat(np.arange(lead_0, lead_1), counts[side][lead_0:lead_1])
            number = np.arange(own.start, own.stop) - starts[side, lead]
            entry = table[first[ranks[side][lead]] + number]
            placements = [entry[:, 0], ranks[1 - side][lead]]
            red, black = placements if side == Side.RED else reversed(placements)
            after[own], moves[own, MIRRORED] = layout.lead_of(red, black)
            moves[own, EYE:] = entry[:, 1:]
    return starts, after, moves


def _taken(squares: NDArray[Any]) -> NDArray[np.uint64]:
    """Return the occupied squares of each placement as a set, uint64 (n, 2).

    All bits are set if two pieces of a placement stand on one square.

    squares : integers (n, pieces)
    """
    taken = np.zeros((len(squares), 2), np.uint64)
    overlap = np.zeros(len(squares), bool)
    for column in squares.T:
        bit = BIT[column]
        overlap |= ((taken & bit) != 0).any(axis=1)
        taken |= bit
    taken[overlap] = FULL
    return taken


def _men(
    layout: Layout,
) -> tuple[
    NDArray[np.int8], NDArray[np.int32], NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]
]:
    """Return `Frame.mid_squares`, `mid_companions`, `mid_mirror`, `men` and `groups`."""
    number = sum(group.count for group in layout.groups)
    squares = np.zeros((layout.mids, number), np.int8)
    companions = np.zeros((layout.mids, number), np.int32)
    mirror = np.zeros(layout.mids, np.int32)
    men = np.zeros((number, 4), np.int64)
    groups = np.zeros((len(layout.groups), 7), np.int64)
    first_man = first_extend = 0
    for g, (group, stride) in enumerate(zip(layout.groups, layout.strides, strict=True)):
        groups[g] = (group.kind, group.side, stride, group.size, first_man, first_extend,
                     len(group.extend))  # fmt: skip
        rank = np.arange(layout.mids) // stride % group.size
        own = slice(first_man, first_man + group.count)
        men[own] = group.kind, group.side, stride, g
        squares[:, own] = group.squares[rank]
        companions[:, own] = first_extend + group.companions[rank]
        mirror += group.mirror[rank] * np.int32(stride)
        first_man += group.count
        first_extend += len(group.extend)
    return squares, companions, mirror, men, groups


def make_frame(layout: Layout, *, with_moves: bool = True) -> Frame:
    """Return the arrays of a layout.

    with_moves : fill the arrays of the defenders' moves, which are not needed to read tables
    """
    leads, ranks = layout.leads, layout.lead_ranks
    lead_squares = np.concatenate(
        [defenders.squares[ranks[side]] for side, defenders in enumerate(layout.defenders)], axis=1
    )
    if with_moves:
        move_start, lead_after, lead_moves = _lead_moves(layout, ranks)
    else:
        move_start = np.zeros((2, leads + 1), np.int64)
        lead_after, lead_moves = np.zeros(0, np.int32), np.zeros((0, 4), np.int8)
    mid_squares, mid_companions, mid_mirror, men, groups = _men(layout)
    extend = [np.zeros((0, SQUARES), np.int32), *(group.extend for group in layout.groups)]
    inner, twin = layout.inner, layout.twin
    return Frame(
        leads=layout.leads,
        mids=layout.mids,
        inner_kind=-1 if inner is None else int(inner.kind),
        inner_side=-1 if inner is None else int(inner.side),
        red_defenders=layout.defenders[Side.RED].pieces,
        twin=-1 if twin < 0 else int(np.flatnonzero(men[:, GROUP] == twin)[-1]),
        lead_squares=np.ascontiguousarray(lead_squares),
        lead_taken=_taken(lead_squares),
        self_mirrored=layout.self_mirrored if layout.reduced else np.zeros(leads, np.bool_),
        move_start=move_start,
        lead_after=lead_after,
        lead_moves=lead_moves,
        mid_squares=mid_squares,
        mid_companions=mid_companions,
        mid_taken=_taken(mid_squares),
        mid_mirror=mid_mirror,
        men=men,
        groups=groups,
        extend=np.concatenate(extend),
        inner_area=AREA[inner.side, inner.kind].copy()
        if inner is not None
        else np.array([OFF_BOARD, 0], np.uint64),
    )


@part
def rank_of(mid, man, frame):
    """Return the rank of the placement of a man's group in a mid."""
    return np.int64(frame.extend[frame.mid_companions[mid, man], frame.mid_squares[mid, man]])


@part
def with_rank_zero(mid, man, frame):
    """Return a mid with the placement of a man's group replaced by that of rank 0.

    Adding the rank after a move of the man, times the group's stride, gives the mid after the move.
    """
    return mid - rank_of(mid, man, frame) * frame.men[man, GROUP_STRIDE]


@part
def canonical(lead, mid, square, frame):
    """Return the mid and the inner square of the canonical slot of a position; its lead is `lead`.

    Of the inner piece and its twins (same side and kind), the one on the largest square is the
    inner piece of the canonical slot. On a lead that is its own mirror image, the slots of position
    and mirror image are compared by mid, then by inner square; the smaller one is canonical.
    """
    mid_a, square_a = _largest_as_inner(mid, square, frame)
    if not frame.self_mirrored[lead]:
        return mid_a, square_a
    image = np.int64(frame.mid_mirror[mid])
    mid_b, square_b = _largest_as_inner(image, MIRROR[square], frame)
    if mid_b < mid_a or (mid_b == mid_a and square_b < square_a):
        return mid_b, square_b
    return mid_a, square_a


@part
def is_canonical(lead, mid, square, frame):
    """Return whether a slot is canonical; its pieces must be on different squares."""
    slot_mid, slot_square = canonical(lead, mid, square, frame)
    return slot_mid == mid and slot_square == square


@part
def _largest_as_inner(mid, square, frame):
    """Exchange the inner piece and the man `Frame.twin`, unless the inner piece's square is larger.

    Returns the mid and the inner square afterwards.
    """
    twin = frame.twin
    if twin < 0:
        return mid, square
    largest = np.int64(frame.mid_squares[mid, twin])
    if square > largest:
        return mid, square
    rank = frame.extend[frame.mid_companions[mid, twin], square]
    return with_rank_zero(mid, twin, frame) + rank * frame.men[twin, GROUP_STRIDE], largest
