"""Draw docs/diagrams/forced-loop.svg: the loop that the README opens with, as an animated picture.

    python scripts/docs/animation.py

    still picture of the start  +  keyframes that move its pieces  +  marks and words of each scene

The board is drawn by the board's own code, what each move is and how the game ends is said by the
referee, and the moves are those of the README's session. Style sheets alone animate it, so that it
runs wherever a picture is shown; who wants no motion sees the start. `tests/docs/test_animation.py`
keeps it current.
"""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tbgen.board.diagram import Look, draw, draw_arrow  # noqa: E402
from tbgen.board.scenery import HEIGHT, VIEW_BOX, WIDTH, place  # noqa: E402
from tbgen.board.verdict import checkers  # noqa: E402
from tbgen.indexing import Move, Position  # noqa: E402
from tbgen.indexing.squares import square_name  # noqa: E402
from tbgen.referee import judge  # noqa: E402
from tbgen.rules import in_check, legal_moves  # noqa: E402

FILE = ROOT / "docs" / "diagrams" / "forced-loop.svg"
SHOWN_WIDTH = 360
"""Pixels; the picture may be shown at any other size."""

START = "9/9/4k4/9/9/9/9/3n5/9/R2K5 b"
MOVES = ("d2b1", "d0d1", "b1c3", "d1d0", "c3b1")
"""The line of the README's session: into the loop, and round it once."""

OPENING = ("Rook against knight, Black to move.", "His checks alone keep him from mate.")
CLOSING = "A repetition, but no draw:"

OPENING_SECONDS, MOVE_SECONDS, CLOSING_SECONDS = 3.0, 1.6, 5.0
GLIDE_SECONDS = 0.45
BAND = 196
"""The height of the words under the board, in units of the picture."""

STYLE = (
    ".words{font:600 40px sans-serif;fill:#3d2a14;text-anchor:middle}"
    ".band{fill:#fbf0d5}.scene{opacity:0}.scene.first{opacity:1}"
)


class Scene(NamedTuple):
    """From second `begin` to second `end`: `marks` over the board, and lines below it.

    Words come with the move; marks when its piece has arrived.
    """

    begin: float
    end: float
    marks: str
    words: tuple[str, ...]


class Glide(NamedTuple):
    """The piece that stood on square `origin` at the start moves in second `at`."""

    origin: int
    move: Move
    at: float


def seconds() -> float:
    """How long the picture runs before it begins again."""
    return OPENING_SECONDS + MOVE_SECONDS * len(MOVES) + CLOSING_SECONDS


def marks_of(position: Position, move: Move) -> str:
    """The squares of the move that led to a position, and arrows from what gives check."""
    rings = "".join(
        '<circle class="last" cx="{}" cy="{}" r="50"/>'.format(*place(square, False))
        for square in move
    )
    arrows = checkers(position) if in_check(position) else []
    return rings + "".join(draw_arrow(arrow, False) for arrow in arrows)


def words_of(position: Position, move: Move, number: int) -> tuple[str, str]:
    """What is said of a move: its text, and what it leaves to the other side."""
    answers = len(legal_moves(position))
    if not in_check(position):
        return move.iccs, "Black must check again."
    said = f"{move.iccs}, check" if number == 0 else f"{move.iccs}, check again"
    return said, "One move answers it." if answers == 1 else "The king must move."


def play() -> tuple[list[Scene], list[Glide]]:
    """The scenes in order, and the pieces' ways."""
    position = Position.from_fen(START)
    origins = {square: square for _, square in position.pieces()}
    scenes, glides = [Scene(0, OPENING_SECONDS, "", OPENING)], []
    moves = [Move.from_iccs(text) for text in MOVES]
    for number, move in enumerate(moves):
        at = OPENING_SECONDS + MOVE_SECONDS * number
        glides.append(Glide(origins[move.source], move, at))
        origins[move.target] = origins.pop(move.source)
        position = position.after(*move)
        end = OPENING_SECONDS + MOVE_SECONDS * (number + 1)
        marks, words = marks_of(position, move), words_of(position, move, number)
        scenes.append(Scene(at, end, marks, words))
    reason = judge(Position.from_fen(START), moves).reason
    offence, _, verdict = reason.partition(", ")
    closing = (CLOSING, f"{offence},", verdict)
    scenes.append(Scene(scenes[-1].end, seconds(), scenes[-1].marks, closing))
    return scenes, glides


def percent(second: float) -> str:
    """A moment as keyframes name it."""
    return f"{100 * second / seconds():.3f}%"


def shown_between(name: str, begin: float, end: float) -> str:
    """Keyframes that show something for a time and hide it otherwise."""
    frames = [(0.0, 0)] * (begin > 0) + [(begin, 1), (end, 0)]
    inside = "".join(f"{percent(second)}{{opacity:{on}}}" for second, on in frames)
    return f"@keyframes {name}{{{inside}}}"


def scene_of(number: int, scene: Scene) -> tuple[str, str]:
    """The rules and the groups of a scene: its words, and its marks."""
    words = "".join(
        f'<text class="words" x="400" y="{HEIGHT - 28 + 54 * line}">{escape(text)}</text>'
        for line, text in enumerate(scene.words)
    )
    rules, groups = "", ""
    for name, late, inside in (
        (f"words{number}", 0.0, words), (f"marks{number}", GLIDE_SECONDS, scene.marks)
    ):  # fmt: skip
        if inside:
            first = "" if scene.begin else " first"
            rules += shown_between(name, scene.begin + late, scene.end)
            rules += f".{name}{{animation:{name} {seconds()}s step-end infinite}}"
            groups += f'<g class="scene {name}{first}">{inside}</g>'
    return rules, groups


def moved_along(name: str, origin: int, glides: list[Glide]) -> str:
    """Keyframes of a piece that stands at `origin` first: it waits, glides, waits."""
    frames = [(0.0, origin)]
    for glide in glides:
        frames += [(glide.at, glide.move.source), (glide.at + GLIDE_SECONDS, glide.move.target)]
    frames.append((seconds(), frames[-1][1]))
    inside = "".join(
        "{}{{transform:translate({}px,{}px)}}".format(percent(second), *place(square, False))
        for second, square in frames
    )
    return f"@keyframes {name}{{{inside}}}"


def drawing() -> str:
    """The SVG document."""
    scenes, glides = play()
    time, rules, groups = f"{seconds()}s", [STYLE], []
    for origin in sorted({glide.origin for glide in glides}):
        name = square_name(origin)
        rules.append(moved_along(name, origin, [g for g in glides if g.origin == origin]))
        rules.append(f'[data-square="{name}"]{{animation:{name} {time} ease-in-out infinite}}')
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
    FILE.write_text(drawing(), encoding="utf-8")
