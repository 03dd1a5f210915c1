# mypy: allow-untyped-calls
"""Phase 2b: what every capture is worth.

    values that the supporting tables have  ->  a palette of what captures are worth
    a supporting table  ->  a plane of numbers in that palette  ->  a view for each captured piece
                        ->  the largest number over all captures of a position

Views are made in `supporting.py`, captures looked for in `capture_kernels.py`. The palette says how
wide all of these planes are (`tables/palettes.py`); what comes of them is sorted in
`initialisation.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.indexing.groups import Defenders
from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material
from tbgen.indexing.squares import PieceType, Side
from tbgen.retrograde.capture_kernels import (
    k_capture_defender,
    k_capture_group,
    k_capture_inner,
)
from tbgen.retrograde.supporting import (
    DrawnTable,
    Plane,
    SupportingTable,
    ViewMaker,
    load_plane,
)
from tbgen.rows.frame import STRIDE, Frame, make_frame
from tbgen.rows.workers import Workers
from tbgen.tables.codes import DRAW, CodeSpace, Outcome, Value
from tbgen.tables.names import Metric
from tbgen.tables.palettes import Palette


class Captures(NamedTuple):
    """The best capture of every position of one side."""

    numbers: Plane
    """(rows * 90,) by row and square; 0 for none, anything where no position is legal."""
    palette: Palette
    """The codes of these numbers."""


class _Kind(NamedTuple):
    """A kind of piece that is captured, and the table that such a capture leads to."""

    kind: PieceType
    table: SupportingTable
    swapped: bool
    """Whether the table has the colours exchanged."""
    to_move: int
    """The side to move after the capture, as the table has it."""
    worth: dict[int, int]
    """The code of a capture that leads to each code of the table."""


def _dropped_leads(
    parent: Layout, view: Layout, columns: range, victim_side: Side
) -> NDArray[np.int64]:
    """int64 (leads, columns): the view's lead when the piece of a column is captured."""
    red_pieces = parent.defenders[Side.RED].pieces
    result = np.zeros((parent.leads, len(columns)), np.int64)
    for c, column in enumerate(columns):
        ranks = []
        for side in Side:
            squares = parent.defenders[side].squares[parent.lead_ranks[side]]
            if side == victim_side:
                squares = np.delete(squares, column - side * red_pieces, axis=1)
            defenders: Defenders = view.defenders[side]
            ranks.append(defenders.rank(squares))
        result[:, c] = view.lead_of(ranks[Side.RED], ranks[Side.BLACK])[0]
    return result


def _strides(parent: Layout, view: Layout) -> NDArray[np.int64]:
    """int64 (groups of the parent,): the view's strides of the same groups, 0 where gone."""
    of = {(g.side, g.kind): s for g, s in zip(view.groups, view.strides, strict=True)}
    return np.array([of.get((g.side, g.kind), 0) for g in parent.groups], np.int64)


def find_captures(
    layout: Layout,
    frame: Frame,
    side: Side,
    legal: NDArray[np.uint64],
    supporting: Callable[[Material], SupportingTable],
    code_space: CodeSpace,
    metric: Metric,
    workers: Workers,
    ready: Callable[[Palette], None] = lambda palette: None,
) -> Captures:
    """The best capture of every position with `side` to move.

    supporting : opens the table of a material after a capture
    ready : is told the palette before there are any planes
    Raises `LimitExceededError` where a capture is worth what has no code.
    """
    victim_side = side.other
    kinds = _kinds(layout, victim_side, supporting, code_space, metric)
    palette = Palette.of(code_space, (code for kind in kinds for code in kind.worth.values()))
    ready(palette)
    numbers: Plane = workers.storage.zeros(layout.rows * STRIDE, palette.dtype)
    for kind, table, swapped, to_move, worth in kinds:
        conversion = np.zeros(table.code_space.top + 1, palette.dtype)
        conversion[list(worth)] = palette.numbers(worth.values())
        table_frame = make_frame(table.layout, with_moves=False)
        plane = load_plane(table, to_move, conversion, table_frame, workers)
        for view in layout.views(victim_side, kind):
            maker = ViewMaker(view, table.layout, table_frame, swapped, plane)
            strides = _strides(layout, view)
            capture = _capture_attackers if kind.is_attacker else _capture_defenders
            capture(layout, view, victim_side, kind, maker, numbers, legal, strides, frame, workers)
            del maker
        del plane
    return Captures(numbers, palette)


