"""Streaks: the offence common to all latest moves of a side, and what ends it."""

from __future__ import annotations

import random

import pytest

from tbgen.indexing import Move, Position
from tbgen.play.repetition import move_between
from tbgen.play.streaks import KING, Offences, extend_streak, is_irreversible, victims_after
from tbgen.referee import judge
from tbgen.tables import Rules, RuleSet
from tests.helpers.loops import CHECKING, random_loop
from tests.helpers.strategies import played

WXF = Offences(RuleSet(Rules.WXF))
CHECKS = Offences(RuleSet(Rules.CHECK))
A, B = 10, 20


def names(squares: frozenset[int]) -> set[str]:
    return {"king" if s == KING else Move(s, s).iccs[:2] for s in squares}


@pytest.mark.parametrize(
    ("streak", "offence", "after", "breaks"),
    [
        pytest.param((), (), (), True, id="idle"),
        pytest.param((), (A,), (A,), False, id="first offence"),
        pytest.param((A,), (A, B), (A,), False, id="goes on"),
        pytest.param((A, B), (B,), (B,), False, id="narrows"),
        pytest.param((A,), (), (), True, id="broken by an idle move"),
        pytest.param((A,), (B,), (B,), True, id="two victims in turn"),
        pytest.param((KING,), (A,), (A,), True, id="a chase after checks"),
        pytest.param((A,), (KING,), (KING,), True, id="a check after chases"),
    ],
)
def test_extended(
    streak: tuple[int, ...], offence: tuple[int, ...], after: tuple[int, ...], breaks: bool
) -> None:
    assert extend_streak(frozenset(streak), frozenset(offence)) == (frozenset(after), breaks)


def test_victims_are_followed() -> None:
    assert victims_after(frozenset({A, KING}), Move(A, B)) == {B, KING}
    assert victims_after(frozenset({A}), Move(B, A)) == {A}


CHASE = "3k5/9/9/1c7/9/2R5r/9/9/9/5K3 w"


@pytest.mark.parametrize(
    ("fen", "moves", "rules", "streak"),
    [
        (CHASE, "c4b4 b6c6", WXF, {"c6"}),
        (CHASE, "c4b4 b6c6 b4c4 c6b6", WXF, {"b6"}),
        # The cannon stays: the attack has not been answered, and is no chase.
        (CHASE, "c4b4 i4i5", WXF, set()),
        (CHASE, "c4b4 b6c6 f0f1 c6b6", WXF, set()),
        (CHASE, "c4b4 b6c6 b4c4 c6b6", CHECKS, set()),
        (CHASE, "", WXF, set()),
        # One ply later the other side is to move, whose moves were idle.
        (CHASE, "c4b4 b6c6 b4c4", WXF, set()),
        (CHECKING, "e0f0 e3f3 f0e0 f3e3 e0f0", WXF, {"king"}),
        (CHECKING, "e0f0 e3f3 f0e0 f3e3 e0f0", CHECKS, {"king"}),
        (CHECKING, "e0f0 e3d3 f0e0 d3e3 e0f0", CHECKS, {"king"}),
    ],
)
def test_streak_of_a_game(fen: str, moves: str, rules: Offences, streak: set[str]) -> None:
    assert names(rules.streak(played(fen, moves))) == streak


def test_a_streak_ends_at_a_gap_and_at_a_capture() -> None:
    positions = played(CHASE, "c4b4 b6c6 b4c4 c6b6")
    assert names(WXF.streak(positions)) == {"b6"}
    assert names(WXF.streak([positions[0], *positions[2:]])) == {"b6"}
    assert WXF.streak(positions[-2:]) == frozenset()
    capture = played("3k5/9/9/1c7/9/2R1p3r/9/9/9/5K3 w", "c4e4 d9e9")
    assert is_irreversible(capture[0], Move.from_iccs("c4e4"))
    assert WXF.streak(capture) == frozenset()
    pawn = Position.from_fen("3k5/9/9/9/9/P8/9/9/9/5K3 w")
    assert is_irreversible(pawn, Move.from_iccs("a4a5"))
    assert not is_irreversible(pawn, Move.from_iccs("f0f1"))


@pytest.mark.parametrize("rules", [Rules.WXF, Rules.CHECK])
def test_streaks_agree_with_the_referee(rules: Rules) -> None:
    """By the referee, a side offends in a loop if and only if its streak lasts for the loop."""
    rng = random.Random(11)
    offences = Offences(RuleSet(rules))
    convicted = acquitted = 0
    for _ in range(80):
        found = random_loop(rng)
        if found is None:
            continue
        start, loop = found
        positions = played(start, [*loop, *loop, loop[0]])
        judgement = judge(start, loop * 2, rules=rules)
        for side, game in ((start.side, positions[:-1]), (start.side.other, positions)):
            level = judgement.levels[side]
            assert lasts(offences, game, len(loop)) == (level > 0), (start.fen, loop)
            if level:
                assert (KING in offences.streak(game)) == (level == 2)
            convicted += level > 0
            acquitted += level == 0
    assert convicted > 3
    assert acquitted > 50


def lasts(offences: Offences, game: list[Position], plies: int) -> bool:
    """Return whether one streak of the side to move lasts for the last `plies` plies of a game.

    A streak is the offence common to moves of a side: all of them check, or chase one piece.
    """
    streak: frozenset[int] = frozenset()
    for end in range(len(game) - plies + 1, len(game), 2):
        before, made, now = game[end - 2 : end + 1]
        move, reply = move_between(before, made), move_between(made, now)
        assert move is not None
        assert reply is not None
        offence = offences.offence(offences.threats(before, move, made), reply, now)
        streak, breaks = extend_streak(victims_after(streak, reply), offence)
        if breaks:
            return False
    return True
