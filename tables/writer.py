"""Writing a table: planes of codes in, one complete file out; recompression of such a file.

    source(side, first, count)  ->  tile, arranged  ->  fill  ->  block  ->  zstd  ->  file
    reading thread                                      worker threads             calling thread

Each side gets its best arrangement (`choosing.py`). `fill` replaces code 0 (no position) by the
code of a neighbouring slot. The file gets its name after it has been written and synced
(`files.py`). Memory holds two tiles, and a few blocks per thread. Threads never change the bytes.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Generic, NamedTuple

import numpy as np

from tbgen.indexing.arrangement import Arrangement, BlockMap
from tbgen.indexing.layout import Layout
from tbgen.system.threads import thread_pool
from tbgen.tables.blocks import (
    BLOCK_SLOTS,
    DENSE,
    FAST,
    MAX_BLOCK_BYTES,
    MAX_PALETTE,
    Codes,
    Compressor,
    Encode,
    Parameters,
    encode_filled,
    safe_slots,
)
from tbgen.tables.choosing import TILE_SLOTS, choose_arrangement
from tbgen.tables.files import replacing, sync_directory
from tbgen.tables.header import HEADER_BYTES, MAX_METADATA, SIDES, Header, Spec
from tbgen.tables.outcomes import BlockCodec
from tbgen.tables.palettes import Palette
from tbgen.tables.reader import TableFile
from tbgen.tables.statistics import FileStatistics

CodeSource = Callable[[int, int, int], Codes]
"""Function `source(side, first, count)` that returns the codes of slots first to first + count - 1,
with side 0 (Red) or 1 (Black) to move: 0 for a slot without a position. With `palettes` of
`write_table` it returns the numbers of these codes.

