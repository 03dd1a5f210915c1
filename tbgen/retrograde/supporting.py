# mypy: allow-untyped-defs, allow-untyped-calls
"""Phase 2a: supporting tables in memory, and *views* of them with the parent's index.

A capture leads from the parent, the table that is solved, into a *supporting table* with another
index. For each kind of captured piece, the supporting table is rearranged into a *view*: the index
of the parent, with the captured piece left out. A row of the view then has the results of one
capturing move for all ninety squares of the inner piece. If both the inner piece and men of its
kind can be captured, there is a view for each of the two.

While loading, the code of the position after the capture becomes the value of the capture, as a
number in the palette of all captures (`captures.py`). If a table is `swapped`, its colours are
exchanged: Red is the parent's Black.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tbgen.compiling.jit import borrowing_kernel
from tbgen.indexing.groups import FLIP, MIRROR, Group
from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material
from tbgen.indexing.slots import group_rank
from tbgen.indexing.squares import Side
from tbgen.retrograde.legality import legal_row
from tbgen.rows.bitsets import first_square, without_first
from tbgen.rows.frame import (
    FIRST_EXTEND,
    GROUP_STRIDE,
    KIND,
    SIDE,
    STRIDE,
    Frame,
    canonical,
    make_frame,
)
from tbgen.rows.workers import Workers
from tbgen.tables.blocks import Codes, NumbersOf
from tbgen.tables.codes import CodeSpace
from tbgen.tables.errors import TablebaseError

Plane = NDArray[Any]
"""unsigned (n,): codes, or their numbers in a palette, by slot or by row and square; one side to
move.
"""

MOST_MEN = 5
"""Maximum number of men of one group: an army's five pawns."""

AS_INNER = -1
"""Value in place of a group's number: the piece is the inner piece of the supporting table."""


class SupportingTable(Protocol):
    """Interface of supporting tables: the part of a finished table that the solver needs."""

    @property
    def code_space(self) -> CodeSpace:
        """Code space of the table."""

    @property
    def layout(self) -> Layout:
        """Index of the table."""

    def occurring_codes(self, side: int) -> Collection[int]:
        """Return all codes of positions with `side` to move, and possibly others."""

    def tiles(self, side: int) -> int:
        """Return the number of tiles of a side; a tile has one or more leads, read at once."""

    def tile(self, side: int, number: int, numbers_of: NumbersOf) -> list[tuple[int, Plane]]:
        """Return a tile as runs of consecutive leads: for each run, its first slot and its numbers.

        Slots that are not canonical have the number of an arbitrary code.

        number : the tile, from 0 on
        numbers_of : maps distinct codes (n,) to the numbers (n,) that are returned for them
        """


@borrowing_kernel
def _k_unpack(lead_0, lead_1, side, source, slot_of_square, frame, plane):
    """Write the values of slots to a plane with rows of ninety squares; illegal positions get 0.

    All slots of a position get the value of its canonical slot.

    source : unsigned (slots of the leads [lead_0, lead_1),), the value of the capture that leads to
        each slot, as a number in the palette of captures
    slot_of_square : int64 (90,), the inner slot of each square, -1 if there is none
    plane : unsigned (rows * 90,), or (rows,) without an inner piece, out; of all leads

    Returns whether no legal position got the value 0; without an inner piece, always True.
    """
    complete = True
    mids = frame.mids
    has_inner = frame.inner_kind >= 0
    inner_size = 0
    for square in range(STRIDE):
        inner_size += slot_of_square[square] >= 0
    for lead in range(lead_0, lead_1):
        for mid in range(mids):
            row = lead * mids + mid
            lo, hi = legal_row(lead, mid, side, frame)
            if not has_inner:
                # Without an inner piece there are no twins, and a single mid, without men.
                plane[row] = source[row - lead_0 * mids] if lo else 0
                continue
            for square in range(STRIDE):
                plane[row * STRIDE + square] = 0
            first = (lead - lead_0) * mids
            while lo | hi:
                square = first_square(lo, hi)
                lo, hi = without_first(lo, hi)
                slot_mid, slot_square = canonical(lead, mid, square, frame)
                slot = (first + slot_mid) * inner_size + slot_of_square[slot_square]
                plane[row * STRIDE + square] = source[slot]
                complete &= source[slot] != 0
    return complete


