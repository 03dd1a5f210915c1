"""The solver: all phases for one material, from its layout to the codes of its positions.

    legality  ->  captures  ->  propagation of order 0  ->  orders 1, 2, ...

Planes of codes exist for one side while its captures are found, and after that for one chunk at
a time, written from the journals of what was settled.

Supporting tables come from a function that opens them, so that the solver knows nothing of
files; a `Solution` is itself a supporting table for the next material.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material
from tbgen.indexing.squares import Side
from tbgen.jit import borrowing_kernel
from tbgen.retrograde.bitsets import ONE, lowest_bit
from tbgen.retrograde.candidates import Candidates
from tbgen.retrograde.captures import find_captures
from tbgen.retrograde.chase_pattern import ChaseSearch
from tbgen.retrograde.check_pattern import declare_perpetual_checks
from tbgen.retrograde.frame import MIDS, STRIDE, TWIN, Frame, canonical, make_frame
from tbgen.retrograde.journal import Journal
from tbgen.retrograde.legality import find_legal
from tbgen.retrograde.parallel import Chunks, Workers
from tbgen.retrograde.propagation import Plane, Propagation
from tbgen.retrograde.storage import Storage, trim_process
from tbgen.retrograde.supporting import SupportingTable
from tbgen.retrograde.sweep import Rows
from tbgen.retrograde.tally import CodeCount, Tally, added
from tbgen.tables.codes import CodeSpace
from tbgen.tables.names import Metric, Rules

Report = Callable[[str, int, int, int], None]
"""Progress: phase, order, plies, positions settled."""


BYTE_CODES = CodeSpace(1)
"""Order 0 in one byte."""


@dataclass(frozen=True)
class Solution:
    """The codes of every canonical position of a material; 0 in all other slots."""

    layout: Layout
    code_space: CodeSpace
    metric: Metric
    frame: Frame
    workers: Workers
    chunks: Chunks
    journals: tuple[Journal, ...]
    unknown: tuple[Rows, ...]
    """For each side to move, the positions that no phase has settled: draws."""
    chase_patterns: dict[int, int]
    """How many direct wins of each order are by perpetual chase."""
    _found: dict[int, dict[int, CodeCount]] = field(default_factory=dict)
    """How often and where each code occurs, for each side whose plane has been written."""
    _plane: dict[int, Plane] = field(default_factory=dict)

    def chunk(self, side: int, chunk: int) -> Plane:
        """The codes of a chunk, in slot order."""
        layout = self.layout
        lead_0, lead_1 = self.chunks.lead_range(chunk)
        codes = np.zeros((lead_1 - lead_0) * layout.mids * STRIDE, self.code_space.dtype)
        self.journals[side].fill(chunk, codes)
        _k_finish(lead_0, lead_1, codes, self.unknown[side], self.code_space.draw, self.frame)
        if layout.inner_size == STRIDE:
            return codes
        assert layout.inner is not None
        return codes.reshape(-1, STRIDE)[:, list(layout.inner.area)].ravel()

    def tiles(self, side: int) -> int:
        """How many tiles of whole leads a side has: as many as chunks."""
        del side
        return self.chunks.number

    def tile(self, side: int, number: int) -> list[tuple[int, Plane]]:
        """The codes of a chunk, from its first slot on."""
        return [(number * self.chunks.rows * self.layout.inner_size, self.chunk(side, number))]

    def plane(self, side: int) -> Plane:
        """(slots,) codes in slot order, which are counted at the same time."""
        plane: Plane = self.workers.storage.zeros(self.layout.slots, self.code_space.dtype)
        tallies = [Tally(self.code_space) for _ in range(self.workers.threads)]

        def fill(first: int, last: int, thread: int) -> None:
            for number in range(first, last):
                for start, codes in self.tile(side, number):
                    plane[start : start + len(codes)] = codes
                    tallies[thread].add(start, codes)

        with self.workers:
            self.workers.run(fill, self.chunks.number)
        self._found[side] = added(tallies)
        return plane

    def codes_from(self, side: int, first: int, count: int) -> Plane:
        """(count,) codes from slot `first` on, for a writer that does one side after the other."""
        if side not in self._plane:
            self._plane.clear()
            self._plane[side] = self.plane(side)
        self.workers.storage.relieve()
        return self._plane[side][first : first + count]

    def histogram(self, side: int) -> dict[int, int]:
        """How many positions have each code."""
        return {code: count.positions for code, count in self._counts(side).items()}

    def find(self, side: int, code: int) -> int:
        """The first slot with a code that occurs; raises `KeyError` for others."""
        return self._counts(side)[code].first

    def _counts(self, side: int) -> dict[int, CodeCount]:
        if side not in self._found:
            self.plane(side)
        return self._found[side]


@dataclass(frozen=True)
class DrawnTable:
    """The table of a material without attackers: every position is a draw."""

    layout: Layout
    code_space: CodeSpace = BYTE_CODES
    metric: Metric = Metric.DTM

    def tiles(self, side: int) -> int:
        """How many tiles a side has: one for each lead."""
        del side
        return self.layout.leads

    def tile(self, side: int, number: int) -> list[tuple[int, Plane]]:
        """The codes of a lead, from its first slot on."""
        del side
        slots = self.layout.slots // self.layout.leads
        return [(number * slots, np.full(slots, self.code_space.draw, self.code_space.dtype))]


@cache
def capture_codes(source: CodeSpace, target: CodeSpace, metric: Metric) -> Plane:
    """(codes of the source,) what a capture is worth that leads to a position of each code.

    One ply more than the position, for the other side; in a DTC table every loss of the
    supporting table is a conversion in one ply, and every win costs two (paper, 6.3). Where the
    distance does not fit the target the entry is 0.
    """
    order, half = np.divmod(np.arange(source.draw - 1), source.span)
    if metric == Metric.DTC:
        order[:] = 0
        win, loss = order, order + 1
    else:
        # Losses of order 0 take an even number of plies, and wins an odd one; else it is reversed.
        win, loss = half + (order > 0), half + (order == 0)
    result = np.zeros(source.top + 1, target.dtype)
    result[source.draw] = target.draw
    of_losses, of_wins = result[1 : source.draw], result[: source.draw : -1]
    fits = (win < target.span) & (order <= target.max_order)
    of_losses[fits] = target.top - (order * target.span + win)[fits]
    fits = (loss < target.span) & (order <= target.max_order)
    of_wins[fits] = 1 + (order * target.span + loss)[fits]
    return result


@borrowing_kernel
def _k_finish(lead_0, lead_1, codes, unknown, draw, frame):
    """Draw what is unknown, and empty the slots that the index does not use.

    codes : (rows of the leads * 90,), in/out; unknown : Rows of all leads
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
                    codes[first + 45 * word + lowest_bit(bits)] = draw
                    bits &= bits - ONE
            if redundant:
                for square in range(STRIDE):
                    if codes[first + square]:
                        slot_mid, slot_square = canonical(lead, mid, square, frame)
                        if slot_mid != mid or slot_square != square:
                            codes[first + square] = 0


