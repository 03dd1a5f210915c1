# mypy: allow-untyped-defs, allow-untyped-calls
"""Sweep: the predecessors of a frontier within a set, the operation that all phases use.

A sweep goes one quiet move backwards. The *frontier* is usually what the last sweep found for the
opponent; *escapes* are positions that save the side to move. There are three kinds:

    found = within & predecessors(frontier)                          a good move exists
    found = within & predecessors(frontier) - predecessors(escape)   and no escape is left
    found = within - predecessors(escape)                            no escape is left

The predecessors in a lead (placement of the defenders) are gathered from the frontier's rows in
this lead and in those that moves of defenders lead to: from lists of these rows if they are few
(sparse, `moves.py`), otherwise by scanning lines of the board (dense, `gather.py`). One thread
writes each lead.

With escapes and a dense frontier, only the predecessors of the escapes are gathered. That suffices,
since each position of `within` has a quiet move into `escape` or the frontier
(`Sweeper.predecessors`). Parameters of kernels: `tbgen.rows`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import borrowing_kernel, by_pointer, part
from tbgen.indexing.squares import SQUARES
from tbgen.rows.bitsets import EMPTY
from tbgen.rows.frame import Frame
from tbgen.rows.gather import BOARD_WORDS, gather_dense
from tbgen.rows.moves import add, gather_sparse, without_escape
from tbgen.rows.sets import Frontier, Rows, clear_lead, mid_in_use, put_row, ranges_for, rows_in_use
from tbgen.rows.workers import RANGES, Workers

DENSE_LEAD_DIVISOR = 6
"""If more than 1 / `DENSE_LEAD_DIVISOR` of a lead's rows have positions to be tested, predecessors
are gathered for the whole lead; otherwise the moves of each of these rows are tested.
"""

SPARSE_LEAD_DIVISOR = 8
"""A lead of M rows is gathered from lists if the frontier has fewer than M / `SPARSE_LEAD_DIVISOR`
rows in the lead and in those that its moves lead to.
"""


@by_pointer
class Scratch(NamedTuple):
    """Buffers of one thread for one lead (M mids)."""

    reached: Rows
    """uint64 (M, 2): positions of the lead with a move into the frontier; zero between uses."""
    escaping: Rows
    """uint64 (M, 2): positions of the lead with a move into the escapes; zero between uses."""
    line: Rows
    """uint64 (M, 2): running unions along a line of the board, or mirrored rows of a lead."""
    inner_free: Rows
    """uint64 (M, 2): the free squares of the inner piece in each row; none if pieces overlap."""
    board: NDArray[np.uint64]
    """uint64 (BOARD_WORDS,): the boards of `gather.py`, whose margins stay zero."""
    mid_of: NDArray[np.int64]
    """int64 (90,): for each square, the first mid with the moving man on it, while other men of its
    group and of groups with a larger stride stay; -1 if the man cannot stand on the square.
    """
    on_front: NDArray[np.bool_]
    """bool (90,): squares of the moving piece for which the frontier has positions."""
    touched: NDArray[np.int32]
    """int32 (M + 1,): list of mids, among them all whose rows of `reached` are not zero. `add` may
    write one element past the list.
    """


def make_scratch(mids: int) -> Scratch:
    """Return the buffers of one thread."""
    reached, escaping, line, inner_free = np.zeros((4, mids, 2), np.uint64)
    board, mid_of = np.zeros(BOARD_WORDS, np.uint64), np.zeros(SQUARES, np.int64)
    on_front, touched = np.zeros(SQUARES, np.bool_), np.zeros(mids + 1, np.int32)
    return Scratch(reached, escaping, line, inner_free, board, mid_of, on_front, touched)


@part
def _has_many_rows(lead, members, mids):
    """Return whether a lead has `members` in more than 1 / `DENSE_LEAD_DIVISOR` of its rows."""
    rows = 0
    for row in range(lead * mids, (lead + 1) * mids):
        rows += 1 if members[row, 0] | members[row, 1] else 0
        if rows > mids // DENSE_LEAD_DIVISOR:
            return True
    return False


@part
def _move_to_reached(lead, found, scratch, mids):
    """Move one lead's positions from `found` to `scratch.reached`; return the number of rows.

    The rows are listed in `scratch.touched`.
    """
    count = np.int64(0)
    for i in range(rows_in_use(lead, found, mids)):
        mid = mid_in_use(i, lead, found)
        lo, hi = found.rows[lead * mids + mid, 0], found.rows[lead * mids + mid, 1]
        count = add(scratch.reached, scratch.touched, count, mid, lo, hi)
    clear_lead(lead, found, mids)
    return count


@part
def _copy_list(lead, front, touched, mids):
    """Copy a frontier's list of one lead's rows to `touched`; return the number of these rows.

    If the lead has no list, nothing is written, and `mids` is returned.
    """
    count = rows_in_use(lead, front, mids)
    if count < mids:
        for i in range(count):
            touched[i] = mid_in_use(i, lead, front)
    return count


@part
def _count_around(lead, side, front, frame):
    """Return the number of frontier rows in a lead and in the leads after its moves by `side`.

    Returns `mids` if one of these leads has no list. Leads count once for each move to them.
    """
    rows = np.int64(front.counts[lead])
    if rows > front.limit:
        return frame.mids
    for m in range(frame.move_start[side, lead], frame.move_start[side, lead + 1]):
        count = np.int64(front.counts[frame.lead_after[m]])
        if count > front.limit:
            return frame.mids
        rows += count
    return rows


@part
def _keep_within(lead, count, everything, within, scratch, mids):
    """Remove positions not in `within` from `scratch.reached`; return the number of rows left.

    count : int64, number of rows listed in `scratch.touched`; `mids` means all rows, without a list
    everything : bool, copy these rows from `within` to `scratch.reached` instead
    """
    first, wanted = lead * mids, 0
    if count == mids:
        words, members = scratch.reached.reshape(-1), within.reshape(-1)[2 * first :]
        # Loops without a branch become vector instructions.
        if everything:
            for i in range(2 * mids):
                words[i] = members[i]
        else:
            for i in range(2 * mids):
                words[i] &= members[i]
        for i in range(0, 2 * mids, 2):
            wanted += 1 if words[i] | words[i + 1] else 0
        return wanted
    reached = scratch.reached
    for i in range(count):
        mid = np.int64(scratch.touched[i])
        lo, hi = within[first + mid, 0], within[first + mid, 1]
        if not everything:
            lo &= reached[mid, 0]
            hi &= reached[mid, 1]
        reached[mid, 0] = lo
        reached[mid, 1] = hi
        wanted += 1 if lo | hi else 0
    return wanted


_NO_TEST, _FRONT, _ESCAPES, _GATHERED_ESCAPES = range(4)
"""Tests that positions must pass before they are added to the frontier `found`.

