"""The header of a table file, and the layout of the rest of the file.

    0                header, 168 bytes, little-endian
    168              blocks, compressed, one after another: Red's side, then Black's
    table_offset     block table: (length, checksum) of every block, 8 bytes each
    metadata_offset  statistics, JSON, compressed, to the end of the file

A *side* is the part with Red, or with Black, to move; it has no blocks if all slots have one code.
`Header.unpack` checks all offsets and lengths against the file's size before memory is allocated.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Generic, Self, TypeVar

from tbgen.indexing import Material
from tbgen.indexing.arrangement import MAX_AXES, Arrangement, BlockMap
from tbgen.indexing.layout import Layout
from tbgen.indexing.rulesets import Rules
from tbgen.tables.blocks import DistanceCodec
from tbgen.tables.codes import LONG_SPAN, CodeSpace
from tbgen.tables.errors import CorruptTableError, FormatVersionError
from tbgen.tables.names import Metric, TableName, WdlName
from tbgen.tables.outcomes import OUTCOMES, OutcomeCodec
from tbgen.tables.rule_sets import RuleSet

MAGIC = b"\x89XQT\r\n\x1a\n"
"""First bytes of a file. As in PNG, a transfer that changes line ends or strips high bits damages
them, so that readers reject the file.
"""

LAST_VERSION = 3
"""Newest format version that this version of the program reads."""

SIDES = 2

_HEADER = struct.Struct(
    "<"
    "8s"  # 0    magic
    "H"  # 8    format version
    "B"  # 10   bytes per code: 1, 2 or 4; 0 in win-draw-loss files
    "B"  # 11   rules
    "B"  # 12   metric
    "x"  # 13   0
    "H"  # 14   options
    "I"  # 16   span: distances per order
    "I"  # 20   limit on orders, 0 = none
    "I"  # 24   slots per block
    "I"  # 28   CRC-32 of the metadata
    "Q"  # 32   slots per side
    "QQ"  # 40   blocks of Red's and of Black's side, 0 = one value everywhere
    "II"  # 56   code of that value, Red's and Black's
    "Q"  # 64   offset of the block table
    "Q"  # 72   offset of the metadata
    "Q"  # 80   length of the metadata
    "16s"  # 88   digest
    "32s"  # 104  material, ASCII, padded with zero bytes
    "I"  # 136  leads per tile
    "B11s"  # 140  Red's side: `Arrangement.by_black`; axes, slowest first, padded with 255
    "B11s"  # 152  Black's side, likewise
    "I"  # 164  CRC-32 of the 164 bytes before, and of the block table
)
HEADER_BYTES = 168
BLOCK_ENTRY_BYTES = 8
MAX_METADATA = 1 << 24
"""Most bytes of JSON text in the unpacked metadata."""
NO_AXIS = b"\xff"
_CHECKSUM_AT = HEADER_BYTES - 4


class _Spec:
    """Base of `TableSpec` and `WdlSpec`: the facts of a file known before its blocks are written.

    `version` is the format version, `codec` encodes blocks. `fields` are three header fields: bytes
    per code, metric, distances per order; `of_fields` returns the specification with these.
    """

    __slots__ = ()

    name: TableName | WdlName

    @property
    def slots(self) -> int:
        """Number of slots of one side, computed from the index of the material."""
        return Layout.of(self.name.material).slots


@dataclass(frozen=True, slots=True)
class TableSpec(_Spec):
    """Name and encoding of a table of distances."""

    name: TableName
    codes: CodeSpace

    version: ClassVar[int] = 2

    @property
    def codec(self) -> DistanceCodec:
        """Conversion between this table's codes and the content of blocks."""
        return DistanceCodec(self.codes.width)

    @property
    def fields(self) -> tuple[int, int, int]:
        """Bytes per code, number of the metric, distances per order."""
        return self.codes.width, self.name.metric.number, self.codes.span

    @classmethod
    def of_fields(
        cls, material: Material, rule_set: RuleSet, width: int, metric: int, span: int
    ) -> Self:
        """Return the specification; raises `ValueError` or `IndexError` for impossible `fields`."""
        codes = CodeSpace(width, span)
        if width not in (1, 2, 4) or not 1 <= span <= min(codes.draw - 1, LONG_SPAN):
            raise ValueError(f"no codes of {width} bytes and span {span}")
        return cls(TableName(material, rule_set, list(Metric)[metric]), codes)


