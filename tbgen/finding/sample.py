"""A sample of the positions that match a query, in bounded time."""

from __future__ import annotations

import time

import numpy as np

from tbgen.finding.query import Query
from tbgen.finding.search import CACHE_BYTES, Search, first_rows
from tbgen.indexing import Material
from tbgen.play.tablebase import GameTablebase
from tbgen.probing.columns import TableColumns

LEAST_CHUNKS = 8
"""Least number of chunks of a sample without `sort`, time permitting: few give similar rows."""


def sample(
    tables: GameTablebase,
    material: Material,
    query: Query,
    *,
    seed: int,
    most: int,
    seconds: float,
    sort: str | None = None,
    cache_bytes: int = CACHE_BYTES,
) -> tuple[TableColumns, float]:
    """Return the rows of at most `most` positions that match a query, found in a limited time.

    The second value is the share (0 to 1) of the slots that were searched (`Search.share`), times
    the share of the found rows that a random choice has kept.

    Chunks are searched in random order. After each one the search ends if `seconds` have passed
    since the end of the first one. Without `sort`, it also ends once at least `LEAST_CHUNKS` chunks
    have given `most` positions, and a random choice of the rows is kept. With `sort`, one of
    `SORTS`, the first rows in that order are kept.

    seed : determines the order of chunks and the random choice
    cache_bytes : as for `Search`

    Raises like `Search`.
    """
    search = Search(tables, material, query, seed=seed, cache_bytes=cache_bytes, sort=sort)
    kept, found = search.nothing(), 0
    deadline = 0.0
    for number, part in enumerate(search.unsorted()):
        # The time starts after the first part, which may include compiling and decompressing.
        deadline = deadline or time.monotonic() + seconds
        found += part.rows
        kept = TableColumns.concatenate([kept, part])
        if sort is not None:
            kept = first_rows(kept, sort, most)
        elif found >= most and number + 1 >= LEAST_CHUNKS:
            break
        if time.monotonic() > deadline:
            break
    share = search.share
    if sort is None and found > most:
        share *= most / found
        chosen = np.random.default_rng(seed).permutation(found)[:most]
        kept = kept.take(np.sort(chosen))
    return kept, share
