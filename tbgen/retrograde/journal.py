"""Sets of positions on record: which positions share a code, without a plane of codes.

    chunk     some consecutive leads: what is recorded, and read back, at a time
    record    the positions of a chunk that share a code, row by row:

              gap         rows since the row before (zigzag, seven bits a byte, least first)
              squares     a byte each, 128 more for the last one; or where there are many
              DENSE       and both words of the row, six bytes each

Every position is settled once, with the code of its ply, so that the records of all plies
(`Journal`) are the whole solution: about a byte for each settled position, half of that
compressed, where a plane has one or two for each slot. Captures whose ply has not come are kept
in the same way (`Waiting`), code by code.
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import numpy as np
import zstandard
from numpy.typing import NDArray

from tbgen.jit import borrowing_kernel, part
from tbgen.retrograde.bitsets import EMPTY, ONE, count_bits, lowest_bit
from tbgen.retrograde.frame import STRIDE
from tbgen.retrograde.storage import Kept, Storage

ROW_BYTES = 18
"""Bytes of a row in a record, at most."""

DENSE = 255
_DENSE_FROM = 13
_HEADER_BYTES = 8
_PIECE_BYTES = 1 << 15
"""Bytes of records that are compressed together."""
_WORTH_PACKING = 256

Bytes = NDArray[np.uint8]


@part
def write_row(out, at, gap, lo, hi):
    """Write a row that is not empty to a record; returns the place after it."""
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
        out[at] = 45 + lowest_bit(hi)
        at += 1
        hi &= hi - ONE
    out[at - 1] |= 128
    return at


@part
def read_row(data, at):
    """Read the row at a place: the place after it, the gap, and its set of squares."""
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
        if square < 45:
            lo |= ONE << np.uint64(square)
        else:
            hi |= ONE << np.uint64(square - 45)
        if byte >= 128:
            return at, gap, lo, hi


@borrowing_kernel
def _k_record_lists(slots, starts, out, ends):
    """Record lists of positions; list i is slots[starts[i] : starts[i + 1]], ascending.

    slots : uint32, from the chunk's first slot on; out : uint8, the records one after the other;
    ends : int64 (lists,), out, where each one ends
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
            if square < 45:
                lo |= ONE << np.uint64(square)
            else:
                hi |= ONE << np.uint64(square - 45)
        ends[i] = write_row(out, at, row - previous, lo, hi)
        at = ends[i]


@borrowing_kernel
def k_mark(data, row_0, present, within, target):
    """Add the positions of a record that lie in `within` to a set, or take all of them out."""
    at, row = 0, np.int64(row_0)
    while at < data.size:
        at, gap, lo, hi = read_row(data, at)
        row += gap
        if present:
            target[row, 0] |= lo & within[row, 0]
            target[row, 1] |= hi & within[row, 1]
        else:
            target[row, 0] &= ~lo
            target[row, 1] &= ~hi


@borrowing_kernel
def k_unpack_rows(data, row_0, present, target):
    """Add the positions of a record to a set, or take them out."""
    at, row = 0, np.int64(row_0)
    while at < data.size:
        at, gap, lo, hi = read_row(data, at)
        row += gap
        if present:
            target[row, 0] |= lo
            target[row, 1] |= hi
        else:
            target[row, 0] &= ~lo
            target[row, 1] &= ~hi


@borrowing_kernel
def k_record(chunk_0, chunk_1, size, members, out, ends, leads, mids):
    """Record the positions of a set in the chunks [chunk_0, chunk_1).

    size : leads of a chunk
    out : uint8, out: the records of the chunks, one after the other; ends : int64 (chunks,), out,
        where each one ends
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


@borrowing_kernel
def _k_fill(data, codes):
    """Write the codes of a piece of a journal to a chunk of a plane (rows * 90,)."""
    at = 0
    while at < data.size:
        code, size = np.int64(0), np.int64(0)
        for i in range(4):
            code |= np.int64(data[at + i]) << (8 * i)
            size |= np.int64(data[at + 4 + i]) << (8 * i)
        at += _HEADER_BYTES
        end, row = at + size, np.int64(0)
        while at < end:
            at, gap, lo, hi = read_row(data, at)
            row += gap
            base = row * STRIDE
            while lo:
                codes[base + lowest_bit(lo)] = code
                lo &= lo - ONE
            while hi:
                codes[base + 45 + lowest_bit(hi)] = code
                hi &= hi - ONE


class _Packer(threading.local):
    """Each thread's own compressor and decompressor: they cannot be shared."""

    def __init__(self) -> None:
        self.compress = zstandard.ZstdCompressor(level=1, write_checksum=False).compress
        self.decompress = zstandard.ZstdDecompressor().decompress


_packer = _Packer()


