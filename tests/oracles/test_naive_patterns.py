"""Patterns and propagation of the naive solver against exact solutions on small graphs.

In a graph (`Game`), a move to a node with `in_check` is a check. The offender, one side, must check
on every move; the other side is the winner. Exits are moves that leave the graph.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.oracles.naive import patterns
from tests.oracles.naive.graph_game import by_parity_game, by_strategies
from tests.oracles.naive.patterns import DRAW, LOSS, WIN, Game, Verdict
from tests.oracles.naive.retrograde import decide

MATED = Verdict(LOSS, 0, 0)
MATES = Verdict(WIN, 0, 1)
DRAWN = Verdict(DRAW)


def play(game: Game) -> list[Verdict]:
    """Solve a small graph by the naive solver, and return the verdicts of all nodes.

    Fails if an exact solution has other outcomes.
    """
    verdicts = decide(game, checks_lose=True)
    assert [v.outcome for v in verdicts] == by_parity_game(game) == by_strategies(game)
    return verdicts


def test_one_side_checks_perpetually() -> None:
    """A side that checks at every move loses by order 1 if its other moves lose, too.

    Node 0 (the offender) and node 1 alternate; the offender's only other move allows mate.
    """
    game = Game([0, 1], [False, True], [[1], [0]], {0: [MATES]})
    assert play(game) == [Verdict(LOSS, 1, 254), Verdict(WIN, 1, 255)]


def test_an_offender_with_a_drawing_move_is_in_no_pattern() -> None:
    game = Game([0, 1], [False, True], [[1], [0]], {0: [MATES, DRAWN]})
    assert {v.outcome for v in play(game)} == {DRAW}


def test_quiet_repetition_is_a_draw() -> None:
    game = Game([0, 1], [False, False], [[1], [0]])
    assert {v.outcome for v in play(game)} == {DRAW}


def test_mutual_checking_is_a_draw() -> None:
    game = Game([0, 1], [True, True], [[1], [0]])
    assert {v.outcome for v in play(game)} == {DRAW}


def test_two_checks_against_one() -> None:
    """A side that always checks loses against one that checks on every second move.

    The loop is 0 1 2 3, and side 0 always checks (Fang-Hsu, 3.2).
    """
    game = Game([0, 1, 0, 1], [False, True, True, True], [[1], [2], [3], [0]])
    assert [v.outcome for v in play(game)] == [LOSS, WIN, LOSS, WIN]


def test_a_winner_that_may_also_check_perpetually() -> None:
    """A side that could check perpetually, too, wins by not always checking.

    Node 1 may check (to 2) or not (to 0).
    """
    game = Game([0, 1, 0], [False, True, True], [[1], [0, 2], [1]])
    assert [v.outcome for v in play(game)] == [LOSS, WIN, LOSS]


def test_a_quiet_move_that_the_offender_avoids() -> None:
    """A loop of checks is drawn if the offender can avoid the winner's quiet move.

    The only move from node 1 is a check; node 4 has the quiet move.
    """
    avoid = Game(
        [0, 1, 0, 0, 1],
        [False, True, True, False, True],
        [[1], [2], [1, 4], [4], [3]],
    )
    assert [v.outcome for v in play(avoid)] == [DRAW, DRAW, DRAW, LOSS, WIN]


def test_a_second_order_needs_the_first() -> None:
    """A pattern of order 2 can depend on one of order 1.

    Node 2 checks 3 perpetually (order 1), which makes 0's checks of 1 a pattern (order 2).
    """
    game = Game(
        side=[0, 1, 0, 1, 1],
        in_check=[False, True, False, True, False],
        moves=[[1, 4], [0], [3], [2], [2]],
    )
    verdicts = play(game)
    assert verdicts[2:] == [Verdict(LOSS, 1, 254), Verdict(WIN, 1, 255), Verdict(WIN, 1, 253)]
    assert verdicts[:2] == [Verdict(LOSS, 2, 254), Verdict(WIN, 2, 255)]


def test_a_capture_prolongs_a_direct_loss() -> None:
    game = Game([0, 1], [False, True], [[1], [0]], {0: [Verdict(WIN, 1, 249)]})
    assert decide(game, checks_lose=True) == [Verdict(LOSS, 1, 248), Verdict(WIN, 1, 255)]


def test_captures_count_from_the_round_of_their_order() -> None:
    game = Game([0, 1], [False, True], [[1], [0]], {0: [Verdict(WIN, 3, 251)]})
    assert decide(game, checks_lose=True) == [Verdict(LOSS, 3, 250), Verdict(WIN, 3, 255)]
    assert {v.outcome for v in decide(game, checks_lose=True, orders=2)} == {DRAW}


def test_captures_into_rule_losses() -> None:
    """A capture into a loss by the rules is a direct win if its side is in check, else indirect."""
    lost = Verdict(LOSS, 2, 252)
    game = Game([1, 1], [True, False], [[], []], {0: [lost, DRAWN], 1: [lost, DRAWN]})
    assert decide(game, checks_lose=True) == [Verdict(WIN, 2, 255), Verdict(WIN, 2, 251)]


def random_game(rng: random.Random, most: int, exits: list[Verdict]) -> Game:
    """Return a random graph of 2 to `most` nodes, in which checks are frequent.

    In about 40 to 100 % of the nodes the side to move is in check. In about a fifth of the nodes
    one move leaves the graph, for one of the verdicts `exits`.
    """
    size = rng.randint(2, most)
    side = [rng.randint(0, 1) for _ in range(size)]
    often = rng.choice([0.4, 0.6, 0.8, 0.9, 1.0])
    in_check = [rng.random() < often for _ in range(size)]
    moves, leaving = [], {}
    degree = rng.choice([1, 2, 2, 3])
    for node in range(size):
        reachable = [n for n in range(size) if side[n] != side[node]]
        count = min(len(reachable), rng.choice([0, *[1, 2, 3, 4][:degree] * 4]))
        moves.append(rng.sample(reachable, count))
        if rng.random() < 0.2:
            leaving[node] = [rng.choice(exits)]
    return Game(side, in_check, moves, leaving)


def best_over_children(game: Game, verdicts: list[Verdict], node: int) -> Verdict | None:
    """Return the best verdict that a node's moves give, by the preference of the paper (6.4).

    None if the moves neither win nor all lose, so that the node is a draw.
    """
    children = [verdicts[n] for n in game.moves[node]] + game.exits.get(node, [])
    lost = [child for child in children if child.outcome == LOSS]
    if lost:
        order = min(child.order for child in lost)
        plies = min(child.plies for child in lost if child.order == order)
        outcome = WIN
    elif all(child.outcome == WIN for child in children):
        order = max((child.order for child in children), default=0)
        plies = max((child.plies for child in children if child.order == order), default=-1)
        outcome = LOSS
    else:
        return None
    return Verdict(outcome, order, plies + 1 if order == 0 else 255 - plies - 1)


def check_values(game: Game, verdicts: list[Verdict]) -> None:
    """Check that the verdict of every node is the best that its moves give.

    A direct win, with the value 255, need only have the outcome and the order of its best move.
    """
    for node, verdict in enumerate(verdicts):
        best = best_over_children(game, verdicts, node)
        if verdict.order and verdict.value == 255:
            assert game.in_check[node]
            assert best is not None
            assert (best.outcome, best.order) == (WIN, verdict.order)
        elif verdict.outcome == DRAW:
            assert best is None
        else:
            assert verdict == best


@pytest.mark.parametrize(("most", "count"), [(6, 4000), (12, 4000), (30, 1500)])
def test_random_games(most: int, count: int) -> None:
    rng = random.Random(most)
    orders: Counter[int] = Counter()
    for _ in range(count):
        game = random_game(rng, most, [MATED, MATES, DRAWN])
        verdicts = decide(game, checks_lose=True)
        assert [v.outcome for v in verdicts] == by_parity_game(game), game
        check_values(game, verdicts)
        orders[max(v.order for v in verdicts)] += 1
    assert orders[1] > count / 20, "too few patterns to prove anything"
    assert most < 12 or any(order > 1 for order in orders)


def test_both_exact_solutions_agree() -> None:
    rng = random.Random(7)
    for _ in range(1500):
        game = random_game(rng, 8, [MATED, MATES, DRAWN])
        assert by_parity_game(game) == by_strategies(game), game


def test_mutual_checks_need_the_condition_on_the_winner(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        patterns, "_not_for_ever_checking", lambda game, known, wins, losses, order: (wins, losses)
    )
    game = Game([0, 1], [True, False], [[1], [0]])
    assert by_parity_game(game) == [WIN, LOSS]
    assert [v.outcome for v in decide(game, checks_lose=True)] == [WIN, LOSS]
    both = Game([0, 1, 1], [True, True, False], [[1], [0], [0]])
    assert by_parity_game(both) == [DRAW, DRAW, DRAW]
    assert [v.outcome for v in decide(both, checks_lose=True)][:1] != [DRAW]


def test_tables_on_top_of_tables() -> None:
    """Solving a graph in two layers, like tables on supporting tables, gives the right outcomes.

    They equal the exact solution of the whole graph.
    """
    rng = random.Random(11)
    highest: Counter[int] = Counter()
    for _ in range(3000):
        below = random_game(rng, 10, [MATED, MATES, DRAWN])
        below_verdicts = decide(below, checks_lose=True)
        above = random_game(rng, 10, [DRAWN])
        above.exits.clear()
        entries: dict[int, list[int]] = {}
        for node, side in enumerate(above.side):
            reachable = [n for n in range(len(below)) if below.side[n] != side]
            if reachable and rng.random() < 0.5:
                entries[node] = rng.sample(reachable, 1)
                above.exits[node] = [below_verdicts[n] for n in entries[node]]
        verdicts = decide(above, checks_lose=True)
        check_values(above, verdicts)
        whole = Game(
            [*below.side, *above.side],
            [*below.in_check, *above.in_check],
            [
                *below.moves,
                *(
                    [len(below) + n for n in moves] + entries.get(node, [])
                    for node, moves in enumerate(above.moves)
                ),
            ],
            below.exits,
        )
        outcomes = [v.outcome for v in [*below_verdicts, *verdicts]]
        assert outcomes == by_parity_game(whole)
        highest[max(v.order for v in verdicts)] += 1
    assert highest[2] > 0


def test_limited_orders_are_a_prefix() -> None:
    rng = random.Random(13)
    for _ in range(500):
        game = random_game(rng, 14, [MATED, MATES, DRAWN])
        everything = decide(game, checks_lose=True)
        for limit in (1, 2):
            limited = decide(game, checks_lose=True, orders=limit)
            expected = [v if v.order <= limit else DRAWN for v in everything]
            assert limited == expected
