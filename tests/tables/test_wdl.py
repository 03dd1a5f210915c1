"""Win-draw-loss files: every reader returns what was written, or raises an error."""

from __future__ import annotations

import hashlib
import random
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
import zstandard

from tbgen.indexing import Material, Side
from tbgen.indexing.layout import Layout
from tbgen.tables import (
    CorruptTableError,
    FormatVersionError,
    MissingTableError,
    Outcome,
    Tablebase,
    TableFile,
    TableName,
    WdlFile,
    WdlName,
)
from tbgen.tables.outcomes import DRAW, LOSS, WIN, encode_outcomes, outcomes_of
from tests.helpers.mutations import mutants
from tests.helpers.random_outcomes import Outcomes, random_outcomes, write_outcomes
from tests.helpers.random_tables import (
    agrees,
    check_tiles,
    random_planes,
    some_arrangements,
    spec_of,
    with_statistics,
    with_valid_checksum,
    write,
)
from tests.oracles.naive_reader import value_of


@pytest.mark.parametrize("material", ["KRK", "KPKA", "KNNK"])
@pytest.mark.parametrize("block_slots", [7, 1000, 327680])
@pytest.mark.parametrize("plain", [False, True])
def test_round_trip(tmp_path: Path, material: str, block_slots: int, plain: bool) -> None:
    if block_slots == 7 and material == "KNNK":
        block_slots = 4003  # fewer blocks, still an odd size
    outcomes = random_outcomes(material, 3)
    arrangements = some_arrangements(Layout.of(Material.parse(material)), 2)
    path = write_outcomes(
        tmp_path, material, outcomes, block_slots=block_slots, plain=plain,
        arrangements=arrangements,
    )  # fmt: skip
    rng = np.random.default_rng(1)
    with WdlFile(path) as file:
        file.check(threads=2)
        for side, plane in enumerate(outcomes):
            assert agrees(file.plane(side), plane)
            slots = rng.integers(0, len(plane), 200)
            assert agrees(file.codes(side, slots), plane[slots])
            for slot in slots[:20].tolist():
                assert plane[slot] in (0, file.code(side, slot))
        check_tiles(file)
        if plain:
            assert file.is_plain is True
        cold = [file.codes(side, np.arange(len(plane))) for side, plane in enumerate(outcomes)]
        file.hold()
        for side, plane in enumerate(outcomes):
            slots = rng.permutation(len(plane))
            assert (file.codes(side, slots) == cold[side][slots]).all()
            with pytest.raises(IndexError):
                file.codes(side, np.array([len(plane)]))


def test_a_plain_file_has_equal_outcomes_and_is_larger(tmp_path: Path) -> None:
    outcomes = random_outcomes("KRK", 3, run=400)
    packed = write_outcomes(tmp_path, "KRK", outcomes)
    plain = tmp_path / "plain"
    plain.mkdir()
    other = write_outcomes(plain, "KRK", outcomes, plain=True)
    with WdlFile(packed) as one, WdlFile(other) as two:
        assert one.header.digest == two.header.digest
        assert (one.is_plain, two.is_plain) == (False, True)
    assert packed.stat().st_size < other.stat().st_size


def test_the_digest_is_the_documented_one(tmp_path: Path) -> None:
    red, black = random_outcomes("KPK", 4)
    black[:] = DRAW
    with WdlFile(write_outcomes(tmp_path, "KPK", (red, black))) as file:
        blocks = [encode_outcomes(red[at : at + 1000], DRAW) for at in (0, 1000, 2000)]
        parts = [
            b"3 KPK.none.wdl 0 0 0 2475 1000 45 0 0,1 0 0,1",
            b"".join(hashlib.sha256(block).digest() for block in blocks),
            hashlib.sha256(bytes([243 + DRAW])).digest(),
            file.metadata(),
        ]
        hashes = b"".join(hashlib.sha256(part).digest() for part in parts)
        assert file.header.digest == hashlib.sha256(hashes).digest()[:16]


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("material", ["KPK", "KNNK", "KAKC", "KPKA"])
def test_the_naive_reader_agrees(tmp_path: Path, material: str, plain: bool) -> None:
    layout = Layout.of(Material.parse(material))
    path = write_outcomes(
        tmp_path, layout_name(layout), random_outcomes(layout_name(layout), 8), block_slots=777,
        arrangements=some_arrangements(layout, 5), plain=plain,
    )  # fmt: skip
    rng = np.random.default_rng(2)
    with WdlFile(path) as file, Tablebase.open(tmp_path) as tablebase:
        seen = 0
        while seen < 25:
            side = Side(int(rng.integers(2)))
            position = layout.position(int(rng.integers(layout.slots)), side)
            if position is None:
                continue
            seen += 1
            outcome = file.outcome(side, layout.slot(position))
            assert value_of(path, position.fen) == (outcome.name.lower(), 0, 0)
            assert tablebase.probe_wdl(position) == outcome
            assert tablebase.probe_wdl(position.swapped()) == outcome


