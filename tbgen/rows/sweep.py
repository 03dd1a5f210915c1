# mypy: allow-untyped-defs, allow-untyped-calls
"""The sweep: the one operation that all phases of propagation are made of.

A sweep looks one quiet move backwards. It takes the positions of one side that have a move into
a *frontier* (positions of the opponent that the last sweep found), keeps those that lie in a set
`within`, and, if an escape set is given, only those without a quiet move into it:

    found = within & predecessors(frontier)                        something good is reachable
    found = within & predecessors(frontier) - escaping(escape)     ... and nothing else is left

Everything is set algebra on rows. The result is again a frontier. *Pull*: each lead gathers from
its neighbours and is written by one thread only, so the result does not depend on the order of
threads.

A lead with few rows on the frontiers around it is gathered from lists of those rows (sparse),
the others by scanning lines of the board (dense): `moves.py`, `gather.py`.

The phases sweep until nothing is found. So each position left in `within` after a sweep has an
escape, and one without an escape at the next sweep has lost it to the frontier: if the frontier is
dense, it suffices to gather the escapes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import borrowing_kernel, part
from tbgen.compiling.lending import lent
from tbgen.indexing.squares import SQUARES
from tbgen.rows.bitsets import EMPTY, FULL
from tbgen.rows.frame import LEADS, MIDS, Frame
from tbgen.rows.gather import BOARD_WORDS, gather_dense
from tbgen.rows.moves import gather_sparse, without_escape
from tbgen.rows.sets import Frontier, Rows, clear_lead, put_row, ranges_for
from tbgen.rows.workers import RANGES, Workers

MANY_ROWS = 6
"""A lead with more than one wanted row in so many is gathered as a whole."""

FEW_ROWS = 8
"""Frontiers with less than a row in so many of a lead are gathered from their lists: a list costs
a search for each move, and a scan of lines the same for one row as for all."""


@lent
class Scratch(NamedTuple):
    """One thread's buffers for one lead (M mids)."""

    reached: Rows
    """uint64 (M, 2): zero between uses."""
    escaping: Rows
    """uint64 (M, 2): zero between uses."""
    line: Rows
    """uint64 (M, 2): the running unions of a line of rows."""
    open: Rows
    """uint64 (M, 2): where the inner piece may stand; nowhere, if the outer pieces overlap."""
    board: NDArray[np.uint64]
    """uint64 (BOARD_WORDS,): the boards of a man's squares, their margins zero for good."""
    mid_of: NDArray[np.int64]
    """int64 (90,): the mid of each square of the moving piece, -1 for none."""
    live: NDArray[np.bool_]
    """bool (90,): squares whose rows are on the frontier."""
    touched: NDArray[np.int32]
    """int32 (M + 1,): rows that are not zero in `reached`, and room to write one for nothing."""


def make_scratch(mids: int) -> Scratch:
    """The buffers of one thread."""
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
    """Return whether a lead has so many rows that a gather beats a walk through their moves."""
    rows = 0
    for row in range(lead * mids, (lead + 1) * mids):
        rows += 1 if members[row, 0] | members[row, 1] else 0
        if rows > mids // MANY_ROWS:
            return True
    return False


@part
def _keep_within(lead, rows, whole, everything, waiting, within, found, scratch, frame):
    """Keep in `scratch.reached` the positions of `within` alone; return how many rows have any.

    rows : int64, how many rows to look at
    whole : bool, these are the first mids, else they are listed in `scratch.touched`
    everything : bool, take all of `within`, whatever has been reached
    waiting : bool, take also what is on `found`, and empty that
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
    """List the rows of a frontier in one lead; returns how many, or all if it has no list."""
    count = np.int64(front.counts[lead])
    if count > front.limit:
        return mids
    for i in range(count):
        touched[i] = front.listed[lead * front.limit + i]
    return count


@part
def _put_found(
    lead, side, rows, whole, look, gathered, front, use_escape, escape, found, scratch, frame
):
    """Put what `scratch.reached` holds on `found`, without those that escape; empty the scratch.

    rows : int64, how many rows to look at
    whole : bool, these are the first mids, else they are listed in `scratch.touched`
    look : bool, the frontier was not gathered: the few rows that ask are looked at one by one
    gathered : bool, the escapes of the lead are to be gathered first
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
        elif look and (lo | hi):
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
    """One sweep over the leads [lead_0, lead_1).

    side : int, the side to move in the positions that are found
    everywhere : bool, take all of `within` in place of the predecessors of `front`
    front : Frontier of the opponent, in; if `everywhere`, the rows of `within` that are in use
    within : Rows of `side`, in
    add_found : bool, `found` already holds positions of `within`, which are tested for escapes too
    found : Frontier of `side`, out; each thread writes only its own leads

    Returns how many rows of `within` were looked at.
    """
    mids = frame.size[MIDS]
    looked_at = 0
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
            if not (dense or work >= mids // FEW_ROWS):
                listed = gather_sparse(lead, side, front, scratch, frame)
            elif use_escape or not (waiting or _has_many_rows(lead, within, mids)):
                # What has lost its last escape has lost it to the frontier: escapes are enough.
                scanned = True
            else:
                gather_dense(lead, side, front, scratch.reached, scratch, frame)
                listed = mids
        whole = scanned or waiting or listed == mids
        if waiting:
            found.counts[lead] = 0
        rows = mids if whole else listed
        looked_at += rows
        wanted = _keep_within(
            lead, rows, whole, scanned or everywhere, waiting, within, found, scratch, frame
        )
        if wanted == 0:
            # All that was looked at in the buffers is empty.
            continue
        gathered = use_escape and whole and wanted > mids // MANY_ROWS
        _put_found(lead, side, rows, whole, scanned, gathered, front,
                   use_escape, escape, found, scratch, frame)  # fmt: skip
    return looked_at


class Sweeper:
    """Runs sweeps on one frame, with buffers for each thread."""

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
        """One sweep (`_k_sweep`); without `front`, over everything in `within`.

        Where that is a frontier, its lists say where to look.
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
        # An enumeration as an argument costs a call of a kernel forty microseconds.
        mover = int(side)
        looked_at = [0] * self._workers.threads

        def work(lead_0: int, lead_1: int, thread: int) -> None:
            looked_at[thread] += _k_sweep(
                lead_0, lead_1, mover, everywhere, source, members, escape is not None, avoided,
                add_found, found, self._scratch[thread], self._frame,
            )  # fmt: skip

        ranges = RANGES
        if listed or not everywhere:
            ranges = max(ranges_for(source), ranges_for(found) if add_found else 1)
        self._workers.run(work, self._leads, ranges)
        self._workers.meter.add(sum(looked_at))

    def _whole(self, members: Rows, like: Frontier) -> Frontier:
        """A set as a frontier without lists: all of it is looked at."""
        return Frontier(members, self._everywhere, like.listed, 0)
