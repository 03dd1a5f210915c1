"""Results of the search, compared with the tables and the referee."""

from __future__ import annotations

import json
import random
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tbgen.engine.search import scores
from tbgen.engine.search.scores import Iteration
from tbgen.engine.search.searcher import Searcher
from tbgen.indexing import START_FEN, Move, Position, PositionError
from tbgen.play.tablebase import GameTablebase, open_tablebase
from tbgen.probing import NumbaTables
from tbgen.probing.columns import TableColumns, all_columns
from tbgen.referee import Rules, Verdict, judge
from tbgen.rules import is_terminal, legal_moves
from tbgen.tables import Outcome
from tbgen.tables.rule_sets import RuleSet
from tests.helpers.paths import DATA
from tests.helpers.strategies import played, random_position

CHECK = RuleSet(Rules.CHECK)
MATE_IN_ONE = "3k5/9/9/9/9/9/4R4/9/9/4K4 w"
MATE_IN_TWO = "4k4/9/9/9/9/9/9/9/R8/R3K4 w"
PERPETUAL_CHECK = "9/9/4k4/9/9/9/9/3n5/9/R2K5 b"
"""FEN of the README: Black can only give perpetual check, and loses by that."""


def think(searcher: Searcher, position: Position, **limits) -> Iteration:
    """Search a position without a history up to `limits`, and return the last iteration."""
    *_, last = searcher.think([position], [], **limits)
    return last


@pytest.fixture(scope="module")
def krkn(tables_dir: Path) -> GameTablebase:
    return open_tablebase(tables_dir, rules="check")


@cache
def rows_of_krkn(tables: GameTablebase) -> TableColumns:
    """Return all legal positions of KRKN with their values, as columns; read once per tablebase."""
    file = next(
        tables.table(name.material) for name in tables.available() if str(name.material) == "KRKN"
    )
    return TableColumns.concatenate(all_columns(file))


def short_wins(tables: GameTablebase, by_rules: bool, count: int) -> list[Position]:
    """Return up to `count` positions of KRKN that the side to move wins in at most 8 plies.

    by_rules : choose wins by the rules of repetition; else wins by mate
    """
    rows = rows_of_krkn(tables)
    wins = (rows["outcome"] == 1) & (rows["plies"] <= 8) & ((rows["order"] > 0) == by_rules)
    rows = rows.take(np.random.default_rng(8).permutation(np.flatnonzero(wins))[:count])
    return list(rows.positions())


@pytest.mark.parametrize(("fen", "plies"), [(MATE_IN_ONE, 1), (MATE_IN_TWO, 3)])
def test_mates_are_found(searcher, fen, plies):
    found = think(searcher, Position.from_fen(fen), depth=plies + 1)
    assert scores.mate_plies(found.lines[0].score) == plies
    position = Position.from_fen(fen)
    for move in found.lines[0].moves:
        position = position.after(*move)
    assert is_terminal(position)


def test_no_legal_move_gives_no_line(searcher):
    assert list(searcher.think([Position.from_fen("3Rk4/9/4P4/9/9/9/9/9/9/3K5 b")], [])) == []


def test_a_search_can_be_stopped_before_it_begins(searcher):
    searcher.stop()
    assert list(searcher.think([Position.from_fen(START_FEN)], [])) == []
    searcher.clear_stop()
    found = searcher.think([Position.from_fen(START_FEN)], [], depth=3)
    assert [iteration.depth for iteration in found] == [1, 2, 3]


@pytest.mark.parametrize(
    ("fen", "plies"),
    [("4k4/2r2R3/9/9/9/1R7/9/9/9/5K3 w", 0), ("3r5/9/3k5/5r3/N8/9/9/4K4/9/9 w", 4)],
)
def test_a_stopped_search_claims_no_loss(searcher, fen, plies):
    """Only after all moves have been searched, a position is claimed to be lost.

    plies : length of the shortest loss that may be claimed; 0 for a won position
    """
    for nodes in range(1, 100):
        searcher.clear()
        searcher.clear_stop()
        for found in searcher.think([Position.from_fen(fen)], [], nodes=nodes):
            score = found.lines[0].score
            if score < -scores.MAX_EVALUATION:
                assert plies
                assert -scores.mate_plies(score) >= plies


def test_several_lines_begin_with_different_moves(searcher):
    found = think(searcher, Position.from_fen(START_FEN), depth=4, lines=5)
    assert len({line.moves[0] for line in found.lines}) == 5
    assert [line.score for line in found.lines] == sorted(
        (line.score for line in found.lines), reverse=True
    )
    for line in found.lines:
        position = Position.from_fen(START_FEN)
        for move in line.moves:
            assert move in legal_moves(position)
            position = position.after(*move)


def test_only_allowed_moves_are_searched(searcher):
    only = [Move.from_iccs("a0a1")]
    assert (
        think(searcher, Position.from_fen(START_FEN), depth=3, only=only).lines[0].moves[0] in only
    )


def test_claims_agree_with_the_tables(searcher, krkn):
    """If the search scores a position as won or lost, by mate or verdict, the table agrees."""
    rng = random.Random(4)
    claimed = 0
    for _ in range(150):
        position = random_position(rng, ("KRKN",))
        if not legal_moves(position):
            continue
        found = think(searcher, position, depth=5, rule_set=CHECK)
        score = found.lines[0].score
        if scores.is_decided(score):
            claimed += 1
            assert (score > 0) - (score < 0) == krkn.probe(position).outcome, position.fen
    assert claimed > 30