def load_plane(
    table: SupportingTable,
    side: int,
    numbers: Mapping[int, int],
    dtype: DTypeLike,
    frame: Frame,
    workers: Workers,
) -> Plane:
    """Load one side of a supporting table, as values of the captures that lead to it.

    side : to move after the capture, in the table's colours
    numbers : map from each code that may occur in the table to the number, in the palette of
        captures, of a capture that leads to it
    dtype : unsigned, of the numbers and of the result
    frame : of the table

    Returns an array by row and square, (rows * 90,), or (rows,) if the table has no inner piece;
    illegal positions have 0. Raises the errors of reading the table, and `TablebaseError` if a
    legal position has a code that is not in `numbers` (not tested without an inner piece).
    """
    layout = table.layout
    plane: Plane = workers.storage.zeros(layout.rows * (STRIDE if layout.inner else 1), dtype)
    codes = np.array([*sorted(numbers), np.iinfo(np.int64).max])
    number_of_code = np.array([*(numbers[code] for code in sorted(numbers)), 0], dtype)

    def numbers_of(found: Codes) -> Plane:
        places = codes.searchsorted(found)
        return np.where(codes[places] == found, number_of_code[places], number_of_code[-1])

    slot_of_square = np.full(STRIDE, -1, np.int64)
    if layout.inner:
        slot_of_square[list(layout.inner.area)] = np.arange(layout.inner_size)
    per_lead = layout.mids * layout.inner_size

    def unpack(tile_0: int, tile_1: int, _: int) -> None:
        for tile in range(tile_0, tile_1):
            for first, source in table.tile(side, tile, numbers_of):
                lead_0, leads = first // per_lead, len(source) // per_lead
                if not _k_unpack(
                    lead_0, lead_0 + leads, int(side), source, slot_of_square, frame, plane
                ):
                    raise TablebaseError(
                        f"the table of {Material(*layout.armies).name} has a value that its "
                        "statistics do not count; build it again"
                    )

    workers.run(unpack, table.tiles(side))
    return plane


@borrowing_kernel
def _k_view(
    first, last, chosen, view, squares, count, frame, plane, table, descriptor, leads, mirrored,
    roles, receiver, seen_as,
):  # fmt: skip
    """Fill rows of a view from the plane of its supporting table, here called the table.

    first, last : int64, the rows of the leads chosen[first : last] are filled
    chosen : int64 (n,), the leads of the view to lay out, one after the other
    view : unsigned (rows * 90,) or (rows,), out; of the leads `chosen` only
    squares : int64 (MOST_MEN * groups of the table,), scratch: the squares of the table's groups
    count : int64 (groups of the table,), scratch: number of squares written for each group
    frame, table : Frame of the view and of the supporting table
    plane : unsigned (rows of the table * 90,) or (rows,), by row and square (`load_plane`)
    descriptor : int64 (words,), of the table's layout (`tbgen.indexing.slots`)
    leads, mirrored : int64 and bool (leads of the view,), for each lead of the view the table's
        lead, and whether that stands for the mirror image
    roles : int64 (men of the view,), the table's group to which each man belongs, or AS_INNER
    receiver : int64, the table's group to which the view's inner piece belongs, or AS_INNER
    seen_as : int64 (2, 90), the table's square for each square of the view; row 1 for leads that
        stand for the mirror image
    """
    mids, table_mids = frame.mids, table.mids
    has_inner = frame.inner_kind >= 0
    table_stride = STRIDE if table.inner_kind >= 0 else 1
    table_groups = table.groups.shape[0]
    for number in range(first, last):
        lead = chosen[number]
        seen = seen_as[1 if mirrored[lead] else 0]
        for mid in range(mids):
            row = number * mids + mid
            lo = frame.lead_taken[lead, 0] & frame.mid_taken[mid, 0]
            hi = frame.lead_taken[lead, 1] & frame.mid_taken[mid, 1]
            if has_inner:
                for s in range(STRIDE):
                    view[row * STRIDE + s] = 0
            else:
                view[row] = 0
            if lo | hi:
                continue
            inner_square = 0
            for g in range(table_groups):
                count[g] = 0
            for man in range(roles.size):
                square = seen[frame.mid_squares[mid, man]]
                t = roles[man]
                if t == AS_INNER:
                    inner_square = square
                else:
                    squares[t * MOST_MEN + count[t]] = square
                    count[t] += 1
            table_mid = np.int64(0)
            companions = np.int64(0)
            for t in range(table_groups):
                rank = group_rank(squares, t * MOST_MEN, count[t], table.groups[t, SIDE],
                                  table.groups[t, KIND], False, -1, -1, descriptor)  # fmt: skip
                if t == receiver:
                    companions = table.groups[t, FIRST_EXTEND] + rank
                else:
                    table_mid += rank * table.groups[t, GROUP_STRIDE]
            base = leads[lead] * table_mids + table_mid
            if not has_inner:
                view[row] = plane[base * table_stride + inner_square]
                continue
            lo = frame.inner_area[0] & ~(frame.lead_taken[lead, 0] | frame.mid_taken[mid, 0])
            hi = frame.inner_area[1] & ~(frame.lead_taken[lead, 1] | frame.mid_taken[mid, 1])
            while lo | hi:
                square = first_square(lo, hi)
                lo, hi = without_first(lo, hi)
                at = seen[square]
                if receiver == AS_INNER:
                    source = base * STRIDE + at
                else:
                    inner_rank = np.int64(table.extend[companions, at])
                    source = (base + inner_rank * table.groups[receiver, GROUP_STRIDE]) * STRIDE
                    source += inner_square
                view[row * STRIDE + square] = plane[source]


