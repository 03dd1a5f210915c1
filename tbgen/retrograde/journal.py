# mypy: allow-untyped-defs, allow-untyped-calls
"""Values of positions as records, in place of a plane (an array of the codes of all slots).

A position is *settled* once, with its code: its value as a number, larger if better. So the records
of all plies (`Journal`) are the whole solution. A record (`tbgen.rows.records`) takes about a byte
for each position, half of that if compressed; a plane takes one or two bytes for each slot.
Parameters of kernels: `tbgen.rows`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from struct import Struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import borrowing_kernel
from tbgen.rows.bitsets import ONE, WORD_SQUARES, lowest_bit
from tbgen.rows.frame import STRIDE
from tbgen.rows.records import Bytes, Records, StoredRecords, k_record_lists, packer, read_row
from tbgen.rows.storage import Storage, StoredBytes
from tbgen.tables.palettes import Palette

_HEADER = Struct("<II")
"""Header of a record in a journal: the code of its positions, and the record's length in bytes."""

_HEADER_BYTES = _HEADER.size

_SEGMENT_BYTES = 1 << 15
"""Minimum bytes, uncompressed, of a full *segment*: records of a chunk, compressed together."""

Cursor = tuple[int, int]
"""Place in a chunk's sequence of records: number of compressed segments before this place, and its
byte offset in the next segment, decompressed.
"""


@borrowing_kernel
def _k_fill(data, codes, numbers):
    """Write the palette number of each position in a journal's segment to a part of a plane.

    data : uint8 (n,), in; an uncompressed segment: records, each after its code and length
    codes : int64 (codes,), in; the palette, with all codes of the journal
    numbers : unsigned (rows of the chunk * 90,), inout
    """
    at = 0
    while at < data.size:
        code, size = np.int64(0), np.int64(0)
        for i in range(4):
            code |= np.int64(data[at + i]) << (8 * i)
            size |= np.int64(data[at + 4 + i]) << (8 * i)
        at += _HEADER_BYTES
        number = 0
        while codes[number] != code:
            number += 1
        end, row = at + size, np.int64(0)
        while at < end:
            at, gap, lo, hi = read_row(data, at)
            row += gap
            base = row * STRIDE
            while lo:
                numbers[base + lowest_bit(lo)] = number
                lo &= lo - ONE
            while hi:
                numbers[base + WORD_SQUARES + lowest_bit(hi)] = number
                hi &= hi - ONE


@borrowing_kernel
def _k_group(numbers, slots, ends, grouped):
    """Order positions by their numbers; those of equal numbers keep their order.

    numbers : unsigned (n,), in; the number of each position
    slots : uint32 (n,), in; the positions
    ends : int64 (all numbers,), inout; zeros at first, then the end of each number's group in
        `grouped`
    grouped : uint32 (n,), out; the ordered positions
    """
    for i in range(numbers.size):
        ends[numbers[i]] += 1
    start = 0
    for number in range(ends.size):
        start += ends[number]
        ends[number] = start - ends[number]
    for i in range(numbers.size):
        grouped[ends[numbers[i]]] = slots[i]
        ends[numbers[i]] += 1


