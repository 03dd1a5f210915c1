"""Perpetual checks: what should be a pattern is one, and nothing else is (RULES 3).

A table claims the pattern of order k by its direct wins of order k. Here it is found anew, from
everything that the table leaves open before that order (draws, and orders from k on), as the
greatest set of

    offenders   to move; every move is a check into the set, or leads to what is won before:
                lower orders, and captures into supporting tables' wins up to order k
    checked     to move, in check, with a move to an offender of the set, or a capture that wins
                by order k; and able to keep the set without checking for ever: the inner clause

and its checked sides must be exactly the direct wins of order k. One order further than the
table has, the set must be empty: then no draw hides a pattern.

The graph is small: of all positions only those that the first pass singled out. Who is checked
but neither decided by rules nor reached from an offender supports nobody, and is left out: if it
had a move to an offender of the set, which is a loss of order k, the first pass would have said
that its value is not the best of its moves.

    offenders (m,) ascending    checked (n,) ascending     nodes 2 * slot + side
    checks    (e, 2)            indices (offender, checked)
    replies   (f, 2)            indices (checked, offender)
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tbgen.indexing.layout import Layout
from tbgen.jit import compile_lock
from tbgen.verify.keys import MATE, NEVER, ORDER
from tbgen.verify.material_arrays import Arrays
from tbgen.verify.move_kernels import make_scratch
from tbgen.verify.pattern_kernels import k_expand, k_load_keys

Nodes = NDArray[np.int64]
Edges = NDArray[np.int64]
Members = NDArray[np.bool_]

_RANGE_NODES = 1 << 16
_FIRST_ROOM = 1 << 18
"""Edges of a range that are written without counting them first: four to a node."""


@dataclass(frozen=True)
class Wrong:
    """A position whose stored value the pattern of an order refutes.

    `is_pattern`: it is a direct win by the pattern, and the table does not say so; or the reverse.
    """

    node: int
    stored: int
    order: int
    is_pattern: bool
    by_chase: bool = False


@dataclass(frozen=True)
class Graph:
    """The possible patterns of all orders: the arrays of the module's picture, and for nodes

    offenders  `offender_orders` of their values, `first_orders` at which their other moves are
               known to lose, `offender_in_check`
    checked    `checked_orders` of their values, `wins_from` the order at which a capture wins
    """

    checks: Edges
    replies: Edges
    offender_orders: Nodes
    first_orders: Nodes
    offender_in_check: Members
    checked_orders: Nodes
    wins_from: Nodes

    @property
    def last_order(self) -> int:
        """The highest order of a value in the graph, or of a capture that decides."""
        orders = [self.offender_orders, self.first_orders, self.checked_orders, self.wins_from]
        decided = np.concatenate(orders)
        return int(decided[decided < NEVER].max(initial=0))

    def find(self, order: int) -> Members:
        """The checked sides of the pattern of an order."""
        offenders = (self.first_orders <= order) & (self.offender_orders >= order)
        unknown = self.checked_orders >= order
        # A check into a win of a lower order loses like any other move.
        needed = self.checks[unknown[self.checks[:, 1]]]
        wins_by_capture = self.wins_from <= order
        checked = unknown
        while True:
            offenders, checked = self._prune(offenders, checked, needed, wins_by_capture)
            calm = self._find_calm(offenders, checked, needed, wins_by_capture)
            if np.array_equal(calm, checked):
                return checked
            checked = calm

    def _prune(
        self, offenders: Members, checked: Members, needed: Edges, wins_by_capture: Members
    ) -> tuple[Members, Members]:
        """The greatest subsets of both that support each other."""
        while True:
            staying = offenders.copy()
            staying[needed[~checked[needed[:, 1]], 0]] = False
            supported = checked & (wins_by_capture | self._reach(staying))
            if np.array_equal(staying, offenders) and np.array_equal(supported, checked):
                return offenders, checked
            offenders, checked = staying, supported

    def _reach(self, offenders: Members) -> Members:
        """The checked sides with a move to some of the offenders."""
        reached = np.zeros(len(self.checked_orders), np.bool_)
        reached[self.replies[offenders[self.replies[:, 1]], 0]] = True
        return reached

    def _find_calm(
        self, offenders: Members, checked: Members, needed: Edges, wins_by_capture: Members
    ) -> Members:
        """The checked sides that can reach, inside the pattern, a reply that is no check.

        A least fixpoint: a reply to an offender who is not in check; a capture that wins; or a
        reply that checks an offender all of whose checks lead to such sides again.
        """
        quiet = offenders & ~self.offender_in_check
        if np.array_equal(quiet, offenders):
            return checked
        calm = checked & (wins_by_capture | self._reach(quiet))
        while True:
            answered = offenders.copy()
            answered[needed[~calm[needed[:, 1]], 0]] = False
            larger = calm | (checked & self._reach(answered))
            if np.array_equal(larger, calm):
                return calm
            calm = larger


class Patterns:
    """What the patterns of each order say of a table's direct wins."""

    def __init__(
        self,
        arrays: Arrays,
        layout: Layout,
        offenders: Nodes,
        first_orders: Nodes,
        checked_wins: Nodes,
        threads: int,
    ) -> None:
        """Build the graph from what the first pass singled out."""
        self._arrays = arrays
        self._mids = layout.mids
        with compile_lock():
            self._expand_range(offenders[:0], offenders[:0])
        with ThreadPoolExecutor(threads) as pool:
            checks, in_check, _ = self._expand(pool, offenders, offenders[:0])
            self._checked: Nodes = np.unique(np.concatenate([checked_wins, checks[:, 1]]))
            replies, _, wins_from = self._expand(pool, self._checked, offenders)
        if not len(offenders):
            replies = replies[:0]
        checks[:, 1] = np.searchsorted(self._checked, checks[:, 1])
        replies[:, 1] = np.searchsorted(offenders, replies[:, 1])
        self._keys = self._stored(self._checked)
        self.graph = Graph(
            checks,
            replies,
            orders_of_keys(self._stored(offenders)),
            first_orders,
            in_check,
            orders_of_keys(self._keys),
            wins_from,
        )

    @property
    def last_order(self) -> int:
        """The highest order at which anything here changes."""
        return self.graph.last_order

    def check_order(self, order: int) -> list[Wrong]:
        """Who is refuted by the pattern of an order, by ascending node."""
        pattern = self.graph.find(order)
        claimed = self._keys == MATE - order * ORDER
        return [
            Wrong(int(self._checked[i]), int(self._keys[i]), order, is_pattern=bool(pattern[i]))
            for i in np.flatnonzero(pattern != claimed)
        ]

    def check_limit(self, limit: int) -> list[Wrong]:
        """Who claims a pattern of an order that the table is not meant to have."""
        orders = self.graph.checked_orders
        direct = (self._keys > 0) & (self._keys == MATE - orders * ORDER)
        return [
            Wrong(int(self._checked[i]), int(self._keys[i]), int(orders[i]), is_pattern=False)
            for i in np.flatnonzero(direct & (orders > limit))
        ]

    def _stored(self, nodes: Nodes) -> Nodes:
        """The keys that the table stores."""
        keys = np.zeros(len(nodes), np.int64)
        k_load_keys(nodes, self._arrays.codes, self._arrays.tables[0], keys)
        return keys

    def _expand(
        self, pool: ThreadPoolExecutor, nodes: Nodes, offenders: Nodes
    ) -> tuple[Edges, Members, Nodes]:
        """Edges (index, node), who is in check, and the orders of winning captures."""
        starts = range(0, max(1, len(nodes)), _RANGE_NODES)
        parts = [nodes[start : start + _RANGE_NODES] for start in starts]
        results = list(pool.map(lambda part: self._expand_range(part, offenders), parts))
        for start, (edges, _, _) in zip(starts, results, strict=True):
            edges[:, 0] += start
        return (
            np.concatenate([edges for edges, _, _ in results]),
            np.concatenate([in_check for _, in_check, _ in results]),
            np.concatenate([wins_from for _, _, wins_from in results]),
        )

    def _expand_range(self, nodes: Nodes, offenders: Nodes) -> tuple[Edges, Members, Nodes]:
        """The same for one thread's range."""
        in_check = np.zeros(len(nodes), np.bool_)
        wins_from = np.zeros(len(nodes), np.int64)
        room = _FIRST_ROOM
        while True:
            edges = np.empty((room, 2), np.int64)
            found = k_expand(
                nodes, offenders, self._mids, *self._arrays, edges, in_check, wins_from,
                *make_scratch(len(self._arrays.pieces)),
            )  # fmt: skip
            if found <= room:
                return edges[:found].copy(), in_check, wins_from
            room = found


def orders_of_keys(keys: Nodes) -> Nodes:
    """The orders of keys, NEVER for draws."""
    return np.where(keys == 0, NEVER, (MATE - np.abs(keys)) // ORDER)
