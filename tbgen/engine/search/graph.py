# mypy: allow-untyped-defs, allow-untyped-calls
"""Graph of positions of a proof: propagation of outcomes, and perpetual checks.

    settle    won: a move into a won position, or nothing but moves into such
    find      perpetual checks: the greatest set of positions in which the opponent has nothing
              but checks that stay inside, or moves into won positions, and the winner-to-be a
              quiet answer that stays inside         (docs/values.md, "Patterns, exactly")

This module has no boards: `proving` makes the positions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import part

OPEN, WON, LOST = 0, 1, 2
"""What is known of a node: nothing; the winner-to-be wins; he does not, as far as this can tell."""

STATUS, CHILDREN, FIRST_CHILD, PROOF, DISPROOF, IN_CHECK, OPPONENT, RANK, PLACE, RESTS = range(10)
"""Columns of `Graph.nodes`: the status; how many children, -1 before they are made, and where they
begin; how much is left to show that it is won, or is not; whether the side to move is in check, and
is the opponent; when it was found to be won; 1 + its place on the way down, 0 elsewhere; where
nothing is left to show, the node higher up that this rests on, or `ITSELF`."""
_COLUMNS = 10
ITSELF = -1

NODES, EDGES, EXPANDED, CLOCK = range(4)
"""Counts in `Graph.counts`."""

_EDGES = 8
"""Room for so many moves a position: 1.5 to 7 were counted."""

NEVER = 1 << 24
"""A number that stands for infinity; sums stop here."""


class Graph(NamedTuple):
    """Positions and moves of a proof. Shapes: N positions, E moves, H places."""

    keys: NDArray[np.int64]
    """int64 (N,): of the positions, as the search has them."""
    nodes: NDArray[np.int32]
    """int32 (N, 10): `STATUS` and what follows."""
    expanded: NDArray[np.int32]
    """int32 (N,): the nodes that have their children, in the order in which they got them."""
    children: NDArray[np.int32]
    """int32 (E,): nodes, those of one parent behind each other."""
    moves: NDArray[np.int16]
    """int16 (E,): the moves that lead to them."""
    places: NDArray[np.int32]
    """int32 (H,): nodes + 1 by key, H a power of two above N; 0 where there is none."""
    counts: NDArray[np.int64]
    """int64 (4,): `NODES` and what follows."""


def new_graph(nodes: int) -> Graph:
    """An empty graph with room for so many positions; the system gives memory where it is used."""
    return Graph(
        np.zeros(nodes, np.int64),
        np.zeros((nodes, _COLUMNS), np.int32),
        np.zeros(nodes, np.int32),
        np.zeros(_EDGES * nodes, np.int32),
        np.zeros(_EDGES * nodes, np.int16),
        np.zeros(1 << (2 * nodes - 1).bit_length(), np.int32),
        np.zeros(4, np.int64),
    )


@part
def find(graph, key):
    """The place of a position in `places`: of its node, or free.

    key : int64; the position's
    """
    mask = len(graph.places) - 1
    at = (key ^ key >> 29) & mask
    while graph.places[at] != 0 and graph.keys[graph.places[at] - 1] != key:
        at = at + 1 & mask
    return at


@part
def number_of(graph, key):
    """The node of a position, -1 where there is none.

    key : int64; the position's
    """
    return np.int64(graph.places[find(graph, key)]) - 1


@part
def add(graph, key, in_check, opponent):
    """The node of a position, made if need be.

    key : int64; the position's
    in_check : int64; whether the side to move is in check
    opponent : int64; whether that is the opponent
    """
    at = find(graph, key)
    if graph.places[at] != 0:
        return np.int64(graph.places[at] - 1)
    number = graph.counts[NODES]
    graph.counts[NODES] += 1
    graph.places[at] = number + 1
    graph.keys[number] = key
    node = graph.nodes[number]
    node[STATUS], node[CHILDREN], node[PLACE] = OPEN, -1, 0
    node[PROOF], node[DISPROOF] = 1, 1
    node[IN_CHECK], node[OPPONENT] = in_check, opponent
    return number


@part
def declare(graph, number, status):
    """Say what is known of a node from now on.

    status : int64; `WON` or `LOST`
    """
    node = graph.nodes[number]
    node[STATUS], node[RANK] = status, graph.counts[CLOCK]
    graph.counts[CLOCK] += 1
    node[PROOF], node[DISPROOF] = 0, NEVER
    if status == LOST:
        node[PROOF], node[DISPROOF] = NEVER, 0


@part
def settle_node(graph, number):
    """Return whether a node's children say that it is won or not; declares it.

    number : int64; the node, with children
    """
    node = graph.nodes[number]
    first, children, opponent = node[FIRST_CHILD], node[CHILDREN], node[OPPONENT]
    # One move is enough for whoever moves; without any he has lost.
    enough, all_else = WON, LOST
    if opponent != 0:
        enough, all_else = LOST, WON
    others = 0
    for edge in range(first, first + children):
        status = graph.nodes[graph.children[edge], STATUS]
        if status == enough:
            declare(graph, number, enough)
            return True
        others += status == all_else
    if others == children:
        declare(graph, number, all_else)
        return True
    return False


@part
def settle(state, graph):
    """Propagate declared outcomes through the graph; ends early when the search is stopped."""
    changed = True
    while changed and state.stop == 0:
        changed = False
        for i in range(graph.counts[EXPANDED] - 1, -1, -1):
            number = np.int64(graph.expanded[i])
            if graph.nodes[number, STATUS] == OPEN and settle_node(graph, number):
                changed = True


@part
def _stays(graph, number, inside):
    """Return whether a node still belongs to the pattern, as far as its children tell.

    inside : int8 (N,), in; 1 for nodes of the pattern
    """
    node = graph.nodes[number]
    first, opponent = node[FIRST_CHILD], node[OPPONENT] != 0
    for edge in range(first, first + node[CHILDREN]):
        child = graph.children[edge]
        good = graph.nodes[child, STATUS] == WON or inside[child] != 0
        if good != opponent:
            return good
    return opponent


@part
def find_patterns(state, graph, inside):
    """Declare the positions of perpetual checks won; returns how many there are.

    None when the search is stopped.

    inside : int8 (N,), scratch
    """
    count = graph.counts[EXPANDED]
    for i in range(count):
        node = graph.nodes[graph.expanded[i]]
        inside[graph.expanded[i]] = node[STATUS] == OPEN and node[IN_CHECK] != node[OPPONENT]
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
            declare(graph, np.int64(graph.expanded[i]), WON)
            found += 1
    return found
