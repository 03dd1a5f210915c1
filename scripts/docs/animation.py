"""Draw docs/diagrams/forced-loop.svg, the animated loop at the top of the README.

    python scripts/docs/animation.py

The board's own code (tbgen/board) draws the first position and makes the style sheets that move the
pieces. A scene has two or three lines of text and, except for the first, marks. The moves are those
of docs/tutorial.md; the referee gives the verdict. The picture needs no script, so it moves
wherever an SVG is shown; with reduced motion only the start is shown.
`tests/docs/test_animation.py` compares the file.
"""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from html import escape
from pathlib import Path
from typing import NamedTuple

from tbgen.board.drawing.animation import Pace, checkers, keyframes, piece_paths, shown_between
from tbgen.board.drawing.diagram import HEIGHT, VIEW_BOX, WIDTH, Look, draw, draw_arrow, place
from tbgen.indexing import Move, Position
from tbgen.indexing.squares import square_name
from tbgen.referee import judge
from tbgen.rules import in_check, legal_moves

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "docs" / "diagrams" / "forced-loop.svg"
SHOWN_WIDTH = 360
"""Default width in pixels; the picture can be scaled."""

START = "9/9/4k4/9/9/9/9/3n5/9/R2K5 b"
MOVES = ("d2b1", "d0d1", "b1c3", "d1d0", "c3b1")
"""Moves of docs/tutorial.md that are shown: into the loop, and once around it."""

LINE = [Move.from_iccs(text) for text in MOVES]

OPENING = ("Rook against knight, Black to move.", "His checks alone keep him from mate.")
CLOSING = "A repetition, but no draw:"

PACE = Pace(opening=3.0, ply=1.6, glide=0.45, closing=5.0)
SECONDS = PACE.length(len(MOVES))
"""Length of the animation, which then repeats."""

BAND = 196
"""Height of the text area below the board, in units of the SVG."""

STYLE = (
    ".words{font:600 40px sans-serif;fill:#3d2a14;text-anchor:middle}"
    ".band{fill:#fbf0d5}.scene{opacity:0}.scene.first{opacity:1}"
)


class Scene(NamedTuple):
    """Marks (SVG) on the board and lines of text (`words`), shown from second `begin` to `end`.

    The text appears at `begin`, when the move begins; the marks when the piece has arrived.
    """

    begin: float
    end: float
    marks: str
    words: tuple[str, ...]


def marks_of(position: Position, move: Move) -> str:
    """Return the SVG marks after a move: rings on its two squares, an arrow from each checker.

    position : the position after the move
    """
    rings = "".join(
        '<circle class="last" cx="{}" cy="{}" r="50"/>'.format(*place(square, False))
        for square in move
    )
    arrows = checkers(position) if in_check(position) else []
    return rings + "".join(draw_arrow(arrow, False) for arrow in arrows)


def words_of(position: Position, move: Move, number: int) -> tuple[str, str]:
    """Return the two lines of text shown with a move.

    position : the position after the move
    number : index of the move in `MOVES`
    """
    answers = len(legal_moves(position))
    if not in_check(position):
        return move.iccs, "Black must check again."
    said = f"{move.iccs}, check" if number == 0 else f"{move.iccs}, check again"
    return said, "One move answers it." if answers == 1 else "The king must move."


def play() -> list[Scene]:
    """List the scenes in order: the start, one for each move, and the referee's verdict."""
    position = Position.from_fen(START)
    scenes = [Scene(0, PACE.opening, "", OPENING)]
    for number, move in enumerate(LINE):
        position = position.after(*move)
        marks, words = marks_of(position, move), words_of(position, move, number)
        scenes.append(Scene(PACE.begins(number), PACE.begins(number + 1), marks, words))
    reason = judge(Position.from_fen(START), LINE).reason
    offence, _, verdict = reason.partition(", ")
    closing = (CLOSING, f"{offence},", verdict)
    scenes.append(Scene(scenes[-1].end, SECONDS, scenes[-1].marks, closing))
    return scenes


def scene_of(number: int, scene: Scene) -> tuple[str, str]:
    """Return the CSS rules and the SVG groups of a scene; `number` makes its class names unique."""
    words = "".join(
        f'<text class="words" x="400" y="{HEIGHT - 28 + 54 * line}">{escape(text)}</text>'
        for line, text in enumerate(scene.words)
    )
    rules, groups = "", ""
    for name, late, inside in (
        (f"words{number}", 0.0, words), (f"marks{number}", PACE.glide, scene.marks)
    ):  # fmt: skip
        if inside:
            first = "" if scene.begin else " first"
            rules += shown_between(name, scene.begin + late, scene.end, SECONDS)
            rules += f".{name}{{animation:{name} {SECONDS}s step-end infinite}}"
            groups += f'<g class="scene {name}{first}">{inside}</g>'
    return rules, groups


def drawing() -> str:
    """Return the SVG document of the whole animation."""
    scenes, rules, groups = play(), [STYLE], []
    for walk in piece_paths(Position.from_fen(START), LINE, PACE):
        if walk.ways:
            name = square_name(walk.square)
            rules.append(keyframes(name, walk, PACE, SECONDS, False))
            animation = f"{name} {SECONDS}s ease-in-out infinite"
            rules.append(f'[data-square="{name}"]{{animation:{animation}}}')
    for number, scene in enumerate(scenes):
        for part, found in zip((rules, groups), scene_of(number, scene), strict=True):
            part.append(found)
    rules.append("@media (prefers-reduced-motion:reduce){*{animation:none!important}}")
    left, top, width, height = (int(number) for number in VIEW_BOX.split())
    tall = height + BAND
    board = draw(Position.from_fen(START), Look(), alone=True, width=WIDTH)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{left} {top} {width} {tall}" '
        f'width="{SHOWN_WIDTH}" height="{SHOWN_WIDTH * tall // width}" role="img" '
        f'aria-label="{escape(" ".join((*OPENING, *scenes[-1].words)))}">'
        f"<style>{''.join(rules)}</style>"
        f'<rect class="band" x="{left}" y="{top}" width="{width}" height="{tall}" rx="18"/>'
        f'<svg x="{left}" y="{top}" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}">{board}</svg>{"".join(groups)}</svg>\n'
    )


if __name__ == "__main__":
    ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter).parse_args()
    FILE.write_text(drawing(), encoding="utf-8")
