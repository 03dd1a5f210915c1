"""Positions of a table, found in bounded time.

search               all conditions, by compiled code; the board calls it in another process
positions_of_value   conditions on the value, without loading the compiler

A *slot* is the number of a position in a table, for one side to move; a *tile* is a part of the
slots.
"""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tbgen.board.knowledge.store import TableStore
from tbgen.finding.query import Query
from tbgen.finding.value_filter import ValueFilter
from tbgen.indexing import InputError, Material, Position, Side
from tbgen.rules import is_legal
from tbgen.tables import Outcome, TablebaseError, TableFile

SECONDS = 6.0
"""Default time limit of a search in seconds; less than `tbgen.board.web.http.ANSWER_SECONDS`."""

SHOWN = 24
"""Default maximum number of positions in a page or an answer."""

MOST_SHOWN = 200
"""Largest number of positions that a request may ask for (`limit`)."""

FIRST_PER_TILE = 8
"""Minimum number of matching slots per tile, or all, in the first round of a `_TileScan`."""

MOST_WINS = 2_000_000
"""Limit on a table's won positions for a search of studies (wins by unique moves): ten seconds."""

CACHE_BYTES = 128 << 20
"""Limit in bytes of each of the two caches of `search` (`tbgen.finding.search.CACHE_BYTES`)."""


@dataclass(frozen=True)
class FoundPositions:
    """Positions found by a search of a table.

    candidates : number of positions whose value matches; other conditions may exclude some of them
    share : estimated part of the matching positions that was found, 0 to 1; with `sort`, only the
        first of those found are in `positions`
    complete : false if the time limit has cut the search short
    lengths : in a search of studies, for each position the number of plies for which the solution
        is unique; else empty
    """

    positions: tuple[Position, ...]
    candidates: int
    share: float
    complete: bool
    lengths: tuple[int, ...] = ()


def can_search_studies(store: TableStore, material: Material) -> bool:
    """Return whether a table has from 1 to `MOST_WINS` wins, for studies (by unique moves)."""
    figures, _ = store.statistics(material)
    return 0 < Query(outcome=Outcome.WIN).candidates(figures) <= MOST_WINS


def search(
    store: TableStore,
    material: Material,
    wanted: Query,
    seed: int = 0,
    most: int = SHOWN,
    seconds: float = SECONDS,
    sort: str | None = None,
) -> FoundPositions:
    """Return at most `most` positions that match `wanted`; another `seed` may give others.

    seconds : time limit; the first part of the table, with the compilation, does not count
    sort : one of `tbgen.finding.query.SORTS`; the positions found in time are sorted, and the first
        `most` returned

    Mirror images are left out. Kernels are compiled on first use. A complete result is cached in
    `store`. Raises like `Tablebase.table` and `tbgen.find`, and `InputError` for `differs` without
    a readable table of another rule set, and for `study` if `can_search_studies` is false.
    """
    if wanted.study and not can_search_studies(store, material):
        raise InputError(
            f"studies of {material} take too long to find here", f"tbgen find {material} --study"
        )
    file = store.tables.table(material)
    if wanted.differs and not _other_tables(store, file):
        raise InputError(f"no table of {material} under other rules is here", "leave out differs=1")

    def find() -> FoundPositions:
        # The process that serves pages never loads the compiler.
        from tbgen.finding.sample import sample

        rows, share = sample(
            store.tables, material, wanted, seed=seed, most=most, seconds=seconds, sort=sort,
            cache_bytes=CACHE_BYTES,
        )  # fmt: skip
        lengths = tuple(rows["length"].tolist()) if wanted.study else ()
        complete = share == 1 or (sort is None and len(rows) == most)
        candidates = wanted.candidates(file.statistics)
        return FoundPositions(tuple(rows.positions()), candidates, share, complete, lengths)

    return store.cached(
        ("search", material, wanted, seed, most, sort), find, lambda found: found.complete
    )


