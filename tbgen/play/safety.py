"""Safety: moves by which a side avoids losing by its own perpetual check or chase.

The *own* side plays by this module, the *rival* is its opponent. An *idle* move neither checks nor
chases. A *streak* is a run of checks, or of chases of a common victim, by one side; an idle move or
another offence breaks it (`tbgen.play.streaks`). If play goes on for ever, the side with the graver
endless streak loses; check is graver than chase. An idle move makes a side that draws safe: the
position after it is drawn in the table, and earlier offences no longer count.

    Aim     goal of the own side in a draw or a direct win
    Node    a position with the own side to move, the streaks of both sides, and the threats of the
            rival's last move
    Edge    a move of the own side and a reply, to the next node
    Graph   reachable nodes, at most `MAX_NODES`
    Rank    distance of a node from success if the rival defends best (`solve`)

Each aim is a game on the graph, in which every edge is good, neutral or bad. The own side succeeds
if it becomes safe, or if bad edges occur finitely often and good edges infinitely often. Ranks fall
with every move until the next good edge, so that a side that always moves to the lowest rank visits
no node twice on the way. Under `Aim.IDLE` each position has one node, so that none is repeated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple

from tbgen.indexing import Position
from tbgen.play.preference import RootMove, equally_good, is_direct_win
from tbgen.play.prober import Prober
from tbgen.play.repetition import move_between
from tbgen.play.streaks import (
    KING,
    NO_VICTIMS,
    Offences,
    Threats,
    Victims,
    extend_streak,
    is_irreversible,
    victims_after,
)
from tbgen.rules import legal_moves
from tbgen.tables import MissingTableError, Outcome, ProbeResult

MAX_NODES = 1000
"""Maximum number of nodes in the graph of one aim; building so many takes about a second."""


class EdgeKind(Enum):
    """Kind of an edge; success needs good ones infinitely often, bad ones only finitely often."""

    NEUTRAL = auto()
    GOOD = auto()
    BAD = auto()


@dataclass(frozen=True, slots=True)
class Node:
    """A position with the own side to move, and the history that matters for the aim.

    `own` and `rival` are the streaks of both sides, empty if irrelevant to the aim. `threats` are
    those of the rival's last move; None if that move is unknown or irrelevant to the aim. The own
    side's next move decides which threats are offences.
    """

    position: Position
    own: Victims
    rival: Victims = NO_VICTIMS
    threats: Threats | None = None


class Edge(NamedTuple):
    """A move of the own side with the rival's reply, and the node after both."""

    kind: EdgeKind
    next: Node


class MoveOption(NamedTuple):
    """A move that keeps the value, and an edge for each reply that leaves the own side unsafe.

    A move without edges is safe.
    """

    move: RootMove
    edges: Sequence[Edge]


Graph = dict[Node, Sequence[MoveOption]]
"""The options at each node. Edges may lead to nodes that are not keys, outside the graph."""


class Rank(NamedTuple):
    """Distance of a node from success if the rival defends best; lower is better.

    `bad` is the number of bad edges still to come. `edges` is the number of own moves up to and
    including the next safe move, good edge, or edge to a node of lower `bad`.
    """

    bad: int
    edges: int


def solve(graph: Graph) -> dict[Node, Rank]:
    """Return the ranks of the nodes from which the own side succeeds against all replies.

    Solves a parity game with three priorities by nested fixpoints. The outer one is least, over the
    number of bad edges; the middle one is greatest, over good edges; the inner one is least, over
    the edges up to a good one. Nodes outside the graph and nodes without options are failures.
    """
    ranks: dict[Node, Rank] = {}
    for bad in range(len(graph)):
        region = [node for node in graph if node not in ranks]
        while True:
            reached = _reach_good(graph, region, ranks, bad)
            if len(reached) == len(region):
                break
            region = list(reached)
        if not reached:
            break
        ranks |= reached
    return ranks


