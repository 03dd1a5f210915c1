"""Reasons for the value of a position or a move, as sentences that name their units.

    value, mechanism  ->  key of a sentence, and its fields  ->  `Words`: the sentence

    Red mates in 9 plies (5 moves)                        order 0, distance to mate
    Red mates or converts in 3 plies (2 moves)            order 0, distance to conversion
    Black's longest defence is a perpetual check, which loses (order 9)
    draw

The number of moves, in brackets, counts those of the winner alone. `Words` is English, its
subclasses are other languages (`tbgen.board.language.words`). reasons.csv has the English and
Chinese sentences.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from tbgen.answers.mechanism import Mechanism, Offence, mechanism_of
from tbgen.indexing import Position, Side
from tbgen.indexing.squares import square_name
from tbgen.play.mainline import Ending, Mainline
from tbgen.play.preference import RootMove, is_direct_win
from tbgen.rules import in_check
from tbgen.system.units import counted
from tbgen.tables import Metric, Outcome, ProbeResult, Rules, Value
from tbgen.tables.codes import DRAW


def read_sentences(column: int) -> dict[str, str]:
    """Return the sentences of reasons.csv by key; `column` 1 is English, 2 Chinese."""
    path = Path(__file__).with_name("reasons.csv")
    with path.open(encoding="utf-8", newline="") as file:
        return {row[0]: row[column] for row in csv.reader(file)}


class Words:
    """Sentences and phrases in English; a subclass overrides them for another language."""

    sentences: ClassVar[Mapping[str, str]] = read_sentences(1)
    """Sentences by reason key, with fields in braces.

    `sentence` fills the fields: {side} with the subject's name, {other} with its opponent's,
    {plies} and {distance} with numbers and units, {mates} and {mated} with phrases that depend on
    the metric, {offence} with a phrase, {order}, {material} and {verdict} as they are.
    """

    def sentence(
        self,
        key: str,
        side: Side = Side.RED,
        value: Value = DRAW,
        metric: Metric | None = None,
        rules: Rules | None = None,
        offence: Offence | None = None,
        mechanism: Mechanism | None = None,
        *,
        material: str | None = None,
        verdict: str = "",
    ) -> str:
        """Return the sentence that explains a value, with its fields filled in.

        key : row of reasons.csv
        side : subject of the sentence, usually the winner
        value, metric, rules : the explained value, metric and rules of the table that has it
        offence : kind of the offence, used if `mechanism` is None; None if unknown
        mechanism : offence by which the repetition rules decide, with its pieces; None if unknown
        material : material after a capture, or the materials whose tables are missing
        verdict : the referee's sentence

        A known chase is shown with victim and chasers. An offence of unknown kind is `perpetual
        check or chase` under rules that judge chases, else `perpetual check`.
        """
        if mechanism is not None:
            offence = mechanism.offence
        elif offence is None and not (rules is not None and rules.judges_chases):
            offence = Offence.CHECK
        if mechanism is not None and mechanism.victim is not None:
            phrase = self.chase(mechanism)
        else:
            phrase = self.sentences[offence or "check_or_chase"]
        conversion = metric == Metric.DTC
        return self.sentences[key].format(
            side=self.side(side),
            other=self.side(side.other),
            order=value.order,
            plies=self.plies(value.plies),
            distance=self.distance(value.plies),
            mates=self.sentences["mates_or_converts" if conversion else "mates"],
            mated=self.sentences["mated_or_converted" if conversion else "mated"],
            offence=phrase,
            material=material,
            verdict=verdict,
        )

    def side(self, side: Side) -> str:
        """Return the name of a side, such as `Red`."""
        return side.name.title()

    def plies(self, plies: int) -> str:
        """Return a number with its unit, such as `9 plies`."""
        return counted(plies, "ply", "plies")

    def distance(self, plies: int) -> str:
        """Return a distance, such as `9 plies (5 moves)`: the moves are those of the winner."""
        return f"{self.plies(plies)} ({counted((plies + 1) // 2, 'move')})"

    def chase(self, mechanism: Mechanism) -> str:
        """Return a phrase on a chase: `perpetual chase of the rook on e4 by the cannon`."""
        victim = mechanism.victim
        assert victim is not None
        kinds = [piece.kind.name.lower() for piece in mechanism.by]
        chasers = " and ".join(
            f"the {kind}{'s' if kinds.count(kind) > 1 else ''}" for kind in dict.fromkeys(kinds)
        )
        where = f"the {victim.kind.name.lower()} on {square_name(victim.square)}"
        return f"perpetual chase of {where} by {chasers}"


ENGLISH = Words()
"""Default language of the functions below."""


def explain_position(
    position: Position,
    result: ProbeResult,
    mechanism: Mechanism | None = None,
    words: Words = ENGLISH,
) -> str:
    """Return the sentence that explains the value `result` of a position.

    If the repetition rules decide, the sentence states the offence; with `mechanism` also the
    pieces of a chase. Without `mechanism` the offence is `perpetual check or chase`, except in
    direct wins and under rules that judge no chases, where its kind is known.
    """
    value, side = result.exact, position.side
    metric, rules = result.metric, result.rules
    if value.outcome == Outcome.DRAW:
        return words.sentence("draw" if result.material.needs_table else "no_attackers")
    if value.outcome == Outcome.WIN:
        key, offence = "forces" if value.order else "wins", None
        if is_direct_win(result):
            # In a direct win by check the winner is in check, in one by chase never.
            key = "has_forced"
            offence = Offence.CHECK if in_check(position) else Offence.CHASE
        return words.sentence(key, side, value, metric, rules, offence, mechanism)
    if value.order:
        return words.sentence("offends", side, value, metric, rules, mechanism=mechanism)
    if value.plies == 0:
        return words.sentence("is_mated" if in_check(position) else "is_stalemated", side)
    return words.sentence("loses", side.other, value, metric)


def explain_move(
    root: ProbeResult | None,
    move: RootMove,
    mechanism: Mechanism | None = None,
    words: Words = ENGLISH,
) -> str:
    """Return the sentence that explains the result of a move, for the side that makes it.

    root : value of the position before the move; if it is None (no table), the sentence explains
        the value of the position after the move
    mechanism : offence that decides the position before the move; the sentence names its pieces
        only if `move` is `mechanism.move`
    """
    worth, after = move.worth, move.result
    if worth is None or after is None:
        return words.sentence("move_unknown", material=move.missing)
    if root is None:
        return explain_position(move.after, after, words=words)
    if worth.outcome == Outcome.DRAW:
        is_last = move.capture and not after.material.needs_table
        return words.sentence("leaves_no_attackers" if is_last else "draw")
    if move.ends_game:
        return words.sentence("move_mates" if move.check else "move_stalemates")
    won = worth.outcome == Outcome.WIN
    if move.converts:
        key = "move_wins_by_capture" if won else "move_loses_by_capture"
        return words.sentence(key, material=after.material.name)
    # A capture leads to another table: if either counts to conversion, so does this distance.
    metric = Metric.DTC if Metric.DTC in (root.metric, after.metric) else Metric.DTM
    keeps = won and is_direct_win(root) and worth.order == root.order and not move.capture
    offence = None
    if keeps and mechanism is not None:
        offence = mechanism.offence
    elif is_direct_win(after):
        offence = Offence.CHECK if move.check else Offence.CHASE
    if keeps:
        key = "move_keeps"
    elif worth.order:
        key = "move_forces" if won else "move_offends"
    else:
        key = "move_wins" if won else "move_loses"
    shown = mechanism if mechanism is not None and mechanism.move == move.move else None
    mover = move.after.side.other
    return words.sentence(key, mover, worth, metric, root.rules, offence, shown)


def explain_line(line: Mainline, words: Words = ENGLISH) -> str:
    """Return the sentence that explains the end of a line, such as a mate or a missing table."""
    winner, verdict = line.winner, line.verdict
    if line.is_over:
        return words.sentence(f"line_{line.ending}", line.final.side.other)
    if line.ending != Ending.LOOP:
        return words.sentence(f"line_{line.ending}", material=line.missing)
    if verdict is None:
        return words.sentence("line_repeats")
    if winner is None:
        return words.sentence("line_drawn_loop", verdict=verdict.reason)
    return words.sentence("line_loop", winner, mechanism=mechanism_of(line), verdict=verdict.reason)
