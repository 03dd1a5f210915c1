# mypy: allow-untyped-defs, allow-untyped-calls
"""Proof and disproof numbers of a node, corrected for loops  (L. V. Allis 1994).

    estimate   a node's numbers from those of its children, and the edge to follow

A move to a node of the current path closes a loop with a known outcome. The loop is a win if the
defender gave check with every move in it and the attacker with none; otherwise it proves nothing.
Numbers derived from a loop hold only while the first node of the loop is on the path. On other
paths they would mark unexplored nodes as settled. So a node with a settled estimate stores the node
that the estimate depends on, and counts as new if that node is not on the path.

A *place* is 1 + the index of a node on the current path, 0 for a node that is not on the path.
"""

from __future__ import annotations

import numpy as np

from tbgen.compiling.jit import part
from tbgen.engine.search.graph import INFINITE, ITSELF, OPEN

_NOWHERE = 1 << 20
"""Value for "no place", above every place: the numbers depend on no node of the current path. A
place is 1 + the index of a node on that path.
"""


@part
def _child_numbers(graph, number, place, loop):
    """Return a child's proof and disproof numbers, and the place on the path they depend on.

    A place is 1 + the index of a node on the current path. The place returned is that of the node
    at which a loop closes, or `_NOWHERE` for numbers that do not depend on the path.

    number : int64; the child
    place : int64; the parent's place on the path; 0 without a path
    loop : int64; least place from which on every move of the defender, and none of the attacker,
        gives check; a loop that begins there or later is a win
    """
    node = graph.nodes[number]
    at = np.int64(node.place)
    if place != 0 and at != 0:
        if at >= loop:
            return np.int64(0), np.int64(INFINITE), at
        return np.int64(INFINITE), np.int64(0), at
    proof, disproof = np.int64(node.proof), np.int64(node.disproof)
    if node.status != OPEN or (proof != 0 and disproof != 0):
        return proof, disproof, np.int64(_NOWHERE)
    if place != 0:
        if node.basis == ITSELF:
            return proof, disproof, np.int64(_NOWHERE)
        at = np.int64(graph.nodes[node.basis].place)
        # A win by a loop needs checks only, also on the path from its first node to the child.
        if at >= loop or (at != 0 and proof != 0):
            return proof, disproof, at
    return np.int64(1), np.int64(1), np.int64(_NOWHERE)


@part
def estimate(graph, path, number, place, loop):
    """Compute a node's proof numbers from its children; return the edge to follow, or -1.

    The edge leads to the child that the proof search should visit next. It is -1 if every child is
    settled against the side to move.

    number : int64; the node, open, with children
    place : int64; 1 + the node's index on the path; 0 without a path
    loop : int64; least place from which on every move of the defender, and none of the attacker,
        gives check; a loop that begins there or later is a win
    """
    node = graph.nodes[number]
    first, defender = node.first_edge, node.defender != 0
    least, total, best = INFINITE, 0, -1
    best_basis, basis, settled = np.int64(_NOWHERE), np.int64(_NOWHERE), False
    for edge in range(first, first + node.children):
        child, after = np.int64(graph.children[edge]), loop
        if (graph.nodes[child].in_check != 0) != defender:
            # The defender's move is no check, or the attacker's move is one.
            after = place + 1
        proof, disproof, at = _child_numbers(graph, child, place, after)
        mine, other = (disproof, proof) if defender else (proof, disproof)
        if mine < least:
            least, best, best_basis = mine, edge, at
        # Shared nodes are counted more than once, so sums grow large without settling the node.
        total = min(total + other, INFINITE - 1)
        settled |= other == INFINITE
        basis = min(basis, at)
    if settled:
        total = INFINITE
    node.proof, node.disproof = (total, least) if defender else (least, total)
    if least == 0:
        basis = best_basis
    node.basis = path[basis - 1] if basis < place else ITSELF
    return best
