"""Search of a whole table for all positions that match a query.

    chunks, several at a time  ->  matching values  ->  legal positions  ->  pieces on squares
    parts, one after another   ->  `only`, `study`, `offence`  ->  sorted, or in order of chunks

A *part* has the rows found in one chunk.
"""

from __future__ import annotations

import itertools
import random
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from tbgen.answers.mechanism import Offence
from tbgen.finding.moves import NO_MOVE, only_moves
from tbgen.finding.query import ANY_NUMBER, SORTS, Query, read_pieces
from tbgen.finding.studies import NO_STUDY, lengths_of_studies
from tbgen.finding.value_filter import CodesOf, ValueFilter
from tbgen.indexing import InputError, Material, Position, Side, as_position
from tbgen.indexing.errors import excerpt
from tbgen.indexing.groups import MIRROR
from tbgen.indexing.squares import EMPTY, SQUARES
from tbgen.notation import parse_material, require_stronger_first
from tbgen.play.tablebase import GameTablebase, open_tablebase
from tbgen.probing import NumbaTables
from tbgen.probing.columns import TableColumns, columns_of_codes, columns_of_slots
from tbgen.probing.placements import squares_and_legality
from tbgen.rules import in_check
from tbgen.rules.board import MAX_MOVES
from tbgen.system.threads import thread_pool
from tbgen.tables import Metric, Outcome, TableFile
from tbgen.tables.blocks import MAX_BLOCK_BYTES

CHUNK = 1 << 18
"""Number of slots of a chunk in a search without a seed."""

SAMPLE_CHUNKS = 64
"""Number of chunks per side to move in a search with a seed; more to respect `SAMPLE_CHUNK`.

Small chunks in random order let the first rows come from all parts of the table.
"""

SAMPLE_CHUNK = 1 << 16
"""Maximum number of slots of a chunk in a search with a seed."""

CACHE_BYTES = 1 << 30
"""Limit in bytes for each of two caches: of blocks, and of the searched table's codes.

The cache of blocks is for all tables that one move can reach, and has at least `LEAST_BLOCK_BYTES`.
The limit for codes is for each side to move. If they fit, they are decompressed before the search,
which is then twice as fast.
"""

LEAST_BLOCK_BYTES = MAX_MOVES * MAX_BLOCK_BYTES
"""Minimum in bytes for the cache of blocks: a block for each move of a position.

With less, a search might never have all blocks of a position at once, and never end.
"""

_MIRROR = MIRROR.astype(np.uint8)


@dataclass(frozen=True, slots=True)
class Found:
    """A position found by a search, with its value (outcome, order, plies) and slot.

    `plies` is None for a draw. `length` is the length of a study's line in plies; None without
    `Query.study`.
    """

    position: Position
    outcome: Outcome
    order: int
    plies: int | None
    slot: int
    length: int | None = None

    @property
    def fen(self) -> str:
        """FEN of the position."""
        return self.position.fen


