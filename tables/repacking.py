"""Recompression of a finished table to a smaller file, for archives and downloads.

    block, unpacked  ->  its digest, and packed with `DENSE`  ->  the same table in a smaller file

Builds compress fast (`writer.py`), since most tables are read where they are built. The contents
and the digest of a file do not depend on its compression. Blocks keep their slots and order.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace

from tbgen.system.threads import thread_pool
from tbgen.tables.blocks import DENSE, Compressor
from tbgen.tables.files import replacing
from tbgen.tables.header import HEADER_BYTES
from tbgen.tables.reader import TableFile
from tbgen.tables.writer import PackedBlock, complete_file

_BLOCKS_PER_TASK = 8


def pack_densely(
    file: TableFile, *, threads: int = 1, report: Callable[[int, int], object] | None = None
) -> int:
    """Replace a table's file by a smaller one, and return its size in bytes.

    threads : number of blocks packed at once; the bytes do not depend on it
    report : called as report(blocks done, all blocks)

    `file` keeps the old file open. Raises `CorruptTableError` for a damaged table, and `OSError`;
    on both the old file stays.
    """
    header = file.header
    with replacing(file.path) as out:
        out.write(bytes(HEADER_BYTES))
        entries: list[tuple[int, int]] = []
        digests: list[bytes] = []
        for blocks in _packed(file, threads):
            out.writelines(block.data for block in blocks)
            entries += [block.entry for block in blocks]
            digests += [block.digest for block in blocks]
            if report is not None:
                report(len(digests), sum(header.blocks))
        file.check_digest(digests)
        table_offset = out.tell()
        metadata = Compressor(DENSE).compress(file.metadata())
        packed = replace(
            header,
            table_offset=table_offset,
            metadata_length=len(metadata),
            metadata_checksum=zlib.crc32(metadata),
        )
        complete_file(out, packed, entries, metadata)
        return packed.file_size


def _packed(file: TableFile, threads: int) -> Iterator[list[PackedBlock]]:
    """Yield the recompressed blocks of a file in lists, in order; few are in memory at a time."""
    blocks = sum(file.header.blocks)
    codec, compressor = file.header.spec.codec, Compressor(DENSE)

    def pack(first: int) -> list[PackedBlock]:
        contents = file.contents(first, min(first + _BLOCKS_PER_TASK, blocks))
        return [PackedBlock.of(each, codec, compressor.compress) for _, each in contents]

    tasks = range(0, blocks, _BLOCKS_PER_TASK)
    with thread_pool(threads) as pool:
        # Large groups of tasks: threads seldom wait for the slowest.
        for group in range(0, len(tasks), 16 * threads):
            yield from pool.map(pack, tasks[group : group + 16 * threads])
