# mypy: allow-untyped-calls
"""Phase 2b: the best capture of every position.

    values of the supporting tables  ->  palette: the values of all captures, numbered
    a supporting table  ->  a plane of these numbers  ->  a view for each captured piece
    a range of leads    ->  the largest number over all captures of a position

*Supporting tables* are those that captures lead to. A *view* is one of them with the index of the
table that is solved (`supporting.py`). The palette (`tables/palettes.py`) sets the width of planes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material
from tbgen.indexing.squares import PieceType, Side
from tbgen.retrograde.capture_kernels import k_capture_defender, k_capture_group, k_capture_inner
from tbgen.retrograde.supporting import DrawnTable, Plane, SupportingTable, ViewMaker, load_plane
from tbgen.rows.frame import STRIDE, Frame, make_frame
from tbgen.rows.sets import Rows
from tbgen.rows.workers import Workers
from tbgen.tables.codes import DRAW, CodeSpace, Outcome, Value
from tbgen.tables.names import Metric
from tbgen.tables.palettes import Palette

FindCaptures = Callable[[int, int, Rows, Plane], None]
"""Function with the parameters of `Captures.find`.

A function for a single view replaces a number only by a larger one; `Captures.find` begins with 0.
"""


class _CapturedKind(NamedTuple):
    """Type of a captured piece, and the supporting table of the material without this piece."""

    kind: PieceType
    table: SupportingTable
    swapped: bool
    """True if the table has the colours exchanged."""
    to_move: int
    """The side to move after the capture, in the colours of the table."""
    capture_codes: dict[int, int]
    """Map from each code of the table to the code of a capture leading to it."""


def _dropped_leads(
    parent: Layout, view: Layout, columns: range, victim_side: Side
) -> NDArray[np.int64]:
    """Return the view's lead after each capture of a defender: int64 (parent's leads, columns).

    parent, view : layout of the table that is solved, and of the view
    columns : columns of `Frame.lead_squares`, one for each defender of the captured kind
    victim_side : side of these defenders
    """
    red_pieces, parent_ranks = parent.defenders[Side.RED].pieces, parent.lead_ranks
    result = np.zeros((parent.leads, len(columns)), np.int64)
    for c, column in enumerate(columns):
        ranks = []
        for side in Side:
            squares = parent.defenders[side].squares
            if side == victim_side:
                squares = np.delete(squares, column - side * red_pieces, axis=1)
            ranks.append(view.defenders[side].rank(squares)[parent_ranks[side]])
        result[:, c] = view.lead_of(*ranks)[0]
    return result


def _strides(parent: Layout, view: Layout) -> NDArray[np.int64]:
    """Return the view's stride of each mid group of the parent, int64 (groups,).

    The stride is 0 for a group that the view lacks.
    """
    of = {(g.side, g.kind): s for g, s in zip(view.groups, view.strides, strict=True)}
    return np.array([of.get((g.side, g.kind), 0) for g in parent.groups], np.int64)


class Captures:
    """Best captures of one side, found for a range of leads at a time.

    The supporting tables are in memory, as planes or views, as long as the object exists.
    """

    def __init__(
        self,
        layout: Layout,
        frame: Frame,
        side: Side,
        supporting: Callable[[Material], SupportingTable],
        code_space: CodeSpace,
        metric: Metric,
        workers: Workers,
        ready: Callable[[Palette], None] = lambda palette: None,
    ) -> None:
        """Load the tables that captures by `side` lead to.

        layout, frame, code_space, metric : of the table that is solved
        supporting : opens the table of a material after a capture
        ready : called with the palette before any plane is allocated

        Raises `LimitExceededError` if a capture's value has no code, and errors of reading tables.
        """
        self._layout, self._frame, self._side = layout, frame, side
        victim_side = side.other
        kinds, self.palette = _captured_kinds(layout, victim_side, supporting, code_space, metric)
        """Codes of the numbers that `find` writes."""
        ready(self.palette)
        self._searches: list[FindCaptures] = []
        for kind, table, swapped, to_move, capture_codes in kinds:
            numbers = self.palette.numbers(capture_codes.values()).tolist()
            number_of_code = dict(zip(capture_codes, numbers, strict=True))
            table_frame = make_frame(table.layout, with_moves=False)
            plane = load_plane(
                table, to_move, number_of_code, self.palette.dtype, table_frame, workers
            )
            for view in layout.views(victim_side, kind):
                maker = ViewMaker(view, table.layout, table_frame, swapped, plane)
                if kind.is_attacker:
                    search = self._of_attackers(view, kind, maker, workers)
                else:
                    search = self._of_defenders(view, kind, maker)
                self._searches.append(search)
                del maker
            del plane

    def find(self, lead_0: int, lead_1: int, legal: Rows, numbers: Plane) -> None:
        """Find the best capture of every legal position of the leads [lead_0, lead_1).

        legal : Rows of these leads
        numbers : unsigned (rows of these leads * 90,), out; number in `palette` of each position's
            best capture; 0 for no capture, arbitrary for illegal positions
        """
        numbers.fill(0)
        for search in self._searches:
            search(lead_0, lead_1, legal, numbers)

    def _of_attackers(
        self, view: Layout, kind: PieceType, maker: ViewMaker, workers: Workers
    ) -> FindCaptures:
        """Return a function that finds captures of attackers of one type, from one view.

        If the view has no inner piece, these are captures of the inner piece, else of a mid group.
        """
        side, frame, strides = int(self._side), self._frame, _strides(self._layout, view)
        plane, view_frame = maker.whole(workers), maker.frame
        if view.inner is None:
            return lambda lead_0, lead_1, legal, numbers: k_capture_inner(
                lead_0, lead_1, side, numbers, legal, plane, view_frame, strides, frame
            )
        groups = [(group.side, group.kind) for group in self._layout.groups]
        group = groups.index((self._side.other, kind))
        return lambda lead_0, lead_1, legal, numbers: k_capture_group(
            lead_0, lead_1, group, side, numbers, legal, plane, view_frame, strides, frame,
            np.empty(STRIDE, numbers.dtype),
        )  # fmt: skip

    def _of_defenders(self, view: Layout, kind: PieceType, maker: ViewMaker) -> FindCaptures:
        """Return a function that finds captures of advisors, or of elephants, from one view.

        Each call of the function makes the part of the view that it needs.
        """
        layout, victim_side = self._layout, self._side.other
        side, frame, strides = int(self._side), self._frame, _strides(layout, view)
        column = victim_side * layout.defenders[Side.RED].pieces + 1
        if kind == PieceType.ELEPHANT:
            column += layout.defenders[victim_side].advisors
        columns = range(column, column + layout.armies[victim_side].count(kind))
        dropped = _dropped_leads(layout, view, columns, victim_side)

        def search(lead_0: int, lead_1: int, legal: Rows, numbers: Plane) -> None:
            leads, inverse = np.unique(dropped[lead_0:lead_1], return_inverse=True)
            k_capture_defender(
                lead_0, lead_1, columns.start, columns.stop, inverse.reshape(-1, len(columns)),
                side, numbers, legal, maker.part(leads), maker.frame, strides, frame,
                np.empty(STRIDE, numbers.dtype),
            )  # fmt: skip

        return search


def _captured_kinds(
    layout: Layout,
    victim_side: Side,
    supporting: Callable[[Material], SupportingTable],
    code_space: CodeSpace,
    metric: Metric,
) -> tuple[list[_CapturedKind], Palette]:
    """Return the types of pieces that `victim_side` may lose, and the palette of capture codes.

    Opens the supporting tables. Other parameters and errors are those of `Captures`.
    """
    kinds = []
    army = layout.armies[victim_side]
    for kind in list(PieceType)[1:]:
        if not army.count(kind):
            continue
        armies = list(layout.armies)
        armies[victim_side] = army.without(kind)
        material = Material(*armies)
        swapped = material.first != armies[Side.RED]
        table = supporting(material) if material.needs_table else DrawnTable(Layout.of(material))
        to_move = victim_side ^ swapped
        capture_codes = {
            code: code_space.encode(capture_value(table.code_space.decode(code), metric))
            for code in table.occurring_codes(to_move)
        }
        kinds.append(_CapturedKind(kind, table, swapped, to_move, capture_codes))
    codes = (code for captured in kinds for code in captured.capture_codes.values())
    return kinds, Palette.of(code_space, codes)


def capture_width(
    layout: Layout,
    supporting: Callable[[Material], SupportingTable],
    code_space: CodeSpace,
    metric: Metric,
) -> int:
    """Return the bytes of a number in a plane of best captures, for the side that needs more.

    Parameters and errors are those of `Captures`.
    """
    return max(
        _captured_kinds(layout, side, supporting, code_space, metric)[1].dtype.itemsize
        for side in Side
    )


def capture_value(value: Value, metric: Metric) -> Value:
    """Return the value of a capture for the side that makes it.

    value : of the position after the capture, for the opponent, who is to move

    In a DTM table the capture adds one ply, and keeps the order. In a DTC table it wins in 1 ply,
    or loses in 2, at order 0 (Fang, Hsu & Hsu 2002, section 6.3). A draw remains a draw.
    """
    if value.outcome == Outcome.DRAW:
        return DRAW
    outcome = Outcome(-value.outcome)
    if metric == Metric.DTC:
        return Value(outcome, 0, 1 if outcome == Outcome.WIN else 2)
    return Value(outcome, value.order, value.plies + 1)


MANY_VALUES = [Value(Outcome.LOSS, order, 1) for order in range(1, 258)]
"""More than 256 made-up values of captures, so that their numbers in a palette take two bytes."""


def compile_captures(*, wide: bool = False) -> None:
    """Compile the kernels that find captures, for numbers of one byte, or of two if `wide`."""
    code_space = CodeSpace(2)
    many = tuple(map(code_space.encode, MANY_VALUES)) if wide else ()
    for name in ("KRKN", "KRKA"):
        layout = Layout.of(Material.parse(name))
        frame = make_frame(layout)
        legal = np.zeros((layout.mids, 2), np.uint64)
        for side in Side:
            captures = Captures(
                layout, frame, side,
                lambda child: DrawnTable(Layout.of(child), code_space, absent_codes=many),
                code_space, Metric.DTM, Workers(1),
            )  # fmt: skip
            numbers = np.zeros(layout.mids * STRIDE, captures.palette.dtype)
            captures.find(0, 1, legal, numbers)
