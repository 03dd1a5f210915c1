"""Move text of the World Xiangqi Federation: `C2.5`, `R+.3`, `C--1`, and special cases for pawns.

    a piece     letter and file; of two on one file, + (front) or - (rear) in place of the file
    pawns       three on one file      P+   P3   P-        (3 = the file: the middle pawn)
                four on one file       ++   P+   P-   --
                five on one file       ++   P+   P3   P-   --
                several on two files   3+   33   3-   7+   7-  (first the file; 33: the middle one)
    displacement  + ahead, - back, . sideways; then the points moved along a file, or the file that
                  a sideways or diagonal move reaches

Source: "Official xiangqi piece names and notation" (AXF 1980/82, WXF 1997). Also read: `=` for
`.`, other dashes for `-`, lower case, B M for E, N for H, G for A, S for P. Some programs write a
pawn's number from the front, then its file. This is read, too: `16.7` moves file 6's first pawn.
"""

from __future__ import annotations

import re
import unicodedata

from tbgen.indexing.squares import PieceType
from tbgen.notation.naming import Displacement, RelativePlace

LETTERS = "KAERHCP"
"""Letter of each `PieceType` in the federation's notation."""

_ALIASES = str.maketrans("BMNGS=\N{MIDDLE DOT}\N{EN DASH}\N{EM DASH}\N{MINUS SIGN}", "EEHAP..---")
_TEXT = re.compile(r"([KAERHCP][1-9+-]|[1-9+-]{2})([+.-])([1-9])")


def split(text: str) -> tuple[str, Displacement] | None:
    """Split a move's text into the piece's name and the displacement; None for other text."""
    plain = unicodedata.normalize("NFKC", text.strip()).upper().translate(_ALIASES)
    match = _TEXT.fullmatch(plain)
    if match is None:
        return None
    return match.group(1), Displacement(match.group(2), int(match.group(3)))


def join(name: str, moved: Displacement) -> str:
    """Return the text of a move, from the piece's name and the displacement."""
    return f"{name}{moved.direction}{moved.number}"


def names(place: RelativePlace) -> list[str]:
    """Return the names by which the text of a move may refer to a piece, such as `C2` and `C+`.

    The first one is the federation's; the others are only read.
    """
    letter, file = LETTERS[place.kind], f"{LETTERS[place.kind]}{place.file}"
    if place.count_on_file == 1:
        return [file]
    sign = {1: "+", place.count_on_file: "-"}.get(place.rank, "")
    if not place.is_tandem:
        return [file, letter + sign]
    if place.kind != PieceType.PAWN:
        return [letter + sign, file]
    signed = [letter + sign] if sign else []
    middle = 2 * place.rank == place.count_on_file + 1
    # The file alone names the middle pawn; of two or four pawns, the one that can make the move.
    bare = [file] if middle or place.count_on_file % 2 == 0 else []
    others = [f"{place.rank}{place.file}", *bare]
    if place.crowded_files > 1:
        return [f"{place.file}{sign or place.file}", *signed, *others]
    if place.count_on_file < 4:
        with_file = [f"{place.file}{sign}"] if sign else []
        return [letter + sign if sign else file, *with_file, *others]
    if sign:
        return [2 * sign, *others]
    if middle:
        return [file, *others]
    return [letter + ("+" if 2 * place.rank <= place.count_on_file else "-"), *others]
