"""The board without pieces: wood, lines, palaces, the river with its name, marks, coordinates.

    file a..i  ->  x = 0, 100 .. 800      rank 9..0  ->  y = 0, 100 .. 900      (Red below)

Squares are the crossings of the lines. Characters are strokes, so that no font is needed. What
stands on the board is for `diagram`.
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

_WATER = "12,12 24,22; 5,36 17,46; 6,92 24,60"
_RIVER = (
    ("8,18 44,18; 26,4 26,48; 24,20 6,42; 28,22 46,40; 54,18 94,18; 74,4 74,48; 72,20 56,40; "
     "76,22 96,42; 16,54 86,54 78,66; 50,54 50,88; 50,71 78,71; 30,64 24,82 8,97; "
     "22,80 50,92 94,95"),
    (f"{_WATER}; 36,15 97,15; 82,15 82,90 66,84; 45,36 66,36 66,66 45,66 45,36"),
    (f"{_WATER}; 34,17 97,17; 53,5 53,30; 79,5 79,30; 45,35 88,35 88,52 45,52 45,35; 66,30 66,78; "
     "42,64 91,64; 33,78 99,78; 64,79 34,98; 68,80 97,98"),
    ("25,5 76,5 76,44 25,44 25,5; 50,5 50,44; 25,24 76,24; 49,46 8,70; 52,46 95,70; "
     "36,64 33,80 20,97; 67,62 67,98"),
)  # fmt: skip
"""楚河漢界: the river Chu, the border of Han."""

_NUMERALS = (
    "8,50 92,50",
    "22,26 78,26; 8,78 92,78",
    "16,18 84,18; 24,49 76,49; 6,82 94,82",
    "10,18 90,18 90,86 10,86 10,18; 38,18 36,48 22,62; 62,18 62,54 84,58",
    "14,12 86,12; 46,12 32,86; 20,48 76,48 70,86; 6,88 94,88",
    "48,4 54,20; 6,34 94,34; 36,52 10,94; 64,52 90,92",
    "6,46 94,34; 44,6 44,84 58,92 92,90 92,76",
    "36,22 28,56 6,92; 58,12 68,56 96,92",
    "12,34 70,34 70,84 96,86 96,70; 42,6 38,48 8,94",
)

_MARKED = (
    *((file, rank) for file in (1, 7) for rank in (2, 7)),
    *((file, rank) for file in (0, 2, 4, 6, 8) for rank in (3, 6)),
)
"""Where cannons and pawns stand in the beginning."""


def place(square: int, flip: bool) -> tuple[int, int]:
    """The place of a square in the picture."""
    rank, file = divmod(square, FILES)
    return (100 * (8 - file), 100 * rank) if flip else (100 * file, 100 * (9 - rank))


def scenery(flip: bool, notation: str) -> str:
    """Everything below the pieces; coordinates are those of the notation of moves, "" for none."""
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
"""The lines of the board; the files stop at the river."""


@cache
def _marks() -> str:
    """Little corners around the points of cannons and pawns."""
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
    """The four characters in the river."""
    found = []
    for x, strokes in zip((140, 250, 550, 660), _RIVER, strict=True):
        heavy, thin = strokes_path([(strokes, 0, 0, 100, 100)])
        found.append(
            f'<g transform="translate({x} 450) scale(.62)"><path d="{heavy}"/>'
            f'<path class="thin" d="{thin}"/></g>'
        )
    return f'<g class="river">{"".join(found)}</g>'


def _coordinates(flip: bool, notation: str) -> str:
    """The names of files and ranks, or the numbers of files as each side counts them."""
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
                heavy, thin = strokes_path([(_NUMERALS[number - 1], 0, 0, 100, 100)])
                found.append(
                    f'<path class="numeral" transform="translate({x} {y - 9 if below else y - 4}) '
                    f'scale(.22)" d="{heavy}{thin}"/>'
                )
            else:
                found.append(_label(x, y + 4, str(number)))
    return "".join(found)


def _label(x: float, y: float, text: str) -> str:
    return f'<text class="coordinate" x="{x}" y="{y}">{text}</text>'
