"""docs/diagrams/forced-loop.svg: written by its script, with the tutorial's line, and animated."""

from __future__ import annotations

import re
import sys
from xml.etree import ElementTree

from tests.helpers.paths import DOCS, ROOT
from tests.helpers.sessions import blocks, steps_of

sys.path.insert(0, str(ROOT / "scripts" / "docs"))

import animation

TUTORIAL = (DOCS / "tutorial.md").read_text("utf-8")


def test_the_picture_is_current() -> None:
    """docs/diagrams/forced-loop.svg is what `python scripts/docs/animation.py` writes."""
    assert animation.FILE.read_text("utf-8") == animation.drawing()


def test_the_moves_are_those_of_the_tutorial() -> None:
    lines = [
        shown for session in blocks(TUTORIAL, "console") for command, shown in steps_of(session)
        if command == f'tbgen line "{animation.START}"'
    ]  # fmt: skip
    assert len(lines) == 1
    assert tuple(re.findall(r"\b(?:[a-i]\d){2}\b", "\n".join(lines[0]))) == animation.MOVES


def test_every_piece_ends_where_the_moves_lead() -> None:
    """Each animated piece ends on its square in the position after the last move."""
    from tbgen.board.drawing.diagram import Look, draw
    from tbgen.indexing import Move, Position

    position = Position.from_fen(animation.START)
    for text in animation.MOVES:
        position = position.after(*Move.from_iccs(text))
    expected = set(re.findall(r"translate\((\d+) (\d+)\)", draw(position, Look(), alone=True)))
    text = animation.drawing()
    ways = re.findall(r"@keyframes [a-i]\d\{(.*?)\}\}", text)
    assert len(ways) == 2  # the knight and the king
    ends = {re.findall(r"translate\((\d+)px,(\d+)px\)", way)[-1] for way in ways}
    assert len(ends) == 2
    assert ends <= expected


def test_every_scene_is_shown() -> None:
    scenes = re.findall(r"@keyframes (?:words|marks)\d+\{(.*?)\}\}", animation.drawing())
    assert len(scenes) > 10
    assert all("opacity:1" in scene for scene in scenes)


def test_the_picture_is_self_contained() -> None:
    """The animation loads no other file, runs no script, and respects reduced motion."""
    text = animation.drawing()
    ElementTree.fromstring(text)
    assert not re.search(r"(?:href|src)=\"(?!#)|<script|url\(", text)
    assert "prefers-reduced-motion" in text