def _reach_good(
    graph: Graph, region: Sequence[Node], ranked: dict[Node, Rank], bad: int
) -> dict[Node, Rank]:
    """Return the ranks of the nodes in `region` from which the own side can force an advance.

    An advance is a safe move, a good edge to a node in `region`, or any edge to a node in `ranked`,
    the nodes whose ranks have fewer than `bad` bad edges. Neutral edges may come before it.
    """
    inside = set(region)
    reached: dict[Node, Rank] = {}

    def succeeds(edge: Edge) -> bool:
        return (
            edge.next in ranked
            or (edge.kind == EdgeKind.GOOD and edge.next in inside)
            or (edge.kind == EdgeKind.NEUTRAL and edge.next in reached)
        )

    for edges in range(1, len(region) + 1):
        new = [
            node
            for node in region
            if node not in reached
            and any(all(succeeds(edge) for edge in option.edges) for option in graph[node])
        ]
        if not new:
            break
        reached |= dict.fromkeys(new, Rank(bad, edges))
    return reached


def rank_of(option: MoveOption, ranks: dict[Node, Rank]) -> Rank | None:
    """Return the rank of a move by its worst edge; None if an edge leads to a node without rank."""
    worst = Rank(0, 0)  # of a move without edges
    for edge in option.edges:
        rank = ranks.get(edge.next)
        if rank is None:
            return None
        edges = rank.edges + 1 if edge.kind == EdgeKind.NEUTRAL else 1
        worst = max(worst, Rank(rank.bad + (edge.kind == EdgeKind.BAD), edges))
    return worst


class Aim(Enum):
    """Goal of the own side with regard to the streaks of both sides."""

    IDLE = auto()
    """In a draw: make an idle move; streaks do not matter."""
    BREAK = auto()
    """In a draw: break the own streak by an idle move or another offence; ignore the rival's."""
    OUTLAST = auto()
    """In a draw: keep the rival in an endless streak that is at least as grave as the own one."""
    WIN = auto()
    """In a direct win: keep the rival in an endless streak, graver than an endless own one."""

    @property
    def depends_on_rival(self) -> bool:
        """Return whether the aim depends on the rival's streak."""
        return self in (Aim.OUTLAST, Aim.WIN)

    def kind(self, own: Victims, breaks: bool, rival: Victims, rival_breaks: bool) -> EdgeKind:
        """Return the kind of an edge (a move and its reply) under this aim.

        own, rival : the streaks of both sides after the edge
        breaks, rival_breaks : whether the edge breaks the own or the rival's streak
        """
        if not self.depends_on_rival:
            return EdgeKind.NEUTRAL
        if rival_breaks:
            return EdgeKind.BAD
        if self == Aim.OUTLAST:
            return EdgeKind.BAD if KING in own and KING not in rival else EdgeKind.GOOD
        is_graver = KING in rival and KING not in own
        return EdgeKind.GOOD if breaks or is_graver else EdgeKind.NEUTRAL


