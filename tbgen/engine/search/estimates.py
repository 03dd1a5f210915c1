# mypy: allow-untyped-defs, allow-untyped-calls
"""Proof numbers of a node that take account of loops  (L. V. Allis 1994).

    estimate   a node's numbers, by those of its children, and the child to go on with

A move to a node of the current path closes a loop, whose outcome is known: won if it consists of
checks alone, else no progress. Numbers that follow for nodes inside the loop hold only while the
first node of the loop is on the path. On other paths they would mark unexplored nodes as settled.
So a node with a settled estimate stores the node on which it rests, and counts as new if that node
is not on the path.
"""

from __future__ import annotations

import numpy as np

from tbgen.compiling.jit import part
from tbgen.engine.search.graph import (
    CHILDREN,
    DISPROOF,
    FIRST_CHILD,
    IN_CHECK,
    ITSELF,
    NEVER,
    OPEN,
    OPPONENT,
    PLACE,
    PROOF,
    RESTS,
    STATUS,
)

_NOWHERE = 1 << 20
"""In place of a place on the way, for numbers that rest on none, and so hold on any other way."""


@part
def _weigh(graph, number, place, loop):
    """Return a child's proof and disproof numbers, and the place of the way that they rest on.

    number : int64; the child
    place : int64; the parent's; 0 if no way is considered
    loop : int64; from this place on the opponent has done nothing but check
    """
    node = graph.nodes[number]
    at = np.int64(node[PLACE])
    if place != 0 and at != 0:
        if at >= loop:
            return np.int64(0), np.int64(NEVER), at
        return np.int64(NEVER), np.int64(0), at
    proof, disproof = np.int64(node[PROOF]), np.int64(node[DISPROOF])
    if node[STATUS] != OPEN or (proof != 0 and disproof != 0):
        return proof, disproof, np.int64(_NOWHERE)
    if place != 0:
        if node[RESTS] == ITSELF:
            return proof, disproof, np.int64(_NOWHERE)
        at = np.int64(graph.nodes[node[RESTS], PLACE])
        # A loop of checks has no other move in it, on the way to the child neither.
        if at >= loop or (at != 0 and proof != 0):
            return proof, disproof, at
    return np.int64(1), np.int64(1), np.int64(_NOWHERE)


@part
def estimate(graph, way, number, place, loop):
    """Fill in what is left to show of a node, by its children; returns the edge to follow, or -1.

    way : int64 (MAX_PLY,), in; the nodes of the way down
    number : int64; the node, open, with children
    place : int64; 1 + its place on the way down; 0 if no way is considered
    loop : int64; from this place on the opponent has done nothing but check
    """
    node = graph.nodes[number]
    first, opponent = node[FIRST_CHILD], node[OPPONENT] != 0
    least, total, best = NEVER, 0, -1
    rests_best, rests, settled = np.int64(_NOWHERE), np.int64(_NOWHERE), False
    for edge in range(first, first + node[CHILDREN]):
        child, after = np.int64(graph.children[edge]), loop
        if (graph.nodes[child, IN_CHECK] != 0) != opponent:
            # An idle move of the opponent, or a check of the winner-to-be.
            after = place + 1
        proof, disproof, at = _weigh(graph, child, place, after)
        mine, other = proof, disproof
        if opponent:
            mine, other = disproof, proof
        if mine < least:
            least, best, rests_best = mine, edge, at
        # What two moves share is counted twice, so sums grow large: that does not settle anything.
        total = min(total + other, NEVER - 1)
        settled |= other == NEVER
        rests = min(rests, at)
    if settled:
        total = NEVER
    node[PROOF], node[DISPROOF] = least, total
    if opponent:
        node[PROOF], node[DISPROOF] = total, least
    if least == 0:
        rests = rests_best
    node[RESTS] = ITSELF
    if rests < place:
        node[RESTS] = way[rests - 1]
    return best