def _kinds(
    layout: Layout,
    victim_side: Side,
    supporting: Callable[[Material], SupportingTable],
    code_space: CodeSpace,
    metric: Metric,
) -> list[_Kind]:
    """The kinds of pieces that a side may lose."""
    kinds = []
    army = layout.armies[victim_side]
    for kind in list(PieceType)[1:]:
        if not army.count(kind):
            continue
        armies = list(layout.armies)
        armies[victim_side] = army.without(kind)
        material = Material(*armies)
        swapped = material.first != armies[Side.RED]
        table, to_move = supporting(material), victim_side ^ swapped
        worth = {
            code: code_space.encode(capture_value(table.code_space.decode(code), metric))
            for code in table.occurring_codes(to_move)
        }
        kinds.append(_Kind(kind, table, swapped, to_move, worth))
    return kinds


def capture_value(value: Value, metric: Metric) -> Value:
    """Return the value of a capture that leads to a position of some value.

    One ply more than the position, for the other side; in a DTC table every loss of the
    supporting table is a conversion in one ply, and every win costs two (Fang, Hsu & Hsu 2002,
    section 6.3).
    """
    if value.outcome == Outcome.DRAW:
        return DRAW
    outcome = Outcome(-value.outcome)
    if metric == Metric.DTC:
        return Value(outcome, 0, 1 if outcome == Outcome.WIN else 2)
    return Value(outcome, value.order, value.plies + 1)


def _capture_attackers(
    layout: Layout,
    view: Layout,
    victim_side: Side,
    kind: PieceType,
    maker: ViewMaker,
    numbers: Plane,
    legal: NDArray[np.uint64],
    strides: NDArray[np.int64],
    frame: Frame,
    workers: Workers,
) -> None:
    """Captures of a piece of a mid group, or of the inner piece."""
    arguments = (
        int(victim_side.other), numbers, legal, maker.whole(workers), maker.frame, strides, frame,
    )  # fmt: skip
    if view.inner is None:
        workers.over(layout.leads, k_capture_inner, *arguments)
        return
    group = [(group.side, group.kind) for group in layout.groups].index((victim_side, kind))

    def capture(lead_0: int, lead_1: int, _: int) -> None:
        k_capture_group(lead_0, lead_1, group, *arguments, np.empty(STRIDE, numbers.dtype))

    workers.run(capture, layout.leads)


def _capture_defenders(
    layout: Layout,
    view: Layout,
    victim_side: Side,
    kind: PieceType,
    maker: ViewMaker,
    numbers: Plane,
    legal: NDArray[np.uint64],
    strides: NDArray[np.int64],
    frame: Frame,
    workers: Workers,
) -> None:
    """Captures of an advisor or elephant; the view is made for a few leads at a time."""
    defenders = layout.defenders[victim_side]
    column = victim_side * layout.defenders[Side.RED].pieces + 1
    if kind == PieceType.ELEPHANT:
        column += defenders.advisors
    columns = range(column, column + layout.armies[victim_side].count(kind))
    dropped = _dropped_leads(layout, view, columns, victim_side)

    def capture(lead_0: int, lead_1: int, _: int) -> None:
        leads, places = np.unique(dropped[lead_0:lead_1], return_inverse=True)
        k_capture_defender(
            lead_0, lead_1, columns.start, columns.stop, places.reshape(-1, len(columns)),
            int(victim_side.other), numbers, legal, maker.part(leads), maker.frame, strides, frame,
            np.empty(STRIDE, numbers.dtype),
        )  # fmt: skip

    workers.run(capture, layout.leads)


MANY_VALUES = [Value(Outcome.LOSS, order, 1) for order in range(1, 258)]
"""More than one byte can number, of two-byte codes."""


class _Manifold(DrawnTable):
    """A drawn table that passes for one of many values, so that numbers take two bytes."""

    def occurring_codes(self, side: int) -> Collection[int]:
        """The draw, and what no position has."""
        many = map(self.code_space.encode, MANY_VALUES)
        return [*super().occurring_codes(side), *many]


def compile_captures(*, wide: bool = False) -> None:
    """Compile the kernels of captures, by looking for them where there are no positions.

    wide : those for numbers of two bytes, not of one
    """
    table = _Manifold if wide else DrawnTable
    code_space = CodeSpace(2)
    for name in ("KRKN", "KRKA"):
        layout = Layout.of(Material.parse(name))
        frame = make_frame(layout)
        with Workers(1) as workers:
            legal = np.zeros((layout.rows, 2), np.uint64)
            for side in Side:
                find_captures(
                    layout, frame, side, legal, lambda child: table(Layout.of(child), code_space),
                    code_space, Metric.DTM, workers,
                )  # fmt: skip
