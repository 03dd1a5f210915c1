"""Packing: the outcome of every position of a table, and no incomplete file."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from tbgen.building.packing import pack_table
from tbgen.cli import main
from tbgen.indexing import Material, Side
from tbgen.retrograde.outcomes import OutcomePlanes, encode
from tbgen.tables import CorruptTableError, TableFile, WdlFile
from tbgen.tables.outcomes import encode_outcomes, outcomes_of
from tests.helpers.built import built
from tests.helpers.random_outcomes import random_outcomes
from tests.helpers.random_tables import with_statistics

MATERIALS = ["KRK", "KNNK", "KPKA", "KRKN"]
"""Materials to pack: with one attacker, two identical pieces (twins), a pawn, and attackers on
both sides.
"""


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    for path in built(*MATERIALS).glob("*.xqt"):
        shutil.copy(path, tmp_path)
    return tmp_path


def run(tables: Path, *arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, ["pack", *arguments, "--tables", str(tables)])
    return result.exit_code, result.stdout, result.stderr


def test_a_bundle(tables: Path, tmp_path: Path) -> None:
    """`pack --out` writes WDL files and their lists to its directory and an archive, not elsewhere.

    Later runs write an equal archive. A directory with files of other rules is refused.
    """
    out = tmp_path / "out"
    status, said, _ = run(tables, "--men", "4", "--out", str(out))
    archive = out / "tbgen-check-wdl.zip"
    packed = sorted(path.name for path in out.glob("*.wdl.xqt"))
    assert (status, said.splitlines()[-1].split(":")[0]) == (0, str(archive))
    assert len(packed) == len(list(tables.glob("*.dtm.xqt")))
    assert not list(tables.glob("*.wdl.xqt"))
    sums = subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=out)
    assert sums.returncode == 0
    rows = list(csv.DictReader((out / "index.csv").open(encoding="ascii")))
    assert sorted(row["file"] for row in rows) == packed
    for row in rows:
        with TableFile(tables / row["source"]) as table:
            assert table.header.digest.hex() == row["source_digest"]
    with zipfile.ZipFile(archive) as members:
        others = {"README.txt", "LICENSE.txt", "index.csv", "SHA256SUMS"}
        assert set(members.namelist()) == {*packed, *others}
        assert f"{len(packed)} files" in members.read("README.txt").decode()
        assert members.read("KRKN.check.wdl.xqt") == (out / "KRKN.check.wdl.xqt").read_bytes()
    before = archive.read_bytes()
    # The lists of a later run have the files of earlier ones.
    for chosen in (["--men", "4"], ["KRKN"]):
        status, said, _ = run(tables, *chosen, "--out", str(out))
        assert (status, f": {len(packed)} files" in said) == (0, True)
        assert archive.read_bytes() == before
    (out / "KRK.none.wdl.xqt").touch()
    status, _, said = run(tables, "KRKN", "--out", str(out))
    assert (status, "has files of other rules: KRK.none.wdl.xqt" in said) == (2, True)


def test_a_bundle_has_no_damaged_file(tables: Path) -> None:
    """A file of an earlier run whose blocks are damaged gets no checksum, and no new archive."""
    out = tables / "out"
    assert run(tables, "KRKN", "KRK", "--out", str(out))[0] == 0
    before = (out / "SHA256SUMS").read_bytes(), (out / "tbgen-check-wdl.zip").read_bytes()
    file = out / "KRKN.check.wdl.xqt"
    content = bytearray(file.read_bytes())
    content[1500] ^= 1
    file.write_bytes(content)
    status, _, said = run(tables, "KRK", "--out", str(out))
    assert (status, "KRKN.check.wdl.xqt, block" in said) == (3, True)
    assert before == ((out / "SHA256SUMS").read_bytes(), (out / "tbgen-check-wdl.zip").read_bytes())


def test_a_bundle_of_large_files(tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Members above 2 GiB, here above 1 KiB, are stored with the header that they need."""
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 1 << 10)
    status, said, _ = run(tables, "KRKN", "--out", str(tables / "out"))
    assert (status, "zip: 1 file, " in said) == (0, True)
    with zipfile.ZipFile(tables / "out" / "tbgen-check-wdl.zip") as archive:
        assert max(member.file_size for member in archive.infolist()) > 1 << 10
        assert archive.testzip() is None


@pytest.mark.parametrize("material", MATERIALS)
@pytest.mark.parametrize("plain", [False, True])
def test_every_position_has_the_outcome_of_its_table(
    tables: Path, material: str, plain: bool
) -> None:
    with TableFile(tables / f"{material}.check.dtm.xqt") as table:
        packed = pack_table(table, tables, plain=plain)
        assert not packed.kept
        assert pack_table(table, tables, plain=plain, threads=2).kept
        planes = OutcomePlanes(table, 2)
        with WdlFile(tables / packed.name.filename, name=packed.name) as file:
            file.check()
            stored = table.statistics
            for side, counts in zip(Side, (stored.red_to_move, stored.black_to_move), strict=True):
                plane = planes.plane(side)
                there = plane != 0
                assert there.sum() == counts.legal
                theirs = outcomes_of(table.plane(side), table.code_space)
                assert (file.plane(side)[there] == theirs[there]).all()
            assert file.statistics.source.digest == table.header.digest.hex()