class Search:
    """All positions of a table that match a query: an iterable, with `columns()` for all at once.

    Without `sort` and `seed`, positions are in order of side to move and slot, and a search may be
    resumed `after` the last position. `limit` is the greatest number of positions, None for all.
    `threads` chunks are searched at a time; with a `seed`, in a random order that depends only on
    the seed. `cache_bytes` limits each of two caches (`CACHE_BYTES`). A pickled search begins anew,
    on the same files. Raises `InputError`, and the errors of `Tablebase.table`, also while it is
    iterated or counted.
    """

    def __init__(
        self,
        tables: GameTablebase,
        material: Material | str,
        query: Query,
        *,
        sort: str | None = None,
        limit: int | None = None,
        after: Position | str | None = None,
        threads: int = 2,
        seed: int | None = None,
        cache_bytes: int = CACHE_BYTES,
    ) -> None:
        if sort is not None and sort not in SORTS:
            raise InputError(f"'{sort}' is no order of positions", f"write {', '.join(SORTS)}")
        if sort is not None and after is not None:
            raise InputError("a sorted search cannot resume another", "leave one out")
        if sort in ("length", "-length") and not query.study:
            raise InputError("only studies have a length", "ask for studies, or sort by plies")
        if limit is not None and not (isinstance(limit, SupportsIndex) and limit >= 1):
            raise InputError(f"a limit of {limit} positions", "give 1 or more")
        if not (isinstance(threads, SupportsIndex) and threads >= 1):
            raise InputError(f"{threads} threads", "give 1 or more")
        if isinstance(material, str) and (query.turn is not None or query.pieces):
            require_stronger_first(material)
        self.material = material if isinstance(material, Material) else parse_material(material)
        if not self.material.needs_table:
            raise InputError(
                f"{self.material} is always a draw", "name an endgame with an attacker"
            )
        self.query = query
        self._tables, self._file = tables, tables.table(self.material)
        query.refuse_impossible(self._file)
        self._sort, self._limit, self._threads = sort, limit, threads
        self._after = None if after is None else self._place(as_position(after))
        self._seed, self._cache_bytes = seed, cache_bytes
        self._slots = 0

    def _place(self, position: Position) -> tuple[Side, int]:
        """Return side to move and slot of a position; raises `InputError` for another material."""
        if position.material != self.material or position.is_swapped:
            raise InputError(
                f"{excerpt(position.fen)} is no position of {self.material}",
                "give one that a search has found",
            )
        return position.side, self._file.layout.slot(position)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.material}>"

    @property
    def candidates(self) -> int:
        """Number of legal positions of the table whose value matches the query."""
        return self.query.candidates(self._file.statistics)

    @property
    def share(self) -> float:
        """Share of the slots that the last iteration has searched, 0 to 1.

        Only sides to move with candidates count; 1 if neither has any.
        """
        lines = self.query.lines(self._file.statistics)
        sides = len({line.side for line in lines})
        return self._slots / (sides * self._file.header.slots) if sides else 1.0

    def __iter__(self) -> Iterator[Found]:
        """Yield the positions one by one, up to the limit."""
        for part in self.chunks():
            values = [part[name].tolist() for name in ("outcome", "order", "plies", "slot")]
            values.append(part["length"].tolist() if self.query.study else [None] * part.rows)
            for position, outcome, order, plies, slot, length in zip(
                part.positions(), *values, strict=True
            ):
                distance = plies if outcome else None
                yield Found(position, Outcome(outcome), order, distance, slot, length)

    def columns(self) -> TableColumns:
        """Return the rows of the positions, up to the limit, as arrays in memory."""
        return TableColumns.concatenate([self.nothing(), *self.chunks()])

    def count(self) -> int:
        """Return the number of positions, up to the limit."""
        return sum(part.rows for part in self.chunks())

    def chunks(self) -> Iterator[TableColumns]:
        """Yield the rows, up to the limit: one part if sorted, else parts that may be empty."""
        if self._sort is not None:
            yield self._sorted(self._sort)
            return
        left = self._limit
        for part in self.unsorted():
            if left is not None:
                part = part.take(np.arange(min(left, part.rows)))
                left -= part.rows
            yield part
            if left == 0:
                return

    def _sorted(self, sort: str) -> TableColumns:
        """Return the sorted rows, up to the limit; rows beyond twice the limit are not kept."""
        kept = [self.nothing()]
        for part in self.unsorted():
            kept.append(part)
            if self._limit is not None and sum(each.rows for each in kept) > 2 * self._limit:
                kept = [first_rows(TableColumns.concatenate(kept), sort, self._limit)]
        return first_rows(TableColumns.concatenate(kept), sort, self._limit)

    def nothing(self) -> TableColumns:
        """Return an empty result of this search: all its columns, without rows."""
        nothing = columns_of_slots(self._file, Side.RED, np.empty(0, np.int64))
        return nothing | {"length": np.empty(0, np.uint16)} if self.query.study else nothing

    def unsorted(self) -> Iterator[TableColumns]:
        """Yield all rows in parts, one for each chunk; `limit` and `sort` are ignored."""
        with ExitStack() as opened:
            others = self._others(opened) if self.query.differs else ()
            value_filter = ValueFilter(self._file, self.query, others, self._codes())
            pool = opened.enter_context(thread_pool(self._threads))
            # Cancel pending work if the search is abandoned.
            opened.callback(pool.shutdown, wait=True, cancel_futures=True)
            arrays = None
            if self.query.only or self.query.study:
                materials = dict.fromkeys([self.material, *self.material.captures().values()])
                cache_bytes = max(self._cache_bytes, LEAST_BLOCK_BYTES)
                arrays = NumbaTables(self._tables, materials, cache_bytes=cache_bytes)
            studies: dict[Side, tuple[NDArray[np.int64], NDArray[np.int32]]] = {}
            for side, slots, part in self._parts(value_filter, pool):
                if arrays is not None and self.query.only:
                    boards = part.boards()
                    outcomes, threads = part["outcome"], self._threads
                    moves = only_moves(arrays, boards, side, outcomes, 2, pool, threads)
                    kept = np.flatnonzero(moves != NO_MOVE)
                    if self.query.quiet:
                        kept = kept[boards[kept, moves[kept] % SQUARES] == EMPTY]
                    part = part.take(kept)
                if arrays is not None and self.query.study:
                    if side not in studies:
                        studies[side] = self._studies(arrays, side, pool)
                    won, lengths = studies[side]
                    at = np.searchsorted(won, part["slot"])
                    there = at < np.searchsorted(won, part["slot"], "right")
                    part = part.take(there) | {"length": lengths[at[there]].astype(np.uint16)}
                if self.query.offence is not None:
                    # In a direct win by check the side to move is in check, by chase never.
                    checked = np.array([in_check(each) for each in part.positions()], np.bool_)
                    part = part.take(checked == (self.query.offence == Offence.CHECK))
                self._slots += slots
                yield part

    def _parts(
        self, value_filter: ValueFilter, pool: ThreadPoolExecutor
    ) -> Iterator[tuple[Side, int, TableColumns]]:
        """Yield side, number of slots and rows (`_part`) of each chunk, searched in threads.

        Calls `Tablebase.checkpoint`, which may raise to cancel the search.
        """
        self._slots = 0
        waiting: deque[tuple[Side, int, Future[TableColumns]]] = deque()
        chunks = iter(self._chunks_of_slots(value_filter.sides))
        while True:
            for side, chunk in itertools.islice(chunks, 2 * self._threads + 1 - len(waiting)):
                task = pool.submit(self._part, value_filter, side, chunk)
                waiting.append((side, len(chunk), task))
            if not waiting:
                return
            self._tables.checkpoint()
            side, slots, task = waiting.popleft()
            yield side, slots, task.result()

    def _chunks_of_slots(self, sides: Sequence[Side]) -> list[tuple[Side, range]]:
        """Return chunks (side to move, range of slots), in random order if there is a seed."""
        slots, size = self._file.header.slots, CHUNK
        if self._seed is not None:
            size = min(SAMPLE_CHUNK, -(-slots // SAMPLE_CHUNKS))
        first_side, last_slot = self._after or (Side.RED, -1)
        chunks = [
            (side, range(first, min(first + size, slots)))
            for side in sides
            if side >= first_side
            for first in range(last_slot + 1 if side == first_side else 0, slots, size)
        ]
        if self._seed is not None:
            random.Random(self._seed).shuffle(chunks)
        return chunks

    def _part(self, value_filter: ValueFilter, side: Side, chunk: range) -> TableColumns:
        """Return the rows of `chunk` that match the query, with `side` to move.

        The query's conditions `only`, `study` and `offence` are not tested.
        """
        slots = np.arange(chunk.start, chunk.stop)
        codes = value_filter.codes(side, slots)
        chosen = value_filter.select(side, slots, codes)
        slots, codes = slots[chosen], codes[chosen]
        squares, legal = squares_and_legality(self._file.layout, slots)
        sides = 3 if self.query.zugzwang else 1 << side
        sound = legal & sides == sides
        slots, codes, squares = slots[sound], codes[sound], squares[sound]
        if self.query.pieces:
            squares, there = self._with_pieces(squares)
            slots, codes, squares = slots[there], codes[there], squares[there]
        return columns_of_codes(self._file, side, slots, squares, codes)

    def _codes(self) -> CodesOf:
        """Return a function that reads codes, from memory if a side's fit in the cache."""
        file = self._file
        if file.header.slots * file.code_space.width > self._cache_bytes:
            return file.codes
        both = self.query.turn is None or self.query.zugzwang
        sides = [side for side in Side if both or side == self.query.turn]
        planes = {side: file.plane(side, threads=self._threads) for side in sides}
        return lambda side, slots: planes[side][slots]

    def _others(self, opened: ExitStack) -> tuple[TableFile, ...]:
        """Open the tables of other rule sets in `opened`; raises `InputError` if there are none."""
        others = [
            opened.enter_context(TableFile(self._tables.path(name), name=name))
            for name in self._tables.available()
            if name.material == self.material and name.rule_set != self._tables.rule_set
        ]
        if not others:
            raise InputError(
                f"no table of {self.material} under other rules than {self._tables.rule_set}",
                f"build one, such as: tbgen build {self.material} --rules none",
            )
        return tuple(others)

    def _studies(
        self, arrays: NumbaTables, side: Side, pool: ThreadPoolExecutor
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the slots, ascending, and lengths in plies of all studies that `side` wins."""
        threads, cache_bytes = self._threads, self._cache_bytes
        query = Query(turn=side, outcome=Outcome.WIN)
        search = Search(
            self._tables, self.material, query, threads=threads, cache_bytes=cache_bytes
        )
        # The positions that `side` wins by one move only, with this move.
        parts = [search.nothing() | {"move": np.empty(0, np.int16)}]
        for part in search.chunks():
            moves = only_moves(arrays, part.boards(), side, part["outcome"], 1, pool, threads)
            unique = moves != NO_MOVE
            parts.append(part.take(unique) | {"move": moves[unique]})
        wins = TableColumns.concatenate(parts)
        converts = self._file.header.spec.name.metric == Metric.DTC
        lengths = lengths_of_studies(arrays, wins, side, converts, pool, threads)
        unique = lengths != NO_STUDY
        return wins["slot"][unique].astype(np.int64), lengths[unique]

    def _with_pieces(self, squares: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[Any]]:
        """Return squares (n, pieces), and a mask (n,) of the rows that have the query's pieces.

        If only the mirror image of a position has the pieces, its squares are returned mirrored.
        """
        direct = self._has_pieces(squares)
        image = _MIRROR[squares]
        turned = ~direct & self._has_pieces(image)
        return np.where(turned[:, None], image, squares), direct | turned

    def _has_pieces(self, squares: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Return bool (n,): whether each row of `squares` (n, pieces) has the query's pieces."""
        codes = np.array(self._file.layout.piece_codes)
        there = np.ones(len(squares), np.bool_)
        for code, square in self.query.pieces:
            there &= (squares[:, codes == code] == square).any(axis=1)
        return there


def first_rows(columns: TableColumns, sort: str, limit: int | None) -> TableColumns:
    """Return the first `limit` rows (None: all), sorted by one of `SORTS`, then side and slot."""
    values = columns[sort.lstrip("-")].astype(np.int64)
    order = np.lexsort([columns["slot"], columns["side"], -values if sort[0] == "-" else values])
    return columns.take(order[:limit])


def find(
    material: Material | str,
    tables: GameTablebase | Path | str | None = None,
    *,
    turn: Side | str | None = None,
    outcome: Outcome | str | None = None,
    orders: int | tuple[int, int] | None = None,
    plies: int | tuple[int, int] | None = None,
    only: bool = False,
    zugzwang: bool = False,
    differs: bool = False,
    study: bool = False,
    loop: Offence | str | None = None,
    pieces: Sequence[str] | str = (),
    sort: str | None = None,
    limit: int | None = None,
    after: Position | str | None = None,
    threads: int = 2,
) -> Search:
    """Return a search for all positions of a table that match; mirror images count once.

    tables : a tablebase or a directory; None for $TBGEN_TABLES or `egtb`
    turn, outcome : side to move ("red", "black"), and its outcome ("win", "draw", "loss")
    orders, plies : a number or an inclusive range
    only : exactly one of several legal moves keeps the win or the draw
    zugzwang : each side has a worse outcome if it is to move than if the opponent is
    differs : a table of another rule set in the same directory has another outcome
    study : the position is won, and the winning move is unique here and after every longest
        defence, until mate or stalemate, a capture or a loop that the rules decide
    loop : "check" or "chase": the loser by repetition has just committed that offence, and the
        winner is to move
    pieces : such as `R@e5`, and `r@e5` for Black's, in the position or its mirror image
    sort : "plies", "order", or for studies "length"; with a minus the largest come first
    limit, after, threads : as for `Search`

    Raises `InputError`, and the errors of `open_tablebase` and `Tablebase.table`.

    >>> for found in tbgen.find("KNKP", zugzwang=True, limit=3):  # doctest: +SKIP
    ...     print(found.fen, found.outcome.name)
    """
    if not isinstance(tables, GameTablebase):
        tables = open_tablebase(tables)
    # `Query` converts names and numbers.
    conditions: dict[str, Any] = {
        "turn": turn, "outcome": outcome, "orders": ANY_NUMBER if orders is None else orders,
        "plies": plies, "only": only, "zugzwang": zugzwang, "differs": differs, "study": study,
        "offence": loop, "pieces": read_pieces(pieces),
    }  # fmt: skip
    query = Query(**conditions)
    return Search(tables, material, query, sort=sort, limit=limit, after=after, threads=threads)
