"""Verdicts under the Chinese rules, for the diagrams of the rule book and for other loops.

The searches for forced mate and for a win of material (`can_mate`, `can_gain`) are compared with
an exhaustive search, too.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from functools import cache

import pytest

from tbgen.indexing import Move, Position, Side
from tbgen.indexing.squares import piece_side
from tbgen.referee import (
    Game,
    Judgement,
    Label,
    Verdict,
    chinese,
    chinese_verdict,
    judge_chinese,
    kills,
)
from tbgen.referee.game import Diagram
from tbgen.referee.kills import can_gain, can_mate
from tbgen.rules import in_check, legal_moves
from tests.helpers.loops import random_position
from tests.helpers.paths import DATA, DOCS

BOOK = json.loads((DATA / "cxa2020_cases.json").read_text("utf-8"))
THREATS = {"JIANG": Label.CHECK, "SHA": Label.KILL, "ZHUO": Label.CHASE}
"""Label of a move by the book's name of its threat: check, threat of mate, or chase.

A move with any other name is idle.
"""

MATES_EVERY_MOVE = "3ak1b2/4a4/4b4/r3C2R1/p8/9/P8/4p4/4p4/5K3 w", "h6g6 g9i7 g6h6 i7g9"
"""FEN and moves of diagram D6: Red threatens mate on every move.

