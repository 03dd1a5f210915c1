"""Pieces and coordinates as pen strokes: Chinese characters, Latin letters, digits, pictures.

    strokes.csv, on a grid of 100 x 100, y down     "22,20 78,20; 50,8 50,94"
    a stroke is a line through its points; strokes are separated by semicolons

In the Chinese characters of pieces and river, nearly horizontal strokes are thinner than others,
as with a brush. Coordinates, Latin letters and pictures have one thickness.

All strokes were drawn for this project after the written characters, point by point; no font and no
other piece set was traced. The strokes have the project's licence (MIT), and need no font.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

from tbgen.board.language.i18n import read_csv
from tbgen.indexing.position import LETTERS_BY_CODE
from tbgen.indexing.squares import PieceType, Side

PIECE_SETS = ("zh", "latin", "picture")
"""Names of the piece sets: Chinese characters, FEN letters, or pictures as in western chess."""

_STROKES = dict(read_csv(Path(__file__).with_name("strokes.csv")))

_Part = tuple[str, float, float, float, float]
"""Name of strokes in `strokes.csv`, then left, top, width and height of the box that they fill."""

_ALL = (0, 0, 100, 100)
_LEFT, _RIGHT = (4, 4, 34, 92), (38, 4, 58, 92)

_CHARACTERS: dict[tuple[Side, PieceType], list[_Part]] = {
    (Side.RED, PieceType.KING): [("hill", 6, 4, 42, 92), ("cloth", 54, 4, 42, 92)],
    (Side.RED, PieceType.ADVISOR): [("man", *_LEFT), ("scholar", *_RIGHT)],
    (Side.RED, PieceType.ELEPHANT): [("tree", 2, 4, 50, 92), ("eye", 54, 6, 44, 88)],
    (Side.RED, PieceType.ROOK): [("man", *_LEFT), ("chariot", *_RIGHT)],
    (Side.RED, PieceType.KNIGHT): [("man", *_LEFT), ("horse", 32, 4, 66, 92)],
    (Side.RED, PieceType.CANNON): [("fire", 2, 6, 46, 90), ("wrap", 46, 4, 52, 92)],
    (Side.RED, PieceType.PAWN): [("red pawn", *_ALL)],
    (Side.BLACK, PieceType.KING): [("plank", 2, 4, 36, 92), ("command", 40, 4, 58, 92)],
    (Side.BLACK, PieceType.ADVISOR): [("scholar", *_ALL)],
    (Side.BLACK, PieceType.ELEPHANT): [("black elephant", *_ALL)],
    (Side.BLACK, PieceType.ROOK): [("chariot", *_ALL)],
    (Side.BLACK, PieceType.KNIGHT): [("horse", *_ALL)],
    (Side.BLACK, PieceType.CANNON): [("stone", 2, 8, 44, 84), ("wrap", 46, 4, 52, 92)],
    (Side.BLACK, PieceType.PAWN): [("black pawn", *_ALL)],
}
"""Parts of the piece characters 帥仕相俥傌炮兵 (Red) and 將士象車馬砲卒 (Black)."""


@cache
def piece_path(side: Side, kind: PieceType, piece_set: str) -> tuple[str, str]:
    """Return the heavy and the thin strokes of a piece, each as the `d` of an SVG path.

    The strokes are centred on the origin, 100 units wide. `piece_set` is one of `PIECE_SETS`; only
    "zh" has thin strokes, for the others the second string is empty.
    """
    if piece_set == "zh":
        return strokes_path(*_CHARACTERS[side, kind])
    heavy, thin = strokes_path((f"{piece_set} {kind.name.lower()}", *_ALL))
    return heavy + thin, ""


def strokes_path(*parts: _Part) -> tuple[str, str]:
    """Return the heavy and the thin (near-horizontal) strokes of a character, as `piece_path`."""
    heavy: list[str] = []
    thin: list[str] = []
    for name, left, top, width, height in parts:
        for stroke in _strokes(name):
            points = [(left + x * width / 100 - 50, top + y * height / 100 - 50) for x, y in stroke]
            for (x0, y0), (x1, y1) in pairwise(points):
                across = abs(x1 - x0) > 2.2 * abs(y1 - y0)
                (thin if across else heavy).append(f"M{x0:g} {y0:g}L{x1:g} {y1:g}")
    return "".join(heavy), "".join(thin)


def even_path(name: str) -> str:
    """Return the strokes of a character as the `d` of one SVG path, for one thickness.

    They are centred on the origin, 100 units high. `name` is a digit, a letter from a to i, or a
    numeral from 一 to 九.
    """
    lines = ("L".join(f"{x - 50:g} {y - 50:g}" for x, y in stroke) for stroke in _strokes(name))
    return "".join(f"M{line}" for line in lines)


def _strokes(name: str) -> Iterator[list[tuple[float, float]]]:
    """Yield the strokes of an entry of `strokes.csv`, each as the list of its points (x, y)."""
    for stroke in _STROKES[name].split(";"):
        corners = (point.split(",") for point in stroke.split())
        yield [(float(x), float(y)) for x, y in corners]


def piece_id(code: int) -> str:
    """Return the id of a piece's SVG symbol: `p-` and its FEN letter, such as `p-R` or `p-r`."""
    return f"p-{LETTERS_BY_CODE[code]}"
