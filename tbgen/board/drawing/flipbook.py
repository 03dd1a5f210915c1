"""Game or line as GIF, for chats and slides that do not show SVG.

    board, pieces, marks as pixels, each drawn once  ->  composed for each moment  ->  GIF

resvg turns parts of the picture into pixels, and Pillow composes them. `animation` computes the
paths of the pieces, and makes the same picture as SVG; `story` makes the frames.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from tbgen.board.drawing.animation import Pace, Walk, walks
from tbgen.board.drawing.diagram import STYLE, Arrow, Look, draw_arrow, symbols
from tbgen.board.drawing.pieces import piece_id
from tbgen.board.drawing.raster import png
from tbgen.board.drawing.scenery import VIEW_BOX, WIDTH, place, scenery
from tbgen.board.drawing.story import Frame
from tbgen.indexing import Move, Position

if TYPE_CHECKING:
    from PIL.Image import Image

GLIDES = 3
"""Number of pictures that show a piece in motion, per move."""

COLOURS = 64
"""Number of colours of a GIF; all its pictures share one palette."""

_HALF = 54
"""Half the width of the square that holds a piece with its shadow, in units of the board."""


class Moment(NamedTuple):
    """One picture of a GIF: board, marked move and arrows at a time.

    `second` is its time in the game, and `shown` its duration, in seconds.
    """

    second: float
    shown: float
    move: Move | None
    arrows: tuple[Arrow, ...]


def flipbook(start: Position, frames: Sequence[Frame], look: Look, width: int = 480) -> bytes:
    """Return the GIF of a game, which repeats without end; `width` is in pixels.

    Raises `InputError` without resvg or Pillow.
    """
    easel = _Easel(look, width)
    from PIL.Image import Dither  # `_Easel` has raised without Pillow

    pace = Pace()
    paths = walks(start, [frame.move for frame in frames], pace)
    moments = list(moments_of(frames, pace))
    pictures = [easel.picture(paths, moment, pace) for moment in moments]
    # One palette for all pictures, as colours would flicker otherwise.
    kinds = {
        "".join(sorted({arrow.kind for arrow in moment.arrows})): picture
        for moment, picture in zip(moments, pictures, strict=True)
    }
    chosen = easel.stacked([pictures[0], *kinds.values()]).quantize(COLOURS)
    plain = Dither.NONE
    first, *rest = [picture.quantize(palette=chosen, dither=plain) for picture in pictures]
    milliseconds = [round(1000 * moment.shown) for moment in moments]
    out = io.BytesIO()
    first.save(out, "GIF", save_all=True, append_images=rest, duration=milliseconds, loop=0)
    return out.getvalue()


def moments_of(frames: Sequence[Frame], pace: Pace) -> Iterator[Moment]:
    """Yield the moments of a game: the start, then several for each move."""
    yield Moment(0.0, pace.opening, None, ())
    step = pace.glide / (GLIDES + 1)
    for number, frame in enumerate(frames):
        begins = pace.begins(number)
        for glide in range(1, GLIDES + 1):
            yield Moment(begins + glide * step, pace.glide / GLIDES, frame.move, ())
        closing = pace.closing if number == len(frames) - 1 else 0.0
        stays = pace.ply - pace.glide + closing
        yield Moment(begins + pace.glide, stays, frame.move, frame.arrows)


class _Easel:
    """Drawer of pictures with one look and width; each part is converted to pixels once."""

    def __init__(self, look: Look, width: int) -> None:
        self._look, self._width, self._scale = look, width, width / WIDTH
        self._symbols = symbols(look.pieces)
        self._empty = _on_white(_pixels(scenery(look.flip, look.notation), VIEW_BOX, width))
        self._ring = self._patch('<circle class="last" r="50"/>')
        self._pieces: dict[int, Image] = {}
        self._arrows: dict[tuple[Arrow, ...], Image] = {}

    def picture(self, paths: Sequence[Walk], moment: Moment, pace: Pace) -> Image:
        """Return the picture of a moment: board, squares of the move, pieces, arrows."""
        found, flip = self._empty.copy(), self._look.flip
        for square in moment.move or ():
            self._put(found, self._ring, place(square, flip))
        for walk in paths:
            where = walk.at(moment.second, pace, flip)
            if where is not None:
                self._put(found, self._piece(walk.code), where)
        if moment.arrows:
            if moment.arrows not in self._arrows:
                drawn = "".join(draw_arrow(arrow, flip) for arrow in moment.arrows)
                self._arrows[moment.arrows] = _pixels(drawn, VIEW_BOX, self._width)
            overlay = self._arrows[moment.arrows]
            found.paste(overlay, (0, 0), overlay)
        return found

    def stacked(self, pictures: Sequence[Image]) -> Image:
        """Stack pictures one below another into one, to compute their common palette."""
        width, height = self._empty.size
        found = self._empty.resize((width, height * len(pictures)))
        for number, picture in enumerate(pictures):
            found.paste(picture, (0, height * number))
        return found

    def _piece(self, code: int) -> Image:
        if code not in self._pieces:
            use = f'{self._symbols}<use href="#{piece_id(code)}"/>'
            self._pieces[code] = self._patch(use)
        return self._pieces[code]

    def _patch(self, drawn: str) -> Image:
        """Convert SVG content to pixels: the square around the origin that a piece fills."""
        side = 2 * _HALF
        box = f"-{_HALF} -{_HALF} {side} {side}"
        return _pixels(drawn, box, round(side * self._scale))

    def _put(self, picture: Image, patch: Image, where: tuple[float, float]) -> None:
        """Paste a patch onto a picture, centred on a point of the board."""
        left, top, *_ = (int(number) for number in VIEW_BOX.split())
        corner = (
            round((where[0] - left) * self._scale - patch.width / 2),
            round((where[1] - top) * self._scale - patch.height / 2),
        )
        picture.paste(patch, corner, patch)


def _on_white(picture: Image) -> Image:
    """Return a copy of a picture on a white background, without transparency."""
    from PIL import Image

    found = Image.new("RGB", picture.size, "white")
    found.paste(picture, (0, 0), picture)
    return found


def _pixels(drawn: str, box: str, width: int) -> Image:
    """Convert SVG content to RGBA pixels.

    box : the SVG's view box; width : width of the result in pixels
    """
    *_, wide, high = box.split()
    picture = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" width="{wide}" height="{high}">'
        f"<style>{STYLE}</style>{drawn}</svg>"
    )
    pixels = png(picture, width)
    from PIL import Image  # after `png`, which raises without the extra

    return Image.open(io.BytesIO(pixels)).convert("RGBA")
