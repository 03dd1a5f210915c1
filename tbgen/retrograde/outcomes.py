# mypy: allow-untyped-defs, allow-untyped-calls
"""Outcomes of a finished table, for a writer of win-draw-loss files.

    codes, some leads at a time  ->  a plane of outcomes  ->  0 in unused slots  ->  `OutcomePlanes`

A slot is *used* if it is the canonical slot of a legal position. In other slots a table has
arbitrary codes, so the legal positions are computed again. Kernel parameters: `tbgen.retrograde`.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import borrowing_kernel
from tbgen.retrograde.legality import legal_row
from tbgen.retrograde.supporting import SupportingTable
from tbgen.rows.bitsets import has
from tbgen.rows.frame import is_canonical, make_frame
from tbgen.rows.workers import Workers
from tbgen.tables.outcomes import BYTES, SLOTS_PER_BYTE, encode_outcomes, outcomes_of


@borrowing_kernel
def _k_keep_positions(lead_0, lead_1, side, outcomes, area, frame):
    """Set the outcomes of unused slots, with `side` to move, to 0.

    outcomes : uint8 (slots,), inout; of all leads
    """
    mids = frame.mids
    for lead in range(lead_0, lead_1):
        for mid in range(mids):
            row = lead * mids + mid
            lo, hi = legal_row(lead, mid, side, frame)
            for inner in range(area.size):
                square = area[inner]
                if not (has(lo, hi, square) and is_canonical(lead, mid, square, frame)):
                    outcomes[row * area.size + inner] = 0


@borrowing_kernel
def _k_pack(codes, before, out):
    """Pack the outcomes of a block into bytes, in base 3; return whether all of them are equal.

    A slot without a position gets the outcome of the position before it, or `before`.

    codes : uint8 (slots,), in; outcome codes from 1 to 3, 0 where there is no position
    before : int, the outcome code of the block's first position
    out : uint8 (bytes,), out; `SLOTS_PER_BYTE` slots each, the first one in the lowest digit
    """
    first, same = before, True
    at = 0
    for byte in range(out.size):
        word, power = 0, 1
        for _ in range(SLOTS_PER_BYTE):
            if at == codes.size:
                break
            if codes[at] != 0:
                before = np.int64(codes[at])
            same &= before == first
            word += power * (before - 1)
            power *= 3
            at += 1
        out[byte] = word
    return same


def encode(codes: NDArray[np.uint8], otherwise: int) -> bytes:
    """Return the same block of a file as `encode_outcomes`, in less time.

    codes : outcome codes (slots,), 0 where there is no position
    otherwise : outcome code to store for all slots if the block has no positions
    """
    first_position = int((codes != 0).argmax())
    first = int(codes[first_position])
    if first == 0:
        return encode_outcomes(codes[:1], otherwise)
    out = np.empty(-(-codes.size // SLOTS_PER_BYTE), np.uint8)
    if _k_pack(np.ascontiguousarray(codes), first, out):
        return bytes([BYTES + first])
    return out.tobytes()


class OutcomePlanes:
    """Outcomes of all positions of a table, a byte for each slot, one side in memory at a time."""

    def __init__(self, table: SupportingTable, threads: int) -> None:
        self._table = table
        self._threads = threads
        self._frame = make_frame(table.layout, with_moves=False)
        self._plane: tuple[int, NDArray[np.uint8]] | None = None

    def plane(self, side: int) -> NDArray[np.uint8]:
        """Return the outcome codes with a side to move, uint8 (slots,); 0 in unused slots.

        A change of side reads the table again. Raises the errors of reading the table.
        """
        if self._plane is None or self._plane[0] != side:
            self._plane = None  # there is memory for one only
            self._plane = side, self._load(side)
        return self._plane[1]

    def _load(self, side: int) -> NDArray[np.uint8]:
        table, layout = self._table, self._table.layout
        assert layout.inner is not None, "a material with a table has an attacker"
        area = np.array(layout.inner.area, np.int64)
        outcomes = np.empty(layout.slots, np.uint8)
        numbers_of = partial(outcomes_of, space=table.code_space)

        def fill(first: int, last: int, _: int) -> None:
            for number in range(first, last):
                for start, found in table.tile(side, number, numbers_of):
                    outcomes[start : start + len(found)] = found

        with Workers(self._threads) as workers:
            workers.run(fill, table.tiles(side))
            workers.run_kernel(
                layout.leads, _k_keep_positions, int(side), outcomes, area, self._frame
            )
        return outcomes
