"""The proof of perpetual chases: valid tables pass, and errors planted in a pattern are found.

In a *pattern* one side must chase for ever, or lose. A *direct win* is a win of the other side
there, in 0 plies; its *order* is above 1 if moves out of the pattern lose by lower orders.

KNKPP is the smallest material in which chases decide anything; its tests are slow certifications.
The game of chases in a pattern is solved a second time by naive code (`naive_pattern`).
"""

from __future__ import annotations

import json
import random
from itertools import pairwise

import numpy as np
import pytest
from click.testing import CliRunner

from tbgen.building.builder import Progress
from tbgen.cli import main
from tbgen.indexing import Material
from tbgen.indexing.rulesets import Rules
from tbgen.rules import in_check
from tbgen.tables import CorruptTableError
from tbgen.tables.codes import DRAW, CodeSpace, Outcome, Value
from tbgen.tables.rule_sets import RuleSet
from tbgen.verify import verify
from tbgen.verify.arrays import NO_NODES
from tbgen.verify.candidates import find_candidates
from tbgen.verify.chase_patterns import (
    ChaseGraph,
    ChasePatterns,
    Victims,
    k_prune_unsafe,
    prune_by_clauses,
)
from tbgen.verify.chases import CHASE_COLUMNS, CHASER, NODE_AFTER
from tbgen.verify.moves import split_nodes
from tests.helpers.built import Builder
from tests.helpers.memory_tables import recoded
from tests.helpers.solutions import solution


def solved(name, orders=None):
    return solution(name, Rules.WXF, orders=orders)


def prove(table, orders=None):
    rule_set = RuleSet(Rules.WXF, orders)
    return verify(table, lambda child: solved(child.name, orders), rule_set=rule_set)


def direct(order=1):
    return Value(Outcome.WIN, order, 0)


@pytest.mark.parametrize("name", ["KRKN", "KNKP", "KRKNA", "KRKA", "KNNKB"])
def test_sound_tables_pass(name):
    report = prove(solved(name))
    assert report.ok, report.first
    assert report.complete
    for totals in (report.red_to_move, report.black_to_move):
        assert totals.direct == totals.direct_checks
        assert totals.direct_chases == 0


def test_direct_wins_are_exactly_the_positions_after_chases_of_the_pattern(monkeypatch):
    """Claims outside the pattern are refuted, even after the chase of another chaser."""
    patterns = object.__new__(ChasePatterns)
    patterns._chases = np.zeros((3, CHASE_COLUMNS), np.int64)
    patterns._chases[:, CHASER], patterns._chases[:, NODE_AFTER] = (0, 1, 2), (10, 20, 30)
    patterns._claims, patterns._claimed_orders = np.array([20, 30, 40]), np.array([1, 1, 2])
    pattern = np.array([True, False, True])
    monkeypatch.setattr(patterns, "find", lambda order: (pattern, np.ones(3, np.bool_)))
    found = [(each.node, each.is_pattern) for each in patterns.check_order(1)]
    assert found == [(10, True), (20, False)]


def test_limited_tables_are_not_complete():
    report = prove(solved("KRKN", 1), 1)
    assert report.ok, report.first
    assert not report.complete
    assert report.orders_examined == 1


def test_an_invented_chase_is_found():
    """The proof refutes KRKN, in which chases decide no position, if one draw is made a direct win.

    Four draws are replaced, one after another.
    """
    table = recoded(solved("KRKN"), CodeSpace(2))
    rng = random.Random(3)
    for side, slot in rng.sample(table.with_value(DRAW), 4):
        table.plant(side, slot, direct())
        assert not prove(table).ok
        table.plant(side, slot, DRAW)
    assert prove(table).ok


def test_invented_chases_are_reported_as_chases():
    """Direct wins planted on all draws are findings; those without check count as wins by chases.

    A direct win is never the best value that the position's moves give.
    """
    table = recoded(solved("KNKP"), CodeSpace(2))
    for plane in table.planes:
        plane[plane == table.code_space.draw] = table.code_space.encode(direct())
    report = prove(table)
    chases = report.red_to_move.direct_chases + report.black_to_move.direct_chases
    assert chases > 0
    # No move gives the value of a direct win.
    assert report.findings >= chases


