"""Writing a table: planes of codes in, one file out, or none.

    source(side, first, count)  ->  tile, arranged  ->  fill  ->  block  ->  zstd  ->  file
    calling thread                                      worker threads             calling thread

Of all arrangements of the slots, each side gets the one in which a sample of its tiles is
smallest. The file is written under a temporary name beside its own, synced and renamed, so that a
table file is always whole. One tile and a few blocks per thread are in memory at any time, and
the bytes do not depend on the number of threads.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import threading
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import zstandard

from tbgen.indexing.arrangement import Arrangement, BlockMap, possible_arrangements
from tbgen.indexing.layout import Layout
from tbgen.tables.blocks import (
    BLOCK_SLOTS,
    MAX_BLOCK_BYTES,
    Codes,
    code_dtype,
    constant_code,
    encode_block,
    fill,
    safe_slots,
)
from tbgen.tables.header import HEADER_BYTES, MAX_METADATA, SIDES, Header, TableSpec
from tbgen.tables.statistics import TableStatistics

Source = Callable[[int, int, int], Codes]
"""`source(side, first, count)`: the codes of slots first to first + count - 1, Red to move (side
0) or Black to move (1); uint8, uint16 or uint32 as the table's codes; 0 where a slot holds no
position. Called from the thread that writes, for runs of whole leads, in any order: those of the
sample first, then side by side in the order of the arrangement."""

Progress = Callable[[int, int], None]
"""`progress(done, total)`, in blocks, from the thread that writes."""

COMPRESSION = zstandard.ZstdCompressionParameters(
    window_log=16,
    hash_log=15,
    chain_log=15,
    search_log=1,
    min_match=3,
    target_length=32,
    strategy=zstandard.STRATEGY_BTOPT,
    write_content_size=True,
    write_checksum=False,
)
"""An optimal parse that looks at few matches: a twelfth smaller than level 9, and a third of the
time of level 15 (docs/format.md). Frames tell their size, and the checksums are ours."""

TILE_SLOTS = 4 * BLOCK_SLOTS
"""The size of a tile, unless one lead is more."""

_SAMPLE_LEVEL = 3
_SAMPLE_BLOCKS = 48  # of each side
_SAMPLE_TILES = 6  # at least, each with at most so many blocks:
_SAMPLE_BLOCKS_PER_TILE = 12

_BLOCKS_PER_THREAD = 4


class _Packed(NamedTuple):
    """A block ready for the file; no data where it has one value only."""

    data: bytes
    digest: bytes
    constant: int | None

    @property
    def entry(self) -> tuple[int, int]:
        """Its entry in the block table."""
        if self.constant is not None:
            return 0, self.constant
        return len(self.data), zlib.crc32(self.data)


class _BlockTooLargeError(Exception):
    """So many different codes that the blocks must have fewer slots."""


class _Packer:
    """Fills, encodes and compresses blocks, on any thread."""

    def __init__(self, draw: int) -> None:
        self._draw = draw
        self._local = threading.local()

    def pack(self, codes: Codes) -> _Packed:
        """The block of these codes."""
        content = encode_block(fill(codes, self._draw))
        if len(content) > MAX_BLOCK_BYTES:
            raise _BlockTooLargeError
        constant = constant_code(content, codes.dtype.itemsize)
        data = b"" if constant is not None else self._own_compressor().compress(content)
        return _Packed(data, hashlib.sha256(content).digest(), constant)

    def _own_compressor(self) -> zstandard.ZstdCompressor:
        """This thread's compressor: one cannot be shared."""
        if not hasattr(self._local, "compressor"):
            self._local.compressor = _compressor()
        return self._local.compressor


def _compressor() -> zstandard.ZstdCompressor:
    """A compressor for files."""
    return zstandard.ZstdCompressor(compression_params=COMPRESSION)


