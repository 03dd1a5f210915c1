"""Answers about positions as JSON objects, for the command line and the board.

The outcome of a move is for the side that makes it; value, order and plies of a move are those of
the position after it, None if unknown. Parameters of several functions:

    notation    notation of moves, one of `MOVE_NOTATIONS`; others raise `InputError`
    mechanism   offence by which the repetition rules decide a position; None if they do not decide
                it, or if the offence is unknown
    words       sentences of a language
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tbgen.answers.mechanism import Mechanism, mechanism_of
from tbgen.answers.reasons import ENGLISH, Words, explain_line, explain_move, explain_position
from tbgen.indexing import Position
from tbgen.notation import format_move
from tbgen.play.mainline import Mainline
from tbgen.play.preference import RootMove
from tbgen.rules import in_check
from tbgen.tables import Outcome, ProbeResult


def outcome_name(outcome: Outcome | None) -> str:
    """Return `win`, `draw` or `loss`; `unknown` for None."""
    return "unknown" if outcome is None else outcome.name.lower()


def position_answer(
    position: Position,
    result: ProbeResult,
    mechanism: Mechanism | None = None,
    words: Words = ENGLISH,
) -> dict[str, Any]:
    """Return the JSON object for a position whose value is `result`, without moves."""
    return {
        "fen": position.fen,
        "material": position.material.name,
        "rules": None if result.rules is None else str(result.rules),
        "minor_chases": result.rule_set.choice,
        "metric": None if result.metric is None else str(result.metric),
        "side": position.side.name.lower(),
        "outcome": outcome_name(result.outcome),
        "value": result.value,
        "order": result.order,
        "plies": result.plies,
        "in_check": in_check(position),
        "reason": explain_position(position, result, mechanism, words),
        "mechanism": None if mechanism is None else mechanism.as_json(),
    }


def move_answer(
    position: Position,
    result: ProbeResult | None,
    move: RootMove,
    notation: str,
    mechanism: Mechanism | None = None,
    words: Words = ENGLISH,
) -> dict[str, Any]:
    """Return the JSON object for one legal move of a position.

    `result` (None without a table) and `mechanism` belong to `position`, before the move.
    """
    return {
        "move": format_move(position, move.move, notation),
        "outcome": outcome_name(move.outcome),
        "value": move.value,
        "order": move.order,
        "plies": move.plies,
        "capture": move.capture,
        "check": move.check,
        "best": move.best,
        "reason": explain_move(result, move, mechanism, words),
    }


def probe_answer(
    position: Position,
    result: ProbeResult,
    moves: Sequence[RootMove],
    notation: str = "iccs",
    mechanism: Mechanism | None = None,
) -> dict[str, Any]:
    """Return the JSON object of `tbgen probe`: a position, and its moves in the given order."""
    return {
        **position_answer(position, result, mechanism),
        "moves": [move_answer(position, result, move, notation, mechanism) for move in moves],
    }


def line_answer(line: Mainline, notation: str = "iccs", words: Words = ENGLISH) -> dict[str, Any]:
    """Return the JSON object of `tbgen line`: the first position, its best play, and its end.

    `reason` explains the value of the first position, `end` the end of the line. `schema.LINE`
    describes the other members.
    """
    mechanism = mechanism_of(line)
    return {
        **position_answer(line.start, line.result, mechanism, words),
        "ending": str(line.ending),
        "end": explain_line(line, words),
        "winner": None if line.winner is None else line.winner.name.lower(),
        "loop_start": line.loop_start,
        "verdict": None if line.verdict is None else line.verdict.as_json(),
        "moves": [
            {
                "side": played.position.side.name.lower(),
                **move_answer(played.position, played.result, played.choice, notation, words=words),
                "fen": played.choice.after.fen,
            }
            for played in line.moves
        ],
    }