def layout_name(layout: Layout) -> str:
    return Material(*layout.armies).name


def test_outcomes_agree_with_codes() -> None:
    for width in (1, 2, 4):
        space = spec_of("KRK", width).codes
        codes = np.array([0, 1, space.draw - 1, space.draw, space.draw + 1, space.top])
        found = outcomes_of(codes.astype(f"u{width}"), space)
        assert found.tolist() == [0, LOSS, LOSS, DRAW, WIN, WIN]


# -- directories -------------------------------------------------------------------------------


def test_outcomes_come_from_either_kind_of_file(tmp_path: Path) -> None:
    """Outcomes are read from the WDL file if there is one, else from the table.

    KRK has both files with different outcomes; KPK has a table only, KNK a WDL file only.
    """
    for material in ("KRK", "KPK"):
        write(tmp_path, spec_of(material), random_planes(spec_of(material), 1, empty=0))
    for material in ("KRK", "KNK"):
        write_outcomes(tmp_path, material, random_outcomes(material, 2, empty=0))
    with Tablebase.open(tmp_path) as tablebase:
        assert [str(name) for name in tablebase.available()] == ["KPK.none.dtm", "KRK.none.dtm"]
        assert [str(name) for name in tablebase.available_wdl()] == ["KNK.none.wdl", "KRK.none.wdl"]
        differ = 0
        for material in ("KRK", "KPK", "KNK"):
            layout = Layout.of(Material.parse(material))
            positions = [p for slot in range(0, 2000, 13) if (p := layout.position(slot, Side.RED))]
            boards = np.frombuffer(b"".join(p.board for p in positions), np.uint8).reshape(-1, 90)
            sides = np.zeros(len(positions), np.int64)
            together = tablebase.probe_wdl_boards(boards, sides).tolist()
            singly = [tablebase.probe_wdl(position) for position in positions]
            assert together == singly
            # An illegal position has an arbitrary outcome, equal for all ways to probe.
            file = tablebase.wdl_file(material)
            if file is not None:
                own = [file.outcome(Side.RED, layout.slot(p)) for p in positions]
                assert singly == own
            if material == "KNK":
                with pytest.raises(MissingTableError):
                    tablebase.probe(positions[0])
            else:
                distances = [tablebase.probe(position).outcome for position in positions]
                differ += singly != distances
        assert differ == 1  # KRK, from its win-draw-loss file
        assert tablebase.probe_wdl(positions[0].swapped()) == singly[0]


def test_boards_of_many_materials_at_once(tmp_path: Path) -> None:
    for material in ("KRK", "KNK"):
        write_outcomes(tmp_path, material, random_outcomes(material, 2, empty=0))
    rng = np.random.default_rng(4)
    positions = []
    while len(positions) < 300:
        layout = Layout.of(Material.parse(str(rng.choice(["KRK", "KNK", "KAK"]))))
        position = layout.position(int(rng.integers(layout.slots)), Side(int(rng.integers(2))))
        if position is not None:
            positions.append(position.swapped() if rng.random() < 0.5 else position)
    boards = np.frombuffer(b"".join(p.board for p in positions), np.uint8).reshape(-1, 90)
    with Tablebase.open(tmp_path) as tablebase:
        found = tablebase.probe_wdl_boards(boards, np.array([p.side for p in positions]))
        assert found.tolist() == [tablebase.probe_wdl(position) for position in positions]
        assert {Outcome.WIN, Outcome.DRAW, Outcome.LOSS} == set(found.tolist())
        assert tablebase.probe_wdl_boards(boards[:0], np.zeros(0, np.int64)).size == 0


