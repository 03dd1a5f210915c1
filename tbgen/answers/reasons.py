"""Reasons for the value of a position or a move, in words; units are always said.

    value, mechanism  ->  Reason: which sentence, of whom  ->  Words: how a language says it

    Red mates in 9 plies (5 moves)                        order 0, distance to mate
    Red mates or converts in 3 plies (2 moves)            order 0, distance to conversion
    Black's longest defence is a perpetual check, which loses (order 9)
    draw

One ply is a move of one side; one move, in brackets, is a move of the winner. Another language is
another `Words` (`tbgen.board.language.words`); reasons.csv has the sentences of both.
"""

from __future__ import annotations

import csv
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from tbgen.answers.mechanism import Mechanism, Offence, mechanism_of
from tbgen.indexing import Position, Side
from tbgen.indexing.squares import square_name
from tbgen.play.mainline import Ending, Mainline
from tbgen.play.preference import RootMove, is_direct_win
from tbgen.rules import in_check
from tbgen.tables import Metric, Outcome, ProbeResult, Rules, Value
from tbgen.tables.codes import DRAW


@dataclass(frozen=True, slots=True)
class Reason:
    """Reason as a sentence's key and the values that fill it.

    `side` is the winner, or whom else the sentence is about. `offence` and `mechanism` are what
    is known of a decision by the rules; `material` is one that a move leads to, or that is
    missing; `verdict` is the referee's sentence.
    """

    key: str
    side: Side = Side.RED
    value: Value = DRAW
    metric: Metric | None = None
    rules: Rules | None = None
    offence: Offence | None = None
    mechanism: Mechanism | None = None
    material: str | None = None
    verdict: str = ""


def read_sentences(column: int) -> dict[str, str]:
    """The sentences of reasons.csv by the key of the reason: 1 for English, 2 for Chinese."""
    path = Path(__file__).with_name("reasons.csv")
    with path.open(encoding="utf-8", newline="") as file:
        return {row[0]: row[column] for row in csv.reader(file)}


class Words(ABC):
    """Sentences of one language for reasons, and the phrases in them."""

    sentences: ClassVar[Mapping[str, str]]
    """By the key of the reason. {side} and {other} are sides, {plies} and {distance} say how
    far, {order} is a number, {mates} and {mated} depend on the metric, {offence} is a phrase."""

    def say(self, reason: Reason) -> str:
        """The sentence."""
        value, conversion = reason.value, reason.metric == Metric.DTC
        return self.sentences[reason.key].format(
            side=self.side(reason.side),
            other=self.side(reason.side.other),
            order=value.order,
            plies=self.plies(value.plies),
            distance=self.distance(value.plies),
            mates=self.sentences["mates_or_converts" if conversion else "mates"],
            mated=self.sentences["mated_or_converted" if conversion else "mated"],
            offence=self.offence(reason),
            material=reason.material,
            verdict=reason.verdict,
        )

    def offence(self, reason: Reason) -> str:
        """`perpetual check`, as exactly as it is known."""
        found = reason.mechanism
        if found is not None and found.victim is not None:
            return self.chase(found)
        kind = found.offence if found is not None else reason.offence
        if kind is None and not (reason.rules is not None and reason.rules.judges_chases):
            kind = Offence.CHECK
        return self.sentences["check_or_chase" if kind is None else kind]

    @abstractmethod
    def side(self, side: Side) -> str:
        """The name of a side."""

    @abstractmethod
    def plies(self, plies: int) -> str:
        """`9 plies`."""

    @abstractmethod
    def distance(self, plies: int) -> str:
        """`9 plies (5 moves)`, the winner's moves in brackets."""

    @abstractmethod
    def chase(self, mechanism: Mechanism) -> str:
        """The chase of a victim by its chasers."""


class English(Words):
    """The words of the command line."""

    sentences: ClassVar[Mapping[str, str]] = read_sentences(1)

    def side(self, side: Side) -> str:
        """`Red`."""
        return side.name.title()

    def plies(self, plies: int) -> str:
        """`9 plies`."""
        return _count(plies, "ply", "plies")

    def distance(self, plies: int) -> str:
        """`9 plies (5 moves)`."""
        return f"{self.plies(plies)} ({_count((plies + 1) // 2, 'move', 'moves')})"

    def chase(self, mechanism: Mechanism) -> str:
        """`perpetual chase of the rook on e4 by the cannon`."""
        victim = mechanism.victim
        assert victim is not None
        kinds = [piece.kind.name.lower() for piece in mechanism.by]
        chasers = " and ".join(
            f"the {kind}{'s' if kinds.count(kind) > 1 else ''}" for kind in dict.fromkeys(kinds)
        )
        where = f"the {victim.kind.name.lower()} on {square_name(victim.square)}"
        return f"perpetual chase of {where} by {chasers}"