def test_tables_of_other_options_are_no_supporting_tables(tmp_path):
    """Supporting tables must have the proven table's option on chases by minor pieces."""
    builder = Builder(tmp_path, RuleSet(Rules.WXF, minor_chases=False), Progress())
    builder.build([Material.parse("KRKN")])
    command = ["verify", "KRKN", "--tables", str(tmp_path), "--json"]
    result = CliRunner().invoke(main, command)
    (report,) = json.loads(result.stdout)["tables"]
    assert (report["rules"], report["minor_chases"]) == ("wxf", False)
    assert report["ok"]
    assert report["complete"]
    # A table of the other option is refused as a supporting table, also under a false name.
    knk = tmp_path / "KNK.wxf-nominor.dtm.xqt"
    other = tmp_path / "KNK.wxf.dtm.xqt"
    knk.unlink()
    Builder(tmp_path, RuleSet(Rules.WXF), Progress()).build([Material.parse("KNK")])
    missing = CliRunner().invoke(main, [*command, "--no-minor-chases"])
    assert missing.exit_code == 1
    assert "tbgen build KNK --rules wxf --no-minor-chases" in missing.stderr
    other.rename(knk)
    forged = CliRunner().invoke(main, [*command, "--no-minor-chases"])
    assert forged.exit_code == 3
    assert "holds KNK.wxf.dtm, not what its name says" in forged.stderr
    builder = Builder(tmp_path, RuleSet(Rules.WXF, minor_chases=False), Progress())
    with pytest.raises(CorruptTableError, match="not what its name says"):
        builder.build([Material.parse("KRKN")], force=True)


# -- the game against naive code from the definitions ---------------------------------------------

PIECES = 2
CLAUSES = 1 + PIECES


def naive_pattern(graph: ChaseGraph, victims: Victims, due, candidates) -> list[bool]:
    """Return for each chaser True if it belongs to a pattern, found by naive code.

    A chaser is a position of which every move chases one piece or loses. It belongs to a pattern if
    it is a candidate with due chases, and the winner wins after each of these. Winning is to meet
    all conditions in rotation, for ever: 0, an answer without check; 1 and 2, an answer that does
    not chase the first or second piece, or gives check. A state is (chase, numbers of both pieces
    there, condition to be met next).

    graph, victims : the chases, the answers to them (edges), and the pieces that answers chase
    due : for each chase, True if it counts (does not lose yet)
    candidates : for each chaser, True if it may belong to a pattern
    """
    chases = [
        [c for c in range(first, last) if due[c]] for first, last in pairwise(graph.chase_start)
    ]
    numberings = [(0, 1), (1, 0)]
    states = {
        (c, numbering, clause)
        for own, is_candidate in zip(chases, candidates, strict=True)
        for c in own
        if is_candidate
        for numbering in numberings
        for clause in range(CLAUSES)
    }

    def successors(state, edge):
        """Yield (state, True if the answer completes a round of conditions) for each next chase.

        edge : index of the winner's answer to the chase of `state`
        """
        _, numbering, clause = state
        goal = graph.edge_to[edge]
        after = tuple(int(victims.follow[edge, p]) for p in numbering)
        for f in chases[goal]:
            met = not graph.is_check[edge]
            if clause:
                pair = victims.pair_start[edge] + f - graph.chase_start[goal]
                is_victim = int(victims.victims[pair]) >> numbering[clause - 1] & 1
                met = bool(graph.is_check[edge]) or not is_victim
            yield (f, after, (clause + met) % CLAUSES), met and clause == CLAUSES - 1

    def wins(state, again, sooner):
        first, last = graph.edge_start[state[0]], graph.edge_start[state[0] + 1]
        for edge in range(first, last):
            following = list(successors(state, edge))
            if following and all(s in (again if complete else sooner) for s, complete in following):
                return True
        return False

    while True:
        reaching: set = set()
        while True:
            larger = {s for s in states if wins(s, states, reaching)}
            if larger == reaching:
                break
            reaching = larger
        if reaching == states:
            break
        states = reaching
    return [
        bool(is_candidate and own and all((c, (0, 1), 0) in states for c in own))
        for own, is_candidate in zip(chases, candidates, strict=True)
    ]


