"""Ranks in small graphs of `tbgen.play.safety`, against known ranks and exact solvers.

A node is a position with the streaks of both sides. An edge is a move of one side and the reply; an
option has the edges of one move. The side succeeds if good edges recur for ever and bad ones do
not. The rank of a node is (most bad edges that can still occur, most edges to the next good one). A
streak is the offence common to a side's latest moves; a break ends it.
"""

from __future__ import annotations

import random

import pytest

from tbgen.play.safety import Aim, Edge, EdgeKind, Graph, MoveOption, Node, Rank, rank_of, solve
from tbgen.play.streaks import KING, extend_streak
from tests.oracles.naive import graph_game, streak_game

A, B = 10, 20


def graph_of(table: dict[str, list[list[tuple[EdgeKind, str]]]]) -> Graph:
    """Return a graph of named nodes.

    table : for each node its options; each option lists its edges as (kind, name of the target)
    """
    return {
        node(name): [
            MoveOption(None, [Edge(kind, node(target)) for kind, target in edges])  # type: ignore[arg-type]
            for edges in options
        ]
        for name, options in table.items()
    }


def node(name: object) -> Node:
    return Node(name, frozenset())  # type: ignore[arg-type]


N, G, BAD = EdgeKind.NEUTRAL, EdgeKind.GOOD, EdgeKind.BAD


@pytest.mark.parametrize(
    ("table", "ranks"),
    [
        pytest.param({"a": [[]]}, {"a": (0, 1)}, id="an idle move"),
        pytest.param({"a": [[(N, "a")]]}, {}, id="offends for ever"),
        pytest.param({"a": []}, {}, id="no move"),
        pytest.param({"a": [[(N, "elsewhere")]]}, {}, id="beyond the graph"),
        pytest.param({"a": [[(G, "a")]]}, {"a": (0, 1)}, id="mutual offences"),
        pytest.param({"a": [[(BAD, "a")]]}, {}, id="the rival breaks for ever"),
        pytest.param(
            {"a": [[(N, "b")]], "b": [[(N, "c")]], "c": [[(N, "a")], []]},
            {"a": (0, 3), "b": (0, 2), "c": (0, 1)},
            id="a long forced way",
        ),
        pytest.param(
            {"a": [[(N, "a"), (N, "b")]], "b": [[]]}, {"b": (0, 1)}, id="the rival keeps one there"
        ),
        pytest.param(
            {"a": [[(N, "b")], [(N, "a")]], "b": [[(G, "a")]]},
            {"a": (0, 2), "b": (0, 1)},
            id="again and again",
        ),
        pytest.param(
            {"a": [[(BAD, "b")]], "b": [[(G, "b")]]}, {"a": (1, 1), "b": (0, 1)}, id="one bad edge"
        ),
        pytest.param(
            {"a": [[(G, "a"), (BAD, "b")]], "b": [[(N, "a")]]}, {}, id="bad as often as good"
        ),
    ],
)
def test_solve(
    table: dict[str, list[list[tuple[EdgeKind, str]]]], ranks: dict[str, tuple[int, int]]
) -> None:
    assert solve(graph_of(table)) == {node(name): Rank(*rank) for name, rank in ranks.items()}


def test_rank_of() -> None:
    ranks = {node("a"): Rank(0, 3), node("b"): Rank(1, 1)}
    (option,) = graph_of({"x": [[(N, "a"), (G, "a")]]})[node("x")]
    assert rank_of(option, ranks) == Rank(0, 4)
    (option,) = graph_of({"x": [[(N, "a"), (G, "b")]]})[node("x")]
    assert rank_of(option, ranks) == Rank(1, 1)
    (option,) = graph_of({"x": [[(BAD, "b")]]})[node("x")]
    assert rank_of(option, ranks) == Rank(2, 1)
    (option,) = graph_of({"x": [[]]})[node("x")]
    assert rank_of(option, ranks) == Rank(0, 0)
    (option,) = graph_of({"x": [[(N, "c")]]})[node("x")]
    assert rank_of(option, ranks) is None


LABELS = {EdgeKind.NEUTRAL: 1, EdgeKind.GOOD: 2, EdgeKind.BAD: 3}


def test_solve_agrees_with_zielonka() -> None:
    """`solve` finds the nodes of random graphs that Zielonka's algorithm finds.

    In the option of lowest rank, a neutral edge leads to a lower rank. A good edge leads to a rank
    with no more bad edges, and a bad edge to one with fewer.
    """
    rng = random.Random(2)
    won = lost = 0
    for _ in range(1500):
        size = rng.randint(1, 6)
        kinds = rng.choice(([N, G, BAD], [N, N, G], [G, BAD], [G, G, G, BAD], [N, N, N]))
        graph = graph_of(
            {
                str(n): [
                    [
                        (rng.choice(kinds), str(rng.randrange(size)))
                        for _ in range(rng.choice((0, 1, 1, 2, 2, 3)))
                    ]
                    for _ in range(rng.choice((0, 1, 1, 2, 3)))
                ]
                for n in range(size)
            }
        )
        ranks = solve(graph)
        assert set(ranks) == by_zielonka(graph)
        won += len(ranks)
        lost += len(graph) - len(ranks)
        for here, rank in ranks.items():
            known = [(rank_of(option, ranks), i) for i, option in enumerate(graph[here])]
            least, best = min((r, i) for r, i in known if r is not None)
            assert least <= rank
            for edge in graph[here][best].edges:
                if edge.kind == EdgeKind.NEUTRAL:
                    assert ranks[edge.next] < rank
                else:
                    assert ranks[edge.next].bad <= rank.bad - (edge.kind == EdgeKind.BAD)
    assert won > 500
    assert lost > 500