def write_table(
    path: Path,
    spec: TableSpec,
    source: Source,
    statistics: TableStatistics,
    *,
    threads: int = 1,
    block_slots: int = BLOCK_SLOTS,
    arrangements: tuple[Arrangement, Arrangement] | None = None,
    progress: Progress | None = None,
) -> Header:
    """Write a table file, and return its header.

    `path` is as a rule `directory / spec.name.filename`. `block_slots` (at most 65536) and
    `arrangements` (None: the best) are for experiments; blocks of so many different codes that
    one exceeds 64 KiB get fewer slots. Raises `ValueError` for codes of another width, and passes
    on whatever `source` and `progress` raise, and `OSError` (no space, no permission); in all
    these cases nothing is left behind, and a file that was there before stays as it was.
    """
    if not 1 <= block_slots <= MAX_BLOCK_BYTES:
        raise ValueError(f"{block_slots} slots per block, not 1 to {MAX_BLOCK_BYTES}")
    layout = Layout.of(spec.name.material)
    read = _CheckedSource(spec, source)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            if arrangements is None:
                arrangements = (
                    choose_arrangement(layout, read, 0, spec.codes.draw, block_slots),
                    choose_arrangement(layout, read, 1, spec.codes.draw, block_slots),
                )
            job = _Job(spec, layout, arrangements, block_slots, read, statistics, threads, progress)
            try:
                header = _write(file, job)
            except _BlockTooLargeError:
                file.seek(0)
                file.truncate()
                header = _write(file, replace(job, block_slots=safe_slots(spec.codes.width)))
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    _sync_directory(path.parent)
    return header


class _CheckedSource:
    """A source, its codes checked, asked for tiles."""

    def __init__(self, spec: TableSpec, source: Source) -> None:
        self._dtype = code_dtype(spec.codes.width)
        self._source = source

    def tile(self, block_map: BlockMap, side: int, tile: int) -> Codes:
        """The codes of a tile in the order of its leads, until the source is asked again.

        Raises `ValueError` for codes of another width or number.
        """
        runs = block_map.runs(tile)
        if len(runs) == 1:
            return self._run(side, *runs[0])
        codes = np.empty(sum(count for _, count in runs), self._dtype)
        at = 0
        for first, count in runs:
            codes[at : at + count] = self._run(side, first, count)
            at += count
        return codes

    def _run(self, side: int, first: int, count: int) -> Codes:
        codes = self._source(side, first, count)
        if codes.dtype != self._dtype or codes.shape != (count,):
            raise ValueError(
                f"the source gave {codes.dtype} {codes.shape}, not {self._dtype} ({count},)"
            )
        return codes


