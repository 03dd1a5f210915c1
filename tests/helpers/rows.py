"""Random rows of a set of positions, and their compressed form (records).

A row is the ninety positions that differ only in the square of one piece, the inner one. Its 90
bits mark the positions that belong to the set.
"""

from __future__ import annotations

import numpy as np

from tbgen.rows.records import ROW_BYTES, k_record
from tbgen.rows.workers import Chunks

WORD = (1 << 45) - 1


def random_rows(count: int, density: float, seed: int = 1) -> np.ndarray:
    """Return random rows, uint64 (count, 2): two words of 45 bits, one bit for each square.

    density : share of set bits in most rows; about 30 % of the rows are empty, 10 % full
    """
    rng = np.random.default_rng(seed)
    bits = rng.random((count, 2, 45)) < density
    rows = (bits.astype(np.uint64) << np.arange(45, dtype=np.uint64)).sum(axis=2, dtype=np.uint64)
    rows[rng.random(count) < 0.3] = 0
    rows[rng.random(count) < 0.1] = WORD
    return rows


def recorded(rows: np.ndarray, chunks: Chunks) -> list[np.ndarray]:
    """Return the records, each uint8 (bytes,), of all chunks (groups of consecutive rows)."""
    out = np.zeros(ROW_BYTES * len(rows), np.uint8)
    ends = np.zeros(chunks.number, np.int64)
    k_record(0, chunks.number, chunks.size, rows, out, ends, chunks.leads, chunks.mids)
    return np.split(out[: ends[-1]], ends[:-1])