def solve(
    material: Material,
    supporting: Callable[[Material], SupportingTable],
    *,
    rules: Rules = Rules.NONE,
    orders: int | None = None,
    minor_chases: bool = True,
    metric: Metric = Metric.DTM,
    code_space: CodeSpace = BYTE_CODES,
    threads: int = 2,
    storage: Storage | None = None,
    report: Report = lambda phase, order, plies, settled: None,
) -> Solution:
    """Solve one material under `rules`, up to `orders` orders (None: until nothing changes).

    supporting : opens the table of any material that a capture leads to and that needs one
    storage : where the big arrays are (None: in memory)
    Raises `LimitExceededError` where the codes are too small.
    """
    layout = Layout.of(material)

    def open_table(child: Material) -> SupportingTable:
        return supporting(child) if child.needs_table else DrawnTable(Layout.of(child))

    trim_process()
    with Workers(threads, storage) as workers:
        report("legality", 0, 0, 0)
        frame = make_frame(layout)
        legal = find_legal(frame, Side.RED, workers), find_legal(frame, Side.BLACK, workers)
        propagation = Propagation(
            frame, legal, code_space, workers,
            lambda order, plies, settled: report("propagation", order, plies, settled),
        )  # fmt: skip
        report("captures", 0, 0, 0)
        for side in Side:
            codes = find_captures(
                layout, frame, side, legal[side], code_space, open_table,
                lambda source: capture_codes(source, code_space, metric), workers,
            )  # fmt: skip
            propagation.admit(side, codes)
            del codes
        propagation.start()
        propagation.run(0)
        chase_patterns: dict[int, int] = {}
        if rules != Rules.NONE and material.both_armed:
            room = propagation.empty_rows(), propagation.empty_rows()
            offences = 2 if rules == Rules.WXF else 1
            candidates = [Candidates(propagation, winner, offences, room) for winner in Side]
            chases = [
                ChaseSearch(of_winner, layout, minor_chases=minor_chases)
                for of_winner in candidates
                if rules == Rules.WXF
            ]
            chase_patterns = _settle_orders(propagation, orders, candidates, chases)
            del candidates, chases, room
        return Solution(
            layout, code_space, metric, frame, Workers(threads, storage), propagation.chunks,
            propagation.journals, propagation.unknown, chase_patterns,
        )  # fmt: skip


def _settle_orders(
    propagation: Propagation,
    orders: int | None,
    candidates: list[Candidates],
    chases: list[ChaseSearch],
) -> dict[int, int]:
    """The revised phase (paper, section 5): direct wins, propagation, until nothing changes.

    Checks come before chases within an order.
    An order without direct wins is still propagated where captures into supporting tables have
    values of it. Returns how many direct wins each order has by chases.
    """
    found: dict[int, int] = {}
    order, changed = 1, True
    while (changed or order <= propagation.last_order) and (orders is None or order <= orders):
        for of_winner in candidates:
            declare_perpetual_checks(of_winner, order)
        found[order] = sum(search.declare(order) for search in chases)
        changed = propagation.run(order)
        order += 1
    return found