def _table_leads(
    view: Layout, table: Layout, swapped: bool
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the parameters `leads` and `mirrored` of `_k_view`."""
    ranks, view_ranks = [], view.lead_ranks
    for side in Side:
        source = side.other if swapped else side
        squares = view.defenders[source].squares
        after = table.defenders[side].rank(FLIP[squares] if swapped else squares)
        ranks.append(after[view_ranks[source]])
    del view_ranks  # the next step needs the most memory
    return table.lead_of(*ranks)


def _roles(
    view: Layout, table: Layout, swapped: bool, men: NDArray[np.int64]
) -> tuple[NDArray[np.int64], int]:
    """Return the parameters `roles` and `receiver` of `_k_view`.

    men : int64 (men of the view, 4), `Frame.men`
    """

    def seen(side: int, kind: int) -> Group:
        return Group(side ^ swapped, kind, 1)

    group_of = {Group(group.side, group.kind, 1): t for t, group in enumerate(table.groups)}
    men_seen = [seen(man[SIDE], man[KIND]) for man in men.tolist()]
    roles = [group_of.get(man, AS_INNER) for man in men_seen]
    inner = None if view.inner is None else seen(view.inner.side, view.inner.kind)
    if inner == table.inner:
        return np.array(roles, np.int64), AS_INNER
    if table.inner is not None:
        # The last man of the table's inner kind and side becomes its inner piece.
        roles[len(men) - 1 - men_seen[::-1].index(table.inner)] = AS_INNER
    return np.array(roles, np.int64), AS_INNER if inner is None else group_of[inner]


class ViewMaker:
    """Converter of a supporting table's plane (`load_plane`) to a view."""

    def __init__(
        self, view: Layout, table: Layout, table_frame: Frame, swapped: bool, plane: Plane
    ) -> None:
        """Prepare the conversion of `plane`, one side of `table`, to the index `view`."""
        self.frame = make_frame(view, with_moves=False)
        self._plane = plane
        self._lead_size = view.mids * (STRIDE if view.inner else 1)
        self._groups = len(table.groups)
        seen = FLIP if swapped else np.arange(STRIDE)
        self._arguments = (
            table_frame, table.descriptor, *_table_leads(view, table, swapped),
            *_roles(view, table, swapped, self.frame.men), np.stack([seen, MIRROR[seen]]),
        )  # fmt: skip

    def whole(self, workers: Workers) -> Plane:
        """Return all rows of the view, (rows * 90,), or (rows,) if it has no inner piece."""
        leads = np.arange(self.frame.leads)
        view: Plane = workers.storage.zeros(len(leads) * self._lead_size, self._plane.dtype)
        workers.run(lambda first, last, _: self._fill(first, last, leads, view), len(leads))
        return view

    def part(self, leads: NDArray[np.int64]) -> Plane:
        """Return the rows of some leads of the view, one lead after the other."""
        view: Plane = np.empty(len(leads) * self._lead_size, self._plane.dtype)
        self._fill(0, len(leads), leads, view)
        return view

    def _fill(self, first: int, last: int, leads: NDArray[np.int64], view: Plane) -> None:
        """Write the rows of leads[first : last] to their places among the rows of all `leads`."""
        squares = np.zeros(MOST_MEN * self._groups, np.int64)
        count = np.zeros(self._groups, np.int64)
        _k_view(first, last, leads, view, squares, count, self.frame, self._plane, *self._arguments)


BYTE_CODES = CodeSpace(1)
"""Code space with order 0 only, one byte per code."""


@dataclass(frozen=True)
class DrawnTable:
    """`SupportingTable` in which each position is a draw, as in materials without attackers."""

    layout: Layout
    code_space: CodeSpace = BYTE_CODES
    absent_codes: tuple[int, ...] = ()
    """Codes that no position has, but that `occurring_codes` returns."""

    def occurring_codes(self, side: int) -> Collection[int]:
        """Return the code of the draw, and `absent_codes`."""
        return (self.code_space.draw, *self.absent_codes)

    def tiles(self, side: int) -> int:
        """Return the number of tiles of a side: one."""
        return 1

    def tile(self, side: int, number: int, numbers_of: NumbersOf) -> list[tuple[int, Plane]]:
        """Return all leads as one run, each slot with the number of the draw."""
        draw = numbers_of(np.array([self.code_space.draw], self.code_space.dtype))
        return [(0, np.full(self.layout.slots, draw, draw.dtype))]
