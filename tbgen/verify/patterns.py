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
Members = NDArray[np.bool_]

_RANGE_NODES = 1 << 16
_FIRST_ROOM = 1 << 18
"""Edges of a range that are written without counting them first: four to a node."""


@dataclass(frozen=True)
class Wrong:
    """A checked side whose stored value the pattern of an order refutes.

    `is_pattern`: it belongs to the pattern, and the table does not say so; or the reverse.
    """

    node: int
    stored: int
    order: int
    is_pattern: bool


class Patterns:
    """The graph of possible patterns, and the patterns of each order in it."""

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
        self._pool = ThreadPoolExecutor(threads)
        nothing = np.empty(0, np.int64)
        with self._pool:
            with compile_lock():
                self._expand_range(nothing, nothing)
            checks, self._offender_in_check, _ = self._expand(offenders, nothing)
            self.offenders = offenders
            self.checked: Nodes = np.unique(np.concatenate([checked_wins, checks[:, 1]]))
            self._checks = np.stack(
                [checks[:, 0], np.searchsorted(self.checked, checks[:, 1])], axis=1
            )
            if len(offenders):
                replies, _, self._wins_from = self._expand(self.checked, offenders)
            else:
                _, _, self._wins_from = self._expand(self.checked, nothing)
                replies = np.empty((0, 2), np.int64)
            self._replies = np.stack(
                [replies[:, 0], np.searchsorted(offenders, replies[:, 1])], axis=1
            )
        self._first_orders = first_orders
        self._offender_orders = _orders(self._stored(offenders))
        self._checked_keys = self._stored(self.checked)
        self._checked_orders = _orders(self._checked_keys)

    def _stored(self, nodes: Nodes) -> Nodes:
        """The keys that the table stores."""
        keys = np.zeros(len(nodes), np.int64)
        k_load_keys(nodes, self._arrays.codes, self._arrays.tables[0], keys)
        return keys

    def _expand(self, nodes: Nodes, offenders: Nodes) -> tuple[Nodes, Members, Nodes]:
        """Edges (index, node), who is in check, and the orders of winning captures."""
        parts = [nodes[i : i + _RANGE_NODES] for i in range(0, len(nodes), _RANGE_NODES)]
        results = list(self._pool.map(lambda part: self._expand_range(part, offenders), parts))
        edges = [np.empty((0, 2), np.int64)]
        for i, (found, _, _) in enumerate(results):
            edges.append(found + np.array([i * _RANGE_NODES, 0]))
        return (
            np.concatenate(edges),
            np.concatenate([np.empty(0, np.bool_), *(result[1] for result in results)]),
            np.concatenate([np.empty(0, np.int64), *(result[2] for result in results)]),
        )

    def _expand_range(self, nodes: Nodes, offenders: Nodes) -> tuple[Nodes, Members, Nodes]:
        """The same for one thread's range."""
        in_check = np.zeros(len(nodes), np.bool_)
        wins_from = np.zeros(len(nodes), np.int64)
        room = _FIRST_ROOM
        while True:
            edges = np.empty((room, 2), np.int64)
            found = k_expand(
                nodes,
                offenders,
                self._mids,
                *self._arrays,
                edges,
                in_check,
                wins_from,
                *make_scratch(len(self._arrays.pieces)),
            )
            if found <= room:
                return edges[:found].copy(), in_check, wins_from
            room = found

    @property
    def last_order(self) -> int:
        """The highest order of a value that the table or a winning capture shows."""
        orders = [self._offender_orders, self._checked_orders, self._wins_from, self._first_orders]
        decided = np.concatenate(orders)
        return int(decided[decided < NEVER].max(initial=0))

    def check_limit(self, limit: int) -> list[Wrong]:
        """Who claims a pattern of an order that the table is not meant to have."""
        beyond = (self._checked_keys > 0) & (self._checked_orders > limit)
        direct = beyond & ((MATE - self._checked_keys) % ORDER == 0)
        return [
            Wrong(
                int(self.checked[i]), int(self._checked_keys[i]), int(self._checked_orders[i]),
                is_pattern=False,
            )
            for i in np.flatnonzero(direct)
        ]  # fmt: skip

    def check_order(self, order: int) -> list[Wrong]:
        """Who is refuted by the pattern of an order, by ascending node."""
        pattern = self._find(order)
        claimed = self._checked_keys == MATE - order * ORDER
        return [
            Wrong(
                int(self.checked[i]), int(self._checked_keys[i]), order, is_pattern=bool(pattern[i])
            )
            for i in np.flatnonzero(pattern != claimed)
        ]

    def _find(self, order: int) -> Members:
        """The checked sides of the pattern of an order."""
        offenders = (self._first_orders <= order) & (self._offender_orders >= order)
        unknown = self._checked_orders >= order
        checked = unknown.copy()
        # A check into a win of a lower order loses like any other move.
        needed = self._checks[unknown[self._checks[:, 1]]]
        wins_by_capture = self._wins_from <= order
        while True:
            self._prune(offenders, checked, needed, wins_by_capture)
            calm = self._find_calm(offenders, checked, needed, wins_by_capture)
            if np.array_equal(calm, checked):
                return checked
            checked = calm

    def _prune(
        self, offenders: Members, checked: Members, needed: Nodes, wins_by_capture: Members
    ) -> None:
        """Reduce both sets, in place, to the greatest ones that support each other."""
        while True:
            escaping = needed[~checked[needed[:, 1]], 0]
            before = int(offenders.sum()) + int(checked.sum())
            offenders[escaping] = False
            checked &= wins_by_capture | self._reach(offenders)
            if int(offenders.sum()) + int(checked.sum()) == before:
                return

    def _reach(self, offenders: Members) -> Members:
        """The checked sides with a move to some of the offenders."""
        reached = np.zeros(len(self.checked), np.bool_)
        reached[self._replies[offenders[self._replies[:, 1]], 0]] = True
        return reached

    def _find_calm(
        self, offenders: Members, checked: Members, needed: Nodes, wins_by_capture: Members
    ) -> Members:
        """The checked sides that can reach, inside the pattern, a reply that is no check.

        A least fixpoint: a reply to an offender who is not in check; a capture that wins; or a
        reply that checks an offender all of whose checks lead to such sides again.
        """
        answered = offenders & ~self._offender_in_check
        if np.array_equal(answered, offenders):
            return checked
        calm = checked & (wins_by_capture | self._reach(answered))
        inner = needed[offenders[needed[:, 0]]]
        while True:
            answered = offenders.copy()
            answered[inner[~calm[inner[:, 1]], 0]] = False
            answered |= offenders & ~self._offender_in_check
            larger = calm | (checked & self._reach(answered))
            if np.array_equal(larger, calm):
                return calm
            calm = larger


def _orders(keys: Nodes) -> Nodes:
    """The orders of keys, NEVER for draws."""
    return np.where(keys == 0, NEVER, (MATE - np.abs(keys)) // ORDER)
