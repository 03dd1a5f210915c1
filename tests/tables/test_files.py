"""Written files are read back: all widths, block sizes and threads; a failure leaves no file."""

import errno
import os
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tbgen.indexing.arrangement import Arrangement, possible_arrangements
from tbgen.indexing.layout import Layout
from tbgen.system.platform import read_at
from tbgen.tables import TableFile, blockfile, files
from tbgen.tables.blocks import (
    BLOCK_SLOTS,
    MAX_BLOCK_BYTES,
    Block,
    DistanceCodec,
    encode_filled,
    fill,
    safe_slots,
)
from tbgen.tables.cache import BlockCache
from tbgen.tables.files import locked, replacing
from tbgen.tables.header import _HEADER, HEADER_BYTES
from tbgen.tables.writer import PackedBlock, Packing, write_table
from tests.helpers.random_tables import (
    agrees,
    check_tiles,
    random_planes,
    some_arrangements,
    spec_of,
    statistics_of,
    write,
)

HUNDRED = Packing(block_slots=100)
MATERIALS = ["KPK", "KRK", "KRKA"]


def check_reading(path: Path, planes: tuple[NDArray[Any], NDArray[Any]]) -> None:
    with TableFile(path) as file:
        file.check(threads=2)
        for side, plane in enumerate(planes):
            for threads in (1, 2):
                assert agrees(file.plane(side, threads=threads), plane)
            slots = np.random.default_rng(1).integers(0, len(plane), 200)
            codes = file.codes(side, slots)
            assert agrees(codes, plane[slots])
            assert [file.code(side, slot) for slot in slots.tolist()] == codes.tolist()
        check_tiles(file)


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    material=st.sampled_from(MATERIALS),
    width=st.sampled_from([1, 2, 4]),
    distinct=st.sampled_from([1, 2, 20, 255, 256, 257, 2000]),
    empty=st.sampled_from([0.0, 0.3, 0.99, 1.0]),
    block_slots=st.sampled_from([1, 7, 90, 1000, 65536, None]),
    arranged=st.booleans(),
    seed=st.integers(0, 99),
)
def test_round_trip(
    tmp_path: Path,
    material: str,
    width: int,
    distinct: int,
    empty: float,
    block_slots: int | None,
    arranged: bool,
    seed: int,
) -> None:
    spec = spec_of(material, width)
    if block_slots is not None and spec.slots // block_slots > 4000:
        block_slots = 90
    planes = random_planes(spec, seed, distinct, empty)
    arrangements = None
    if arranged:
        arrangements = some_arrangements(Layout.of(spec.name.material), seed)
    path = write(
        tmp_path, spec, planes, threads=2, block_slots=block_slots, arrangements=arrangements
    )
    check_reading(path, planes)


@pytest.mark.parametrize(("width", "distinct"), [(1, 30), (2, 1000), (4, 300)])
def test_the_bytes_do_not_depend_on_threads(tmp_path: Path, width: int, distinct: int) -> None:
    spec = spec_of("KRKA", width)
    planes = random_planes(spec, 5, distinct)
    images = {
        write(tmp_path, spec, planes, threads=n, block_slots=9000).read_bytes() for n in (1, 3)
    }
    assert len(images) == 1
    check_reading(tmp_path / spec.name.filename, planes)


def test_two_writers_of_one_file_do_not_share_a_temporary_file(tmp_path: Path) -> None:
    """The last writer to end wins, and no other bytes are in the file."""
    path = tmp_path / "file"
    with replacing(path) as first:
        first.write(b"first" * 9)
        with replacing(path) as second:
            second.write(b"second")
        assert path.read_bytes() == b"second"
    assert path.read_bytes() == b"first" * 9
    assert list(tmp_path.iterdir()) == [path]


