"""Damaged table files: random changes, with wrong or with corrected checksums."""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Iterator

import zstandard

HEADER_BYTES = 168
CRC_AT = 164
_FRAME = b"\x28\xb5\x2f\xfd"
_INTERESTING = (0, 1, 2, 127, 128, 255, 256, 65535, 65536, 2**31, 2**32 - 1, 2**62, 2**64 - 1)
_FIELDS = (
    *((10, "B"), (11, "B"), (12, "B"), (16, "I"), (20, "I"), (24, "I"), (32, "Q"), (40, "Q")),
    *((48, "Q"), (56, "I"), (60, "I"), (64, "Q"), (72, "Q"), (80, "Q"), (104, "I"), (108, "I")),
    *((136, "I"), (140, "B"), (141, "I"), (152, "B"), (153, "I")),
)


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Return a file's bytes, some of them changed, removed or added at random; never unchanged."""
    while True:
        out = bytearray(data)
        kind = rng.randrange(6)
        at = rng.randrange(len(out)) if rng.random() < 0.5 else rng.randrange(HEADER_BYTES)
        if kind == 0:
            out[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            for _ in range(rng.randrange(1, 20)):
                out[rng.randrange(len(out))] = rng.randrange(256)
        elif kind == 2:
            del out[at:]
        elif kind == 3:
            out += rng.randbytes(rng.randrange(1, 200))
        elif kind == 4:
            del out[at : at + rng.randrange(1, 50)]
        else:
            out[at : at + rng.randrange(1, 50)] = bytes(rng.randrange(1, 50))
        if bytes(out) != data:
            return bytes(out)


def forged(data: bytes, rng: random.Random) -> bytes:
    """Return a valid file's bytes with a change that the header's checksum does not reveal.

    Changes a field of the header, an entry of the block table (length or checksum of a block), or a
    block together with its entry. A field or entry may happen to keep its value.
    """
    header, table, blocks, metadata = _parts(data)
    kind = rng.randrange(4)
    if kind == 0:
        at, code = rng.choice(_FIELDS)
        number = rng.choice(_INTERESTING) if rng.random() < 0.7 else rng.randrange(2**16)
        struct.pack_into(f"<{code}", header, at, number % 256 ** struct.calcsize(code))
    elif kind == 1:
        entry = rng.randrange(2 * len(table))
        table[entry // 2][entry % 2] = rng.choice(_INTERESTING) % 2**32
    else:
        stored = [n for n, block in enumerate(blocks) if block]
        number = rng.choice(stored)
        if not blocks[number].startswith(_FRAME):  # outcomes, stored as they are
            kind = 2
        block = blocks[number] if kind == 2 else zstandard.decompress(blocks[number])
        block = damaged(block, rng) if len(block) > HEADER_BYTES else block[:-1]
        blocks[number] = block if kind == 2 else zstandard.compress(block)
        moved = len(blocks[number]) - table[number][0]
        table[number] = [len(blocks[number]), zlib.crc32(blocks[number])]
        for offset in (64, 72):
            (old,) = struct.unpack_from("<Q", header, offset)
            struct.pack_into("<Q", header, offset, old + moved)
    packed = b"".join(struct.pack("<II", *entry) for entry in table)
    crc = zlib.crc32(packed, zlib.crc32(header[:CRC_AT]))
    struct.pack_into("<I", header, CRC_AT, crc)
    return bytes(header) + b"".join(blocks) + packed + metadata


def _parts(data: bytes) -> tuple[bytearray, list[list[int]], list[bytes], bytes]:
    """Split a valid file into header, block table ([bytes, CRC-32] each), blocks and metadata."""
    table_offset, metadata_offset = struct.unpack_from("<QQ", data, 64)
    table = [list(e) for e in struct.iter_unpack("<II", data[table_offset:metadata_offset])]
    blocks, at = [], HEADER_BYTES
    for length, _ in table:
        blocks.append(data[at : at + length])
        at += length
    return bytearray(data[:HEADER_BYTES]), table, blocks, data[metadata_offset:]


def mutants(data: bytes, count: int, seed: int) -> Iterator[tuple[bytes, bool]]:
    """Yield `count` copies of a file, `damaged` and `forged` in turn: (bytes, True if forged)."""
    rng = random.Random(seed)
    for number in range(count):
        if number % 2:
            yield forged(data, rng), True
        else:
            yield damaged(data, rng), False
