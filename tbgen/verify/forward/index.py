# mypy: allow-untyped-defs, allow-untyped-calls
"""The index by rows: what stands where in a row, and which row a move of an outer piece leads to.

    row = lead * mids + mid      the *outer* pieces: those of the lead, and the men of the mid
    column                       the square of the inner piece: its place in its area

Everything is made from the parts of `tbgen.indexing`: placements of defenders and of groups, and
their ranks. Which moves there are is for `best` to say.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tbgen.compiling.jit import inlined_part, part
from tbgen.compiling.lending import lent
from tbgen.indexing.layout import Layout
from tbgen.indexing.slots import BLACK_MIRROR, LEAD_BASE, LEAD_OFFSET, RED_MIRROR
from tbgen.indexing.squares import (
    EMPTY,
    SQUARES,
    PieceType,
    Side,
    area,
    mirror_square,
    piece_kind,
    piece_side,
)
from tbgen.verify.forward.lines import LANES, MARGIN, OFF, STAYS_ON_BOARD

MIDS, COLUMNS, INNER_KIND, INNER_SIDE, LEAD_PIECES, TWIN, SIZES = range(7)
"""Words of `RowIndex.size`; TWIN is the last man of the group like the inner piece, or OFF."""

FIRST_PLACEMENT, FIRST_EXTEND, PLACEMENTS, STRIDE, GROUP_WORDS = range(5)
"""Words of a group: where its lines in `placements` and in `extend` begin, how many placements it
has, and what a rank counts in the mid."""

GROUP, NUMBER, MAN_WORDS = range(3)
"""Words of a man: his group, and which of its pieces he is."""

PIECE, TARGET, EYE, AFTER, MIRRORED, STEP_WORDS = range(6)
"""Words of a defender's step: which of the pieces, the square, the one that an elephant passes or
OFF, and the placement after it; in `Row.steps` the first row of the lead after it, and whether that
is the mirror image."""

_STEPS = {PieceType.KING: (1, -1, 9, -9), PieceType.ADVISOR: (8, -8, 10, -10),
          PieceType.ELEPHANT: (16, -16, 20, -20)}  # fmt: skip
"""Differences of squares; all that lie in the piece's area are steps, or two of an elephant."""

LEAD, NUMBER_OF_ROW, OVERLAPS, ONE, OTHER, MIRROR_MID, WORDS = range(7)
"""Words of `Row.words`: the lead and the number of the row; how many men stand on another outer
piece, and the last two that do, the earlier one first; the mirror image of the mid."""


@lent
class RowIndex(NamedTuple):
    """The parts of a layout. Shapes: G groups, M men, L leads, n columns."""

    size: NDArray[np.int64]
    """int64 (SIZES,)."""
    owns: NDArray[np.bool_]
    """bool (2, 7): whether a side has any piece of a kind."""
    lead_ranks: NDArray[np.int64]
    """int64 (2, L): Red's and Black's defender rank of each lead."""
    defenders: tuple[NDArray[np.int8], NDArray[np.int8]]
    """int8 (placements, pieces) of Red and of Black: squares."""
    step_start: NDArray[np.int64]
    """int64 (2, placements + 1): where the steps of a placement begin."""
    steps: NDArray[np.int64]
    """int64 (steps, STEP_WORDS)."""
    groups: NDArray[np.int64]
    """int64 (G, GROUP_WORDS)."""
    men: NDArray[np.int64]
    """int64 (M, MAN_WORDS)."""
    placements: NDArray[np.int64]
    """int64 (placements of all groups, most pieces): squares."""
    companions: NDArray[np.int64]
    """int64, the same shape: the line of `extend` of the others of each piece's group."""
    mirror: NDArray[np.int64]
    """int64 (placements of all groups,): the rank of the mirror image."""
    extend: NDArray[np.int32]
    """int32 (companions of all groups, 90): the rank that a square makes of companions, or -1."""
    area: NDArray[np.int64]
    """int64 (n + 1,): the square of each column, OFF for the last, which is none."""
    column: NDArray[np.int64]
    """int64 (91,): the column of each square; n where there is none, and for OFF."""
    mirror_column: NDArray[np.int64]
    """int64 (n,): the column of the mirror image."""


