# mypy: allow-untyped-defs, allow-untyped-calls
"""Sweep: the predecessors of a frontier within a set, the operation that all phases use.

A sweep looks one quiet move backwards. It takes the positions of one side that have a move into
a *frontier*, the positions of the opponent that the last sweep found. It keeps those in a set
`within` and, if an escape set is given, only those without a quiet move into that set:

    found = within & predecessors(frontier)                          a good move exists
    found = within & predecessors(frontier) - predecessors(escape)   and no other move is left

All sets are rows, and the result is again a frontier. *Pull*: each lead gathers from its neighbours
and is written by one thread only, so that the result does not depend on the order of threads.

A lead with few rows on the frontiers around it is gathered from lists of those rows (sparse). The
others are gathered by scanning lines of the board (dense): `moves.py`, `gather.py`.

With an escape set, a phase removes what a sweep finds from `within`. So each position left there
has an escape after the sweep. A position without an escape at the next sweep has lost its last one
to the frontier, and is a predecessor of it. So with a dense frontier it suffices to gather the
predecessors of the escapes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import borrowing_kernel, by_pointer, part
from tbgen.indexing.squares import SQUARES
from tbgen.rows.bitsets import EMPTY, FULL
from tbgen.rows.frame import LEADS, MIDS, Frame
from tbgen.rows.gather import BOARD_WORDS, gather_dense
from tbgen.rows.moves import gather_sparse, without_escape
from tbgen.rows.sets import Frontier, Rows, clear_lead, put_row, ranges_for
from tbgen.rows.workers import RANGES, Workers

DENSE_LEAD_DIVISOR = 6
"""A lead of which more than 1 / `DENSE_LEAD_DIVISOR` of the rows are wanted is scanned as a whole:
that is faster than testing the moves of each row.
"""

SPARSE_LEAD_DIVISOR = 8
"""Divisor of a lead's number of rows; the quotient limits the rows gathered from lists.

