"""Names of pieces, points and endgames in the reader's language.

KNPKAABB        knight and pawn against two advisors and two elephants     马兵对士象全
R, e4           the rook on e4                                             五路车
material text   KRNKR, krn-kr, 车马对车, 单车难胜士象全, rook and knight against rook ...
                                                                           ->  Material
"""

from __future__ import annotations

import re

from tbgen.board.language.i18n import localise, text
from tbgen.indexing import Army, Material, Side
from tbgen.indexing.squares import LETTERS, PieceType, piece_kind, piece_side, square_name
from tbgen.notation.chinese import piece_name as character
from tbgen.notation.naming import file_number

ENGLISH = ("king", "advisor", "elephant", "rook", "knight", "cannon", "pawn")
"""By `PieceType`."""

_NUMBERS = ("", "", "two", "three", "four", "five")
_ATTACKERS_FIRST = (PieceType.ROOK, PieceType.KNIGHT, PieceType.CANNON, PieceType.PAWN)
_ORDER = (*_ATTACKERS_FIRST, PieceType.ADVISOR, PieceType.ELEPHANT)
_DIGITS = "一二三四五六七八九"
_READ = {"车": "R", "俥": "R", "車": "R", "马": "N", "馬": "N", "傌": "N", "炮": "C", "砲": "C",
         "包": "C", "兵": "P", "卒": "P", "士": "A", "仕": "A", "象": "B", "相": "B", "将": "K",
         "將": "K", "帅": "K", "帥": "K"}  # fmt: skip
_WORDS = {
    **{name: LETTERS[kind] for kind, name in zip(PieceType, ENGLISH, strict=True)},
    "chariot": "R", "horse": "N", "guard": "A", "minister": "B", "bishop": "B", "soldier": "P",
}  # fmt: skip
_NUMBER_WORDS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5}
_COUNTS = {"单": 1, "孤": 1, "双": 2, "雙": 2, "两": 2, "兩": 2, "二": 2, "三": 3, "四": 4, "五": 5}

_DEFENDERS = {(2, 2): "士象全", (2, 1): "单缺象", (1, 2): "单缺士"}
"""Chinese names of defenders, by the numbers of advisors and elephants."""

_AGAINST = re.compile("[必难難巧例]?[胜勝和]|[对對]")
"""Words between two armies: `对`, or a book's verdict, as in 单车难胜士象全."""


def piece_name(code: int, language: str) -> str:
    """`Red rook`, `红车`: a piece with its side, by its code."""
    side, kind = Side(piece_side(code)), PieceType(piece_kind(code))
    english = f"{text('en', side.name.lower())} {ENGLISH[kind]}"
    return localise(
        language, english, f"{'红' if side == Side.RED else '黑'}{character(side, kind)}"
    )


def point_name(square: int, language: str) -> str:
    """`e4`; in Chinese the file from Red's right and the rank from Red's side, `五路第5线`."""
    rank = square // 9 + 1
    file = _DIGITS[file_number(Side.RED, square) - 1]
    return localise(
        language, square_name(square), f"{file}路{'底线' if rank == 1 else f'第{rank}线'}"
    )


def file_name(side: Side, square: int) -> str:
    """The file of a piece as its side counts it: `三路` of Red, `３路` of Black."""
    number = file_number(side, square)
    return f"{_DIGITS[number - 1] if side == Side.RED else chr(ord('０') + number)}路"


def army_name(army: Army, side: Side, language: str) -> str:
    """`knight and two pawns`, `马双兵`; `the bare king`, `单将`."""
    counts = [(kind, army.count(kind)) for kind in _ORDER if army.count(kind)]
    if language == "en":
        words = [
            f"{_NUMBERS[count]} {ENGLISH[kind]}s" if count > 1 else ENGLISH[kind]
            for kind, count in counts
        ]
        if len(words) > 1:
            words = [", ".join(words[:-1]) + " and " + words[-1]]
        return words[0] if words else "bare king"
    defenders = _DEFENDERS.get((army.count(PieceType.ADVISOR), army.count(PieceType.ELEPHANT)), "")
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
    """`Rook and knight against rook`, `车马对车`."""
    first = army_name(material.first, Side.RED, language)
    second = army_name(material.second, Side.BLACK, language)
    english = f"{first} against {second}"
    return localise(language, english[:1].upper() + english[1:], f"{first}对{second}")


def read_material(words: str) -> Material | None:
    """The material that a text names in any spelling; None if it names none.

    `KRNKR`, `krn-kr`, `KRNvKR`, `KRN v KR`, `rn/r`, `车马对车`, `車馬對車`, `馬兵對士象全`,
    `马兵必胜单缺象`, `rook and knight against rook`, `two pawns v bare king`.
    """
    plain = words.strip()
    if re.search(r"[一-鿿]", plain):
        halves = _AGAINST.split(plain)
        spelt = [_letters(half) for half in halves]
        if len(spelt) != 2 or None in spelt:
            return None
        return _material(f"K{spelt[0]}K{spelt[1]}")
    armies = [_army(half) for half in re.split(r" (?:against|versus|vs?\.?) |/", plain.lower())]
    if len(armies) == 2 and None not in armies:
        return _material(f"K{armies[0]}K{armies[1]}")
    letters = re.sub(r"(?:[\s_:/+-]|[Vv]s?\.?)+", "/", plain).strip("/").upper()
    if not re.fullmatch(r"[A-Z]*/?[A-Z]*", letters) or not letters:
        return None
    if "/" in letters:
        letters = "".join(f"K{half.removeprefix('K')}" for half in letters.split("/"))
    return _material(letters)


def _army(words: str) -> str | None:
    """The letters of one army in English words, its king left out; None for any other text."""
    found, count = "", 1
    for word in re.findall(r"[^\s,]+", words):
        letter = _WORDS.get(word) or _WORDS.get(word.removesuffix("s"))
        if word in _NUMBER_WORDS:
            count = _NUMBER_WORDS[word]
        elif letter is not None:
            found += "" if letter == "K" else letter * count
            count = 1
        elif word not in ("and", "bare", "lone"):
            return None
    return found if words.strip() else None


def _letters(words: str) -> str | None:
    """The letters of one army in Chinese, its king left out."""
    found = ""
    words = words.strip().translate(str.maketrans("仕相單", "士象单"))
    for (advisors, elephants), name in _DEFENDERS.items():
        words = words.replace(name, "士" * advisors + "象" * elephants)
    for match in re.finditer(r"([单孤双雙两兩二三四五]?)(.)", words):
        letter = _READ.get(match[2])
        if letter is None:
            return None
        found += "" if letter == "K" else letter * _COUNTS.get(match[1], 1)
    return found


def _material(letters: str) -> Material | None:
    if set(letters) - set(f"{LETTERS}HGMEB"):
        return None
    try:
        return Material.parse(letters)
    except ValueError:
        return None
