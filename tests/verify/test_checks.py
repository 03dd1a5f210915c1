"""The proof of perpetual checks: valid tables pass, and errors planted in a pattern are found.

In a *pattern* one side, the *offender*, must check for ever, or lose. A *direct win* (stored: a
*claim*) is a win of the other side there, in 0 plies. Its *order* is above 1 if moves out of the
pattern lose by lower orders. In a *direct loss*, each move that keeps the order leads to a claim.
"""

from __future__ import annotations

import random

import numpy as np
import pytest

from tbgen.indexing import Material
from tbgen.indexing.rulesets import Rules
from tbgen.tables.codes import DRAW, CodeSpace, Outcome, Value
from tbgen.tables.names import Metric
from tbgen.tables.rule_sets import RuleSet
from tbgen.verify import verify
from tbgen.verify.arrays import NO_NODES
from tbgen.verify.candidates import find_candidates
from tbgen.verify.checks import CheckPatterns, Graph
from tbgen.verify.moves import split_nodes, stored_keys
from tbgen.verify.passes import Candidates, Passes
from tbgen.verify.values import MATE, NEVER, ORDER
from tests.helpers.memory_tables import recoded
from tests.helpers.solutions import solution

MATERIALS = ["KRKN", "KNKP", "KRKR", "KRKC", "KNKN", "KRKP", "KRKNA"]


def solved(name, metric=Metric.DTM, orders=None):
    return solution(name, Rules.CHECK, metric, orders)


def prove(table, orders=None, rules=Rules.CHECK):
    return verify(
        table,
        lambda child: solved(child.name, orders=orders),
        rule_set=RuleSet(rules, orders),
    )


def planted(name="KRKN"):
    """Return a copy of a table in codes with room for further orders, to plant errors in."""
    return recoded(solved(name), CodeSpace(2))


def direct(order=1):
    return Value(Outcome.WIN, order, 0)


@pytest.mark.parametrize("name", MATERIALS)
@pytest.mark.parametrize("metric", list(Metric))
def test_sound_tables_pass(name, metric):
    report = prove(solved(name, metric))
    assert report.ok, report.first
    assert report.complete


def test_replies_to_unexamined_wins_join_the_candidates(monkeypatch):
    """Checks that lead from a direct loss to a win of the order before are searched separately.

    KNKCP has such wins, which `find_candidates` does not list. The proof needs no search of all
    open positions (draws, and positions decided by the rules) for them.
    """

    def refuse(*_):
        raise AssertionError("all open positions are searched")

    def find(patterns, listed):
        unexamined.append(find_unexamined(patterns, listed))
        return unexamined[-1]

    unexamined, find_unexamined = [], CheckPatterns._unexamined_wins
    monkeypatch.setattr(CheckPatterns, "_unexamined_wins", find)
    monkeypatch.setattr(Passes, "all_candidates", refuse)
    report = prove(solved("KNKCP"))
    assert report.ok, report.first
    assert report.offenders_examined > 0
    assert len(unexamined[0]) > 0


@pytest.mark.certification
def test_offenders_after_unexamined_replies_are_added(monkeypatch):
    """`_add_reached` finds positions of the offender that `find_candidates` does not list.

    Such a position follows a reply of the winner that is not examined there. KNKPPA has some.
    """
    added = []

    def add(patterns, pool, listed):
        found = add_reached(patterns, pool, listed)
        assert (np.diff(found.nodes) > 0).all()
        assert np.isin(listed.nodes, found.nodes).all()
        added.append(len(found.nodes) - len(listed.nodes))
        return found

    add_reached = CheckPatterns._add_reached
    monkeypatch.setattr(CheckPatterns, "_add_reached", add)
    table = solution("KNKPPA", Rules.WXF)
    report = verify(
        table, lambda child: solution(child.name, Rules.WXF), rule_set=RuleSet(Rules.WXF)
    )
    assert report.ok, report.first
    (count,) = added
    assert count > 0


@pytest.mark.parametrize("name", ["KRKN", "KRKNA"])
def test_first_order_tables_pass(name):
    report = prove(solved(name, orders=1), orders=1)
    assert report.ok, report.first
    assert not report.complete
    assert report.orders_examined == 1


