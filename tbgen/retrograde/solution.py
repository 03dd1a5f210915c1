# mypy: allow-untyped-defs, allow-untyped-calls
"""The values of all positions as planes.

`Solution`        the codes of a material, a chunk or a plane at a time, from the journals
`CountedPlanes`   their numbers as a writer of files asks for them: a plane at a time, counted
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
from tbgen.rows.frame import MIDS, STRIDE, TWIN, Frame, canonical
from tbgen.rows.workers import Chunks, Workers
from tbgen.tables.blocks import NumbersOf
from tbgen.tables.codes import CodeSpace
from tbgen.tables.names import Metric
from tbgen.tables.palettes import Palette


class CodeCount(NamedTuple):
    """Number of positions with a code."""

    positions: int
    first: int
    """The first slot that has it."""


@borrowing_kernel
def _k_empty_unused(lead_0, lead_1, numbers, frame):
    """Empty the slots that the index does not use.

    numbers : unsigned (rows of the leads * 90,), inout
    """
    mids = frame.size[MIDS]
    for lead in range(lead_0, lead_1):
        if not (frame.self_mirrored[lead] or frame.size[TWIN] >= 0):
            continue
        for mid in range(mids):
            first = ((lead - lead_0) * mids + mid) * STRIDE
            for square in range(STRIDE):
                if numbers[first + square]:
                    slot_mid, slot_square = canonical(lead, mid, square, frame)
                    if slot_mid != mid or slot_square != square:
                        numbers[first + square] = 0


@borrowing_kernel
def _k_tally(numbers, slot_0, counts, firsts):
    """Count numbers, and find the first slot of each.

    numbers : unsigned (n,), in; those of the slots from `slot_0` on
    slot_0 : int, the first slot
    counts, firsts : int64 (numbers,), inout; for each number, how often and where first
    """
    for i in range(numbers.size):
        number = numbers[i]
        counts[number] += 1
        if firsts[number] > slot_0 + i:
            firsts[number] = slot_0 + i


@dataclass(frozen=True)
class Solution:
    """The codes of every canonical position of a material; 0 in all other slots.

    A supporting table for the next material (`supporting.SupportingTable`). Planes are written
    from the journals whenever they are asked for: nothing is kept here (`CountedPlanes`).
    """

    layout: Layout
    code_space: CodeSpace
    metric: Metric
    frame: Frame
    workers: Workers
    chunks: Chunks
    journals: tuple[Journal, Journal]
    """For each side to move, all positions; what no phase has settled is a draw."""
    chase_patterns: dict[int, int]
    """How many direct wins of each order are by perpetual chase."""

    @cached_property
    def palettes(self) -> tuple[Palette, Palette]:
        """The codes that the positions of each side have."""
        red, black = (Palette.of(self.code_space, journal.codes) for journal in self.journals)
        return red, black

    def occurring_codes(self, side: int) -> set[int]:
        """The codes of the positions with a side to move; the draw even if none is drawn."""
        return self.journals[side].codes | {self.code_space.draw}

    def _write_chunk(self, side: int, chunk: int, out: Plane) -> None:
        """Write the numbers of a chunk to its slots, which are zeros (slots of the chunk,)."""
        layout, palette = self.layout, self.palettes[side]
        lead_0, lead_1 = self.chunks.lead_range(chunk)
        rows = (lead_1 - lead_0) * layout.mids
        whole = layout.inner_size == STRIDE
        numbers = out if whole else np.zeros(rows * STRIDE, palette.dtype)
        self.journals[side].fill(chunk, palette, numbers)
        _k_empty_unused(lead_0, lead_1, numbers, self.frame)
        if not whole:
            assert layout.inner is not None
            area = list(layout.inner.area)
            numbers.reshape(rows, STRIDE).take(area, 1, out.reshape(rows, len(area)), "clip")

    def _slots_of(self, chunk: int) -> slice:
        """The slots of a chunk."""
        lead_0, lead_1 = self.chunks.lead_range(chunk)
        per_lead = self.layout.mids * self.layout.inner_size
        return slice(lead_0 * per_lead, lead_1 * per_lead)

    def tiles(self, side: int) -> int:
        """Return how many tiles of whole leads a side has: as many as chunks."""
        del side
        return self.chunks.number

    def tile(
        self, side: int, number: int, numbers_of: NumbersOf | None = None
    ) -> list[tuple[int, Plane]]:
        """The codes of a chunk, from its first slot on, or what stands for them."""
        slots, palette = self._slots_of(number), self.palettes[side]
        numbers = np.zeros(slots.stop - slots.start, palette.dtype)
        self._write_chunk(side, number, numbers)
        if numbers_of is None:
            return [(slots.start, palette.codes_of(numbers))]
        return [(slots.start, numbers_of(palette.all_codes).take(numbers))]

    def plane(self, side: int) -> Plane:
        """(slots,) codes in slot order."""
        return self.palettes[side].codes_of(self.counted_plane(side)[0])

    def counted_plane(self, side: int) -> tuple[Plane, dict[int, CodeCount]]:
        """(slots,) numbers in slot order, and how often and where first each code occurs."""
        palette = self.palettes[side]
        plane: Plane = self.workers.storage.zeros(self.layout.slots, palette.dtype)
        size = self.workers.threads, len(palette.codes)
        counts, firsts = np.zeros(size, np.int64), np.full(size, self.layout.slots)

        def fill(first: int, last: int, thread: int) -> None:
            for number in range(first, last):
                slots = self._slots_of(number)
                self._write_chunk(side, number, plane[slots])
                _k_tally(plane[slots], slots.start, counts[thread], firsts[thread])

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
    """The planes of a solution, one in memory at a time, and what was counted while they were."""

    def __init__(self, solution: Solution) -> None:
        self.solution = solution
        self._plane: tuple[int, Plane] | None = None
        self._counts: dict[int, dict[int, CodeCount]] = {}

    def numbers_from(self, side: int, first: int, count: int) -> Plane:
        """(count,) numbers from slot `first` on, for a writer that does one side after the other.

        Their codes are in the side's palette (`Solution.palettes`).
        """
        if self._plane is None or self._plane[0] != side:
            self._plane = None  # before the next one is made: there is room for one
            plane, self._counts[side] = self.solution.counted_plane(side)
            self._plane = side, plane
        self.solution.workers.storage.relieve()
        return self._plane[1][first : first + count]

    def histogram(self, side: int) -> dict[int, int]:
        """Return how many positions have each code."""
        return {code: count.positions for code, count in self._counts_of(side).items()}

    def find(self, side: int, code: int) -> int:
        """The first slot with a code that occurs; raises `KeyError` for others."""
        return self._counts_of(side)[code].first

    def _counts_of(self, side: int) -> dict[int, CodeCount]:
        if side not in self._counts:
            self._counts[side] = self.solution.counted_plane(side)[1]
        return self._counts[side]
