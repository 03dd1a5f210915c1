"""Perpetual chases: what should be a pattern is one, and nothing else is (RULES 3).

The pattern of order k is found anew from everything that is open before that order. Unlike the
checks it needs no values to begin with: every position of a side whose moves all chase one piece,
or lose, is a *chaser* of that piece (`chase_kernels`), and the game on them (`chase_game`) says
which of them are caught in a pattern.

    scan     chasers, over all positions; and who claims a direct win without being in check
    expand   their chases, and the answers that lead to chasers again
    order k  the chasers of the pattern  ->  who must be a direct win  <=  who claims to be one
                                         ->  who may be a direct win   >=

Whoever a chaser of the pattern leads to must be a direct win. One chased by another chaser may be
one too, if he has an answer that leads into the pattern: he wins by this order in any case, in no
plies or in two, and a search that begins with fewer positions than all open ones need not have
met that chaser.

Chasers are numbered as in `chase_kernels`, and kept ascending.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbgen.indexing.layout import Layout
from tbgen.indexing.squares import SQUARES
from tbgen.jit import compile_lock
from tbgen.verify.answer_kernels import k_find_victims
from tbgen.verify.chase_game import ChaseGraph, Members, Victims, k_keep_clauses, k_keep_safe
from tbgen.verify.chase_kernels import (
    EDGE_COLUMNS,
    IS_CALM,
    IS_CHECK,
    SOURCE,
    TO,
    k_expand_chasers,
    k_find_chasers,
    make_chase_scratch,
)
from tbgen.verify.keys import MATE, NEVER, ORDER
from tbgen.verify.material_arrays import Arrays
from tbgen.verify.pattern_kernels import k_load_keys
from tbgen.verify.patterns import Nodes, Wrong, orders_of_keys

_RANGE_SLOTS = 1 << 16
_RANGE_CHASERS = 1 << 12
_FIRST_ROOM = 1 << 15
"""Room for what a range lists; it is looked at again if that is not enough."""

_NO_EDGES = np.empty(0, np.int64)


class ChasePatterns:
    """The possible chase patterns of a table, and what those of each order say of its values."""

    def __init__(
        self,
        arrays: Arrays,
        layout: Layout,
        *,
        minor_chases: bool,
        threads: int,
        report: Callable[[str, int, int], None],
    ) -> None:
        """Scan the table, whose empty slots are known (`k_prove_rows`)."""
        self._arrays = arrays
        self._layout = layout
        self._minor = minor_chases
        self._compile()
        with ThreadPoolExecutor(threads) as pool:
            step = max(1, _RANGE_SLOTS // layout.inner_size)
            parts = []
            starts = range(0, layout.rows, step)
            for done, part in enumerate(pool.map(lambda r: self._scan(r, r + step), starts), 1):
                parts.append(part)
                report("chases", min(done * step, layout.rows), layout.rows)
            chasers = np.concatenate([chasers for chasers, _ in parts])
            chasers = chasers[np.argsort(chasers[:, 0])]
            self.numbers: Nodes = np.ascontiguousarray(chasers[:, 0])
            self._first_orders: Nodes = np.ascontiguousarray(chasers[:, 1])
            self.claims: Nodes = np.concatenate([claims for _, claims in parts])
            first_chase = 0
            chases, edges = [], []
            for part in pool.map(self._expand, range(0, max(1, len(chasers)), _RANGE_CHASERS)):
                part[1][:, SOURCE] += first_chase
                first_chase += len(part[0])
                chases.append(part[0])
                edges.append(part[1])
        self._chases: Nodes = np.concatenate(chases)
        self._edges: Nodes = np.concatenate(edges)
        self._chaser_orders = orders_of_keys(self._stored(self.numbers // SQUARES))
        self._claimed_keys = self._stored(self.claims)
        self._graph = ChaseGraph(
            _starts(self._chases[:, 0], len(self.numbers)),
            _starts(self._edges[:, SOURCE], len(self._chases)),
            np.ascontiguousarray(self._edges[:, TO]),
            self._edges[:, IS_CHECK] != 0,
        )

    @property
    def last_order(self) -> int:
        """The highest order at which anything here changes."""
        orders = np.concatenate(
            [self._chaser_orders, self._first_orders, self._chases[:, 3],
             orders_of_keys(self._claimed_keys)]
        )  # fmt: skip
        return int(orders[orders < NEVER].max(initial=0))

    def check_order(self, order: int) -> list[Wrong]:
        """Who is refuted by the pattern of an order, by ascending node."""
        alive, candidates, due = self.find(order)
        must = self._chases[alive[self._chases[:, 0]] & due, 1]
        answered, goals = self._edges[:, SOURCE], self._edges[:, TO]
        leading = answered[alive[goals] & due[answered] & candidates[self._chases[answered, 0]]]
        may = self._chases[leading, 1]
        claimed = self.claims[self._claimed_keys == MATE - order * ORDER]
        return self._wrong(np.setdiff1d(must, claimed), order, is_pattern=True) + self._wrong(
            np.setdiff1d(claimed, may), order, is_pattern=False
        )

    def check_limit(self, limit: int) -> list[Wrong]:
        """Who claims a pattern of an order that the table is not meant to have."""
        orders = orders_of_keys(self._claimed_keys)
        beyond = orders > limit
        return [
            wrong
            for node, order in zip(self.claims[beyond], orders[beyond], strict=True)
            for wrong in self._wrong(np.array([node]), int(order), is_pattern=False)
        ]

    def count_claims(self) -> dict[int, int]:
        """How many direct wins of each order the table has by perpetual chase."""
        orders, counts = np.unique(orders_of_keys(self._claimed_keys), return_counts=True)
        return dict(zip(orders.tolist(), counts.tolist(), strict=True))

    def find(self, order: int) -> tuple[Members, Members, Members]:
        """The chasers of the pattern of an order, its candidates, and the chases that matter."""
        candidates = (self._first_orders <= order) & (self._chaser_orders >= order)
        alive = candidates.copy()
        due: Members = self._chases[:, 3] > order
        dead = np.zeros(len(due), np.bool_)
        k_keep_safe(self._graph, due, dead, alive)
        if alive.any():
            k_keep_clauses(self._graph, self._find_victims(alive, due), due, dead, alive)
        return alive, candidates, due

    def _find_victims(self, alive: Members, due: Members) -> Victims:
        """Whom the winner-to-be chases, in a safe set."""
        sources = self._edges[:, SOURCE]
        inside = alive[self._chases[sources, 0]] & due[sources] & alive[self._edges[:, TO]]
        wanted = np.flatnonzero(inside)
        asked = inside & (self._edges[:, IS_CALM] == 0) & (self._edges[:, IS_CHECK] == 0)
        starts = self._graph.chase_start
        pairs = np.where(asked, np.diff(starts)[self._edges[:, TO]], 0)
        pair_start = np.where(asked, np.cumsum(pairs) - pairs, -1)
        pieces = len(self._arrays.pieces)
        victims = Victims(
            pair_start,
            np.zeros(int(pairs.sum()), np.uint64),
            np.zeros((len(self._edges), pieces), np.int8),
        )
        arrays = self._arrays
        k_find_victims(
            wanted, self.numbers, self._chases, self._edges, starts, *victims, arrays.tables,
            arrays.descriptors, arrays.pieces, self._minor, *make_chase_scratch(pieces),
        )  # fmt: skip
        return victims

    def _wrong(self, nodes: Nodes, order: int, *, is_pattern: bool) -> list[Wrong]:
        """What to say of nodes that are only in the pattern, or only claimed."""
        return [
            Wrong(node, key, order, is_pattern=is_pattern, by_chase=True)
            for node, key in zip(nodes.tolist(), self._stored(nodes).tolist(), strict=True)
        ]

    def _stored(self, nodes: Nodes) -> Nodes:
        """The keys that the table stores."""
        keys = np.zeros(len(nodes), np.int64)
        k_load_keys(nodes, self._arrays.codes, self._arrays.tables[0], keys)
        return keys

    def _scan(self, row_0: int, row_1: int) -> tuple[Nodes, Nodes]:
        """The chasers and claims of a range of rows."""
        row_1 = min(row_1, self._layout.rows)
        counts = np.zeros(2, np.int64)
        room = _FIRST_ROOM
        while True:
            chasers, claims = np.empty((room, 2), np.int64), np.empty(room, np.int64)
            k_find_chasers(
                row_0, row_1, self._layout.mids, *self._arrays, self._minor, chasers, claims,
                counts, *make_chase_scratch(len(self._arrays.pieces)),
            )  # fmt: skip
            if counts.max() <= room:
                return chasers[: counts[0]].copy(), claims[: counts[1]].copy()
            room = int(counts.max())

    def _expand(self, first: int) -> tuple[Nodes, Nodes]:
        """The chases and edges of a range of chasers."""
        last = min(first + _RANGE_CHASERS, len(self.numbers))
        counts = np.zeros(2, np.int64)
        room = _FIRST_ROOM
        while True:
            chases, edges = np.empty((room, 4), np.int64), np.empty((room, EDGE_COLUMNS), np.int64)
            k_expand_chasers(
                first, last, self.numbers, self._first_orders, self._layout.mids, *self._arrays,
                self._minor, chases, edges, counts,
                *make_chase_scratch(len(self._arrays.pieces)),
            )  # fmt: skip
            if counts.max() <= room:
                return chases[: counts[0]].copy(), edges[: counts[1]].copy()
            room = int(counts.max())

    def _compile(self) -> None:
        """Compile what several threads call, before they do."""
        self.numbers = self._first_orders = _NO_EDGES
        with compile_lock():
            self._scan(0, 0)
            self._expand(0)


def _starts(owners: NDArray[Any], count: int) -> Nodes:
    """int64 (count + 1,): where the runs of ascending owners 0 .. count - 1 begin."""
    return np.searchsorted(owners, np.arange(count + 1)).astype(np.int64)
