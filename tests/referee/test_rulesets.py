"""Verdicts under every rule set: published cases, another program's, and what each rule does."""

from __future__ import annotations

import csv
import json
from functools import cache

import pytest

from tbgen.indexing import Move, Position
from tbgen.indexing.rulesets import (
    CHASE_RULES,
    MINOR_CHASES,
    PAWNS_AT_HOME,
    SYNONYMS,
    UNPROTECTED_ONLY,
    Rules,
)
from tbgen.referee import Game, judge, verdict_on
from tbgen.referee.diagram import Diagram
from tests.kits.paths import DATA

COMPUTER = Rules.COMPUTER.chase_rules()
CHASING = [rules for rules in Rules if rules.judges_chases]
D60 = "3akabC1/9/4b4/7P1/2n5p/9/3p5/9/4A1c2/2BAK1B1C w"
OTHERS = {
    Rules.WXF: {},
    Rules.COMPUTER: dict.fromkeys(("D39", "D40", "D41"), "draw"),
    # Red's cannon chases a pawn on its own half.
    Rules.TAIWAN: {"D60": "black wins"},
    # A knight or cannon chases a protected rook (D19, D23 and D25), so that in the last two, which
    # have no diagram, only Red's rooks chase.
    Rules.UNPROTECTED: {
        **dict.fromkeys(("D19", "D23", "D25"), "draw"),
        **dict.fromkeys(("fsf-33", "fsfpr466-d03"), "black wins"),
    },
}
"""Published cases that a set judges in another way than the book."""


@cache
def loops() -> tuple[tuple[Position, tuple[Move, ...], str], ...]:
    """The first position, the moves of two rounds, and the verdict."""
    with (DATA / "loops_computer.csv").open(newline="") as file:
        return tuple(
            (
                Position.from_fen(row["fen"]),
                2 * tuple(map(Move.from_iccs, row["moves"].split())),
                row["computer"],
            )
            for row in csv.DictReader(file)
        )


@cache
def verdicts(chase_rules: int) -> list[str]:
    """The verdicts on all loops by some chase rules."""
    return [
        verdict_on(Game.read(position, moves, chase_rules), rules=Rules.COMPUTER).text
        for position, moves, _ in loops()
    ]


def test_every_loop_has_the_verdict_of_the_other_program() -> None:
    for position, moves, verdict in loops():
        judgement = judge(position, moves, rules=Rules.COMPUTER)
        assert judgement.verdict.text == verdict, (position.fen, moves)
        assert judgement.reason


def test_levels_and_verdict_agree() -> None:
    expected = [verdict for *_, verdict in loops()]
    assert verdicts(COMPUTER) == expected


@pytest.mark.parametrize("rules", CHASING)
@pytest.mark.parametrize("rule", sorted(set(CHASE_RULES) - {MINOR_CHASES, PAWNS_AT_HOME}))
def test_every_chase_rule_decides_some_loop(rules: Rules, rule: int) -> None:
    """Return whether it is one of the set's own, or would be."""
    word = rules.chase_rules()
    assert verdicts(word ^ rule) != verdicts(word)


@pytest.mark.parametrize("rules", CHASING)
@pytest.mark.parametrize("rule", [MINOR_CHASES, PAWNS_AT_HOME])
def test_rules_that_no_random_loop_has_decide_one(rules: Rules, rule: int) -> None:
    """Constructed ones: an elephant and a protected rook, a cannon and a pawn at home (D60).

    Where only pieces without a root are chased, minor pieces chase no others.
    """
    start, moves = {
        MINOR_CHASES: ("3C1a1R1/5k3/4b4/9/9/r8/9/3K5/9/9 b", "f9e8 d9a9 e8f9 a9d9"),
        PAWNS_AT_HOME: (D60, "g0i2 g1i1 i2g0 i1g1"),
    }[rule]
    played = 2 * list(map(Move.from_iccs, moves.split()))
    word = rules.chase_rules()
    found = {
        verdict_on(Game.read(Diagram.from_fen(start), played, each), rules=rules).text
        for each in (word, word ^ rule)
    }
    assert len(found) == (1 if word & UNPROTECTED_ONLY and rule == MINOR_CHASES else 2)


@pytest.mark.parametrize("rules", CHASING)
def test_published_cases(rules: Rules) -> None:
    """Of D39-D41 the rule code of Pikafish (2026-07) makes draws; all others are as in the book."""
    for case in json.loads((DATA / "repetition_cases.json").read_text("utf-8")):
        moves = list(map(Move.from_iccs, case["moves"].split()))
        judgement = judge(Diagram.from_fen(case["fen"]), moves, rules=rules)
        key = case["diagram"] or case["id"]
        assert judgement.verdict.text == OTHERS[rules].get(key, case["verdict"]), case["id"]


def test_names() -> None:
    assert [rules.number for rules in Rules] == list(range(6))
    assert {Rules(name) for name in SYNONYMS} == {Rules.WXF}
    with pytest.raises(ValueError, match="chinese"):
        Rules("chinese")
    assert list(Rules)[2:] == CHASING
    assert [rules for rules in Rules if rules.judges_checks] == list(Rules)[1:]
