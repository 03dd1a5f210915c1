"""Writing a table: planes of codes in, one file out, or none.

    source(side, first, count)  ->  fill  ->  block  ->  zstd  ->  file      in slot order
    calling thread                  worker threads              calling thread

The file is written under a temporary name beside its own, synced and renamed, so that a table
file is always whole. A few blocks per thread are on their way at any time, whatever the size of
the table, and the bytes do not depend on the number of threads.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import zstandard

from tbgen.tables.blocks import (
    Codes,
    code_dtype,
    constant_code,
    encode_block,
    fill,
)
from tbgen.tables.header import (
    HEADER_BYTES,
    MAX_BLOCK_SLOTS,
    MAX_METADATA,
    SIDES,
    Header,
    TableSpec,
    default_block_slots,
)
from tbgen.tables.statistics import TableStatistics

Source = Callable[[int, int, int], Codes]
"""`source(side, first, count)`: the codes of slots first to first + count - 1, Red to move (side
0) or Black to move (1); uint8, uint16 or uint32 as the table's codes; 0 where a slot holds no
position. Called from the thread that writes, side by side and in slot order."""

Progress = Callable[[int, int], None]
"""`progress(done, total)`, in blocks, from the thread that writes."""

LEVEL = 9
"""The zstd level: level 15 takes eight times as long for a sixth less (docs/format.md)."""

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


class _Packer:
    """Fills, encodes and compresses blocks, on any thread."""

    def __init__(self, draw: int) -> None:
        self._draw = draw
        self._local = threading.local()

    def pack(self, codes: Codes) -> _Packed:
        """The block of these codes."""
        content = encode_block(fill(codes, self._draw))
        constant = constant_code(content, codes.dtype.itemsize)
        data = b"" if constant is not None else self._own_compressor().compress(content)
        return _Packed(data, hashlib.sha256(content).digest(), constant)

    def _own_compressor(self) -> zstandard.ZstdCompressor:
        """This thread's compressor: one cannot be shared."""
        if not hasattr(self._local, "compressor"):
            self._local.compressor = _compressor()
        return self._local.compressor


def _compressor() -> zstandard.ZstdCompressor:
    """A compressor; frames tell their size, and the checksums are ours."""
    return zstandard.ZstdCompressor(level=LEVEL, write_content_size=True, write_checksum=False)


def write_table(
    path: Path,
    spec: TableSpec,
    source: Source,
    statistics: TableStatistics,
    *,
    threads: int = 1,
    block_slots: int | None = None,
    progress: Progress | None = None,
) -> Header:
    """Write a table file, and return its header.

    `path` is as a rule `directory / spec.name.filename`. `block_slots` (at most 65536) is for
    experiments. Raises `ValueError` for codes of another width, and passes on whatever `source`
    and `progress` raise, and `OSError` (no space, no permission); in all these cases nothing is
    left behind, and a file that was there before stays as it was.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            header = _write(file, spec, source, statistics, threads, block_slots, progress)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    _sync_directory(path.parent)
    return header


def _write(
    file: BinaryIO,
    spec: TableSpec,
    source: Source,
    statistics: TableStatistics,
    threads: int,
    block_slots: int | None,
    progress: Progress | None,
) -> Header:
    """Blocks, block table and metadata; then the header, which tells where they are."""
    slots, width = spec.slots, spec.codes.width
    block_slots = block_slots or default_block_slots(width)
    if not 1 <= block_slots <= MAX_BLOCK_SLOTS:
        raise ValueError(f"{block_slots} slots per block, not 1 to {MAX_BLOCK_SLOTS}")
    text = json.dumps(statistics.to_json(), sort_keys=True, separators=(",", ":")).encode("ascii")
    if len(text) > MAX_METADATA:
        raise ValueError(f"statistics of {len(text)} bytes, more than {MAX_METADATA}")
    metadata = _compressor().compress(text)
    file.write(bytes(HEADER_BYTES))
    table_offset = HEADER_BYTES
    entries: list[list[tuple[int, int]]] = []
    digests: list[list[bytes]] = []
    constants = [0, 0]
    per_side = -(-slots // block_slots)
    for side in range(SIDES):
        entries.append([])
        digests.append([])
        values: set[int | None] = set()
        for block in _packed(spec, source, side, block_slots, threads):
            file.write(block.data)
            table_offset += len(block.data)
            entries[side].append(block.entry)
            digests[side].append(block.digest)
            values.add(block.constant)
            if progress is not None:
                progress(side * per_side + len(entries[side]), SIDES * per_side)
        only = values.pop() if len(values) == 1 else None
        if only is not None:
            constants[side] = only
            entries[side] = []
            digests[side] = digests[side][:1]
    block_table = np.array(entries[0] + entries[1], "<u4").tobytes()
    header = Header(
        spec=spec,
        slots=slots,
        block_slots=block_slots,
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


def _packed(
    spec: TableSpec, source: Source, side: int, block_slots: int, threads: int
) -> Iterator[_Packed]:
    """The blocks of one side, in order, with a bounded number of them on their way."""
    dtype = code_dtype(spec.codes.width)
    packer = _Packer(spec.codes.draw)
    pending: deque[Future[_Packed]] = deque()
    with ThreadPoolExecutor(max_workers=threads) as pool:
        for first in range(0, spec.slots, block_slots):
            count = min(block_slots, spec.slots - first)
            codes = source(side, first, count)
            if codes.dtype != dtype or codes.shape != (count,):
                raise ValueError(
                    f"the source gave {codes.dtype} {codes.shape}, not {dtype} ({count},)"
                )
            # A copy: the source may hand out the same array again.
            pending.append(pool.submit(packer.pack, codes.copy()))
            if len(pending) >= _BLOCKS_PER_THREAD * threads:
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
