"""A game or a line as one picture that moves: SVG with the style sheet's own animations.

    start, moves, loop  ->  where each piece is, and when  ->  @keyframes, one set for each piece

No script: it moves wherever SVG is shown, also as `<img>`. Those who have asked their system for
less motion see the first position.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tbgen.board.diagram import STYLE, Look, symbols
from tbgen.board.pieces import piece_id
from tbgen.board.scenery import HEIGHT, VIEW_BOX, WIDTH, place, scenery
from tbgen.indexing import Move, Position

MOST_PLIES = 120
"""Plies of a picture; a longer game has its end cut off."""

ROUNDS = 3
"""How often a loop goes round before the picture begins again."""

_BEGIN, _PLY, _MOVING, _END = 1.5, 1.1, 0.3, 2.5
"""Seconds: before the first move, for each move, of which it moves, and after the last one."""


@dataclass
class _Piece:
    """A piece: what it is, and where and whether it is there from which second on."""

    code: int
    square: int
    stops: list[tuple[float, int]] = field(default_factory=list)
    taken: float | None = None


def rounds(moves: Sequence[Move], loop_start: int | None) -> list[Move]:
    """The moves with their loop gone round; at most `MOST_PLIES`."""
    found = list(moves)
    if loop_start is not None:
        found += list(moves[loop_start:]) * (ROUNDS - 1)
    return found[:MOST_PLIES]


def animate(start: Position, moves: Sequence[Move], look: Look, width: int = 480) -> str:
    """The picture of a game, which begins again when it has ended."""
    seconds = _BEGIN + _PLY * len(moves) + _END
    pieces = _walks(start, moves)
    style, drawn = [STYLE], []
    for number, piece in enumerate(pieces):
        css = f"m{number}"
        if piece.stops or piece.taken is not None:
            style.append(_keyframes(css, piece, look.flip, seconds))
        x, y = place(piece.square, look.flip)
        drawn.append(
            f'<g class="{css}" style="transform:translate({x}px,{y}px)">'
            f'<use href="#{piece_id(piece.code)}"/></g>'
        )
    marks = ""
    if moves:
        style += [_marks(which, moves, look.flip, seconds) for which in (0, 1)]
        marks = "".join(
            f'<circle class="last l{which}" r="50" style="opacity:0"/>' for which in (0, 1)
        )
    style.append("@media (prefers-reduced-motion:reduce){*{animation:none!important}}")
    height = width * HEIGHT // WIDTH
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="board {look.board}" viewBox="{VIEW_BOX}" '
        f'width="{width}" height="{height}"><style>{"".join(style)}</style>{symbols(look.pieces)}'
        f"{scenery(look.flip, look.notation)}{marks}{''.join(drawn)}</svg>"
    )


def _walks(start: Position, moves: Sequence[Move]) -> list[_Piece]:
    """Every piece with its stops: the second at which a move begins, and where it leads."""
    pieces = [_Piece(code, square) for code, square in start.pieces()]
    on = {piece.square: piece for piece in pieces}
    for number, move in enumerate(moves):
        begins = _BEGIN + _PLY * number
        if move.target in on:
            on[move.target].taken = begins + _MOVING
        on[move.target] = on.pop(move.source)
        on[move.target].stops.append((begins, move.target))
    return pieces


def _keyframes(css: str, piece: _Piece, flip: bool, seconds: float) -> str:
    """The animation of one piece: it stands, moves, stands, and is gone when it is taken."""
    steps, at = [(0.0, piece.square)], piece.square
    for begins, square in piece.stops:
        steps += [(begins, at), (begins + _MOVING, square)]
        at = square
    frames = "".join(
        f"{100 * second / seconds:.2f}%{{transform:{_translate(square, flip)}}}"
        for second, square in [*steps, (seconds, at)]
    )
    found = f"@keyframes {css}{{{frames}}}"
    names = f"{css} {seconds:.1f}s linear infinite"
    if piece.taken is not None:
        gone = 100 * piece.taken / seconds
        found += f"@keyframes {css}t{{0%{{opacity:1}}{gone:.2f}%,100%{{opacity:0}}}}"
        names += f",{css}t {seconds:.1f}s step-end infinite"
    return f"{found}.{css}{{animation:{names}}}"


def _marks(which: int, moves: Sequence[Move], flip: bool, seconds: float) -> str:
    """The animation of a circle: on the square that each move comes from (0), or leads to (1)."""
    frames = ["0%{opacity:0}"]
    for number, move in enumerate(moves):
        begins = 100 * (_BEGIN + _PLY * number) / seconds
        frames.append(f"{begins:.2f}%{{opacity:1;transform:{_translate(move[which], flip)}}}")
    return (
        f"@keyframes l{which}{{{''.join(frames)}100%{{opacity:0}}}}"
        f".l{which}{{animation:l{which} {seconds:.1f}s step-end infinite}}"
    )


def _translate(square: int, flip: bool) -> str:
    x, y = place(square, flip)
    return f"translate({x}px,{y}px)"
