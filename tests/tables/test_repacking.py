"""Repacking a table keeps contents and digest, and a failure leaves the file unchanged."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tbgen.indexing import InputError
from tbgen.publishing.index import index_of, pack_all_densely, write_index
from tbgen.tables import CorruptTableError, TableFile
from tbgen.tables.files import locked
from tbgen.tables.names import TableName
from tbgen.tables.writer import pack_densely
from tests.helpers.random_tables import Planes, agrees, random_planes, spec_of, write


def repacked(path: Path, planes: Planes, threads: int = 1) -> int:
    """Repack a table, check that its contents equal `planes`, and return its size in bytes."""
    with TableFile(path) as before:
        statistics = before.statistics
        with TableFile(path) as other:
            size = pack_densely(before, threads=threads)
            assert other.code(0, 0) == other.plane(0)[0], "another open file stays what it was"
    with TableFile(path) as after:
        after.check()
        assert after.header.digest == before.header.digest
        assert after.statistics == statistics
        assert after.header.file_size == size == path.stat().st_size
        for side, plane in enumerate(planes):
            assert agrees(after.plane(side), plane)
    return size


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    material=st.sampled_from(["KPK", "KRK", "KRKA"]),
    width=st.sampled_from([1, 2, 4]),
    distinct=st.sampled_from([1, 2, 20, 257, 2000]),
    empty=st.sampled_from([0.0, 0.3, 1.0]),
    block_slots=st.sampled_from([90, 1000, None]),
    seed=st.integers(0, 99),
)
def test_contents_and_digest_are_kept(
    tmp_path: Path,
    material: str,
    width: int,
    distinct: int,
    empty: float,
    block_slots: int | None,
    seed: int,
) -> None:
    spec = spec_of(material, width)
    planes = random_planes(spec, seed, distinct, empty)
    repacked(write(tmp_path, spec, planes, block_slots=block_slots), planes, threads=2)


@pytest.fixture
def table(tmp_path: Path) -> Iterator[tuple[Path, Planes]]:
    """Path and planes of a table that repacking shrinks: equal rows of 90 slots are far apart.

    After the test, no other file may be in its directory.
    """
    spec = spec_of("KRKN")
    rows = np.random.default_rng(3).integers(1, 30, (40, 90), np.uint8)
    chosen = np.random.default_rng(4).integers(0, 40, spec.slots // 90)
    planes = (rows[chosen].ravel(), rows[chosen[::-1]].ravel())
    yield write(tmp_path, spec, planes), planes
    assert [path.name for path in tmp_path.iterdir()] == [spec.name.filename]


def test_repacked_files_are_smaller_for_any_number_of_threads(table: tuple[Path, Any]) -> None:
    path, planes = table
    before = path.stat().st_size
    assert repacked(path, planes, threads=1) < before
    once = path.read_bytes()
    repacked(path, planes, threads=3)
    assert path.read_bytes() == once


def test_dense_tables_are_not_packed_again(table: tuple[Path, Any]) -> None:
    path, _ = table
    told: list[str] = []
    pack_all_densely(path.parent, told.append)
    before, index = path.stat().st_ino, write_index(path.parent, index_of(path.parent))
    told.clear()
    pack_all_densely(path.parent, told.append)
    assert (told, index.exists(), path.stat().st_ino) == ([], True, before)
    index.unlink()


def test_a_damaged_file_stays_unchanged(table: tuple[Path, Any]) -> None:
    path, _ = table
    data = bytearray(path.read_bytes())
    data[1000] ^= 1
    path.write_bytes(data)
    with TableFile(path) as file, pytest.raises(CorruptTableError):
        pack_densely(file)
    assert path.read_bytes() == data


def test_a_wrong_digest_is_refused(table: tuple[Path, Any]) -> None:
    path, _ = table
    data = path.read_bytes()
    with TableFile(path) as file:
        object.__setattr__(file.header, "digest", bytes(16))
        with pytest.raises(CorruptTableError, match="digest"):
            pack_densely(file)
    assert path.read_bytes() == data


def test_links_are_kept(table: tuple[Path, Any], tmp_path: Path) -> None:
    path, _ = table
    before = path.read_bytes()
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / path.name).symlink_to(path)
    told: list[str] = []
    pack_all_densely(linked, told.append)
    assert (linked / path.name).is_symlink()
    assert path.read_bytes() == before
    assert not told
    os.remove(linked / path.name)
    linked.rmdir()
    pack_all_densely(tmp_path, told.append)
    assert told[-1] == f"{path.name}: 100%"
    assert path.stat().st_size < len(before)


def test_a_table_in_use_is_not_packed(table: tuple[Path, Any]) -> None:
    """A build may replace the table meanwhile. The index stays until a table is packed."""
    path, _ = table
    name = TableName.parse(path.name)
    assert name is not None
    before, index = path.read_bytes(), write_index(path.parent, index_of(path.parent))
    with locked(path.parent / name.lock), pytest.raises(InputError, match="is locked by process"):
        pack_all_densely(path.parent)
    assert path.read_bytes() == before
    assert index.exists()
    pack_all_densely(path.parent)
    assert not index.exists()
