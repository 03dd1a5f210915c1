"""The pieces as strokes of the pen: Chinese characters, Latin letters and little pictures.

    strokes on a grid of 100 x 100, y down     "22,20 78,20; 50,8 50,94"
    a stroke is a line through its points; strokes are separated by semicolons

As a brush does, what leads across is drawn thinner than what leads down.

Drawn for this project from the way the characters are written, point by point; no font and no
other piece set was traced. They have the project's licence (MIT). No font is needed to show them.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise

from tbgen.indexing.squares import LETTERS, PieceType, Side

PIECE_SETS = ("zh", "latin", "picture")
"""Chinese characters, the letters of a FEN, or pictures as of western chess."""

_CHARIOT = "22,20 78,20; 28,35 72,35 72,65 28,65 28,35; 28,50 72,50; 12,79 88,79; 50,6 50,96"
_HORSE = (
    "28,10 28,58; 28,10 78,10; 28,26 74,26; 28,42 74,42; 52,10 52,58; "
    "28,58 86,58 80,90 68,86; 16,70 11,86; 33,70 35,84; 48,69 51,82; 63,68 67,79"
)
_MAN = "66,6 44,30 14,52; 44,34 44,96"
_WRAP = (
    "34,6 22,28 6,44; 26,24 92,24 92,52 88,66 74,62; "
    "20,42 62,42 62,60 20,60; 20,42 20,84 28,92 82,92 92,88 94,74"
)
_FIRE = "16,34 24,54; 82,28 68,48; 48,8 48,46 40,68 12,94; 50,56 64,74 90,92"
_STONE = "8,14 92,14; 54,14 40,42 8,66; 32,48 84,48 84,90 32,90 32,48"
_SCHOLAR = "8,40 92,40; 50,6 50,88; 22,88 78,88"
_TREE = "6,32 94,32; 50,6 50,96; 48,36 32,56 6,76; 54,42 72,54 90,68"
_EYE = "14,10 86,10 86,92 14,92 14,10; 14,37 86,37; 14,64 86,64"
_HILL = "48,4 36,18; 14,18 14,94; 14,18 82,18 82,48 14,48; 14,60 88,60 88,90 14,90"
_CLOTH = "10,30 10,80; 10,30 90,30 90,74 72,70; 50,4 50,98"
_PLANK = "76,4 76,98; 14,14 14,42 76,42; 4,60 76,60; 30,60 24,78 6,94"
_COMMAND = (
    "40,2 28,20 6,38; 34,14 80,14 62,36 8,54; 34,24 44,31; 20,34 30,41; "
    "2,64 98,64; 70,50 70,92 50,84; 24,74 38,86"
)

_Part = tuple[str, float, float, float, float]
"""Strokes, and the left, top, width and height of the box they are fitted into."""

_ALL = (0, 0, 100, 100)
_LEFT, _RIGHT = (4, 4, 34, 92), (38, 4, 58, 92)

_CHARACTERS: dict[tuple[Side, PieceType], list[_Part]] = {
    (Side.RED, PieceType.KING): [(_HILL, 6, 4, 42, 92), (_CLOTH, 54, 4, 42, 92)],
    (Side.RED, PieceType.ADVISOR): [(_MAN, *_LEFT), (_SCHOLAR, *_RIGHT)],
    (Side.RED, PieceType.ELEPHANT): [(_TREE, 2, 4, 50, 92), (_EYE, 54, 6, 44, 88)],
    (Side.RED, PieceType.ROOK): [(_MAN, *_LEFT), (_CHARIOT, *_RIGHT)],
    (Side.RED, PieceType.KNIGHT): [(_MAN, *_LEFT), (_HORSE, 32, 4, 66, 92)],
    (Side.RED, PieceType.CANNON): [(_FIRE, 2, 6, 46, 90), (_WRAP, 46, 4, 52, 92)],
    (Side.RED, PieceType.PAWN): [
        ("70,6 52,14 28,19; 28,18 28,62; 28,39 80,39; 62,39 62,62; 8,63 92,63; "
         "38,72 28,84 14,93; 62,72 74,82 88,92", *_ALL)
    ],
    (Side.BLACK, PieceType.KING): [(_PLANK, 2, 4, 36, 92), (_COMMAND, 40, 4, 58, 92)],
    (Side.BLACK, PieceType.ADVISOR): [(_SCHOLAR, *_ALL)],
    (Side.BLACK, PieceType.ELEPHANT): [
        ("44,2 34,14 18,24; 40,11 66,11 56,24; 24,25 78,25 78,44 24,44 24,25; 51,25 51,44; "
         "50,44 36,56 12,64; 40,52 54,62 58,78 54,94 44,88; 50,62 36,72 12,79; "
         "56,74 38,86 10,94; 80,50 60,62; 58,60 74,78 92,90", *_ALL)
    ],
    (Side.BLACK, PieceType.ROOK): [(_CHARIOT, *_ALL)],
    (Side.BLACK, PieceType.KNIGHT): [(_HORSE, *_ALL)],
    (Side.BLACK, PieceType.CANNON): [(_STONE, 2, 8, 44, 84), (_WRAP, 46, 4, 52, 92)],
    (Side.BLACK, PieceType.PAWN): [
        ("50,3 50,17; 14,19 86,19; 32,23 26,38 14,54; 33,38 45,51; 68,23 62,38 51,54; "
         "69,38 85,53; 8,66 92,66; 50,55 50,98", *_ALL)
    ],
}  # fmt: skip
"""帥仕相俥傌炮兵 and 將士象車馬砲卒."""

_LATIN = {
    PieceType.KING: "24,6 24,94; 80,6 24,58; 42,42 82,94",
    PieceType.ADVISOR: "12,94 50,6 88,94; 26,64 74,64",
    PieceType.ELEPHANT: (
        "22,6 22,94; 22,6 58,6 72,14 74,28 66,42 54,48 22,48; 54,48 72,54 80,68 76,84 60,94 22,94"
    ),
    PieceType.ROOK: "22,94 22,6 60,6 74,14 78,30 72,44 58,52 22,52; 50,52 80,94",
    PieceType.KNIGHT: "20,94 20,6 80,94 80,6",
    PieceType.CANNON: "82,22 70,10 52,5 34,10 20,26 15,50 20,74 34,90 52,95 70,90 82,78",
    PieceType.PAWN: "24,94 24,6 60,6 76,16 80,32 74,48 58,56 24,56",
}


_PICTURES = {
    PieceType.KING: "14,78 8,24 32,48 50,12 68,48 92,24 86,78 14,78; 14,92 86,92",
    PieceType.ADVISOR: (
        "22,44 22,30 36,12 64,12 78,30 78,44; 2,44 98,44; 30,44 30,68 50,90 70,68 70,44; "
        "42,58 42,60; 58,58 58,60"
    ),
    PieceType.ELEPHANT: (
        "6,90 6,46 22,26 54,22 76,24 90,42 94,80 84,88 78,80; 6,90 28,90 30,68 54,68 56,90 72,90 "
        "72,62; 58,26 46,42 62,52; 78,40 78,42"
    ),
    PieceType.ROOK: (
        "18,92 82,92 74,78 26,78 18,92; 30,78 34,40; 70,78 66,40; "
        "20,40 20,10 38,10 38,22 44,22 44,10 56,10 56,22 62,22 62,10 80,10 80,40 20,40"
    ),
    PieceType.KNIGHT: (
        "22,92 82,92 82,56 70,30 50,16 42,4 38,18 28,32 10,56 20,68 36,60 54,52 32,74 22,92; "
        "42,34 44,36"
    ),
    PieceType.CANNON: (
        "8,60 64,14 82,36 52,60; 60,8 88,42; 36,54 50,60 56,74 50,88 36,94 22,88 16,74 22,60 "
        "36,54; 36,73 36,75; 56,82 94,94"
    ),
    PieceType.PAWN: (
        "24,92 76,92 68,76 32,76 24,92; 38,76 44,48; 62,76 56,48; 32,48 68,48; "
        "50,48 36,40 32,28 38,14 50,8 62,14 68,28 64,40 50,48"
    ),
}


@cache
def piece_path(side: Side, kind: PieceType, piece_set: str) -> tuple[str, str]:
    """The strokes of a piece, heavy and thin, each as the `d` of an SVG path.

    They are around the origin, 100 units wide. Only characters have thin ones.
    """
    if piece_set == "zh":
        return strokes_path(_CHARACTERS[side, kind])
    shape = (_LATIN if piece_set == "latin" else _PICTURES)[kind]
    heavy, thin = strokes_path([(shape, *_ALL)])
    return heavy + thin, ""


def strokes_path(parts: list[_Part]) -> tuple[str, str]:
    """All strokes of all parts, each fitted into its box: those that lead down, and across."""
    heavy: list[str] = []
    thin: list[str] = []
    for strokes, left, top, width, height in parts:
        for stroke in strokes.split(";"):
            points = []
            for point in stroke.split():
                x, y = (float(number) for number in point.split(","))
                points.append((left + x * width / 100 - 50, top + y * height / 100 - 50))
            for (x0, y0), (x1, y1) in pairwise(points):
                across = abs(x1 - x0) > 2.2 * abs(y1 - y0)
                (thin if across else heavy).append(f"M{x0:g} {y0:g}L{x1:g} {y1:g}")
    return "".join(heavy), "".join(thin)


def piece_id(code: int) -> str:
    """The name of a piece code's symbol: its FEN letter behind `p-`, so `p-R` or `p-r`."""
    letter = LETTERS[(code & 7) - 1]
    return f"p-{letter.lower() if code & 8 else letter}"