def test_unexplained_claims_are_checked_on_all_positions(monkeypatch):
    """A table passes although `find_candidates` is patched to return no checking positions.

    The direct wins of the table then have no pattern among the candidates. So the proof must search
    all positions.
    """

    def find_none(passes, arrays, draws, marks):
        find_candidates(passes, arrays, draws, marks)
        arrays.values.confirmed[:] = False
        nodes = np.arange(2 * arrays.slots)
        claims = nodes[stored_keys(nodes, arrays) == MATE - ORDER]
        assert len(claims) > 0
        return Candidates(split_nodes(NO_NODES), claims, split_nodes(NO_NODES))

    expected = prove(solved("KRKN"))
    monkeypatch.setattr("tbgen.verify.prove.find_candidates", find_none)
    report = prove(solved("KRKN"))
    assert report.ok, report.first
    assert report.histograms == expected.histograms
    assert report.offenders_examined > expected.offenders_examined


def test_direct_wins_are_counted():
    report = prove(solved("KRKN"))
    wins = planted().with_value(direct())
    assert report.red_to_move.direct + report.black_to_move.direct == len(wins) > 0


@pytest.mark.parametrize(
    "wrong",
    [
        DRAW,
        Value(Outcome.WIN, 1, 2),
        direct(2),
        Value(Outcome.WIN, 0, 3),
        Value(Outcome.LOSS, 1, 1),
        Value(Outcome.LOSS, 0, 4),
    ],
    ids=str,
)
def test_an_altered_direct_win_is_found(wrong):
    """The proof refutes a table in which one direct win by checks is replaced by another value."""
    table = planted()
    wins = table.with_value(direct())
    for side, slot in random.Random(4).sample(wins, 3):
        table.plant(side, slot, wrong)
        report = prove(table)
        assert not report.ok, table.position(side, slot).fen
        assert report.first is not None
        table.plant(side, slot, direct())
    assert prove(table).ok


@pytest.mark.parametrize("plies", [1, 3])
@pytest.mark.parametrize(
    "wrong", [DRAW, Value(Outcome.LOSS, 2, 1), Value(Outcome.LOSS, 1, 5), Value(Outcome.LOSS, 0, 2)]
)
def test_an_altered_loss_by_rules_is_found(plies, wrong):
    table = planted()
    right = Value(Outcome.LOSS, 1, plies)
    losses = table.with_value(right)
    for side, slot in random.Random(plies).sample(losses, min(2, len(losses))):
        table.plant(side, slot, wrong)
        assert not prove(table).ok
        table.plant(side, slot, right)


def test_an_invented_direct_win_is_found():
    """The proof refutes a table in which one draw is made a direct win.

    Eight random draws are replaced, one after another, with the side to move in check or not.
    """
    table = planted("KRKR")
    for side, slot in random.Random(1).sample(table.with_value(DRAW), 8):
        table.plant(side, slot, direct())
        assert not prove(table).ok
        table.plant(side, slot, DRAW)


def test_a_whole_order_shifted_is_found():
    """The proof refutes a table in which all wins and losses by the rules are one order too high.

    Every value stays the best of the position's moves, so only the search for patterns finds it.
    """
    table = planted()
    orders = table.code_space.span
    for plane in table.planes:
        wins = plane > table.code_space.draw
        losses = (plane > 0) & (plane < table.code_space.draw)
        by_rules = (losses & (plane > orders)) | (wins & (plane <= table.code_space.top - orders))
        assert by_rules.any() or plane is table.planes[1]
        plane[by_rules & losses] += orders
        plane[by_rules & wins] -= orders
    report = prove(table)
    assert not report.ok
    assert report.first is not None
    assert report.first.expected == direct(1)
    assert report.first.stored == direct(2)


def test_patterns_hidden_in_draws_are_found():
    """The proof under check rules refutes a table that was solved without repetition rules.

    Perpetual check decides some of its draws.
    """
    table = solution("KRKN")
    assert prove(table, rules=Rules.NONE).ok
    report = prove(table)
    assert not report.ok
    assert report.first is not None
    assert report.first.stored == DRAW
    assert report.first.expected == direct(1)
    assert report.findings == len(planted().with_value(direct()))