def choose_arrangement(
    layout: Layout, read: _CheckedSource, side: int, draw: int, block_slots: int
) -> Arrangement:
    """The arrangement in which a sample of a side, spread evenly, is smallest.

    The tiles of the two orders of the leads do not hold the same leads, and leads differ more
    than arrangements do: sizes count in proportion to those of the sampled leads, each by itself.
    The sample is the same for every number of threads, and so is the choice.
    """
    compressor = zstandard.ZstdCompressor(level=_SAMPLE_LEVEL)

    def packed_size(codes: Codes) -> int:
        return len(compressor.compress(encode_block(fill(codes, draw))))

    best, best_size = Arrangement.of_slots(layout), math.inf
    candidates = possible_arrangements(layout, TILE_SLOTS)
    for by_black in (False, True):
        maps = [
            BlockMap(layout, each, block_slots) for each in candidates if each.by_black == by_black
        ]
        if not maps:
            continue
        sizes, alone = [0] * len(maps), 0
        count = max(_SAMPLE_TILES, _SAMPLE_BLOCKS // maps[0].blocks_per_tile)
        for tile in _evenly(maps[0].tiles, count):
            codes = read.tile(maps[0], side, tile)
            for lead in codes.reshape(-1, maps[0].lead_slots):
                alone += packed_size(lead[:block_slots])
            blocks = _evenly(len(maps[0].blocks_of(tile)), _SAMPLE_BLOCKS_PER_TILE)
            for number, block_map in enumerate(maps):
                arranged = block_map.arrange(tile, codes)
                for block in blocks:
                    part = arranged[block * block_slots : (block + 1) * block_slots]
                    sizes[number] += packed_size(part)
        number = sizes.index(min(sizes))
        if sizes[number] / alone < best_size:
            best, best_size = maps[number].arrangement, sizes[number] / alone
    return best


def _evenly(total: int, wanted: int) -> list[int]:
    """At most `wanted` numbers below `total`, evenly spread."""
    count = min(total, wanted)
    return [(2 * n + 1) * total // (2 * count) for n in range(count)]


@dataclass(frozen=True)
class _Job:
    """What is to be written, and how."""

    spec: TableSpec
    layout: Layout
    arrangements: tuple[Arrangement, Arrangement]
    block_slots: int
    read: _CheckedSource
    statistics: TableStatistics
    threads: int
    progress: Progress | None


def _write(file: BinaryIO, job: _Job) -> Header:
    """Blocks, block table and metadata; then the header, which tells where they are."""
    text = json.dumps(job.statistics.to_json(), sort_keys=True, separators=(",", ":")).encode(
        "ascii"
    )
    if len(text) > MAX_METADATA:
        raise ValueError(f"statistics of {len(text)} bytes, more than {MAX_METADATA}")
    metadata = _compressor().compress(text)
    file.write(bytes(HEADER_BYTES))
    table_offset = HEADER_BYTES
    entries: list[list[tuple[int, int]]] = []
    digests: list[list[bytes]] = []
    constants = [0, 0]
    maps = [BlockMap(job.layout, each, job.block_slots) for each in job.arrangements]
    for side, block_map in enumerate(maps):
        entries.append([])
        digests.append([])
        values: set[int | None] = set()
        for block in _packed(job, block_map, side):
            file.write(block.data)
            table_offset += len(block.data)
            entries[side].append(block.entry)
            digests[side].append(block.digest)
            values.add(block.constant)
            if job.progress is not None:
                done = side * maps[0].blocks + len(entries[side])
                job.progress(done, SIDES * block_map.blocks)
        only = values.pop() if len(values) == 1 else None
        if only is not None:
            constants[side] = only
            entries[side] = []
            digests[side] = digests[side][:1]
    block_table = np.array(entries[0] + entries[1], "<u4").tobytes()
    header = Header(
        spec=job.spec,
        slots=job.spec.slots,
        block_slots=job.block_slots,
        arrangements=job.arrangements,
        blocks=(len(entries[0]), len(entries[1])),
        constants=(constants[0], constants[1]),
        table_offset=table_offset,
        metadata_length=len(metadata),
        metadata_checksum=zlib.crc32(metadata),
        digest=b"",
    )
    header = replace(header, digest=header.content_digest(digests, text))
    file.write(block_table)
    file.write(metadata)
    file.seek(0)
    file.write(header.pack(block_table))
    return header


def _packed(job: _Job, block_map: BlockMap, side: int) -> Iterator[_Packed]:
    """The blocks of one side, in order, with a bounded number of them on their way."""
    packer = _Packer(job.spec.codes.draw)
    pending: deque[Future[_Packed]] = deque()
    with ThreadPoolExecutor(max_workers=job.threads) as pool:
        for tile in range(block_map.tiles):
            codes = block_map.arrange(tile, job.read.tile(block_map, side, tile))
            for first in range(0, len(codes), block_map.block_slots):
                part = codes[first : first + block_map.block_slots]
                pending.append(pool.submit(packer.pack, part))
                if len(pending) >= _BLOCKS_PER_THREAD * job.threads:
                    yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


def _sync_directory(directory: Path) -> None:
    """Make the renaming last through a power cut."""
    # Some network file systems refuse; the file is whole all the same.
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
