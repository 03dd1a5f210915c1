"""Verdicts under the rule set `computer`, against Pikafish's rule code, and what each rule does."""

from __future__ import annotations

import csv
import json
from functools import cache

import pytest

from tbgen.indexing import Move, Position
from tbgen.indexing.rulesets import CHECK_VOIDS, MINOR_CHASES, NEW_BY_VICTIM, SYNONYMS, Rules
from tbgen.referee import Game, judge, verdict_on
from tbgen.referee.diagram import Diagram
from tests.kits.paths import DATA

COMPUTER = Rules.COMPUTER.chase_rules()


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


@pytest.mark.parametrize("rules", [rules for rules in Rules if rules.judges_chases])
@pytest.mark.parametrize("rule", [CHECK_VOIDS, NEW_BY_VICTIM])
def test_every_chase_rule_decides_some_loop(rules: Rules, rule: int) -> None:
    """Return whether it is one of the set's own, or would be."""
    word = rules.chase_rules()
    assert verdicts(word ^ rule) != verdicts(word)


@pytest.mark.parametrize("rules", [rules for rules in Rules if rules.judges_chases])
def test_chases_by_minor_pieces_decide_a_loop(rules: Rules) -> None:
    """A constructed one: there is none among the loops of random games."""
    start = Position.from_fen("3C1a1R1/5k3/4b4/9/9/r8/9/3K5/9/9 b")
    moves = 2 * list(map(Move.from_iccs, ("f9e8", "d9a9", "e8f9", "a9d9")))
    word = rules.chase_rules()
    found = [
        verdict_on(Game.read(start, moves, each), rules=rules).text
        for each in (word, word ^ MINOR_CHASES)
    ]
    assert found == ["red wins", "draw"]


def test_published_cases_are_judged_as_the_other_program_does() -> None:
    """Its rule code (2026-07) differs from the book on D39-D41 alone, which it draws."""
    for case in json.loads((DATA / "repetition_cases.json").read_text("utf-8")):
        moves = list(map(Move.from_iccs, case["moves"].split()))
        judgement = judge(Diagram.from_fen(case["fen"]), moves, rules=Rules.COMPUTER)
        drawn = case["diagram"] in ("D39", "D40", "D41")
        assert judgement.verdict.text == ("draw" if drawn else case["verdict"]), case["id"]


def test_names() -> None:
    assert [rules.number for rules in Rules] == [0, 1, 2, 3]
    assert {Rules(name) for name in SYNONYMS} == {Rules.WXF}
    with pytest.raises(ValueError, match="chinese"):
        Rules("chinese")
    assert [rules for rules in Rules if rules.judges_chases] == [Rules.WXF, Rules.COMPUTER]
    assert [rules for rules in Rules if rules.judges_checks] == list(Rules)[1:]