@dataclass(frozen=True, slots=True)
class StreakGraph:
    """Graph of the moves and replies that matter for an aim, and the ranks of moves in it.

    `root` is the value of the first position: a draw, or under `Aim.WIN` a direct win. All other
    positions of the graph are draws, too, or direct wins of the same order.
    """

    tables: Prober
    root: ProbeResult
    offences: Offences
    aim: Aim

    def node(self, game: Sequence[Position]) -> Node:
        """Return the node for the last position of a game, in which the own side is to move."""
        own = NO_VICTIMS if self.aim == Aim.IDLE else self.offences.streak(game)
        move = move_between(*game[-2:]) if len(game) > 1 else None
        if not self.aim.depends_on_rival or move is None:
            return Node(game[-1], own)
        threats = self.offences.threats(game[-2], move, game[-1])
        return Node(game[-1], own, self.offences.streak(game[:-1]), threats)

    def ranked(self, game: Sequence[Position]) -> list[tuple[RootMove, Rank | None]]:
        """Return the best moves in a game's last position (`equally_good`), each with its rank.

        The rank is None if the rival can prevent the aim, or if the graph is too large to decide.
        Raises `MissingTableError` if the best moves are unknown.
        """
        start = self.node(game)
        graph, ranks = self.explore(start)
        if not graph[start]:
            material = game[-1].material.name
            raise MissingTableError(material, self.root.rule_set, self.tables.directories)
        return [(option.move, rank_of(option, ranks)) for option in graph[start]]

    def options(self, node: Node) -> list[MoveOption]:
        """Return the options at a node: the best moves (`equally_good`), each with its edges."""
        moves = equally_good(*self.tables.probe_with_moves(node.position))
        return [MoveOption(move, tuple(self._edges(node, move))) for move in moves]

    def explore(self, start: Node) -> tuple[Graph, dict[Node, Rank]]:
        """Return a graph of at most `MAX_NODES` nodes reachable from `start`, and its nodes' ranks.

        The graph grows by layers: one move and one reply at a time. If the aim ignores the rival's
        streak, growth stops once `start` has a rank, which is then minimal.
        """
        graph: Graph = {}
        ranks: dict[Node, Rank] = {}
        layer = [start]
        while layer and start not in ranks and len(graph) < MAX_NODES:
            layer = layer[: MAX_NODES - len(graph)]
            graph |= {node: self.options(node) for node in layer}
            if not self.aim.depends_on_rival:
                ranks = solve(graph)
            layer = _open_ends(graph, ranks, start)
        return graph, ranks or solve(graph)

    def _edges(self, node: Node, move: RootMove) -> Iterator[Edge]:
        """Yield the edges of a move: one for each reply that leaves the own side unsafe.

        There is no edge for an irreversible move, for an irreversible reply, and for a reply that
        gives up the value of the position. Unless the aim is `Aim.WIN`, there is also none for a
        move without threats, and for a reply after which the own streak is broken.
        """
        offences, after = self.offences, move.after
        threats = offences.threats(node.position, move.move, after)
        wins = self.aim == Aim.WIN
        if is_irreversible(node.position, move.move) or not (threats or wins):
            return
        rival, rival_breaks = NO_VICTIMS, False
        if node.threats is not None:
            offence = offences.offence(node.threats, move.move, after)
            rival, rival_breaks = extend_streak(victims_after(node.rival, move.move), offence)
        for reply in legal_moves(after):
            now = after.after(*reply)
            offence = offences.offence(threats, reply, now)
            own, breaks = extend_streak(victims_after(node.own, reply), offence)
            if is_irreversible(after, reply) or (breaks and not wins) or not self._keeps_value(now):
                continue
            if self.aim == Aim.IDLE:
                own = NO_VICTIMS
            kind = self.aim.kind(own, breaks, rival, rival_breaks)
            answer = offences.threats(after, reply, now) if self.aim.depends_on_rival else None
            yield Edge(kind, Node(now, own, rival, answer))

    def _keeps_value(self, position: Position) -> bool:
        """Return whether a position has the value that all positions of the graph share."""
        value = self.tables.probe(position)
        if self.aim == Aim.WIN:
            return is_direct_win(value) and value.order == self.root.order
        return value.outcome == Outcome.DRAW


def _open_ends(graph: Graph, ranks: dict[Node, Rank], start: Node) -> list[Node]:
    """Return the nodes outside the graph that edges reach from `start` through unranked nodes."""
    seen = {start: None}
    agenda = [start]
    while agenda:
        node = agenda.pop()
        options = () if node in ranks else graph.get(node, ())
        for option in options:
            new = [edge.next for edge in option.edges if edge.next not in seen]
            seen |= dict.fromkeys(new)
            agenda += new
    return [node for node in seen if node not in graph]
