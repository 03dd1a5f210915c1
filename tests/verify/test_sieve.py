"""The sieve of possible chasers: what it leaves says the same of every order as all of them do."""

from __future__ import annotations

import random
from contextlib import nullcontext
from unittest.mock import patch

import numpy as np
import pytest

from tbgen.indexing import Side
from tbgen.indexing.rulesets import Rules
from tbgen.indexing.squares import SQUARES
from tbgen.tables.codes import CodeSpace, Outcome, Value
from tbgen.tables.names import RuleSet
from tbgen.verify import chase_patterns
from tbgen.verify.arrays import gather
from tbgen.verify.chase_patterns import ChasePatterns
from tbgen.verify.chases import CHASER, NODE_AFTER
from tests.kits.solutions import solution
from tests.kits.verifykit import completed, recoded

WXF = RuleSet(Rules.WXF)


def search(table, *, sieved):
    """The chases of a table, and what they say of the orders 1 to 3."""
    loaded = gather(table, lambda child: solution(child.name, Rules.WXF), WXF)
    passes, found = completed(table, loaded)
    open_nodes = passes.everybody(found).chasers
    everyone = patch.object(chase_patterns, "keep_answered", lambda found, *_: found.chasers)
    with nullcontext() if sieved else everyone:
        chases = ChasePatterns(passes.arrays, passes.index, open_nodes, found.chase_claims, 1)
    return chases, [chases.check_order(order) for order in range(1, 4)]


def claim_what_is_chased(table, chases, rng, count):
    """Plant direct wins where a chase leads to, and losses where it comes from."""
    won, lost = Value(Outcome.WIN, 1, 0), Value(Outcome.LOSS, 1, 1)
    for place in rng.sample(range(len(chases)), count):
        chaser, after = chases[place]
        table.plant(Side(after % 2), after // 2, won)
        if rng.random() < 0.5:
            table.plant(Side(chaser % 2), chaser // 2, lost)


def same(table):
    """The chases without a sieve and with one; what both say, and how many are alive by order."""
    every, expected = search(table, sieved=False)
    kept, said = search(table, sieved=True)
    assert said == expected
    assert set(kept.numbers) <= set(every.numbers)
    found = []
    for order in range(1, 4):
        alive = every.numbers[every.find(order)[0]]
        assert np.array_equal(alive, kept.numbers[kept.find(order)[0]])
        found.append(len(alive))
    return every, kept, said, found


def compare(name):
    """A sound table, and the same with claims all over; how many were alive in the first."""
    rng = random.Random(name)
    table = recoded(solution(name, Rules.WXF), CodeSpace(2))
    every, kept, said, alive = same(table)
    assert said == [[], [], []]
    assert len(kept.numbers) < len(every.numbers)
    nodes = every.numbers // SQUARES
    chases = [(int(nodes[n]), int(after)) for n, after in every._chases[:, :2]]
    claim_what_is_chased(table, chases, rng, min(40, len(chases)))
    every, kept, said, _ = same(table)
    assert any(said)
    assert lead_to_claims(every)
    assert lead_to_claims(every) <= set(kept.numbers.tolist())
    return alive


def lead_to_claims(chases):
    """The chasers with a chase that leads to a claim: claims may rest on them (`patterns`)."""
    claimed = np.isin(chases._chases[:, NODE_AFTER], chases.claims)
    return set(chases.numbers[chases._chases[claimed, CHASER]].tolist())


@pytest.mark.parametrize("name", ["KNKP", "KNKB", "KNKN"])
def test_a_sieve_changes_nothing_where_there_are_no_patterns(name):
    assert not any(compare(name))


@pytest.mark.certification
def test_a_sieve_changes_no_pattern():
    """KNKPP is the smallest material in which there are some."""
    assert any(compare("KNKPP"))