def test_threads_do_not_change_the_bytes(tables: Path) -> None:
    with TableFile(tables / "KRKN.check.dtm.xqt") as table:
        name = pack_table(table, tables).name.filename
        once = (tables / name).read_bytes()
        assert not pack_table(table, tables, threads=3, force=True).kept
        assert (tables / name).read_bytes() == once


def test_the_kernel_packs_in_the_documented_format() -> None:
    rng = np.random.default_rng(6)
    blocks = [random_outcomes("KRK", seed, empty=empty)[0] for seed, empty in ((1, 0.4), (2, 0.99))]
    blocks += [np.zeros(17, np.uint8), np.full(23, 3, np.uint8), np.array([0, 0, 1], np.uint8)]
    for block in blocks:
        for _ in range(20):
            first, end = np.sort(rng.integers(0, len(block) + 1, 2))
            part = block[first : end + 1]
            if len(part):
                assert encode(part, 2) == encode_outcomes(part, 2)


def test_a_file_of_another_table_is_rewritten(tables: Path) -> None:
    path = tables / "KRK.check.dtm.xqt"
    with TableFile(path) as table:
        name = pack_table(table, tables).name
        text = table.metadata()
    # The same values with other statistics have another digest.
    path.write_bytes(
        with_statistics(path.read_bytes(), text.replace(b'"longest":', b'"longest" :'))
    )
    with TableFile(path) as table:
        assert pack_table(table, tables).kept  # its header still has the old digest
    (tables / name.filename).write_bytes(b"damage")
    with TableFile(path) as table:
        assert not pack_table(table, tables).kept
    assert run(tables, "KRK")[0] == 0


def test_a_file_without_contents_of_blocks_is_kept(
    tables: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(WdlFile, "is_plain", None)
    with TableFile(tables / "KRK.check.dtm.xqt") as table:
        assert not pack_table(table, tables).kept
        assert all(pack_table(table, tables, plain=plain).kept for plain in (False, True))


def test_wrong_counts_in_statistics_are_damage(tables: Path) -> None:
    path = tables / "KRK.check.dtm.xqt"
    with TableFile(path) as table:
        facts = json.loads(table.metadata())
    line = next(bar for bar in facts["histogram"] if bar["side"] == "red")
    for counts, key in ((line, "positions"), (facts["red_to_move"], "legal")):
        counts[key] += 1
    facts["red_to_move"][f"{line['outcome']}{'s' if line['outcome'] != 'loss' else 'es'}"] += 1
    path.write_bytes(with_statistics(path.read_bytes(), json.dumps(facts).encode()))
    with TableFile(path) as table, pytest.raises(CorruptTableError, match="count other positions"):
        pack_table(table, tables)
    assert not list(tables.glob("*.wdl.xqt"))
    status, _, error = run(tables, "KRK")
    assert (status, "count other positions" in error) == (3, True)


def test_the_command(tables: Path) -> None:
    status, out, _ = run(tables, "--men", "4", "--json")
    entries = json.loads(out)["files"]
    assert status == 0
    assert {entry["written"] for entry in entries} == {True}
    assert {entry["file"].split(".")[0] for entry in entries} == {
        path.name.split(".")[0] for path in tables.glob("*.check.dtm.xqt")
    }
    assert json.loads(run(tables, "krnk", "krk", "--json")[1])["error"]  # no table of KRNK
    status, out, _ = run(tables, "KRK", "knkr")
    assert (status, out.count("present")) == (0, 2)
    assert run(tables, "KR*", "--attackers", "1")[1].count("present") == 1
    assert run(tables)[0] == 2
    assert run(tables, "KAK")[0] == 2


def test_a_build_packs_its_supporting_tables(tables: Path) -> None:
    arguments = ["build", "KRKN", "--rules", "check", "--wdl", "--tables", str(tables)]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    wanted = {str(m) for m in Material.parse("KRKN").closure() if m.needs_table}
    assert {path.name.split(".")[0] for path in tables.glob("*.wdl.xqt")} == wanted
    # A current file of either kind is kept.
    assert run(tables, "KRK", "--plain")[0] == 0
    before = (tables / "KRK.check.wdl.xqt").read_bytes()
    assert CliRunner().invoke(main, arguments).exit_code == 0
    assert (tables / "KRK.check.wdl.xqt").read_bytes() == before


def test_ls_lists_the_files(tables: Path) -> None:
    assert run(tables, "KRK", "KNNK")[0] == 0
    arguments = ["ls", "--tables", str(tables)]
    result = CliRunner().invoke(main, arguments)
    assert (result.exit_code, result.stdout.count("2 win-draw-loss files")) == (0, 1)
    result = CliRunner().invoke(main, [*arguments, "K[NR]*", "--attackers", "1", "--json"])
    chosen = json.loads(result.stdout)
    assert [entry["file"] for entry in chosen["wdl"]] == ["KRK.check.wdl.xqt"]
    assert [entry["material"] for entry in chosen["tables"]] == ["KNK", "KRK"]
    (tables / "KRK.check.wdl.xqt").write_bytes(b"damage")
    result = CliRunner().invoke(main, [*arguments, "--json"])
    entries = {entry["file"]: entry for entry in json.loads(result.stdout)["wdl"]}
    assert result.exit_code == 3
    assert entries["KNNK.check.wdl.xqt"]["source"] == "KNNK.check.dtm.xqt"
    assert "damaged" in entries["KRK.check.wdl.xqt"]["error"]
