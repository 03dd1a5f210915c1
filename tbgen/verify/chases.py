"""Perpetual chases: what should be a pattern is one, and nothing else is (RULES 3).

The pattern of order k is found anew from everything that is open before that order. Unlike the
checks it needs no values to begin with: every position of a side whose moves all chase one piece,
or lose, is a *chaser* of that piece (`chase_kernels`), and the game on them (`chase_game`) says
which of them are caught in a pattern.

    scan     chasers, over all positions; and who claims a win by rules in no or two plies
    expand   their chases, and the answers that lead to chasers again
    order k  the chasers of the pattern  ->  who must be a direct win  ==  who claims to be one

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
from tbgen.verify.answer_kernels import k_find_victims, k_leads_into
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
            self.first_orders: Nodes = np.ascontiguousarray(chasers[:, 1])
            self.claims: Nodes = np.concatenate([claims for _, claims in parts])
            first_chase = 0
            chases, edges = [], []
            for part in pool.map(self._expand, range(0, max(1, len(chasers)), _RANGE_CHASERS)):
                part[1][:, SOURCE] += first_chase
                first_chase += len(part[0])
                chases.append(part[0])
                edges.append(part[1])
        self.chases: Nodes = np.concatenate(chases)
        self.edges: Nodes = np.concatenate(edges)
        self.chaser_orders = orders_of_keys(self._stored(self.numbers // SQUARES))
        self.claimed_keys = self._stored(self.claims)
        self._graph = ChaseGraph(
            _starts(self.chases[:, 0], len(self.numbers)),
            _starts(self.edges[:, SOURCE], len(self.chases)),
            np.ascontiguousarray(self.edges[:, TO]),
            self.edges[:, IS_CHECK] != 0,
        )

    @property
    def last_order(self) -> int:
        """The highest order at which anything here changes."""
        orders = np.concatenate(
            [self.chaser_orders, self.first_orders, self.chases[:, 3],
             orders_of_keys(self.claimed_keys)]
        )  # fmt: skip
        return int(orders[orders < NEVER].max(initial=0))

    def check_order(self, order: int) -> list[Wrong]:
        """Who is refuted by the pattern of an order, by ascending node."""
        alive, due = self.find(order)
        reached = np.unique(self.chases[alive[self.chases[:, 0]] & due, 1])
        plies = MATE - self.claimed_keys - order * ORDER
        near = self.claims[(plies == 0) | (plies == 2)]
        leading = near[self._lead_into(near, np.unique(self.numbers[alive] // SQUARES))]
        pattern = np.union1d(reached, leading)
        claimed = self.claims[plies == 0]
        return self._wrong(np.setxor1d(pattern, claimed), pattern, order)

    def check_limit(self, limit: int) -> list[Wrong]:
        """Who claims a pattern of an order that the table is not meant to have."""
        orders = orders_of_keys(self.claimed_keys)
        direct = (self.claimed_keys == MATE - orders * ORDER) & (orders > limit)
        return [
            Wrong(int(node), int(key), int(order), is_pattern=False)
            for node, key, order in zip(
                self.claims[direct], self.claimed_keys[direct], orders[direct], strict=True
            )
        ]

    def find(self, order: int) -> tuple[Members, Members]:
        """The chasers of the pattern of an order, and the chases that matter by then."""
        alive = (self.first_orders <= order) & (self.chaser_orders >= order)
        due: Members = self.chases[:, 3] > order
        dead = np.zeros(len(due), np.bool_)
        k_keep_safe(self._graph, due, dead, alive)
        if alive.any():
            k_keep_clauses(self._graph, self._find_victims(alive, due), due, dead, alive)
        return alive, due

    def _find_victims(self, alive: Members, due: Members) -> Victims:
        """Whom the winner-to-be chases, in a safe set."""
        sources = self.edges[:, SOURCE]
        inside = alive[self.chases[sources, 0]] & due[sources] & alive[self.edges[:, TO]]
        wanted = np.flatnonzero(inside)
        asked = inside & (self.edges[:, IS_CALM] == 0) & (self.edges[:, IS_CHECK] == 0)
        starts = self._graph.chase_start
        pairs = np.where(asked, np.diff(starts)[self.edges[:, TO]], 0)
        pair_start = np.where(asked, np.cumsum(pairs) - pairs, -1)
        pieces = len(self._arrays.pieces)
        victims = Victims(
            pair_start,
            np.zeros(int(pairs.sum()), np.uint64),
            np.zeros((len(self.edges), pieces), np.int8),
        )
        arrays = self._arrays
        k_find_victims(
            wanted, self.numbers, self.chases, self.edges, starts, *victims, arrays.tables,
            arrays.descriptors, arrays.pieces, self._minor, *make_chase_scratch(pieces),
        )  # fmt: skip
        return victims

    def _lead_into(self, nodes: Nodes, goals: Nodes) -> Members:
        """Which of the nodes have a quiet move to one of some ascending nodes."""
        leading = np.zeros(len(nodes), np.bool_)
        arrays = self._arrays
        k_leads_into(
            nodes, goals, leading, arrays.tables, arrays.descriptors, arrays.pieces,
            arrays.options, *make_chase_scratch(len(arrays.pieces)),
        )  # fmt: skip
        return leading

    def _wrong(self, nodes: Nodes, pattern: Nodes, order: int) -> list[Wrong]:
        """What to say of nodes that are only in the pattern, or only claimed."""
        missing = np.isin(nodes, pattern)
        return [
            Wrong(int(node), int(key), order, is_pattern=bool(is_pattern), by_chase=True)
            for node, key, is_pattern in zip(nodes, self._stored(nodes), missing, strict=True)
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
                first, last, self.numbers, self.first_orders, self._layout.mids, *self._arrays,
                self._minor, chases, edges, counts,
                *make_chase_scratch(len(self._arrays.pieces)),
            )  # fmt: skip
            if counts.max() <= room:
                return chases[: counts[0]].copy(), edges[: counts[1]].copy()
            room = int(counts.max())

    def _compile(self) -> None:
        """Compile what several threads call, before they do."""
        self.numbers = self.first_orders = _NO_EDGES
        with compile_lock():
            self._scan(0, 0)
            self._expand(0)


def _starts(owners: NDArray[Any], count: int) -> Nodes:
    """int64 (count + 1,): where the runs of ascending owners 0 .. count - 1 begin."""
    return np.searchsorted(owners, np.arange(count + 1)).astype(np.int64)
