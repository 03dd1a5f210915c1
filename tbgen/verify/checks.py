# mypy: allow-untyped-defs, allow-untyped-calls
"""Perpetual checks: what should be a pattern is one, and nothing else is.

A table claims the pattern of order k by its direct wins of order k. Here it is found anew, from
everything that the table leaves open before that order (draws, and orders from k on), as the
greatest set of

    offenders   to move; every move is a check into the set, or leads to what is won before:
                lower orders, and captures into supporting tables' wins up to order k
    checked     to move, in check, with a move to an offender of the set, or a capture that wins
                by order k; and able to keep the set without checking for ever: the inner clause

and its checked sides must be exactly the direct wins of order k (docs/values.md, "Patterns,
exactly"). One order further than the table has, the set must be empty: then no draw hides a
pattern.

The graph is small: of all positions only those that the first pass singled out. Who is checked
but neither decided by rules nor reached from an offender supports nobody, and is left out: if it
had a move to an offender of the set, which is a loss of order k, the first pass would have said
that its value is not the best of its moves.

    offenders (m,) ascending    checked (n,) ascending     nodes 2 * slot + side
    checks    (e, 2)            indices (offender, checked)
    replies   (f, 2)            indices (checked, offender)

Perpetual chases are proven in `tbgen.verify.chase`.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import borrowing_kernel, compile_lock, part
from tbgen.compiling.lending import lent
from tbgen.indexing.squares import EMPTY, piece_side
from tbgen.indexing.threads import thread_pool
from tbgen.verify.arrays import NOBODY, Arrays, Members, Numbers
from tbgen.verify.forward.first_pass import FirstPass
from tbgen.verify.keys import (
    MATE,
    NEVER,
    ORDER,
    is_open,
    key_after_move,
    order_of_key,
    orders_of_keys,
)
from tbgen.verify.moves import (
    Desk,
    clear,
    gives_check,
    image_of,
    is_checked,
    list_legal,
    list_legal_of,
    load_key,
    set_up,
    slot_after,
    stored_keys,
    worth_of_capture,
)
from tbgen.verify.report import Wrong

Edges = NDArray[np.int64]
"""int64 (edges, 2)."""

CHECKS, ANSWERS, SUPPORTS = range(3)
"""What edges are: the checks of an offender; replies of a checked side to offenders; or to what is
lost by the order of the checked side's win, and might be an offender."""

_RANGE_NODES = 1 << 16
"""Nodes per task."""
_FIRST_ROOM = 1 << 18
"""Edges of a range that are written without counting them first: four to a node."""


