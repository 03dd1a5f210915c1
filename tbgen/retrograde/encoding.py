# mypy: allow-untyped-defs, allow-untyped-calls
"""Compiled encoder of the blocks of a file, with the same result as `tbgen.tables.blocks`.

`tbgen.tables` does not import the compiler, so `tbgen.building` passes `encode` to the writer.
"""

from __future__ import annotations

import numpy as np

from tbgen.compiling.jit import borrowing_kernel
from tbgen.tables.blocks import MAX_PALETTE, Codes, encode_filled


@borrowing_kernel
def _k_encode(codes, palette, index_of, out):
    """Write a block: its palette and, if that has several codes, the palette index of each slot.

    A slot without a position gets the index of the position before it, or of the first position.
    Returns the number of bytes written, 0 if there are no positions or more than 256 codes occur.

    codes : unsigned (slots,), in; the codes of a block, 0 where there is no position
    palette : unsigned (256,), scratch of the same type
    index_of : uint16 (all codes,), inout; zeros at first, then scratch: the index in the palette of
        each code that occurs
    out : uint8 (n,), out; buffer for the block, with room for 256 codes and all slots
    """
    size = 0
    index_of[0] = 1  # code 0 is no position, and must not enter the palette
    for i in range(codes.size):
        if not index_of[codes[i]]:
            if size == palette.size:
                return 0
            index_of[codes[i]] = 1
            at = size
            while at and palette[at - 1] > codes[i]:
                palette[at] = palette[at - 1]
                at -= 1
            palette[at] = codes[i]
            size += 1
    if size == 0:
        return 0
    out[0], out[1] = size & 255, size >> 8
    at = 2
    for n in range(size):
        index_of[palette[n]] = n
        for byte in range(codes.itemsize):
            out[at] = palette[n] >> (8 * byte) & 255
            at += 1
    if size == 1:
        return at
    first = 0
    while not codes[first]:
        first += 1
    before = index_of[codes[first]]
    for i in range(codes.size):
        if codes[i]:
            before = index_of[codes[i]]
        out[at + i] = before
    return at + codes.size


def encode(codes: Codes, otherwise: int) -> bytes:
    """Return the same block of a file as `encode_filled`, usually in a quarter of the time.

    codes : unsigned (slots,), 0 for slots without a position
    otherwise : code to store for all slots if the block has no positions
    """
    width = codes.itemsize
    if width <= 2:
        out = np.empty(2 + MAX_PALETTE * width + codes.size, np.uint8)
        palette, index_of = np.empty(MAX_PALETTE, codes.dtype), np.zeros(256**width, np.uint16)
        size = _k_encode(codes, palette, index_of, out)
        if size:
            return out[:size].tobytes()
    return encode_filled(codes, otherwise)