The federation's book allows that.
"""
CHECKS_AND_MATES = (
    "2bak3r/2R1a2C1/2Rcb4/2N2P3/5C2p/9/9/4p4/4p2p1/5K3 w", "f5e5 e9f9 e5f5 f9e9",
)  # fmt: skip
BLOCKED_MATES = "4k4/3P2P1P/9/9/6b1c/5p1C1/9/9/4A4/3AK1p2 w", "h4i4 i5h5 i4h4 h5i5"
MUTUAL_CHECKS = "3akr3/5c3/1P2b4/4R4/9/9/9/9/9/4CK3 w", "e6e7 f8e8 e7f7 e8f8 f7e7 f8e8 e7f7"
MUTUAL_MATES = "2bak3r/4a4/4b4/p3C1R2/9/P8/5R3/9/4r4/5K3 w", "g6i6 i9g9 i6g6 g9i9"


def judged(fen: str, moves: str) -> Judgement:
    return judge_chinese(Game.read(Diagram.from_fen(fen), list(map(Move.from_iccs, moves.split()))))


@cache
def book() -> list[tuple[dict[str, str], Judgement]]:
    """Return the diagrams of the rule book, as entries of the data file, with their judgements."""
    return [(case, judged(case["fen"], " ".join(case["moves"]))) for case in BOOK]


def test_verdicts_agree_with_the_book() -> None:
    for case, judgement in book():
        assert judgement.verdict.text in ("undecided", case["verdict"]), case["id"]


def test_labels_agree_with_the_book() -> None:
    for case, judgement in book():
        for label, ply in zip(case["labels"], judgement.plies, strict=True):
            expected = THREATS.get(label, Label.IDLE)
            assert ply.label in (Label.OPEN, expected), (case["id"], ply.move, label)


def test_the_page_states_the_agreement_rates() -> None:
    spoken = sum(judgement.verdict != Verdict.UNDECIDED for _, judgement in book())
    known = Counter(ply.label for _, judgement in book() for ply in judgement.plies)
    labels = Counter(
        THREATS.get(label, Label.IDLE) for case, _ in book() for label in case["labels"]
    )
    forced = 0
    for case, _ in book():
        done = [THREATS.get(label, Label.IDLE) for label in case["labels"]]
        for own, other in ((done[::2], done[1::2]), (done[1::2], done[::2])):
            forced += {*own} <= {Label.CHECK, Label.KILL} and Label.IDLE in other
    assert forced == spoken  # no other diagram is one of checks and kills by the book's labels
    page = (DOCS / "referee.md").read_text("utf-8")
    assert f"Of {len(BOOK)} diagrams of the book" in page
    assert f"it decides {spoken}, as the book does" in page
    rates = {
        label: f"{known[label]} of {labels[label]}" for label in (*THREATS.values(), Label.IDLE)
    }
    assert (
        f"{rates[Label.CHECK]} checks, {rates[Label.KILL]} kills, {rates[Label.CHASE]} chases "
        f"and {rates[Label.IDLE]} idle plies"
    ) in " ".join(page.split())


@pytest.mark.parametrize(
    ("loop", "verdict", "labels"),
    [
        (MATES_EVERY_MOVE, Verdict.BLACK_WINS, "kill idle"),
        (CHECKS_AND_MATES, Verdict.BLACK_WINS, "kill idle check idle"),
        (BLOCKED_MATES, Verdict.RED_WINS, "idle kill"),
        (MUTUAL_CHECKS, Verdict.UNDECIDED, "check"),
        (MUTUAL_MATES, Verdict.UNDECIDED, "kill"),
    ],
)
def test_loops(loop: tuple[str, str], verdict: Verdict, labels: str) -> None:
    judgement = judged(*loop)
    assert judgement.verdict == verdict
    assert ("must vary" in judgement.reason) == (verdict != Verdict.UNDECIDED)
    names = labels.split()
    assert [ply.label for ply in judgement.plies] == [
        names[ply % len(names)] for ply in range(len(judgement.plies))
    ]


def test_a_mate_that_existed_before_is_no_threat_of_the_move() -> None:
    # Red could mate at once with a1a9, but moves the king to and fro.
    judgement = judged("5k3/8R/9/9/9/9/9/9/R8/3K5 w", "d0d1 f9e9 d1d0 e9f9")
    assert [ply.label for ply in judgement.plies[::2]] == [Label.OPEN] * 2
    assert judgement.verdict == Verdict.UNDECIDED


def test_nothing_is_judged_before_a_repetition() -> None:
    fen, moves = MATES_EVERY_MOVE
    judgement = judged(fen, " ".join(moves.split()[:3]))
    assert (judgement.verdict, judgement.span) == (Verdict.UNDECIDED, None)
    assert judged("4k4/8R/9/9/9/9/9/9/R8/3K5 w", "a1a9").verdict == Verdict.RED_WINS


def test_verdicts_alone_agree_with_judgements() -> None:
    loops = [(case["fen"], " ".join(case["moves"])) for case in BOOK]
    for fen, moves in [*loops, MATES_EVERY_MOVE, CHECKS_AND_MATES, MUTUAL_CHECKS, BLOCKED_MATES]:
        game = Game(Diagram.from_fen(fen))
        for move in moves.split():
            game.push(Move.from_iccs(move))
            verdict = chinese_verdict(game)
            assert verdict == judge_chinese(game).verdict


def test_verdicts_alone_label_only_the_loop(monkeypatch) -> None:
    """Judging each position of a game must not label the whole game each time."""
    labelled, label = [], chinese._label
    monkeypatch.setattr(chinese, "_label", lambda *args: labelled.append(0) or label(*args))
    game = Game(Position.from_fen("4k4/9/9/9/9/9/9/9/9/3K5 w"))
    for move in ["d0d1", "e9e8", "d1d0", "e8e9"] * 20:
        game.push(Move.from_iccs(move))
        assert chinese_verdict(game) == Verdict.UNDECIDED
    assert len(labelled) < 8 * game.plies


def test_a_position_is_searched_once_for_a_threat() -> None:
    _search = kills._search
    _search.cache_clear()
    game = Game.read(
        Position.from_fen("4k4/9/9/9/9/9/9/9/9/3K5 w"),
        [Move.from_iccs(move) for move in ["d0d1", "e9e8", "d1d0", "e8e9"] * 20],
    )
    judge_chinese(game)
    assert _search.cache_info().misses <= 2 * 2 * 4


def pieces(position: Position, side: Side) -> Counter[int]:
    """Return the number of pieces of a side, by piece code."""
    return Counter(code for code in position.board if code and piece_side(code) == side)


def forced(first: Position, moves: int, *, takes: bool) -> bool:
    """Return whether the side to move can force mate by at most `moves` checks.

    With `takes`, captures are tried like checks, and a win of material counts as well: the other
    side has lost a piece, and the side to move at first none.
    """
    own, other = pieces(first, first.side), pieces(first, first.side.other)

    def wins(now: Position, left: int) -> bool:
        if takes and pieces(now, now.side) == own and pieces(now, now.side.other) != other:
            return True
        for move in legal_moves(now) if left else ():
            after = now.after(*move)
            if (in_check(after) or (takes and now.board[move.target])) and all(
                wins(after.after(*reply), left - 1) for reply in legal_moves(after)
            ):
                return True
        return False

    return wins(first, moves)


@pytest.mark.parametrize(("search", "takes"), [(can_mate, False), (can_gain, True)])
def test_searches_agree_with_exhaustive_search(search, takes: bool) -> None:
    rng = random.Random(5)
    answers: Counter[bool | None] = Counter()
    while sum(answers.values()) < 40:
        position = random_position(rng)
        if in_check(position):
            continue
        found = search(position.board, position.side)
        answers[found] += 1
        if found is False:
            assert not forced(position, 2, takes=takes), position.fen
        if found and not takes:
            assert forced(position, 5, takes=False), position.fen
    assert answers[True]
    assert answers[False]