@dataclass(frozen=True, slots=True)
class WdlSpec(_Spec):
    """Name of a win-draw-loss file; all these files have one encoding."""

    name: WdlName

    version: ClassVar[int] = 3
    codec: ClassVar[OutcomeCodec] = OUTCOMES
    fields: ClassVar[tuple[int, int, int]] = (0, 2, 0)
    """Fields that mark a win-draw-loss file."""

    @classmethod
    def of_fields(
        cls, material: Material, rule_set: RuleSet, width: int, metric: int, span: int
    ) -> Self:
        """Return the specification; raises `ValueError` for numbers other than `fields`."""
        if (width, metric, span) != cls.fields:
            raise ValueError("distances in a file of outcomes")
        return cls(WdlName(material, rule_set))


Spec = TypeVar("Spec", TableSpec, WdlSpec)


def with_checksum(header: bytes, block_table: bytes) -> bytes:
    """Return a header whose last four bytes are the checksum of the others and of a block table."""
    packed = header[:_CHECKSUM_AT]
    return packed + zlib.crc32(block_table, zlib.crc32(packed)).to_bytes(4, "little")


@dataclass(frozen=True)
class Header(Generic[Spec]):
    """Header of one file. Pairs have Red's entry first, then Black's. Lengths are in bytes.

    `slots` is the number of slots of one side, `block_slots` that of one block. `blocks` has each
    side's number of blocks, 0 for a side of one code. `constants` has this code, and 0 for a side
    with blocks. `digest` is the result of `content_digest`.
    """

    spec: Spec
    slots: int
    block_slots: int
    arrangements: tuple[Arrangement, Arrangement]
    blocks: tuple[int, int]
    constants: tuple[int, int]
    table_offset: int
    metadata_length: int
    metadata_checksum: int
    digest: bytes

    @property
    def metadata_offset(self) -> int:
        """Offset of the metadata in the file, in bytes."""
        return self.table_offset + BLOCK_ENTRY_BYTES * sum(self.blocks)

    @property
    def file_size(self) -> int:
        """Size of the whole file in bytes."""
        return self.metadata_offset + self.metadata_length

    @cached_property
    def block_maps(self) -> tuple[BlockMap, BlockMap]:
        """Maps from slots to blocks and indices in them, of Red's and of Black's side."""
        layout = Layout.of(self.spec.name.material)
        red, black = (BlockMap(layout, each, self.block_slots) for each in self.arrangements)
        return red, black

    def pack(self, block_table: bytes) -> bytes:
        """Return the 168 bytes of the header, whose checksum also covers `block_table`."""
        name, (width, metric, span) = self.spec.name, self.spec.fields
        rule_set, (red, black) = name.rule_set, self.arrangements
        packed = _HEADER.pack(
            MAGIC, self.spec.version, width, name.rules.number, metric, rule_set.options, span,
            rule_set.orders or 0, self.block_slots, self.metadata_checksum, self.slots,
            *self.blocks, *self.constants,
            self.table_offset, self.metadata_offset, self.metadata_length, self.digest,
            name.material.name.encode("ascii"), red.tile_leads,
            red.by_black, bytes(red.axes).ljust(MAX_AXES, NO_AXIS),
            black.by_black, bytes(black.axes).ljust(MAX_AXES, NO_AXIS), 0,
        )  # fmt: skip
        return with_checksum(packed, block_table)

    def content_digest(self, digests: Sequence[Sequence[bytes]], text: bytes) -> bytes:
        """Return 16 bytes that identify a file's contents, however compressed (docs/format.md).

        digests : two lists, Red's and Black's: SHA-256 of every block's content; a side of one code
            counts as one block
        text : JSON of the metadata
        """
        name, (width, _, span) = self.spec.name, self.spec.fields
        options = name.rule_set.options
        orders = [f"{int(a.by_black)} {','.join(map(str, a.axes))}" for a in self.arrangements]
        identity = (
            f"{self.spec.version} {name} {width} {span} {options} "
            f"{self.slots} {self.block_slots} {self.arrangements[0].tile_leads} {' '.join(orders)}"
        )
        parts = [identity.encode("ascii"), b"".join(digests[0]), b"".join(digests[1]), text]
        hashes = b"".join(hashlib.sha256(part).digest() for part in parts)
        return hashlib.sha256(hashes).digest()[:16]

    @classmethod
    def unpack(cls, data: bytes, file_size: int, path: Path, kind: type[Spec]) -> Header[Spec]:
        """Parse the header in the first bytes `data` of a file, and check it against `file_size`.

        kind : kind of file; another kind is rejected

        The checksum, which needs the block table, is not verified. Raises `CorruptTableError` and
        `FormatVersionError`.
        """
        if len(data) < HEADER_BYTES:
            raise CorruptTableError(path, "shorter than a header")
        if data[: len(MAGIC)] != MAGIC:
            raise CorruptTableError(path, "does not begin as a table file")
        fields = _HEADER.unpack(data[:HEADER_BYTES])
        (
            _, version, width, rules, metric, options, span, orders, block_slots,
            metadata_checksum, slots, red_blocks, black_blocks, red_constant, black_constant,
            table_offset, _, metadata_length, digest, material, tile_leads,
            red_by_black, red_axes, black_by_black, black_axes, _,
        ) = fields  # fmt: skip
        if version > LAST_VERSION:
            raise FormatVersionError(path, version, LAST_VERSION)
        if rules >= len(Rules):
            raise FormatVersionError(path, rules, len(Rules) - 1, "rule set")
        try:
            # Only wxf leaves minor chases open, and stores the choice.
            open_choice = list(Rules)[rules].leaves_minor_chases_open
            minor_chases = not open_choice or options != 0
            spec = kind.of_fields(
                Material.parse(material.rstrip(b"\0").decode("ascii")),
                RuleSet(list(Rules)[rules], orders or None, minor_chases), width, metric, span,
            )  # fmt: skip
            header = cls(
                spec=spec,
                slots=slots,
                block_slots=block_slots,
                arrangements=(
                    Arrangement(tile_leads, tuple(red_axes.rstrip(NO_AXIS)), red_by_black == 1),
                    Arrangement(tile_leads, tuple(black_axes.rstrip(NO_AXIS)), black_by_black == 1),
                ),
                blocks=(red_blocks, black_blocks),
                constants=(red_constant, black_constant),
                table_offset=table_offset,
                metadata_length=metadata_length,
                metadata_checksum=metadata_checksum,
                digest=digest,
            )
            # Packing the header again must give the same fields (the last is the checksum).
            packed = _HEADER.unpack(header.pack(b"")) if header._is_sound(file_size) else ()
            sound = packed[:-1] == fields[:-1]
        except (IndexError, ValueError):  # MaterialError is a ValueError
            sound = False
        if not sound:
            raise CorruptTableError(path, "the header does not fit the file")
        return header

    def _is_sound(self, file_size: int) -> bool:
        """Return whether all fields fit the material and the size of the file; reads no blocks."""
        codec = self.spec.codec
        return (
            self.spec.name.material.needs_table
            and 1 <= self.block_slots <= codec.max_slots
            and all(
                (1 <= constant <= codec.top) if count == 0 else constant == 0
                for count, constant in zip(self.blocks, self.constants, strict=True)
            )
            and self.table_offset >= HEADER_BYTES
            and self.metadata_length <= MAX_METADATA
            and self.file_size == file_size
            # Last, because it builds the index of the material.
            and self.slots == self.spec.slots
            and all(each.fits(Layout.of(self.spec.name.material)) for each in self.arrangements)
            and all(
                count in (0, block_map.blocks)
                for count, block_map in zip(self.blocks, self.block_maps, strict=True)
            )
        )
