# mypy: allow-untyped-defs, allow-untyped-calls
"""Perpetual checks: compare the pattern of each order with the claims.

A *claim* is a stored direct win by the repetition rules. O is the side that checks for ever, W its
opponent. The pattern of order k is found anew, among the positions that the table leaves undecided
before order k (docs/values.md, "Patterns, exactly"). It is the greatest set of

    offenders       positions with O to move; every move is a check into the set, or leads to an
                    earlier win of W: of a lower order or, if the move captures, up to order k
    checked sides   positions with W to move, in check, with a move to an offender of the set or a
                    capture that wins by order k; and W can stay in the set without checking for
                    ever (the winner's clause)

The checked sides must be exactly the claims of order k in check. At one order more than the table
has, the set must be empty.

The offenders of the graph are the candidates of the passes over rows, and a few others that these
lead to (`_add_reached`). A direct loss (every move of O that keeps the order leads to a claim) is
*confirmed* if the passes over rows have found no fault with these claims. Of the draws with W in
check, only those that a check of an offender leads to are examined. Any other has no move to an
offender of the set: that offender would be a loss of order k, and the comparison with moves would
have refuted the draw. The package's docstring describes the parameters of kernels.

    offenders (m,) ascending    checked (n,) ascending     nodes 2 * slot + side
    checks    (e, 2)            indices (offender, checked)
    replies   (f, 2)            indices (checked, offender)
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import borrowing_kernel, compile_lock, part
from tbgen.indexing.squares import EMPTY
from tbgen.system.threads import thread_pool
from tbgen.verify.arrays import NO_NODES, Arrays, Flags, Numbers
from tbgen.verify.index import NOWHERE, BoardState, Index
from tbgen.verify.moves import (
    Ranges,
    in_check,
    index_of,
    list_moves,
    list_rows,
    load_key,
    new_row,
    set_up,
    slot_after,
    split_nodes,
    stored_keys,
    stored_orders,
)
from tbgen.verify.report import Refuted
from tbgen.verify.values import (
    MATE,
    NEVER,
    ORDER,
    are_direct_wins,
    is_open,
    order_of_key,
    orders_of_keys,
)

Edges = NDArray[np.int64]
"""int64 (edges, 2): pairs (source, goal), of indices or of nodes."""


@dataclass(frozen=True)
class Graph:
    """Possible check patterns of all orders, as a graph of offenders and checked sides.

    `checks` and `replies` are the edges, pairs of indices (offender, checked) and (checked,
    offender). The other arrays have an element for each offender, or for each checked side:

    offender_orders    order of the stored value
    first_orders       order from which the offender's moves other than `checks` all lose
    offender_in_check  whether the offender is in check
    checked_orders     order of the stored value
    wins_from          lowest order by which the checked side wins by a capture or by a move to a
                       confirmed direct loss; NEVER if there is none
    """

    checks: Edges
    replies: Edges
    offender_orders: Numbers
    first_orders: Numbers
    offender_in_check: Flags
    checked_orders: Numbers
    wins_from: Numbers

    def find(self, order: int) -> Flags:
        """Return the checked sides of the pattern of an order, bool (checked,)."""
        offenders = (self.first_orders <= order) & (self.offender_orders >= order)
        checked = self.checked_orders >= order
        # A check into a win of a lower order loses; only the other checks must lead into the set.
        needed = self.checks[checked[self.checks[:, 1]]]
        wins_at_once, quiet = self.wins_from <= order, ~self.offender_in_check

        def held(checked: Flags) -> Flags:
            """Return the offenders whose checks in `needed` all lead to the given checked sides."""
            found: Flags = offenders.copy()
            found[needed[~checked[needed[:, 1]], 0]] = False
            return found

        def answered(offenders: Flags) -> Flags:
            """Return the checked sides that win at once, or have a reply to a given offender."""
            found: Flags = wins_at_once.copy()
            found[self.replies[offenders[self.replies[:, 1]], 0]] = True
            return found

        def meeting(supported: Flags) -> Flags:
            """Return the checked sides from which W can force a win, or a reply without check.

            Until then, the play stays in the set `supported` (the winner's clause).
            """
            inside = held(supported)
            start = supported & answered(inside & quiet)
            return _fixpoint(lambda met: supported & answered(inside & (quiet | held(met))), start)

        while True:
            supported = _fixpoint(lambda some: some & answered(held(some)), checked)
            checked = meeting(supported)
            if np.array_equal(checked, supported):
                return checked


def _fixpoint(step: Callable[[Flags], Flags], flags: Flags) -> Flags:
    """Apply `step` repeatedly, from the set `flags` on, until nothing changes; return the set."""
    while not np.array_equal(after := step(flags), flags):
        flags = after
    return flags


CHECKS, ANSWERS = range(2)
"""Kinds of edges: checks of possible offenders, and answers (replies) of checked sides."""


class ListedEdges(NamedTuple):
    """Possible offenders with their checks, or checked sides with their answers."""

    nodes: Numbers
    """int64 (n,): the possible offenders among the nodes examined, or all checked sides."""
    orders: Numbers
    """int64 (n,): `Graph.first_orders` of offenders, or `Graph.wins_from` of checked sides; NEVER
    for a checked side without a winning move.
    """
    edges: Edges
    """int64 (edges, 2): an element of `nodes`, and the node after the check or answer."""


class CheckPatterns:
    """Perpetual checks of each order, compared with the claims of a table.

    `offenders` is the number of possible offenders, `graph` the graph of all orders.
    """

    def __init__(
        self, arrays: Arrays, index: Index, offenders: Ranges, checked: Numbers, threads: int
    ) -> None:
        """List the checks of possible offenders, and the replies, as a graph for all orders.

        offenders : nodes to examine as offenders
        checked : nodes to examine as checked sides, besides those that the checks lead to
        """
        self._arrays, self._index = arrays, index
        with compile_lock():
            self._list_range(NO_NODES, CHECKS, None)
        with thread_pool(threads) as pool:
            listed = self._add_reached(pool, self._list(pool, offenders))
            self._checked: Numbers = np.unique(np.concatenate([checked, listed.edges[:, 1]]))
            answered = self._list(pool, split_nodes(self._checked), ANSWERS, listed.nodes)
        self._keys = stored_keys(self._checked, arrays)
        self.offenders = len(listed.nodes)
        self.graph = Graph(
            _number_edges(listed.edges, listed.nodes, self._checked),
            _number_edges(answered.edges, self._checked, listed.nodes),
            stored_orders(listed.nodes, arrays),
            listed.orders,
            in_check(listed.nodes, arrays),
            orders_of_keys(self._keys),
            answered.orders,
        )

    def check_order(self, order: int) -> list[Refuted]:
        """Return the positions whose stored values the pattern of an order refutes, ascending.

        They are checked sides of the pattern that are no claims of this order, and claims of this
        order that are not in the pattern.
        """
        pattern = self.graph.find(order)
        claimed = self._keys == MATE - order * ORDER
        return [
            Refuted(int(self._checked[i]), order, is_pattern=bool(pattern[i]))
            for i in np.flatnonzero(pattern != claimed)
        ]

    def _unexamined_wins(self, listed: ListedEdges) -> Numbers:
        """Return the wins of W in which the passes over rows assume an answer, ascending.

        They are no claims, have some order k - 1, and a check from a direct loss of O of order k
        leads to them. Other losses of O of order k cannot belong to the pattern of order k - 1
        (docs/proof.md): if all their checks were answered, a claim of order k would be missing.

        listed : the possible offenders and their checks
        """
        if not self._arrays.values.confirmed.any():
            return NO_NODES
        sources, goals = listed.edges[:, 0], listed.edges[:, 1]
        orders = stored_orders(sources, self._arrays)
        keys = stored_keys(goals, self._arrays)
        is_claim = are_direct_wins(keys)
        not_direct = sources[(orders_of_keys(keys) == orders) & ~is_claim]
        before = (orders_of_keys(keys) == orders - 1) & ~is_claim
        return np.unique(goals[before & ~np.isin(sources, not_direct)])

    def _add_reached(self, pool: ThreadPoolExecutor, listed: ListedEdges) -> ListedEdges:
        """Return `listed` with further possible offenders, reached from unexamined wins.

        Answers of W in these wins lead to further possible offenders, and their checks to further
        wins, until no win is new. Two kinds of checks are not followed. Checks into claims are
        known to be answered, by a move to a confirmed direct loss. Checks into draws lead out of
        the pattern: its worst order is that of the direct losses (docs/proof.md).
        """
        wins, examined = self._unexamined_wins(listed), NO_NODES
        while wins.size:
            examined = np.union1d(examined, wins)
            after = self._list(pool, split_nodes(wins), ANSWERS).edges[:, 1]
            more = self._list(pool, split_nodes(np.setdiff1d(after, listed.nodes)))
            goals = np.unique(more.edges[:, 1])
            keys = stored_keys(goals, self._arrays)
            wins = np.setdiff1d(goals[(keys != 0) & ~are_direct_wins(keys)], examined)
            nodes, orders, edges = map(np.concatenate, zip(listed, more, strict=True))
            by_node = np.argsort(nodes)
            listed = ListedEdges(nodes[by_node], orders[by_node], edges)
        return listed

    def _list(
        self,
        pool: ThreadPoolExecutor,
        ranges: Ranges,
        kind: int = CHECKS,
        goals: Numbers | None = None,
    ) -> ListedEdges:
        """Return the edges of the nodes of all ranges; `kind` and `goals` as for `_list_range`."""
        parts = pool.map(lambda some: self._list_range(some(), kind, goals), ranges)
        return ListedEdges(*map(np.concatenate, zip(*parts, strict=True)))

    def _list_range(self, nodes: Numbers, kind: int, goals: Numbers | None) -> ListedEdges:
        """Return the edges of one range of nodes.

        kind : CHECKS of possible offenders, or ANSWERS of checked sides
        goals : the offenders that answers may lead to, ascending; None for all open positions
        """
        state = BoardState.make(self._index, self._arrays.ranks.dtype)
        orders, wanted = np.zeros(len(nodes), np.int64), NO_NODES if goals is None else goals
        anywhere, index, arrays = goals is None, self._index, self._arrays
        (edges,) = list_rows(
            lambda lists: k_list(
                nodes, kind, wanted, anywhere, orders, lists, state, index, arrays
            ),
            1,
            2,
        )
        edges[:, 0] = nodes[edges[:, 0]]
        kept = orders <= NEVER
        return ListedEdges(nodes[kept], orders[kept], edges)


def _number_edges(edges: Edges, sources: Numbers, goals: Numbers) -> Edges:
    """Return edges between nodes as pairs of indices in the ascending `sources` and `goals`."""
    return np.column_stack([sources.searchsorted(edges[:, 0]), goals.searchsorted(edges[:, 1])])


@part
def _add(n, node, lists):
    """Append an edge to the first list of `lists`.

    n : int, the index of the source; node : int, the goal
    """
    row = new_row(lists, 0)
    lists.rows[0, row, 0], lists.rows[0, row, 1] = n, node


@part
def _list_answers(n, count, side, goals, anywhere, orders, lists, state, index, arrays):
    """List the answers of a checked side, and write its `Graph.wins_from` to `orders[n]`.

    Answers are the quiet moves to open positions: with `anywhere` to all, else to those in `goals`.
    They include moves to confirmed direct losses. The order is NEVER if no move wins.

    n : int, the index of the node; count : int, the number of moves in `state`
    """
    values, there = arrays.values, (1 - side) * index.slots
    orders[n] = NEVER
    for i in range(count):
        rank = arrays.ranks[there + state.children[i]]
        if rank == 0:
            continue
        key = values.keys[1 - side, rank]
        is_capture = state.board[state.targets[i]] != EMPTY
        if (is_capture and key < 0) or values.confirmed[1 - side, rank]:
            orders[n] = min(orders[n], order_of_key(key))
        if not is_capture and is_open(key):
            node = 2 * slot_after(i, state, index) + 1 - side
            if anywhere or index_of(goals, node) != NOWHERE:
                _add(n, node, lists)


@part
def _list_checks(n, count, side, slot, orders, lists, state, index, arrays):
    """List the quiet checks of a possible offender that lead to open positions.

    Writes to `orders[n]` the order from which all other moves lose. If there is no such order, or
    it is above that of the stored value, the node is no possible offender: nothing is listed, and
    NEVER + 1 is written.

    n : int, the index of the node; count : int, the number of moves in `state`
    """
    planes, slots = arrays.ranks, index.slots
    before, first_order = lists.counts[0], 1
    for i in range(count):
        after = state.children[i]
        rank = planes[(1 - side) * slots + after]
        if rank == 0:
            continue
        key = arrays.values.keys[1 - side, rank]
        order = order_of_key(key)
        if state.board[state.targets[i]] == EMPTY:
            if is_open(key) and planes[side * slots + after] == 0:
                _add(n, 2 * slot_after(i, state, index) + 1 - side, lists)
                continue
            order += 1
        if key <= 0:
            first_order = NEVER + 1
            break
        first_order = max(first_order, order)
    orders[n] = first_order
    if first_order > order_of_key(load_key(side, slot, index, arrays)):
        orders[n] = NEVER + 1
        lists.counts[0] = before


@borrowing_kernel
def k_list(nodes, kind, goals, anywhere, orders, lists, state, index, arrays):
    """List the edges of some nodes: checks of offenders, or answers of checked sides.

    An edge is the index of its source in `nodes`, and the node that it leads to.

    nodes : int64 (n,), possible offenders, or checked sides
    kind : int, CHECKS or ANSWERS
    orders : int64 (n,), out: as in `ListedEdges`, NEVER + 1 for nodes that are no offenders
    lists : Lists, out: edges
    """
    for n in range(nodes.size):
        slot, side = nodes[n] // 2, nodes[n] % 2
        within, image = set_up(slot, state, index)
        count = list_moves(side, slot - within, within, image, state, index)
        if kind == ANSWERS:
            _list_answers(n, count, side, goals, anywhere, orders, lists, state, index, arrays)
        else:
            _list_checks(n, count, side, slot, orders, lists, state, index, arrays)