def positions_of_value(
    store: TableStore,
    material: Material,
    wanted: Query,
    seed: int = 0,
    most: int = SHOWN,
    seconds: float = SECONDS,
) -> FoundPositions:
    """Return at most `most` positions whose value matches `wanted`, found within `seconds`.

    Another `seed` may give other positions. Only the conditions on the value, `zugzwang` and
    `differs` are tested; without a table of another rule set nothing `differs`. A complete result
    is cached in `store`. Raises like `Tablebase.table`.
    """

    def find() -> FoundPositions:
        deadline, found = time.monotonic() + seconds, list[Position]()
        file = store.tables.table(material)
        others = _other_tables(store, file) if wanted.differs else ()
        value_filter = ValueFilter(file, wanted, others)
        tiles = _TileScan(file, value_filter, seed, FIRST_PER_TILE + 4 * most)
        for position in tiles.positions():
            store.tables.checkpoint()
            if time.monotonic() > deadline:
                break
            if position is not None:
                found.append(position)
                if len(found) >= most:
                    break
        complete = tiles.share == 1 or len(found) == most
        candidates = wanted.candidates(file.statistics)
        return FoundPositions(tuple(found), candidates, tiles.share, complete)

    return store.cached(
        ("positions_of_value", material, wanted, seed, most), find, lambda found: found.complete
    )


class _TileScan:
    """Search for positions of a table with a matching value, in an order that depends on a seed.

    For variety, the first round takes a few slots of each tile; later rounds take more.

    first : number of matching slots to examine in the first round, shared equally by the tiles; at
        least `FIRST_PER_TILE` in each
    """

    def __init__(self, file: TableFile, value_filter: ValueFilter, seed: int, first: int) -> None:
        self._file, self._value_filter, self._seed = file, value_filter, seed
        self._tiles = [
            (side, number) for side in value_filter.sides for number in range(file.tiles(side))
        ]
        random.Random(seed).shuffle(self._tiles)
        self._each = max(FIRST_PER_TILE, first // max(1, len(self._tiles)))
        self._all: dict[tuple[Side, int], int] = {}
        self._seen = dict.fromkeys(self._tiles, 0)

    @property
    def share(self) -> float:
        """Estimated part (0 to 1) of all matching slots that `positions` has examined."""
        if not self._tiles:
            return 1.0
        whole = sum(self._all.values())
        seen = sum(self._seen.values()) / whole if whole else 1.0
        return seen * len(self._all) / len(self._tiles)

    def positions(self) -> Iterator[Position | None]:
        """Yield the legal positions found, with None in between, for tests of a time limit.

        None comes before each visit of a tile, and for each slot that holds no position to show.
        """
        each, left, layout = self._each, self._tiles, self._file.layout
        while left:
            for side, number in left:
                yield None
                tile, slots = (side, number), self._slots(side, number)
                self._all[tile] = len(slots)
                for slot in map(int, slots[self._seen[tile] : each]):
                    self._seen[tile] += 1
                    position = layout.position(slot, side)
                    if position is None or not is_legal(position) or layout.slot(position) != slot:
                        position = None  # an unused slot, an illegal position or a mirror image
                    yield position
            left = [tile for tile in left if self._seen[tile] < self._all[tile]]
            each *= 4

    def _slots(self, side: Side, number: int) -> NDArray[np.int64]:
        """Return the slots of a tile with a matching value, shuffled; some of them are unused."""
        found = []
        for first, codes in self._file.tile(side, number):
            slots = np.arange(first, first + len(codes))
            found.append(slots[self._value_filter.select(side, slots, codes)])
        chance = np.random.default_rng((self._seed, int(side), number))
        return chance.permutation(np.concatenate(found))


def _other_tables(store: TableStore, file: TableFile) -> tuple[TableFile, ...]:
    """Return the readable tables of other rule sets for the material of `file`."""
    material, found = file.header.spec.name.material, []
    for tables in store.others():
        with contextlib.suppress(TablebaseError, OSError):
            found.append(tables.table(material))
    return tuple(found)
