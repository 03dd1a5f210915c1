"""Damaged and malicious files give correct values or an error, never a wrong value or a crash."""

import json
import random
import resource
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import zstandard

from tbgen.tables import CorruptTableError, FormatVersionError, TablebaseError, TableFile
from tbgen.tables.header import _HEADER, HEADER_BYTES
from tests.helpers.random_tables import (
    Planes,
    agrees,
    random_planes,
    spec_of,
    statistics_of,
    with_statistics,
    with_valid_checksum,
    write,
)

FIELDS = {
    "magic": (0, "8s"),
    "version": (8, "H"),
    "width": (10, "B"),
    "rules": (11, "B"),
    "metric": (12, "B"),
    "options": (14, "H"),
    "span": (16, "I"),
    "orders": (20, "I"),
    "block_slots": (24, "I"),
    "metadata_checksum": (28, "I"),
    "slots": (32, "Q"),
    "red_blocks": (40, "Q"),
    "black_blocks": (48, "Q"),
    "red_constant": (56, "I"),
    "black_constant": (60, "I"),
    "table_offset": (64, "Q"),
    "metadata_offset": (72, "Q"),
    "metadata_length": (80, "Q"),
    "digest": (88, "16s"),
    "material": (104, "32s"),
    "tile_leads": (136, "I"),
    "red_by_black": (140, "B"),
    "red_axes": (141, "11s"),
    "black_by_black": (152, "B"),
    "black_axes": (153, "11s"),
}
MEMORY = 1 << 30
"""Bytes of address space that a test may add; a forged table of 2**60 slots would need more."""


