"""Journals, in which the solver appends records: a code, and the set of positions that have it.

A journal must give every position its code, and find the records added after a given moment.
"""

from __future__ import annotations

import numpy as np
import pytest

from tbgen.retrograde.journal import Journal, LaterRecords, Waiting
from tbgen.rows.sets import k_add
from tbgen.rows.storage import Storage
from tbgen.rows.workers import Chunks
from tbgen.tables.codes import CodeSpace
from tbgen.tables.palettes import Palette
from tests.helpers.rows import WORD, random_rows, recorded


def test_a_journal_writes_the_codes_of_its_records() -> None:
    """A journal writes each position's code into an array, from all of its segments.

    Full segments are compressed; the last one is still open.
    """
    chunks = Chunks(leads=1, size=1, mids=400)
    journal, expected = Journal(1, Storage()), np.zeros(400 * 90, np.uint16)
    free = np.full((400, 2), WORD, np.uint64)
    for code in range(7, 40000, 800):
        rows = random_rows(400, 0.02, code) & free
        free &= ~rows
        (record,) = recorded(rows, chunks)
        journal.add(code, 0, record)
        for row, word in np.argwhere(rows):
            for bit in range(45):
                if int(rows[row, word]) >> bit & 1:
                    expected[row * 90 + 45 * word + bit] = code
    palette = Palette.of(CodeSpace(2), journal.codes)
    numbers = np.zeros(expected.shape, palette.dtype)
    journal.fill(0, palette, numbers)
    assert numbers.dtype == np.uint8
    assert np.array_equal(palette.codes_of(numbers), expected)


@pytest.mark.parametrize("saved", [False, True])
def test_records_after_a_cursor_are_found(saved: bool) -> None:
    """Records added after a moment, noted as a cursor, are found with codes above a bound.

    Tested is every cursor in compressed and open segments, also after saving and loading.
    """
    rng = np.random.default_rng(3)
    journal, noted, cursors = Journal(3, Storage()), [], []
    for n in range(100):
        cursors.append(journal.cursors)
        code, chunk = int(rng.integers(1, 100)), int(rng.integers(2))
        record = rng.integers(0, 255, int(rng.integers(1, 6000))).astype(np.uint8)
        journal.add(code, chunk, record)
        noted.append((code, chunk, record))
        if saved and n == 70:
            segments = list(journal.segments())
            journal = Journal(3, Storage())
            for segment in segments:
                journal.append_segment(*segment)
    assert len({place[0][0] for place in cursors}) > 3, "segments were compressed"
    for n, place in enumerate(cursors):
        found = LaterRecords(journal, place, 50)
        assert len(found) == len({chunk for _, chunk, _ in noted[n:]})
        for chunk, records in found[:]:
            expected = [r for code, where, r in noted[n:] if where == chunk and code > 50]
            assert [r.tolist() for r in records] == [r.tolist() for r in expected]
    assert len(LaterRecords(journal, journal.cursors, 0)) == 0


def test_waiting_lists_are_stored_by_code() -> None:
    rng = np.random.default_rng(5)
    slots = np.sort(rng.choice(50 * 90, 2000, replace=False)).astype(np.uint32)
    codes = rng.choice([3, 700, 65535], 2000).astype(np.uint16)
    waiting = Waiting(Storage())
    palette = Palette.of(CodeSpace(2), set(codes.tolist()))
    numbers = palette.numbers(codes.tolist()).astype(palette.dtype)
    waiting.add_lists(4, numbers, slots, palette)
    waiting.add_lists(5, numbers[:0], slots[:0], palette)
    assert sorted(waiting.codes) == [3, 700, 65535]
    for code in waiting.codes:
        target = np.zeros((50, 2), np.uint64)
        ((chunk, records),) = waiting.records(code)[:]
        assert chunk == 4
        for record in records:
            k_add(record, 0, False, target, target)
        bits = (target[:, :, None] >> np.arange(45, dtype=np.uint64)) & np.uint64(1)
        assert np.array_equal(np.flatnonzero(bits), slots[codes == code])
    waiting.drop(700)
    assert sorted(waiting.codes) == [3, 65535]
    assert len(waiting.records(700)) == 0