def test_held_outcomes_do_not_depend_on_the_size_of_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcomes = random_outcomes("KRK", 2, empty=0)
    write_outcomes(tmp_path, "KRK", outcomes)
    monkeypatch.setattr("tbgen.tables.blockfile.READ_BYTES", 1)
    with Tablebase.open(tmp_path) as tablebase:
        tablebase.hold_wdl("KRK")
        file = tablebase.wdl_file("KRK")
        assert file is not None
        for side, plane in enumerate(outcomes):
            assert agrees(file.codes(side, np.arange(len(plane))), plane)


def test_files_are_held_within_the_memory_limit(tmp_path: Path) -> None:
    for material in ("KRK", "KNK", "KPK"):
        outcomes = random_outcomes(material, 2, empty=0)
        if material == "KNK":
            outcomes[0][:] = outcomes[1][:] = DRAW
        write_outcomes(tmp_path, material, outcomes)
    with Tablebase.open(tmp_path, max_open=1) as tablebase:
        # KRK has 4050 slots a side, KPK 2475, in blocks of 1000; KNK needs no memory.
        assert [str(m) for m in tablebase.hold_wdl(max_bytes=1400)] == ["KNK", "KPK"]
        assert [str(m) for m in tablebase.hold_wdl("KRK")] == ["KRK"]
        files = [tablebase.wdl_file(material) for material in ("KRK", "KNK", "KPK")]
        assert all(file is not None and file.is_held for file in files)
    assert not any(file is not None and file.is_held for file in files)


@pytest.mark.parametrize(
    ("filename", "is_name"),
    [
        ("KRKN.wxf.wdl.xqt", True),
        ("KRKN.wxf-nominor-o3.wdl.xqt", True),
        ("KRKN.check-o1.wdl.xqt", True),
        ("KRKN.check-nominor.wdl.xqt", False),
        ("KNKR.wxf.wdl.xqt", False),
        ("KRKN.wxf.wdl.build.json", False),
        ("KRKN.wxf.dtm.wdl.xqt", False),
        ("KRKN.wxf.dtm.xqt", False),
        ("KRKN.WXF.wdl.xqt", False),
    ],
)
def test_names(filename: str, is_name: bool) -> None:
    name = WdlName.parse(filename)
    assert (name is not None) == is_name
    if name is not None:
        assert (name.filename, TableName.parse(filename)) == (filename, None)


def test_each_kind_of_file_is_refused_as_the_other(tmp_path: Path) -> None:
    outcomes = write_outcomes(tmp_path, "KRK", random_outcomes("KRK", 1))
    table = write(tmp_path, spec_of("KRK"), random_planes(spec_of("KRK"), 1))
    with pytest.raises(CorruptTableError, match="header"):
        TableFile(outcomes)
    with pytest.raises(CorruptTableError, match="header"):
        WdlFile(table)


# -- damage ------------------------------------------------------------------------------------


def read_everything(path: Path, outcomes: Outcomes) -> bool | None:
    """Return True if a WDL file is read with right outcomes, None if an outcome is wrong.

    Returns False if the reader refuses the file.
    """
    right = True
    try:
        with WdlFile(path) as file:
            for side, plane in enumerate(outcomes):
                right &= agrees(file.plane(side), plane)
                right &= plane[9] in (0, file.code(side, 9))
            file.check()
    except (CorruptTableError, FormatVersionError):
        return False
    return True if right else None


@pytest.mark.parametrize("plain", [False, True])
def test_damaged_and_forged_files(tmp_path: Path, plain: bool) -> None:
    outcomes = random_outcomes("KPK", 5, run=40)
    outcomes[1][1000:] = WIN
    path = write_outcomes(tmp_path, "KPK", outcomes, plain=plain)
    data = path.read_bytes()
    assert read_everything(path, outcomes) is True
    mutant = tmp_path / "mutant.xqt"
    for image, sound_sums in mutants(data, 400, 3):
        mutant.write_bytes(image)
        # The digest finds other outcomes with correct checksums.
        assert read_everything(mutant, outcomes) is False or (sound_sums and image == data)


def forged_block(data: bytes, stored: bytes) -> bytes:
    """Return a win-draw-loss file with the bytes `stored` as first block, and right checksums."""
    table_offset, metadata_offset = struct.unpack_from("<QQ", data, 64)
    (length,) = struct.unpack_from("<I", data, table_offset)
    table = struct.pack("<II", len(stored), zlib.crc32(stored))
    table += data[table_offset + 8 : metadata_offset]
    head = bytearray(data[:168])
    moved = len(stored) - length
    struct.pack_into("<QQ", head, 64, table_offset + moved, metadata_offset + moved)
    rest = data[168 + length : table_offset]
    return with_valid_checksum(bytes(head) + stored + rest + table + data[metadata_offset:])