@dataclass(frozen=True)
class Graph:
    """The possible patterns of all orders: the arrays of the module's picture, and for nodes

    offenders  `offender_orders` of their values, `first_orders` at which their other moves are
               known to lose, `offender_in_check`
    checked    `checked_orders` of their values, `wins_from` the order at which a capture wins, or
               a move to a loss that rows have settled
    """

    checks: Edges
    replies: Edges
    offender_orders: Numbers
    first_orders: Numbers
    offender_in_check: Members
    checked_orders: Numbers
    wins_from: Numbers

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

    def __init__(self, arrays: Arrays, found: FirstPass, threads: int) -> None:
        """Build the graph from what the first pass listed."""
        self._arrays = arrays
        with compile_lock():
            self._expand_range(NOBODY, CHECKS, NOBODY)
        with thread_pool(threads) as pool:
            nodes, expanded = self._expand_offenders(pool, found.checkers)
            is_offender = expanded.orders <= NEVER
            offenders = nodes[is_offender]
            checks = expanded.edges
            checks[:, 0] = (np.cumsum(is_offender) - 1)[checks[:, 0]]
            self._checked: Numbers = np.unique(np.concatenate([found.checked_wins, checks[:, 1]]))
            answered = self._expand(pool, self._checked, ANSWERS, offenders)
        replies = answered.edges
        checks[:, 1] = np.searchsorted(self._checked, checks[:, 1])
        replies[:, 1] = np.searchsorted(offenders, replies[:, 1])
        self._keys = stored_keys(self._checked, arrays)
        self.offenders = len(offenders)
        self.graph = Graph(
            checks,
            replies,
            orders_of_keys(stored_keys(offenders, arrays)),
            expanded.orders[is_offender],
            expanded.in_check[is_offender],
            orders_of_keys(self._keys),
            answered.orders,
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

    def _expand_offenders(
        self, pool: ThreadPoolExecutor, nodes: Numbers
    ) -> tuple[Numbers, Expansion]:
        """The checks of nodes, and of all that a settled loss of a higher order may lean on.

        Rows have asked whether a class is a pattern an order earlier as if all checks into the
        class before it were answered. What answers them is looked for here, as far as it leads.
        """
        expanded = self._expand(pool, nodes, CHECKS)
        if not self._arrays.values.settled.any():
            return nodes, expanded
        added = NOBODY
        while True:
            sources, goals = nodes[expanded.edges[:, 0]], expanded.edges[:, 1]
            orders = orders_of_keys(stored_keys(sources, self._arrays))
            keys = stored_keys(goals, self._arrays)
            leaned = orders_of_keys(keys) < orders
            leaned |= (orders_of_keys(keys) == orders) & np.isin(sources, added)
            leaned &= (orders < NEVER) & ((MATE - keys) % ORDER != 0)
            supports = self._expand(pool, np.unique(goals[leaned]), SUPPORTS).edges[:, 1]
            new = np.setdiff1d(supports, nodes)
            if not len(new):
                return nodes, expanded
            added, nodes = np.union1d(added, new), np.union1d(nodes, new)
            expanded = self._expand(pool, nodes, CHECKS)

    def _expand(
        self,
        pool: ThreadPoolExecutor,
        nodes: Numbers,
        goal: int,
        offenders: Numbers = NOBODY,
    ) -> Expansion:
        """The edges (index, node) of nodes, who is in check, and their orders.

        goal : CHECKS if nodes may be offenders; ANSWERS or SUPPORTS of checked sides
        offenders : where answers lead
        """
        starts = range(0, max(1, len(nodes)), _RANGE_NODES)
        ranges = [nodes[start : start + _RANGE_NODES] for start in starts]
        results = list(pool.map(lambda some: self._expand_range(some, goal, offenders), ranges))
        for start, result in zip(starts, results, strict=True):
            result.edges[:, 0] += start
        return Expansion(
            np.concatenate([result.edges for result in results]),
            np.concatenate([result.in_check for result in results]),
            np.concatenate([result.orders for result in results]),
        )

    def _expand_range(self, nodes: Numbers, goal: int, offenders: Numbers) -> Expansion:
        """The same for one thread's range."""
        room = _FIRST_ROOM
        while True:
            expansion = Expansion.make(len(nodes), room)
            desk = Desk.make(len(self._arrays.men.pieces))
            found = k_expand(nodes, offenders, goal, expansion, desk, self._arrays)
            if found <= room:
                return expansion._replace(edges=expansion.edges[:found].copy())
            room = found


@lent
class Expansion(NamedTuple):
    """What some nodes lead to."""

    edges: Edges
    """int64 (room, 2): index of the node, node after the move; as many as there is room for."""
    in_check: Members
    """bool (nodes,): whether the side to move is in check."""
    orders: Numbers
    """int64 (nodes,): of a checked side the lowest order of a capture that wins, or of a settled
    loss that it can move to, NEVER without one; of an offender its first order, NEVER + 1 where it
    is none."""

    @classmethod
    def make(cls, nodes: int, room: int) -> Expansion:
        """Room for the edges of so many nodes."""
        return cls(
            np.empty((room, 2), np.int64), np.zeros(nodes, np.bool_), np.zeros(nodes, np.int64)
        )


@part
def _contains(nodes, node):
    """Whether a node is among ascending nodes.

    nodes : int64 (n,), at least one
    """
    low, high = 0, nodes.size
    while high - low > 1:
        middle = (low + high) // 2
        if nodes[middle] <= node:
            low = middle
        else:
            high = middle
    return nodes[low] == node


@part
def _list_answers(n, side, slot, image, goal, offenders, found, expansion, desk, arrays):
    """List the quiet moves of a checked side that matter; returns how many edges there are.

    n : int, the place of the node; goal : int, ANSWERS or SUPPORTS
    offenders : int64 (m,), ascending
    found : int, how many edges there were; expansion : Expansion, inout
    """
    squares, board = desk.squares, desk.board
    movers, targets = desk.moves.movers, desk.moves.targets
    count = list_legal(side, expansion.in_check[n], board, desk.moves, squares, arrays.men)
    order = order_of_key(load_key(side, slot, arrays))
    expansion.orders[n] = NEVER
    for i in range(count):
        mover, target = movers[i], targets[i]
        if board[target] != EMPTY:
            key = worth_of_capture(side, mover, desk.piece_on[target], desk, arrays)
            if key > 0:
                expansion.orders[n] = min(expansion.orders[n], order_of_key(key))
            continue
        after = slot_after(slot, image, mover, target, squares, arrays)
        rank = arrays.ranks[arrays.tables[0, 1 - side] + after]
        key = arrays.values.keys[1 - side, rank]
        if arrays.values.settled[1 - side, rank]:
            expansion.orders[n] = min(expansion.orders[n], order_of_key(key))
        node = 2 * after + 1 - side
        if goal == SUPPORTS:
            wanted = key < 0 and order_of_key(key) == order
        else:
            wanted = offenders.size and _contains(offenders, node)
        if wanted:
            found = _add(n, node, found, expansion)
    return found


@part
def _add(n, node, found, expansion):
    """Write an edge if there is room; returns how many there are.

    n : int, the place where it begins; found : int, how many there were
    expansion : Expansion, inout
    """
    if found < len(expansion.edges):
        expansion.edges[found, 0] = n
        expansion.edges[found, 1] = node
    return found + 1


@part
def _list_checks(n, side, slot, image, found, expansion, desk, arrays):
    """List the checks of an offender, if it is one; returns how many edges there are.

    n : int, the place of the node; found : int, how many edges there were
    expansion : Expansion, inout
    """
    men, squares, board = arrays.men, desk.squares, desk.board
    before, first_order = found, 1
    for p in range(squares.size):
        if piece_side(men.pieces[p]) != side:
            continue
        count = list_legal_of(p, expansion.in_check[n], board, desk.moves, 0, squares, men)
        for i in range(count):
            target = desk.moves.targets[i]
            if board[target] != EMPTY:
                key = worth_of_capture(side, p, desk.piece_on[target], desk, arrays)
                order = order_of_key(key)
            else:
                after = slot_after(slot, image, p, target, squares, arrays)
                child = load_key(1 - side, after, arrays)
                if is_open(child) and gives_check(side, p, target, board, squares, men):
                    found = _add(n, 2 * after + 1 - side, found, expansion)
                    continue
                key = key_after_move(child)
                order = order_of_key(key) + 1
            if key >= 0:
                expansion.orders[n] = NEVER + 1
                return before
            first_order = max(first_order, order)
    if first_order > order_of_key(load_key(side, slot, arrays)):
        expansion.orders[n] = NEVER + 1
        return before
    expansion.orders[n] = first_order
    return found


@borrowing_kernel
def k_expand(nodes, offenders, goal, expansion, desk, arrays):
    """List the edges of some nodes; returns how many there are.

    Parameters
    ----------
    nodes : int64 (n,), sides to move: possible offenders, or checked ones
    offenders : int64 (m,), ascending: where answers lead
    goal : int, what edges are: CHECKS, ANSWERS or SUPPORTS
    expansion : Expansion, out; its edges are cut off where there is no more room
    """
    men, squares = arrays.men, desk.squares
    found = 0
    for n in range(nodes.size):
        slot, side = nodes[n] // 2, nodes[n] % 2
        set_up(slot, desk, arrays)
        king, other_king = squares[men.kings[side]], squares[men.kings[1 - side]]
        expansion.in_check[n] = is_checked(desk.board, king, other_king, side)
        image = image_of(slot, squares, arrays)
        if goal == CHECKS:
            found = _list_checks(n, side, slot, image, found, expansion, desk, arrays)
        else:
            found = _list_answers(
                n, side, slot, image, goal, offenders, found, expansion, desk, arrays
            )
        clear(desk)
    return found