class Journal:
    """The settled positions of one side to move, chunk by chunk; one thread for each chunk."""

    def __init__(self, chunks: int, storage: Storage) -> None:
        self._storage = storage
        self._open = [bytearray() for _ in range(chunks)]
        self._packed: list[list[Kept]] = [[] for _ in range(chunks)]

    def add(self, chunk: int, code: int, record: Bytes) -> None:
        """Note that the positions of a record have a code."""
        piece = self._open[chunk]
        piece += code.to_bytes(4, "little") + len(record).to_bytes(4, "little")
        piece += record.data
        if len(piece) >= _PIECE_BYTES:
            self._packed[chunk].append(self._storage.keep(_packer.compress(piece)))
            self._open[chunk] = bytearray()

    def fill(self, chunk: int, codes: NDArray[Any]) -> None:
        """Write the codes of a chunk to its part of a plane (rows of the chunk * 90,)."""
        for kept in self._packed[chunk]:
            piece = _packer.decompress(self._storage.fetch(kept))
            _k_fill(np.frombuffer(piece, np.uint8), codes)
        if self._open[chunk]:
            _k_fill(np.frombuffer(bytes(self._open[chunk]), np.uint8), codes)


class _Packed(NamedTuple):
    """A record that was worth compressing."""

    kept: Kept


class PackedRows:
    """A set of positions, compressed, while nobody looks at it."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._records: dict[int, Kept] = {}

    def add(self, chunk: int, record: Bytes) -> None:
        """Add the positions of a record; one for each chunk."""
        self._records[chunk] = self._storage.keep(_packer.compress(record.data))

    @property
    def chunks(self) -> list[int]:
        """The chunks that have any positions."""
        return list(self._records)

    def record(self, chunk: int) -> Bytes:
        """The positions of one of `chunks`."""
        data = _packer.decompress(self._storage.fetch(self._records[chunk]))
        return np.frombuffer(data, np.uint8)


class Log:
    """What has been recorded since somebody looked last."""

    def __init__(self) -> None:
        self._records: dict[int, list[Bytes]] = {}
        self._lock = threading.Lock()

    def add(self, chunk: int, record: Bytes) -> None:
        """Note a record."""
        with self._lock:
            self._records.setdefault(chunk, []).append(record)

    def add_all(self, records: list[tuple[int, list[Bytes]]]) -> None:
        """Note records: (chunk, its records)."""
        with self._lock:
            for chunk, of_chunk in records:
                self._records.setdefault(chunk, []).extend(of_chunk)

    def take(self) -> list[tuple[int, list[Bytes]]]:
        """The records, (chunk, its records), every chunk once; they are forgotten here."""
        records, self._records = self._records, {}
        return list(records.items())


class Waiting:
    """Positions of one side to move that have a capture (or a direct win) which is not due yet."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._records: dict[int, dict[int, list[bytes | _Packed]]] = {}
        self._lock = threading.Lock()

    def add(self, chunk: int, code: int, record: Bytes) -> None:
        """Let the positions of a record wait for a code."""
        kept: bytes | _Packed
        if len(record) < _WORTH_PACKING:
            kept = record.tobytes()
        else:
            kept = _Packed(self._storage.keep(_packer.compress(record.data)))
        with self._lock:
            self._records.setdefault(code, {}).setdefault(chunk, []).append(kept)

    def add_lists(self, chunk: int, codes: NDArray[Any], slots: NDArray[np.uint32]) -> None:
        """Let positions of a chunk wait: codes (n,) and slots (n,) from its first one on."""
        if not len(codes):
            return
        order = np.argsort(codes, kind="stable")
        ordered = codes[order]
        changes = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
        starts = np.concatenate([[0], changes, [len(ordered)]])
        # A row of k squares takes less than k + 5 bytes, and there is a row to every square.
        out, ends = np.empty(6 * len(codes), np.uint8), np.zeros(len(starts) - 1, np.int64)
        _k_record_lists(slots[order], starts, out, ends)
        first = 0
        for start, end in zip(starts.tolist(), ends.tolist(), strict=False):
            self.add(chunk, int(ordered[start]), out[first:end])
            first = end

    @property
    def codes(self) -> list[int]:
        """The codes that something waits for, in no order."""
        return list(self._records)

    def records(self, *codes: int) -> list[tuple[int, list[Bytes]]]:
        """The records of some codes: (chunk, its records), every chunk once.

        So threads may take them one by one: no two of them have the same chunk.
        """
        by_chunk: dict[int, list[Bytes]] = {}
        for code in codes:
            for chunk, records in self._records.get(code, {}).items():
                by_chunk.setdefault(chunk, []).extend(map(self._unpacked, records))
        return list(by_chunk.items())

    def drop(self, code: int) -> None:
        """Forget what waits for a code."""
        self._records.pop(code, None)

    def _unpacked(self, kept: bytes | _Packed) -> Bytes:
        data = kept
        if isinstance(data, _Packed):
            data = _packer.decompress(self._storage.fetch(data.kept))
        return np.frombuffer(data, np.uint8)
