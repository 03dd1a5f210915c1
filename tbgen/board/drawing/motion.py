"""Places and times of pieces while a game is shown: for every picture that moves.

    start, moves, pace  ->  a walk for each piece  ->  keyframes of a style sheet, or its place

The board below it and what is said beside it are for those who draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tbgen.board.drawing.scenery import place
from tbgen.indexing import Move, Position


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds: before the first move, for each move, of which it moves, and after the last one."""

    opening: float = 1.5
    ply: float = 1.1
    glide: float = 0.3
    closing: float = 2.5

    def begins(self, number: int) -> float:
        """The begin of a move, counted from 0."""
        return self.opening + self.ply * number

    def length(self, plies: int) -> float:
        """The time for which a game of so many plies is shown before it begins again."""
        return self.begins(plies) + self.closing


@dataclass
class Walk:
    """A piece, where it stands first, and its ways: the second at which one begins, and its end.

    `taken` is the second at which it leaves the board; None if it stays.
    """

    code: int
    square: int
    ways: list[tuple[float, int]] = field(default_factory=list)
    taken: float | None = None

    def at(self, second: float, pace: Pace, flip: bool) -> tuple[float, float] | None:
        """The place of the piece at a moment, in units of the board; None if it has been taken."""
        if self.taken is not None and second >= self.taken:
            return None
        x, y = map(float, place(self.square, flip))
        for begins, square in self.ways:
            if begins <= second:
                part = min(1.0, (second - begins) / pace.glide)
                to_x, to_y = place(square, flip)
                x, y = x + part * (to_x - x), y + part * (to_y - y)
        return x, y


def walks(start: Position, moves: Sequence[Move], pace: Pace) -> list[Walk]:
    """The walk of every piece; a piece is taken when the one that takes it has arrived."""
    found = [Walk(code, square) for code, square in start.pieces()]
    on = {walk.square: walk for walk in found}
    for number, move in enumerate(moves):
        begins = pace.begins(number)
        if move.target in on:
            on[move.target].taken = begins + pace.glide
        on[move.target] = on.pop(move.source)
        on[move.target].ways.append((begins, move.target))
    return found


def keyframes(name: str, walk: Walk, pace: Pace, seconds: float, flip: bool) -> str:
    """The animation of a walk in `seconds`: it stands, moves, stands."""
    steps, at = [(0.0, walk.square)], walk.square
    for begins, square in walk.ways:
        steps += [(begins, at), (begins + pace.glide, square)]
        at = square
    inside = "".join(
        f"{percent(second, seconds)}{{transform:{translation(square, flip)}}}"
        for second, square in [*steps, (seconds, at)]
    )
    return f"@keyframes {name}{{{inside}}}"


def shown_between(name: str, begin: float, end: float, seconds: float) -> str:
    """The animation, stepwise, of what is seen from one second to another."""
    moments = [(0.0, 0)] * (begin > 0) + [(begin, 1), (end, 0)] * (end < seconds)
    inside = "".join(f"{percent(second, seconds)}{{opacity:{on}}}" for second, on in moments)
    return f"@keyframes {name}{{{inside}}}"


def percent(second: float, seconds: float) -> str:
    """A moment as keyframes name it."""
    return f"{100 * second / seconds:.2f}%"


def translation(square: int, flip: bool) -> str:
    """From the origin to a square."""
    x, y = place(square, flip)
    return f"translate({x}px,{y}px)"