def by_zielonka(graph: Graph) -> set[Node]:
    label: dict[object, int] = {"good": 2, "bad": 1}
    ours: dict[object, bool] = {"good": True, "bad": True}
    edges: dict[object, list[object]] = {"good": ["good"], "bad": ["bad"]}
    for here, options in graph.items():
        label[here], ours[here] = 1, True
        edges[here] = [(here, i) for i in range(len(options))] or ["bad"]
        for i, option in enumerate(options):
            label[here, i], ours[here, i] = 1, False
            edges[here, i] = [(here, i, j) for j in range(len(option.edges))] or ["good"]
            for j, edge in enumerate(option.edges):
                label[here, i, j], ours[here, i, j] = LABELS[edge.kind], True
                edges[here, i, j] = [edge.next]
    won = graph_game.zielonka(set(label), label, ours, edges)
    return {here for here in graph if here in won}


# -- streaks are enough ------------------------------------------------------------------------


def random_streak_game(rng: random.Random, victims: list[int]) -> streak_game.StreakGame:
    size = rng.randint(1, 5)
    idle, checks = rng.choice((0.05, 0.2)), rng.choice((0.1, 0.4, 0.7))

    def offence() -> frozenset[int]:
        if rng.random() < idle:
            return frozenset()
        if rng.random() < checks:
            return frozenset({KING})
        return frozenset(v for v in victims if rng.random() < 0.7)

    return streak_game.StreakGame(
        victims,
        tuple(
            tuple(
                tuple(
                    streak_game.Step(rng.randrange(size), offence(), offence())
                    for _ in range(rng.choice((1, 1, 2)))
                )
                for _ in range(rng.choice((1, 1, 2)))
            )
            for _ in range(size)
        ),
    )


def succeeding(play: streak_game.StreakGame, aim: Aim, safe: set[int]) -> set[int]:
    """Return the positions of a streak game from which a side reaches an aim, computed by `solve`.

    For all aims but a win by the rival's offence, a break of the side's own streak ends the play.
    The break must then lead to a position in `safe`.
    """
    unsafe = Node(-1, frozenset())  # type: ignore[arg-type]
    starts = [Node(node, frozenset()) for node in range(len(play.options))]  # type: ignore[arg-type]
    graph: Graph = {}
    agenda = list(starts)
    while agenda:
        here = agenda.pop()
        if here in graph:
            continue
        graph[here] = options = []
        for edges in play.options[here.position]:  # type: ignore[call-overload]
            option: list[Edge] = []
            for edge in edges:
                own, breaks = extend_streak(here.own, edge.own)
                rival, rival_breaks = extend_streak(here.rival, edge.rival)
                if breaks and aim != Aim.WIN:
                    if edge.target not in safe:
                        option.append(Edge(EdgeKind.BAD, unsafe))
                    continue
                if aim == Aim.BREAK:
                    rival = frozenset()
                following = Node(edge.target, own, rival)  # type: ignore[arg-type]
                option.append(Edge(aim.kind(own, breaks, rival, rival_breaks), following))
                agenda.append(following)
            options.append(MoveOption(None, option))  # type: ignore[arg-type]
    ranks = solve(graph)
    return {start.position for start in starts if start in ranks}  # type: ignore[misc]


def holding(play: streak_game.StreakGame) -> set[int]:
    """Return the greatest set of positions from which a side never loses by its own streak.

    From each of them, the side can break its streak inside the set, or outlast the rival's streak.
    """
    safe = set(range(len(play.options)))
    while True:
        kept = safe & (succeeding(play, Aim.BREAK, safe) | succeeding(play, Aim.OUTLAST, safe))
        if kept == safe:
            return safe
        safe = kept


@pytest.mark.parametrize(("victims", "games"), [([A], 600), ([A, B], 200)])
def test_streaks_decide_every_endless_play(victims: list[int], games: int) -> None:
    """Following streaks with `solve` gives the wins and draws of an exact solver of streak games.

    The exact solver judges whole endless plays.
    """
    rng = random.Random(len(victims))
    counts = {"won": 0, "drawn": 0, "lost": 0, "outlasted": 0}
    for _ in range(games):
        play = random_streak_game(rng, victims)
        size = len(play.options)
        won = streak_game.wins(play)
        assert succeeding(play, Aim.WIN, set()) == won, play
        drawn = streak_game.draws(play)
        assert holding(play) == drawn, play
        counts["won"] += len(won)
        counts["drawn"] += len(drawn - won)
        counts["lost"] += size - len(drawn)
        counts["outlasted"] += len(drawn - succeeding(play, Aim.BREAK, drawn))
    assert min(counts.values()) > games // 20, counts
