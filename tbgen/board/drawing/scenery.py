"""Board without pieces: background, lines, palaces, river with characters, coordinates.

    file a..i  ->  x = 0, 100 .. 800      rank 9..0  ->  y = 0, 100 .. 900      (Red below)

Squares are the crossings of the lines. Characters are strokes, so no font is needed.
"""

from __future__ import annotations

from functools import cache

from tbgen.board.drawing.pieces import strokes_path
from tbgen.indexing import Side
from tbgen.indexing.squares import FILES
from tbgen.notation.naming import file_number

WIDTH, HEIGHT = 960, 1074
VIEW_BOX = f"-80 -84 {WIDTH} {HEIGHT}"

_PALACES = "M300 0L500 200M500 0L300 200M300 900L500 700M500 900L300 700"

_MARKED = (
    *((file, rank) for file in (1, 7) for rank in (2, 7)),
    *((file, rank) for file in (0, 2, 4, 6, 8) for rank in (3, 6)),
)
"""Start squares of cannons and pawns, which have corner marks, as (file, rank)."""


def place(square: int, flip: bool) -> tuple[int, int]:
    """Return x and y of a square in the picture; `flip` draws Black below."""
    rank, file = divmod(square, FILES)
    return (100 * (8 - file), 100 * rank) if flip else (100 * file, 100 * (9 - rank))


def scenery(flip: bool, notation: str) -> str:
    """Return the SVG of everything below the pieces.

    notation : move notation whose coordinates are shown, "" for none
    """
    return (
        '<rect class="wood" x="-80" y="-84" width="960" height="1074" rx="18"/>'
        '<rect class="frame" x="-54" y="-54" width="908" height="1008" rx="6"/>'
        f'<path class="line" d="{_GRID}"/><path class="line" d="{_marks()}"/>{_river()}'
        f"{_coordinates(flip, notation)}"
    )


_GRID = (
    "".join(f"M0 {y}H800" for y in range(0, 1000, 100))
    + "".join(f"M{x} 0V400M{x} 500V900" for x in range(100, 800, 100))
    + f"M0 0V900M800 0V900{_PALACES}"
)
"""SVG path of the board's lines; the inner files stop at the river."""


@cache
def _marks() -> str:
    """Return the SVG path of the corner marks around the start squares of cannons and pawns."""
    found = []
    for file, rank in _MARKED:
        x, y = place(FILES * rank + file, False)
        for dx in (-1, 1):
            if 0 <= x + 50 * dx <= 800:
                found += [
                    f"M{x + 28 * dx} {y + 10 * dy}H{x + 10 * dx}V{y + 28 * dy}" for dy in (-1, 1)
                ]
    return "".join(found)


@cache
def _river() -> str:
    """Return the SVG of the characters in the river: 楚河 (river of Chu), 漢界 (border of Han)."""
    found = []
    for x, name in zip((140, 250, 550, 660), "楚河漢界", strict=True):
        heavy, thin = strokes_path((name, 0, 0, 100, 100))
        found.append(
            f'<g transform="translate({x} 450) scale(.62)"><path d="{heavy}"/>'
            f'<path class="thin" d="{thin}"/></g>'
        )
    return f'<g class="river">{"".join(found)}</g>'


def _coordinates(flip: bool, notation: str) -> str:
    """Return the SVG of the coordinates of a move notation.

    These are names of files and ranks, or each side's file numbers for `wxf` and Chinese.
    """
    if not notation:
        return ""
    if notation in ("iccs", "fairy"):
        first = 1 if notation == "fairy" else 0
        files = "".join(
            _label(place(file, flip)[0], 980, "abcdefghi"[file]) for file in range(FILES)
        )
        return files + "".join(
            _label(-66, place(FILES * rank, flip)[1] + 9, str(rank + first)) for rank in range(10)
        )
    found = []
    for side in Side:
        below = (side == Side.RED) != flip
        for file in range(FILES):
            x, y = place(file, flip)[0], 976 if below else -64
            number = file_number(side, file)
            if notation != "wxf" and side == Side.RED:
                name = "一二三四五六七八九"[number - 1]
                heavy, thin = strokes_path((name, 0, 0, 100, 100))
                found.append(
                    f'<path class="numeral" transform="translate({x} {y - 9 if below else y - 4}) '
                    f'scale(.22)" d="{heavy}{thin}"/>'
                )
            else:
                found.append(_label(x, y + 4, str(number)))
    return "".join(found)


def _label(x: float, y: float, text: str) -> str:
    return f'<text class="coordinate" x="{x}" y="{y}">{text}</text>'
