"""Outcomes in the C reader: from win-draw-loss files and tables, on disk and held in memory."""

from __future__ import annotations

import random
import struct
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import zstandard
from numpy.typing import NDArray

from tbgen.building.packing import pack_table
from tbgen.indexing import Material, Side
from tbgen.indexing.layout import Layout
from tbgen.probing.columns import columns_of_slots
from tbgen.tables import CorruptTableError, FormatVersionError, Rules
from tbgen.tables.names import WdlName
from tbgen.tables.outcomes import DRAW, outcomes_of
from tbgen.tables.reader import TableFile
from tbgen.tables.wdl import WdlFile
from tests.helpers import cprograms
from tests.helpers.boards import Boards, all_boards, exchanged
from tests.helpers.built import built
from tests.helpers.cprograms import (
    ADDRESSES,
    CACHE,
    THREADS,
    answers_of,
    needs_c,
    needs_cxx,
    records_of,
    refused,
    results_of,
    run,
)
from tests.helpers.mutations import mutants
from tests.helpers.random_outcomes import random_outcomes, write_outcomes
from tests.helpers.random_tables import random_planes, some_arrangements, spec_of, write
from tests.probing.test_wdl import LARGE
from tests.tables import test_damage, test_wdl
from tests.tables.test_damage import zstd

NONE, CHECK = "none", "check"
CHUNK = 1 << 19

pytestmark = needs_c


@pytest.fixture(scope="module")
def harness() -> Path:
    return cprograms.harness()


def outcomes(file: WdlFile, boards: Boards, side: int) -> NDArray[np.int32]:
    """Return Python's answers for boards with `side` to move, in the form of the C test program.

    Int32 (n, 4): status, outcome, order, plies; all but the outcome are 0. On the boards the file's
    first army is Red.
    """
    slots = Layout.of(file.header.spec.name.material).slots_of_boards(boards)
    answers = np.zeros((len(boards), 4), np.int32)
    answers[:, 1] = file.codes(side, slots).astype(np.int32) - DRAW
    return answers


@pytest.mark.parametrize(
    ("material", "plain", "rules"),
    [
        ("KRK", True, "computer"),
        ("KPPK", False, "none"),
        ("KPKA", True, "none"),
        ("KNKA", False, "none"),
    ],
)
def test_every_position(
    tmp_path: Path, harness: Path, material: str, plain: bool, rules: str
) -> None:
    arrangements = some_arrangements(Layout.of(Material.parse(material)), 3)
    path = write_outcomes(
        tmp_path,
        material,
        random_outcomes(material, 9),
        block_slots=997,
        arrangements=arrangements,
        plain=plain,
        rules=Rules(rules),
    )
    boards = all_boards(Material.parse(material))
    with WdlFile(path) as file:
        for side in Side:
            wanted = outcomes(file, boards, side)
            for seen, mover in ((boards, side), (exchanged(boards), side.other)):
                for mode in ("probe", "held"):
                    output = run(harness, mode, rules, CACHE, path, records=records_of(seen, mover))
                    assert (answers_of(output) == wanted).all()


def test_a_table_and_its_outcomes_in_one_set(tmp_path: Path, harness: Path) -> None:
    """If a set has a table and its win-draw-loss file, each query reads the right one of them.

    Distances come from the table, and outcomes from the win-draw-loss file. In the test of
    outcomes, that file has other outcomes than the table.
    """
    spec, boards = spec_of("KRK"), all_boards(Material.parse("KRK"))
    planes = random_planes(spec, 1)
    table = write(tmp_path, spec, planes)
    (tmp_path / "contrary").mkdir()
    red, black = (outcomes_of(plane, spec.codes) for plane in planes)
    wdl = write_outcomes(tmp_path, "KRK", (red, black))
    contrary = write_outcomes(tmp_path / "contrary", "KRK", random_outcomes("KRK", 5))
    other = write_outcomes(tmp_path, "KNK", random_outcomes("KNK", 2))
    records = records_of(boards, 0)
    legal = red[Layout.of(spec.name.material).slots_of_boards(boards)] != 0
    for files in ((table, wdl, other), (other, wdl, table)):
        both = answers_of(run(harness, "probe", NONE, CACHE, *files, records=records))
        alone = answers_of(run(harness, "probe", NONE, CACHE, table, records=records))
        assert (both == alone)[legal].all()
    with WdlFile(contrary) as file:
        for files in ((table, contrary, other), (other, contrary, table)):
            output = run(harness, "held", NONE, CACHE, *files, records=records)
            assert (answers_of(output) == outcomes(file, boards, 0)).all()


def pack(directory: Path, target: Path) -> list[Path]:
    """Write win-draw-loss files of all tables in `directory` into `target`; return their paths."""
    paths = []
    for path in sorted(directory.glob("*.dt?.xqt")):
        with TableFile(path) as file:
            paths.append(target / pack_table(file, target).name.filename)
    return paths


