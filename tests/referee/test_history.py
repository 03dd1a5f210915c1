"""The compiled history of a game against `judge`, after every move played or taken back."""

import random

import pytest

from tbgen.indexing import START_FEN, Move, MoveTextError, Position, Side
from tbgen.play.repetition import judge_repetition
from tbgen.referee import Game, Rules, Verdict, judge
from tbgen.referee.history import FIRST_CAPACITY, History
from tbgen.rules import legal_moves
from tbgen.tables import RuleSet
from tests.helpers.loops import random_loop
from tests.helpers.strategies import played, random_position

LOOP = [Move.from_iccs(move) for move in ["c4b4", "b6c6", "b4c4", "c6b6"]]
CHASE = Position.from_fen("3k5/9/9/1c7/9/2R5r/9/9/9/5K3 w")


MINOR = Position.from_fen("3C1a1R1/5k3/4b4/9/9/r8/9/3K5/9/9 b")
MINOR_LOOP = [Move.from_iccs(move) for move in ["f9e8", "d9a9", "e8f9", "a9d9"]]


@pytest.mark.parametrize(("minor", "verdict"), [(True, Verdict.RED_WINS), (False, Verdict.DRAW)])
def test_the_option_on_minor_pieces_reaches_every_referee(minor, verdict):
    """The option on chases by minor pieces changes the verdict of every referee.

    An advisor attacks a protected cannon on every move. Tested are the compiled referee, the one in
    Python, and the one by which moves are chosen.
    """
    history = History(MINOR, minor_chases=minor)
    for move in MINOR_LOOP:
        history.push(move)
    assert history.verdict() == verdict
    assert judge(MINOR, MINOR_LOOP, minor_chases=minor).verdict == verdict
    judged = judge_repetition(played(MINOR, MINOR_LOOP), RuleSet(Rules.WXF, minor_chases=minor))
    assert judged is not None
    assert judged.verdict == verdict


@pytest.mark.parametrize("rules", Rules)
def test_verdicts_agree_with_judge(rules):
    rng = random.Random(31)
    for _ in range(10):
        found = random_loop(rng)
        if found is None:
            continue
        position, loop = found
        history = History(position, rules=rules)
        for move in loop * 3:
            history.push(move)
            assert history.verdict() == judge(position, history.moves, rules=rules).verdict


def test_verdicts_after_popping_agree_with_a_new_game():
    rng = random.Random(32)
    for _ in range(5):
        position = random_position(rng, ("KRKC", "KRNKRC", "KNCKRB"))
        history = History(position, occurrences=rng.choice((2, 3)))
        for _ in range(120):
            legal = legal_moves(history.position)
            if len(history) and (not legal or rng.random() < 0.35):
                last = history.moves[-1]
                assert history.pop() == last
                continue
            if not legal:
                break
            back = [Move(m.target, m.source) for m in history.moves[-2:-1]]
            usable = [m for m in back if m in legal]
            history.push(usable[0] if usable and rng.random() < 0.6 else rng.choice(legal))
            fresh = judge(position, history.moves, occurrences=history.occurrences)
            if legal_moves(history.position):
                assert history.verdict() == fresh.verdict


def test_draw_is_enough_returns_the_verdict_or_a_draw():
    rng = random.Random(33)
    for _ in range(50):
        found = random_loop(rng)
        if found is None:
            continue
        position, loop = found
        history = History(position)
        for move in loop:
            history.push(move)
        full, bound = history.verdict(), history.verdict(draw_is_enough=True)
        mine = Verdict.won_by(Side(history.position.side))
        assert bound == full or (bound == Verdict.DRAW and full == mine)


def test_illegal_moves_change_nothing():
    history = History(CHASE)
    with pytest.raises(MoveTextError, match="cannot reach"):
        history.push(Move.from_iccs("c4d5"))
    for move in (Move(0, 90), Move(-1, 4)):
        for push in (history.push, Game(CHASE).push):
            with pytest.raises(MoveTextError, match="is no move"):
                push(move)
    assert len(history) == 0
    assert history.position == CHASE
    with pytest.raises(IndexError):
        history.pop()


def test_long_games_grow_the_history():
    history = History(CHASE)
    for _ in range(FIRST_CAPACITY // 4 + 10):
        for move in LOOP:
            history.push(move)
    assert len(history) > FIRST_CAPACITY
    assert history.verdict() == Verdict.BLACK_WINS
    assert history.position == CHASE


def test_a_full_board():
    history = History(Position.from_fen(START_FEN))
    for move in ["b0c2", "b9c7", "c2b0", "c7b9"]:
        assert history.verdict() == Verdict.UNDECIDED
        history.push(Move.from_iccs(move))
    assert history.verdict() == Verdict.DRAW
