"""Positions of a table that are worth showing, found in bounded time.

    Wanted  ->  codes, from the histogram  ->  tiles in random order  ->  positions with that code
            ->  conditions that need moves: one good move, zugzwang, what decides  ->  Found

The histogram tells beforehand how many positions have a wanted value. All of them are looked at, or
as many as there is time for: `Found` says so, and nobody takes a sample for everything.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tbgen.answers.mechanism import Offence, find_mechanism
from tbgen.board.insight import verdicts
from tbgen.board.library import Library
from tbgen.indexing import InputError, Material, Position, Side
from tbgen.play.preference import RootMove
from tbgen.play.tablebase import GameTablebase
from tbgen.rules import in_check, is_legal
from tbgen.tables import Outcome, TablebaseError, TableFile, TableStatistics, Value
from tbgen.tables.statistics import HistogramLine

SECONDS = 6.0
"""How long a search may take; a request may take longer (`http.ANSWER_SECONDS`)."""

SHOWN = 24
"""Positions of a page, or of an answer that is asked for no number of them."""

MOST_SHOWN = 200
"""Positions of any answer."""

FIRST = 8
"""Placements of a tile that are looked at before those of the next one."""

NO_END = 1 << 30
"""More plies, and more orders, than there are."""

FIELDS = ("turn", "outcome", "decided", "order", "least", "most", "only", "zugzwang", "differs")
"""What a query may ask of positions."""


@dataclass(frozen=True)
class Wanted:
    """What a position must be like.

    `turn` is the side to move and `outcome` what it has, None for any; `orders` and `plies` are the
    least and the most. `only`: one move alone keeps the win or the draw. `zugzwang`: whoever is to
    move does worse than if the other were. `offence`: what the loser of a repetition must begin
    with at once; the winner is to move. `differs`: another rule set that is here has another
    outcome.
    """

    turn: Side | None = None
    outcome: Outcome | None = None
    orders: tuple[int, int] = (0, NO_END)
    plies: tuple[int, int] = (0, NO_END)
    only: bool = False
    zugzwang: bool = False
    offence: Offence | None = None
    differs: bool = False

    def has(self, line: HistogramLine) -> bool:
        """Whether positions with that value are candidates."""
        side, outcome = _side(line), Outcome[line.outcome.upper()]
        plies = line.plies or 0
        return (
            self.turn in (None, side)
            and self.outcome in (None, outcome)
            and self.orders[0] <= line.order <= self.orders[1]
            and self.plies[0] <= plies <= self.plies[1]
            and not (self.only and outcome == Outcome.LOSS)
            and not (self.offence is not None and not (line.order and line.plies == 0))
        )


def read_wanted(asked: Mapping[str, str]) -> Wanted:
    """What a query asks for in its `FIELDS`; an empty one asks for nothing.

    Raises `InputError` for what is none of a field's values.
    """

    def one_of(name: str, *known: str) -> str:
        found = asked.get(name, "")
        if found and found not in known:
            raise InputError(f"{name} is none of {', '.join(known)}", f"{name}={known[0]}")
        return found

    def count(name: str, default: int) -> int:
        found = asked.get(name, "")
        if found and not (found.isascii() and found.isdecimal() and len(found) < 6):
            raise InputError(f"{name} is no number", f"{name}=15")
        return int(found) if found else default

    turn, outcome = one_of("turn", "red", "black"), one_of("outcome", "win", "draw", "loss")
    decided, order = one_of("decided", *Offence), count("order", -1)
    return Wanted(
        turn=Side[turn.upper()] if turn else None,
        outcome=Outcome[outcome.upper()] if outcome else None,
        orders=(0, NO_END) if order < 0 else (order, order),
        plies=(count("least", 0), count("most", NO_END)),
        only=one_of("only", "1") == "1",
        zugzwang=one_of("zugzwang", "1") == "1",
        differs=one_of("differs", "1") == "1",
        offence=Offence(decided) if decided else None,
    )


@dataclass(frozen=True)
class Found:
    """What a search has found.

    There are `candidates` positions with a wanted value, and `share` of them (0 to 1, about) have
    been looked at: with 1 there are no more positions than these.
    """

    positions: tuple[Position, ...]
    candidates: int
    share: float


def search(
    library: Library,
    material: Material,
    wanted: Wanted,
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
    library: Library, material: Material, wanted: Wanted, seed: int, most: int, seconds: float
) -> Found:
    deadline = time.monotonic() + seconds
    scan = _Scan(library.tables.table(material), wanted, seed, FIRST + 4 * most)
    conditions = _conditions(library, wanted)
    found: list[Position] = []
    for position in scan.positions():
        library.tables.checkpoint()
        if time.monotonic() > deadline:
            break
        if position is not None and all(condition(position) for condition in conditions):
            found.append(position)
            if len(found) >= most:
                break
    return Found(tuple(found), scan.candidates, scan.share)


class _Scan:
    """The placements of a table that have a wanted value, in an order that a seed tells.

    Some of each tile first, so that they are not all alike; then more and more of each.
    """

    def __init__(self, file: TableFile, wanted: Wanted, seed: int, first: int) -> None:
        lines = [line for line in file.statistics.histogram if wanted.has(line)]
        if wanted.offence == Offence.CHASE:
            none = {o.order for o in file.statistics.orders if o.chase_patterns == 0}
            lines = [line for line in lines if line.order not in none]
        self.candidates = sum(line.positions for line in lines)
        self._file, self._wanted, self._seed = file, wanted, seed
        self._codes = {
            side: np.array([_code(file, line) for line in lines if _side(line) == side], np.int64)
            for side in Side
        }
        self._tiles = [
            (side, number)
            for side in Side
            if len(self._codes[side])
            for number in range(file.tiles(side))
        ]
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
        file, draw = self._file, self._file.header.spec.codes.draw
        found = []
        for first, codes in file.tile(side, number):
            slots = np.flatnonzero(np.isin(codes, self._codes[side]))
            if self._wanted.zugzwang:
                own = np.sign(codes[slots].astype(np.int64) - draw)
                others = np.sign(file.codes(side.other, first + slots).astype(np.int64) - draw)
                slots = slots[own < -others]
            found.append(first + slots)
        chance = np.random.default_rng((self._seed, int(side), number))
        return chance.permutation(np.concatenate(found))

    def _position(self, side: Side, slot: int) -> Position | None:
        """The position of a slot; None for a hole, a mirror image, or what is not legal."""
        position = self._file.layout.position(slot, side)
        if position is None or not is_legal(position):
            return None
        return position if self._file.layout.slot(position) == slot else None


def _side(line: HistogramLine) -> Side:
    return Side[line.side.upper()]


def _code(file: TableFile, line: HistogramLine) -> int:
    value = Value(Outcome[line.outcome.upper()], line.order, line.plies or 0)
    return file.header.spec.codes.encode(value)


def _conditions(library: Library, wanted: Wanted) -> list[Callable[[Position], bool]]:
    """What is asked beyond the value, the cheap questions first."""
    found: list[Callable[[Position], bool]] = []
    tables = library.tables
    if wanted.zugzwang:
        found.append(lambda position: is_zugzwang(tables, position))
    if wanted.differs:
        found.append(lambda position: rules_matter(library, position))
    if wanted.only:
        found.append(lambda position: len(good_moves(tables, position) or ()) == 1)
    if wanted.offence is not None:
        # Whoever is checked for ever is in check whenever it is his turn.
        checks = wanted.offence == Offence.CHECK
        found.append(lambda position: in_check(position) == checks)
        found.append(lambda position: _offence(tables, position) == wanted.offence)
    return found


def is_zugzwang(tables: GameTablebase, position: Position) -> bool:
    """Whether each side would do better if the other were to move; both positions are legal."""
    other = Position(position.board, position.side.other)
    if not is_legal(other):
        return False
    own, others = tables.probe(position).outcome, tables.probe(other).outcome
    return own < -others


def rules_matter(library: Library, position: Position) -> bool:
    """Whether a position has another outcome under another rule set whose table is here."""
    known = verdicts(library, position, library.tables.probe(position))
    return len({result.outcome for _, result in known}) > 1


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
    """What the loser of a position does for ever; None where that is not known."""
    try:
        mechanism = find_mechanism(tables, position)
    except TablebaseError:
        return None
    return None if mechanism is None else mechanism.offence


def count_of(figures: TableStatistics, wanted: Wanted) -> int:
    """How many positions of a table have a wanted value."""
    return sum(line.positions for line in figures.histogram if wanted.has(line))