def every_outcome(harness: Path, table: Path, wdl: Path) -> int:
    """Check that a table, its win-draw-loss file and the C reader agree on each legal position.

    Outcomes are compared. Returns the number of positions.
    """
    name = WdlName.parse(wdl.name)
    assert name is not None
    rules = str(name.rule_set)
    compared = 0
    with TableFile(table) as distances, WdlFile(wdl) as file:
        layout = distances.layout
        chunks = [np.arange(n, min(n + CHUNK, layout.slots)) for n in range(0, layout.slots, CHUNK)]
        for side, slots in product(Side, chunks):
            columns = columns_of_slots(distances, side, slots)
            boards = layout.boards_of_squares(columns.squares)
            wanted = columns["outcome"].astype(np.int32)
            assert (file.codes(side, columns["slot"]).astype(np.int32) - DRAW == wanted).all()
            records = records_of(boards, side)
            for mode, path in (("probe", wdl), ("held", wdl), ("held", table)):
                answers = answers_of(run(harness, mode, rules, CACHE, path, records=records))
                assert (answers[:, :2] == np.stack([0 * wanted, wanted], 1)).all()
            compared += columns.rows
    return compared


def test_solved_materials(tmp_path: Path, harness: Path) -> None:
    tables = sorted(built("KRKN").glob("*.dtm.xqt"))
    compared = [
        every_outcome(harness, table, wdl)
        for table, wdl in zip(tables, pack(built("KRKN"), tmp_path), strict=True)
    ]
    assert len(compared) == 3
    assert sum(compared) > 300_000


@pytest.mark.certification
def test_every_position_of_forty_tables(tmp_path: Path, harness: Path) -> None:
    directory = built(*LARGE, rules="wxf")
    tables = sorted(directory.glob("*.dt?.xqt"))
    assert len(tables) >= 40
    for table, wdl in zip(tables, pack(directory, tmp_path), strict=True):
        assert every_outcome(harness, table, wdl)


def test_threads_share_outcomes(tmp_path: Path) -> None:
    """Eight threads read the same outcome files at once, and all get Python's answers.

    Half of the threads read outcomes held in memory, half decompress blocks of the files.
    """
    program = cprograms.harness("threads", *THREADS)
    files = pack(built("KRKN"), tmp_path)
    boards = all_boards(Material.parse("KRKN"))
    boards = boards[np.random.default_rng(3).choice(len(boards), 1000)]
    answers = answers_of(
        run(program, "threads", CHECK, "40000", *files, records=records_of(boards, 1))
    )
    with WdlFile(next(path for path in files if path.name.startswith("KRKN"))) as file:
        assert (answers == outcomes(file, boards, 1)).all()


@needs_cxx
@pytest.mark.certification
def test_threads_probe_while_tables_change(tmp_path: Path) -> None:
    pack(built("KRKN"), tmp_path)
    boards = all_boards(Material.parse("KRKN"))
    boards = boards[np.random.default_rng(3).choice(len(boards), 500)]
    program = cprograms.adapter_threads()
    said = run(program, "check", tmp_path, "40", records=records_of(boards, 1)).split()
    with WdlFile(next(path for path in tmp_path.iterdir() if path.name.startswith("KRKN"))) as file:
        assert [int(word) for word in said] == (2 * outcomes(file, boards, 1)[:, 1]).tolist()


def test_each_kind_has_its_own_name(tmp_path: Path, harness: Path) -> None:
    spec = spec_of("KRK")
    table = write(tmp_path, spec, random_planes(spec, 9))
    wdl = write_outcomes(tmp_path, "KRK", random_outcomes("KRK", 9))
    elsewhere = tmp_path / "exchanged"
    elsewhere.mkdir()
    for path, name in ((table, wdl.name), (wdl, table.name)):
        moved = elsewhere / name
        moved.write_bytes(path.read_bytes())
        assert refused(harness, moved) == "the file holds another table than its name says"


SKIPPABLE = [
    struct.pack("<II", 0x184D2A50, 2**32 - 1) + bytes(20),
    struct.pack("<II", 0x184D2A5F, 20) + bytes(20),
]
"""Skippable frames of zstd: one that states a wrong size, and one that states the correct size."""

FORGED = {
    "table": [
        *SKIPPABLE,
        zstd(bytes(1 << 24)),
        zstandard.ZstdCompressor(write_content_size=False).compress(b"\1\0\7"),
        zstd(b"\1\1\7" + bytes(600)),
        zstd(b"\2\0\7\7" + bytes(600)),
        zstd(b"\1\0\0"),
        zstd(b"\2\0\7\x09" + b"\2" * 600),
        zstd(b"\2\0\7\x09" + bytes(600))[:-2],
        zstd(b"\2\0\7\x09" + bytes(600)) + b"\0",
        zstd(b"\2\0\7\x09" + bytes(600)) + zstd(b""),
    ],
    "wdl": [
        *SKIPPABLE,
        zstd(bytes(1 << 24)),
        zstandard.ZstdCompressor(write_content_size=False).compress(bytes(120)),
        zstd(bytes(119)),
        zstd(bytes(121)),
        zstd(bytes(120)) + b"\0",
        zstd(bytes(119) + b"\xf3"),
        bytes(119) + b"\xf3",
        bytes(119) + b"\x51",  # a digit beyond the last of 599 slots
        random.Random(1).randbytes(121),
    ],
}


