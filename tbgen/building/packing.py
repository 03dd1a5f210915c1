"""Packing: the win-draw-loss file of a finished table (DTM or DTC); and digests of values.

    table  ->  outcomes, 0 for slots without a position  ->  counted  ->  NAME.RULES.wdl.xqt

A file gets its name when complete (`tables/files.py`). One side of the table is in memory at a
time, with one byte for each slot, besides the blocks that are being compressed.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tbgen.building.work import finished_table
from tbgen.indexing import Material
from tbgen.indexing.material import needed_materials
from tbgen.tables.errors import CorruptTableError, MissingTableError, TablebaseError
from tbgen.tables.header import WdlSpec
from tbgen.tables.names import TableName, WdlName
from tbgen.tables.outcomes import DRAW, LOSS, WIN
from tbgen.tables.reader import TableFile
from tbgen.tables.rule_sets import RuleSet
from tbgen.tables.statistics import SideCounts
from tbgen.tables.wdl import PACKED, PLAIN, WdlFile, WdlStatistics
from tbgen.tables.writer import write_table


class Packed(NamedTuple):
    """A win-draw-loss file, and the table from which it was derived; sizes are bytes of files."""

    name: WdlName
    size: int
    source: TableName
    source_size: int
    kept: bool
    """True if an existing file was kept, and nothing was written."""


def pack_table(
    file: TableFile,
    directory: Path,
    *,
    threads: int = 1,
    plain: bool | None = False,
    force: bool = False,
) -> Packed:
    """Write the win-draw-loss file of a table into a directory, unless a current one exists.

    A current file was derived from this table, and stores its blocks, if any, as `plain` requires.

    plain : store the blocks uncompressed, for memory mapping; None compresses them, but accepts a
        current file of either kind
    force : replace even a current file

    Raises `OSError`, the errors of reading the table, and `CorruptTableError` for wrong statistics.
    """
    source, name = file.header.spec.name, WdlName.of(file.header.spec.name)
    path = directory / name.filename
    if not force and _is_current(path, name, file, plain):
        return Packed(name, path.stat().st_size, source, file.header.file_size, True)
    # Load kernels only if the table must be packed.
    from tbgen.retrograde.outcomes import OutcomePlanes, encode

    statistics = file.statistics
    planes = OutcomePlanes(file, threads)
    counted = {}

    def codes_from(side: int, first: int, count: int) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
        if side not in counted:
            counted[side] = _counts(planes.plane(side))
            stored = (statistics.red_to_move, statistics.black_to_move)[side]
            if counted[side] != stored:
                raise CorruptTableError(file.path, "the statistics count other positions")
        return planes.plane(side)[first : first + count]

    header = write_table(
        path, WdlSpec(name), codes_from,
        lambda: WdlStatistics.of_table(source, statistics, file.header.digest),
        threads=threads, packing=PLAIN if plain else PACKED, encode=encode,
    )  # fmt: skip
    return Packed(name, header.file_size, source, file.header.file_size, False)


def pack_closure(
    directory: Path, materials: Iterable[Material], rule_set: RuleSet, *, threads: int = 1
) -> None:
    """Write the win-draw-loss files of the tables of materials and of their supporting tables.

    Current files of either kind are kept (`pack_table`). Of tables of both metrics, the DTM table
    is packed. Raises `MissingTableError`, and the errors of opening tables and of `pack_table`.
    """
    for material in needed_materials(materials):
        name = finished_table(directory, material, rule_set)
        if name is None:
            raise MissingTableError(material.name, rule_set)
        with TableFile(directory / name.filename, name=name) as file:
            pack_table(file, directory, threads=threads, plain=None)


def _is_current(path: Path, name: WdlName, file: TableFile, plain: bool | None) -> bool:
    """Return whether a readable file was derived from this table, with blocks as `plain` asks."""
    try:
        with WdlFile(path, name=name) as found:
            return found.statistics.source.digest == file.header.digest.hex() and (
                plain is None or found.is_plain in (None, plain)
            )
    except (OSError, TablebaseError):
        return False


def _counts(plane: np.ndarray[tuple[int], np.dtype[np.uint8]]) -> SideCounts:
    """Return the counts of outcome codes, uint8 (slots,), 0 for slots without a position."""
    totals = np.zeros(WIN + 1, np.int64)
    # In chunks, since `numpy.bincount` makes 64-bit copies.
    for first in range(0, plane.size, 1 << 22):
        totals += np.bincount(plane[first : first + (1 << 22)], minlength=WIN + 1)
    wins, draws, losses = (int(totals[code]) for code in (WIN, DRAW, LOSS))
    return SideCounts(wins + draws + losses, wins, draws, losses)


def digest_of_values(file: TableFile, *, threads: int = 1) -> bytes:
    """Return the digest of a table's values (docs/format.md), 16 bytes.

    Raises the errors of reading, and `LimitExceededError` for orders above 32767.
    """
    from tbgen.retrograde.value_digest import value_digest

    return value_digest(file, file.header.spec.name, threads=threads)


def checked_digest(file: TableFile, *, threads: int = 1) -> bytes:
    """Verify all checksums of a table's file, and return the digest of its values (16 bytes).

    Raises `CorruptTableError`, and the errors of `digest_of_values`.
    """
    file.check(threads=threads)
    return digest_of_values(file, threads=threads)
