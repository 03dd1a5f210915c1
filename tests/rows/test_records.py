"""Records, rows of a set as compact bytes: reading returns what was written."""

from __future__ import annotations

import numpy as np
import pytest

from tbgen.compiling.jit import borrowing_kernel
from tbgen.rows.frame import STRIDE
from tbgen.rows.records import ROW_BYTES, StoredRecords, k_record_lists, read_row, write_row
from tbgen.rows.sets import k_add, k_remove
from tbgen.rows.storage import Storage
from tbgen.rows.workers import CHUNK_SLOTS, FEW_CHUNKS, Chunks
from tests.helpers.rows import WORD, random_rows, recorded


@borrowing_kernel
def k_there_and_back(out, at, gap, lo, hi):
    """Write a row into the record `out` at offset `at`, and read it back.

    gap : row number minus that of the row before; lo, hi : the two words of the row

    Returns the results of `write_row`, the offset after the row, and of `read_row`, this offset,
    the gap and both words.
    """
    return write_row(out, at, gap, lo, hi), read_row(out, at)


@pytest.mark.parametrize("gap", [0, 1, -1, 63, 64, -64, -65, 8191, -8193, 10**6, -(10**6)])
@pytest.mark.parametrize(("lo", "hi"), [(1, 0), (0, 1 << 44), (WORD, WORD), (0b1011, 1 << 20)])
def test_a_written_row_is_read_back(gap: int, lo: int, hi: int) -> None:
    out = np.zeros(64, np.uint8)
    end, row = k_there_and_back(out, 3, gap, np.uint64(lo), np.uint64(hi))
    assert end - 3 <= ROW_BYTES
    assert row == (end, gap, lo, hi)


@pytest.mark.parametrize("density", [0.01, 0.1, 0.5])
def test_a_set_is_read_back_from_its_records(density: float) -> None:
    chunks = Chunks(leads=7, size=3, mids=20)
    rows = random_rows(140, density)
    packed, target = StoredRecords(Storage()), np.zeros_like(rows)
    for chunk, record in enumerate(recorded(rows, chunks)):
        packed.add(chunk, record)
    assert len(packed) == chunks.number
    for part in (packed[:2], packed[2:]):
        for chunk, (record,) in part:
            k_add(record, chunks.row_0(chunk), False, target, target)
    assert np.array_equal(target, rows)


def test_positions_are_added_within_a_set_and_removed_everywhere() -> None:
    rows, within, target = (random_rows(50, 0.2, seed) for seed in (1, 2, 3))
    (record,) = recorded(rows, Chunks(leads=1, size=1, mids=50))
    added, removed = target.copy(), target.copy()
    k_add(record, 0, True, within, added)
    k_remove(record, 0, removed)
    assert np.array_equal(added, target | (rows & within))
    assert np.array_equal(removed, target & ~rows)


def test_lists_of_slots_are_recorded_apart() -> None:
    rng = np.random.default_rng(5)
    lists = [np.sort(rng.choice(50 * STRIDE, size, replace=False)) for size in (1, 700, 2, 40)]
    starts, ends = np.cumsum([0, *map(len, lists)]), np.zeros(len(lists), np.int64)
    out = np.zeros(ROW_BYTES * starts[-1], np.uint8)
    k_record_lists(np.concatenate(lists).astype(np.uint32), starts, out, ends)
    for slots, record in zip(lists, np.split(out[: ends[-1]], ends[:-1]), strict=True):
        rows = np.zeros((50, 2), np.uint64)
        k_add(record, 0, False, rows, rows)
        assert np.array_equal(record, recorded(rows, Chunks(leads=1, size=1, mids=50))[0])
        bits = rows[:, :, None] >> np.arange(45, dtype=np.uint64) & np.uint64(1)
        assert np.array_equal(np.flatnonzero(bits), slots)


def test_kept_records_have_every_chunk_once() -> None:
    one, other = np.zeros(3, np.uint8), np.ones(2, np.uint8)
    kept = StoredRecords(Storage())
    for chunk, record in ((4, one), (4, other), (7, one), (4, other)):
        kept.add(chunk, record)
    assert [(chunk, len(records)) for chunk, records in kept[:]] == [(4, 3), (7, 1)]
    assert len(kept) == 2


@pytest.mark.parametrize(
    ("leads", "mids"), [(1, 1), (45, 8100), (6372, 90), (45, 729000), (324, 8100)]
)
def test_chunks_cover_the_leads(leads: int, mids: int) -> None:
    chunks = Chunks.of(leads, mids)
    ranges = [chunks.lead_range(chunk) for chunk in range(chunks.number)]
    assert [lead for first, last in ranges for lead in range(first, last)] == list(range(leads))
    assert chunks.size == 1 or chunks.rows * 90 <= CHUNK_SLOTS
    assert chunks.size <= -(-leads // FEW_CHUNKS)
