"""Animation of a game or line: a frame for each ply, captions, and one animated SVG.

    line of best play, or a single move  ->  [Frame]
    start, moves, pace                   ->  a `PiecePath` for each piece: squares and times
    paths, frames                        ->  @keyframes of pieces, marked squares, arrows

A check is detected on the board. A chase is labelled only if the referee has judged the ply. The
SVG needs no script, so it also moves as `<img>`. With the system setting for reduced motion, it
shows the first position.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product

from tbgen.board.drawing.diagram import (
    HEIGHT,
    VIEW_BOX,
    WIDTH,
    Arrow,
    Look,
    draw_arrow,
    empty_board,
    place,
    style,
    symbols,
)
from tbgen.board.drawing.pieces import piece_id
from tbgen.board.language.i18n import text
from tbgen.indexing import Move, Position, Side
from tbgen.indexing.squares import piece_side
from tbgen.play.mainline import Mainline
from tbgen.referee import Ply
from tbgen.rules import in_check, legal_moves
from tbgen.rules.attacks import attacks, find_king

MOST_PLIES = 120
"""Largest number of plies of an animation; callers of `animate` cut off a longer game."""

LOOP_ROUNDS = 3
"""Number of times that an animation shows a loop."""

_PIXELS = 480
"""Width of an animated SVG in pixels."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One ply of an animation: the move, the position after it, its label, and arrows.

    `label` is "check", "chase" or "idle" (neither of the two); empty for a ply without check that
    the referee has not judged.
    """

    move: Move
    after: Position
    label: str
    arrows: tuple[Arrow, ...]


def frames_of_line(line: Mainline) -> list[Frame]:
    """Return the frames of a line; of plies without a judgement, only checks have labels."""
    judged: dict[int, Ply] = {}
    if line.verdict is not None and line.verdict.span is not None and line.loop_start is not None:
        first = line.loop_start - line.verdict.span[0]
        judged = {first + number: ply for number, ply in enumerate(line.verdict.plies)}
    return [
        frame_of(played.choice.move, played.choice.after, judged.get(number))
        for number, played in enumerate(line.moves)
    ]


def loser_of(line: Mainline) -> Side | None:
    """Return the side that loses by the loop of a line; None if no side loses by a loop."""
    winner = line.winner if line.loop_start is not None else None
    return None if winner is None else winner.other


def captions_of(frames: Sequence[Frame], loser: Side | None, language: str) -> list[str]:
    """Return a caption for each ply: the text of its label, or that of a mate or stalemate.

    loser : side that loses by the loop, whose checks and chases are numbered; None for no numbers
    """
    found, offences = [], 0
    for frame in frames:
        label = frame.label and text(language, f"ply_{frame.label}")
        if frame.after.side.other == loser and frame.label in ("check", "chase"):
            offences += 1
            label = text(language, f"ply_nth_{frame.label}", n=offences)
        found.append(label)
    if frames and not legal_moves(frames[-1].after):
        found[-1] = text(language, "ply_mate" if frames[-1].label == "check" else "ply_stalemate")
    return found


def frame_of(move: Move, after: Position, ply: Ply | None = None) -> Frame:
    """Return the frame of a move; a chase is labelled only if the referee's `ply` is given."""
    if in_check(after):
        return Frame(move, after, "check", tuple(checkers(after)))
    if ply is None:
        return Frame(move, after, "", ())
    arrows = (
        Arrow(*pair, "chase") for pair in product(ply.by, ply.chased) if attacks(after.board, *pair)
    )
    return Frame(move, after, str(ply.label), tuple(arrows))


def king_in_check(position: Position) -> int | None:
    """Return the square of the king of the side to move if it is in check, else None."""
    return find_king(position.board, position.side) if in_check(position) else None


def checkers(position: Position) -> list[Arrow]:
    """Return arrows to the king of the side to move from the pieces that give check."""
    king = find_king(position.board, position.side)
    return [
        Arrow(square, king, "check")
        for code, square in position.pieces()
        if piece_side(code) != position.side and attacks(position.board, square, king)
    ]


