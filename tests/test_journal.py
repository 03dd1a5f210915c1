"""Records of positions: what is written comes back, whatever the rows."""

import numpy as np
import pytest

from tbgen.jit import borrowing_kernel
from tbgen.retrograde.journal import (
    ROW_BYTES,
    Journal,
    Log,
    PackedRows,
    Waiting,
    k_mark,
    k_record,
    k_unpack_rows,
    read_row,
    write_row,
)
from tbgen.retrograde.parallel import CHUNK_SLOTS, RANGES, Chunks
from tbgen.retrograde.storage import Storage

WORD = (1 << 45) - 1


@borrowing_kernel
def k_there_and_back(out, at, gap, lo, hi):
    """Write a row, and read it again."""
    return write_row(out, at, gap, lo, hi), read_row(out, at)


def random_rows(count: int, density: float, seed: int = 1) -> np.ndarray:
    """uint64 (count, 2): some rows empty, some full, the others of a density."""
    rng = np.random.default_rng(seed)
    bits = rng.random((count, 2, 45)) < density
    rows = (bits.astype(np.uint64) << np.arange(45, dtype=np.uint64)).sum(axis=2, dtype=np.uint64)
    rows[rng.random(count) < 0.3] = 0
    rows[rng.random(count) < 0.1] = WORD
    return rows


def recorded(rows: np.ndarray, chunks: Chunks) -> list[np.ndarray]:
    """A record for each chunk."""
    out = np.zeros(ROW_BYTES * len(rows), np.uint8)
    ends = np.zeros(chunks.number, np.int64)
    k_record(0, chunks.number, chunks.size, rows, out, ends, chunks.leads, chunks.mids)
    return np.split(out[: ends[-1]], ends[:-1])


@pytest.mark.parametrize("gap", [0, 1, -1, 63, 64, -64, -65, 8191, -8193, 10**6, -(10**6)])
@pytest.mark.parametrize(("lo", "hi"), [(1, 0), (0, 1 << 44), (WORD, WORD), (0b1011, 1 << 20)])
def test_a_row_comes_back(gap: int, lo: int, hi: int) -> None:
    out = np.zeros(64, np.uint8)
    end, row = k_there_and_back(out, 3, gap, np.uint64(lo), np.uint64(hi))
    assert end - 3 <= ROW_BYTES
    assert row == (end, gap, lo, hi)


@pytest.mark.parametrize("density", [0.01, 0.1, 0.5])
def test_a_set_comes_back_from_its_records(density: float) -> None:
    chunks = Chunks(leads=7, size=3, mids=20)
    rows = random_rows(140, density)
    packed, target = PackedRows(Storage()), np.zeros_like(rows)
    for chunk, record in enumerate(recorded(rows, chunks)):
        packed.add(chunk, record)
    for chunk in packed.chunks:
        k_unpack_rows(packed.record(chunk), chunks.row_0(chunk), True, target)
    assert np.array_equal(target, rows)


def test_marks_are_added_within_a_set_and_taken_out_everywhere() -> None:
    rows, within, target = (random_rows(50, 0.2, seed) for seed in (1, 2, 3))
    (record,) = recorded(rows, Chunks(leads=1, size=1, mids=50))
    added, removed = target.copy(), target.copy()
    k_mark(record, 0, True, within, added)
    k_mark(record, 0, False, within, removed)
    assert np.array_equal(added, target | (rows & within))
    assert np.array_equal(removed, target & ~rows)


def test_a_journal_writes_the_codes_of_its_records() -> None:
    """So many that pieces are compressed; the last ones are still open."""
    chunks = Chunks(leads=1, size=1, mids=400)
    journal, expected = Journal(1, Storage()), np.zeros(400 * 90, np.uint16)
    free = np.full((400, 2), WORD, np.uint64)
    for code in range(1, 60):
        rows = random_rows(400, 0.02, code) & free
        free &= ~rows
        (record,) = recorded(rows, chunks)
        journal.add(0, code, record)
        for row, word in np.argwhere(rows):
            for bit in range(45):
                if int(rows[row, word]) >> bit & 1:
                    expected[row * 90 + 45 * word + bit] = code
    codes = np.zeros_like(expected)
    journal.fill(0, codes)
    assert np.array_equal(codes, expected)


def test_lists_wait_by_code() -> None:
    rng = np.random.default_rng(5)
    slots = np.sort(rng.choice(50 * 90, 2000, replace=False)).astype(np.uint32)
    codes = rng.choice([3, 700, 65535], 2000).astype(np.uint16)
    waiting = Waiting(Storage())
    waiting.add_lists(4, codes, slots)
    waiting.add_lists(5, codes[:0], slots[:0])
    assert sorted(waiting.codes) == [3, 700, 65535]
    everywhere = np.full((50, 2), WORD, np.uint64)
    for code in waiting.codes:
        target = np.zeros((50, 2), np.uint64)
        for chunk, records in waiting.records(code):
            assert chunk == 4
            for record in records:
                k_mark(record, 0, True, everywhere, target)
        bits = (target[:, :, None] >> np.arange(45, dtype=np.uint64)) & np.uint64(1)
        assert np.array_equal(np.flatnonzero(bits), slots[codes == code])
    # Threads take chunk by chunk: each of them comes once, with the records of all codes.
    together = waiting.records(3, 700, 65535)
    assert [(chunk, len(records)) for chunk, records in together] == [(4, 3)]
    log = Log()
    log.add(4, together[0][1][0])
    log.add_all(together)
    assert [(chunk, len(records)) for chunk, records in log.take()] == [(4, 4)]
    assert log.take() == []
    waiting.drop(700)
    assert sorted(waiting.codes) == [3, 65535]
    assert waiting.records(700) == []


@pytest.mark.parametrize(
    ("leads", "mids"), [(1, 1), (45, 8100), (6372, 90), (45, 729000), (324, 8100)]
)
def test_chunks_cover_the_leads(leads: int, mids: int) -> None:
    chunks = Chunks.of(leads, mids)
    ranges = [chunks.lead_range(chunk) for chunk in range(chunks.number)]
    assert [lead for first, last in ranges for lead in range(first, last)] == list(range(leads))
    assert chunks.size == 1 or chunks.rows * 90 <= CHUNK_SLOTS
    assert chunks.size <= -(-leads // RANGES)
