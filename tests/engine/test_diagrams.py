"""Diagrams of the WXF manual with one best line: the search finds it, and wins the game.

The rules of repetition decide each diagram. The losing side offends if it continues the loop; else
it loses by force or by another offence. Under `Rules.NONE` as many nodes decide nothing.
"""

from __future__ import annotations

import json

import pytest

from tbgen.engine.search import scores
from tbgen.engine.search.searcher import Line, Searcher
from tbgen.indexing import Move, Position, Side
from tbgen.referee import Rules, Verdict, judge
from tbgen.rules import is_terminal
from tbgen.tables.rule_sets import RuleSet
from tests.helpers.paths import DATA
from tests.helpers.strategies import played

WINNING_SIDES = {
    "D2": Side.BLACK,
    "D3": Side.BLACK,
    "D5": Side.BLACK,
    "D34": Side.BLACK,
    "D35": Side.BLACK,
    "D93": Side.BLACK,
}
"""Winner of each diagram tested; D34 is figure 4 of Tan & Watkinson Medina."""
NODES = 100_000
MOST_PLIES = 60


def start_of(diagram: str) -> Position:
    everything = json.loads((DATA / "repetition_cases.json").read_text(encoding="utf-8"))
    return Position.from_fen(next(c["fen"] for c in everything if c["diagram"] == diagram))


def best_line(searcher: Searcher, start: Position, moves: list[Move], rules: Rules) -> Line:
    """Search after `moves` from `start`, and return the best line found within `NODES` nodes.

    The search ends early if the line's score is decided: a mate, or a verdict on a repetition.
    """
    searcher.clear_stop()
    for found in searcher.think(played(start, moves), moves, nodes=NODES, rule_set=RuleSet(rules)):
        line = found.lines[0]
        if scores.is_decided(line.score):
            break
    return line


@pytest.mark.parametrize("diagram", WINNING_SIDES)
def test_the_result_is_announced_only_under_the_rules(searcher: Searcher, diagram: str) -> None:
    start = start_of(diagram)
    sign = 1 if WINNING_SIDES[diagram] == start.side else -1
    searcher.clear()
    assert sign * best_line(searcher, start, [], Rules.WXF).score > scores.MAX_EVALUATION
    searcher.clear()
    assert not scores.is_decided(best_line(searcher, start, [], Rules.NONE).score)


@pytest.mark.parametrize("diagram", WINNING_SIDES)
def test_the_game_is_won(searcher: Searcher, diagram: str) -> None:
    """The stated side wins each diagram when the search plays both sides.

    The game ends by mate or by the referee's verdict.
    """
    start, moves = start_of(diagram), []
    position = start
    searcher.clear()
    while len(moves) < MOST_PLIES and not is_terminal(position):
        moves.append(best_line(searcher, start, moves, Rules.WXF).moves[0])
        position = position.after(*moves[-1])
        verdict = judge(start, moves, occurrences=3).verdict
        if verdict != Verdict.UNDECIDED:
            assert verdict == Verdict.won_by(WINNING_SIDES[diagram])
            return
    assert is_terminal(position)
    assert position.side != WINNING_SIDES[diagram]