ENGLISH = English()


def explain_position(
    position: Position,
    result: ProbeResult,
    mechanism: Mechanism | None = None,
    words: Words = ENGLISH,
) -> str:
    """Return the reason that a position has its value."""
    value, side = result.exact, position.side
    metric, rules = result.metric, result.rules
    if value.outcome == Outcome.DRAW:
        return words.say(Reason("draw" if result.material.needs_table else "barren"))
    if value.outcome == Outcome.WIN:
        if is_direct_win(result):
            offence = _offence_of_direct_win(in_check(position))
            return words.say(Reason("has_forced", side, value, metric, rules, offence, mechanism))
        key = "forces" if value.order else "wins"
        return words.say(Reason(key, side, value, metric, rules, mechanism=mechanism))
    if value.order:
        return words.say(Reason("offends", side, value, metric, rules, mechanism=mechanism))
    if value.plies == 0:
        return words.say(Reason("is_mated" if in_check(position) else "is_stalemated", side))
    return words.say(Reason("loses", side.other, value, metric))


def explain_move(
    root: ProbeResult | None,
    move: RootMove,
    mechanism: Mechanism | None = None,
    words: Words = ENGLISH,
) -> str:
    """Return the result of a move for its side, in the position with the value `root`.

    Without `root` (its table is missing), the value that the move leads to.
    `mechanism` is that of the position; the move that begins the play which shows it is
    explained by it.
    """
    worth, after = move.worth, move.result
    if worth is None or after is None:
        return words.say(Reason("move_unknown", material=move.missing))
    if root is None:
        return explain_position(move.after, after, words=words)
    if worth.outcome == Outcome.DRAW:
        barren = move.capture and not after.material.needs_table
        return words.say(Reason("leaves_barren" if barren else "draw"))
    if move.ends_game:
        return words.say(Reason("move_mates" if move.check else "move_stalemates"))
    won = worth.outcome == Outcome.WIN
    if move.converts:
        key = "move_wins_by_capture" if won else "move_loses_by_capture"
        return words.say(Reason(key, material=after.material.name))
    # A distance may have been taken over from a supporting table.
    metric = Metric.DTC if Metric.DTC in (root.metric, after.metric) else Metric.DTM
    keeps = won and is_direct_win(root) and worth.order == root.order and not move.capture
    offence = None
    if keeps and mechanism is not None:
        offence = mechanism.offence
    elif is_direct_win(after):
        offence = _offence_of_direct_win(move.check)
    if keeps:
        key = "move_keeps"
    elif worth.order:
        key = "move_forces" if won else "move_offends"
    else:
        key = "move_wins" if won else "move_loses"
    shows = mechanism is not None and mechanism.move == move.move
    return words.say(
        Reason(
            key,
            move.after.side.other,
            worth,
            metric=metric,
            rules=root.rules,
            offence=offence,
            mechanism=mechanism if shows else None,
        )
    )


def explain_line(line: Mainline, words: Words = ENGLISH) -> str:
    """Return the reason that a line ends."""
    winner, verdict = line.winner, line.verdict
    if line.ending in (Ending.MATE, Ending.STALEMATE):
        return words.say(Reason(f"line_{line.ending}", line.final.side.other))
    if line.ending != Ending.LOOP:
        return words.say(Reason(f"line_{line.ending}", material=line.missing))
    if verdict is None:
        return words.say(Reason("line_repeats"))
    if winner is None:
        return words.say(Reason("line_drawn_loop", verdict=verdict.reason))
    return words.say(
        Reason("line_loop", winner, mechanism=mechanism_of(line), verdict=verdict.reason)
    )


def _offence_of_direct_win(checked: bool) -> Offence:
    """Return the offence that the opponent of a side that has won directly commits for ever.

    A winner in check is in a pattern of checks, and the winner in a pattern of chases is not.
    """
    return Offence.CHECK if checked else Offence.CHASE


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