A lead is gathered from lists if fewer frontier rows than that are in the lead and in the leads that
its moves lead to. A list costs a search for each move; a scan of lines takes the same time for any
number of rows.
"""


@by_pointer
class Scratch(NamedTuple):
    """Buffers of one thread for one lead (M mids)."""

    reached: Rows
    """uint64 (M, 2): positions of the lead with a move into the frontier; zero between uses."""
    escaping: Rows
    """uint64 (M, 2): positions of the lead with a move into the escapes; zero between uses."""
    line: Rows
    """uint64 (M, 2): the running unions of a line of rows."""
    inner_free: Rows
    """uint64 (M, 2): the free squares of the inner piece in each row; none if the other pieces
    overlap.
    """
    board: NDArray[np.uint64]
    """uint64 (BOARD_WORDS,): the boards of `gather.py`, whose margins stay zero."""
    mid_of: NDArray[np.int64]
    """int64 (90,): the mid with the moving piece on each square, -1 if it cannot stand there."""
    on_front: NDArray[np.bool_]
    """bool (90,): squares of the moving piece for which the frontier has positions."""
    touched: NDArray[np.int32]
    """int32 (M + 1,): the mids whose rows of `reached` are not zero. The last element is for a
    write that does not count.
    """


def make_scratch(mids: int) -> Scratch:
    """Return the buffers of one thread."""
    return Scratch(
        np.zeros((mids, 2), np.uint64),
        np.zeros((mids, 2), np.uint64),
        np.zeros((mids, 2), np.uint64),
        np.zeros((mids, 2), np.uint64),
        np.zeros(BOARD_WORDS, np.uint64),
        np.zeros(SQUARES, np.int64),
        np.zeros(SQUARES, np.bool_),
        np.zeros(mids + 1, np.int32),
    )


@part
def _has_many_rows(lead, members, mids):
    """Return whether a set has so many rows in a lead that scanning the lead as a whole is faster.

    The alternative is to test the moves of each row (`DENSE_LEAD_DIVISOR`).
    """
    rows = 0
    for row in range(lead * mids, (lead + 1) * mids):
        rows += 1 if members[row, 0] | members[row, 1] else 0
        if rows > mids // DENSE_LEAD_DIVISOR:
            return True
    return False


@part
def _keep_within(lead, rows, whole, everything, waiting, within, found, scratch, frame):
    """Remove the positions that are not in `within` from `scratch.reached`.

    Returns the number of nonempty rows that are left.

    rows : int64, number of rows to read
    whole : bool, these are the first mids, otherwise those listed in `scratch.touched`
    everything : bool, take all of `within`, not only the positions that have been reached
    waiting : bool, take also the positions on `found`, and remove them there
    """
    mids = frame.size[MIDS]
    first, wanted = lead * mids, 0
    if whole and not waiting:
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
    for i in range(rows):
        mid = np.int64(i) if whole else np.int64(scratch.touched[i])
        row = first + mid
        lo, hi = reached[mid, 0], reached[mid, 1]
        if waiting:
            lo |= found.rows[row, 0]
            hi |= found.rows[row, 1]
            found.rows[row, 0] = EMPTY
            found.rows[row, 1] = EMPTY
        if everything:
            lo, hi = FULL, FULL
        lo &= within[row, 0]
        hi &= within[row, 1]
        reached[mid, 0] = lo
        reached[mid, 1] = hi
        wanted += 1 if lo | hi else 0
    return wanted


@part
def _list_in_use(lead, front, touched, mids):
    """Write the mids of the rows that a frontier has in one lead to `touched`; return their number.

    If the frontier has too many rows there for a list, nothing is written, and `mids` is returned.
    """
    count = np.int64(front.counts[lead])
    if count > front.limit:
        return mids
    for i in range(count):
        touched[i] = front.listed[lead * front.limit + i]
    return count


@part
def _put_found(
    lead, side, rows, whole, test_each, gathered, front, use_escape, escape, found, scratch, frame
):
    """Put the positions of `scratch.reached` that have no escape on `found`, and clear the scratch.

    `scratch.reached` has the positions of one lead that have a move into the frontier; if
    `test_each`, also others. An escape is a move into the set `escape`, by which a losing side
    avoids the loss.

    rows : int64, number of rows to read
    whole : bool, read the first `rows` mids; otherwise those listed in `scratch.touched`
    test_each : bool, `reached` has positions without a move into `front`. Without `use_escape`,
        each row is tested for such moves; with it, the test for escapes is enough (module
        docstring)
    gathered : bool, gather the predecessors of `escape` for the whole lead, not row by row
    front : Frontier of the opponent, in
    """
    mids = frame.size[MIDS]
    reached, touched, escaping = scratch.reached, scratch.touched, scratch.escaping
    if gathered:
        gather_dense(lead, side, escape, escaping, scratch, frame)
    for i in range(rows):
        mid = np.int64(i) if whole else np.int64(touched[i])
        lo, hi = reached[mid, 0], reached[mid, 1]
        reached[mid, 0] = EMPTY
        reached[mid, 1] = EMPTY
        if gathered:
            lo &= ~escaping[mid, 0]
            hi &= ~escaping[mid, 1]
            escaping[mid, 0] = EMPTY
            escaping[mid, 1] = EMPTY
        elif use_escape and (lo | hi):
            lo, hi = without_escape(lead, mid, side, lo, hi, escape.rows, frame)
        elif test_each and (lo | hi):
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
    """Sweep over the leads [lead_0, lead_1).

    side : int, side to move in the positions that are found
    everywhere : bool, take all of `within` in place of the predecessors of `front`
    front : Frontier of the opponent, in; if `everywhere`, the rows of `within` that are in use
    within : Rows of `side`, in
    add_found : bool, keep the positions of `within` already on `found` that have no escape
    found : Frontier of `side`, out; each thread writes only its own leads

    Returns the number of rows of `within` that were read.
    """
    mids = frame.size[MIDS]
    rows_read = 0
    for lead in range(lead_0, lead_1):
        waiting = add_found and found.counts[lead] > 0
        if not waiting:
            clear_lead(lead, found, mids)
        scanned = False
        listed = 0
        if everywhere:
            listed = _list_in_use(lead, front, scratch.touched, mids)
        else:
            work = np.int64(front.counts[lead])
            dense = work > front.limit
            for m in range(frame.move_start[side, lead], frame.move_start[side, lead + 1]):
                count = np.int64(front.counts[frame.lead_after[m]])
                work += count
                if count > front.limit:
                    dense = True
            if work == 0 and not waiting:
                continue
            if not (dense or work >= mids // SPARSE_LEAD_DIVISOR):
                listed = gather_sparse(lead, side, front, scratch, frame)
            elif use_escape or not (waiting or _has_many_rows(lead, within, mids)):
                # With escapes, gathering these suffices (module docstring).
                scanned = True
            else:
                gather_dense(lead, side, front, scratch.reached, scratch, frame)
                listed = mids
        whole = scanned or waiting or listed == mids
        if waiting:
            found.counts[lead] = 0
        rows = mids if whole else listed
        rows_read += rows
        wanted = _keep_within(
            lead, rows, whole, scanned or everywhere, waiting, within, found, scratch, frame
        )
        if wanted == 0:
            # All rows that were read are zero in the buffers, too.
            continue
        gathered = use_escape and whole and wanted > mids // DENSE_LEAD_DIVISOR
        _put_found(lead, side, rows, whole, scanned, gathered, front,
                   use_escape, escape, found, scratch, frame)  # fmt: skip
    return rows_read


class Sweeper:
    """Sweeps on one frame, with buffers for each thread."""

    def __init__(self, frame: Frame, workers: Workers) -> None:
        self._frame = frame
        self._workers = workers
        self._leads = int(frame.size[LEADS])
        self._everywhere = np.ones(self._leads, np.int32)
        self._scratch = [make_scratch(int(frame.size[MIDS])) for _ in range(workers.threads)]

    def sweep(
        self,
        side: int,
        front: Frontier | None,
        within: Rows | Frontier,
        found: Frontier,
        escape: Rows | None = None,
        *,
        add_found: bool = False,
    ) -> None:
        """Set `found` to the predecessors of `front` in `within` that have no escape.

        side : to move in the positions that are found
        front : positions of the opponent; None takes all positions of `within`
        within : if it is a frontier and `front` is None, only its listed rows are read
        escape : positions of the opponent; one quiet move into them excludes a position
        add_found : keep the positions of `within` already on `found` that have no escape
        """
        everywhere, listed = front is None, isinstance(within, Frontier)
        members = within.rows if isinstance(within, Frontier) else within
        if front is not None:
            source = front
        elif isinstance(within, Frontier):
            source = within
        else:
            source = self._whole(within, found)
        avoided = found if escape is None else self._whole(escape, found)
        # An enumeration as argument would slow the kernel's call by forty microseconds.
        mover = int(side)
        rows_read = [0] * self._workers.threads

        def work(lead_0: int, lead_1: int, thread: int) -> None:
            rows_read[thread] += _k_sweep(
                lead_0, lead_1, mover, everywhere, source, members, escape is not None, avoided,
                add_found, found, self._scratch[thread], self._frame,
            )  # fmt: skip

        ranges = RANGES
        if listed or not everywhere:
            ranges = max(ranges_for(source), ranges_for(found) if add_found else 1)
        self._workers.run(work, self._leads, ranges)
        meter = self._workers.meter
        meter.sweeps += 1
        meter.rows += sum(rows_read)

    def _whole(self, members: Rows, like: Frontier) -> Frontier:
        """Return a set as a frontier without lists, so that kernels read all of its rows.

        like : any frontier, whose array of lists is passed but not read
        """
        return Frontier(members, self._everywhere, like.listed, 0)