@pytest.mark.parametrize("by_rules", [False, True], ids=["by mate", "by the rules"])
def test_short_wins_are_kept(searcher, krkn, by_rules):
    """Without tables, the search keeps at least 58 of 60 wins that take at most 8 plies.

    A win is kept if the position after the chosen move is lost for the opponent.
    """
    positions = short_wins(krkn, by_rules, 60)
    kept = 0
    for position in positions:
        found = think(searcher, position, nodes=30_000, rule_set=CHECK)
        kept += krkn.probe(position.after(*found.lines[0].moves[0])).outcome == Outcome.LOSS
        searcher.clear_stop()
    assert kept >= 58


def test_perpetual_check_scores_as_a_loss(searcher):
    """Black, who can only give perpetual check, loses under WXF rules, and not without rules."""
    position = Position.from_fen(PERPETUAL_CHECK)
    under = {}
    for rules in (Rules.WXF, Rules.NONE):
        searcher.clear()
        searcher.clear_stop()
        limits = {"depth": 12, "nodes": 200_000, "rule_set": RuleSet(rules)}
        under[rules] = think(searcher, position, **limits).lines[0].score
    assert under[Rules.WXF] < -100
    assert under[Rules.NONE] > -100


def test_tables_inside_the_search(searcher, krkn):
    """With tables of one man fewer, the search takes the values after captures from them."""
    searcher.use_tables(NumbaTables(krkn, ["KRK", "KNK"]))
    position = Position.from_fen("9/9/3k5/9/9/4n4/9/4R4/9/4K4 w")
    found = [*searcher.think([position], [], depth=4, rule_set=CHECK)][-1]
    assert found.table_hits > 0
    assert found.lines[0].score > scores.RULE_WIN
    assert krkn.probe(position).outcome == Outcome.WIN


def test_the_hash_table_changes_no_decision(searcher, krkn):
    forgetful = Searcher(hash_mebibytes=0)
    for position in short_wins(krkn, False, 25):
        searcher.clear()
        with_hash, without = (
            think(each, position, depth=5, rule_set=CHECK).lines[0].score
            for each in (searcher, forgetful)
        )
        if scores.is_decided(with_hash) and scores.is_decided(without):
            assert (with_hash > 0) == (without > 0)


def test_threads_change_no_decision(krkn):
    alone, together = Searcher(hash_mebibytes=1), Searcher(hash_mebibytes=1)
    together.use_threads(3)
    for position in short_wins(krkn, False, 10) + short_wins(krkn, True, 10):
        found = [think(each, position, depth=6, rule_set=CHECK) for each in (alone, together)]
        for score in (each.lines[0].score for each in found):
            if scores.is_decided(score):
                assert (score > 0) == (krkn.probe(position).outcome == Outcome.WIN)
    together.use_threads(1)
    found = together.think([Position.from_fen(MATE_IN_ONE)], [], depth=3)
    assert [iteration.depth for iteration in found] == [1, 2, 3]


def test_a_stop_reaches_all_threads():
    """It does not wait for the first thread, which may have no core to run on."""
    searcher = Searcher(hash_mebibytes=1)
    searcher.use_threads(3)
    searcher.stop()
    assert searcher._states["stop"].all()
    assert list(searcher.think([Position.from_fen(START_FEN)], [])) == []


def test_a_thread_that_cannot_start_leaves_none_running(monkeypatch):
    searcher = Searcher(hash_mebibytes=1)
    searcher.use_threads(3)
    submit, tasks = searcher._others.submit, []

    def refuse_second(*work):
        if tasks:
            raise RuntimeError("can't start new thread")
        tasks.append(submit(*work))
        return tasks[0]

    monkeypatch.setattr(searcher._others, "submit", refuse_second)
    with pytest.raises(RuntimeError):
        think(searcher, Position.from_fen(START_FEN), depth=9)
    assert tasks[0].done()


def cases() -> list[dict[str, str]]:
    """Return every fourth of the referee's test cases with a verdict for one side."""
    everything = json.loads((DATA / "repetition_cases.json").read_text(encoding="utf-8"))
    return [case for case in everything if case["verdict"] != "draw"][::4]


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["id"])
def test_no_losing_repetition_is_chosen(searcher, case):
    """At the end of a loop the search does not choose the move that loses by repetition.

    It searches before each of the last two moves of the loop, one by either side. It may choose a
    losing move only if its score says that every move loses.
    """
    try:
        start = Position.from_fen(case["fen"])
    except PositionError:
        pytest.skip("a diagram that no game can reach")
    moves = [Move.from_iccs(text) for text in case["moves"].split()]
    for made in (moves[:-1], moves[:-2]):
        game = played(start, made)
        for found in searcher.think(game, made, depth=7, nodes=60_000):
            chosen = found.lines[0]
        searcher.clear_stop()
        verdict = judge(start, [*made, chosen.moves[0]]).verdict
        if verdict == Verdict.won_by(game[-1].side.other):
            assert chosen.score < -scores.MAX_EVALUATION
