"""The solver: all phases for one material, from its layout to two planes of codes.

    legality  ->  captures  ->  propagation of order 0  ->  orders 1, 2, ...  ->  finish

Supporting tables come from a function that opens them, so that the solver knows nothing of
files; a `Solution` is itself a supporting table for the next material.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material
from tbgen.indexing.squares import Side
from tbgen.jit import borrowing_kernel
from tbgen.retrograde.bitsets import ONE, lowest_bit
from tbgen.retrograde.captures import find_captures
from tbgen.retrograde.chase_pattern import ChaseSearch
from tbgen.retrograde.check_pattern import declare_perpetual_checks
from tbgen.retrograde.frame import MIDS, STRIDE, TWIN, canonical, make_frame
from tbgen.retrograde.legality import find_legal
from tbgen.retrograde.parallel import Workers
from tbgen.retrograde.propagation import Plane, Propagation
from tbgen.retrograde.supporting import SupportingTable
from tbgen.tables.codes import CodeSpace, LimitExceededError, Outcome, Value
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
    rows: tuple[Plane, Plane]
    """For each side to move, codes (rows * 90,), addressed by squares of the inner piece."""
    chase_patterns: dict[int, int] = field(default_factory=dict)
    """How many direct wins of each order are by perpetual chase."""

    def codes(self, side: int, first: int, count: int) -> Plane:
        """(count,) codes from slot `first` on."""
        layout = self.layout
        if layout.inner_size == STRIDE:
            return self.rows[side][first : first + count]
        assert layout.inner is not None
        size = layout.inner_size
        row_0, row_1 = first // size, -(-(first + count) // size)
        block = self.rows[side][row_0 * STRIDE : row_1 * STRIDE].reshape(-1, STRIDE)
        flat = block[:, list(layout.inner.area)].ravel()
        return flat[first - row_0 * size :][:count]

    def plane(self, side: int) -> Plane:
        """(slots,) codes in slot order."""
        return self.codes(side, 0, self.layout.slots)

    def find(self, side: int, code: int) -> int:
        """The first slot with a code that occurs."""
        step = 1 << 20
        for first in range(0, self.layout.slots, step):
            block = self.codes(side, first, min(step, self.layout.slots - first))
            found = block == code
            if found.any():
                return first + int(found.argmax())
        raise KeyError(code)


@dataclass(frozen=True)
class DrawnTable:
    """The table of a material without attackers: every position is a draw."""

    layout: Layout
    code_space: CodeSpace = BYTE_CODES
    metric: Metric = Metric.DTM

    def plane(self, side: int) -> Plane:
        """(slots,) codes in slot order."""
        del side
        return np.full(self.layout.slots, self.code_space.draw, self.code_space.dtype)


def capture_codes(source: CodeSpace, target: CodeSpace, metric: Metric) -> Plane:
    """(codes of the source,) what a capture is worth that leads to a position of each code.

    One ply more than the position, for the other side; in a DTC table every loss of the
    supporting table is a conversion in one ply, and every win costs two (paper, 6.3). Where the
    distance does not fit the target the entry is 0.
    """
    result = np.zeros(source.top + 1, target.dtype)
    for code in range(1, source.top + 1):
        value = source.decode(code)
        if value.outcome == Outcome.DRAW:
            result[code] = target.draw
            continue
        outcome = Outcome(-value.outcome)
        if metric == Metric.DTC:
            capture = Value(outcome, 0, 1 if outcome == Outcome.WIN else 2)
        else:
            capture = Value(outcome, value.order, value.plies + 1)
        try:
            result[code] = target.encode(capture)
        except LimitExceededError:
            result[code] = 0
    return result


@borrowing_kernel
def _k_finish(lead_0, lead_1, codes, unknown, draw, frame):
    """Draw what is unknown, and empty the slots that the index does not use."""
    mids = frame.size[MIDS]
    for lead in range(lead_0, lead_1):
        redundant = frame.self_mirrored[lead] or frame.size[TWIN] >= 0
        for mid in range(mids):
            row = lead * mids + mid
            for word in range(2):
                bits = unknown[row, word]
                base = row * STRIDE + 45 * word
                while bits:
                    codes[base + lowest_bit(bits)] = draw
                    bits &= bits - ONE
            if redundant:
                for square in range(STRIDE):
                    if codes[row * STRIDE + square]:
                        slot_mid, slot_square = canonical(lead, mid, square, frame)
                        if slot_mid != mid or slot_square != square:
                            codes[row * STRIDE + square] = 0


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
    report: Report = lambda phase, order, plies, settled: None,
) -> Solution:
    """Solve one material under `rules`, up to `orders` orders (None: until nothing changes).

    supporting : opens the table of any material that a capture leads to and that needs one
    Raises `LimitExceededError` where the codes are too small.
    """
    layout = Layout.of(material)

    def open_table(child: Material) -> SupportingTable:
        return supporting(child) if child.needs_table else DrawnTable(Layout.of(child))

    with Workers(threads) as workers:
        report("legality", 0, 0, 0)
        frame = make_frame(layout)
        legal = find_legal(frame, Side.RED, workers), find_legal(frame, Side.BLACK, workers)
        report("captures", 0, 0, 0)
        codes = find_captures(
            layout, frame, legal, code_space, open_table,
            lambda source: capture_codes(source, code_space, metric), workers,
        )  # fmt: skip
        propagation = Propagation(
            frame, codes, legal, code_space, workers,
            lambda order, plies, settled: report("propagation", order, plies, settled),
        )  # fmt: skip
        propagation.run(0)
        chase_patterns: dict[int, int] = {}
        if rules != Rules.NONE and material.both_armed:
            chases = [
                ChaseSearch(propagation, layout, winner, minor_chases=minor_chases)
                for winner in Side
                if rules == Rules.WXF
            ]
            chase_patterns = _settle_orders(propagation, orders, chases)
        report("finish", 0, 0, 0)
        for side in Side:
            workers.over(
                layout.leads, _k_finish, codes[side], propagation.unknown[side], code_space.draw,
                frame,
            )  # fmt: skip
    return Solution(layout, code_space, metric, codes, chase_patterns)


def _settle_orders(
    propagation: Propagation, orders: int | None, chases: list[ChaseSearch]
) -> dict[int, int]:
    """The revised phase (paper, section 5): direct wins, propagation, until nothing changes.

    Checks come before chases within an order.
    An order without direct wins is still propagated where captures into supporting tables have
    values of it. Returns how many direct wins each order has by chases.
    """
    found: dict[int, int] = {}
    order, changed = 1, True
    while (changed or order <= propagation.last_order) and (orders is None or order <= orders):
        for winner in Side:
            declare_perpetual_checks(propagation, winner, order)
        found[order] = sum(search.declare(order) for search in chases)
        changed = propagation.run(order)
        order += 1
    return found


def count_codes(plane: NDArray[np.generic], code_space: CodeSpace) -> dict[int, int]:
    """How many positions have each code (0, no position, left out)."""
    if code_space.width <= 2:
        counts = np.zeros(code_space.top + 1, np.int64)
        _k_count(plane, counts)
        codes = np.flatnonzero(counts)
        return {int(code): int(counts[code]) for code in codes if code}
    values, found = np.unique(plane, return_counts=True)
    return {int(code): int(n) for code, n in zip(values, found, strict=True) if code}


@borrowing_kernel
def _k_count(plane, counts):
    """Count the codes of a plane; counts int64 (codes,), in/out."""
    for i in range(plane.size):
        counts[plane[i]] += 1
