"""Reading and checking a file of blocks: single codes, many codes, or a whole side.

    slot  ->  block, index in it  ->  cache, or read + checksum + zstd  ->  code

`BlockFile` is the common part of tables of distances (`reader.py`) and win-draw-loss files
(`wdl.py`), which interpret codes and metadata.

Files are untrusted. Sizes are checked against the size of the file and the index of its material,
bytes against checksums, decompressed blocks against their size. Faults raise `CorruptTableError`.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
import zstandard
from numpy.typing import NDArray

from tbgen.indexing import Position, Side
from tbgen.indexing.layout import Layout
from tbgen.system.platform import read_at
from tbgen.system.threads import thread_pool
from tbgen.tables.blocks import BlockError, Codes, NumbersOf
from tbgen.tables.cache import DEFAULT_CACHE_BYTES, BlockCache
from tbgen.tables.errors import CorruptTableError
from tbgen.tables.files import open_to_read
from tbgen.tables.header import (
    BLOCK_ENTRY_BYTES,
    HEADER_BYTES,
    MAX_METADATA,
    Header,
    Spec,
    with_checksum,
)
from tbgen.tables.names import TableName, WdlName
from tbgen.tables.outcomes import AnyBlock, BlockCodec
from tbgen.tables.statistics import FileStatistics

Statistics = TypeVar("Statistics", bound=FileStatistics)

_BLOCKS_PER_TASK = 16

READ_BYTES = 1 << 26
"""Most bytes of blocks per read, unless one block has more; Linux reads at most 2 GiB at once."""


class _Descriptor:
    """An open file, closed when the last reference to this object is dropped.

    A read holds a reference, so `BlockFile.close` in another thread does not close the file then.
    """

    def __init__(self, path: Path) -> None:
        self.number = open_to_read(path)

    def __del__(self, close: Callable[[int], None] = os.close) -> None:
        # `close` is bound early: at interpreter exit the module may be gone.
        if hasattr(self, "number"):
            close(self.number)


class _Decompressor(threading.local):
    """Decompressor of blocks, with one of zstd for each thread: threads cannot share one."""

    def __init__(self) -> None:
        self.decompress = zstandard.ZstdDecompressor().decompress


_decompressor = _Decompressor()


class BlockFile(Generic[Spec]):
    """An open file of blocks; safe to use from several threads.

    Opening checks the header and the block table. It raises `OSError`, `CorruptTableError` and
    `FormatVersionError`. Reading raises `OSError`, `CorruptTableError`, `IndexError` for a number
    that is no slot, `ValueError` after `close`, and with several threads `MemoryError`. A pickled
    file opens the same path, with a cache of its own.
    """

    _kind: ClassVar[type]
    """Type of the specification in the header: `TableSpec` or `WdlSpec`."""

    def __init__(
        self,
        path: Path | str,
        cache: BlockCache | None = None,
        *,
        name: TableName | WdlName | None = None,
    ) -> None:
        """Open a file.

        cache : cache of decoded blocks; None for a cache of this file alone
        name : expected name; `CorruptTableError` is raised if the header has another one
        """
        self.path = Path(path)
        self._cache = cache if cache is not None else BlockCache(DEFAULT_CACHE_BYTES)
        self._descriptor: _Descriptor | None = _Descriptor(self.path)
        self._identity = _identity(os.fstat(self._descriptor.number))
        size = self._identity[2]
        raw = self._read(0, min(HEADER_BYTES, size))
        self.header: Header[Spec] = Header.unpack(raw, size, self.path, self._kind)
        self._codec: BlockCodec = self.header.spec.codec
        stored = self.header.spec.name
        if name not in (None, stored):
            raise CorruptTableError(self.path, f"the file holds {stored}, not what its name says")
        table = self._read(self.header.table_offset, BLOCK_ENTRY_BYTES * sum(self.header.blocks))
        if with_checksum(raw, table) != raw:
            raise CorruptTableError(self.path, "the checksum of the header is wrong")
        self._entries = np.frombuffer(table, "<u4").reshape(-1, 2)  # length and checksum
        lengths = self._entries[:, 0].astype(np.int64)
        # Fewer than 2**31 blocks of less than 2**32 bytes cannot overflow.
        self._offsets = HEADER_BYTES + np.concatenate([[0], np.cumsum(lengths)])
        # zstd never expands content by as much as a factor of 2.
        limit = 2 * self._codec.max_content(self.header.block_slots) + 1024
        if self._offsets[-1] != self.header.table_offset or (lengths > limit).any():
            raise CorruptTableError(self.path, "the block table does not fit the file")
        self._dtype: np.dtype[Any] = self._codec.dtype
        self._maps = self.header.block_maps

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle path and name, to open the file again; raises `ValueError` after `close`."""
        self._require_open()
        return partial(type(self), name=self.header.spec.name), (self.path.absolute(),)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.path.name}>"

    # -- single values -----------------------------------------------------------------------

    def code(self, side: int, slot: int) -> int:
        """Return the code of a slot, side 0 (Red) or 1 (Black) to move.

        The code is arbitrary if the slot has no legal position.
        """
        header = self.header
        if not 0 <= slot < header.slots:
            raise IndexError(f"slot {slot} of {header.slots}")
        if not header.blocks[side]:
            return header.constants[side]
        block, index = self._maps[side].locate(slot)
        return self._block(block + side * header.blocks[0]).code(index)

    def codes(self, side: int, slots: NDArray[np.int64]) -> Codes:
        """Return the codes (n,) of a side's slots (n,) in any order; reads a block once at most."""
        header = self.header
        slots = np.asarray(slots, np.int64)
        if slots.size == 0:
            return np.empty(slots.shape, self._dtype)
        if not 0 <= int(slots.min()) <= int(slots.max()) < header.slots:
            raise IndexError(f"slots beyond {header.slots}")
        if not header.blocks[side]:
            return np.full(slots.shape, header.constants[side], self._dtype)
        out = np.empty(slots.shape, self._dtype)
        blocks, indices = self._maps[side].locate_all(slots)
        order = np.argsort(blocks, kind="stable")
        blocks, indices = blocks[order], indices[order]
        starts: list[int] = np.flatnonzero(np.diff(blocks, prepend=-1)).tolist()
        for start, end in itertools.pairwise([*starts, len(blocks)]):
            block = self._block(int(blocks[start]) + side * header.blocks[0])
            out[order[start:end]] = block.codes(indices[start:end])
        return out

    # -- whole sides -------------------------------------------------------------------------

    def block(self, number: int) -> AnyBlock:
        """Read and decode one block, without the cache; blocks of Red's side are numbered first."""
        start, end = (int(self._offsets[n]) for n in (number, number + 1))
        return self._decode(number, self._content(number, self._read(start, end - start)))

    def tiles(self, side: int) -> int:
        """Return the number of tiles of a side."""
        return self._maps[side].tiles

    def tile(
        self,
        side: int,
        number: int,
        numbers_of: NumbersOf | None = None,
        digests: list[bytes] | None = None,
    ) -> list[tuple[int, Codes]]:
        """Return the codes of tile `number` of a side as runs of n slots: (first slot, codes (n,)).

        The slots of a tile need not be consecutive. Each run consists of whole leads.

        numbers_of : maps the distinct codes of each block to the numbers that replace them
        digests : inout, SHA-256 of the content of each block of the file, b"" before its first read

        The cache is not used. Raises `CorruptTableError` also for a block that has changed since
        its entry in `digests` was set.
        """
        header, block_map = self.header, self._maps[side]
        runs, none = block_map.runs(number), np.empty(0, self._dtype)
        dtype = (none if numbers_of is None else numbers_of(none)).dtype
        if not header.blocks[side]:
            constant = np.array([header.constants[side]], self._dtype)
            value = constant if numbers_of is None else numbers_of(constant)
            return [(first, np.full(count, value, dtype)) for first, count in runs]
        numbers, base = block_map.blocks_of(number), side * header.blocks[0]
        codes = np.empty(sum(count for _, count in runs), dtype)
        at = 0
        for block, content in self.contents(base + numbers.start, base + numbers.stop):
            end = at + self._slots_in(block)
            self._decode(block, content).write_to(codes[at:end], numbers_of)
            if digests is not None:
                digest = hashlib.sha256(content).digest()
                if digests[block] not in (b"", digest):
                    raise CorruptTableError(self.path, "it has changed since its first read", block)
                digests[block] = digest
            at = end
        ends = np.cumsum([count for _, count in runs])
        parts = np.split(block_map.to_index_order(number, codes), ends[:-1])
        return [(first, part) for (first, _), part in zip(runs, parts, strict=True)]

    def plane(self, side: int, *, threads: int = 1) -> Codes:
        """Return the codes of all slots of a side, in the order of slots: (slots,).

        Slots without a position contain an arbitrary code, not 0. The cache is not used.
        """
        plane = np.empty(self.header.slots, self._dtype)

        def fill_tile(number: int) -> None:
            for first, codes in self.tile(side, number):
                plane[first : first + len(codes)] = codes

        _in_threads(fill_tile, range(self.tiles(side)), threads)
        return plane

    def check(self, *, threads: int = 1) -> None:
        """Verify checksums, blocks and digest of the whole file; subclasses also the statistics."""
        self.check_blocks([b""] * sum(self.header.blocks), threads=threads)

    def check_blocks(self, digests: list[bytes], *, threads: int = 1) -> None:
        """Verify the blocks without an entry in `digests`, and then the digest of the whole file.

        digests : inout, SHA-256 of the content of each block, b"" for a block not yet read

        All entries are set afterwards.
        """

        def verify(first: int) -> None:
            end = min(first + _BLOCKS_PER_TASK, len(digests))
            if all(digests[first:end]):
                return
            for number, content in self.contents(first, end):
                self._decode(number, content)
                digests[number] = hashlib.sha256(content).digest()

        _in_threads(verify, range(0, len(digests), _BLOCKS_PER_TASK), threads)
        self.check_digest(digests)

    def check_digest(self, digests: Sequence[bytes]) -> None:
        """Raise `CorruptTableError` unless the header's digest is that of the blocks and metadata.

        digests : SHA-256 of the content of every block, in file order
        """
        header = self.header
        sides = digests[: header.blocks[0]], digests[header.blocks[0] :]
        contents = [
            side or [hashlib.sha256(self._codec.constant_content(code)).digest()]
            for side, code in zip(sides, header.constants, strict=True)
        ]
        if header.content_digest(contents, self.metadata()) != header.digest:
            raise CorruptTableError(self.path, "the digest is wrong")

    def contents(self, first: int, end: int) -> Iterator[tuple[int, bytes]]:
        """Yield (number, content) of the blocks first to end - 1, after checking their bytes.

        Blocks are numbered in file order: Red's, then Black's.
        """
        while first < end:
            most = self._offsets[first] + READ_BYTES
            stop = int(self._offsets[: end + 1].searchsorted(most, "right")) - 1
            stop = max(first + 1, stop)
            offsets = self._offsets[first : stop + 1].tolist()
            start = offsets[0]
            data = self._read(start, offsets[-1] - start)
            for number, (low, high) in enumerate(itertools.pairwise(offsets), start=first):
                yield number, self._content(number, data[low - start : high - start])
            first = stop

    # -- the rest of the file ----------------------------------------------------------------

    @property
    def layout(self) -> Layout:
        """Index of the file's material: the numbering of its positions by slots."""
        return Layout.of(self.header.spec.name.material)

    def place(self, position: Position) -> tuple[Side, int]:
        """Return side to move and slot of a position, in the colours of the file.

        Colours are exchanged if `position.is_swapped`. Raises `InputError` for another material.
        """
        if position.is_swapped:
            position = position.swapped()
        return position.side, self.layout.slot(position)

    def metadata(self) -> bytes:
        """Return the JSON text of the metadata, after checking its checksum."""
        data = self._read(self.header.metadata_offset, self.header.metadata_length)
        if zlib.crc32(data) != self.header.metadata_checksum:
            raise CorruptTableError(self.path, "the checksum of the statistics is wrong")
        return self._unpack(data, MAX_METADATA, None)

    def _read_statistics(self, kind: type[Statistics]) -> Statistics:
        text = self.metadata()
        try:
            found = kind.from_text(text.decode("ascii"))
        except ValueError:
            raise CorruptTableError(self.path, "the statistics cannot be read") from None
        name, slots = self.header.spec.name, self.header.slots
        own = (name.material.name, name.rules, name.metric, name.rule_set.orders, slots)
        if own != (
            found.material, found.rules, found.metric, found.orders_limit, found.index_size
        ):  # fmt: skip
            raise CorruptTableError(self.path, "the statistics are those of another table")
        return found

    def is_same_file(self, path: Path) -> bool:
        """Return whether `path` names the open file, unchanged since it was opened.

        False after `close`.
        """
        with contextlib.suppress(OSError):
            return self._descriptor is not None and _identity(path.stat()) == self._identity
        return False

    def close(self) -> None:
        """Drop the file's blocks from the cache, and close the file once no thread reads it.

        Other objects for the same file then have to read their blocks again.
        """
        self._descriptor = None
        self._cache.drop(self._identity)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # -- blocks ------------------------------------------------------------------------------

    def _slots_in(self, number: int) -> int:
        """Return the number of slots in block `number` of the file; Red's blocks come first."""
        red, maps = self.header.blocks[0], self._maps
        return maps[0].slots_in(number) if number < red else maps[1].slots_in(number - red)

    def _block(self, number: int) -> AnyBlock:
        """Return decoded block `number` of the file, from the cache if it is there."""
        key = (self._identity, number)
        block = self._cache.get(key)
        if block is None:
            block = self.block(number)
            self._cache.put(key, block)
        return block

    def _content(self, number: int, data: bytes) -> bytes:
        """Return the content of block `number`, whose bytes in the file are `data`.

        A block of one code has no bytes: its entry in the block table states the code.
        """
        length, check = self._entries[number].tolist()
        codec, slots = self._codec, self._slots_in(number)
        if length == 0:
            if check > codec.top:
                raise CorruptTableError(self.path, "the block has an impossible code", number)
            return codec.constant_content(check)
        if zlib.crc32(data) != check:
            raise CorruptTableError(self.path, "the checksum is wrong", number)
        limit = codec.max_content(slots)
        if not codec.may_be_plain:
            return self._unpack(data, limit, number)
        if length > limit:
            raise CorruptTableError(self.path, "the block has the wrong size", number)
        content = data if length == limit else self._unpack(data, limit, number)
        if codec.constant_code(content) is not None:  # a block of one outcome, stored with bytes
            raise CorruptTableError(self.path, "a byte is not five outcomes", number)
        return content

    def _unpack(self, data: bytes, limit: int, number: int | None) -> bytes:
        """Decompress a block, or the metadata (`number` None), to at most `limit` bytes."""
        try:
            # `content_size` is what `decompress` allocates; it is the largest integer if the frame
            # states no size. `zstandard.frame_content_size` would give 0 for skippable frames.
            if zstandard.get_frame_parameters(data).content_size <= limit:
                return _decompressor.decompress(data, allow_extra_data=False)
        except zstandard.ZstdError:
            pass
        raise CorruptTableError(self.path, "the data cannot be unpacked", number)

    def _decode(self, number: int, content: bytes) -> AnyBlock:
        try:
            return self._codec.block(content, self._slots_in(number))
        except BlockError as error:
            raise CorruptTableError(self.path, str(error), number) from None

    def _require_open(self) -> _Descriptor:
        """Return the descriptor; raises `ValueError` after `close`."""
        descriptor = self._descriptor
        if descriptor is None:
            raise ValueError(f"{self.path.name} has been closed")
        return descriptor

    def _read(self, offset: int, length: int) -> bytes:
        """Return `length` bytes at an offset; raises `CorruptTableError` if the file is shorter."""
        descriptor = self._require_open()  # held while reading: `close` cannot free its number
        data = read_at(descriptor.number, length, offset)
        if len(data) != length:
            raise CorruptTableError(self.path, "the file has become shorter")
        return data


def _identity(status: os.stat_result) -> tuple[int, int, int, int]:
    """Return device, inode, size and modification time (ns) of a file."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _in_threads(task: Callable[[int], None], numbers: range, threads: int) -> None:
    """Call `task(number)` for every number, in `threads` threads, until a call raises an error."""
    with thread_pool(threads) if threads > 1 else contextlib.nullcontext() as pool:
        for _ in (pool.map if pool else map)(task, numbers):
            pass