@pytest.mark.parametrize("kind", list(FORGED))
def test_forged_blocks_are_refused(tmp_path: Path, kind: str) -> None:
    """The C reader refuses the slots of an invalid block with a correct checksum, and no others."""
    if kind == "table":
        spec, slots_of_block, forged = spec_of("KPK"), 600, test_damage.forged_block
        path = write(tmp_path, spec, random_planes(spec, 1, 12), block_slots=slots_of_block)
    else:
        slots_of_block, forged = 599, test_wdl.forged_block
        path = write_outcomes(tmp_path, "KPK", random_outcomes("KPK", 5), block_slots=599)
    sound = path.read_bytes()
    files = [sound, *(forged(sound, block) for block in FORGED[kind])]
    boards = all_boards(Material.parse("KPK"))
    refused = int((Layout.of(Material.parse("KPK")).slots_of_boards(boards) < slots_of_block).sum())
    stream = [struct.pack("<i", len(boards)), records_of(boards, 0)]
    stream += [struct.pack("<i", len(data)) + data for data in files]
    program = cprograms.harness("addresses", *ADDRESSES)
    output = run(program, "mutants", NONE, "100000", path, records=b"".join(stream))
    expected = [[0, 0, 0]] + [[0, refused, 0]] * len(FORGED[kind])
    assert results_of(output)[:, :3].tolist() == expected


def is_sound(path: Path, data: bytes) -> bool:
    """Write `data` to `path`; return whether Python opens the file as the one that it names."""
    path.write_bytes(data)
    try:
        WdlFile(path, name=WdlName.parse(path.name)).close()
    except (CorruptTableError, FormatVersionError):
        return False
    return True


def python_outcome(path: Path, side: int, slot: int) -> int | None:
    """Return the outcome of a slot by Python's reader; None if it refuses the slot's block."""
    with WdlFile(path) as file:
        try:
            return int(file.outcome(side, slot))
        except CorruptTableError:
            return None


def mutate(folder: Path, count: int) -> None:
    """Let the C reader read damaged win-draw-loss files under the sanitizers; check the results.

    There are `count` files with compressed blocks, and `count` with plain ones. No file may crash
    the reader. Damage must be noticed, unless the checksums were corrected after it. Of the first
    200 files of each kind, Python must open the same ones, with as many unreadable positions.
    """
    program = cprograms.harness("addresses", *ADDRESSES)
    for number, plain in enumerate((False, True)):
        layout = Layout.of(Material.parse("KPKA"))
        red, black = random_outcomes("KPKA", 2)
        black[:5000] = DRAW
        path = write_outcomes(
            folder,
            "KPKA",
            (red, black),
            block_slots=2000,
            arrangements=some_arrangements(layout, 3),
            plain=plain,
        )
        sound = path.read_bytes()
        boards = all_boards(Material.parse("KPKA"))
        boards = boards[np.random.default_rng(1).choice(len(boards), 150)]
        slots = layout.slots_of_boards(boards)
        files = [(sound, True), *mutants(sound, count, seed=number)]
        stream = [struct.pack("<i", len(boards)), records_of(boards, 0)]
        stream += [struct.pack("<i", len(data)) + data for data, _ in files]
        output = run(program, "mutants", NONE, "100000", path, records=b"".join(stream))
        results = results_of(output)
        assert len(results) == len(files)
        assert results[0, :3].tolist() == [0, 0, 0]
        # -9: a forged header with a rule set that the reader does not know.
        assert {0, -4} <= set(results[:, 0].tolist()) <= {0, -4, -5, -9, -10}
        honest = np.array([not forgery for _, forgery in files])
        assert not results[honest, 2].any(), "damage went unnoticed"
        for (data, _), (status, errors, _) in list(
            zip(files, results[:, :3].tolist(), strict=True)
        )[:200]:
            assert is_sound(path, data) == (status == 0)
            if status == 0 and errors:
                found = [python_outcome(path, 0, int(slot)) for slot in slots]
                assert found.count(None) == errors


def test_mutated_files(tmp_path: Path) -> None:
    mutate(tmp_path, 150)


@pytest.mark.certification
def test_many_mutated_files(tmp_path: Path) -> None:
    """The C reader reads 14 000 damaged win-draw-loss files without a crash, and reports damage."""
    mutate(tmp_path, 7000)