def zstd(content: bytes) -> bytes:
    return zstandard.ZstdCompressor(level=1).compress(content)


@pytest.mark.parametrize(
    "stored",
    [
        zstd(bytes(1 << 24)),  # a bomb
        zstd(b""),
        zstd(bytes(199)),
        zstd(bytes(201)),
        zstd(b"\xf3" + bytes(199)),  # 243
        zstd(b"\xff" * 200),
        zstandard.ZstdCompressor(write_content_size=False).compress(bytes(200)),
        b"\xf3" + bytes(199),  # stored as it is
        b"no zstd frame",
        struct.pack("<II", 0x184D2A50, 2**32 - 1) + bytes(20),  # a skippable frame of 4 GiB
        random.Random(1).randbytes(201),
    ],
    ids=lambda stored: f"{len(stored)} bytes",
)
def test_forged_blocks(tmp_path: Path, stored: bytes) -> None:
    path = write_outcomes(tmp_path, "KPK", random_outcomes("KPK", 5, run=40))
    path.write_bytes(forged_block(path.read_bytes(), stored))
    with WdlFile(path) as file:
        for action in (
            lambda: file.code(0, 3),
            lambda: file.codes(0, np.array([3])),
            lambda: file.plane(0, threads=2),
            lambda: file.check(),
        ):
            with pytest.raises(CorruptTableError) as caught:
                action()
            assert caught.value.block == 0


def test_digits_beyond_the_last_slot_are_damage(tmp_path: Path) -> None:
    """A block whose last byte has outcomes beyond the last slot is refused as damaged.

    A byte has several slots. In a block of 1001 slots the last byte has one: 0, 1 or 2.
    """
    path = write_outcomes(tmp_path, "KPK", random_outcomes("KPK", 5), block_slots=1001)
    data = path.read_bytes()
    for last, sound in ((2, True), (3, False), (242, False)):
        path.write_bytes(forged_block(data, bytes(200) + bytes([last])))
        with WdlFile(path) as file:
            if sound:
                assert file.code(0, 1000) == WIN
            else:
                with pytest.raises(CorruptTableError, match="beyond"):
                    file.code(0, 1000)


def test_a_byte_beyond_five_digits_is_damage(tmp_path: Path) -> None:
    path = write_outcomes(tmp_path, "KPK", random_outcomes("KPK", 5, empty=0), block_slots=5)
    path.write_bytes(forged_block(path.read_bytes(), bytes([243 + DRAW])))
    with WdlFile(path) as file, pytest.raises(CorruptTableError, match="not five outcomes"):
        file.code(0, 0)


GOOD_FACTS = (
    '{"material":"KPK","rules":"none","metric":"wdl","orders_limit":null,"index_size":2475,'
    '"red_to_move":{"legal":3,"wins":1,"draws":1,"losses":1},"black_to_move":{"legal":0,"wins":0,'
    '"draws":0,"losses":0},"source":{"file":"KPK.none.dtm.xqt","digest":"' + "0" * 32 + '"}}'
)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", None),
        ('"legal":3', '"legal":4'),
        ('"legal":3,"wins":1', '"legal":3000,"wins":2998'),
        ('"index_size":2475', '"index_size":2476'),
        ("KPK.none.dtm", "KPK.check.dtm"),
        ("KPK.none.dtm", "KRK.none.dtm"),
        ("KPK.none.dtm", "KPK.none.wdl"),
        ('"KPK.none.dtm.xqt"', "null"),
        ('"KPK"', '"KRK"'),
        ("0" * 32, "0" * 31),
        ('"wdl"', '"dtm"'),
        ('"source"', '"origin"'),
        ("none", "nonsense"),
        ('"wins":1', '"wins":"1"'),
        ("}", ""),
    ],
)
def test_forged_facts(tmp_path: Path, old: str, new: str | None) -> None:
    path = write_outcomes(tmp_path, "KPK", random_outcomes("KPK", 5))
    text = GOOD_FACTS if new is None else GOOD_FACTS.replace(old, new, 1)
    assert (text == GOOD_FACTS) == (new is None)
    path.write_bytes(with_statistics(path.read_bytes(), text.encode()))
    with WdlFile(path) as file:
        if new is None:
            assert file.statistics.red_to_move.legal == 3
        else:
            with pytest.raises(CorruptTableError):
                _ = file.statistics
