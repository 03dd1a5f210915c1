"""Reader of win-draw-loss files, whose blocks contain outcomes; settings to write such files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from tbgen.tables import checked_json
from tbgen.tables.blockfile import BlockFile
from tbgen.tables.blocks import SMALLEST, Codes
from tbgen.tables.codes import Outcome
from tbgen.tables.errors import CorruptTableError
from tbgen.tables.header import WdlSpec
from tbgen.tables.names import TableName, WdlName
from tbgen.tables.outcomes import DRAW, OUTCOMES, SLOTS_PER_BYTE, digits_at
from tbgen.tables.statistics import FileStatistics, TableStatistics
from tbgen.tables.writer import Packing

WDL_BLOCK_SLOTS = 81_000
"""Slots per block, 900 rows of ninety squares: 16,200 bytes, unpacked in 30 microseconds."""

PACKED = Packing(
    block_slots=WDL_BLOCK_SLOTS, tile_slots=256 * WDL_BLOCK_SLOTS, compression=SMALLEST
)
"""Settings of compressed files. Tiles are large: only within a tile can slots be reordered."""

PLAIN = replace(PACKED, uncompressed=True)
"""Settings for a win-draw-loss file that is stored uncompressed."""


@dataclass(frozen=True, slots=True)
class SourceTable:
    """The table that a win-draw-loss file was derived from: its file name and digest."""

    file: Annotated[str, checked_json.string(TableName.parse, "no name of a table")]
    digest: Annotated[str, checked_json.DIGEST]


@dataclass(frozen=True)
class WdlStatistics(FileStatistics):
    """Metadata of a win-draw-loss file: counts, and the table that it was derived from."""

    metric: Annotated[str, checked_json.one_of(["wdl"])]
    source: SourceTable

    @classmethod
    def of_table(cls, name: TableName, statistics: TableStatistics, digest: bytes) -> WdlStatistics:
        """Return the metadata of the file that is derived from a table with this `digest`."""
        return cls(
            statistics.material, statistics.rules, "wdl", statistics.orders_limit,
            statistics.index_size, statistics.red_to_move, statistics.black_to_move,
            SourceTable(name.filename, digest.hex()),
        )  # fmt: skip


class WdlFile(BlockFile[WdlSpec]):
    """An open win-draw-loss file; safe to use from several threads (`BlockFile`).

    Codes are those of `outcomes.py`: 1 loss, 2 draw, 3 win, for the side to move.
    """

    _kind = WdlSpec

    _held: tuple[NDArray[np.uint8] | None, NDArray[np.uint8] | None] | None = None

    @property
    def held_bytes(self) -> int:
        """Bytes that `hold` takes: whole blocks, five slots a byte."""
        return sum(self.header.blocks) * self._block_bytes

    @property
    def is_held(self) -> bool:
        """True if all blocks are in memory, decompressed by `hold`."""
        return self._held is not None

    @property
    def _block_bytes(self) -> int:
        return self._codec.max_content(self.header.block_slots)

    def hold(self) -> None:
        """Decompress all blocks, and keep them in memory for `codes` until the file is closed."""
        red, black = self.header.blocks
        self._held = self._unpacked(0, red), self._unpacked(red, black)

    def _unpacked(self, first: int, count: int) -> NDArray[np.uint8] | None:
        """Return `count` blocks from number `first` on, each in `_block_bytes`, uint8 (bytes,)."""
        if not count:
            return None
        data = np.zeros((count, self._block_bytes), np.uint8)
        for number, content in self.contents(first, first + count):
            slots = self._slots_in(number)
            block = OUTCOMES.block(content, slots)
            block.write_packed(data[number - first, : OUTCOMES.max_content(slots)])
        return data.ravel()

    def codes(self, side: int, slots: NDArray[np.int64]) -> Codes:
        """Return the outcome codes (n,) of slots (n,): 1 loss, 2 draw, 3 win."""
        held = None if self._held is None else self._held[side]
        slots = np.asarray(slots, np.int64)
        if held is None or slots.size == 0:
            return super().codes(side, slots)
        if not 0 <= int(slots.min()) <= int(slots.max()) < self.header.slots:
            raise IndexError(f"slots beyond {self.header.slots}")
        blocks, indices = self._maps[side].locate_all(slots)
        return digits_at(held, blocks * (self._block_bytes * SLOTS_PER_BYTE) + indices)

    def close(self) -> None:
        """Close the file, and drop its blocks from the cache and from memory."""
        super().close()
        self._held = None

    def outcome(self, side: int, slot: int) -> Outcome:
        """Return the outcome of a slot for the side to move, 0 (Red) or 1 (Black).

        The outcome is arbitrary if the slot has no legal position.
        """
        return Outcome(self.code(side, slot) - DRAW)

    @property
    def is_plain(self) -> bool | None:
        """True if all blocks with bytes are uncompressed; None if each block has one outcome."""
        plain = [
            length == OUTCOMES.max_content(self._slots_in(number))
            for number, length in enumerate(self._entries[:, 0].tolist())
            if length
        ]
        return all(plain) if plain else None

    @cached_property
    def statistics(self) -> WdlStatistics:
        """Counts, and the table that the file was derived from; raises `CorruptTableError`."""
        statistics = self._read_statistics(WdlStatistics)
        name = TableName.parse(statistics.source.file)
        if name is None or WdlName.of(name) != self.header.spec.name:
            raise CorruptTableError(self.path, "it was derived from another table")
        return statistics

    def check(self, *, threads: int = 1) -> None:
        """Read the whole file, and verify every checksum, block, digest and the metadata."""
        super().check(threads=threads)
        _ = self.statistics
