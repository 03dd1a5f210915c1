"""Game or line as one animated SVG, moved by CSS.

    start, moves, pace  ->  a `Walk` for each piece: squares and times   (also for `flipbook`)
    walks, frames       ->  @keyframes of pieces, marked squares, arrows

It needs no script, so it also moves as `<img>`. With the system setting for reduced motion, the
first position is shown. `story` makes the frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tbgen.board.drawing.diagram import STYLE, Look, draw_arrow, symbols
from tbgen.board.drawing.pieces import piece_id
from tbgen.board.drawing.scenery import HEIGHT, VIEW_BOX, WIDTH, place, scenery
from tbgen.board.drawing.story import Frame
from tbgen.indexing import Move, Position


@dataclass(frozen=True, slots=True)
class Pace:
    """Times of an animation in seconds.

    opening, closing : before the first move, and after the last one
    ply : from one move's start to the next; glide : the part of it in which the piece moves
    """

    opening: float = 1.5
    ply: float = 1.1
    glide: float = 0.3
    closing: float = 2.5

    def begins(self, number: int) -> float:
        """Return the second at which a move begins; moves are numbered from 0."""
        return self.opening + self.ply * number

    def length(self, plies: int) -> float:
        """Return the seconds after which a game of `plies` plies restarts."""
        return self.begins(plies) + self.closing


@dataclass
class Walk:
    """Path of a piece during a game: its code, first square, and moves.

    `ways` has for each move the second at which it starts, and the target. `taken` is the second at
    which the piece is captured, or None.
    """

    code: int
    square: int
    ways: list[tuple[float, int]] = field(default_factory=list)
    taken: float | None = None

    def at(self, second: float, pace: Pace, flip: bool) -> tuple[float, float] | None:
        """Return x and y of the piece in the picture at a second; None once it is captured."""
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
    """Return the path of every piece; a captured piece leaves when the capturing one arrives."""
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
    """Return CSS keyframes with a name that move a piece along its path.

    seconds : length of the animation
    """
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
    """Return CSS keyframes with a name that show an element from `begin` to `end`.

    All times are in seconds; `seconds` is the length of the animation.
    """
    moments = [(0.0, 0)] * (begin > 0) + [(begin, 1), (end, 0)] * (end < seconds)
    inside = "".join(f"{percent(second, seconds)}{{opacity:{on}}}" for second, on in moments)
    return f"@keyframes {name}{{{inside}}}"


def percent(second: float, seconds: float) -> str:
    """Format the time `second` of an animation of `seconds` as a CSS keyframe percentage."""
    return f"{100 * second / seconds:.2f}%"


def translation(square: int, flip: bool) -> str:
    """Return the CSS translation from the picture's origin to a square."""
    x, y = place(square, flip)
    return f"translate({x}px,{y}px)"


def animate(start: Position, frames: Sequence[Frame], look: Look, width: int = 480) -> str:
    """Return the animated SVG of a game, which repeats without end; `width` is in pixels."""
    pace, moves = Pace(), [frame.move for frame in frames]
    seconds = pace.length(len(moves))
    style, drawn = [STYLE], []
    for number, walk in enumerate(walks(start, moves, pace)):
        css = f"m{number}"
        if walk.ways or walk.taken is not None:
            style.append(keyframes(css, walk, pace, seconds, look.flip))
            names = f"{css} {seconds:.1f}s linear infinite"
            if walk.taken is not None:
                style.append(shown_between(f"{css}t", 0, walk.taken, seconds))
                names += f",{css}t {seconds:.1f}s step-end infinite"
            style.append(f".{css}{{animation:{names}}}")
        x, y = place(walk.square, look.flip)
        drawn.append(
            f'<g class="{css}" style="transform:translate({x}px,{y}px)">'
            f'<use href="#{piece_id(walk.code)}"/></g>'
        )
    marks = ""
    if moves:
        style += [_marks(which, moves, look.flip, pace, seconds) for which in (0, 1)]
        marks = "".join(
            f'<circle class="last l{which}" r="50" style="opacity:0"/>' for which in (0, 1)
        )
    for number, frame in enumerate(frames):
        if frame.arrows:
            css = f"a{number}"
            begin, end = pace.begins(number) + pace.glide, pace.begins(number + 1)
            style.append(shown_between(css, begin, end, seconds))
            style.append(f".{css}{{animation:{css} {seconds:.1f}s step-end infinite}}")
            arrows = "".join(draw_arrow(arrow, look.flip) for arrow in frame.arrows)
            drawn.append(f'<g class="{css}" style="opacity:0">{arrows}</g>')
    style.append("@media (prefers-reduced-motion:reduce){*{animation:none!important}}")
    height = width * HEIGHT // WIDTH
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="board {look.board}" viewBox="{VIEW_BOX}" '
        f'width="{width}" height="{height}"><style>{"".join(style)}</style>{symbols(look.pieces)}'
        f"{scenery(look.flip, look.notation)}{marks}{''.join(drawn)}</svg>"
    )


def _marks(which: int, moves: Sequence[Move], flip: bool, pace: Pace, seconds: float) -> str:
    """Return the CSS of a circle that marks each move's source (`which` 0) or target (1)."""
    inside = "".join(
        f"{percent(pace.begins(number), seconds)}"
        f"{{opacity:1;transform:{translation(move[which], flip)}}}"
        for number, move in enumerate(moves)
    )
    return (
        f"@keyframes l{which}{{0%{{opacity:0}}{inside}100%{{opacity:0}}}}"
        f".l{which}{{animation:l{which} {seconds:.1f}s step-end infinite}}"
    )