Called by one thread at a time, for runs of whole leads. A sample of a side is read first, to choose
its arrangement, then the side. Black may come first. Both are read again if a block is too large.
"""

_BLOCKS_AT_ONCE = 4
"""Number of blocks that one task of a worker thread packs; several, since each task has a cost."""

_PER_THREAD = 2
"""Most tasks per thread whose blocks are not yet written; this bounds the memory."""


@dataclass(frozen=True, slots=True)
class Packing:
    """Settings by which a kind of file is cut into blocks and compressed."""

    block_slots: int = BLOCK_SLOTS
    """Slots per block. Fewer are used if a block with many different codes exceeds 64 KiB."""
    tile_slots: int = TILE_SLOTS
    """Most slots per tile, unless a single lead (one placement of the defenders) has more."""
    compression: Parameters = FAST
    uncompressed: bool = False
    """True to store blocks uncompressed; ignored by codecs without `may_be_plain`."""


class PackedBlock(NamedTuple):
    """A block ready to be written: its bytes in the file, and the SHA-256 of its content.

    If all slots share one code, it is `constant`, else None; then `data` is b"".
    """

    data: bytes
    digest: bytes
    constant: int | None

    @classmethod
    def of(cls, content: bytes, codec: BlockCodec, store: Callable[[bytes], bytes]) -> PackedBlock:
        """Return the block with this content, of `codec`; `store` returns the bytes to write."""
        constant = codec.constant_code(content)
        data = b"" if constant is not None else store(content)
        return cls(data, hashlib.sha256(content).digest(), constant)

    @property
    def entry(self) -> tuple[int, int]:
        """Entry of the block table: length and checksum of `data`, or 0 and `constant`."""
        if self.constant is not None:
            return 0, self.constant
        return len(self.data), zlib.crc32(self.data)


class _BlockTooLargeError(Exception):
    """Raised for a content longer than `MAX_BLOCK_BYTES`: too many codes for a palette."""


TABLES = Packing()


def write_table(
    path: Path,
    spec: Spec,
    source: CodeSource,
    statistics: Callable[[], FileStatistics],
    *,
    threads: int = 1,
    packing: Packing = TABLES,
    arrangements: tuple[Arrangement, Arrangement] | None = None,
    palettes: tuple[Palette, Palette] | None = None,
    encode: Encode = encode_filled,
) -> Header[Spec]:
    """Write a table or a win-draw-loss file, and return its header.

    path : usually `directory / spec.name.filename`
    statistics : called after all codes have been read; returns the metadata
    packing : block size and compression
    arrangements : Red's and Black's order of slots, for experiments; None for the best
    palettes : Red's and Black's lists of occurring codes, if `source` returns numbers (indices in
        these lists) in place of codes; the file is the same
    encode : for a table `encode_filled` or a faster equivalent, for a win-draw-loss file
        `encode_outcomes`

    Raises `ValueError` if `source` returns another dtype or shape, for impossible `block_slots`,
    and for statistics above `MAX_METADATA`; `OSError`; and `MemoryError` (`thread_pool`). Errors of
    the functions that are parameters pass through. On any error an existing file stays unchanged.
    """
    if not 1 <= packing.block_slots <= spec.codec.max_slots:
        raise ValueError(f"{packing.block_slots} slots per block, not 1 to {spec.codec.max_slots}")
    dtypes, encoders = (spec.codec.dtype,) * SIDES, (encode,) * SIDES
    if palettes is not None:
        dtypes = tuple(palette.dtype for palette in palettes)
        encoders = tuple(palette.encoder(encode) for palette in palettes)
    writer = _Writer(spec, arrangements, packing, source, dtypes, encoders, statistics, threads)
    # A block of a side with more codes than a palette holds may exceed 64 KiB, so that all blocks
    # are packed again. Packing Black's first detects this early.
    black_first = palettes is not None and len(palettes[1].codes) > MAX_PALETTE
    with replacing(path) as file:
        try:
            header = writer.write(file, path.parent if black_first else None)
        except _BlockTooLargeError:
            file.seek(0)
            file.truncate()
            smaller = replace(packing, block_slots=safe_slots(spec.codec.dtype.itemsize))
            # No block of so few slots is too large.
            header = replace(writer, packing=smaller).write(file, None)
    sync_directory(path.parent)
    return header


class _WrittenSide(NamedTuple):
    """A side whose blocks have been written: arrangement, block table entries and digests.

    `constant` is the code that all slots share (then there are no `entries`), else 0.
    """

    arrangement: Arrangement
    entries: list[tuple[int, int]]
    digests: list[bytes]
    constant: int


@dataclass(frozen=True)
class _Writer(Generic[Spec]):
    """Writer of one file: parameters of `write_table`.

    `dtypes` are those of Red's and Black's codes from `source`; `encoders` encode their blocks.
    """

    spec: Spec
    arrangements: tuple[Arrangement, Arrangement] | None
    packing: Packing
    source: CodeSource
    dtypes: tuple[np.dtype[Any], ...]
    encoders: tuple[Encode, ...]
    statistics: Callable[[], FileStatistics]
    threads: int

    def write(self, file: BinaryIO, spool_directory: Path | None) -> Header[Spec]:
        """Write a whole file into the empty `file`, and return its header.

        spool_directory : folder for a temporary file of Black's blocks, to pack them first; None to
            pack Red's first

        Raises `_BlockTooLargeError`; the file is then incomplete.
        """
        file.write(bytes(HEADER_BYTES))
        if spool_directory is not None:
            with tempfile.TemporaryFile(dir=spool_directory) as blocks:
                black = self._write_side(blocks, 1)
                red = self._write_side(file, 0)
                blocks.seek(0)
                shutil.copyfileobj(blocks, file)
        else:
            red, black = (self._write_side(file, side) for side in range(SIDES))
        entries = red.entries + black.entries
        facts = self.statistics().to_json()
        text = json.dumps(facts, sort_keys=True, separators=(",", ":")).encode("ascii")
        if len(text) > MAX_METADATA:
            raise ValueError(f"statistics of {len(text)} bytes, more than {MAX_METADATA}")
        header = Header(
            spec=self.spec,
            slots=self.spec.slots,
            block_slots=self.packing.block_slots,
            arrangements=(red.arrangement, black.arrangement),
            blocks=(len(red.entries), len(black.entries)),
            constants=(red.constant, black.constant),
            table_offset=0,
            metadata_length=0,
            metadata_checksum=0,
            digest=b"",
        )
        header = replace(header, digest=header.content_digest((red.digests, black.digests), text))
        return _complete(file, header, entries, text, self.packing.compression)

    def _write_side(self, out: BinaryIO, side: int) -> _WrittenSide:
        """Write the blocks of one side, in the given or the best arrangement."""
        layout, slots = Layout.of(self.spec.name.material), self.packing.block_slots
        if self.arrangements is not None:
            arrangement = self.arrangements[side]
        else:
            arrangement = choose_arrangement(
                layout,
                lambda block_map, tile: self._tile(block_map, side, tile),
                lambda codes: self.encoders[side](codes, self.spec.codec.draw),
                slots,
                self.packing.tile_slots,
            )
        entries, digests, values = [], [], set()
        for block in self._packed_blocks(BlockMap(layout, arrangement, slots), side):
            out.write(block.data)
            entries.append(block.entry)
            digests.append(block.digest)
            values.add(block.constant)
        only = values.pop() if len(values) == 1 else None
        if only is not None:
            return _WrittenSide(arrangement, [], digests[:1], only)
        return _WrittenSide(arrangement, entries, digests, 0)

    def _packed_blocks(self, block_map: BlockMap, side: int) -> Iterator[PackedBlock]:
        """Yield the blocks of one side, in order.

        Workers pack a few blocks in advance; another thread reads and arranges the next tile.
        """
        compressor = Compressor(self.packing.compression)
        pending: deque[Future[list[PackedBlock]]] = deque()
        step = _BLOCKS_AT_ONCE * block_map.block_slots

        def arranged(tile: int) -> Codes:
            return block_map.to_file_order(tile, self._tile(block_map, side, tile))

        with thread_pool(1) as reader, thread_pool(self.threads) as pool:
            following = reader.submit(arranged, 0)
            for tile in range(block_map.tiles):
                codes = following.result()
                if tile + 1 < block_map.tiles:
                    following = reader.submit(arranged, tile + 1)
                for first in range(0, len(codes), step):
                    some = codes[first : first + step]
                    pending.append(pool.submit(self._pack, side, some, compressor))
                    if len(pending) >= _PER_THREAD * self.threads:
                        yield from pending.popleft().result()
            while pending:
                yield from pending.popleft().result()

    def _tile(self, block_map: BlockMap, side: int, tile: int) -> Codes:
        """Return a tile's codes in the order of its `runs`; valid until `source` runs again."""
        runs = block_map.runs(tile)
        if len(runs) == 1:
            return self._run(side, *runs[0])
        codes = np.empty(sum(count for _, count in runs), self.dtypes[side])
        at = 0
        for first, count in runs:
            codes[at : at + count] = self._run(side, first, count)
            at += count
        return codes

    def _run(self, side: int, first: int, count: int) -> Codes:
        codes, dtype = self.source(side, first, count), self.dtypes[side]
        if codes.dtype != dtype or codes.shape != (count,):
            raise ValueError(f"the source gave {codes.dtype} {codes.shape}, not {dtype} ({count},)")
        return codes

    def _pack(self, side: int, codes: Codes, compressor: Compressor) -> list[PackedBlock]:
        """Cut codes in file order into blocks, and pack them; called from any thread."""
        codec, blocks = self.spec.codec, []
        for first in range(0, len(codes), self.packing.block_slots):
            some = codes[first : first + self.packing.block_slots]
            content = self.encoders[side](some, codec.draw)
            if len(content) > MAX_BLOCK_BYTES:
                raise _BlockTooLargeError
            store = compressor.compress
            if codec.may_be_plain:
                store = partial(self._shorter, compressor, codec.max_content(some.size))
            blocks.append(PackedBlock.of(content, codec, store))
        return blocks

    def _shorter(self, compressor: Compressor, plain: int, content: bytes) -> bytes:
        """Return the compressed bytes, if allowed and fewer than `plain`, else the content.

        By the size `plain` readers recognise uncompressed blocks.
        """
        data = content if self.packing.uncompressed else compressor.compress(content)
        return data if len(data) < plain else content


