"""PNG of a position and GIF of a game or line, for programs that show no SVG.

    PNG    by resvg; its wheels need no system library
    GIF    board, pieces and marks as pixels, each drawn once  ->  composed for each moment

The extras `web` and `png` install resvg. A GIF also needs Pillow, which only `web` installs.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from tbgen.board.drawing.animation import Frame, Pace, PiecePath, piece_paths
from tbgen.board.drawing.diagram import (
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
from tbgen.indexing import InputError, Move, Position

if TYPE_CHECKING:
    from PIL.Image import Image


@cache
def can_rasterise() -> bool:
    """Import resvg, and return whether it is installed; the result is cached."""
    try:
        import resvg_py  # noqa: F401
    except ImportError:
        return False
    return True


def png(svg: str, width: int) -> bytes:
    """Convert a standalone SVG to PNG of `width` pixels; raises `InputError` without resvg."""
    try:
        import resvg_py
    except ImportError:
        raise InputError("PNG needs resvg-py", "pip install 'tbgen[png]', or take SVG") from None
    # Pictures contain no text; loading system fonts takes a second.
    data: bytes = resvg_py.svg_to_bytes(svg_string=svg, width=width, skip_system_fonts=True)
    return data


GLIDES = 3
"""Number of GIF pictures for each move that show the moving piece between its two squares."""

COLOURS = 64
"""Number of colours of a GIF; all its pictures share one palette."""

_HALF = 54
"""Half the width of the square that holds a piece with its shadow, in picture units."""


class Moment(NamedTuple):
    """One picture of a GIF: the animation at the time `second`, shown for `shown` seconds.

    `move` is the move whose squares are marked, None before the first move. `arrows` are those of
    the move's frame, and empty while the piece is on its way.
    """

    second: float
    shown: float
    move: Move | None
    arrows: tuple[Arrow, ...]


def gif(start: Position, frames: Sequence[Frame], look: Look, width: int) -> bytes:
    """Return an endless GIF, `width` pixels wide; raises `InputError` without resvg or Pillow."""
    renderer = _Renderer(look, width)
    from PIL.Image import Dither  # `_pixels` has raised without Pillow

    pace = Pace()
    paths = piece_paths(start, [frame.move for frame in frames], pace)
    moments = list(moments_of(frames, pace))
    # One palette for all pictures, as colours would flicker otherwise.
    kinds = {"".join(sorted({arrow.kind for arrow in moment.arrows})): moment for moment in moments}
    typical = [renderer.picture(paths, moment, pace) for moment in (moments[0], *kinds.values())]
    stacked = typical[0].resize((width, typical[0].height * len(typical)))
    for number, picture in enumerate(typical):
        stacked.paste(picture, (0, picture.height * number))
    chosen = stacked.quantize(COLOURS)
    pictures = (
        renderer.picture(paths, moment, pace).quantize(palette=chosen, dither=Dither.NONE)
        for moment in moments
    )
    milliseconds = [round(1000 * moment.shown) for moment in moments]
    out, first = io.BytesIO(), next(pictures)
    first.save(out, "GIF", save_all=True, append_images=pictures, duration=milliseconds, loop=0)
    return out.getvalue()


def moments_of(frames: Sequence[Frame], pace: Pace) -> Iterator[Moment]:
    """Yield the moments of a game: the start, then `GLIDES` + 1 for each move."""
    yield Moment(0.0, pace.opening, None, ())
    step = pace.glide / (GLIDES + 1)
    for number, frame in enumerate(frames):
        begins = pace.begins(number)
        for glide in range(1, GLIDES + 1):
            yield Moment(begins + glide * step, pace.glide / GLIDES, frame.move, ())
        closing = pace.closing if number == len(frames) - 1 else 0.0
        stays = pace.ply - pace.glide + closing
        yield Moment(begins + pace.glide, stays, frame.move, frame.arrows)


class _Renderer:
    """Drawer of pictures with one look and width in pixels; board, pieces and arrows are cached."""

    def __init__(self, look: Look, width: int) -> None:
        self._look, self._scale = look, width / WIDTH
        self._symbols = symbols(look.pieces)
        drawn = self._pixels(empty_board(look.flip, look.notation), VIEW_BOX)
        import PIL.Image  # `_pixels` has raised without Pillow

        self._empty = PIL.Image.new("RGB", drawn.size, "white")
        self._empty.paste(drawn, (0, 0), drawn)
        self._ring = self._patch('<circle class="last" r="50"/>')
        self._pieces: dict[int, Image] = {}
        self._arrows: dict[tuple[Arrow, ...], Image] = {}

    def picture(self, paths: Sequence[PiecePath], moment: Moment, pace: Pace) -> Image:
        """Return the picture of a moment: board, squares of the move, pieces, arrows."""
        found, flip = self._empty.copy(), self._look.flip
        for square in moment.move or ():
            self._put(found, self._ring, place(square, flip))
        for path in paths:
            where = path.at(moment.second, pace, flip)
            if where is not None:
                if path.code not in self._pieces:
                    use = f'{self._symbols}<use href="#{piece_id(path.code)}"/>'
                    self._pieces[path.code] = self._patch(use)
                self._put(found, self._pieces[path.code], where)
        if moment.arrows:
            if moment.arrows not in self._arrows:
                drawn = "".join(draw_arrow(arrow, flip) for arrow in moment.arrows)
                self._arrows[moment.arrows] = self._pixels(drawn, VIEW_BOX)
            overlay = self._arrows[moment.arrows]
            found.paste(overlay, (0, 0), overlay)
        return found

    def _patch(self, drawn: str) -> Image:
        """Convert the SVG of a piece or mark, centred on the origin, to a square RGBA picture."""
        side = 2 * _HALF
        return self._pixels(drawn, f"-{_HALF} -{_HALF} {side} {side}")

    def _pixels(self, drawn: str, box: str) -> Image:
        """Convert the SVG elements `drawn` to RGBA pixels; `box` is their view box."""
        *_, wide, high = box.split()
        pixels = png(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" width="{wide}" '
            f'height="{high}"><style>{style(self._look.board)}</style>{drawn}</svg>',
            round(int(wide) * self._scale),
        )
        try:
            from PIL import Image
        except ImportError:
            raise InputError("GIF needs Pillow", "pip install 'tbgen[web]', or take SVG") from None
        return Image.open(io.BytesIO(pixels)).convert("RGBA")

    def _put(self, picture: Image, patch: Image, where: tuple[float, float]) -> None:
        """Paste a result of `_patch` onto a board, centred on (x, y) in picture units."""
        left, top, *_ = (int(number) for number in VIEW_BOX.split())
        corner = (
            round((where[0] - left) * self._scale - patch.width / 2),
            round((where[1] - top) * self._scale - patch.height / 2),
        )
        picture.paste(patch, corner, patch)
