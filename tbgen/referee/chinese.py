"""Verdicts under the Chinese rules (CXA 2020), where they are certain.

Parts of these rules need a human judge (docs/referee.md, section 7). A ply has one of these labels:

    check   the ply gives check
    kill    the ply threatens mate by a run of checks (certain); before the ply, no such mate is
            found, and the side was not in check
    chase   the ply chases by the points of docs/referee.md (`game.chase_rules`), and no threat of
            mate is found
    idle    the side certainly could not mate or gain by checks and captures if it moved again
    open    any other ply

A side loses in two cases: all its plies in the loop are checks or kills, and a ply of the opponent
is idle; or all its plies are checks, and not all of the opponent's are. Other loops are undecided.
These rules have no tables (docs/exact.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tbgen.indexing.squares import Side
from tbgen.referee import record
from tbgen.referee.game import Game
from tbgen.referee.kills import can_gain, can_mate
from tbgen.referee.verdict import Judgement, Label, Ply, Verdict, judge_unrepeated, label_ply


def judge_chinese(game: Game, *, occurrences: int = 2) -> Judgement:
    """Judge the last position of a game under the Chinese rules.

    The loop is judged if the position has occurred `occurrences` times. Before that, the verdict is
    `UNDECIDED` except for mate and stalemate. A side's level is 2 if all its plies in the loop are
    checks, 1 if all are checks or kills, else 0; the levels alone do not decide.
    """
    end = game.plies
    start = record.find_span(game.boards, game.log, end, occurrences)
    plies = tuple(_label(game, ply, start) for ply in range(end))
    if start == record.NO_SPAN:
        return judge_unrepeated(game, plies, occurrences)
    conducts = _conducts(plies[start:])
    levels = _level(conducts[Side.RED]), _level(conducts[Side.BLACK])
    clauses = ", ".join(f"{side.name.title()} {_clause(conducts[side])}" for side in Side)
    verdict = _verdict(conducts)
    if verdict == Verdict.UNDECIDED:
        reason = f"{clauses}: the Chinese rules leave this to a judge, who weighs exchanges"
    else:
        loser = Side.RED if verdict == Verdict.BLACK_WINS else Side.BLACK
        reason = f"{clauses}: under the Chinese rules {loser.name.title()} must vary"
    return Judgement(game.first, verdict, levels, plies, (start, end), reason)


def chinese_verdict(game: Game, *, occurrences: int = 2) -> Verdict:
    """Return the verdict of `judge_chinese`, but `UNDECIDED` for mate and stalemate; faster."""
    start = record.find_span(game.boards, game.log, game.plies, occurrences)
    if start == record.NO_SPAN:
        return Verdict.UNDECIDED
    return _verdict(_conducts([_label(game, ply, start) for ply in range(start, game.plies)]))


def _label(game: Game, ply: int, start: int) -> Ply:
    """Return a ply with its Chinese label; `start` is the loop's first position, or `NO_SPAN`."""
    found = label_ply(game, ply, game.chases(ply, start))
    if found.label == Label.CHECK:
        return found
    side = game.side(ply)
    if can_mate(game.boards[ply + 1], side):
        # If the side was in check, the opponent's move may have created the threat.
        new = not game.log[ply][record.CHECKED] and not can_mate(game.boards[ply], side)
        return replace(found, label=Label.KILL if new else Label.OPEN)
    if found.label == Label.CHASE:
        return found
    idle = can_gain(game.boards[ply + 1], side) is False
    return replace(found, label=Label.IDLE if idle else Label.OPEN)


def _conducts(loop: Sequence[Ply]) -> list[list[Label]]:
    """Return Red's and Black's labels in the plies of a loop."""
    return [[ply.label for ply in loop if ply.side == side] for side in Side]


def _verdict(conducts: list[list[Label]]) -> Verdict:
    """Return the verdict on a loop with the given labels: the side that must vary loses."""
    for side in Side:
        if _must_vary(conducts[side], conducts[side.other]):
            return Verdict.won_by(side.other)
    return Verdict.UNDECIDED


def _level(labels: list[Label]) -> int:
    """Return the level of a side whose plies have the given labels (`judge_chinese`)."""
    if all(label == Label.CHECK for label in labels):
        return 2
    return int(all(label in (Label.CHECK, Label.KILL) for label in labels))


def _must_vary(own: list[Label], other: list[Label]) -> bool:
    """Return whether a side loses, given its own and its opponent's labels in the loop."""
    if _level(own) == 2:
        return _level(other) < 2
    return _level(own) == 1 and Label.IDLE in other


def _clause(labels: list[Label]) -> str:
    """Return a clause on the labels of a side's plies in a loop, such as `checks on every move`."""
    if _level(labels):
        done = {Label.CHECK: "checks", Label.KILL: "threatens mate"}
        return f"{' or '.join(done[label] for label in done if label in labels)} on every move"
    if Label.IDLE in labels:
        return "has an idle move"
    return "has moves that neither check nor surely threaten mate"
