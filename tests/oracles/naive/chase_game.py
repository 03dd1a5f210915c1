"""Exact solution of chase patterns on tiny graphs, by algorithms other than the solver's.

The offender chases at every move, and the prospective winner replies. Each node numbers the pieces
that can be chased, and a reply may change the numbers. The prospective winner wins an endless play
unless, from some move on, all replies are checks, or all replies chase the same piece. So there is
one condition for each piece (a reply that does not chase it) and one for checks (a reply without
check). The prospective winner must meet each of them again and again. There are two solutions,
independent of `tbgen.retrograde.chase.game` and of each other:

- `by_parity_game`: the graph is unfolded. Pieces get fixed names, and a node is copied for each
  assignment of names to numbers. A vertex of the parity game also has the condition to be met next,
  in rotation. The prospective winner wins where every condition recurs.
- `by_strategies`: the offender needs no memory to break one of several recurring conditions, so
  all fixed choices of the offender are tried on the unfolded graph. Against each the prospective
  winner plays alone, and needs a strongly connected part in which every condition is met. For very
  small graphs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations, product

from .graph_game import zielonka


@dataclass(frozen=True)
class Edge:
    """A reply of the prospective winner: its target, an offence node, and its effects.

    `chased[i]` has the pieces (by number at the reply node) that the reply chases if the offender
    continues with move i. `follow[p]` is the number at the target of the piece with number p.
    """

    target: int
    check: bool
    chased: tuple[frozenset[int], ...]
    follow: tuple[int, ...]


@dataclass(frozen=True)
class ChaseGame:
    """Graph of a chase game, with `pieces` pieces that can be chased.

    At an offence node the offender moves: `offences[o]` lists the reply nodes after its moves. At a
    reply node the prospective winner moves: `replies[r]` lists its replies as edges.
    """

    pieces: int
    offences: tuple[tuple[int, ...], ...]
    replies: tuple[tuple[Edge, ...], ...]


_Names = tuple[int, ...]
"""For each fixed name of a piece, the number of this piece at a node."""
_Here = tuple[int, _Names]
"""A reply node of the unfolded graph, which has a copy of each node for each `_Names`."""
_Vertex = tuple[int, int, _Names, int, bool]
"""Vertex of the parity game.

A reply node, the chosen edge (-1 before the choice), names, index of the condition to be met
next, and True if the last condition has just been met.
"""


def by_parity_game(game: ChaseGame) -> set[int]:
    """Return the reply nodes from which the prospective winner wins, by a parity game."""
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
    """Yield the steps after a chosen reply: (next reply node, names there, conditions met).

    A step is the reply (an edge) and the offender's next move. Condition p is met by a step in
    which the reply does not chase the piece named p, or gives check. The last condition, number
    `game.pieces`, is met by a reply without check.

    chosen : index of the edge at the reply node `reply`
    names : numbers of the named pieces at the node `reply`, as in `_Names`
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
    """Return the reply nodes from which the prospective winner wins.

    Tries all fixed choices of the offender.
    """
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
    """Return the nodes of the unfolded graph that are won against fixed choices of the offender.

    The prospective winner then plays alone, and must meet every condition again and again.

    nodes : all nodes of the unfolded graph: (reply node, numbers of the named pieces)
    steps : by (node, index of an edge at the node), the list of possible steps, from `_steps`
    fixed : by the same keys, the index of the step that the offender chooses, if there are steps
    """
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
    """Return the nodes to which one or more steps lead from `start`."""
    seen: set[_Here] = set()
    agenda = [start]
    while agenda:
        for target, _ in arcs[agenda.pop()]:
            if target not in seen:
                seen.add(target)
                agenda.append(target)
    return seen
