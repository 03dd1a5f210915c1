"""A line or a game ply by ply: each move, its effect, and the arrows for it.

    best play, its loop gone round                                 film: with controls
    a game, or a line for another page    ->  Position, [Frame]  ->  animation: a picture that moves

A check is seen on the board; that a move chases is the referee's word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tbgen.board.drawing.diagram import Arrow
from tbgen.board.language.i18n import text
from tbgen.indexing import Move, Position, Side
from tbgen.indexing.squares import piece_side
from tbgen.play.mainline import Mainline
from tbgen.referee import Ply, Verdict
from tbgen.rules import in_check, legal_moves
from tbgen.rules.attacks import attacks, find_king

MOST_PLIES = 120
"""Plies of a picture that moves; a longer game has its end cut off."""

ROUNDS = 3
"""How often a loop goes round before the picture begins again."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A ply: its move, the position after it, what it does, and the arrows that show it.

    `label` is "check", "chase" or "idle"; empty where nobody has judged it and it gives no check.
    """

    move: Move
    after: Position
    label: str
    arrows: tuple[Arrow, ...]


def frames_of_line(line: Mainline) -> list[Frame]:
    """The effect of every ply of a line; chases are known in the loop, where they are judged."""
    judged: dict[int, Ply] = {}
    if line.verdict is not None and line.verdict.span is not None and line.loop_start is not None:
        first = line.loop_start - line.verdict.span[0]
        judged = {first + number: ply for number, ply in enumerate(line.verdict.plies)}
    return [
        frame_of(played.choice.move, played.choice.after, judged.get(number))
        for number, played in enumerate(line.moves)
    ]


def loser_of(line: Mainline) -> Side | None:
    """The side that loses a line by repetition; None where nobody does."""
    winners = {Verdict.RED_WINS: Side.RED, Verdict.BLACK_WINS: Side.BLACK}
    winner = winners.get(line.verdict.verdict) if line.verdict is not None else None
    return None if winner is None else winner.other


def captions_of(frames: Sequence[Frame], loser: Side | None, language: str) -> list[str]:
    """A caption for each ply; the forbidden moves of the loser of a loop are numbered.

    The last ply is called mate, or that nobody can move, where it is that.
    """
    found, offences = [], 0
    for frame in frames:
        label = frame.label and text(language, f"ply_{frame.label}")
        moved = frame.after.side.other
        if moved == loser and frame.label in ("check", "chase"):
            offences += 1
            label = text(language, "ply_forbidden", what=label, n=offences, side=moved)
        found.append(label)
    if frames and not legal_moves(frames[-1].after):
        found[-1] = text(language, "ply_mate" if frames[-1].label == "check" else "ply_stalemate")
    return found


def rounds(frames: Sequence[Frame], loop_start: int | None) -> list[Frame]:
    """The frames with their loop gone round; at most `MOST_PLIES`."""
    found = list(frames)
    if loop_start is not None:
        found += found[loop_start:] * (ROUNDS - 1)
    return found[:MOST_PLIES]


def frame_of(move: Move, after: Position, ply: Ply | None = None) -> Frame:
    """The effect of a move by the referee's judgement; by the board alone without that."""
    if in_check(after):
        return Frame(move, after, "check", tuple(checkers(after)))
    if ply is None:
        return Frame(move, after, "", ())
    arrows = [
        Arrow(by, victim, "chase")
        for by in ply.by
        for victim in ply.chased
        if attacks(after.board, by, victim)
    ]
    return Frame(move, after, str(ply.label), tuple(arrows))


def checkers(position: Position) -> list[Arrow]:
    """Arrows from the pieces that give check to the king in check."""
    king = find_king(position.board, position.side)
    return [
        Arrow(square, king, "check")
        for code, square in position.pieces()
        if piece_side(code) != position.side and attacks(position.board, square, king)
    ]
