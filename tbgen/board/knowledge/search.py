"""Positions of a table that are worth showing, found in bounded time.

    search    all that can be asked, by the compiled code of `tbgen.finding`, in another process
    glance    positions with a value, for pages, without waiting for a compiler: the histogram
              tells how many there are, and tiles are looked at in an order that a seed tells

`Found` says which part of the table has been looked at, and nobody takes a sample for everything.
"""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tbgen.board.knowledge.library import Library
from tbgen.finding.query import Query, count_of
from tbgen.finding.scan import Scan
from tbgen.indexing import InputError, Material, Position, Side
from tbgen.rules import is_legal
from tbgen.tables import Outcome, TablebaseError, TableFile

SECONDS = 6.0
"""How long a search may take; a request may take longer (`http.SEARCH_SECONDS`)."""

SHOWN = 24
"""Positions of a page, or of an answer that is asked for no number of them."""

MOST_SHOWN = 200
"""Positions of any answer."""

FIRST = 8
"""Placements of a tile that are looked at before those of the next one."""

MOST_WINS = 2_000_000
"""Won positions of a table whose studies are searched: ten seconds of work."""

CACHE_BYTES = 128 << 20
"""Room for the codes of a side, and for blocks of tables that moves lead to."""


@dataclass(frozen=True)
class Found:
    """The findings of a search.

    There are `candidates` positions with a wanted value, and `share` of them (0 to 1, about) have
    been looked at: with 1 there are no more positions than these. Studies have `lengths`.
    """

    positions: tuple[Position, ...]
    candidates: int
    share: float
    lengths: tuple[int, ...] = ()


def has_studies(library: Library, material: Material) -> bool:
    """Return whether studies of a material are found while somebody waits."""
    figures, _ = library.statistics(material)
    return 0 < count_of(figures, Query(outcome=Outcome.WIN)) <= MOST_WINS


def search(
    library: Library,
    material: Material,
    wanted: Query,
    seed: int = 0,
    most: int = SHOWN,
    seconds: float = SECONDS,
    sort: str | None = None,
) -> Found:
    """At most so many positions of a table; another `seed` finds others, if there are more.

    With `sort`, one of `tbgen.finding.query.SORTS`, the first in that order of those that are found
    in the time. Mirror images are left out. Nothing differs where no other rule set is here.
    Kernels are compiled when they are first used. Raises like `Tablebase.probe` and `tbgen.find`,
    and `InputError` where studies would take too long.
    """
    if wanted.study and not has_studies(library, material):
        raise InputError(
            f"studies of {material} take too long to find here",
            f"tbgen find {material} --study",
        )
    file = library.tables.table(material)
    if wanted.differs and not _other_tables(library, file):
        return Found((), count_of(file.statistics, wanted), 1.0)

    def find() -> Found:
        # The process that serves pages never loads the compiler.
        from tbgen.finding.sample import sample

        found = sample(
            library.tables, material, wanted, seed=seed, most=most, seconds=seconds, sort=sort,
            cache_bytes=CACHE_BYTES,
        )  # fmt: skip
        rows = found.rows
        lengths = tuple(rows["length"].tolist()) if wanted.study else ()
        return Found(tuple(rows.positions()), found.candidates, found.share, lengths)

    return library.recall(("search", material, wanted, seed, most, sort), find)


def glance(
    library: Library,
    material: Material,
    wanted: Query,
    seed: int = 0,
    most: int = SHOWN,
    seconds: float = SECONDS,
) -> Found:
    """At most so many positions with a value; of `wanted` the value counts, and `differs`.

    Raises like `Tablebase.probe`.
    """

    def find() -> Found:
        deadline = time.monotonic() + seconds
        file = library.tables.table(material)
        scan = Scan(file, wanted, _other_tables(library, file) if wanted.differs else ())
        walk = _Walk(file, scan, seed, FIRST + 4 * most)
        found: list[Position] = []
        for position in walk.positions():
            library.tables.checkpoint()
            if time.monotonic() > deadline:
                break
            if position is not None:
                found.append(position)
                if len(found) >= most:
                    break
        return Found(tuple(found), scan.candidates, walk.share)

    return library.recall(("glance", material, wanted, seed, most), find)


class _Walk:
    """The placements of a table that have a wanted value, in an order that a seed tells.

    Some of each tile first, so that they are not all alike; then more and more of each.
    """

    def __init__(self, file: TableFile, scan: Scan, seed: int, first: int) -> None:
        self._file, self._scan, self._seed = file, scan, seed
        self._tiles = [(side, number) for side in scan.sides for number in range(file.tiles(side))]
        random.Random(seed).shuffle(self._tiles)
        self._each = max(FIRST, first // max(1, len(self._tiles)))
        self._all = dict.fromkeys(self._tiles, 0)
        self._seen = dict.fromkeys(self._tiles, 0)
        self._visited = 0

    @property
    def share(self) -> float:
        """The part of all placements that has been seen, as far as tiles have told theirs."""
        if not self._tiles:
            return 1.0
        whole = sum(self._all.values())
        seen = sum(self._seen.values()) / whole if whole else 1.0
        return seen * self._visited / len(self._tiles)

    def positions(self) -> Iterator[Position | None]:
        """Legal positions; None before a tile is read, and where a placement is no position."""
        each, left = self._each, self._tiles
        while left:
            for tile in left:
                yield None
                slots = self._slots(*tile)
                self._all[tile] = len(slots)
                self._visited = max(self._visited, 1 + self._tiles.index(tile))
                for slot in slots[self._seen[tile] : each]:
                    self._seen[tile] += 1
                    yield self._position(tile[0], int(slot))
            left = [tile for tile in left if self._seen[tile] < self._all[tile]]
            each *= 4

    def _slots(self, side: Side, number: int) -> NDArray[np.int64]:
        """The slots of a tile that have a wanted value, shuffled; not all are positions."""
        found = []
        for first, codes in self._file.tile(side, number):
            slots = np.arange(first, first + len(codes))
            found.append(slots[self._scan.select(side, slots, codes)])
        chance = np.random.default_rng((self._seed, int(side), number))
        return chance.permutation(np.concatenate(found))

    def _position(self, side: Side, slot: int) -> Position | None:
        """The position of a slot; None for a hole, a mirror image, or what is not legal."""
        position = self._file.layout.position(slot, side)
        if position is None or not is_legal(position):
            return None
        return position if self._file.layout.slot(position) == slot else None


def _other_tables(library: Library, file: TableFile) -> tuple[TableFile, ...]:
    """The tables of the same material under other rule sets that are here."""
    material, found = file.header.spec.name.material, []
    for tables in library.others():
        with contextlib.suppress(TablebaseError, OSError):
            found.append(tables.table(material))
    return tuple(found)
