"""Exact solution of the perpetual check game on tiny graphs, without candidates, rounds or orders.

W is the prospective winner, O the opponent. A play that leaves the graph or stops (no move: loss)
is decided there. An endless play is lost by the side all of whose moves are checks from some move
on, if the other side's are not; otherwise it is a draw. There are two solutions, independent of
`patterns` and of each other:

- `by_parity_game`: O's moves without check have label 3, W's moves without check label 2, all
checks label 1. W wins an endless play if and only if the highest recurring label is even (O checks
perpetually, W does not). Zielonka's algorithm solves this parity game.
- `by_strategies`: try all choices of one move of W per position (such strategies suffice in a
parity game), and search for a play by which O escapes. Only for very small graphs.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from itertools import product
from typing import TypeVar

from .patterns import DRAW, LOSS, WIN, Game

_Vertex = tuple[str, int, int]
_V = TypeVar("_V", bound=Hashable)
_STAYS = 1


def by_parity_game(game: Game) -> list[int]:
    """Return the outcome of every node for its side to move, by a parity game for each side."""
    return _combine(game, [_parity_wins(game, winner) for winner in (0, 1)])


def by_strategies(game: Game) -> list[int]:
    """Return the outcome of every node for its side to move, by trying all strategies."""
    return _combine(game, [_strategy_wins(game, winner) for winner in (0, 1)])


def _combine(game: Game, winning: list[set[int]]) -> list[int]:
    outcomes = []
    for node, side in enumerate(game.side):
        assert not (node in winning[0] and node in winning[1]), "won by both sides"
        if node in winning[side]:
            outcomes.append(WIN)
        elif node in winning[1 - side]:
            outcomes.append(LOSS)
        else:
            outcomes.append(DRAW)
    return outcomes


def _parity_wins(game: Game, winner: int) -> set[int]:
    """Return the nodes from which `winner` wins, by a parity game of positions and moves."""
    # Sinks with a loop: 2 is good for the winner, 1 is not.
    good: _Vertex = ("end", 1, 1)
    bad: _Vertex = ("end", 0, 0)
    label: dict[_Vertex, int] = {good: 2, bad: _STAYS}
    wants_even: dict[_Vertex, bool] = {good: True, bad: True}
    edges: dict[_Vertex, list[_Vertex]] = {good: [good], bad: [bad]}
    for node, side in enumerate(game.side):
        here: _Vertex = ("node", node, node)
        label[here], wants_even[here], edges[here] = _STAYS, side == winner, []
        for child in game.moves[node]:
            move: _Vertex = ("move", node, child)
            if game.in_check[child]:
                label[move] = _STAYS
            else:
                label[move] = 2 if side == winner else 3
            wants_even[move], edges[move] = True, [("node", child, child)]
            edges[here].append(move)
        for verdict in game.exits.get(node, ()):
            # The verdict is for the opponent of this node's side, who moves next.
            won_by = {WIN: 1 - side, LOSS: side, DRAW: None}[verdict.outcome]
            edges[here].append(good if won_by == winner else bad)
        if not edges[here]:
            edges[here].append(bad if side == winner else good)
    even = zielonka(set(label), label, wants_even, edges)
    return {vertex[1] for vertex in even if vertex[0] == "node"}


def zielonka(
    vertices: set[_V],
    label: Mapping[_V, int],
    wants_even: Mapping[_V, bool],
    edges: Mapping[_V, list[_V]],
) -> set[_V]:
    """Return the vertices from which the player Even wins a parity game (Zielonka's algorithm).

    Even wins an endless play if the highest label that recurs is even; else Odd wins.

    wants_even : True for a vertex at which Even moves, False for Odd
    edges : vertices to which each vertex leads
    """
    if not vertices:
        return set()
    highest = max(label[vertex] for vertex in vertices)
    even = highest % 2 == 0
    heads = {vertex for vertex in vertices if label[vertex] == highest}
    near = _attractor(heads, even, vertices, wants_even, edges)
    rest = vertices - near
    rest_even = zielonka(rest, label, wants_even, edges)
    opponents = rest - rest_even if even else rest_even
    if not opponents:
        return set(vertices) if even else set()
    lost = _attractor(opponents, not even, vertices, wants_even, edges)
    remaining = zielonka(vertices - lost, label, wants_even, edges)
    return remaining if even else remaining | lost


def _attractor(
    goal: Iterable[_V],
    even: bool,
    vertices: set[_V],
    wants_even: Mapping[_V, bool],
    edges: Mapping[_V, list[_V]],
) -> set[_V]:
    """Return the vertices from which one player can force the play into the set `goal`.

    even : True for the player Even, False for Odd
    vertices : vertices that the play may use
    """
    reached = set(goal)
    while True:
        more = set()
        for vertex in vertices - reached:
            ways = [to in reached for to in edges[vertex] if to in vertices]
            if any(ways) if wants_even[vertex] == even else all(ways):
                more.add(vertex)
        if not more:
            return reached
        reached |= more


def _strategy_wins(game: Game, winner: int) -> set[int]:
    """Return the nodes that a side wins by some fixed choice of its moves, against every play."""
    own = [n for n, side in enumerate(game.side) if side == winner and game.moves[n]]
    won: set[int] = set()
    for choice in product(*(game.moves[n] for n in own)):
        fixed = dict(zip(own, choice, strict=True))
        won |= set(range(len(game))) - _escapes(game, winner, fixed)
    return won


def _escapes(game: Game, winner: int, choice: Mapping[int, int]) -> set[int]:
    """Return the nodes from which the other side does not lose to fixed moves of the winner.

    choice : node to which the winner moves from each of its nodes that have a move in the graph
    """

    def leaves(node: int, *outcomes: int) -> bool:
        return any(verdict.outcome in outcomes for verdict in game.exits.get(node, ()))

    edges: dict[int, list[int]] = {}
    bad: set[int] = set()
    for node, side in enumerate(game.side):
        edges[node] = list(game.moves[node])
        if side != winner:
            if leaves(node, LOSS, DRAW):
                bad.add(node)
        elif leaves(node, LOSS):
            edges[node] = []  # leaving at once is as good as anything
        elif node in choice:
            edges[node] = [choice[node]]
        else:
            bad.add(node)  # no move inside, no win outside
    # An endless play escapes if O does not check perpetually, or W does: a cycle with a move of O
    # that is no check, or a cycle without a move of W that is no check.
    for node, targets in edges.items():
        for target in targets:
            if game.in_check[target]:
                continue
            if game.side[node] != winner and node in _reachable(edges, [target]):
                bad.add(node)
    checking = {
        node: [t for t in targets if game.side[node] != winner or game.in_check[t]]
        for node, targets in edges.items()
    }
    bad |= {node for node in checking if node in _reachable(checking, checking[node])}
    return {node for node in edges if bad & _reachable(edges, [node])}


def _reachable(edges: Mapping[int, list[int]], start: Iterable[int]) -> set[int]:
    """Return the nodes `start`, and all nodes that can be reached from them."""
    seen, agenda = set(start), list(start)
    while agenda:
        for target in edges[agenda.pop()]:
            if target not in seen:
                seen.add(target)
                agenda.append(target)
    return seen
