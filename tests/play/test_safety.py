"""Moves of `choose` in loops: best_move avoids offences that the referee punishes.

Offences are perpetual checks and chases; an idle move is neither. `Aim` is the goal of a side: an
idle move, a break of its own offences, or an endless offence of the rival.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from itertools import cycle

import pytest

from tbgen.indexing import Move, Position, PositionError, Side
from tbgen.play import safety
from tbgen.play.choice import choose
from tbgen.play.preference import RootMove
from tbgen.play.repetition import is_lost_by, judge_repetition
from tbgen.play.safety import Aim, StreakGraph
from tbgen.play.streaks import Offences
from tbgen.referee import Judgement, Label, Verdict, judge
from tbgen.rules import in_check, legal_moves
from tbgen.tables import Outcome, ProbeResult, Rules, RuleSet, Value
from tests.helpers.loops import CHECKING
from tests.helpers.paths import DATA
from tests.helpers.strategies import played

WXF = RuleSet(Rules.WXF)


class LoopTables:
    """Stand-in for tables of a loop of forced moves: every move that leaves the loop loses.

    value : value of the loop's positions with `side` to move: a draw, or a direct win
    """

    def __init__(self, loop: list[Position], side: Side, value: Value) -> None:
        self.loop = loop
        self.side = side
        self.value = value

    def probe(self, position: Position) -> ProbeResult:
        if position not in self.loop:
            value = Value(Outcome.WIN, 0, 1)
        elif position.side == self.side or self.value.outcome == Outcome.DRAW:
            value = self.value
        else:
            value = Value(Outcome.LOSS, 1, 1)
        plies = None if value.outcome == Outcome.DRAW else value.plies
        return ProbeResult(
            value.outcome,
            value.number,
            value.order,
            plies,
            position.material,
            WXF,
            None,
        )

    def probe_with_moves(self, position: Position) -> tuple[ProbeResult, list[RootMove]]:
        moves = []
        for move in legal_moves(position):
            after = position.after(*move)
            capture = position.board[move.target] != 0
            moves.append(RootMove(move, after, self.probe(after), False, capture, in_check(after)))
        return self.probe(position), sorted(moves, key=lambda move: move.sort_key)


def book_loops() -> Iterator[tuple[str, list[Position], Judgement]]:
    """Yield (name, positions of one round, judgement) of loops of the rule book.

    Loops in which a position occurs twice in a round are left out.
    """
    for case in json.loads((DATA / "repetition_cases.json").read_text()):
        try:
            start = Position.from_fen(case["fen"])
        except PositionError:
            continue  # a diagram that no game reaches
        judgement = judge(start, [Move.from_iccs(m) for m in case["moves_threefold"].split()])
        positions = played(start, case["moves_threefold"])
        loop = positions[positions.index(positions[-1]) :]
        loop = loop[: loop.index(loop[0], 1)]
        if len(set(loop)) == len(loop):
            yield case["id"], loop, judgement


def test_loops_of_the_book() -> None:
    """In a loop of forced moves, an aim is in reach if and only if the referee allows it.

    The aims are those of Red in the first loop, of Black in the next, and so on.
    """
    loops = [*book_loops()]
    assert len(loops) > 100
    for (name, loop, judgement), side in zip(loops, cycle(Side), strict=False):
        start = next(position for position in loop if position.side == side)
        ranked = {}
        for aim in Aim:
            value = Value(Outcome.WIN, 1, 0) if aim == Aim.WIN else Value(Outcome.DRAW)
            tables = LoopTables(loop, side, value)
            contest = StreakGraph(tables, tables.probe(start), Offences(WXF), aim)  # type: ignore[arg-type]
            ranked[aim] = any(rank is not None for _, rank in contest.ranked([start]))
        own, rival = judgement.levels[side], judgement.levels[side.other]
        first, last = judgement.span or (0, 0)
        plies = [ply for ply in judgement.plies[first:last] if ply.side == side]
        expected = {
            Aim.IDLE: any(ply.label == Label.IDLE for ply in plies),
            Aim.BREAK: own == 0,
            Aim.OUTLAST: own == 0 or own <= rival,
            Aim.WIN: own < rival,
        }
        assert ranked == expected, name


MUTUAL = "9/4c4/3k5/3r5/9/9/4C4/9/4K4/3R5 w"
MUTUAL_MOVES = "e3d3 d6e6 d3e3 e6d6"


@pytest.mark.parametrize("limit", [safety.MAX_NODES, 1])
def test_mutual_checks_continue(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    """`choose` holds a draw by repeating checks while the other side checks, too.

    Tested with the default limit of nodes and with a limit of 1.
    """
    monkeypatch.setattr(safety, "MAX_NODES", limit)
    loop = played(MUTUAL, MUTUAL_MOVES)[:-1]
    tables = LoopTables(loop, Side.RED, Value(Outcome.DRAW))
    positions = loop[:1]
    for move in MUTUAL_MOVES.split() * 3:
        root, moves = tables.probe_with_moves(positions[-1])
        chosen = choose(tables, positions[-1], root, moves, positions[:-1])  # type: ignore[arg-type]
        assert chosen is not None
        assert chosen.move.iccs == move
        positions.append(chosen.after)
        verdict = judge_repetition(positions, WXF)
        assert verdict is None or verdict.verdict == Verdict.DRAW


@pytest.mark.parametrize("limit", [safety.MAX_NODES, 1])
def test_a_check_is_given_up_for_an_idle_move(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    """Black does not lose by repetition if a loop with an idle move is available.

    Two loops have only checks of Black. In a third one Black plays the idle f3d3, and the
    king steps aside. Tested with the default limit of nodes and with a limit of 1.
    """
    monkeypatch.setattr(safety, "MAX_NODES", limit)
    loop = played(CHECKING, "e0f0 e3f3 f0e0 f3e3 e0d0 e3d3 d0e0 d3e3")[:-1]
    aside = played(CHECKING, "e0f0 e3f3 f0e0 f3d3 e0f0 d3f3")
    tables = LoopTables([*loop, *aside], Side.BLACK, Value(Outcome.DRAW))
    rng = random.Random(1)
    positions = loop[:1]
    for _ in range(80):
        root, moves = tables.probe_with_moves(positions[-1])
        if positions[-1].side == Side.BLACK:
            move = choose(tables, positions[-1], root, moves, positions[:-1])  # type: ignore[arg-type]
            assert move is not None
        else:
            move = rng.choice([move for move in moves if move.outcome == Outcome.DRAW])
        positions.append(move.after)
        assert not is_lost_by(judge_repetition(positions, WXF), Side.BLACK)


def test_a_check_that_the_history_forbids_is_not_repeated() -> None:
    """best_move leaves a loop of own checks, although the tables value the check as a draw."""
    positions = played(CHECKING, "e0f0 e3f3 f0e0 f3e3 e0f0")
    others = played(CHECKING, "e0f0 e3d3 f0e0")
    tables = LoopTables([*positions, *others], Side.BLACK, Value(Outcome.DRAW))
    root, moves = tables.probe_with_moves(positions[-1])
    chosen = choose(tables, positions[-1], root, moves, positions[:-1])  # type: ignore[arg-type]
    assert chosen is not None
    assert chosen.move.iccs == "e3d3"
