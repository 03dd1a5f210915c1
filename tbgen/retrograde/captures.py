# mypy: allow-untyped-calls
"""Phase 2b: what every capture is worth.

For each kind of captured piece one view of the supporting table is made (`supporting.py`), and
every position takes the largest code over its captures (`capture_kernels.py`). The result waits
in the plane of codes until the propagation takes it over (`propagation.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import rare_collections
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
from tbgen.tables.codes import CodeSpace
from tbgen.tables.names import Metric


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
    code_space: CodeSpace,
    supporting: Callable[[Material], SupportingTable],
    convert: Callable[[CodeSpace], Plane],
    workers: Workers,
) -> Plane:
    """The best capture of every position with `side` to move, a code by (row, square); 0 for none.

    supporting : opens the table of a material after a capture
    convert : the code of the capture for each code of such a table
    Slots that hold no legal position may hold anything.
    """
    codes: Plane = workers.storage.zeros(layout.rows * STRIDE, code_space.dtype)
    victim_side = side.other
    army = layout.armies[victim_side]
    for kind in list(PieceType)[1:]:
        if not army.count(kind):
            continue
        armies = list(layout.armies)
        armies[victim_side] = army.without(kind)
        material = Material(*armies)
        swapped = material.first != armies[Side.RED]
        table = supporting(material)
        table_frame = make_frame(table.layout, with_moves=False)
        plane = load_plane(
            table, victim_side ^ swapped, convert(table.code_space), table_frame, workers
        )
        for view in layout.views(victim_side, kind):
            maker = ViewMaker(view, table.layout, table_frame, swapped, plane)
            strides = _strides(layout, view)
            capture = _capture_attackers if kind.is_attacker else _capture_defenders
            capture(layout, view, victim_side, kind, maker, codes, legal, strides, frame, workers)
            del maker
        del plane
    return codes


def _capture_attackers(
    layout: Layout,
    view: Layout,
    victim_side: Side,
    kind: PieceType,
    maker: ViewMaker,
    codes: Plane,
    legal: NDArray[np.uint64],
    strides: NDArray[np.int64],
    frame: Frame,
    workers: Workers,
) -> None:
    """Captures of a piece of a mid group, or of the inner piece."""
    arguments = (
        int(victim_side.other), codes, legal, maker.whole(workers), maker.frame, strides, frame,
    )  # fmt: skip
    if view.inner is None:
        workers.over(layout.leads, k_capture_inner, *arguments)
        return
    group = [(group.side, group.kind) for group in layout.groups].index((victim_side, kind))

    def capture(lead_0: int, lead_1: int, _: int) -> None:
        k_capture_group(lead_0, lead_1, group, *arguments, np.empty(STRIDE, codes.dtype))

    workers.run(capture, layout.leads)


def _capture_defenders(
    layout: Layout,
    view: Layout,
    victim_side: Side,
    kind: PieceType,
    maker: ViewMaker,
    codes: Plane,
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
            int(victim_side.other), codes, legal, maker.part(leads), maker.frame, strides, frame,
            np.empty(STRIDE, codes.dtype),
        )  # fmt: skip

    workers.run(capture, layout.leads)


@cache
def capture_codes(source: CodeSpace, target: CodeSpace, metric: Metric) -> Plane:
    """(codes of the source,) what a capture is worth that leads to a position of each code.

    One ply more than the position, for the other side; in a DTC table every loss of the
    supporting table is a conversion in one ply, and every win costs two (Fang, Hsu & Hsu 2002,
    section 6.3). Where the distance does not fit the target the entry is 0.
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


def compile_captures(code_space: CodeSpace) -> None:
    """Compile the kernels of captures, by looking for them where there are no positions."""
    for name in ("KRKN", "KRKA"):
        layout = Layout.of(Material.parse(name))
        frame = make_frame(layout)
        with rare_collections(), Workers(1) as workers:
            legal = np.zeros((layout.rows, 2), np.uint64)
            for side in Side:
                find_captures(
                    layout, frame, side, legal, code_space,
                    lambda child: DrawnTable(Layout.of(child), code_space),
                    lambda source: capture_codes(source, code_space, Metric.DTM), workers,
                )  # fmt: skip
