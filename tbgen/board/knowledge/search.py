"""Positions of a table that are worth showing, found in bounded time.

    Query  ->  codes, from the histogram  ->  tiles in random order   ->  positions with that code
            ->  conditions that need moves: one good move, zugzwang, what decides  ->  Found

The histogram tells beforehand how many positions have a wanted value. All of them are looked at, or
as many as there is time for: `Found` says so, and nobody takes a sample for everything.
"""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tbgen.answers.mechanism import Offence, find_mechanism
from tbgen.board.knowledge.library import Library
from tbgen.finding.query import Query
from tbgen.finding.scan import Scan
from tbgen.indexing import Material, Position, Side
from tbgen.play.preference import RootMove
from tbgen.play.tablebase import GameTablebase
from tbgen.rules import in_check, is_legal
from tbgen.tables import Outcome, TablebaseError, TableFile

SECONDS = 6.0
"""How long a search may take; a request may take longer (`http.ANSWER_SECONDS`)."""

SHOWN = 24
"""Positions of a page, or of an answer that is asked for no number of them."""

MOST_SHOWN = 200
"""Positions of any answer."""

FIRST = 8
"""Placements of a tile that are looked at before those of the next one."""


@dataclass(frozen=True)
class Found:
    """The findings of a search.

    There are `candidates` positions with a wanted value, and `share` of them (0 to 1, about) have
    been looked at: with 1 there are no more positions than these.
    """

    positions: tuple[Position, ...]
    candidates: int
    share: float


def search(
    library: Library,
    material: Material,
    wanted: Query,
    seed: int = 0,
    most: int = SHOWN,
    seconds: float = SECONDS,
) -> Found:
    """At most so many positions of a table; another `seed` finds others, if there are more.

    Mirror images are left out. Raises like `Tablebase.probe`.
    """
    key = "search", material, wanted, seed, most
    return library.recall(key, lambda: _search(library, material, wanted, seed, most, seconds))


def _search(
    library: Library, material: Material, wanted: Query, seed: int, most: int, seconds: float
) -> Found:
    deadline = time.monotonic() + seconds
    file = library.tables.table(material)
    scan = Scan(file, wanted, _other_tables(library, file) if wanted.differs else ())
    walk = _Walk(file, scan, seed, FIRST + 4 * most)
    conditions = _conditions(library, wanted)
    found: list[Position] = []
    for position in walk.positions():
        library.tables.checkpoint()
        if time.monotonic() > deadline:
            break
        if position is not None and all(condition(position) for condition in conditions):
            found.append(position)
            if len(found) >= most:
                break
    return Found(tuple(found), scan.candidates, walk.share)


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


def _conditions(library: Library, wanted: Query) -> list[Callable[[Position], bool]]:
    """The conditions of a search beyond the value, the cheap ones first."""
    found: list[Callable[[Position], bool]] = []
    tables = library.tables
    if wanted.zugzwang:
        found.append(lambda position: is_zugzwang(tables, position))
    if wanted.only:
        found.append(lambda position: len(good_moves(tables, position) or ()) == 1)
    if wanted.offence is not None:
        # Whoever is checked for ever is in check whenever it is his turn.
        checks = wanted.offence == Offence.CHECK
        found.append(lambda position: in_check(position) == checks)
        found.append(lambda position: _offence(tables, position) == wanted.offence)
    return found


def is_zugzwang(tables: GameTablebase, position: Position) -> bool:
    """Return whether each side would do better if the other were to move; both are legal."""
    other = Position(position.board, position.side.other)
    if not is_legal(other):
        return False
    own, others = tables.probe(position).outcome, tables.probe(other).outcome
    return own < -others


def _other_tables(library: Library, file: TableFile) -> tuple[TableFile, ...]:
    """The tables of the same material under other rule sets that are here."""
    material, found = file.header.spec.name.material, []
    for tables in library.others():
        with contextlib.suppress(TablebaseError, OSError):
            found.append(tables.table(material))
    return tuple(found)


def good_moves(tables: GameTablebase, position: Position) -> list[RootMove] | None:
    """The moves that keep the win or the draw, if there are others; None where that is not known.

    In a lost position nothing is kept: None.
    """
    outcome = tables.probe(position).outcome
    if outcome == Outcome.LOSS:
        return None
    try:
        moves = tables.probe_root(position)
    except TablebaseError:
        return None
    if len(moves) < 2 or any(move.outcome is None for move in moves):
        return None
    return [move for move in moves if move.outcome == outcome]


def _offence(tables: GameTablebase, position: Position) -> Offence | None:
    """The loser's offence in a position; None where that is not known."""
    try:
        mechanism = find_mechanism(tables, position)
    except TablebaseError:
        return None
    return None if mechanism is None else mechanism.offence
