# mypy: allow-untyped-defs, allow-untyped-calls
"""Graph of positions of a proof: outcomes, perpetual checks, proof numbers.

    settle          outcomes of nodes from those of their children
    find_patterns   perpetual checks by the defender: the greatest set of nodes in which every
                    move of the defender, and some move of the attacker, stays in the set or leads
                    to a won node; inside the set, every move of the defender gives check, and
                    no move of the attacker does  (docs/values.md, "Patterns, exactly")
    estimate        proof and disproof numbers of a node from those of its children, and the edge
                    to follow    (L. V. Allis 1994)

The attacker is the side whose win is to be proven, the defender its opponent. A *place* is 1 + the
index of a node on the current path, 0 for a node that is not on the path.

A move to a node of the path closes a loop. The attacker wins by it if every move of the defender in
the loop gives check, and no move of the attacker does. Otherwise the loop is no win on this path.

Proof and disproof number of a node are *settled* if one is 0. Settled numbers that follow from a
loop hold only while the first node of the loop, stored as `basis`, is on the path. For a win, the
moves from that node to this one must also meet the condition on checks. Where settled numbers do
not hold, both count as 1, as for a new node.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import part

OPEN, WON, LOST = 0, 1, 2
"""Status of a node. `OPEN`: unknown; `WON`: the attacker wins; `LOST`: the attacker does not win,
or the graph cannot prove it.
"""

ITSELF = -1
"""Value of `basis` for numbers that depend on no loop."""

NODE = np.dtype([
    ("status", np.int32),  # `OPEN`, `WON` or `LOST`
    ("proof", np.int32),  # proof number: 0 for a win, `INFINITE` for no win
    ("disproof", np.int32),  # disproof number
    ("children", np.int32),  # number of children, -1 before expansion
    ("first_edge", np.int32),  # first of the edges to the children
    ("in_check", np.int32),  # 1 if the side to move is in check
    ("defender", np.int32),  # 1 if the defender is to move
    ("rank", np.int32),  # counter `CLOCK` when the node was marked as won or lost
    ("place", np.int32),  # 1 + index on the current path, else 0
    ("basis", np.int32),  # first node of the loop that the numbers depend on, or `ITSELF`
])  # fmt: skip
"""Layout of a node of the graph."""

NODES, EDGES, EXPANDED, CLOCK = range(4)
"""Indices of `Graph.counts`: numbers of nodes, edges, expanded nodes, and nodes won or lost."""

_EDGES = 8
"""Number of edges (moves) allocated per node; measured graphs had 1.5 to 7 edges per node."""

INFINITE = 1 << 24
"""Proof or disproof number that stands for infinity; sums of finite numbers are capped below it."""
_NOWHERE = 1 << 20
"""Place for numbers that depend on no node of the path; larger than every other place."""


class Graph(NamedTuple):
    """Positions and moves of a proof. Shapes: N nodes, E edges, H hash slots."""

    keys: NDArray[np.int64]  # (N,), hash keys of the positions
    nodes: np.recarray[Any, Any]  # (N,), of type `NODE`
    expanded: NDArray[np.int32]  # (N,), the expanded nodes, in order of expansion
    children: NDArray[np.int32]  # (E,), the node after each edge; edges of a parent are adjacent
    moves: NDArray[np.int16]  # (E,), move of each edge
    buckets: NDArray[np.int32]  # (H,), by key, H a power of two: 1 + the node's number, 0 if free
    counts: NDArray[np.int64]  # (4,), counters, at the indices `NODES` to `CLOCK`


def new_graph(nodes: int) -> Graph:
    """Return an empty graph for `nodes` positions; the system allocates memory on first use."""
    return Graph(
        np.zeros(nodes, np.int64),
        np.zeros(nodes, NODE).view(np.recarray),
        np.zeros(nodes, np.int32),
        np.zeros(_EDGES * nodes, np.int32),
        np.zeros(_EDGES * nodes, np.int16),
        np.zeros(1 << (2 * nodes - 1).bit_length(), np.int32),
        np.zeros(4, np.int64),
    )


@part
def find_bucket(graph, key):
    """Return the index in `buckets` of a position's entry, or of the free slot for it."""
    mask = len(graph.buckets) - 1
    at = (key ^ key >> 29) & mask
    while graph.buckets[at] != 0 and graph.keys[graph.buckets[at] - 1] != key:
        at = at + 1 & mask
    return at


@part
def number_of(graph, key):
    """Return the number of a position's node; -1 if the graph has none."""
    return np.int64(graph.buckets[find_bucket(graph, key)]) - 1


@part
def add(graph, key, in_check, defender):
    """Return the number of a position's node; creates the node, open, if the graph has none."""
    at = find_bucket(graph, key)
    if graph.buckets[at] != 0:
        return np.int64(graph.buckets[at] - 1)
    number = graph.counts[NODES]
    graph.counts[NODES] += 1
    graph.buckets[at] = number + 1
    graph.keys[number] = key
    node = graph.nodes[number]
    node.status, node.children, node.place = OPEN, -1, 0
    node.proof, node.disproof = 1, 1
    node.in_check, node.defender = in_check, defender
    return number