def test_orders_beyond_the_limit_are_found():
    """A table limited to one order must not contain values of the second order."""
    table = planted()
    rule_set = RuleSet(Rules.CHECK, 1)
    assert verify(table, lambda child: solved(child.name), rule_set=rule_set).ok
    side, slot = table.with_value(direct())[0]
    table.plant(side, slot, direct(2))
    assert not verify(table, lambda child: solved(child.name), rule_set=rule_set).ok


# -- the graph against naive code from the definitions -------------------------------------------


def naive_pattern(graph: Graph, order: int) -> set[int]:
    """Return the winner's nodes in the pattern of an order, by sets as in docs/values.md.

    These are numbers of checked sides in `graph`: nodes in which the winner is in check.
    """
    moves: dict[int, set[int]] = {o: set() for o in range(len(graph.first_orders))}
    replies: dict[int, set[int]] = {c: set() for c in range(len(graph.checked_orders))}
    for o, c in graph.checks.tolist():
        moves[o].add(c)
    for c, o in graph.replies.tolist():
        replies[c].add(o)
    won = {c for c in replies if graph.checked_orders[c] < order}
    takes = {c for c in replies if graph.wins_from[c] <= order}
    offenders = {o for o in moves if graph.first_orders[o] <= order <= graph.offender_orders[o]}
    checked = set(replies) - won
    while True:
        before = len(offenders), len(checked)
        offenders = {o for o in offenders if moves[o] <= won | checked}
        checked = {c for c in checked if c in takes or replies[c] & offenders}
        if (len(offenders), len(checked)) == before:
            # Nodes from which the winner forces a reply without check, or a capture.
            meeting: set[int] = set()
            while True:
                larger = {
                    c
                    for c in checked
                    if c in takes
                    or any(
                        not graph.offender_in_check[o] or moves[o] <= won | meeting
                        for o in replies[c] & offenders
                    )
                }
                if larger == meeting:
                    break
                meeting = larger
            if meeting == checked:
                return checked
            checked = meeting


def test_patterns_of_random_graphs():
    rng = np.random.default_rng(5)
    sizes = []
    for trial in range(600):
        offenders, checked = (int(n) for n in rng.integers(1, 9, 2))
        density = rng.choice([0.2, 0.4])

        def edges(n, m, density=density):
            return np.argwhere(rng.random((n, m)) < density).reshape(-1, 2)

        def orders(n, draws):
            return np.where(rng.random(n) < draws, NEVER, rng.integers(1, 4, n))

        graph = Graph(
            checks=edges(offenders, checked),
            replies=edges(checked, offenders),
            offender_orders=orders(offenders, 0.6),
            first_orders=rng.integers(1, 3, offenders),
            offender_in_check=rng.random(offenders) < rng.choice([0.0, 0.5, 1.0]),
            checked_orders=orders(checked, 0.6),
            wins_from=orders(checked, 0.9),
        )
        for order in (1, 2, 3):
            found = set(np.flatnonzero(graph.find(order)).tolist())
            assert found == naive_pattern(graph, order), trial
            sizes.append(len(found))
    assert 0 in sizes
    assert max(sizes) > 4


def test_mutual_checks_decide_nothing():
    """A loop of one check and one reply is a pattern only if the reply gives no check.

    If both sides check on every move, the winner cannot make a move without check.
    """
    loop = np.array([[0, 0]])
    one = np.array([NEVER])
    for in_check, expected in ((False, True), (True, False)):
        graph = Graph(loop, loop, one, np.array([1]), np.array([in_check]), one, one)
        assert graph.find(1).tolist() == [expected]


def test_one_side_without_attackers_means_no_patterns():
    """Fang's lemma: a pattern needs attackers on both sides."""
    report = prove(solved("KRKA"))
    assert report.ok
    assert report.red_to_move.rule_decided == report.black_to_move.rule_decided == 0
    assert not Material.parse(report.material).both_armed
