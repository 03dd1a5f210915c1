"""Judgements of repeated positions: verdict, label of every ply, and reason in words.

    judge(position, moves)  ->  Judgement(verdict, levels, plies, reason)
    a Game, read once       ->  Judgement by `judge_game`, the verdict alone by `repetition_verdict`

The last position of a game is judged. `tbgen.referee.history` is the compiled version for engines,
which push and pop moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Any

from tbgen.indexing.errors import PositionError, enum_member, integer
from tbgen.indexing.move import Move, as_move
from tbgen.indexing.position import Position
from tbgen.indexing.rulesets import Rules
from tbgen.indexing.squares import Side, square_name
from tbgen.referee import reasons, record
from tbgen.referee.game import Diagram, Game, Pairs
from tbgen.rules import is_terminal
from tbgen.tables.reader import as_html


class Verdict(IntEnum):
    """Verdict on a game's last position; `UNDECIDED` if no other verdict is certain."""

    UNDECIDED = record.UNDECIDED
    DRAW = record.DRAW
    RED_WINS = record.RED_WINS
    BLACK_WINS = record.BLACK_WINS

    @property
    def text(self) -> str:
        """Name in answers of the command line, such as `red wins`."""
        return self.name.lower().replace("_", " ")

    @classmethod
    def won_by(cls, side: Side) -> Verdict:
        """Return the verdict by which `side` wins: `RED_WINS` or `BLACK_WINS`."""
        return cls.RED_WINS if side == Side.RED else cls.BLACK_WINS


class Label(StrEnum):
    """Label of a ply under the repetition rules; KILL and OPEN only under the Chinese rules."""

    CHECK = "check"
    CHASE = "chase"
    IDLE = "idle"
    KILL = "kill"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Ply:
    """One ply of a game with its label.

    `chased` and `by` are the squares, after the ply, of the chased pieces and of the pieces that
    chase them; both ascend, and their entries are not paired. Without a repetition the last ply has
    no reply, and all its new attacks are chases.
    """

    move: Move
    side: Side
    label: Label
    chased: tuple[int, ...]
    by: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Judgement:
    """Judgement of the referee on the last position of a game.

    position : first position of the game
    levels : Red's and Black's over the span: 0 allowed, 1 perpetual chase, 2 perpetual check (under
        the Chinese rules as in `judge_chinese`); both 0 without a span
    plies : all plies of the game
    span : indices of the positions with which the judged repetition begins and ends; None if no
        repetition was judged
    conducts : Red's and Black's over the span; empty without a span and under the Chinese rules
    """

    position: Position
    verdict: Verdict
    levels: tuple[int, int]
    plies: tuple[Ply, ...]
    span: tuple[int, int] | None
    reason: str
    conducts: tuple[reasons.Conduct, ...] = ()

    def __repr__(self) -> str:
        """Return `Judgement(red wins: ...)`, with the reason."""
        return f"Judgement({self.verdict.text}: {self.reason})"

    def _repr_html_(self) -> str:
        """Return the HTML table that a notebook shows."""
        return as_html({
            "verdict": self.verdict.text,
            "reason": self.reason,
            "plies": ", ".join(f"{ply.move} {ply.label}" for ply in self.plies),
        })  # fmt: skip

    def as_json(self) -> dict[str, Any]:
        """Return the answer of `tbgen judge --json` as a dictionary (docs/json.md)."""
        return {
            "fen": self.position.fen,
            "moves": [ply.move.iccs for ply in self.plies],
            "verdict": self.verdict.text,
            "level": {"red": self.levels[Side.RED], "black": self.levels[Side.BLACK]},
            "plies": [
                {
                    "move": ply.move.iccs,
                    "side": ply.side.name.lower(),
                    "label": ply.label.value,
                    "chased": [square_name(square) for square in ply.chased],
                    "by": [square_name(square) for square in ply.by],
                }
                for ply in self.plies
            ],
            "reason": self.reason,
        }


