# mypy: allow-untyped-defs, allow-untyped-calls
"""Records of settled and of waiting positions: codes without a plane of codes.

Every position is settled once, with the code of its ply, so that the records of all plies
(`Journal`) are the whole solution: about a byte for each settled position, half of that
compressed, where a plane has one or two for each slot. Captures whose ply has not come are kept
in the same way (`Waiting`), code by code; so are the seeds of an order.

How a set of positions is written down is in `tbgen.rows.records`.
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
from tbgen.rows.records import Bytes, KeptRecords, Records, k_record_lists, packer, read_row
from tbgen.rows.storage import Kept, Storage
from tbgen.tables.palettes import Palette

_HEADER = Struct("<II")
"""Before each record of a journal: its code and its length."""

_HEADER_BYTES = _HEADER.size

_PIECE_BYTES = 1 << 15
"""Bytes of records that are compressed together; each chunk keeps less than that as they are."""

Place = tuple[int, int]
"""A place in the journal of a chunk: how many pieces come before, and how many bytes of the next.
A piece that is compressed meanwhile keeps its places."""


@borrowing_kernel
def _k_fill(data, codes, numbers):
    """Write the numbers of the codes of a piece of a journal to a chunk of a plane.

    data : uint8 (n,), in; header and record by turns
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


class Journal:
    """The settled positions of one side to move, chunk by chunk; one thread for each chunk."""

    def __init__(self, chunks: int, storage: Storage) -> None:
        self._storage = storage
        self._open = [bytearray() for _ in range(chunks)]
        self._packed: list[list[Kept]] = [[] for _ in range(chunks)]
        self.codes: set[int] = set()
        """All codes that have been noted."""

    def add(self, code: int, chunk: int, record: Bytes) -> None:
        """Note that the positions of a record have a code."""
        self.codes.add(code)
        piece = self._open[chunk]
        piece += _HEADER.pack(code, len(record))
        piece += record.data
        if len(piece) >= _PIECE_BYTES:
            self._packed[chunk].append(self._storage.keep(packer.compress(piece)))
            self._open[chunk] = bytearray()

    @property
    def places(self) -> list[Place]:
        """For each chunk, where its records end by now."""
        return [
            (len(packed), len(piece))
            for packed, piece in zip(self._packed, self._open, strict=True)
        ]

    def better_since(self, places: list[Place], code: int) -> Records:
        """The records after some places whose codes are better than one."""
        return _LaterRecords(self, places, code)

    def records_after(self, chunk: int, place: Place, code: int) -> list[Bytes]:
        """Those of one chunk."""
        number, at = place
        pieces = [packer.decompress(self._storage.fetch(k)) for k in self._packed[chunk][number:]]
        found = []
        for piece in (*pieces, bytes(self._open[chunk])):
            while at < len(piece):
                own, size = _HEADER.unpack_from(piece, at)
                if own > code:
                    found.append(np.frombuffer(piece, np.uint8, size, at + _HEADER_BYTES))
                at += _HEADER_BYTES + size
            at = 0
        return found

    def pieces(self) -> Iterator[tuple[int, bytes]]:
        """All that has been noted: chunks, and compressed pieces, those of a chunk in order."""
        for chunk, (packed, piece) in enumerate(zip(self._packed, self._open, strict=True)):
            for kept in packed:
                yield chunk, self._storage.fetch(kept)
            if piece:
                yield chunk, packer.compress(piece)

    def put_back(self, chunk: int, piece: bytes) -> None:
        """Note a piece as `pieces` has given it, but for its codes."""
        self._packed[chunk].append(self._storage.keep(piece))

    def fill(self, chunk: int, palette: Palette, numbers: NDArray[Any]) -> None:
        """Write the numbers of the codes of a chunk to a plane of it (rows of the chunk * 90,)."""
        for kept in self._packed[chunk]:
            piece = packer.decompress(self._storage.fetch(kept))
            _k_fill(np.frombuffer(piece, np.uint8), palette.codes, numbers)
        if self._open[chunk]:
            piece = bytes(self._open[chunk])
            _k_fill(np.frombuffer(piece, np.uint8), palette.codes, numbers)


class _LaterRecords:
    """Records noted in a journal after some places, as `Records`."""

    def __init__(self, journal: Journal, places: list[Place], code: int) -> None:
        self._journal = journal
        self._code = code
        now = enumerate(zip(places, journal.places, strict=True))
        self._places = [(chunk, before) for chunk, (before, after) in now if before != after]

    def __len__(self) -> int:
        """Number of chunks that anything was noted of."""
        return len(self._places)

    def __getitem__(self, chunks: slice, /) -> Iterator[tuple[int, list[Bytes]]]:
        """Some of these chunks, unpacked one at a time."""
        for chunk, place in self._places[chunks]:
            yield chunk, self._journal.records_after(chunk, place, self._code)


class Waiting:
    """Positions of one side to move that have a capture (or a direct win) which is not due yet."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._records: dict[int, KeptRecords] = {}
        self._lock = threading.Lock()

    def _of(self, code: int) -> KeptRecords:
        with self._lock:
            return self._records.setdefault(code, KeptRecords(self._storage))

    def add(self, code: int, chunk: int, record: Bytes) -> None:
        """Let the positions of a record wait for a code."""
        self._of(code).add(chunk, record)

    def add_lists(
        self, chunk: int, numbers: NDArray[Any], slots: NDArray[np.uint32], palette: Palette
    ) -> None:
        """Let positions of a chunk wait, slots (n,) from its first one on, for codes.

        numbers : (n,) those of the codes in the palette
        """
        if not len(numbers):
            return
        order = np.argsort(numbers, kind="stable")
        ordered = numbers[order]
        changes = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
        starts = np.concatenate([[0], changes, [len(ordered)]])
        codes = palette.codes.take(ordered[starts[:-1]]).tolist()
        # A row of k squares takes less than k + 5 bytes, and there is a row to every square.
        out, ends = np.empty(6 * len(numbers), np.uint8), np.zeros(len(codes), np.int64)
        k_record_lists(slots[order], starts, out, ends)
        first = 0
        for code, end in zip(codes, ends.tolist(), strict=True):
            self.add(code, chunk, out[first:end])
            first = end

    def pieces(self) -> Iterator[tuple[int, int, bool, bytes]]:
        """All that waits: code, chunk, whether it is compressed, and the record as it is kept."""
        for code, records in self._records.items():
            for chunk, packed, piece in records.pieces():
                yield code, chunk, packed, piece

    def put_back(self, code: int, chunk: int, packed: bool, piece: bytes) -> None:
        """Let a record wait again that `pieces` has given."""
        self._of(code).put_back(chunk, packed, piece)

    @property
    def codes(self) -> list[int]:
        """The codes that something waits for, in no order."""
        return list(self._records)

    def records(self, code: int) -> Records:
        """The positions that wait for a code."""
        return self._records.get(code, KeptRecords(self._storage))

    def drop(self, code: int) -> None:
        """Forget what waits for a code."""
        self._records.pop(code, None)