def random_game(rng):
    def starts(counts):
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)

    chasers = int(rng.integers(1, 6))
    chase_start = starts(rng.integers(0 if rng.random() < 0.3 else 1, 4, chasers))
    chases = int(chase_start[-1])
    edge_start = starts(rng.integers(0 if rng.random() < 0.2 else 1, 4, chases))
    edges = int(edge_start[-1])
    edge_to = rng.integers(0, chasers, edges)
    is_check = rng.random(edges) < rng.choice([0.0, 0.3, 0.8])
    pairs = np.diff(chase_start)[edge_to]
    words = rng.integers(0, 1 << PIECES, int(pairs.sum())) & rng.integers(0, 1 << PIECES)
    swapped = (rng.random(edges) < 0.3).astype(np.int8)
    graph = ChaseGraph(chase_start, edge_start, edge_to.astype(np.int64), is_check)
    follow = np.stack([swapped, 1 - swapped], axis=1)
    victims = Victims((np.cumsum(pairs) - pairs).astype(np.int64), words.astype(np.uint64), follow)
    due = rng.random(chases) < rng.choice([0.7, 1.0])
    return graph, victims, due, rng.random(chasers) < 0.95


def find(graph, victims, due, candidates):
    remaining, failed = candidates.copy(), np.zeros(len(due), np.bool_)
    k_prune_unsafe(graph, due, failed, remaining)
    safe = int(remaining.sum())
    prune_by_clauses(graph, victims, due, failed, remaining)
    return remaining, safe


def test_patterns_of_random_games():
    rng = np.random.default_rng(8)
    sizes, pruned = [], 0
    for trial in range(1500):
        game = random_game(rng)
        found, safe = find(*game)
        assert found.tolist() == naive_pattern(*game), trial
        sizes.append(int(found.sum()))
        pruned += 0 < found.sum() < safe
    assert 0 in sizes
    assert max(sizes) >= 4
    assert pruned > 5


@pytest.mark.parametrize(
    ("check", "words", "follow", "expected"),
    [
        (False, 0b00, (0, 1), True),
        (True, 0b00, (0, 1), False),  # mutual: all answers are checks
        (False, 0b01, (0, 1), False),  # one piece chased perpetually
        (False, 0b01, (1, 0), True),  # twins in turn
        (False, 0b11, (1, 0), False),
    ],
)
def test_the_conditions_on_one_loop(check, words, follow, expected):
    """A loop is a pattern only if its answers do not all check, nor all chase one piece.

    The loop has one chasing position, one chase, and one answer, by the side that the rules favour,
    that leads back. The chasing side has two pieces, numbered 0 and 1 in every position.

    check : whether the answer gives check
    words : bit set of the pieces that the answer chases
    follow : for each of the two pieces, its number in the position after the answer
    """
    graph = ChaseGraph(np.array([0, 1]), np.array([0, 1]), np.array([0]), np.array([check]))
    victims = Victims(np.array([0]), np.array([words], np.uint64), np.array([follow], np.int8))
    remaining, safe = find(graph, victims, np.array([True]), np.array([True]))
    assert safe
    assert remaining.tolist() == [expected]


# -- chases that decide -----------------------------------------------------------------------


def test_the_solver_counts_the_chases_that_it_declares():
    table = solved("KNPKC")
    assert table.chase_patterns == {1: 6, 2: 0}
    assert len(chase_wins(recoded(table, table.code_space))) == 6
    assert solved("KRKN").chase_patterns == {1: 0, 2: 0}


@pytest.fixture(scope="module")
def knkpp():
    return solved("KNKPP")


def chase_wins(table, order=1):
    """List (side to move, slot) of the direct wins by chases of an order.

    These are the direct wins in which the side to move is not in check.
    """
    return [
        (side, slot)
        for side, slot in table.with_value(direct(order))
        if not in_check(table.position(side, slot))
    ]


