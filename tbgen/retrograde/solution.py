# mypy: allow-untyped-defs, allow-untyped-calls
"""The final phase: what has been settled as planes of codes; what has not is a draw.

`Solution`        the codes of a material, a chunk or a plane at a time, from the journals
`CountedPlanes`   the same as a writer of files asks for them: a plane at a time, counted
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tbgen.compiling.jit import borrowing_kernel
from tbgen.indexing.layout import Layout
from tbgen.retrograde.journal import Journal
from tbgen.retrograde.supporting import Plane
from tbgen.rows.bitsets import ONE, WORD_SQUARES, lowest_bit
from tbgen.rows.frame import MIDS, STRIDE, TWIN, Frame, canonical
from tbgen.rows.sets import Rows
from tbgen.rows.workers import Chunks, Workers
from tbgen.tables.blocks import Codes
from tbgen.tables.codes import CodeSpace
from tbgen.tables.names import Metric


class CodeCount(NamedTuple):
    """How often a code occurs."""

    positions: int
    first: int
    """The first slot that has it."""


@borrowing_kernel
def _k_finish(lead_0, lead_1, codes, unknown, draw, frame):
    """Draw what is unknown, and empty the slots that the index does not use.

    codes : unsigned (rows of the leads * 90,), inout
    unknown : Rows of all leads, in
    draw : int, the code of a draw
    """
    mids = frame.size[MIDS]
    for lead in range(lead_0, lead_1):
        redundant = frame.self_mirrored[lead] or frame.size[TWIN] >= 0
        for mid in range(mids):
            row = lead * mids + mid
            first = (row - lead_0 * mids) * STRIDE
            for word in range(2):
                bits = unknown[row, word]
                while bits:
                    codes[first + WORD_SQUARES * word + lowest_bit(bits)] = draw
                    bits &= bits - ONE
            if redundant:
                for square in range(STRIDE):
                    if codes[first + square]:
                        slot_mid, slot_square = canonical(lead, mid, square, frame)
                        if slot_mid != mid or slot_square != square:
                            codes[first + square] = 0


@borrowing_kernel
def _k_tally(codes, slot_0, counts, firsts):
    """Count codes, and find the first slot of each.

    codes : unsigned (n,), in; the codes of the slots from `slot_0` on
    slot_0 : int, the first slot
    counts, firsts : int64 (codes,), inout; for each code, how often and where first
    """
    for i in range(codes.size):
        code = codes[i]
        counts[code] += 1
        if firsts[code] > slot_0 + i:
            firsts[code] = slot_0 + i


class _Tally:
    """What one thread has counted; codes of up to two bytes in arrays, longer ones by sorting."""

    def __init__(self, code_space: CodeSpace) -> None:
        self._found: dict[int, CodeCount] = {}
        self._arrays = None
        if code_space.width <= 2:
            codes = code_space.top + 1
            self._arrays = np.zeros(codes, np.int64), np.full(codes, np.iinfo(np.int64).max)

    def add(self, slot_0: int, codes: Codes) -> None:
        """Count the codes of the slots from `slot_0` on."""
        if self._arrays is not None:
            _k_tally(codes, slot_0, *self._arrays)
            return
        values, firsts, counts = np.unique(codes, return_index=True, return_counts=True)
        lists = values.tolist(), counts.tolist(), (firsts + slot_0).tolist()
        for code, positions, first in zip(*lists, strict=True):
            self._found[code] = _sum(self._found.get(code), CodeCount(positions, first))

    @property
    def found(self) -> dict[int, CodeCount]:
        """What has been counted, by code."""
        if self._arrays is None:
            return self._found
        counts, firsts = self._arrays
        return {
            int(code): CodeCount(int(counts[code]), int(firsts[code]))
            for code in np.flatnonzero(counts)
        }


def _added(tallies: Iterable[_Tally]) -> dict[int, CodeCount]:
    """All counts together, by code; 0, no position, left out."""
    total: dict[int, CodeCount] = {}
    for tally in tallies:
        for code, count in tally.found.items():
            if code:
                total[code] = _sum(total.get(code), count)
    return dict(sorted(total.items()))


def _sum(one: CodeCount | None, other: CodeCount) -> CodeCount:
    if one is None:
        return other
    return CodeCount(one.positions + other.positions, min(one.first, other.first))


@dataclass(frozen=True)
class Solution:
    """The codes of every canonical position of a material; 0 in all other slots.

    A supporting table for the next material (`supporting.SupportingTable`). Codes are written
    from the journals whenever they are asked for: nothing is kept here (`CountedPlanes`).
    """

    layout: Layout
    code_space: CodeSpace
    metric: Metric
    frame: Frame
    workers: Workers
    chunks: Chunks
    journals: tuple[Journal, Journal]
    unknown: tuple[Rows, Rows]
    """For each side to move, the positions that no phase has settled: draws."""
    chase_patterns: dict[int, int]
    """How many direct wins of each order are by perpetual chase."""

    def _write_chunk(self, side: int, chunk: int, out: Plane) -> None:
        """Write the codes of a chunk to its slots, which are zeros (slots of the chunk,)."""
        layout = self.layout
        lead_0, lead_1 = self.chunks.lead_range(chunk)
        rows = (lead_1 - lead_0) * layout.mids
        whole = layout.inner_size == STRIDE
        codes = out if whole else np.zeros(rows * STRIDE, self.code_space.dtype)
        self.journals[side].fill(chunk, codes)
        _k_finish(lead_0, lead_1, codes, self.unknown[side], self.code_space.draw, self.frame)
        if not whole:
            assert layout.inner is not None
            area = list(layout.inner.area)
            codes.reshape(rows, STRIDE).take(area, 1, out.reshape(rows, len(area)), "clip")

    def _slots_of(self, chunk: int) -> slice:
        """The slots of a chunk."""
        lead_0, lead_1 = self.chunks.lead_range(chunk)
        per_lead = self.layout.mids * self.layout.inner_size
        return slice(lead_0 * per_lead, lead_1 * per_lead)

    def tiles(self, side: int) -> int:
        """How many tiles of whole leads a side has: as many as chunks."""
        del side
        return self.chunks.number

    def tile(self, side: int, number: int) -> list[tuple[int, Plane]]:
        """The codes of a chunk, from its first slot on."""
        slots = self._slots_of(number)
        codes = np.zeros(slots.stop - slots.start, self.code_space.dtype)
        self._write_chunk(side, number, codes)
        return [(slots.start, codes)]

    def plane(self, side: int) -> Plane:
        """(slots,) codes in slot order."""
        return self.counted_plane(side)[0]

    def counted_plane(self, side: int) -> tuple[Plane, dict[int, CodeCount]]:
        """(slots,) codes in slot order, and how often and where first each code occurs."""
        plane: Plane = self.workers.storage.zeros(self.layout.slots, self.code_space.dtype)
        tallies = [_Tally(self.code_space) for _ in range(self.workers.threads)]

        def fill(first: int, last: int, thread: int) -> None:
            for number in range(first, last):
                slots = self._slots_of(number)
                self._write_chunk(side, number, plane[slots])
                tallies[thread].add(slots.start, plane[slots])

        with self.workers:
            self.workers.run(fill, self.chunks.number)
        return plane, _added(tallies)


class CountedPlanes:
    """The planes of a solution, one in memory at a time, and what was counted while they were."""

    def __init__(self, solution: Solution) -> None:
        self.solution = solution
        self._plane: tuple[int, Plane] | None = None
        self._counts: dict[int, dict[int, CodeCount]] = {}

    def codes_from(self, side: int, first: int, count: int) -> Plane:
        """(count,) codes from slot `first` on, for a writer that does one side after the other."""
        if self._plane is None or self._plane[0] != side:
            self._plane = None  # before the next one is made: there is room for one
            plane, self._counts[side] = self.solution.counted_plane(side)
            self._plane = side, plane
        self.solution.workers.storage.relieve()
        return self._plane[1][first : first + count]

    def histogram(self, side: int) -> dict[int, int]:
        """How many positions have each code."""
        return {code: count.positions for code, count in self._counts_of(side).items()}

    def find(self, side: int, code: int) -> int:
        """The first slot with a code that occurs; raises `KeyError` for others."""
        return self._counts_of(side)[code].first

    def _counts_of(self, side: int) -> dict[int, CodeCount]:
        if side not in self._counts:
            self._counts[side] = self.solution.counted_plane(side)[1]
        return self._counts[side]
