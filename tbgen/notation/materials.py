"""Reading of materials in letters, in English and in Chinese.

KRNKR, krn-kr, KRN v KR, rn/r        letters
rook and knight against rook         English
车马对车, 单车难胜士象全                 Chinese, also with a book's verdict
                                     ->  Material
"""

from __future__ import annotations

import re

from tbgen.indexing import Army, Material, MaterialError
from tbgen.indexing.errors import excerpt, require_text
from tbgen.indexing.squares import LETTERS, PieceType
from tbgen.notation.chinese import CHARACTERS, is_chinese

ENGLISH = tuple(kind.name.lower() for kind in PieceType)
"""English name of each `PieceType`, in their order."""

LETTER_OF_CHARACTER = {
    character: letter
    for letter, characters in zip(LETTERS, CHARACTERS, strict=True)
    for character in characters
}
"""Letter of each of `CHARACTERS`."""

_LETTERS_READ = frozenset(f"{LETTERS}HGMEB")
_WORDS = {
    **dict(zip(ENGLISH, LETTERS, strict=True)),
    "chariot": "R", "horse": "N", "guard": "A", "minister": "B", "bishop": "B", "soldier": "P",
}  # fmt: skip
_NUMBER_WORDS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5}
_COUNTS = {"单": 1, "一": 1, "孤": 1, "光": 1, "老": 1, "双": 2, "雙": 2, "两": 2, "兩": 2, "二": 2,
           "三": 3, "四": 4, "五": 5}  # fmt: skip

_ARMY = re.compile(f"K[{''.join(sorted(_LETTERS_READ - {'K'}))}]+", re.IGNORECASE)
"""Pattern of the letters of one army, such as `KRN`."""

_PLAIN = str.maketrans("仕相單", "士象单")

DEFENDERS = {(2, 2): "士象全", (2, 1): "单缺象", (1, 2): "单缺士"}
"""Chinese name of the advisors and elephants of an army, by (number of advisors, of elephants)."""

_AGAINST = re.compile("[必难難巧例可不守]?[胜勝和]|[对對擒破]")
"""Pattern of the Chinese text between two armies: `对`, or a verdict, as in 单车难胜士象全."""


def parse_material(words: str) -> Material:
    """Return the material that a text names in letters, in English or in Chinese.

    Raises `MaterialError`, with a hint, for other text.
    """
    require_text(words, "material", MaterialError, "write both sides, as in KRNKR")
    material = read_material(words)
    if material is not None:
        return material
    letters = _spelling(words)
    if letters is None and is_chinese(words):
        raise _unread(words)
    return Material.parse(words if letters in (None, words.upper()) else str(letters))


def read_material(words: str) -> Material | None:
    """Return the material that a text names; None for other text.

    Examples: `KRNKR`, `krn-kr`, `KRNvKR`, `KRN v KR`, `rn/r`, `车马对车`, `車馬對車`,
    `马兵對士象全`, `马兵必胜单缺象`, `rook and knight against rook`, `two pawns v bare king`.
    """
    letters = _spelling(words)
    return None if letters is None else _material(letters)


def names_two_sides(words: str) -> bool:
    """Return whether a text spells two armies, even impossible ones such as `车车车对将`."""
    letters = _spelling(words) or ""
    known = not set(letters) - _LETTERS_READ
    return known and letters.startswith("K") and letters.count("K") == 2


def require_stronger_first(words: str) -> None:
    """Raise `MaterialError` if a text names the weaker army first, as `KNKR` does.

    Such a text names the table KRKN, in which Red has the other army. Call this where colours
    matter. Also raises `MaterialError` for a text that names no material.
    """
    material, letters = parse_material(words), _spelling(words) or words.upper()
    if Material.parse(f"{letters[: letters.rfind('K')]}K").first != material.first:
        raise MaterialError(
            f"{excerpt(words)} names the table {material}, in which Red has {material.first.name}",
            f"write {material}, and choose colours as in that table",
        )


def _spelling(words: str) -> str | None:
    """Return the letters of both armies in the order of a text, such as `KNKR`.

    None for text of another form. Latin letters, in upper case, need not be those of pieces.
    """
    plain = words.strip()
    if is_chinese(plain):
        halves = _AGAINST.split(plain)
        spelt = [_letters(half) for half in halves]
        if len(spelt) != 2 or None in spelt:
            return None
        return f"K{spelt[0]}K{spelt[1]}"
    armies = [_army(half) for half in re.split(r" (?:against|versus|vs?\.?) |/", plain.lower())]
    if len(armies) == 2 and None not in armies:
        return f"K{armies[0]}K{armies[1]}"
    letters = re.sub(r"(?:[\s_:/+-]|[Vv]s?\.?)+", "/", plain).strip("/").upper()
    if not re.fullmatch(r"[A-Z]*/?[A-Z]*", letters) or not letters:
        return None
    if "/" in letters:
        letters = "".join(f"K{half.removeprefix('K')}" for half in letters.split("/"))
    return letters


def read_attacker(words: str) -> Army | None:
    """Return the army that a text names: 车马炮, `rook and knight`, or `KRN`, in any case.

    None for a bare king and for other text. Raises `MaterialError` for letters of more pieces than
    a set has.
    """
    if _ARMY.fullmatch(words):
        return Material.parse(f"{words}K").first
    letters = _letters(words) if is_chinese(words) else _army(words.lower())
    material = _material(f"K{letters}K") if letters else None
    return material.first if material else None


def _army(words: str) -> str | None:
    """Return the letters of an army's pieces without its king, in English; None for other text."""
    found, count, pieces = "", 1, 0
    for word in re.findall(r"[^\s,]+", words):
        letter = _WORDS.get(word) or _WORDS.get(word.removesuffix("s"))
        if word in _NUMBER_WORDS:
            count = _NUMBER_WORDS[word]
        elif letter is not None:
            found += "" if letter == "K" else letter * count
            count, pieces = 1, pieces + 1
        elif word not in ("and", "bare", "lone"):
            return None
    return found if pieces else None


def _letters(words: str) -> str | None:
    """Return the letters of an army's pieces without its king, in Chinese; None for other text."""
    found = ""
    words = words.strip().translate(_PLAIN)
    for (advisors, elephants), name in DEFENDERS.items():
        words = words.replace(name, "士" * advisors + "象" * elephants)
    for match in re.finditer(rf"([{''.join(_COUNTS)}]?)(.)", words):
        letter = LETTER_OF_CHARACTER.get(match[2])
        if letter is None:
            return None
        found += "" if letter == "K" else letter * _COUNTS.get(match[1], 1)
    return found if words else None


def _unread(words: str) -> MaterialError:
    """Return the error for Chinese text that does not spell two armies."""
    plain = words.translate(_PLAIN)
    for name in DEFENDERS.values():
        plain = plain.replace(name, "")
    for character in "".join(_AGAINST.split(plain)):
        if character not in LETTER_OF_CHARACTER and character not in _COUNTS:
            return MaterialError(
                f"{excerpt(character)} in {excerpt(words)} is no piece",
                "pieces are 车 马 炮 兵 士 象 (also 卒 仕 相)",
            )
    return MaterialError(
        f"{excerpt(words)} does not name two sides", "write both sides, as in 车马对车"
    )


def _material(letters: str) -> Material | None:
    """Return the material of letters in upper case (`KRKN`); None if they name none."""
    if set(letters) - _LETTERS_READ:
        return None
    try:
        return Material.parse(letters)
    except ValueError:
        return None