def judge(
    position: Position | str,
    moves: Sequence[Move | str],
    *,
    rules: Rules | str = Rules.WXF,
    occurrences: int = 2,
    minor_chases: bool = True,
) -> Judgement:
    """Judge the last position of a game, given a position or FEN and moves such as `h2e2`.

    In a FEN, pawns may stand on any square (`Diagram`). A repetition is judged when the last
    position has occurred `occurrences` times, 2 or more. With `minor_chases`, an advisor or
    elephant that attacks a protected rook, knight or cannon chases it. The WXF book does not
    mention this case; under other rules than `wxf` the option has no effect.

    Raises `InputError` for unknown rules, and if `occurrences` is no integer; `PositionError` for
    an impossible start, `MoveTextError` for an illegal move, and `ValueError` if `occurrences` is
    less than 2.

    >>> loop = ["c4b4", "b6c6", "b4c4", "c6b6"]
    >>> judge("3k5/9/9/1c7/9/2R5r/9/9/9/5K3 w", loop).reason
    "Red's rook chases the cannon on every move, Black's moves are idle: Black wins (art. 18)"
    """
    if integer(occurrences, "occurrences") < 2:
        raise ValueError("a repetition needs at least 2 occurrences")
    rules, read = enum_member(Rules, rules), [as_move(move) for move in moves]
    game = Game.read(_first_position(position), read, rules.chase_rules(minor_chases=minor_chases))
    return judge_game(game, rules=rules, occurrences=occurrences)


def _first_position(position: Position | str) -> Position:
    """Return a position, or that of a FEN: a `Diagram` if the FEN is no valid `Position`."""
    if isinstance(position, Position):
        return position
    try:
        return Position.from_fen(position)
    except PositionError:
        return Diagram.from_fen(position)


def judge_game(game: Game, *, rules: Rules, occurrences: int = 2) -> Judgement:
    """Judge the last position of a `Game` like `judge`.

    `game.chase_rules` must be those of `rules` (`Rules.chase_rules`).
    """
    end = game.plies
    start = record.find_span(game.boards, game.log, end, occurrences)
    chases = [game.chases(ply, start) for ply in range(end)]
    plies = tuple(label_ply(game, ply, pairs) for ply, pairs in enumerate(chases))
    if start == record.NO_SPAN:
        return judge_unrepeated(game, plies, occurrences)
    conducts = tuple(reasons.Conduct.of_side(game, chases, start, side, rules) for side in Side)
    levels = conducts[Side.RED].level, conducts[Side.BLACK].level
    verdict = Verdict(record.verdict_of(*levels))
    reason = reasons.explain(conducts, verdict.text, rules)
    return Judgement(game.first, verdict, levels, plies, (start, end), reason, conducts)


def repetition_verdict(game: Game, *, rules: Rules, occurrences: int = 2) -> Verdict:
    """Return the verdict of `judge_game`, but `UNDECIDED` for mate and stalemate, in less time."""
    return Verdict(
        record.judge_record(
            game.boards, game.ids, game.log, game.plies, int(game.last.side), rules.offences,
            occurrences, game.chase_rules, False, game.scratch,
        )
    )  # fmt: skip


def label_ply(game: Game, ply: int, pairs: Pairs) -> Ply:
    """Return a ply with its label, given its chases as pairs of squares (attacker, victim)."""
    is_check = game.log[ply + 1][record.CHECKED]
    label = Label.CHECK if is_check else Label.CHASE if pairs else Label.IDLE
    by = tuple(sorted({attacker for attacker, _ in pairs}))
    chased = tuple(sorted({victim for _, victim in pairs}))
    return Ply(game.move(ply), game.side(ply), label, chased, by)


def judge_unrepeated(game: Game, plies: tuple[Ply, ...], occurrences: int) -> Judgement:
    """Judge a game without repetition: mate and stalemate, else undecided."""
    verdict = Verdict.UNDECIDED
    times = f"{occurrences} times" if occurrences > 2 else "before"
    reason = f"the last position has not occurred {times}"
    if is_terminal(game.last):
        verdict = Verdict.won_by(game.last.side.other)
        reason = f"{game.last.side.name.title()} has no legal move: {verdict.text.capitalize()}"
    return Judgement(game.first, verdict, (0, 0), plies, None, reason)
