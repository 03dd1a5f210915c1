# mypy: allow-untyped-defs, allow-untyped-calls
"""Kernels of phase 2b: the values of all captures of one kind of piece, read from a view.

A view is a supporting table with the index of the table that is solved, the parent
(`supporting.py`). A view has the value of each capture as a number in a palette, larger if better,
or 0 if the position after the capture is illegal. The array `numbers` has the best capture so far
of each position, 90 for each row. To *raise* a number is to replace it by another that is larger.

    a piece of a mid group is captured     the view has the parent's leads and inner piece
    the inner piece is captured            the view has the parent's leads, and one number per row
    an advisor or elephant is captured     the view has leads without this piece; mirror images
                                           have leads of their own (`Layout.reduced` is False)

In the first and third case, a capture by a piece other than the inner piece raises a row of
`numbers` to a row of the view, at the squares of the inner piece with which the capture is
possible. Parameters of kernels: `tbgen.retrograde`.
"""

from __future__ import annotations

import numpy as np

from tbgen.compiling.jit import borrowing_kernel, part
from tbgen.rows.bitsets import (
    BIT,
    MIRROR,
    WORD,
    attack_stands,
    attacks_on_inner,
    count_bits,
    first_square,
    has,
    inner_attackers,
    without_first,
)
from tbgen.rows.frame import (
    EYE,
    FIRST_EXTEND,
    FIRST_MAN,
    GROUP,
    KIND,
    MIRRORED,
    SIDE,
    STRIDE,
    TARGET,
    rank_of,
)

MANY_SQUARES = 20
"""Number of squares of a row from which it is faster to raise all 90 and restore the others."""


@part
def _raise_bits(numbers, base, lo, hi, number):
    """Raise `numbers` at base + square, for the squares (lo, hi), to at least `number`.

    number : unsigned, of the type of `numbers`
    """
    while lo | hi:
        at = base + first_square(lo, hi)
        lo, hi = without_first(lo, hi)
        if numbers[at] < number:
            numbers[at] = number


@part
def _raise_row(numbers, base, view, source, lo, hi, saved):
    """Raise `numbers` at base + square, for the squares (lo, hi), to the numbers of a view's row.

    If there are fewer than `MANY_SQUARES` squares, (lo, hi) must have no meaningless bits
    (`rows.bitsets`).

    source : int64, index in `view` of the row's first square
    """
    row = numbers[base : base + STRIDE]
    other = view[source : source + STRIDE]
    if count_bits(lo & WORD) + count_bits(hi & WORD) < MANY_SQUARES:
        while lo | hi:
            s = first_square(lo, hi)
            lo, hi = without_first(lo, hi)
            row[s] = max(row[s], other[s])
        return
    out_lo, out_hi = ~lo & WORD, ~hi & WORD
    lo, hi = out_lo, out_hi
    while lo | hi:
        s = first_square(lo, hi)
        lo, hi = without_first(lo, hi)
        saved[s] = row[s]
    for s in range(STRIDE):
        row[s] = max(row[s], other[s])
    while out_lo | out_hi:
        s = first_square(out_lo, out_hi)
        out_lo, out_hi = without_first(out_lo, out_hi)
        row[s] = saved[s]


@part
def _capture_by_attackers(
    numbers, base, first, mid, rest, victim, side, lo, hi, view, frame, strides, saved
):
    """Raise numbers of a row to the values of captures on `victim` by attackers of `side`.

    first : int64, the first row, in `view`, of the lead after the capture
    mid : int64, the mid of the row in `numbers`, before the capture
    rest : int64, the view's mid with all men on their squares, the captured one left out
    victim : int64, the square of the captured piece
    lo, hi : uint64, the occupied squares of lead and mid
    """
    for man in range(frame.men.shape[0]):
        if frame.men[man, SIDE] != side:
            continue
        square = np.int64(frame.mid_squares[mid, man])
        x, y = attack_stands(frame.men[man, KIND], side, square, victim, lo, hi)
        if x | y:
            step = frame.extend[frame.mid_companions[mid, man], victim] - rank_of(mid, man, frame)
            after = rest + step * strides[frame.men[man, GROUP]]
            _raise_row(numbers, base, view, (first + after) * STRIDE, x, y, saved)
    if frame.inner_side == side and frame.inner_kind >= 0:
        number = view[(first + rest) * STRIDE + victim]
        if number:
            x, y = inner_attackers(frame.inner_kind, side, victim, lo, hi)
            _raise_bits(numbers, base, x & frame.inner_area[0], y & frame.inner_area[1], number)


@part
def _view_mid(mid, without, frame, strides):
    """Return the view's mid that has the men on the same squares as a mid of `frame`.

    without : int64, a group that is left out (as if its rank were 0); -1 for none
    """
    result = np.int64(0)
    for g in range(frame.groups.shape[0]):
        if g != without:
            result += rank_of(mid, frame.groups[g, FIRST_MAN], frame) * strides[g]
    return result


