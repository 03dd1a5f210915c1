"""Game or line ply by ply, as frames for animations: each move, its effect, and its arrows.

    best play, its loop repeated                                   film: with controls
    game, or line for another site        ->  Position, [Frame]  ->  animation, flipbook

A check is detected on the board. A chase is labelled only if the referee has judged the ply.
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
"""Largest number of plies of an animation; a longer game is cut off."""

ROUNDS = 3
"""Number of times that an animation shows a loop."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One ply: the move, the position after it, its effect, and arrows.

    `label` is "check", "chase" or "idle"; empty for a ply that gives no check and was not judged.
    """

    move: Move
    after: Position
    label: str
    arrows: tuple[Arrow, ...]


def frames_of_line(line: Mainline) -> list[Frame]:
    """Return the frames of a line; chases are labelled only in the loop that was judged."""
    judged: dict[int, Ply] = {}
    if line.verdict is not None and line.verdict.span is not None and line.loop_start is not None:
        first = line.loop_start - line.verdict.span[0]
        judged = {first + number: ply for number, ply in enumerate(line.verdict.plies)}
    return [
        frame_of(played.choice.move, played.choice.after, judged.get(number))
        for number, played in enumerate(line.moves)
    ]


def loser_of(line: Mainline) -> Side | None:
    """Return the side that the referee's verdict on a line's loop declares lost, or None."""
    winners = {Verdict.RED_WINS: Side.RED, Verdict.BLACK_WINS: Side.BLACK}
    winner = winners.get(line.verdict.verdict) if line.verdict is not None else None
    return None if winner is None else winner.other


def captions_of(frames: Sequence[Frame], loser: Side | None, language: str) -> list[str]:
    """Return a caption for each ply; forbidden checks and chases are numbered.

    These are the checks and chases of `loser`. The last caption says mate or stalemate if the game
    ends so.
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
    """Return the frames with their loop shown `ROUNDS` times, at most `MOST_PLIES` frames."""
    found = list(frames)
    if loop_start is not None:
        found += found[loop_start:] * (ROUNDS - 1)
    return found[:MOST_PLIES]


def frame_of(move: Move, after: Position, ply: Ply | None = None) -> Frame:
    """Return the frame of a move to the position `after`.

    ply : the referee's judgement of the move; without it only checks are labelled
    """
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
    """Return arrows from the pieces that give check to the king of the side to move."""
    king = find_king(position.board, position.side)
    return [
        Arrow(square, king, "check")
        for code, square in position.pieces()
        if piece_side(code) != position.side and attacks(position.board, square, king)
    ]
