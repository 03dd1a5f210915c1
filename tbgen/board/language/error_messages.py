"""Translation of error messages about a request into the language of the board's visitor.

    "Red has 3 pieces of the kind B"  ->  红方有3个相，太多

Messages are created in English. Those that a page can show are translated into Chinese by their
pattern (error_messages.csv). A message without a pattern is replaced by a general Chinese sentence
for a page, and stays in English for programs.
"""

from __future__ import annotations

import re
from typing import Self

from tbgen.board.language.i18n import localise, read_csv, text
from tbgen.board.language.words import point_name
from tbgen.indexing import Side
from tbgen.indexing.squares import LETTERS, PieceType, parse_square
from tbgen.notation.chinese import piece_name as character

_SIDES = {"Red": Side.RED, "Black": Side.BLACK}

_KINDS = {
    name: kind
    for kind, letter in zip(PieceType, LETTERS, strict=True)
    for name in (kind.name.lower(), letter, letter.lower())
}

_EITHER = dict(
    zip(PieceType, ("将（帅）", "士（仕）", "象（相）", "车", "马", "炮", "兵（卒）"), strict=True)
)
"""Names of pieces in messages that do not name the side."""

_PATTERNS = read_csv("error_messages.csv")
"""Pairs of a regular expression for a whole English message or hint, and a text in simplified
Chinese. In the text `{0}` stands for the expression's first group, translated (`_Part`), and
`{0.typed}` for the same group untranslated, such as the squares `e4、e5`; `{1}` for the second.
"""

_GENERAL_MESSAGE = "无法理解这个请求"


def localise_error(message: str, hint: str, language: str) -> tuple[str, str]:
    """Return an English error message and its hint in a language, as sentences for pages.

    A message without a translation becomes a general sentence, a hint becomes empty.
    """
    if language == "en":
        return _sentence(message), _sentence(hint)
    said = _translated(message, language) or localise(language, "", _GENERAL_MESSAGE)
    return said, _translated(hint, language) or ""


def translate_error(message: str, hint: str, language: str) -> tuple[str, str]:
    """Return an English error message and its hint in a language, for programs.

    Without a translation of the message both stay in English, else the hint may alone.
    """
    chinese = None if language == "en" else _translated(message, language)
    return (message, hint) if chinese is None else (chinese, _translated(hint, language) or hint)


def _sentence(english: str) -> str:
    """Capitalise an English text, unless it begins with a square, a parameter or a command."""
    named = re.match(r"[a-i][0-9]|\w+=|pip |tbgen ", english)
    return english if named else english[:1].upper() + english[1:]


def _translated(message: str, language: str) -> str | None:
    """Translate an English message or hint into a Chinese language; None if no pattern fits."""
    for pattern, chinese in _PATTERNS:
        match = re.fullmatch(pattern, message, re.DOTALL)
        if match:
            sides = [_SIDES[group] for group in match.groups() if group in _SIDES]
            side = sides[0] if sides else None
            parts = (_Part(group, side, language) for group in match.groups())
            return localise(language, "", chinese).format(*parts)
    return None


class _Part(str):
    """Translation by `_word` of a part of an English message; `typed` is that part in English.

    In `typed`, ` and ` is replaced by 、, which separates squares.
    """

    typed: str

    def __new__(cls, found: str, side: Side | None, language: str) -> Self:
        part = super().__new__(cls, _word(found, side, language))
        part.typed = found.replace(" and ", "、")
        return part


def _word(found: str, side: Side | None, language: str) -> str:
    """Translate a part of an English message, captured by a group of its pattern, into Chinese.

    Sides, squares and pieces (of `side`, the first that the message names) are translated; numbers
    and commands are kept, commands without `run: `. Any other text is put between “ and ”. If it
    has quotes of its own, the visitor typed it: these are removed, and it is not converted to the
    script of `language`.
    """
    if found in _SIDES:
        return text(language, found.lower())
    if found in _KINDS:
        kind = _KINDS[found]
        return localise(language, "", _EITHER[kind] if side is None else character(side, kind))
    if re.fullmatch(r"[a-i]\d(?: and [a-i]\d)*", found):
        squares = found.split(" and ")
        return "、".join(f"{point_name(parse_square(s), language)}（{s}）" for s in squares)
    if found.isdecimal() or found.startswith("run: "):
        return found.removeprefix("run: ")
    quoted = re.fullmatch(r"(['\"])(.*)\1", found, re.DOTALL)
    if quoted:
        return localise(language, "", "“{}”").format(quoted[2])
    return localise(language, "", f"“{found.replace(' or ', '”或“')}”")
