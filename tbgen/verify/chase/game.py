# mypy: allow-untyped-defs, allow-untyped-calls
"""The game of the chase pattern, on numbers alone.

    chaser  --chase-->  the winner-to-be answers  --edge-->  chaser  --chase-->  ...

A chaser belongs to the pattern if every chase that matters by this order has an edge to a chaser
of the pattern, again and again, and the winner-to-be meets each of his clauses as often as he
likes: an answer that is no check; and for each piece, an answer that does not chase it, or whose
chase the offender does not answer. The clauses are solved as they are written, one greatest
fixpoint around a least one for each clause: nothing is assumed of how patterns look. Boards and
values are none of its business.

    chases of chaser n     chase_start[n] up to chase_start[n + 1]
    edges of chase c       edge_start[c] up to edge_start[c + 1], to chaser edge_to[e]
    pair (e, f)            edge e, then the f-th chase of the chaser it leads to:
                           victims[pair_start[e] + f], the pieces that this pair makes victims
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import borrowing_kernel, part
from tbgen.compiling.lending import lent
from tbgen.verify.arrays import Members, Numbers


@lent
class ChaseGraph(NamedTuple):
    """The arrays of the module's picture, and one flag per edge. Shapes: N chasers, C chases."""

    chase_start: Numbers
    """int64 (N + 1,)."""
    edge_start: Numbers
    """int64 (C + 1,)."""
    edge_to: Numbers
    """int64 (edges,)."""
    is_check: Members
    """bool (edges,): the answer gives check."""


@lent
class Victims(NamedTuple):
    """Whom the winner-to-be chases, for the edges that may matter.

    A piece is a bit, and its number depends on the position: of a pair, it is the one at the
    chaser where the pair begins.
    """

    pair_start: Numbers
    """int64 (edges,): -1 for edges whose answers chase nobody."""
    victims: NDArray[np.uint64]
    """uint64 (pairs,): a set of pieces for each."""
    follow: NDArray[np.int8]
    """int8 (edges, pieces): a piece's number at the chaser that an edge leads to."""


def keep_clauses(
    graph: ChaseGraph, victims: Victims, due: Members, dead: Members, alive: Members
) -> None:
    """Shrink a safe set of chasers to the pattern.

    due : bool (chases,), the chases that matter
    dead : bool (chases,), inout, the chases that cannot be answered
    alive : bool (chasers,), inout
    """
    chaser_of = np.repeat(np.arange(alive.size), np.diff(graph.chase_start))
    while True:
        met = np.zeros((due.size, 1 + victims.follow.shape[1]), np.bool_)
        k_reach(graph, victims, due, alive, met)
        lost = due & alive[chaser_of] & ~met.all(axis=1)
        if not lost.any():
            return
        dead |= lost
        k_keep_safe(graph, due, dead, alive)


@borrowing_kernel
def k_keep_safe(graph, due, dead, alive):
    """Shrink the chasers that are `alive` to those that support each other.

    alive : bool (chasers,), inout
    """
    changed = True
    while changed:
        changed = False
        for n in range(alive.size):
            if not alive[n]:
                continue
            chases, held = 0, True
            for c in range(graph.chase_start[n], graph.chase_start[n + 1]):
                if not due[c]:
                    continue
                chases += 1
                supported = False
                if not dead[c]:
                    for e in range(graph.edge_start[c], graph.edge_start[c + 1]):
                        if alive[graph.edge_to[e]]:
                            supported = True
                            break
                if not supported:
                    held = False
                    break
            if chases == 0 or not held:
                alive[n] = False
                changed = True


@part
def _meets(graph, victims, due, met, e, clause):
    """Return whether an edge, whatever is chased next, meets a clause or stays where it can be met.

    e : int, the edge; clause : int, 0 for an answer that is no check, 1 + p for piece p
    met : bool (chases, 1 + pieces), as `k_reach` has found so far
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
def k_reach(graph, victims, due, alive, met):
    """Find from which chases each clause can be met inside the pattern.

    met : bool (chases, 1 + pieces), inout, all False before
    """
    changed = True
    while changed:
        changed = False
        for n in range(alive.size):
            if not alive[n]:
                continue
            for c in range(graph.chase_start[n], graph.chase_start[n + 1]):
                if not due[c]:
                    continue
                for clause in range(met.shape[1]):
                    if met[c, clause]:
                        continue
                    for e in range(graph.edge_start[c], graph.edge_start[c + 1]):
                        if alive[graph.edge_to[e]] and _meets(graph, victims, due, met, e, clause):
                            met[c, clause] = True
                            changed = True
                            break