def test_the_arrangement_follows_the_codes(tmp_path: Path) -> None:
    spec = spec_of("KRKN")
    layout = Layout.of(spec.name.material)
    rng = np.random.default_rng(4)
    # Codes depend only on the knight for Red, on the rook and Black's king for Black.
    knight, rook = rng.integers(1, 100, (2, 90), np.uint8)
    by_rank = rng.integers(1, 100, (layout.defenders[1].size, 90), np.uint8)
    red = np.tile(knight, layout.rows)
    black = np.repeat(by_rank[layout.lead_ranks[1]] ^ rook, 90, axis=1).ravel()
    path = write(tmp_path, spec, (red, black))
    check_reading(path, (red, black))
    with TableFile(path) as file:
        of_red, of_black = file.header.arrangements
        chosen = file.header.file_size
    assert of_red.axes[0] == 2
    assert of_black.by_black
    as_indexed = possible_arrangements(layout, layout.slots)[0]
    path = write(tmp_path, spec, (red, black), arrangements=(as_indexed, as_indexed))
    assert chosen < path.stat().st_size


def test_blocks_of_many_codes_have_fewer_slots(tmp_path: Path) -> None:
    for width, distinct, block_slots in [
        (2, 200, BLOCK_SLOTS),
        (2, 3000, safe_slots(2)),
        (4, 3000, safe_slots(4)),
    ]:
        spec = spec_of("KRRK", width)
        planes = random_planes(spec, 8, distinct)
        with TableFile(write(tmp_path, spec, planes)) as file:
            assert file.header.block_slots == block_slots
            assert agrees(file.plane(1, threads=2), planes[1])


def test_different_contents_have_different_digests(tmp_path: Path) -> None:
    spec = spec_of("KPK")
    red, black = random_planes(spec, 1, empty=0.0)
    other = red.copy()
    other[100] ^= 1
    digests = set()
    for planes in ((red, black), (other, black), (black, red)):
        with TableFile(write(tmp_path, spec, planes)) as file:
            digests.add(file.header.digest)
    assert len(digests) == 3
    assert all(len(digest) == 16 for digest in digests)


def test_a_side_of_one_value_takes_no_blocks(tmp_path: Path) -> None:
    spec = spec_of("KRKR")
    plane = np.full(spec.slots, spec.codes.draw, np.uint8)
    plane[::3] = 0
    nothing = np.zeros(spec.slots, np.uint8)
    path = write(tmp_path, spec, (plane, nothing))
    assert path.stat().st_size < 600
    with TableFile(path) as file:
        file.check()
        assert file.header.blocks == (0, 0)
        assert (file.plane(0) == spec.codes.draw).all()
        # Slots without a position have an arbitrary valid code.
        assert file.code(1, 0) == spec.codes.draw
        assert file.codes(0, np.array([5, 1])).tolist() == [spec.codes.draw] * 2


def test_blocks_without_positions_cost_eight_bytes(tmp_path: Path) -> None:
    spec = spec_of("KRKR")
    plane = np.zeros(spec.slots, np.uint8)
    few = write(tmp_path, spec, (plane, plane), block_slots=1500).stat().st_size
    plane[:40] = np.arange(1, 41)
    with TableFile(write(tmp_path, spec, (plane, plane), block_slots=1500)) as file:
        assert file.header.blocks[0] > 200
        assert file.header.file_size < few + 8 * sum(file.header.blocks) + 6000


def test_fill_repeats_neighbouring_codes() -> None:
    codes = np.array([0, 0, 7, 0, 0, 9, 0], np.uint8)
    assert fill(codes, 128).tolist() == [7, 7, 7, 7, 7, 9, 9]
    assert fill(np.zeros(3, np.uint8), 128).tolist() == [128] * 3


@pytest.mark.parametrize("width", [1, 2, 4])
def test_decoded_blocks_stay_within_their_bound(width: int) -> None:
    rng = np.random.default_rng(2)
    for slots in (1, 5, safe_slots(width)):
        for distinct in (1, 2, 255, 256, 257, 5000):
            codes = rng.integers(1, min(distinct, 256**width - 1) + 1, slots).astype(f"u{width}")
            content = encode_filled(codes, 0)
            assert len(content) <= DistanceCodec(width).max_content(slots) <= MAX_BLOCK_BYTES
            block = Block(content, slots, width)
            out = np.empty_like(codes)
            block.write_to(out)
            assert (out == codes).all()
            assert block.code(slots - 1) == codes[-1]


def test_the_header_has_the_documented_size_and_no_padding() -> None:
    assert _HEADER.size == HEADER_BYTES == 168
    assert _HEADER.format.startswith("<")


