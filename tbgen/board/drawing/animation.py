"""A game or a line as one picture that moves: SVG with the style sheet's own animations.

    start, frames  ->  @keyframes: one set for each piece, the squares of the move, the arrows

No script: it moves wherever SVG is shown, also as `<img>`. Those who have asked their system for
less motion see the first position. Where pieces are, and when, is in `motion`; what is shown, in
`story`. The same as pixels is in `flipbook`.
"""

from __future__ import annotations

from collections.abc import Sequence

from tbgen.board.drawing.diagram import STYLE, Look, draw_arrow, symbols
from tbgen.board.drawing.motion import Pace, keyframes, percent, shown_between, translation, walks
from tbgen.board.drawing.pieces import piece_id
from tbgen.board.drawing.scenery import HEIGHT, VIEW_BOX, WIDTH, place, scenery
from tbgen.board.drawing.story import Frame
from tbgen.indexing import Move, Position


def animate(start: Position, frames: Sequence[Frame], look: Look, width: int = 480) -> str:
    """The picture of a game, which begins again when it has ended."""
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
    """The animation of a circle: on the square that each move comes from (0), or leads to (1)."""
    inside = "".join(
        f"{percent(pace.begins(number), seconds)}"
        f"{{opacity:1;transform:{translation(move[which], flip)}}}"
        for number, move in enumerate(moves)
    )
    return (
        f"@keyframes l{which}{{0%{{opacity:0}}{inside}100%{{opacity:0}}}}"
        f".l{which}{{animation:l{which} {seconds:.1f}s step-end infinite}}"
    )