@pytest.mark.certification
def test_knkpp_is_proven(knkpp):
    report = prove(knkpp)
    assert report.ok, report.first
    assert report.complete
    assert report.orders_examined == 7
    assert report.black_to_move.direct_chases == 3423
    assert report.chase_patterns == {k: n for k, n in knkpp.chase_patterns.items() if n}
    assert sum(knkpp.chase_patterns.values()) == 3423
    assert report.black_to_move.direct_checks == 4294


@pytest.mark.certification
def test_unexplained_claims_are_checked_on_all_positions(knkpp, monkeypatch):
    """A table passes although `find_candidates` is patched to return no chasing positions.

    The direct wins of the table then have no pattern among the candidates. So the proof must search
    all positions.
    """

    def find_none(*of):
        return find_candidates(*of)._replace(chasers=split_nodes(NO_NODES))

    monkeypatch.setattr("tbgen.verify.prove.find_candidates", find_none)
    report = prove(knkpp)
    assert report.ok, report.first
    assert report.black_to_move.direct_chases == 3423


@pytest.mark.certification
def test_knkpp_of_two_orders_is_proven():
    report = prove(solved("KNKPP", 2), 2)
    assert report.ok, report.first
    assert not report.complete
    assert report.black_to_move.direct_chases == 1052 + 885


@pytest.mark.certification
@pytest.mark.parametrize(
    "wrong",
    [DRAW, Value(Outcome.WIN, 1, 2), direct(2), Value(Outcome.LOSS, 1, 1)],
    ids=str,
)
def test_an_altered_chase_is_found(knkpp, wrong):
    """The proof refutes a table in which one direct win by chases is replaced by another value.

    The other value is a draw, a later win, a win of another order, or a loss.
    """
    table = recoded(knkpp, CodeSpace(2))
    for side, slot in random.Random(5).sample(chase_wins(table), 1):
        table.plant(side, slot, wrong)
        report = prove(table)
        assert not report.ok, table.position(side, slot).fen
        table.plant(side, slot, direct())


@pytest.mark.certification
@pytest.mark.parametrize("right", [Value(Outcome.WIN, 1, 2), DRAW, Value(Outcome.WIN, 3, 4)])
def test_an_added_chase_is_found(knkpp, right):
    table = recoded(knkpp, CodeSpace(2))
    for side, slot in random.Random(6).sample(table.with_value(right), 2):
        table.plant(side, slot, direct())
        assert not prove(table).ok, table.position(side, slot).fen
        table.plant(side, slot, right)


@pytest.mark.certification
def test_chases_hidden_in_draws_are_found():
    """The proof under wxf refutes a table that was solved under the check rule.

    Under wxf, chases decide some positions that are draws, or wins of later orders, in this table.
    """
    table = solution("KNKPP", Rules.CHECK)

    def supporting(child):
        return solution(child.name, Rules.CHECK)

    assert verify(table, supporting, rule_set=RuleSet(Rules.CHECK)).ok
    report = verify(table, supporting, rule_set=RuleSet(Rules.WXF))
    assert not report.ok
    # Every value is the best of its position's moves; only the search for patterns finds errors.
    assert report.first is not None
    assert report.first.expected == direct(1)


@pytest.mark.certification
def test_a_shifted_order_of_chases_is_found(knkpp):
    """The proof refutes a table in which all wins and losses by the rules are one order too high.

    Every value stays the best of the position's moves, so only the search for patterns finds it.
    """
    table = recoded(knkpp, CodeSpace(2))
    span, top, draw = table.code_space.span, table.code_space.top, table.code_space.draw
    for plane in table.planes:
        losses, wins = (plane > span) & (plane < draw), (plane > draw) & (plane <= top - span)
        plane[losses] += span
        plane[wins] -= span
    report = prove(table)
    assert not report.ok
    assert report.first is not None
    assert report.first.expected == direct(1)
    assert report.first.stored == direct(2)