class Journal:
    """Settled positions of one side to move, with their codes, as records in order of settling.

    Each chunk of leads has records of its own, which one thread at a time may add. They are
    compressed in segments (`_SEGMENT_BYTES`); the last, incomplete segment is not compressed.
    """

    def __init__(self, chunks: int, storage: Storage) -> None:
        self._storage = storage
        self._open = [bytearray() for _ in range(chunks)]
        self._packed: list[list[StoredBytes]] = [[] for _ in range(chunks)]
        self.codes: set[int] = set()
        """All codes that have been added."""

    def add(self, code: int, chunk: int, record: Bytes) -> None:
        """Append a record of positions of a chunk, settled with `code`.

        Raises the errors of `Storage.store`.
        """
        self.codes.add(code)
        segment = self._open[chunk]
        segment += _HEADER.pack(code, len(record))
        segment += record.data
        if len(segment) >= _SEGMENT_BYTES:
            self._packed[chunk].append(self._storage.store(packer.compress(segment)))
            self._open[chunk] = bytearray()

    @property
    def cursors(self) -> list[Cursor]:
        """Present end of each chunk's records."""
        return [
            (len(packed), len(segment))
            for packed, segment in zip(self._packed, self._open, strict=True)
        ]

    def records_after(self, chunk: int, cursor: Cursor, code: int) -> list[Bytes]:
        """Return the records of one chunk after a cursor, of codes better (larger) than `code`."""
        number, at = cursor
        found = []
        for segment in self._unpacked(chunk, number):
            while at < len(segment):
                own, size = _HEADER.unpack_from(segment, at)
                if own > code:
                    found.append(np.frombuffer(segment, np.uint8, size, at + _HEADER_BYTES))
                at += _HEADER_BYTES + size
            at = 0
        return found

    def _unpacked(self, chunk: int, first: int = 0) -> Iterator[bytes]:
        """Yield the segments of a chunk from number `first` on, decompressed."""
        for stored in self._packed[chunk][first:]:
            yield packer.decompress(self._storage.fetch(stored))
        yield bytes(self._open[chunk])

    def segments(self) -> Iterator[tuple[int, bytes]]:
        """Yield all records, as pairs of chunk number and compressed segment, in order."""
        for chunk, (packed, segment) in enumerate(zip(self._packed, self._open, strict=True)):
            for stored in packed:
                yield chunk, self._storage.fetch(stored)
            if segment:
                yield chunk, packer.compress(segment)

    def append_segment(self, chunk: int, segment: bytes) -> None:
        """Append a compressed segment, which `segments` yielded, to a chunk.

        The caller restores `codes`. Raises the errors of `Storage.store`.
        """
        self._packed[chunk].append(self._storage.store(segment))

    def fill(self, chunk: int, palette: Palette, numbers: NDArray[Any]) -> None:
        """Write the codes of a chunk's positions, as numbers in a palette, to `numbers`.

        palette : must have all codes of the journal
        numbers : unsigned (rows of the chunk * 90,), inout; elements of other slots are unchanged
        """
        for segment in self._unpacked(chunk):
            _k_fill(np.frombuffer(segment, np.uint8), palette.codes, numbers)


class LaterRecords(Records):
    """Records of a journal added after earlier `cursors`, with codes larger than a given one.

    Chunks may be listed (`Records`) that have no such records.
    """

    def __init__(self, journal: Journal, cursors: list[Cursor], code: int) -> None:
        self._journal = journal
        self._code = code
        now = enumerate(zip(cursors, journal.cursors, strict=True))
        self._chunks = self._cursors = {
            chunk: before for chunk, (before, after) in now if before != after
        }

    def _unpack(self, chunk: int) -> list[Bytes]:
        return self._journal.records_after(chunk, self._cursors[chunk], self._code)


class Waiting:
    """Positions of one side to move whose best capture, or direct win, belongs to a later ply.

    A position waits for the code of its capture or win. It is settled with this code, or with a
    larger one if another move is better.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._records: dict[int, StoredRecords] = {}
        self._lock = threading.Lock()

    def add(self, code: int, chunk: int, record: Bytes) -> None:
        """Add a record of positions of a chunk that wait for a code."""
        with self._lock:
            records = self._records.setdefault(code, StoredRecords(self._storage))
        records.add(chunk, record)

    def add_lists(
        self, chunk: int, numbers: NDArray[Any], slots: NDArray[np.uint32], palette: Palette
    ) -> None:
        """Add a list of waiting positions of a chunk.

        numbers : unsigned (n,), the code that each position waits for, as its number in the palette
        slots : uint32 (n,), the positions, ascending: row * 90 + square, rows counted from the
            first row of the chunk
        """
        if not len(numbers):
            return
        group_ends, grouped = np.zeros(len(palette.codes), np.int64), np.empty_like(slots)
        _k_group(numbers, slots, group_ends, grouped)
        occurring = np.flatnonzero(np.diff(group_ends, prepend=0))
        starts = np.concatenate([[0], group_ends[occurring]])
        # A row of k squares takes at most k + 5 bytes; each square may have its own row.
        out, ends = np.empty(6 * len(numbers), np.uint8), np.zeros(len(occurring), np.int64)
        k_record_lists(grouped, starts, out, ends)
        first = 0
        for code, end in zip(palette.codes[occurring].tolist(), ends.tolist(), strict=True):
            self.add(code, chunk, out[first:end])
            first = end

    @property
    def codes(self) -> list[int]:
        """Codes for which positions wait, in no order."""
        return list(self._records)

    def records(self, code: int) -> Records:
        """Return the records of the positions that wait for a code; empty if there are none."""
        return self._records.get(code, StoredRecords(self._storage))

    def drop(self, code: int) -> None:
        """Remove the positions that wait for a code, if any."""
        self._records.pop(code, None)