class SourceFailedError(Exception):
    pass


@pytest.mark.parametrize("fails_at", [(0, 0), (0, 900), (1, 0), (1, 1500)])
def test_a_failing_source_leaves_no_file(tmp_path: Path, fails_at: tuple[int, int]) -> None:
    spec = spec_of("KPK")
    planes = random_planes(spec, 3)

    def source(side: int, first: int, count: int) -> NDArray[Any]:
        if (side, first) >= fails_at:
            raise SourceFailedError
        return planes[side][first : first + count]

    path = tmp_path / spec.name.filename
    statistics = statistics_of(spec, planes)
    with pytest.raises(SourceFailedError):
        write_table(path, spec, source, lambda: statistics, packing=HUNDRED, threads=2)
    assert list(tmp_path.iterdir()) == []
    kept = write(tmp_path, spec, planes).read_bytes()
    with pytest.raises(SourceFailedError):
        write_table(path, spec, source, lambda: statistics, packing=HUNDRED)
    assert [file.read_bytes() for file in tmp_path.iterdir()] == [kept]


def test_codes_of_another_width_are_refused(tmp_path: Path) -> None:
    spec = spec_of("KPK", 2)
    planes = random_planes(spec_of("KPK", 1), 3)
    with pytest.raises(ValueError, match="uint8"):
        write(tmp_path, spec, planes)
    with pytest.raises(ValueError, match="slots per block"):
        write(tmp_path, spec_of("KPK", 1), planes, block_slots=65537)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_an_os_error_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write(tmp_path, spec_of("KPK"), random_planes(spec_of("KPK"), 3))
    assert list(tmp_path.iterdir()) == []


def test_a_missing_directory_is_an_os_error(tmp_path: Path) -> None:
    spec = spec_of("KPK")
    with pytest.raises(FileNotFoundError) as caught:
        write(tmp_path / "nowhere", spec, random_planes(spec, 3))
    assert caught.value.filename == str(tmp_path / "nowhere" / spec.name.filename)  # the final name


def test_the_number_of_pending_blocks_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = spec_of("KRK")
    planes = random_planes(spec, 3)
    asked = written = 0

    def source(side: int, first: int, count: int) -> NDArray[Any]:
        nonlocal asked
        asked += 1
        assert 5 * asked - written <= 9 + 2 * 5  # a tile is packed, and the next one arranged
        return planes[side][first : first + count]

    def entry(block: PackedBlock) -> tuple[int, int]:
        nonlocal written
        written += 1
        return len(block.data), 0

    monkeypatch.setattr(PackedBlock, "entry", property(entry))
    write_table(
        tmp_path / "t.xqt",
        spec,
        source,
        lambda: statistics_of(spec, planes),
        packing=Packing(block_slots=20),
        arrangements=(Arrangement(1, (0, 1)), Arrangement(1, (0, 1))),
        threads=2,
    )
    assert (asked, written) == (2 * 45, 2 * 45 * 5)


def test_the_cache_stays_within_its_budget(tmp_path: Path) -> None:
    spec = spec_of("KRRK")
    planes = random_planes(spec, 3)
    path = write(tmp_path, spec, planes, block_slots=1000)
    cache = BlockCache(20_000)
    with TableFile(path, cache) as first, TableFile(path, cache) as second:
        for slot in range(0, spec.slots, 500):
            for file in (first, second):
                file.code(slot % 2, slot)
                assert cache.info.bytes <= 20_000
        assert 5 <= cache.info.blocks <= 20
        before = cache.info
        first.code(0, 0)
        first.code(0, 1)
        assert cache.info.hits == before.hits + 1
        assert cache.info.misses == before.misses + 1
    assert cache.info.blocks == 0
    assert cache.info.bytes == 0


def test_the_block_used_least_recently_is_evicted() -> None:
    """The cache evicts the block used least recently when a new block exceeds its budget.

    Blocks that fill the budget exactly are kept.
    """
    cache, block = BlockCache(30), cast(Any, np.zeros(10, np.uint8))
    for number in range(3):
        cache.put((1, number), block)
    assert cache.get((1, 0)) is block
    cache.put((1, 3), block)
    assert [cache.get((1, number)) is block for number in range(4)] == [True, False, True, True]