@pytest.fixture(autouse=True)
def _limited_memory() -> Iterator[None]:
    """Limit the address space to `MEMORY` more bytes, so that larger arrays raise `MemoryError`."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.fixture(params=[(1, 12), (2, 400), (4, 30)], ids=["byte", "planes", "wide"])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Planes]:
    width, distinct = request.param
    spec = spec_of("KPK", width)
    planes = random_planes(spec, 1, distinct)
    planes[1][1200:2400] = 0
    return write(tmp_path, spec, planes, block_slots=600), planes


def read_everything(path: Path, planes: Planes) -> bool:
    """Return True if a table file is read without an error, False if the reader refuses it.

    Values read before an error are compared with `planes`: a wrong one fails the test.
    """
    rng = np.random.default_rng(0)
    try:
        with TableFile(path) as file:
            for side, plane in enumerate(planes):
                for slot in rng.integers(0, len(plane), 4).tolist():
                    assert plane[slot] in (0, file.code(side, slot))
                assert agrees(file.plane(side), plane)
            file.check()
    except (CorruptTableError, FormatVersionError):
        return False
    return True


def mutate(data: bytes, rng: random.Random) -> bytes:
    """Return a copy of a table file with one random damage, which may write equal bytes."""
    at = rng.randrange(len(data))
    kind = rng.randrange(7)
    if kind == 0:  # a bit
        return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
    if kind == 1:  # the end is missing
        return data[:at]
    if kind == 2:  # something more
        return data[:at] + rng.randbytes(rng.randrange(1, 20)) + data[at:]
    if kind == 3:  # something after the end
        return data + rng.randbytes(rng.randrange(1, 200))
    if kind == 4:  # something is missing
        return data[:at] + data[at + rng.randrange(1, 20) :]
    if kind == 5:  # a stretch of other bytes, as a bad sector
        length = rng.randrange(1, 64)
        return (data[:at] + rng.randbytes(length) + data[at + length :])[: len(data)]
    name = rng.choice(list(FIELDS))  # a field of the header
    offset, code = FIELDS[name]
    size = struct.calcsize("<" + code)
    return data[:offset] + rng.randbytes(size) + data[offset + size :]


def test_three_thousand_damaged_files(table: tuple[Path, Planes]) -> None:
    """A thousand damaged copies of each of three tables give correct values or an error."""
    path, planes = table
    data = path.read_bytes()
    rng = random.Random(7)
    damaged = path.with_name("damaged.xqt")
    unharmed = 0
    for _ in range(1000):
        image = mutate(data, rng)
        damaged.write_bytes(image)
        if read_everything(damaged, planes):
            unharmed += 1
            # Undetected only if the new bytes equal the old ones.
            assert image == data
    assert unharmed < 30


INTERESTING = [0, 1, 2, 3, 255, 2**16, 2**31, 2**32 - 1, 2**40, 2**62, 2**63, 2**64 - 1]


@pytest.mark.parametrize("field", [name for name, (_, code) in FIELDS.items() if len(code) == 1])
def test_forged_headers_neither_crash_nor_allocate(table: tuple[Path, Planes], field: str) -> None:
    path, _ = table
    data = path.read_bytes()
    offset, code = FIELDS[field]
    bits = 8 * struct.calcsize("<" + code)
    old = int.from_bytes(data[offset : offset + bits // 8], "little")
    for number in {*INTERESTING, old - 1, old + 1, old * 2, old // 2}:
        if not 0 <= number < 2**bits or number == old:
            continue
        forged = data[:offset] + struct.pack("<" + code, number) + data[offset + bits // 8 :]
        path.write_bytes(with_valid_checksum(forged))
        try:
            file = TableFile(path)
        except (CorruptTableError, FormatVersionError):
            continue
        # Consistent fields other than sizes are checked only by `check`.
        with file, pytest.raises(CorruptTableError):
            file.check()


@pytest.mark.parametrize(
    "material",
    ["KRRK", "KRRNNCCPPPPPAABBKRRNNCCPPPPPAABB", "KKP", "kpk", "KPPPPPPK", "", "K" * 32, "KÄK"],
)
def test_forged_materials(table: tuple[Path, Planes], material: str) -> None:
    path, _ = table
    data = bytearray(path.read_bytes())
    data[104:136] = material.encode("latin-1").ljust(32, b"\0")
    path.write_bytes(with_valid_checksum(bytes(data)))
    with pytest.raises(CorruptTableError, match="header"):
        TableFile(path)


@pytest.mark.parametrize(
    "axes",
    [
        b"\0",
        b"\0\1\2",
        b"\0\0",
        b"\1\1",
        b"\0\2",
        b"\0\1\xff\xff\0",
        bytes(11),
        b"\xff" * 11,
        b"\xff\0\1",
    ],
    ids=lambda axes: axes.hex(),
)
def test_forged_arrangements(table: tuple[Path, Planes], axes: bytes) -> None:
    path, _ = table
    for at in (141, 153):
        data = bytearray(path.read_bytes())
        data[at : at + 11] = axes.ljust(11, b"\xff")
        path.with_name("forged.xqt").write_bytes(with_valid_checksum(bytes(data)))
        with pytest.raises(CorruptTableError, match="header"):
            TableFile(path.with_name("forged.xqt"))


def forged_block(data: bytes, content: bytes) -> bytes:
    """Return a table file with its first block replaced by `content`.

    Offsets, lengths and checksums are adapted, so that only the content is wrong.
    """
    fields = list(_HEADER.unpack(data[:HEADER_BYTES]))
    table_offset, metadata_offset = fields[15], fields[16]
    length = struct.unpack_from("<I", data, table_offset)[0]
    rest = data[HEADER_BYTES + length : table_offset]
    table = (
        struct.pack("<II", len(content), zlib.crc32(content))
        + data[table_offset + 8 : metadata_offset]
    )
    fields[15] = HEADER_BYTES + len(content) + len(rest)
    fields[16] = fields[15] + len(table)
    head = _HEADER.pack(*fields)
    return with_valid_checksum(head + content + rest + table + data[metadata_offset:])


def zstd(content: bytes) -> bytes:
    return zstandard.ZstdCompressor(level=1).compress(content)


@pytest.mark.parametrize(
    "content",
    [
        zstd(bytes(1 << 24)),  # a bomb
        zstandard.ZstdCompressor(write_content_size=False).compress(bytes(700)),
        zstd(b""),
        zstd(b"\1"),
        zstd(b"\1\1\7" + bytes(600)),  # a palette of 257
        zstd(b"\2\0\7\7" + bytes(600)),  # not ascending
        zstd(b"\1\0\0"),  # code 0
        zstd(b"\2\0\7\x09" + b"\2" * 600),  # beyond the palette
        zstd(b"\2\0\7\x09" + bytes(599)),
        zstd(bytes(2 + 600)),  # planes with code 0
        b"no zstd frame",
        b"\x28\xb5\x2f\xfd",
        struct.pack("<II", 0x184D2A50, 2**32 - 1) + bytes(20),  # a skippable frame of 4 GiB
        struct.pack("<II", 0x184D2A5F, 20) + bytes(20),
        zstd(b"\2\0\7\x09" + bytes(600))[:-2],
        zstd(b"\2\0\7\x09" + bytes(600)) + b"\0",  # a byte after the frame
        zstd(b"\2\0\7\x09" + bytes(600)) + zstd(b""),
    ],
    ids=lambda content: f"{len(content)} bytes",
)
def test_forged_blocks(tmp_path: Path, content: bytes) -> None:
    spec = spec_of("KPK")
    planes = random_planes(spec, 1, 12)
    path = write(tmp_path, spec, planes, block_slots=600)
    path.write_bytes(forged_block(path.read_bytes(), content))
    with TableFile(path) as file:
        for action in (
            lambda: file.code(0, 3),
            lambda: file.codes(0, np.array([3])),
            lambda: file.plane(0),
            lambda: file.plane(0, threads=2),
            lambda: file.check(),
        ):
            with pytest.raises(CorruptTableError) as caught:
                action()
            assert caught.value.block == 0
            assert caught.value.file == path
        # The other blocks can still be read.
        assert agrees(file.codes(0, np.arange(600, 2475)), planes[0][600:])


def test_an_impossible_constant(tmp_path: Path) -> None:
    spec = spec_of("KPK")
    planes = random_planes(spec, 1, 12)
    planes[0][:600] = 9
    path = write(tmp_path, spec, planes, block_slots=600)
    data = bytearray(path.read_bytes())
    entry = struct.unpack_from("<Q", data, 64)[0]
    assert struct.unpack_from("<II", data, entry) == (0, 9)
    for code in (0, 256, 2**32 - 1):
        struct.pack_into("<I", data, entry + 4, code)
        path.write_bytes(with_valid_checksum(bytes(data)))
        with TableFile(path) as file, pytest.raises(CorruptTableError, match="block 0"):
            file.code(0, 3)


@pytest.mark.parametrize(
    "text",
    [b"", b"{", b"[" * 100_000, b"[]", b"{}", b'{"material":1}', b"\xff", b"null"],
    ids=lambda text: repr(text[:9]),
)
def test_forged_statistics(tmp_path: Path, text: bytes) -> None:
    spec = spec_of("KPK")
    path = write(tmp_path, spec, random_planes(spec, 1))
    path.write_bytes(with_statistics(path.read_bytes(), text))
    with TableFile(path) as file:
        with pytest.raises(CorruptTableError, match="statistics"):
            _ = file.statistics
        assert file.code(0, 0) >= 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"KPK"', '"KNK"'),
        ('"none"', '"check"'),
        ('"dtm"', '"dtc"'),
        ('"orders_limit": null', '"orders_limit": 1'),
        ('"index_size": 2475', '"index_size": 2476'),
    ],
)
def test_statistics_of_another_table(tmp_path: Path, old: str, new: str) -> None:
    spec = spec_of("KPK")
    planes = random_planes(spec, 1)
    path = write(tmp_path, spec, planes)
    text = json.dumps(statistics_of(spec, planes).to_json())
    assert old in text
    path.write_bytes(with_statistics(path.read_bytes(), text.replace(old, new).encode()))
    with TableFile(path) as file, pytest.raises(CorruptTableError, match="of another table"):
        _ = file.statistics


def test_a_material_without_attackers_has_no_table(tmp_path: Path) -> None:
    spec = spec_of("KAKB")
    path = write(tmp_path, spec, random_planes(spec, 1))
    with pytest.raises(CorruptTableError, match=r"KAKB\.none\.dtm\.xqt: the header does not fit"):
        TableFile(path)


def test_distances_above_32767_plies_are_refused(tmp_path: Path) -> None:
    spec = spec_of("KPK", 4)
    path = write(tmp_path, spec, random_planes(spec, 1))
    data = bytearray(path.read_bytes())
    struct.pack_into("<I", data, 16, 16384)
    path.write_bytes(with_valid_checksum(bytes(data)))
    with pytest.raises(CorruptTableError, match=r"KPK\.none\.dtm\.xqt: the header does not fit"):
        TableFile(path)


def test_bytes_after_the_statistics(tmp_path: Path) -> None:
    spec = spec_of("KPK")
    path = write(tmp_path, spec, random_planes(spec, 1))
    with TableFile(path) as file:
        text = file.metadata()
    path.write_bytes(with_statistics(path.read_bytes(), text, after=b"\0"))
    with TableFile(path) as file, pytest.raises(CorruptTableError, match="cannot be unpacked"):
        _ = file.statistics


def test_a_newer_format_is_distinguished_from_damage(table: tuple[Path, Planes]) -> None:
    path, _ = table
    data = bytearray(path.read_bytes())
    data[8] = 9
    path.write_bytes(data)
    with pytest.raises(FormatVersionError, match="format 9") as caught:
        TableFile(path)
    assert (caught.value.version, caught.value.supported) == (9, 3)
    assert isinstance(caught.value, TablebaseError)


def test_a_file_that_shrinks_while_open(table: tuple[Path, Planes]) -> None:
    path, _ = table
    with TableFile(path) as file:
        with path.open("r+b") as handle:
            handle.truncate(200)
        with pytest.raises(CorruptTableError, match="shorter"):
            file.plane(0)


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "KPK.none.dtm.xqt"
    for data in (b"", b"x", b"PK\3\4" + bytes(500)):
        path.write_bytes(data)
        with pytest.raises(CorruptTableError):
            TableFile(path)