@dataclass(frozen=True, slots=True)
class Pace:
    """Times of an animation in seconds.

    opening : time before the first move; closing : additional time after the last ply
    ply : time from the start of a move to that of the next one
    glide : first part of that time, during which the piece moves
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
class PiecePath:
    """Path of a piece during a game: its code, first square, and moves.

    `ways` has for each move the second at which it starts, and the target square. `taken` is the
    second at which the piece is captured, or None.
    """

    code: int
    square: int
    ways: list[tuple[float, int]] = field(default_factory=list)
    taken: float | None = None

    def at(self, second: float, pace: Pace, flip: bool) -> tuple[float, float] | None:
        """Return (x, y) of the piece in picture units at `second`; None once it is captured."""
        if self.taken is not None and second >= self.taken:
            return None
        x, y = map(float, place(self.square, flip))
        for begins, square in self.ways:
            if begins <= second:
                part = min(1.0, (second - begins) / pace.glide)
                to_x, to_y = place(square, flip)
                x, y = x + part * (to_x - x), y + part * (to_y - y)
        return x, y


def piece_paths(start: Position, moves: Sequence[Move], pace: Pace) -> list[PiecePath]:
    """Return the path of every piece; a captured piece leaves when the capturing one arrives."""
    found = [PiecePath(code, square) for code, square in start.pieces()]
    on = {path.square: path for path in found}
    for number, move in enumerate(moves):
        begins = pace.begins(number)
        if move.target in on:
            on[move.target].taken = begins + pace.glide
        on[move.target] = on.pop(move.source)
        on[move.target].ways.append((begins, move.target))
    return found


def keyframes(name: str, path: PiecePath, pace: Pace, seconds: float, flip: bool) -> str:
    """Return the CSS keyframes `name`, which move a piece in an animation of `seconds`."""
    steps, at = [(0.0, path.square)], path.square
    for begins, square in path.ways:
        steps += [(begins, at), (begins + pace.glide, square)]
        at = square
    inside = "".join(
        f"{percent(second, seconds)}{{transform:{translation(square, flip)}}}"
        for second, square in [*steps, (seconds, at)]
    )
    return f"@keyframes {name}{{{inside}}}"


def shown_between(name: str, begin: float, end: float, seconds: float) -> str:
    """Return the CSS keyframes `name`, which show an element from `begin` to `end` of `seconds`."""
    moments = [(0.0, 0)] * (begin > 0) + [(begin, 1), (end, 0)]
    inside = "".join(f"{percent(second, seconds)}{{opacity:{on}}}" for second, on in moments)
    return f"@keyframes {name}{{{inside}}}"


def percent(second: float, seconds: float) -> str:
    """Format the time `second` of an animation of `seconds` as a CSS keyframe percentage."""
    return f"{100 * second / seconds:.2f}%"


def translation(square: int, flip: bool) -> str:
    """Return the CSS translation from the origin to a square; with `flip`, Black is below."""
    x, y = place(square, flip)
    return f"translate({x}px,{y}px)"


def animate(start: Position, frames: Sequence[Frame], look: Look) -> str:
    """Return the animated SVG of a game from `start`, `_PIXELS` wide, which repeats without end."""
    pace, moves = Pace(), [frame.move for frame in frames]
    seconds = pace.length(len(moves))
    rules, drawn = [style(look.board)], []
    steps = f"{seconds:.1f}s step-end infinite"
    for number, path in enumerate(piece_paths(start, moves, pace)):
        css = f"m{number}"
        if path.ways or path.taken is not None:
            rules.append(keyframes(css, path, pace, seconds, look.flip))
            names = f"{css} {seconds:.1f}s linear infinite"
            if path.taken is not None:
                rules.append(shown_between(f"{css}t", 0, path.taken, seconds))
                names += f",{css}t {steps}"
            rules.append(f".{css}{{animation:{names}}}")
        drawn.append(
            f'<g class="{css}" style="transform:{translation(path.square, look.flip)}">'
            f'<use href="#{piece_id(path.code)}"/></g>'
        )
    marks = ""
    for which in (0, 1) if moves else ():  # the squares that each move leaves and reaches
        inside = "".join(
            f"{percent(pace.begins(number), seconds)}"
            f"{{opacity:1;transform:{translation(move[which], look.flip)}}}"
            for number, move in enumerate(moves)
        )
        rules.append(
            f"@keyframes l{which}{{0%{{opacity:0}}{inside}100%{{opacity:0}}}}"
            f".l{which}{{animation:l{which} {steps}}}"
        )
        marks += f'<circle class="last l{which}" r="50" style="opacity:0"/>'
    for number, frame in enumerate(frames):
        if frame.arrows:
            css = f"a{number}"
            begin, end = pace.begins(number) + pace.glide, pace.begins(number + 1)
            rules.append(shown_between(css, begin, end, seconds))
            rules.append(f".{css}{{animation:{css} {steps}}}")
            arrows = "".join(draw_arrow(arrow, look.flip) for arrow in frame.arrows)
            drawn.append(f'<g class="{css}" style="opacity:0">{arrows}</g>')
    rules.append("@media (prefers-reduced-motion:reduce){*{animation:none!important}}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="board {look.board}" viewBox="{VIEW_BOX}" '
        f'width="{_PIXELS}" height="{_PIXELS * HEIGHT // WIDTH}"><style>{"".join(rules)}</style>'
        f"{symbols(look.pieces)}{empty_board(look.flip, look.notation)}{marks}"
        f"{''.join(drawn)}</svg>"
    )