def _complete(
    file: BinaryIO, header: Header[Spec], entries: list[tuple[int, int]], text: bytes,
    compression: Parameters,
) -> Header[Spec]:  # fmt: skip
    """Write the block table and the metadata, and then the header at the file's beginning.

    file : positioned behind the blocks
    header : its fields about the block table and the metadata are replaced
    entries : the entries of the block table (`PackedBlock.entry`)
    text : JSON of the metadata

    Returns the header that was written.
    """
    metadata = Compressor(compression).compress(text)
    block_table = np.array(entries, "<u4").tobytes()
    header = replace(
        header,
        table_offset=file.tell(),
        metadata_length=len(metadata),
        metadata_checksum=zlib.crc32(metadata),
    )
    file.write(block_table)
    file.write(metadata)
    file.seek(0)
    file.write(header.pack(block_table))
    return header


def pack_densely(
    file: TableFile, *, threads: int = 1, report: Callable[[int, int], object] | None = None
) -> int:
    """Replace a table's file by one with denser compression, and return its size in bytes.

    report : called as report(blocks done, all blocks)

    The bytes do not depend on `threads`. `file` is closed before it is replaced, since Windows
    replaces no open file. The new file has another modification time than its certificate, so
    `proofs` reads it whole. Raises `CorruptTableError`, `OSError` and `MemoryError`
    (`thread_pool`); the file on disk is then unchanged.
    """
    with replacing(file.path) as out:
        out.write(bytes(HEADER_BYTES))
        entries: list[tuple[int, int]] = []
        digests: list[bytes] = []
        for blocks in _packed(file, threads):
            out.writelines(block.data for block in blocks)
            entries += [block.entry for block in blocks]
            digests += [block.digest for block in blocks]
            if report is not None:
                report(len(digests), sum(file.header.blocks))
        file.check_digest(digests)
        header = _complete(out, file.header, entries, file.metadata(), DENSE)
        file.close()
    return header.file_size


def is_dense(file: TableFile) -> bool:
    """Return whether `pack_densely` has written a table: its statistics are compressed so.

    Of 434 tables, none had statistics that `FAST` compresses to the same bytes.
    """
    metadata, header = Compressor(DENSE).compress(file.metadata()), file.header
    found = len(metadata), zlib.crc32(metadata)
    return found == (header.metadata_length, header.metadata_checksum)


def _packed(file: TableFile, threads: int) -> Iterator[list[PackedBlock]]:
    """Yield all blocks of a file, compressed with `DENSE`, in order, as lists of a few blocks."""
    blocks = sum(file.header.blocks)
    codec, compressor = file.header.spec.codec, Compressor(DENSE)

    def pack(first: int) -> list[PackedBlock]:
        contents = file.contents(first, min(first + _BLOCKS_AT_ONCE, blocks))
        return [PackedBlock.of(each, codec, compressor.compress) for _, each in contents]

    tasks = range(0, blocks, _BLOCKS_AT_ONCE)
    with thread_pool(threads) as pool:
        # Large groups of tasks: threads seldom wait for the slowest.
        for group in range(0, len(tasks), 16 * threads):
            yield from pool.map(pack, tasks[group : group + 16 * threads])
