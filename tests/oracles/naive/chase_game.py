"""Exact solution of chase patterns on tiny graphs, without the sets of the real algorithm.

A `ChaseGame` has the reply of each edge, and the pieces that each pair (reply, following offence)
chases. The prospective winner wins an endless play unless, from some move on, all its replies are
checks, or all chase the same piece. There are two solutions, independent of
`tbgen.retrograde.chase.game` and of each other:

- `by_parity_game`: pieces get fixed names (a node is unfolded once for each assignment of names to
  numbers), a vertex has the condition to be met next, in rotation, and a parity game finds the
  nodes from which every condition recurs.
- `by_strategies`: the offender needs no memory to break one of several recurring conditions, so
  all its fixed choices are tried on the unfolded graph. Against each the prospective winner plays
  alone, and needs a strongly connected part in which every condition is met. For very small graphs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations, product

from .graph_game import zielonka


@dataclass(frozen=True)
class Edge:
    """A reply: its target and its effects.

    `chased[i]` has the pieces (numbers at the node before) that are chased if the offender
    continues with move i; `follow[p]` is the number of piece p at the target.
    """

    target: int
    check: bool
    chased: tuple[frozenset[int], ...]
    follow: tuple[int, ...]


@dataclass(frozen=True)
class ChaseGame:
    """Graph of offence nodes with reply nodes `offences[o]`, and these with edges `replies[r]`."""

    pieces: int
    offences: tuple[tuple[int, ...], ...]
    replies: tuple[tuple[Edge, ...], ...]


_Names = tuple[int, ...]
"""Number of each named piece at a node."""
_Here = tuple[int, _Names]
"""An unfolded reply node."""
_Vertex = tuple[int, int, _Names, int, bool]
"""Reply node, chosen edge (-1: to be chosen), names, index of the condition to be met next, and
whether the last one has just been met.
"""


def by_parity_game(game: ChaseGame) -> set[int]:
    """Return the reply nodes from which the prospective winner wins."""
    good: _Vertex = (-1, -1, (), 0, True)
    bad: _Vertex = (-1, -1, (), 0, False)
    label: dict[_Vertex, int] = {good: 2, bad: 1}
    own: dict[_Vertex, bool] = {good: True, bad: True}
    edges: dict[_Vertex, list[_Vertex]] = {good: [good], bad: [bad]}
    starts: list[_Vertex] = [
        (reply, -1, names, 0, False)
        for reply in range(len(game.replies))
        for names in permutations(range(game.pieces))
    ]
    agenda = list(starts)
    while agenda:
        here = agenda.pop()
        if here in edges:
            continue
        reply, chosen, names, waiting, met = here
        label[here], own[here] = (2 if met else 1), chosen < 0
        if chosen < 0:
            edges[here] = [
                (reply, e, names, waiting, False) for e in range(len(game.replies[reply]))
            ] or [bad]
        else:
            edges[here] = []
            for following, after, conditions in _steps(game, reply, chosen, names):
                following_waits = (waiting + (waiting in conditions)) % (game.pieces + 1)
                wrapped = following_waits < waiting
                edges[here].append((following, -1, after, following_waits, wrapped))
            edges[here] = edges[here] or [good]
        agenda += edges[here]
    won = zielonka(set(label), label, own, edges)
    # The names of the pieces must not matter.
    result = {start[0] for start in starts if start in won}
    assert all(start in won for start in starts if start[0] in result)
    return result


def _steps(
    game: ChaseGame, reply: int, chosen: int, names: _Names
) -> Iterator[tuple[int, _Names, frozenset[int]]]:
    """Yield the reply nodes after an edge, each with its names and the conditions met.

    `chosen` is the index of the edge at the reply node `reply`. Names are as in `_Names`.
    There is one item for each following offence. Condition p is met by a step that does not
    chase piece p. A check chases no piece here. The last condition is met by a step without
    check.
    """
    edge = game.replies[reply][chosen]
    after = tuple(edge.follow[number] for number in names)
    for i, following in enumerate(game.offences[edge.target]):
        met = {
            name for name, number in enumerate(names) if edge.check or number not in edge.chased[i]
        }
        if not edge.check:
            met.add(game.pieces)
        yield following, after, frozenset(met)


def by_strategies(game: ChaseGame) -> set[int]:
    """Solve by trying all fixed choices of the offender."""
    nodes: list[_Here] = [
        (reply, names)
        for reply in range(len(game.replies))
        for names in permutations(range(game.pieces))
    ]
    steps = {
        (node, e): list(_steps(game, node[0], e, node[1]))
        for node in nodes
        for e in range(len(game.replies[node[0]]))
    }
    choosing = [key for key, options in steps.items() if options]
    won = set(nodes)
    for choice in product(*(range(len(steps[key])) for key in choosing)):
        fixed = dict(zip(choosing, choice, strict=True))
        won &= _won_alone(game, nodes, steps, fixed)
    return {reply for reply, _ in won}


_Steps = Mapping[tuple[_Here, int], list[tuple[int, _Names, frozenset[int]]]]


def _won_alone(
    game: ChaseGame, nodes: list[_Here], steps: _Steps, fixed: Mapping[tuple[_Here, int], int]
) -> set[_Here]:
    """Return the nodes from which the prospective winner wins against fixed choices."""
    arcs: dict[_Here, list[tuple[_Here, frozenset[int]]]] = {node: [] for node in nodes}
    won: set[_Here] = set()
    for (node, e), options in steps.items():
        if not options:
            won.add(node)  # the offender has no move
            continue
        following, names, met = options[fixed[node, e]]
        arcs[node].append(((following, names), met))
    reach = {node: _reached(arcs, node) for node in nodes}
    for node in nodes:
        part = {other for other in reach[node] if node in reach[other]}
        met_in_part = {
            condition
            for source in part
            for target, met in arcs[source]
            if target in part
            for condition in met
        }
        if len(met_in_part) == game.pieces + 1:
            won.add(node)
    return {node for node in nodes if node in won or reach[node] & won}


def _reached(arcs: Mapping[_Here, list[tuple[_Here, frozenset[int]]]], start: _Here) -> set[_Here]:
    """Return the nodes that one or more steps lead to."""
    seen: set[_Here] = set()
    agenda = [start]
    while agenda:
        for target, _ in arcs[agenda.pop()]:
            if target not in seen:
                seen.add(target)
                agenda.append(target)
    return seen
