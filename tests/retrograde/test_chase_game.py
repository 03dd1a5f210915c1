"""The search for chase patterns on random graphs, against exact solvers of the same game.

At an offence node the offender moves; at a reply node, the side that would win by the repetition.
Most replies check or chase, so the search has to use its exact stage on most graphs.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
from numpy.typing import NDArray

from tbgen.retrograde.chase.game import Conditions, PatternGraph, winning_replies
from tests.oracles.naive.chase_game import ChaseGame, Edge, by_parity_game, by_strategies

Bools = NDArray[np.bool_]


def random_game(rng: random.Random, pieces: int, offences: int, widest: int) -> ChaseGame:
    """Return a random game in which most replies chase or check.

    pieces : number of pieces that can be chased
    offences : number of nodes with the offender to move
    widest : largest number of the offender's moves at a node, 1 to 3
    """
    checks, chases = rng.choice((0.1, 0.4, 0.7)), rng.choice((0.3, 0.6, 0.85))
    moves = [rng.choice((0, *[1] * 5, *[2] * 5, 3)[: widest * 5 + 1]) for _ in range(offences)]
    first = np.cumsum([0, *moves]).tolist()
    nodes = tuple(tuple(range(first[o], first[o + 1])) for o in range(offences))
    replies = []
    for _ in range(first[-1]):
        count = rng.choice((0, *[1] * 4, *[2] * 6, 3, 3))
        replies.append(tuple(random_edge(rng, pieces, moves, checks, chases) for _ in range(count)))
    return ChaseGame(pieces, nodes, tuple(replies))


def random_edge(
    rng: random.Random, pieces: int, moves: list[int], checks: float, chases: float
) -> Edge:
    target = rng.randrange(len(moves))
    follow = list(range(pieces))
    if rng.random() < 0.4:
        rng.shuffle(follow)
    attacked = [p for p in range(pieces) if rng.random() < chases]
    # The next offence answers most of the attacks.
    chased = tuple(
        frozenset(p for p in attacked if rng.random() < 0.85) for _ in range(moves[target])
    )
    return Edge(target, rng.random() < checks, chased, tuple(follow))


def searched(game: ChaseGame, rng: random.Random) -> tuple[set[int], bool]:
    """Run the solver's search; return the reply nodes won, and True if the exact stage was used.

    The exact stage is used only if faster tests leave a region undecided. Its input leaves out
    nodes outside this region, and has columns for pieces that cannot be chased, both as in the
    solver.
    """
    columns = game.pieces + rng.randrange(3)
    column = rng.sample(range(columns), game.pieces)
    edges = [edge for node in game.replies for edge in node]
    asked = False

    def conditions(region: Bools) -> Conditions:
        nonlocal asked
        asked = True
        wanted = np.repeat(region, [len(node) for node in game.replies])
        words: list[int] = []
        starts = [0]
        for edge, in_region in zip(edges, wanted.tolist(), strict=True):
            if in_region:
                for pieces in edge.chased:
                    words.append(sum(1 << column[p] for p in pieces))
            starts.append(len(words))
        follow = np.zeros((len(edges), columns), np.int8)
        for e, edge in enumerate(edges):
            for p in range(game.pieces):
                follow[e, column[p]] = column[edge.follow[p]]
        return Conditions(
            np.array([edge.check for edge in edges], np.bool_),
            np.array(starts, np.int64),
            np.array(words, np.uint64),
            np.uint64(sum(1 << c for c in column)),
            follow,
        )

    graph = PatternGraph(
        np.cumsum([0, *(len(node) for node in game.offences)]).astype(np.int64),
        np.cumsum([0, *(len(node) for node in game.replies)]).astype(np.int64),
        np.array([edge.target for edge in edges], np.int64),
        # A reply whose attacks are all left unanswered is not calm, although it chases nothing.
        np.array(
            [not edge.check and not any(edge.chased) and rng.random() < 0.7 for edge in edges],
            np.bool_,
        ),
    )
    winning = winning_replies(graph, conditions)
    return set(np.flatnonzero(winning).tolist()), asked


def survives(game: ChaseGame) -> set[int]:
    """Return the reply nodes from which the prospective winner can stay in the graph for ever."""
    alive = set(range(len(game.replies)))
    while True:
        good = {o for o, nodes in enumerate(game.offences) if alive.issuperset(nodes)}
        staying = {r for r in alive if any(edge.target in good for edge in game.replies[r])}
        if staying == alive:
            return alive
        alive = staying


@pytest.mark.parametrize(
    ("pieces", "offences", "games"), [(1, 4, 700), (2, 5, 900), (2, 8, 300), (3, 4, 250)]
)
def test_random_games(pieces: int, offences: int, games: int) -> None:
    rng = random.Random(100 * pieces + offences)
    exact = partial = refused = 0
    for number in range(games):
        game = random_game(rng, pieces, rng.randint(1, offences), widest=2)
        expected = by_parity_game(game)
        found, asked = searched(game, rng)
        assert found == expected, (number, game)
        staying = survives(game)
        exact += asked and bool(expected)
        partial += asked and bool(expected) and expected != staying
        refused += asked and not expected
    # The sample is not trivial: the conditions make games won, lost, and partly won.
    assert exact > games // 20
    assert partial > games // 100
    assert refused > games // 20


def test_the_exact_solvers_agree() -> None:
    """The two exact solvers of chase games agree on small random games.

    The games are small, since one solver tries all strategies.
    """
    rng = random.Random(5)
    won = compared = 0
    while compared < 250:
        game = random_game(rng, rng.choice((1, 1, 2)), rng.randint(1, 3), widest=2)
        choices = 1
        unfolded = game.pieces  # 1 or 2, equal to its factorial
        for node in game.replies:
            for edge in node:
                choices *= max(1, len(game.offences[edge.target])) ** unfolded
        if choices > 3000:
            continue
        compared += 1
        expected = by_strategies(game)
        assert by_parity_game(game) == expected, game
        won += bool(expected)
    assert 50 < won < 240


def one_loop(*edges: Edge, pieces: int = 1) -> ChaseGame:
    """Return a game with one node and one move of the offender; all replies lead back to the node.

    edges : the replies
    """
    return ChaseGame(pieces, ((0,),), (edges,))


KEEP, SWAP = (0, 1), (1, 0)


def chase(*pieces: int, follow: tuple[int, ...] = KEEP, check: bool = False) -> Edge:
    return Edge(0, check, (frozenset(pieces),), follow)


@pytest.mark.parametrize(
    ("game", "is_won"),
    [
        pytest.param(one_loop(chase(), pieces=2), True, id="calm"),
        pytest.param(one_loop(chase(check=True), pieces=2), False, id="checks"),
        pytest.param(one_loop(chase(0), pieces=2), False, id="one piece"),
        pytest.param(one_loop(chase(0, follow=SWAP), pieces=2), True, id="two pieces in turn"),
        pytest.param(one_loop(chase(0, 1, follow=SWAP), pieces=2), False, id="both always"),
        pytest.param(one_loop(chase(0), chase(1), pieces=2), True, id="one or the other"),
        pytest.param(one_loop(chase(0), chase(check=True), pieces=2), True, id="chase or check"),
        pytest.param(
            one_loop(chase(0, 1, check=True), pieces=2), False, id="a check chases nothing"
        ),
        pytest.param(
            one_loop(chase(0, 1, check=True), chase(0, 1), pieces=2), True, id="mixing is allowed"
        ),
        pytest.param(ChaseGame(2, ((0,), ()), ((Edge(1, False, (), KEEP),),)), True, id="no move"),
        pytest.param(ChaseGame(2, ((0,),), ((),)), False, id="dead end"),
        # The offender's answer determines which of two pieces is chased.
        pytest.param(
            ChaseGame(
                2,
                ((0, 1),),
                ((Edge(0, False, (frozenset({0}), frozenset({1})), KEEP),),) * 2,
            ),
            False,
            id="offender's choice",
        ),
    ],
)
def test_small_loops(game: ChaseGame, is_won: bool) -> None:
    expected = set(range(len(game.replies))) if is_won else set()
    assert by_parity_game(game) == expected
    assert by_strategies(game) == expected
    assert searched(game, random.Random(1))[0] == expected