def test_a_cache_without_budget_is_empty(tmp_path: Path) -> None:
    spec = spec_of("KRK")
    planes = random_planes(spec, 3, empty=0.0)
    with TableFile(write(tmp_path, spec, planes), BlockCache(0)) as file:
        assert [file.code(0, 5), file.code(0, 5)] == [planes[0][5]] * 2


def test_many_threads_read_the_same_file(tmp_path: Path) -> None:
    spec = spec_of("KRRK")
    planes = random_planes(spec, 3, empty=0.0)
    path = write(tmp_path, spec, planes, block_slots=500)
    with TableFile(path, BlockCache(5_000)) as file:

        def read(seed: int) -> bool:
            rng = np.random.default_rng(seed)
            slots = rng.integers(0, spec.slots, 400)
            one_by_one = all(file.code(1, s) == planes[1][s] for s in slots[:150].tolist())
            return one_by_one and agrees(file.codes(0, slots), planes[0][slots])

        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(read, range(24)))


def test_slots_out_of_range_raise_index_error(tmp_path: Path) -> None:
    spec = spec_of("KRK")
    with TableFile(write(tmp_path, spec, random_planes(spec, 3))) as file:
        for slot in (-1, spec.slots):
            with pytest.raises(IndexError):
                file.code(0, slot)
            with pytest.raises(IndexError):
                file.codes(0, np.array([0, slot]))
        assert file.codes(0, np.array([], np.int64)).size == 0


def test_a_file_closed_during_a_read_is_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another thread closes the file, and opens another one that would get its number."""
    spec = spec_of("KRK")
    with TableFile(write(tmp_path, spec, random_planes(spec, 3))) as file:
        expected = file.code(0, 635)
    file = TableFile(file.path)

    def late(number: int, *arguments: int) -> bytes:
        file.close()
        with (tmp_path / "other").open("wb+"):
            return read_at(number, *arguments)

    monkeypatch.setattr(blockfile, "read_at", late)
    assert file.code(0, 635) == expected


def test_a_closed_file_raises(tmp_path: Path) -> None:
    spec = spec_of("KRK")
    file = TableFile(write(tmp_path, spec, random_planes(spec, 3)))
    file.close()
    file.close()
    with pytest.raises(ValueError, match="closed"):
        file.code(0, 0)


def test_a_lock_on_a_removed_file_is_taken_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The previous holder removes its lock file between our opening and our locking it."""
    path, usual = tmp_path / ".lock", files.lock
    removed: list[Path] = []

    def lock_late(*arguments: Any, **options: Any) -> None:
        if not removed:
            removed.append(path)
            path.unlink()
        usual(*arguments, **options)

    monkeypatch.setattr(files, "lock", lock_late)
    with locked(path):
        with pytest.raises(BlockingIOError), locked(path):
            pass
        assert path.exists()
    assert removed == [path]
    assert not path.exists()


@pytest.mark.parametrize(
    ("text", "holder"),
    [
        (None, f"process {os.getpid()} on {socket.gethostname()}"),
        (b"", "another process"),
        (b"42 node7.example.org\n", "process 42 on node7.example.org"),
        (b"42 \x1b[2J\n", "another process"),
        (b"42 " + b"n" * 999 + b"\n", "another process"),
    ],
    ids=["this", "empty", "other", "escapes", "too-long"],
)
def test_a_lock_names_its_holder(tmp_path: Path, text: bytes | None, holder: str) -> None:
    """Other texts, as of an older version or another program, name nobody."""
    path = tmp_path / ".lock"
    path.write_bytes(b"1 of_a_killed_process_with_a_long_name\n")
    with locked(path):
        if text is not None:
            path.write_bytes(text)
        with pytest.raises(BlockingIOError) as error, locked(path):
            pass
    assert (error.value.strerror, error.value.filename) == (f"locked by {holder}", str(path))


def test_a_lock_is_taken_on_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: Any) -> int:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "write", full)
    path, said = tmp_path / ".lock", "another process"
    with locked(path), pytest.raises(BlockingIOError, match=said), locked(path):
        pass
