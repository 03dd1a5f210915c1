"""Small tables for the tests: random planes of real materials, written and read back.

A plane has the code (number of a value) of each slot for one side to move, 0 for no position.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from tbgen.indexing import Material
from tbgen.indexing.arrangement import Arrangement, possible_arrangements
from tbgen.indexing.layout import Layout
from tbgen.tables import (
    CodeSpace,
    Metric,
    Rules,
    RuleSet,
    TableFile,
    TableName,
    TableStatistics,
    WdlFile,
)
from tbgen.tables.blocks import BLOCK_SLOTS
from tbgen.tables.codes import LONG_SPAN
from tbgen.tables.header import _HEADER, HEADER_BYTES, Header, TableSpec
from tbgen.tables.writer import Packing, write_table

Planes = tuple[NDArray[Any], NDArray[Any]]


def spec_of(
    material: str,
    width: int = 1,
    rules: Rules = Rules.NONE,
    metric: Metric = Metric.DTM,
    orders: int | None = None,
    *,
    minor_chases: bool = True,
) -> TableSpec:
    """Return the specification of a table: its name, and its codes of `width` bytes.

    Codes of four bytes have room for longer distances, `LONG_SPAN`. `rules`, `orders` and
    `minor_chases` make the rule set.
    """
    codes = CodeSpace(width, LONG_SPAN) if width == 4 else CodeSpace(width)
    name = TableName(Material.parse(material), RuleSet(rules, orders, minor_chases), metric)
    return TableSpec(name, codes)


def random_planes(spec: TableSpec, seed: int, distinct: int = 20, empty: float = 0.4) -> Planes:
    """Return random planes of a table, with Red and with Black to move.

    distinct : maximum number of different codes; each occurs in short runs
    empty : share of the slots that have no position
    """
    rng = np.random.default_rng(seed)
    dtype = f"u{spec.codes.width}"
    # Only codes with a value: losses, the draw, wins of the existing orders.
    per_outcome = (spec.codes.max_order + 1) * spec.codes.span
    losses = rng.integers(1, per_outcome + 1, distinct)
    choice = np.concatenate([losses, spec.codes.top - losses + 1, [spec.codes.draw]])
    choice = rng.permutation(choice)[:distinct]
    red, black = (
        np.where(
            rng.random(spec.slots) < empty,
            0,
            np.repeat(rng.choice(choice, spec.slots), rng.integers(1, 9, spec.slots))[: spec.slots],
        ).astype(dtype)
        for _ in range(2)
    )
    return red, black


def source_of(planes: Planes) -> Callable[[int, int, int], NDArray[Any]]:
    """Return the function (side, first slot, count) with which `write_table` reads these planes."""
    return lambda side, first, count: planes[side][first : first + count]


def statistics_of(spec: TableSpec, planes: Planes) -> TableStatistics:
    """Return statistics that count every slot with a code as a legal position."""
    histograms = []
    for plane in planes:
        codes, counts = np.unique(plane, return_counts=True)
        histograms.append(dict(zip(codes.tolist(), counts.tolist(), strict=True)))
    return TableStatistics.from_histograms(spec.name, spec.codes, spec.slots, histograms, {})


def write(
    directory: Path,
    spec: TableSpec,
    planes: Planes,
    *,
    threads: int = 1,
    block_slots: int | None = None,
    arrangements: tuple[Arrangement, Arrangement] | None = None,
) -> Path:
    """Write planes to a table file under the standard name, and return the path.

    block_slots : slots per block; if given, slots are stored in index order by default
    arrangements : orders of the stored slots with Red and with Black to move
    """
    path = directory / spec.name.filename
    if arrangements is None and block_slots is not None:
        layout = Layout.of(spec.name.material)
        as_indexed = possible_arrangements(layout, layout.slots)[0]
        arrangements = as_indexed, as_indexed
    header = write_table(
        path,
        spec,
        source_of(planes),
        lambda: statistics_of(spec, planes),
        threads=threads,
        packing=Packing(block_slots=block_slots or BLOCK_SLOTS),
        arrangements=arrangements,
    )
    assert isinstance(header, Header)
    return path


def some_arrangements(layout: Layout, seed: int) -> tuple[Arrangement, Arrangement]:
    """Return random arrangements (orders of the stored slots) with Red and with Black to move.

    The first one sorts the leads, placements of all defenders, by Black's defenders first.
    """
    rng = np.random.default_rng(seed)
    tile_leads = int(rng.integers(1, layout.leads + 1))
    red, black = (tuple(rng.permutation(len(layout.groups) + 2).tolist()) for _ in range(2))
    return Arrangement(tile_leads, red, True), Arrangement(tile_leads, black, False)


def agrees(stored: NDArray[Any], plane: NDArray[Any]) -> bool:
    """Return whether a plane read from a file equals the written one, except in empty slots."""
    return stored.dtype == plane.dtype and bool(((stored == plane) | (plane == 0)).all())


def check_tiles(file: TableFile | WdlFile) -> None:
    """Check the codes and digests that a file gives when it is read tile by tile (in parts).

    The function that numbers the codes must get all codes that occur, and no code twice in a call.
    The digests must be those of the contents.
    """
    asked: list[int] = []

    def numbers_of(codes: NDArray[Any]) -> NDArray[np.int64]:
        assert len(set(codes.tolist())) == len(codes)
        asked.extend(codes.tolist())
        return codes.astype(np.int64) * 3 + 1

    digests = [b""] * sum(file.header.blocks)
    for side in range(2):
        plane = file.plane(side)
        for number in range(file.tiles(side)):
            for first, numbers in file.tile(side, number, numbers_of, digests):
                there = plane[first : first + len(numbers)]
                assert (numbers == there.astype(np.int64) * 3 + 1).all()
                assert set(there.tolist()) <= set(asked)
    file.check_digest(digests)


def with_valid_checksum(data: bytes) -> bytes:
    """Return a table file's bytes with the header's checksum corrected, as a forger would."""
    table_offset, metadata_offset = struct.unpack_from("<QQ", data, 64)
    table = data[table_offset:metadata_offset] if table_offset <= metadata_offset else b""
    checksum = zlib.crc32(table, zlib.crc32(data[: HEADER_BYTES - 4]))
    return data[: HEADER_BYTES - 4] + checksum.to_bytes(4, "little") + data[HEADER_BYTES:]


def with_statistics(data: bytes, text: bytes, after: bytes = b"") -> bytes:
    """Return a table file's bytes with the statistics replaced by another text, as a forger would.

    after : bytes after the frame of the statistics

    Sizes and checksums fit; the digest stays that of the old contents.
    """
    fields = list(_HEADER.unpack(data[:HEADER_BYTES]))
    metadata = zstandard.ZstdCompressor(level=1).compress(text) + after
    fields[9], fields[17] = zlib.crc32(metadata), len(metadata)
    return with_valid_checksum(_HEADER.pack(*fields) + data[HEADER_BYTES : fields[16]] + metadata)
