"""Verdicts under every rule set: published cases, another program's, effect of each rule."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from operator import ne

import pytest

from tbgen.board.language.words import explain_judgement
from tbgen.indexing import Move, Position
from tbgen.indexing.rulesets import (
    ABLE_TO_CHASE,
    ATTACKERS,
    GUARDS,
    SYNONYMS,
    Chases,
    Rules,
)
from tbgen.indexing.squares import PieceType
from tbgen.referee import Game, judge, repetition_verdict
from tbgen.referee.game import Diagram
from tests.helpers.paths import DATA

COMPUTER = Rules.COMPUTER.chase_rules()
CHASING = [rules for rules in Rules if rules.judges_chases]
VARIED = [Rules.WXF, Rules.COMPUTER, Rules.TAIWAN, Rules.UNPROTECTED]
"""Rule sets whose chases are varied: in all of them, pieces of all types chase and are chased."""
D60 = "3akabC1/9/4b4/7P1/2n5p/9/3p5/9/4A1c2/2BAK1B1C w"
OTHERS = {
    Rules.WXF: {},
    Rules.COMPUTER: dict.fromkeys(("D39", "D40", "D41"), "draw"),
    # Red's cannon chases a pawn on its own half.
    Rules.TAIWAN: {"D60": "black wins"},
    # No knight or cannon chases a protected rook. So D19, D23 and D25 are draws, and in the last
    # two cases, which have no diagram, only Red's rooks chase.
    Rules.UNPROTECTED: {
        **dict.fromkeys(("D19", "D23", "D25"), "draw"),
        **dict.fromkeys(("fsf-33", "fsfpr466-d03"), "black wins"),
    },
}
"""For each rule set, its verdicts on the cases in which they differ from those of the book."""


@cache
def loops() -> tuple[tuple[Position, tuple[Move, ...], str], ...]:
    """Return (first position, moves of two rounds, Pikafish's verdict) of each loop in the file."""
    with (DATA / "loops_computer.csv").open(newline="") as file:
        return tuple(
            (
                Position.from_fen(row["fen"]),
                2 * tuple(map(Move.from_iccs, row["moves"].split())),
                row["computer"],
            )
            for row in csv.DictReader(file)
        )


def judged(chase_rules: int) -> Iterator[str]:
    """Yield the verdict on each of `loops` under a definition of chases as bits."""
    for position, moves, _ in loops():
        yield repetition_verdict(Game.read(position, moves, chase_rules), rules=Rules.COMPUTER).text


@cache
def verdicts(chase_rules: int) -> list[str]:
    """Return the verdict on each of `loops` under a definition of chases as bits."""
    return [*judged(chase_rules)]


def test_every_loop_has_the_verdict_of_the_other_program() -> None:
    for position, moves, verdict in loops():
        judgement = judge(position, moves, rules=Rules.COMPUTER)
        assert judgement.verdict.text == verdict, (position.fen, moves)
        assert judgement.reason


def test_levels_and_verdict_agree() -> None:
    expected = [verdict for *_, verdict in loops()]
    assert verdicts(COMPUTER) == expected


def chases_of(rules: Rules) -> Chases:
    """Return the definition of chases in a rule set that has chases."""
    chases = rules.terms.chases
    assert chases is not None
    return chases


def verdicts_differ(other: Chases, chases: Chases) -> bool:
    """Return whether two definitions of chases give different verdicts on some loop."""
    return any(map(ne, judged(other.word), verdicts(chases.word)))


@pytest.mark.parametrize("rules", VARIED)
@pytest.mark.parametrize("flag", ["even_exchanges", "new_by_victim", "unanswered", "check_voids"])
def test_every_property_decides_some_loop(rules: Rules, flag: str) -> None:
    chases = chases_of(rules)
    other = replace(chases, **{flag: not getattr(chases, flag)})
    expected = {("unanswered", True)}  # an answered attack on a victim not attacked before
    assert verdicts_differ(other, chases) or (flag, chases.new_by_victim) in expected


@pytest.mark.parametrize("rules", VARIED)
@pytest.mark.parametrize("kind", [*ABLE_TO_CHASE, PieceType.PAWN])
def test_every_kind_decides_some_loop(rules: Rules, kind: PieceType) -> None:
    """Without a kind of piece as victim, or as chaser, some verdict changes.

    Pawns and elephants are tested as victims only.
    """
    chases = chases_of(rules)
    chased = tuple(set(chases.chased) - {kind})
    chasers = tuple(set(chases.chasers) - {kind})
    assert verdicts_differ(replace(chases, chased=chased), chases)
    if kind not in (PieceType.PAWN, PieceType.ELEPHANT):
        assert verdicts_differ(replace(chases, chasers=chasers), chases)


@pytest.mark.parametrize("rules", VARIED)
@pytest.mark.parametrize("rule", ["minor_chases", "pawns_at_home"])
def test_rare_properties_decide_constructed_loops(rules: Rules, rule: str) -> None:
    """Two rare properties of chases change the verdict on chosen loops.

    They are the chase of a protected cannon by an advisor, and that of a pawn at home (in D60).
    """
    start, moves = {
        "minor_chases": ("3C1a1R1/5k3/4b4/9/9/r8/9/3K5/9/9 b", "f9e8 d9a9 e8f9 a9d9"),
        "pawns_at_home": (D60, "g0i2 g1i1 i2g0 i1g1"),
    }[rule]
    chases = chases_of(rules)
    other = {
        "minor_chases": replace(
            chases, protected=() if chases.protected else ((GUARDS, ATTACKERS),)
        ),
        "pawns_at_home": replace(chases, pawns_at_home=not chases.pawns_at_home),
    }[rule]
    played = 2 * list(map(Move.from_iccs, moves.split()))
    found = {
        repetition_verdict(Game.read(Diagram.from_fen(start), played, each.word), rules=rules).text
        for each in (chases, other)
    }
    assert len(found) == 2


@pytest.mark.parametrize("wrong", [{"chasers": (PieceType.PAWN,)}, {"chased": (PieceType.KING,)}])
def test_unsupported_kinds_of_chases_are_refused(wrong: dict[str, tuple[PieceType, ...]]) -> None:
    """A definition with chases by pawns or of kings raises `ValueError`.

    Solver and proof do not support such definitions, and would miss such chases.
    """
    with pytest.raises(ValueError, match="kings and pawns cannot chase"):
        Chases(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("rules", CHASING)
def test_published_cases(rules: Rules) -> None:
    """Each rule set gives the verdicts of the rule book, except for the cases in `OTHERS`.

    Under the rules `computer`, D39-D41 are draws, as in the rule code of Pikafish (2026-07).
    """
    others = {}
    for case in json.loads((DATA / "repetition_cases.json").read_text("utf-8")):
        moves = list(map(Move.from_iccs, case["moves"].split()))
        verdict = judge(case["fen"], moves, rules=rules).verdict.text
        if verdict != case["verdict"]:
            others[case["diagram"] or case["id"]] = verdict
    assert others == OTHERS.get(rules), repr(others)


def test_a_check_that_voids_chases_is_the_reason() -> None:
    """Under `computer` a chase beside a check does not count; the reason says so."""
    moves = ["f1e1", "f2g2", "e1f1", "g2f2"]
    judgement = judge("3k5/9/9/9/9/5p3/9/5p3/5K3/5C3 w", moves, rules="computer")
    assert judgement.reason == (
        "Red's cannon chases the pawn that stood on f4 on every move, Black checks on some moves "
        "only; with a check in the loop no chase counts: draw"
    )
    said = explain_judgement(judgement, Rules.COMPUTER, "zh-Hans")
    assert said == "红方炮步步捉后卒，黑方只有部分着法将军；循环里有将军，本规则不算捉：判和"


def test_names() -> None:
    published = ["none", "check", "wxf", "computer", "taiwan", "unprotected"]
    assert [Rules(name).number for name in published] == list(range(6))
    assert {Rules(name) for name in SYNONYMS} == {Rules.WXF}
    with pytest.raises(ValueError, match="chinese"):
        Rules("chinese")
    offences = [rules.offences for rules in Rules]
    assert offences[:2] == [0, 1]
    assert set(offences[2:]) <= {1, 2}