@borrowing_kernel
def k_capture_group(
    lead_0, lead_1, victims, side, numbers, legal, view, view_frame, strides, frame, saved
):
    """Raise numbers to the values of captures, by `side`, of the pieces of one mid group.

    victims : int64, number of the group; its men belong to the side that is not to move
    """
    mids, view_mids = frame.mids, view_frame.mids
    first_man = frame.groups[victims, FIRST_MAN]
    for lead in range(lead_0, lead_1):
        first_move, last_move = frame.move_start[side, lead], frame.move_start[side, lead + 1]
        for mid in range(mids):
            row = (lead - lead_0) * mids + mid
            if not (legal[row, 0] | legal[row, 1]):
                continue
            base = row * STRIDE
            lo = frame.lead_taken[lead, 0] | frame.mid_taken[mid, 0]
            hi = frame.lead_taken[lead, 1] | frame.mid_taken[mid, 1]
            others = _view_mid(mid, victims, frame, strides)
            for man in range(first_man, frame.men.shape[0]):
                if frame.men[man, GROUP] != victims:
                    break
                victim = np.int64(frame.mid_squares[mid, man])
                companions = frame.mid_companions[mid, man] - frame.groups[victims, FIRST_EXTEND]
                rest = others + companions * strides[victims]
                _capture_by_attackers(numbers, base, lead * view_mids, mid, rest, victim, side,
                                      lo, hi, view, frame, strides, saved)  # fmt: skip
                for m in range(first_move, last_move):
                    if frame.lead_moves[m, TARGET] != victim:
                        continue
                    eye = np.int64(frame.lead_moves[m, EYE])
                    if has(lo, hi, eye):
                        continue
                    source = np.int64(frame.lead_after[m]) * view_mids
                    if frame.lead_moves[m, MIRRORED]:
                        source = (source + view_frame.mid_mirror[rest]) * STRIDE
                        for s in range(STRIDE):
                            if s != eye:
                                number = view[source + MIRROR[s]]
                                numbers[base + s] = max(numbers[base + s], number)
                    else:
                        source = (source + rest) * STRIDE
                        _raise_row(numbers, base, view, source, ~BIT[eye, 0], ~BIT[eye, 1], saved)


@borrowing_kernel
def k_capture_defender(
    lead_0, lead_1, column_0, column_1, dropped, side, numbers, legal, view, view_frame, strides,
    frame, saved,
):  # fmt: skip
    """Raise numbers to the values of captures of advisors or elephants, by attackers of `side`.

    Defenders cannot capture these: they never reach the other side's squares.

    column_0, column_1 : int64, range [column_0, column_1) of the captured pieces' columns in
        `Frame.lead_squares`
    dropped : int64 (leads of the range, columns), the lead after the capture of each piece, as its
        number among the leads that `view` contains
    """
    mids, view_mids = frame.mids, view_frame.mids
    for lead in range(lead_0, lead_1):
        for mid in range(mids):
            row = (lead - lead_0) * mids + mid
            if not (legal[row, 0] | legal[row, 1]):
                continue
            base = row * STRIDE
            lo = frame.lead_taken[lead, 0] | frame.mid_taken[mid, 0]
            hi = frame.lead_taken[lead, 1] | frame.mid_taken[mid, 1]
            rest = _view_mid(mid, -1, frame, strides)
            for column in range(column_0, column_1):
                victim = np.int64(frame.lead_squares[lead, column])
                first = dropped[lead - lead_0, column - column_0] * view_mids
                _capture_by_attackers(numbers, base, first, mid, rest, victim, side, lo, hi, view,
                                      frame, strides, saved)  # fmt: skip


@borrowing_kernel
def k_capture_inner(lead_0, lead_1, side, numbers, legal, view, view_frame, strides, frame):
    """Raise numbers to the values of captures, by `side`, of the inner piece."""
    mids, view_mids = frame.mids, view_frame.mids
    for lead in range(lead_0, lead_1):
        for mid in range(mids):
            row = (lead - lead_0) * mids + mid
            if not (legal[row, 0] | legal[row, 1]):
                continue
            base = row * STRIDE
            lo = frame.lead_taken[lead, 0] | frame.mid_taken[mid, 0]
            hi = frame.lead_taken[lead, 1] | frame.mid_taken[mid, 1]
            rest = _view_mid(mid, -1, frame, strides)
            for man in range(frame.men.shape[0]):
                if frame.men[man, SIDE] != side:
                    continue
                square = np.int64(frame.mid_squares[mid, man])
                companions = np.int64(frame.mid_companions[mid, man])
                stride = strides[frame.men[man, GROUP]]
                first = lead * view_mids + rest - rank_of(mid, man, frame) * stride
                x, y = attacks_on_inner(frame.men[man, KIND], side, square, lo, hi)
                while x | y:
                    s = first_square(x, y)
                    x, y = without_first(x, y)
                    number = view[first + frame.extend[companions, s] * stride]
                    numbers[base + s] = max(numbers[base + s], number)
            for m in range(frame.move_start[side, lead], frame.move_start[side, lead + 1]):
                s = np.int64(frame.lead_moves[m, TARGET])
                if has(lo, hi, s) or has(lo, hi, np.int64(frame.lead_moves[m, EYE])):
                    continue
                after = rest
                if frame.lead_moves[m, MIRRORED]:
                    after = np.int64(view_frame.mid_mirror[rest])
                number = view[np.int64(frame.lead_after[m]) * view_mids + after]
                numbers[base + s] = max(numbers[base + s], number)
