"""Names of pieces, squares and endgames in the reader's language.

KNPKAABB        knight and pawn against two advisors and two elephants     马兵对士象全
R, e4           the rook on e4                                             五路车

`tbgen.notation.materials` parses the names of endgames.
"""

from __future__ import annotations

from tbgen.board.language.i18n import localise, text
from tbgen.indexing import Army, Material, Side
from tbgen.indexing.squares import PieceType, piece_kind, piece_side, square_name
from tbgen.notation.chinese import piece_name as character
from tbgen.notation.materials import DEFENDERS, ENGLISH
from tbgen.notation.naming import file_number

_NUMBERS = ("", "", "two", "three", "four", "five")
_ATTACKERS_FIRST = (PieceType.ROOK, PieceType.KNIGHT, PieceType.CANNON, PieceType.PAWN)
_ORDER = (*_ATTACKERS_FIRST, PieceType.ADVISOR, PieceType.ELEPHANT)
_DIGITS = "一二三四五六七八九"


def piece_name(code: int, language: str) -> str:
    """Return the name of a piece code with its side: `Red rook`, `红车`."""
    side, kind = Side(piece_side(code)), PieceType(piece_kind(code))
    english = f"{text('en', side.name.lower())} {ENGLISH[kind]}"
    return localise(
        language, english, f"{'红' if side == Side.RED else '黑'}{character(side, kind)}"
    )


def point_name(square: int, language: str) -> str:
    """Return `e4`, or in Chinese file and rank as Red counts them: `五路第5线`."""
    rank = square // 9 + 1
    file = _DIGITS[file_number(Side.RED, square) - 1]
    return localise(
        language, square_name(square), f"{file}路{'底线' if rank == 1 else f'第{rank}线'}"
    )


def file_name(side: Side, square: int) -> str:
    """Return the file of a square as its side counts it: `三路` for Red, `３路` for Black."""
    number = file_number(side, square)
    return f"{_DIGITS[number - 1] if side == Side.RED else chr(ord('０') + number)}路"


def army_name(army: Army, side: Side, language: str) -> str:
    """Return the name of an army: `knight and two pawns`, `马双兵`; `bare king`, `单将`."""
    counts = [(kind, army.count(kind)) for kind in _ORDER if army.count(kind)]
    if language == "en":
        words = [
            f"{_NUMBERS[count]} {ENGLISH[kind]}s" if count > 1 else ENGLISH[kind]
            for kind, count in counts
        ]
        if len(words) > 1:
            words = [", ".join(words[:-1]) + " and " + words[-1]]
        return words[0] if words else "bare king"
    defenders = DEFENDERS.get((army.count(PieceType.ADVISOR), army.count(PieceType.ELEPHANT)), "")
    found = ""
    for kind, count in counts:
        if defenders and kind not in _ATTACKERS_FIRST:
            continue
        found += {1: "", 2: "双"}.get(count, _DIGITS[count - 1]) + character(side, kind)
        if count == 1 and len(counts) == 1 and kind not in _ATTACKERS_FIRST:
            found = f"单{found}"
    for kind in (PieceType.ADVISOR, PieceType.ELEPHANT):
        defenders = defenders.replace(character(Side.BLACK, kind), character(side, kind))
    found += defenders
    return localise(language, "", found or f"单{character(side, PieceType.KING)}")


def material_name(material: Material, language: str) -> str:
    """Return the name of a material: `Rook and knight against rook`, `车马对车`."""
    first = army_name(material.first, Side.RED, language)
    second = army_name(material.second, Side.BLACK, language)
    english = f"{first} against {second}"
    return localise(language, english[:1].upper() + english[1:], f"{first}对{second}")