_FRONT: a move into the frontier. _ESCAPES: no move into the escapes. _GATHERED_ESCAPES: the same,
by gathering the escapes' predecessors for the whole lead.
"""


@part
def _put_found(lead, side, count, test, front, escape, found, scratch, frame):
    """Add to `found` the positions of `scratch.reached` that pass `test`; empty `scratch.reached`.

    count : int64, number of rows listed in `scratch.touched`; `mids` means all rows, without a list
    test : int, `_NO_TEST` to `_GATHERED_ESCAPES`
    """
    mids = frame.mids
    reached, escaping = scratch.reached, scratch.escaping
    if test == _GATHERED_ESCAPES:
        gather_dense(lead, side, escape, escaping, scratch, frame)
    for i in range(count):
        mid = np.int64(i)
        if count < mids:
            mid = np.int64(scratch.touched[i])
        lo, hi = reached[mid, 0], reached[mid, 1]
        reached[mid, 0] = EMPTY
        reached[mid, 1] = EMPTY
        if test == _GATHERED_ESCAPES:
            lo &= ~escaping[mid, 0]
            hi &= ~escaping[mid, 1]
            escaping[mid, 0] = EMPTY
            escaping[mid, 1] = EMPTY
        elif test == _ESCAPES and (lo | hi):
            lo, hi = without_escape(lead, mid, side, lo, hi, escape.rows, frame)
        elif test == _FRONT and (lo | hi):
            x, y = without_escape(lead, mid, side, lo, hi, front.rows, frame)
            lo &= ~x
            hi &= ~y
        if lo | hi:
            put_row(lead, mid, lo, hi, found, mids)


@borrowing_kernel
def _k_sweep(
    lead_0, lead_1, side, everywhere, front, within, use_escape, escape, add_found, found, scratch,
    frame,
):  # fmt: skip
    """Set `found` by a sweep, in the given leads; return the number of rows of `within` read.

    everywhere : bool, take all of `within` in place of the predecessors of `front`
    front : Frontier of the opponent, in; if `everywhere`, `within` as a frontier
    add_found : bool, treat positions already on `found` as predecessors; if False, remove them
    """
    mids = frame.mids
    rows_read = 0
    for lead in range(lead_0, lead_1):
        count, everything, test = np.int64(0), everywhere, _NO_TEST
        if add_found:
            count = _move_to_reached(lead, found, scratch, mids)
        else:
            clear_lead(lead, found, mids)
        if everywhere:
            count = _copy_list(lead, front, scratch.touched, mids)
        else:
            rows = _count_around(lead, side, front, frame)
            if rows == 0 and count == 0:
                continue
            if rows < mids // SPARSE_LEAD_DIVISOR:
                count = gather_sparse(lead, side, front, count, scratch, frame)
            elif use_escape:
                # All of `within` is tested against the escapes alone (module docstring).
                everything, count = True, mids
            elif count == 0 and not _has_many_rows(lead, within, mids):
                everything, count, test = True, mids, _FRONT
            else:
                gather_dense(lead, side, front, scratch.reached, scratch, frame)
                count = mids
        rows_read += count
        wanted = _keep_within(lead, count, everything, within, scratch, mids)
        if wanted == 0:
            # `scratch.reached` is empty.
            continue
        if use_escape:
            test = _ESCAPES
            if count == mids and wanted > mids // DENSE_LEAD_DIVISOR:
                test = _GATHERED_ESCAPES
        _put_found(lead, side, count, test, front, escape, found, scratch, frame)
    return rows_read


class Sweeper:
    """Sweeps over all leads of one `Frame` (arrays of a layout), with buffers for each thread."""

    def __init__(self, frame: Frame, workers: Workers) -> None:
        self._frame = frame
        self._workers = workers
        self._leads = frame.leads
        self._ones = np.ones(self._leads, np.int32)
        self._scratch = [make_scratch(frame.mids) for _ in range(workers.threads)]

    def predecessors(
        self,
        side: int,
        front: Frontier,
        within: Rows,
        found: Frontier,
        escape: Rows | None = None,
        *,
        add_found: bool = False,
    ) -> None:
        """Set `found` to the predecessors of `front` in `within` that have no escape.

        side : the side to move in `within` and in the positions that are found
        front : positions with the opponent to move
        escape : positions with the opponent to move; a quiet move into them excludes a position.
            Each position of `within` must have a quiet move into `escape` or `front`, or be on
            `found` with `add_found`. This holds if callers remove what a sweep finds from `within`:
            positions left there had an escape after the last sweep
        add_found : treat positions already on `found` as predecessors; if False, remove them
        """
        ranges = max(ranges_for(front), ranges_for(found) if add_found else 1)
        avoided, has_escape = found, escape is not None
        if escape is not None:
            avoided = self._whole(escape, found)
        # An enumeration as argument would slow the kernel's call by forty microseconds.
        mover = int(side)

        def sweep(lead_0: int, lead_1: int, scratch: Scratch) -> int:
            return _k_sweep(
                lead_0, lead_1, mover, False, front, within, has_escape, avoided, add_found, found,
                scratch, self._frame,
            )  # fmt: skip

        self._run(ranges, sweep)

    def without_move_into(
        self, side: int, within: Rows | Frontier, found: Frontier, avoided: Rows
    ) -> None:
        """Set `found` to the positions of `within` without a quiet move into `avoided`.

        `side` is to move in `within`, the opponent in `avoided`.
        """
        if isinstance(within, Frontier):
            front, ranges = within, ranges_for(within)
        else:
            front, ranges = self._whole(within, found), RANGES
        escape, mover = self._whole(avoided, found), int(side)

        def sweep(lead_0: int, lead_1: int, scratch: Scratch) -> int:
            return _k_sweep(
                lead_0, lead_1, mover, True, front, front.rows, True, escape, False, found,
                scratch, self._frame,
            )  # fmt: skip

        self._run(ranges, sweep)

    def _run(self, ranges: int, sweep: Callable[[int, int, Scratch], int]) -> None:
        """Call `sweep(lead_0, lead_1, scratch)` by threads for all leads, in about `ranges` calls.

        Adds the rows read, which `sweep` returns, to the meter.
        """
        rows_read = [0] * self._workers.threads

        def work(lead_0: int, lead_1: int, thread: int) -> None:
            rows_read[thread] += sweep(lead_0, lead_1, self._scratch[thread])

        self._workers.run(work, self._leads, ranges)
        meter = self._workers.meter
        meter.sweeps += 1
        meter.rows += sum(rows_read)

    def _whole(self, members: Rows, like: Frontier) -> Frontier:
        """Return a set as a frontier without lists, of which kernels read all rows.

        like : any frontier, whose `listed` is used as an argument of the right type, but never read
        """
        return Frontier(members, self._ones, like.listed, 0)