@part
def set_status(graph, number, status):
    """Mark a node as won or lost, and set its proof number, disproof number and rank.

    The rank is the number of nodes that were marked before.
    """
    node = graph.nodes[number]
    node.status, node.rank = status, graph.counts[CLOCK]
    graph.counts[CLOCK] += 1
    node.proof, node.disproof = (0, INFINITE) if status == WON else (INFINITE, 0)


@part
def settle_node(graph, number):
    """Mark an expanded node as won or lost if its children decide it; return whether they do."""
    node = graph.nodes[number]
    first, children, defender = node.first_edge, node.children, node.defender
    # One good move is enough for the side to move; without any move it has lost.
    enough, all_else = (WON, LOST) if defender == 0 else (LOST, WON)
    others = 0
    for edge in range(first, first + children):
        status = graph.nodes[graph.children[edge]].status
        if status == enough:
            set_status(graph, number, enough)
            return True
        others += status == all_else
    if others == children:
        set_status(graph, number, all_else)
        return True
    return False


@part
def settle(state, graph):
    """Apply `settle_node` to open expanded nodes until none changes, or `state.stop` is set."""
    changed = True
    while changed and state.stop == 0:
        changed = False
        for i in range(graph.counts[EXPANDED] - 1, -1, -1):
            number = np.int64(graph.expanded[i])
            if graph.nodes[number].status == OPEN and settle_node(graph, number):
                changed = True


@part
def _stays(graph, number, inside):
    """Return whether a node satisfies the conditions of a perpetual check, given the set `inside`.

    The attacker needs one move into the set or to a won node. Every move of the defender must lead
    there. The condition on checks needs no test: `find_patterns` begins with nodes that meet it.
    """
    node = graph.nodes[number]
    first, defender = node.first_edge, node.defender != 0
    for edge in range(first, first + node.children):
        child = graph.children[edge]
        good = graph.nodes[child].status == WON or inside[child] != 0
        if good != defender:
            return good
    return defender


@part
def find_patterns(state, graph, inside):
    """Mark the greatest set of perpetual checks by the defender as won; return its size.

    Begins with the open expanded nodes in which the attacker is to move and in check, or the
    defender is to move and not in check. Removes nodes that break the conditions until none does.
    Marks nothing and returns 0 if `state.stop` is set when a pass begins.
    """
    inside[: graph.counts[NODES]] = 0  # leaves, too: `inside` may have flags of another graph
    count = graph.counts[EXPANDED]
    for i in range(count):
        node = graph.nodes[graph.expanded[i]]
        inside[graph.expanded[i]] = node.status == OPEN and node.in_check != node.defender
    changed = True
    while changed:
        if state.stop != 0:
            return 0
        changed = False
        for i in range(count - 1, -1, -1):
            number = np.int64(graph.expanded[i])
            if inside[number] != 0 and not _stays(graph, number, inside):
                inside[number] = 0
                changed = True
    found = 0
    for i in range(count):
        if inside[graph.expanded[i]] != 0:
            set_status(graph, np.int64(graph.expanded[i]), WON)
            found += 1
    return found


@part
def _child_numbers(graph, number, place, loop):
    """Return a child's proof and disproof numbers, and the place of the node they depend on.

    If a loop decides the numbers, they depend on the first node of the loop. Otherwise the place is
    `_NOWHERE`.

    number : int64; the child
    place : int64; the place of its parent, 0 to ignore the path
    loop : int64; as in the package's docstring, for the path and the move to the child
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
        # A win also needs the condition on checks, from the loop's first node to the child.
        if at >= loop or (at != 0 and proof != 0):
            return proof, disproof, at
    return np.int64(1), np.int64(1), np.int64(_NOWHERE)


@part
def estimate(graph, path, number, place, loop):
    """Compute an open node's proof numbers and basis from its children; return the edge to follow.

    The edge leads to the child with the smallest proof number if the attacker is to move, else to
    the child with the smallest disproof number. Returns -1 if every child is settled against the
    side to move.
    """
    node = graph.nodes[number]
    first, defender = node.first_edge, node.defender != 0
    least, total, best = INFINITE, 0, -1
    best_basis, basis, settled = np.int64(_NOWHERE), np.int64(_NOWHERE), False
    for edge in range(first, first + node.children):
        child, child_loop = np.int64(graph.children[edge]), loop
        if (graph.nodes[child].in_check != 0) != defender:
            # A loop with this move is no win: the defender's is no check, or the attacker's is one.
            child_loop = place + 1
        proof, disproof, at = _child_numbers(graph, child, place, child_loop)
        mine, other = (disproof, proof) if defender else (proof, disproof)
        if mine < least:
            least, best, best_basis = mine, edge, at
        # A sum that is large because nodes with several parents count repeatedly must not settle
        # the node.
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
