"""The game of the chase pattern, on numbers alone.

    chaser  --chase-->  the winner-to-be answers  --edge-->  chaser  --chase-->  ...

A chaser belongs to the pattern if every chase that matters by this order has an edge to a chaser
of the pattern, again and again, and the winner-to-be meets each of his clauses as often as he
likes: an answer that is no check; and for each piece, an answer that does not chase it, or whose
chase the offender does not answer. The clauses are solved as they are written, one greatest
fixpoint around a least one for each clause: nothing is assumed of how patterns look.

    chases of chaser n     chase_start[n] up to chase_start[n + 1]
    edges of chase c       edge_start[c] up to edge_start[c + 1], to chaser edge_to[e]
    pair (e, f)            edge e, then the f-th chase of the chaser it leads to:
                           victims[pair_start[e] + f], the pieces that this pair makes victims
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.jit import kernel

Numbers = NDArray[np.int64]
Members = NDArray[np.bool_]


class ChaseGraph(NamedTuple):
    """The arrays of the module's picture, all int64, and one flag per edge."""

    chase_start: Numbers
    edge_start: Numbers
    edge_to: Numbers
    is_check: Members
    """bool (edges,): the answer gives check."""


class Victims(NamedTuple):
    """Whom the winner-to-be chases, for the edges that may matter.

    A piece is a bit, and its number depends on the position: of a pair, it is the one at the
    chaser where the pair begins.
    """

    pair_start: Numbers
    """int64 (edges,): -1 for edges whose answers chase nobody."""
    victims: NDArray[np.uint64]
    follow: NDArray[np.int8]
    """int8 (edges, pieces): a piece's number at the chaser that an edge leads to."""


@kernel
def k_keep_safe(graph, due, dead, alive):
    """Shrink the chasers (`alive`, bool, inout) to those that support each other.

    due, dead : bool (chases,), the chases that matter, and those that cannot be answered
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


@kernel
def _k_meets(graph, victims, due, met, e, clause):
    """Whether edge e, whatever is chased next, meets a clause or stays where it can be met.

    met : bool (chases, 1 + pieces), from where each clause can be met
    """
    if clause == 0 and not graph.is_check[e]:
        return True
    if clause > 0 and (graph.is_check[e] or victims.pair_start[e] < 0):
        return True
    n = graph.edge_to[e]
    begin = graph.chase_start[n]
    after = 0 if clause == 0 else 1 + victims.follow[e, clause - 1]
    for f in range(begin, graph.chase_start[n + 1]):
        if not due[f] or met[f, after]:
            continue
        if clause > 0:
            word = victims.victims[victims.pair_start[e] + f - begin]
            if not (word >> np.uint64(clause - 1)) & np.uint64(1):
                continue
        return False
    return True


@kernel
def _k_reach(graph, victims, due, alive, met):
    """Find from which chases each clause can be met, inside the pattern: met (inout), all False."""
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
                        if alive[graph.edge_to[e]] and _k_meets(
                            graph, victims, due, met, e, clause
                        ):
                            met[c, clause] = True
                            changed = True
                            break


@kernel
def k_keep_clauses(graph, victims, due, dead, alive):
    """Shrink a safe set of chasers (`alive`, bool, inout) to the pattern; `dead` is inout too."""
    while True:
        met = np.zeros((due.size, 1 + victims.follow.shape[1]), np.bool_)
        _k_reach(graph, victims, due, alive, met)
        lost = False
        for n in range(alive.size):
            if not alive[n]:
                continue
            for c in range(graph.chase_start[n], graph.chase_start[n + 1]):
                if due[c] and not met[c].all():
                    dead[c] = True
                    lost = True
        if not lost:
            return
        k_keep_safe(graph, due, dead, alive)
