# mypy: allow-untyped-defs, allow-untyped-calls
"""Values of all positions as planes: arrays by slot, one for each side to move.

`Solution`        codes of a material from the journals, a chunk of leads or a plane at a time
`CountedPlanes`   planes and their statistics for a writer of files; one plane is in memory

A palette (`tables/palettes.py`) is the ascending list of 0, the draw and the codes that occur. The
*number* of a code is its index there; `CountedPlanes` has numbers. If a position has several slots,
one is *canonical*; the others are empty (code and number 0). Parameters of kernels:
`tbgen.retrograde`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tbgen.compiling.jit import borrowing_kernel
from tbgen.indexing.layout import Layout
from tbgen.retrograde.journal import Journal
from tbgen.retrograde.supporting import Plane
from tbgen.rows.frame import STRIDE, Frame, is_canonical
from tbgen.rows.workers import Chunks, Workers
from tbgen.tables.blocks import NumbersOf
from tbgen.tables.codes import CodeSpace
from tbgen.tables.names import Metric
from tbgen.tables.palettes import Palette


class CodeCount(NamedTuple):
    """Number of positions with a code, and the first slot with this code."""

    positions: int
    first: int


@borrowing_kernel
def _k_empty_unused(lead_0, lead_1, numbers, frame):
    """Set the numbers of some leads to 0 in all slots but the canonical one of each position."""
    mids = frame.mids
    for lead in range(lead_0, lead_1):
        if not (frame.self_mirrored[lead] or frame.twin >= 0):
            continue
        for mid in range(mids):
            first = ((lead - lead_0) * mids + mid) * STRIDE
            for square in range(STRIDE):
                if numbers[first + square] and not is_canonical(lead, mid, square, frame):
                    numbers[first + square] = 0


@borrowing_kernel
def _k_tally(numbers, slot_0, counts, firsts):
    """Count how often each number occurs in a part of a plane, and find its first slot.

    numbers : unsigned (n,), in; the part, which begins at slot `slot_0`
    slot_0 : int
    counts : int64 (size of the palette,), inout; zeros at first; the counts of the part are added
    firsts : int64 (size of the palette,), inout; each number's first slot in all parts so far; at
        first a number beyond all slots
    """
    for i in range(numbers.size):
        number = numbers[i]
        counts[number] += 1
        if firsts[number] > slot_0 + i:
            firsts[number] = slot_0 + i


@dataclass(frozen=True)
class Solution:
    """Codes of all positions of a material; 0 in empty slots.

    Implements `supporting.SupportingTable`. Each call computes its result from the journals.
    """

    layout: Layout
    code_space: CodeSpace
    metric: Metric
    frame: Frame
    workers: Workers
    chunks: Chunks
    journals: tuple[Journal, Journal]
    """Codes of all legal positions for each side to move, draws included."""
    chase_patterns: dict[int, int]
    """Map from each order searched to its number of direct wins by perpetual chase."""

    @cached_property
    def palettes(self) -> tuple[Palette, Palette]:
        """Palette of each side: the numbers that stand for the codes of its positions."""
        red, black = (Palette.of(self.code_space, journal.codes) for journal in self.journals)
        return red, black

    def occurring_codes(self, side: int) -> set[int]:
        """Return the codes of the positions with a side to move, always including the draw."""
        return self.journals[side].codes | {self.code_space.draw}

    def _chunk(self, side: int, chunk: int) -> tuple[int, Plane]:
        """Return a chunk's first slot, and the number of each slot's code, with `side` to move."""
        layout, palette = self.layout, self.palettes[side]
        lead_0, lead_1 = self.chunks.lead_range(chunk)
        rows = (lead_1 - lead_0) * layout.mids
        numbers = np.zeros(rows * STRIDE, palette.dtype)
        self.journals[side].fill(chunk, palette, numbers)
        _k_empty_unused(lead_0, lead_1, numbers, self.frame)
        if layout.inner is not None and layout.inner_size < STRIDE:
            numbers = numbers.reshape(rows, STRIDE).take(layout.inner.area, 1).ravel()
        return lead_0 * layout.mids * layout.inner_size, numbers

    def tiles(self, side: int) -> int:
        """Return the number of chunks; implements `SupportingTable.tiles`."""
        return self.chunks.number

    def tile(self, side: int, number: int, numbers_of: NumbersOf) -> list[tuple[int, Plane]]:
        """Return a chunk as one run: its first slot, and each slot's code mapped by `numbers_of`.

        Implements `SupportingTable.tile`.
        """
        first, numbers = self._chunk(side, number)
        return [(first, numbers_of(self.palettes[side].all_codes).take(numbers))]

    def plane(self, side: int) -> Plane:
        """Return the codes of all slots of a side to move, in index order, (slots,)."""
        return self.palettes[side].codes_of(self.counted_plane(side)[0])

    def counted_plane(self, side: int) -> tuple[Plane, dict[int, CodeCount]]:
        """Return a plane of the palette's numbers, (slots,), and a `CodeCount` by code that occurs.

        Empty slots have the number 0, and are not counted.
        """
        palette = self.palettes[side]
        plane: Plane = self.workers.storage.zeros(self.layout.slots, palette.dtype)
        size = self.workers.threads, len(palette.codes)
        counts, firsts = np.zeros(size, np.int64), np.full(size, self.layout.slots)

        def fill(first: int, last: int, thread: int) -> None:
            for number in range(first, last):
                slot, numbers = self._chunk(side, number)
                plane[slot : slot + len(numbers)] = numbers
                _k_tally(numbers, slot, counts[thread], firsts[thread])

        with self.workers:
            self.workers.run(fill, self.chunks.number)
        found = zip(
            palette.codes.tolist(), counts.sum(0).tolist(), firsts.min(0).tolist(), strict=True
        )
        return plane, {
            code: CodeCount(positions, slot)
            for code, positions, slot in found
            if code and positions
        }


class CountedPlanes:
    """Planes of a solution, one in memory at a time, and the counts of their codes.

    `histogram` and `first_slot` of a side need an earlier call of `numbers_from` for this side.
    """

    def __init__(self, solution: Solution) -> None:
        self.solution = solution
        self._plane: tuple[int, Plane] | None = None
        self._counts: dict[int, dict[int, CodeCount]] = {}

    def numbers_from(self, side: int, first: int, count: int) -> Plane:
        """Return the numbers, in the side's palette, of the codes of `count` slots from `first` on.

        A change of side computes the plane again.
        """
        if self._plane is None or self._plane[0] != side:
            self._plane = None  # there is memory for one only
            plane, self._counts[side] = self.solution.counted_plane(side)
            self._plane = side, plane
        self.solution.workers.storage.release_if_large()
        return self._plane[1][first : first + count]

    def histogram(self, side: int) -> dict[int, int]:
        """Return the number of positions of each code that occurs with a side to move."""
        return {code: count.positions for code, count in self._counts[side].items()}

    def first_slot(self, side: int, code: int) -> int:
        """Return the first slot with a code; raise `KeyError` if no slot has the code."""
        return self._counts[side][code].first
