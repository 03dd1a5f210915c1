"""Phase 2b: what every capture is worth.

For each kind of captured piece one view of the supporting table is made (`supporting.py`), and
every position takes the largest code over its captures. The result waits in the plane of codes
until the propagation takes it over (`propagation.py`).

    a piece of a mid group is captured     the view has the same lead and inner piece
    the inner piece is captured            the view has no inner piece: one code per row
    an advisor or elephant is captured     the view has another lead, not mirror-reduced

In the first and third case one move of one capturing piece is a maximum over a row.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tbgen.indexing.groups import Defenders
from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material
from tbgen.indexing.squares import PieceType, Side
from tbgen.jit import borrowing_kernel, part
from tbgen.retrograde.bitsets import (
    BIT,
    CANNON,
    EMPTY,
    FULL,
    KNIGHT,
    KNIGHT_LEGS,
    KNIGHT_TARGETS,
    MIRROR,
    PAWN_TARGETS,
    RAY,
    ROOK,
    WORD,
    attack_stands,
    count_bits,
    has,
    inner_attackers,
    lowest_bit,
)
from tbgen.retrograde.frame import (
    COUNT,
    FIRST_EXTEND,
    FIRST_PLACEMENT,
    GROUP_STRIDE,
    GROUPS,
    INNER_KIND,
    INNER_SIDE,
    KIND,
    MIDS,
    SIDE,
    SIZE,
    STRIDE,
    Frame,
    make_frame,
)
from tbgen.retrograde.parallel import Workers
from tbgen.retrograde.supporting import Plane, SupportingTable, ViewMaker, load_plane
from tbgen.tables.codes import CodeSpace


@part
def _raise_bits(codes, base, lo, hi, code):
    """Raise the codes of the squares of a set to at least `code`."""
    while lo:
        at = base + lowest_bit(lo)
        lo &= lo - np.uint64(1)
        if codes[at] < code:
            codes[at] = code
    while hi:
        at = base + 45 + lowest_bit(hi)
        hi &= hi - np.uint64(1)
        if codes[at] < code:
            codes[at] = code


@part
def _raise_row(codes, base, view, source, lo, hi, saved):
    """Raise a row to the view's row, for the squares of a set only.

    The whole row is one vector maximum; the few squares outside the set are put back. `saved` is
    scratch for them, one code per square.
    """
    if (lo == EMPTY) and (hi == EMPTY):
        return
    row = codes[base : base + STRIDE]
    other = view[source : source + STRIDE]
    inside = count_bits(lo & WORD) + count_bits(hi & WORD)
    if inside < 20:
        while lo:
            s = lowest_bit(lo)
            lo &= lo - np.uint64(1)
            row[s] = max(row[s], other[s])
        while hi:
            s = 45 + lowest_bit(hi)
            hi &= hi - np.uint64(1)
            row[s] = max(row[s], other[s])
        return
    out_lo, out_hi = ~lo & WORD, ~hi & WORD
    x, y = out_lo, out_hi
    while x:
        s = lowest_bit(x)
        x &= x - np.uint64(1)
        saved[s] = row[s]
    while y:
        s = 45 + lowest_bit(y)
        y &= y - np.uint64(1)
        saved[s] = row[s]
    for s in range(STRIDE):
        row[s] = max(row[s], other[s])
    while out_lo:
        s = lowest_bit(out_lo)
        out_lo &= out_lo - np.uint64(1)
        row[s] = saved[s]
    while out_hi:
        s = 45 + lowest_bit(out_hi)
        out_hi &= out_hi - np.uint64(1)
        row[s] = saved[s]


@part
def _capture_by_attackers(
    codes, row, lead_mids, mid, rest, victim, side, lo, hi, view, frame, strides, saved
):
    """Captures of the piece on `victim` by the attackers of `side`.

    lead_mids : the first row of the view's lead; rest : the view's mid before the capture
    strides : int64 (groups,), the view's stride of each group of the frame
    """
    base = row * STRIDE
    for g in range(frame.size[GROUPS]):
        if frame.groups[g, SIDE] != side:
            continue
        kind = frame.groups[g, KIND]
        rank = mid // frame.groups[g, GROUP_STRIDE] % frame.groups[g, SIZE]
        placement = frame.groups[g, FIRST_PLACEMENT] + rank
        for j in range(frame.groups[g, COUNT]):
            square = np.int64(frame.placements[placement, j])
            x, y = attack_stands(kind, side, square, victim, lo, hi)
            if x | y:
                companions = frame.groups[g, FIRST_EXTEND] + frame.companions[placement, j]
                after = np.int64(frame.extend[companions, victim])
                source = lead_mids + rest + (after - rank) * strides[g]
                _raise_row(codes, base, view, source * STRIDE, x, y, saved)
    if frame.size[INNER_SIDE] == side and frame.size[INNER_KIND] >= 0:
        code = view[(lead_mids + rest) * STRIDE + victim]
        if code:
            x, y = inner_attackers(frame.size[INNER_KIND], side, victim, lo, hi)
            _raise_bits(codes, base, x & frame.inner_area[0], y & frame.inner_area[1], code)


@part
def _view_mid(mid, without, frame, strides):
    """The view's mid of a frame's mid, group `without` left out (-1: none)."""
    result = np.int64(0)
    for g in range(frame.size[GROUPS]):
        if g != without:
            rank = mid // frame.groups[g, GROUP_STRIDE] % frame.groups[g, SIZE]
            result += rank * strides[g]
    return result


@borrowing_kernel
def _k_capture_group(
    lead_0, lead_1, victims, side, codes, legal, view, view_frame, strides, frame, saved
):
    """Captures by `side` of a piece of the mid group `victims`.

    Parameters
    ----------
    codes : (rows * 90,), in/out, of `side` to move; only rows of the given leads are written
    legal : uint64 (rows, 2), positions with `side` to move
    view, view_frame : the supporting table, without one piece of the group
    strides : int64 (groups,), the view's stride of each group of the frame, 0 if it has none
    saved : codes (90,), scratch
    """
    mids, view_mids = frame.size[MIDS], view_frame.size[MIDS]
    stride, size = frame.groups[victims, GROUP_STRIDE], frame.groups[victims, SIZE]
    for lead in range(lead_0, lead_1):
        first_move, last_move = frame.move_start[side, lead], frame.move_start[side, lead + 1]
        for mid in range(mids):
            row = lead * mids + mid
            if not (legal[row, 0] | legal[row, 1]):
                continue
            lo = frame.lead_taken[lead, 0] | frame.mid_taken[mid, 0]
            hi = frame.lead_taken[lead, 1] | frame.mid_taken[mid, 1]
            others = _view_mid(mid, victims, frame, strides)
            placement = frame.groups[victims, FIRST_PLACEMENT] + mid // stride % size
            for j in range(frame.groups[victims, COUNT]):
                victim = np.int64(frame.placements[placement, j])
                rest = others + frame.companions[placement, j] * strides[victims]
                _capture_by_attackers(codes, row, lead * view_mids, mid, rest, victim, side,
                                      lo, hi, view, frame, strides, saved)  # fmt: skip
                for m in range(first_move, last_move):
                    info = frame.lead_moves[m, 1]
                    if info >> 8 & 127 != victim:
                        continue
                    eye = ((info >> 1) & 127) - 1
                    x, y = FULL, FULL
                    if eye >= 0:
                        if has(lo, hi, eye):
                            continue
                        x, y = ~BIT[eye, 0], ~BIT[eye, 1]
                    source = np.int64(frame.lead_moves[m, 0]) * view_mids
                    if info & 1:
                        source = (source + view_frame.mid_mirror[rest]) * STRIDE
                        for s in range(STRIDE):
                            if s != eye:
                                code = view[source + MIRROR[s]]
                                codes[row * STRIDE + s] = max(codes[row * STRIDE + s], code)
                    else:
                        source = (source + rest) * STRIDE
                        _raise_row(codes, row * STRIDE, view, source, x, y, saved)


@borrowing_kernel
def _k_capture_defender(
    lead_0, lead_1, column_0, column_1, dropped, side, codes, legal, view, view_frame, strides,
    frame, saved,
):  # fmt: skip
    """Captures by `side` of an advisor or elephant, in columns [column_0, column_1) of the lead.

    dropped : int64 (leads of the range, columns), the view's lead without that piece
    The other parameters are those of `_k_capture_group`.
    """
    mids, view_mids = frame.size[MIDS], view_frame.size[MIDS]
    for lead in range(lead_0, lead_1):
        for mid in range(mids):
            row = lead * mids + mid
            if not (legal[row, 0] | legal[row, 1]):
                continue
            lo = frame.lead_taken[lead, 0] | frame.mid_taken[mid, 0]
            hi = frame.lead_taken[lead, 1] | frame.mid_taken[mid, 1]
            rest = _view_mid(mid, -1, frame, strides)
            for column in range(column_0, column_1):
                victim = np.int64(frame.lead_squares[lead, column])
                first = dropped[lead - lead_0, column - column_0] * view_mids
                _capture_by_attackers(codes, row, first, mid, rest, victim, side, lo, hi, view,
                                      frame, strides, saved)  # fmt: skip


@borrowing_kernel
def _k_capture_inner(lead_0, lead_1, side, codes, legal, view, view_frame, strides, frame):
    """Captures by `side` of the inner piece; the view has one code per row.

    The parameters are those of `_k_capture_group`.
    """
    mids, view_mids = frame.size[MIDS], view_frame.size[MIDS]
    for lead in range(lead_0, lead_1):
        for mid in range(mids):
            row = lead * mids + mid
            if not (legal[row, 0] | legal[row, 1]):
                continue
            base = row * STRIDE
            lo = frame.lead_taken[lead, 0] | frame.mid_taken[mid, 0]
            hi = frame.lead_taken[lead, 1] | frame.mid_taken[mid, 1]
            rest = _view_mid(mid, -1, frame, strides)
            for g in range(frame.size[GROUPS]):
                if frame.groups[g, SIDE] != side:
                    continue
                kind = frame.groups[g, KIND]
                rank = mid // frame.groups[g, GROUP_STRIDE] % frame.groups[g, SIZE]
                placement = frame.groups[g, FIRST_PLACEMENT] + rank
                for j in range(frame.groups[g, COUNT]):
                    square = np.int64(frame.placements[placement, j])
                    companions = frame.groups[g, FIRST_EXTEND] + frame.companions[placement, j]
                    source = lead * view_mids + rest - rank * strides[g]
                    if kind == ROOK or kind == CANNON:
                        for d in range(4):
                            screens = 0
                            for k in range(9):
                                s = np.int64(RAY[square, d, k])
                                if s < 0:
                                    break
                                if has(lo, hi, s):
                                    screens += 1
                                    if kind == ROOK or screens == 2:
                                        break
                                elif kind == ROOK or screens == 1:
                                    after = np.int64(frame.extend[companions, s])
                                    code = view[source + after * strides[g]]
                                    codes[base + s] = max(codes[base + s], code)
                    else:
                        for k in range(8 if kind == KNIGHT else 3):
                            if kind == KNIGHT:
                                s = np.int64(KNIGHT_TARGETS[square, k])
                                leg = np.int64(KNIGHT_LEGS[square, k])
                                if s >= 0 and has(lo, hi, leg):
                                    continue
                            else:
                                s = np.int64(PAWN_TARGETS[side, square, k])
                            if s < 0 or has(lo, hi, s):
                                continue
                            after = np.int64(frame.extend[companions, s])
                            code = view[source + after * strides[g]]
                            codes[base + s] = max(codes[base + s], code)
            for m in range(frame.move_start[side, lead], frame.move_start[side, lead + 1]):
                info = frame.lead_moves[m, 1]
                s = np.int64(info >> 8 & 127)
                eye = ((info >> 1) & 127) - 1
                if has(lo, hi, s):
                    continue
                if eye >= 0 and has(lo, hi, eye):
                    continue
                after = np.int64(view_frame.mid_mirror[rest]) if info & 1 else rest
                code = view[np.int64(frame.lead_moves[m, 0]) * view_mids + after]
                codes[base + s] = max(codes[base + s], code)


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
        workers.over(layout.leads, _k_capture_inner, *arguments)
        return
    group = [(group.side, group.kind) for group in layout.groups].index((victim_side, kind))

    def capture(lead_0: int, lead_1: int, _: int) -> None:
        _k_capture_group(lead_0, lead_1, group, *arguments, np.empty(STRIDE, codes.dtype))

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
        _k_capture_defender(
            lead_0, lead_1, columns.start, columns.stop, places.reshape(-1, len(columns)),
            int(victim_side.other), codes, legal, maker.part(leads), maker.frame, strides, frame,
            np.empty(STRIDE, codes.dtype),
        )  # fmt: skip

    workers.run(capture, layout.leads)