@lent
class Row(NamedTuple):
    """One thread's row; S pieces, n columns, and one more that is none."""

    words: NDArray[np.int64]
    """int64 (WORDS,)."""
    squares: NDArray[np.int64]
    """int64 (S,): the outer pieces, as `Layout.piece_codes` has them; OFF if not on the board."""
    other: NDArray[np.int64]
    """int64 (S,): the squares of another position."""
    board: NDArray[np.int8]
    """int8 (90,): the piece codes of the outer pieces."""
    piece_on: NDArray[np.int64]
    """int64 (90,): which piece stands on an occupied square."""
    ranks: NDArray[np.int64]
    """int64 (G,): the rank of each group."""
    steps: NDArray[np.int64]
    """int64 (2, steps, STEP_WORDS): the steps of each side's defenders from the lead."""
    counts: NDArray[np.int64]
    """int64 (2,): how many they are."""
    checked: NDArray[np.uint8]
    """uint8 (2, lanes): 1 in columns in which a side is in check; `lanes` are columns, one more
    that is none, and more up to whole vectors."""
    hung: NDArray[np.uint8]
    """uint8 (2, lanes): 1 in columns in which a side has a piece under attack that may be chased,
    by one that may chase."""
    threats: NDArray[np.uint8]
    """uint8 (2, lanes): what is at stake in columns in which a side has a piece under attack."""
    kinds: NDArray[np.uint8]
    """uint8 (lanes,): what kind the positions of a side are (`ranks`)."""
    canonical: NDArray[np.uint8]
    """uint8 (lanes,): 1 in columns whose slots the index uses for their positions."""
    best: NDArray[Any]
    """ranks (lanes,): the best of the moves."""
    within: NDArray[Any]
    """ranks (MARGIN + lanes + MARGIN,): what moves within the row lead to, 0 beyond its columns."""
    free: NDArray[np.uint8]
    """uint8 (MARGIN + lanes + MARGIN,): 1 for squares without an outer piece, 0 off the board."""
    reached: NDArray[Any]
    """ranks, the same shape: what the inner piece reaches from there."""
    swept: tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
    """ranks (LANES,) each: of a sweep of files, what a piece has passed that it reaches, the last
    piece, and the one before."""
    passed: NDArray[np.int64]
    """int64 (20,): columns that a maximum is to leave as they are."""
    kept: NDArray[Any]
    """ranks (20,): what they hold."""

    @classmethod
    def make(cls, index: RowIndex, pieces: int, ranks: DTypeLike) -> Row:
        """An empty one."""
        columns = int(index.size[COLUMNS]) + 1
        lanes = -(-columns // LANES) * LANES
        # Each in memory of its own: vectors are used where arrays are seen to lie apart.
        checked, hung = np.zeros((2, lanes), np.uint8), np.zeros((2, lanes), np.uint8)
        threats = np.zeros((2, lanes), np.uint8)
        kinds, canonical = np.zeros(lanes, np.uint8), np.zeros(lanes, np.uint8)
        padded = MARGIN + max(lanes, STAYS_ON_BOARD.shape[1]) + MARGIN
        words = np.full(WORDS, OFF, np.int64)
        return cls(
            words, np.full(pieces, OFF, np.int64), np.zeros(pieces, np.int64),
            np.zeros(SQUARES, np.int8), np.zeros(SQUARES, np.int64),
            np.zeros(len(index.groups), np.int64), np.zeros((2, 24, STEP_WORDS), np.int64),
            np.zeros(2, np.int64), checked, hung, threats, kinds, canonical, np.zeros(lanes, ranks),
            np.zeros(padded, ranks), np.zeros(padded, np.uint8), np.zeros(padded, ranks),
            (np.zeros(LANES, ranks), np.zeros(LANES, ranks), np.zeros(LANES, ranks)),
            np.zeros(20, np.int64), np.zeros(20, ranks),
        )  # fmt: skip


def make_index(layout: Layout) -> RowIndex:
    """The parts of a layout with an inner piece."""
    inner = layout.inner
    assert inner is not None
    red, black = layout.defenders
    red_starts, red_steps = _list_steps(layout, Side.RED, 0)
    black_starts, black_steps = _list_steps(layout, Side.BLACK, red.pieces)
    starts = red_starts, black_starts + len(red_steps)
    longest = max(len(red_starts), len(black_starts))
    groups = np.zeros((len(layout.groups), GROUP_WORDS), np.int64)
    most = max([1, *(group.count for group in layout.groups)])
    placements, companions, mirror, extend, men = [], [], [], [], []
    lines = extended = 0
    for g, (group, stride) in enumerate(zip(layout.groups, layout.strides, strict=True)):
        groups[g] = lines, extended, group.size, stride
        men += [(g, number) for number in range(group.count)]
        padding = ((0, 0), (0, most - group.count))
        placements.append(np.pad(group.squares.astype(np.int64), padding))
        companions.append(np.pad(group.companions.astype(np.int64) + extended, padding))
        mirror.append(group.mirror.astype(np.int64))
        extend.append(group.extend)
        lines, extended = lines + group.size, extended + len(group.extend)
    column = np.full(SQUARES + 1, len(inner.area), np.int64)
    column[list(inner.area)] = np.arange(len(inner.area))
    twins = [m for m, (g, _) in enumerate(men) if g == layout.twin]
    owns = np.zeros((len(Side), len(PieceType)), np.bool_)
    for code in layout.piece_codes:
        owns[piece_side(code), piece_kind(code)] = True
    return RowIndex(
        size=np.array([layout.mids, layout.inner_size, int(inner.kind), int(inner.side),
                       red.pieces + black.pieces, max(twins, default=OFF)], np.int64),
        owns=owns,
        lead_ranks=np.stack(layout.lead_ranks).astype(np.int64),
        defenders=(np.ascontiguousarray(red.squares), np.ascontiguousarray(black.squares)),
        step_start=np.stack([np.pad(s, (0, longest - len(s)), mode="edge") for s in starts]),
        steps=np.concatenate([red_steps, black_steps]),
        groups=groups,
        men=np.array(men, np.int64).reshape(-1, MAN_WORDS),
        placements=np.concatenate([np.zeros((0, most), np.int64), *placements]),
        companions=np.concatenate([np.zeros((0, most), np.int64), *companions]),
        mirror=np.concatenate([np.zeros(0, np.int64), *mirror]),
        extend=np.concatenate([np.zeros((0, SQUARES), np.int32), *extend]),
        area=np.array([*inner.area, OFF], np.int64),
        column=column,
        mirror_column=column[[mirror_square(square) for square in inner.area]],
    )  # fmt: skip


def _list_steps(
    layout: Layout, side: Side, first_piece: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """int64 (placements + 1,) starts, and int64 (n, STEP_WORDS): the steps of one side's defenders.

    Other pieces may stand in their way; those of the placement itself do not.
    """
    defenders = layout.defenders[side]
    kinds = [PieceType.KING] + [PieceType.ADVISOR] * defenders.advisors
    kinds += [PieceType.ELEPHANT] * defenders.elephants
    squares = defenders.squares.astype(np.int64)
    found = []
    for piece, kind in enumerate(kinds):
        for difference in _STEPS[kind]:
            target = squares[:, piece] + difference
            eye = np.full(len(squares), OFF)
            if kind == PieceType.ELEPHANT:
                eye = squares[:, piece] + difference // 2
            blocked = (squares == target[:, None]) | (squares == eye[:, None])
            possible = np.isin(target, area(side, kind)) & ~blocked.any(axis=1)
            placed = squares[possible]
            placed[:, piece] = target[possible]
            after = defenders.rank(placed) if len(placed) else np.zeros(0, np.int64)
            number = np.flatnonzero(possible)
            found.append(
                np.column_stack([number, np.full(len(number), first_piece + piece),
                                 target[possible], eye[possible], after,
                                 np.zeros(len(number), np.int64)])
            )  # fmt: skip
    steps = np.concatenate(found)
    steps = steps[np.argsort(steps[:, 0], kind="stable")]
    starts = np.searchsorted(steps[:, 0], np.arange(len(squares) + 1))
    return starts, np.ascontiguousarray(steps[:, 1:])


@part
def _set_lead(lead, row, index, arrays):
    """Write the squares of a lead, and its steps.

    lead : int
    """
    d = arrays.descriptor
    mids = index.size[MIDS]
    red, black = index.lead_ranks[0, lead], index.lead_ranks[1, lead]
    red_squares, black_squares = index.defenders
    first = red_squares.shape[1]
    for p in range(first):
        row.squares[p] = red_squares[red, p]
    for p in range(black_squares.shape[1]):
        row.squares[first + p] = black_squares[black, p]
    for side in range(2):
        own = red
        if side == 1:
            own = black
        count = 0
        for s in range(index.step_start[side, own], index.step_start[side, own + 1]):
            w, b = red, black
            if side == 0:
                w = index.steps[s, AFTER]
            else:
                b = index.steps[s, AFTER]
            w_image, b_image = d[d[RED_MIRROR] + w], d[d[BLACK_MIRROR] + b]
            mirrored = w_image < w or (w_image == w and b_image < b)
            symmetric = w_image == w
            if mirrored:
                w, b = w_image, b_image
            after = d[d[LEAD_BASE] + w]
            if symmetric:
                after += d[d[LEAD_OFFSET] + b]
            else:
                after += b
            row.steps[side, count, PIECE] = index.steps[s, PIECE]
            row.steps[side, count, TARGET] = index.steps[s, TARGET]
            row.steps[side, count, EYE] = index.steps[s, EYE]
            row.steps[side, count, AFTER] = after * mids
            row.steps[side, count, MIRRORED] = mirrored
            count += 1
        row.counts[side] = count


@part
def set_row(number, row, index, arrays):
    """Write what stands in a row: its squares, its board, and how many pieces overlap."""
    mids, pieces = index.size[MIDS], index.size[LEAD_PIECES]
    words, board, squares = row.words, row.board, row.squares
    lead, mid = number // mids, number % mids
    for p in range(squares.size - 1):
        if squares[p] != OFF:
            board[squares[p]] = EMPTY
    if words[LEAD] != lead or squares[0] == OFF:
        _set_lead(lead, row, index, arrays)
    words[LEAD], words[NUMBER_OF_ROW], words[OVERLAPS] = lead, number, 0
    image = 0
    for g in range(row.ranks.size):
        line = index.groups[g]
        rank = mid // line[STRIDE] % line[PLACEMENTS]
        row.ranks[g] = rank
        image += index.mirror[line[FIRST_PLACEMENT] + rank] * line[STRIDE]
    words[MIRROR_MID] = image
    for m in range(index.men.shape[0]):
        g = index.men[m, GROUP]
        line = index.groups[g, FIRST_PLACEMENT] + row.ranks[g]
        squares[pieces + m] = index.placements[line, index.men[m, NUMBER]]
    for p in range(squares.size - 1):
        square = squares[p]
        if board[square] != EMPTY:
            words[OVERLAPS] += 1
            words[ONE], words[OTHER] = row.piece_on[square], p
        board[square] = arrays.men.pieces[p]
        row.piece_on[square] = p


@part
def lift(man, plane, row, index):
    """Take a man off the row: (the first slot of the row without the rank of his group, the line of
    `extend` of the others of his group, what a rank counts in slots).

    plane : int, the first slot of the plane that the row is looked for in
    """
    g = index.men[man, GROUP]
    group, rank = index.groups[g], row.ranks[g]
    line = index.companions[group[FIRST_PLACEMENT] + rank, index.men[man, NUMBER]]
    stride = group[STRIDE] * index.size[COLUMNS]
    return plane + row.words[NUMBER_OF_ROW] * index.size[COLUMNS] - rank * stride, line, stride


@part
def put_down(square, lifted, index):
    """The first slot of the row in which a man stands on another square, of those of his kind.

    lifted : tuple of int, as `lift` says
    """
    rest, line, stride = lifted
    return rest + np.int64(index.extend[line, square]) * stride


@inlined_part
def is_canonical(column, row, index, arrays):
    """Whether the slot of a column of the row is the one that the index uses for its position.

    column : int; no pieces overlap
    """
    mids = index.size[MIDS]
    own, own_column = largest_inside(row.words[NUMBER_OF_ROW] % mids, column, index)
    if own_column != column:
        return False
    if not arrays.self_mirrored[row.words[LEAD]]:
        return True
    image, image_column = largest_inside(row.words[MIRROR_MID], index.mirror_column[column], index)
    return own < image or (own == image and column <= image_column)


@part
def mark_canonical(row, index, arrays):
    """Mark in `row.canonical` the columns that `is_canonical`."""
    canonical = row.canonical
    if index.size[TWIN] == OFF and not arrays.self_mirrored[row.words[LEAD]]:
        for column in range(canonical.size):
            canonical[column] = 1
        return
    for column in range(index.size[COLUMNS]):
        canonical[column] = is_canonical(column, row, index, arrays)


@inlined_part
def largest_inside(mid, column, index):
    """The mid and column of the same pieces with the inner one on the largest square of its twins.

    mid, column : int
    """
    twin = index.size[TWIN]
    if twin == OFF:
        return mid, column
    line = index.groups[index.men[twin, GROUP]]
    rank = mid // line[STRIDE] % line[PLACEMENTS]
    at, number = line[FIRST_PLACEMENT] + rank, index.men[twin, NUMBER]
    largest = index.placements[at, number]
    if index.area[column] >= largest:
        return mid, column
    other = np.int64(index.extend[index.companions[at, number], index.area[column]])
    return mid + (other - rank) * line[STRIDE], index.column[largest]
