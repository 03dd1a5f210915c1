# mypy: allow-untyped-defs, allow-untyped-calls
"""Sets of positions as records: compressed bytes without random access.

    chunk     consecutive leads: the unit of recording and reading
    record    positions of a chunk; for each nonempty row, in any order:

              gap         row number minus the previous one (first: minus the chunk's first row);
                          zigzag coded, seven bits a byte, lowest first; + 128 in all but the last
              squares     one byte each, plus 128 in the last; or, from 13 squares on:
              DENSE       one byte, then both words of the row, six bytes each, lowest first

    `StoredRecords`   records of some chunks, the long ones compressed

`tbgen.rows` defines leads, rows, the two words of a row, and the parameters of kernels.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator

import numpy as np
import zstandard
from numpy.typing import NDArray

from tbgen.compiling.jit import borrowing_kernel, part
from tbgen.rows.bitsets import BIT, EMPTY, ONE, WORD_SQUARES, count_bits, lowest_bit
from tbgen.rows.frame import STRIDE
from tbgen.rows.storage import Storage, StoredBytes

ROW_BYTES = 18
"""Maximum bytes of a row in a record: five for the gap, one for DENSE, twelve for the words."""

DENSE = 255
"""Marker before the two words of a row; larger than the byte of any square, also plus 128."""

_DENSE_FROM = 13
"""Number of squares in a row from which DENSE and two words take no more bytes than the squares."""

_WORTH_PACKING = 256
"""Length in bytes from which a record is compressed."""

Bytes = NDArray[np.uint8]
"""uint8 (n,): a record, or a buffer for records."""


class Records(ABC):
    """Set of recorded positions, by chunk of leads.

    All chunks that have positions are listed, and possibly others; `len(records)` is the length of
    the list. `records[first:last]` yields the number of each chunk in this slice of the list, and
    the chunk's records, decompressed (`list[Bytes]`).
    """

    _chunks: Collection[int]
    """Numbers of the chunks listed."""

    @abstractmethod
    def _unpack(self, chunk: int) -> list[Bytes]:
        """Return the records of a listed chunk, decompressed."""

    def __len__(self) -> int:
        return len(self._chunks)

    def __getitem__(self, chunks: slice) -> Iterator[tuple[int, list[Bytes]]]:
        for chunk in list(self._chunks)[chunks]:
            yield chunk, self._unpack(chunk)


@part
def write_row(out, at, gap, lo, hi):
    """Write a nonempty row to `out` at offset `at`; return the offset after the row.

    gap : int64, as in the module docstring
    """
    rest = (gap << 1) ^ (gap >> 63)
    while rest >= 128:
        out[at] = 128 | (rest & 127)
        at += 1
        rest >>= 7
    out[at] = rest
    at += 1
    if count_bits(lo) + count_bits(hi) >= _DENSE_FROM:
        out[at] = DENSE
        at += 1
        for i in range(6):
            out[at] = (lo >> np.uint64(8 * i)) & np.uint64(255)
            out[at + 6] = (hi >> np.uint64(8 * i)) & np.uint64(255)
            at += 1
        return at + 6
    while lo:
        out[at] = lowest_bit(lo)
        at += 1
        lo &= lo - ONE
    while hi:
        out[at] = WORD_SQUARES + lowest_bit(hi)
        at += 1
        hi &= hi - ONE
    out[at - 1] |= 128
    return at


@part
def read_row(data, at):
    """Read the row at offset `at` of a record; return the offset after it, the gap, lo and hi."""
    shift, rest = 0, np.int64(0)
    while True:
        byte = np.int64(data[at])
        at += 1
        rest |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            break
    gap = (rest >> 1) ^ -(rest & 1)
    lo, hi = EMPTY, EMPTY
    if data[at] == DENSE:
        at += 1
        for i in range(6):
            lo |= np.uint64(data[at]) << np.uint64(8 * i)
            hi |= np.uint64(data[at + 6]) << np.uint64(8 * i)
            at += 1
        return at + 6, gap, lo, hi
    while True:
        byte = np.int64(data[at])
        at += 1
        square = byte & 127
        lo |= BIT[square, 0]
        hi |= BIT[square, 1]
        if byte >= 128:
            return at, gap, lo, hi


@borrowing_kernel
def k_record_lists(slots, starts, out, ends):
    """Write a record of each list of positions to `out`.

    slots : uint32 (n,), in; the lists, each of one chunk, ascending and not empty. A position is
        row * 90 + square; rows are counted from the first row of the chunk
    starts : int64 (lists + 1,), in; start of each list in `slots`, then the end of the last
    ends : int64 (lists,), out; end of each list's record in `out`
    """
    at = 0
    for i in range(ends.size):
        previous, row = np.int64(0), np.int64(-1)
        lo, hi = EMPTY, EMPTY
        for n in range(starts[i], starts[i + 1]):
            slot = np.int64(slots[n])
            if slot // STRIDE != row:
                if row >= 0:
                    at = write_row(out, at, row - previous, lo, hi)
                    previous = row
                row = slot // STRIDE
                lo, hi = EMPTY, EMPTY
            square = slot - row * STRIDE
            lo |= BIT[square, 0]
            hi |= BIT[square, 1]
        ends[i] = write_row(out, at, row - previous, lo, hi)
        at = ends[i]


@borrowing_kernel
def k_record(chunk_0, chunk_1, size, members, out, ends, leads, mids):
    """Record the positions of a set in the chunks [chunk_0, chunk_1), one record for each chunk.

    The record of a chunk without positions is empty.
    """
    at = 0
    for chunk in range(chunk_0, chunk_1):
        previous = chunk * size * mids
        for row in range(previous, min(leads, (chunk + 1) * size) * mids):
            lo, hi = members[row, 0], members[row, 1]
            if lo | hi:
                at = write_row(out, at, row - previous, lo, hi)
                previous = row
        ends[chunk] = at


class _Packer(threading.local):
    """zstd compressor and decompressor of the calling thread: threads cannot share them."""

    def __init__(self) -> None:
        self.compress = zstandard.ZstdCompressor(level=1, write_checksum=False).compress
        self.decompress = zstandard.ZstdDecompressor().decompress


packer = _Packer()
"""`compress` and `decompress` of the calling thread."""


def unpacked(data: bytes) -> Bytes:
    """Decompress a record that `packer` has compressed."""
    return np.frombuffer(packer.decompress(data), np.uint8)


def split_records(
    first: int, last: int, out: Bytes, ends: NDArray[np.int64]
) -> Iterator[tuple[int, Bytes]]:
    """Yield the number and the record of each chunk in [first, last) that has positions.

    out, ends : as `k_record` writes them for [first, last); the records yielded are views of `out`
    """
    start = 0
    for chunk in range(first, last):
        end = int(ends[chunk])
        if end > start:
            yield chunk, out[start:end]
        start = end


class StoredRecords(Records):
    """Records in a `Storage`, the long ones compressed."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._chunks = self._records = dict[int, list[tuple[bool, StoredBytes]]]()
        """By chunk number, for each record: whether it is compressed, and its stored bytes."""
        self._lock = threading.Lock()

    def add(self, chunk: int, record: Bytes) -> None:
        """Store a copy of a record of a chunk, compressed if it is long.

        Raises the errors of `Storage.store`.
        """
        packed = len(record) >= _WORTH_PACKING
        data = packer.compress(record.data) if packed else record.tobytes()
        stored = packed, self._storage.store(data)
        with self._lock:
            self._records.setdefault(chunk, []).append(stored)

    def _unpack(self, chunk: int) -> list[Bytes]:
        found = ((packed, self._storage.fetch(data)) for packed, data in self._records[chunk])
        return [
            unpacked(data) if packed else np.frombuffer(data, np.uint8) for packed, data in found
        ]
