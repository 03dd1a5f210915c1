# mypy: allow-untyped-defs, allow-untyped-calls
"""Perpetual chases: compare the pattern of each order with the claims.

A *chaser* is a position and a piece, its *victim*: each move attacks the victim anew, or loses. A
*claim* is a stored direct win of a side that is not in check.

    find     chasers, among the nodes listed by the passes (`chasers`)
    expand   their chases, and the answers that lead to chasers again (`chases`)
    order k  chasers of the pattern  ->  positions after their due chases  =  claims

    chaser  --chase-->  the winner answers  --edge-->  chaser  --chase-->  ...

A chase is *due* at order k if it does not lose by this order. A set of chasers is *safe* if each
has a due chase, and each due chase has an edge to a chaser of the set. The pattern is the greatest
safe set of chasers undecided before order k, with first orders up to k, in which the winner can
meet each *clause* again and again (docs/values.md, "Patterns, exactly"):

    one clause                             an answer that gives no check
    one for each piece of the offender     an answer that does not chase the piece, or whose chase
                                           the offender does not answer

The graph of chasers, chases and edges:

    chases of chaser n     range(chase_start[n], chase_start[n + 1])
    edges of chase c       range(edge_start[c], edge_start[c + 1]); edge e leads to edge_to[e]
    pair (e, f)            edge e, then chase number f (from 0) of the chaser edge_to[e]:
                           victims[pair_start[e] + f], a bit set: pieces that the answer of e
                           attacks anew, each by an attack that the chase removes

The package's docstring describes the parameters of kernels.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import borrowing_kernel, by_pointer, compile_lock, part
from tbgen.indexing.squares import SQUARES
from tbgen.system.threads import thread_pool
from tbgen.verify.arrays import Arrays, Flags, NodeList, Numbers
from tbgen.verify.chasers import FIRST_ORDER, NUMBER, ChaseBoards, list_chasers
from tbgen.verify.chases import (
    CHASE_COLUMNS,
    CHASE_OF_EDGE,
    CHASER,
    CHASER_AFTER,
    EDGE_COLUMNS,
    IS_CHECK,
    LISTS,
    LOSES_FROM,
    NODE_AFTER,
    k_expand_chasers,
    k_find_victims,
)
from tbgen.verify.index import Index
from tbgen.verify.moves import Ranges, list_rows, make_filter, stored_orders
from tbgen.verify.report import Refuted


@by_pointer
class ChaseGraph(NamedTuple):
    """Graph of possible chase patterns: chasers, their chases, and the answers to these (edges).

    Shapes: N chasers, C chases.
    """

    chase_start: Numbers
    """int64 (N + 1,): index of the first chase of each chaser, then C."""
    edge_start: Numbers
    """int64 (C + 1,): index of the first edge of each chase, then the number of edges."""
    edge_to: Numbers
    """int64 (edges,): index of the chaser that each edge leads to."""
    is_check: Flags
    """bool (edges,): whether the answer of each edge gives check."""


@by_pointer
class Victims(NamedTuple):
    """Pieces that the winner's answers chase, inside a possible pattern.

    A pair is an edge, and a next chase by the chaser that the edge leads to. Pieces are numbered as
    at the chaser whose chase the edge answers.
    """

    pair_start: Numbers
    """int64 (edges,): index in `victims` of the first pair of each edge; -1 for edges outside the
    possible pattern, and for answers that give check.
    """
    victims: NDArray[np.uint64]
    """uint64 (pairs,): for each pair, a bit set of the pieces that the answer attacks anew, if the
    next chase removes that attack.
    """
    follow: NDArray[np.int8]
    """int8 (edges, pieces): the number of each piece at the chaser that an edge leads to. Pieces of
    one kind may be in another order there.
    """


def prune_by_clauses(
    graph: ChaseGraph, victims: Victims, due: Flags, failed: Flags, remaining: Flags
) -> None:
    """Remove chasers from the safe set `remaining` until the pattern is left.

    due : bool (chases,), the due chases
    failed : bool (chases,), inout, all False on entry: the chases after which the winner cannot
        meet some clause
    remaining : bool (chasers,), inout
    """
    chaser_of = np.repeat(np.arange(remaining.size), np.diff(graph.chase_start))
    while True:
        met = np.zeros((due.size, 1 + victims.follow.shape[1]), np.bool_)
        k_find_met(graph, victims, due, remaining, met)
        lost = due & remaining[chaser_of] & ~met.all(axis=1)
        if not lost.any():
            return
        failed |= lost
        k_prune_unsafe(graph, due, failed, remaining)


@borrowing_kernel
def k_prune_unsafe(graph, due, failed, remaining):
    """Reduce `remaining` to its greatest safe subset; edges of failed chases do not count.

    remaining : bool (chasers,), inout
    """
    changed = True
    while changed:
        changed = False
        for n in range(remaining.size):
            if not remaining[n]:
                continue
            chases, held = 0, True
            for c in range(graph.chase_start[n], graph.chase_start[n + 1]):
                if not due[c]:
                    continue
                chases += 1
                supported = False
                if not failed[c]:
                    for e in range(graph.edge_start[c], graph.edge_start[c + 1]):
                        if remaining[graph.edge_to[e]]:
                            supported = True
                            break
                if not supported:
                    held = False
                    break
            if chases == 0 or not held:
                remaining[n] = False
                changed = True


@part
def _meets(graph, victims, due, met, e, clause):
    """Return whether the answer of an edge meets a clause, or the winner can meet it later.

    If the answer does not meet the clause itself, the winner must be able to meet it after each due
    chase that may follow (`met`). An answer that gives check meets the clauses of all pieces. For
    the clause of piece p, only chases that remove an attack of the answer on p count.

    e : int, the edge; clause : int, 0 for an answer without check, 1 + p for not chasing piece p
    met : bool (chases, 1 + pieces), whether a clause is known to be met after a chase
    """
    if clause == 0 and not graph.is_check[e]:
        return True
    if clause > 0 and (graph.is_check[e] or victims.pair_start[e] < 0):
        return True
    n = graph.edge_to[e]
    begin = graph.chase_start[n]
    after = 0
    if clause > 0:
        after = 1 + victims.follow[e, clause - 1]
    for f in range(begin, graph.chase_start[n + 1]):
        if not due[f] or met[f, after]:
            continue
        if clause > 0:
            word = victims.victims[victims.pair_start[e] + f - begin]
            if not (word >> np.uint64(clause - 1)) & np.uint64(1):
                continue
        return False
    return True


@borrowing_kernel
def k_find_met(graph, victims, due, remaining, met):
    """Find the clauses that the winner can meet inside `remaining` after each due chase.

    remaining : bool (chasers,), a safe set
    met : bool (chases, 1 + pieces), inout, all False on entry; column 0 is the clause about checks
    """
    changed = True
    while changed:
        changed = False
        for n in range(remaining.size):
            if not remaining[n]:
                continue
            for c in range(graph.chase_start[n], graph.chase_start[n + 1]):
                if not due[c]:
                    continue
                for clause in range(met.shape[1]):
                    if met[c, clause]:
                        continue
                    for e in range(graph.edge_start[c], graph.edge_start[c + 1]):
                        if remaining[graph.edge_to[e]] and _meets(
                            graph, victims, due, met, e, clause
                        ):
                            met[c, clause] = True
                            changed = True
                            break


_RANGE_CHASERS = 1 << 12
"""Number of chasers whose chases one task of a thread lists."""


class ChasePatterns:
    """Possible perpetual chases of a table, compared with its claims order by order.

    `numbers`, int64 (chasers,), are the chasers: 90 * node + square of the victim, ascending.
    """

    def __init__(
        self, arrays: Arrays, index: Index, ranges: Ranges, claims: NodeList, threads: int
    ) -> None:
        """List all chasers, and build their graph, for all orders.

        ranges : nodes that may be chasers
        claims : claims of all orders, ascending
        """
        self._arrays, self._index = arrays, index
        self._claims, self._claimed_orders = claims, stored_orders(claims, arrays)
        with thread_pool(threads) as pool:
            chasers = list_chasers(ranges, arrays, index, pool)
            self.numbers: Numbers = np.ascontiguousarray(chasers[:, NUMBER])
            self._listed = make_filter(self.numbers // SQUARES)
            self._first_orders: Numbers = np.ascontiguousarray(chasers[:, FIRST_ORDER])
            del chasers
            with compile_lock():
                self._expand(len(self.numbers))
            starts = range(0, max(1, len(self.numbers)), _RANGE_CHASERS)
            chases, edges = zip(*pool.map(self._expand, starts), strict=True)
        first_chases = np.cumsum([0, *map(len, chases[:-1])])
        for first_chase, some in zip(first_chases, edges, strict=True):
            some[:, CHASE_OF_EDGE] += first_chase
        self._chases: Numbers = np.concatenate(chases)
        del chases
        self._edges: Numbers = np.concatenate(edges)
        del edges
        self._chaser_orders = stored_orders(self.numbers // SQUARES, arrays)
        self._graph = ChaseGraph(
            _starts(self._chases[:, CHASER], len(self.numbers)),
            _starts(self._edges[:, CHASE_OF_EDGE], len(self._chases)),
            np.ascontiguousarray(self._edges[:, CHASER_AFTER]),
            self._edges[:, IS_CHECK] != 0,
        )

    def check_order(self, order: int) -> list[Refuted]:
        """Return the positions whose stored values the pattern of an order refutes.

        Missing claims come first, then wrong claims; each by ascending node.
        """
        remaining, due = self.find(order)
        pattern = self._chases[remaining[self._chases[:, CHASER]] & due, NODE_AFTER]
        claimed = self._claims[self._claimed_orders == order]
        missing, wrong = np.setdiff1d(pattern, claimed), np.setdiff1d(claimed, pattern)
        return [
            Refuted(node, order, is_pattern=is_pattern, by_chase=True)
            for nodes, is_pattern in ((missing, True), (wrong, False))
            for node in nodes.tolist()
        ]

    def find(self, order: int) -> tuple[Flags, Flags]:
        """Return flags: chasers of an order's pattern (chasers,), and due chases (chases,)."""
        remaining: Flags = (self._first_orders <= order) & (self._chaser_orders >= order)
        due: Flags = self._chases[:, LOSES_FROM] > order
        failed = np.zeros(len(due), np.bool_)
        k_prune_unsafe(self._graph, due, failed, remaining)
        victims = self._find_victims(remaining, due)
        prune_by_clauses(self._graph, victims, due, failed, remaining)
        return remaining, due

    def _find_victims(self, remaining: Flags, due: Flags) -> Victims:
        """Return the pieces that the winner's answers chase, inside the safe set `remaining`.

        remaining : (chasers,); due : (chases,)
        """
        sources = self._edges[:, CHASE_OF_EDGE]
        inside = (
            remaining[self._chases[sources, CHASER]]
            & due[sources]
            & remaining[self._edges[:, CHASER_AFTER]]
        )
        wanted = np.flatnonzero(inside)
        asked = inside & ~self._graph.is_check
        starts = self._graph.chase_start
        pairs = np.where(asked, np.diff(starts)[self._edges[:, CHASER_AFTER]], 0)
        pair_start = np.where(asked, np.cumsum(pairs) - pairs, -1)
        pieces = len(self._index.pieces)
        victims = Victims(
            pair_start,
            np.zeros(int(pairs.sum()), np.uint64),
            np.zeros((len(self._edges), pieces), np.int8),
        )
        k_find_victims(
            wanted, self.numbers, self._chases, self._edges, self._graph, victims,
            ChaseBoards.make(self._index, self._arrays), self._index, self._arrays,
        )  # fmt: skip
        return victims

    def _expand(self, first: int) -> list[Numbers]:
        """Return the chases and edges of `_RANGE_CHASERS` chasers, or fewer, from `first` on."""
        last = min(first + _RANGE_CHASERS, len(self.numbers))
        boards = ChaseBoards.make(self._index, self._arrays)
        return list_rows(
            lambda lists: k_expand_chasers(
                first, last, self.numbers, self._listed, self._first_orders, lists, boards,
                self._index, self._arrays,
            ),
            LISTS,
            max(CHASE_COLUMNS, EDGE_COLUMNS),
        )  # fmt: skip


def _starts(owners: NDArray[Any], count: int) -> Numbers:
    """Return the index of each owner's first entry in a list sorted by owner, int64 (count + 1,).

    owners : (n,), ascending, the owner of each entry, from 0 to count - 1
    """
    return np.searchsorted(owners, np.arange(count + 1)).astype(np.int64)
