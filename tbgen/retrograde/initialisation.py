# mypy: allow-untyped-defs, allow-untyped-calls
"""Phase 2c: the positions of a side, sorted by their best captures, a range of leads at a time.

    no capture          losable: lost as soon as all moves lose
    best capture draws  never lost, and does not wait
    best capture wins   never lost; waits for the ply that settles positions with this value
    best capture loses  waits for that ply, and is losable from then on

The positions that wait, and those without any move (`Propagation.start`), are the *seeds* of the
propagation: the initialization phase of Fang, Hsu & Hsu 2002, section 5. Parameters of kernels:
`tbgen.retrograde`.
"""

from __future__ import annotations

import numpy as np

from tbgen.compiling.jit import borrowing_kernel
from tbgen.indexing.squares import Side
from tbgen.retrograde.captures import FindCaptures
from tbgen.retrograde.journal import Waiting
from tbgen.retrograde.legality import k_legal
from tbgen.rows.bitsets import EMPTY, ONE, WORD_SQUARES, lowest_bit
from tbgen.rows.frame import STRIDE
from tbgen.rows.sets import Rows, Sets
from tbgen.rows.storage import Storage
from tbgen.tables.palettes import Palette


@borrowing_kernel
def _k_sort(lead_0, lead_1, numbers, draw, legal, losable, slots, waiting, frame):
    """Sort the positions of a side by their captures; return the number written to `slots`.

    numbers : unsigned (rows of the leads * 90,), in; the best captures that `Captures.find` wrote;
        0 for none
    draw : int, the number of a draw
    losable : Rows of the leads, out; the positions without any capture
    slots : uint32 (slots of the leads,), out; the positions whose best capture wins or loses, as
        row * 90 + square, rows counted from the first row of the first lead
    waiting : unsigned (slots of the leads,), out; the numbers of those captures
    """
    mids = frame.mids
    count = 0
    for row in range((lead_1 - lead_0) * mids):
        for word in range(2):
            if not legal[row, word]:
                losable[row, word] = EMPTY
                continue
            first = row * STRIDE + WORD_SQUARES * word
            without, drawn = EMPTY, EMPTY
            # A loop over all squares without a branch is vectorised.
            for s in range(WORD_SQUARES):
                without |= np.uint64(numbers[first + s] == 0) << np.uint64(s)
                drawn |= np.uint64(numbers[first + s] == draw) << np.uint64(s)
            losable[row, word] = legal[row, word] & without
            bits = legal[row, word] & ~(without | drawn)
            while bits:
                slot = first + lowest_bit(bits)
                bits &= bits - ONE
                slots[count] = slot
                waiting[count] = numbers[slot]
                count += 1
    return count


def sort_by_captures(
    sets: Sets, side: Side, palette: Palette, find: FindCaptures
) -> tuple[Rows, Waiting]:
    """Find the best captures of the legal positions of a side, and sort the positions by them.

    palette : the codes of the numbers that `find` writes
    find : function with the parameters of `Captures.find`

    Returns the positions without any capture, and those whose best capture wins or loses.
    """
    chunks, workers = sets.chunks, sets.workers
    losable, waiting = sets.empty(), Waiting(workers.storage)
    # Of each thread: legal positions and numbers of a range of chunks, in memory; lists of a chunk.
    plane_rows, slots = chunks.range_rows, chunks.rows * STRIDE
    buffers = [
        (
            Storage().zeros((plane_rows, 2), np.uint64),
            Storage().zeros(plane_rows * STRIDE, palette.dtype),
            np.empty(slots, np.uint32),
            np.empty(slots, palette.dtype),
        )
        for _ in range(workers.threads)
    ]

    def sort(first: int, last: int, thread: int) -> None:
        legal_plane, numbers_plane, waiting_slots, waiting_numbers = buffers[thread]
        row_0, lead_0 = chunks.row_0(first), chunks.lead_range(first)[0]
        lead_1 = chunks.lead_range(last - 1)[1]
        rows = (lead_1 - lead_0) * sets.mids
        legal, numbers = legal_plane[:rows], numbers_plane[: rows * STRIDE]
        k_legal(lead_0, lead_1, int(side), legal, sets.frame)
        find(lead_0, lead_1, legal, numbers)
        for chunk in range(first, last):
            row = chunks.row_0(chunk)
            count = _k_sort(
                *chunks.lead_range(chunk), numbers[(row - row_0) * STRIDE :], palette.draw,
                legal[row - row_0 :], losable[row:], waiting_slots, waiting_numbers, sets.frame,
            )  # fmt: skip
            waiting.add_lists(chunk, waiting_numbers[:count], waiting_slots[:count], palette)

    workers.run(sort, chunks.number)
    return losable, waiting
