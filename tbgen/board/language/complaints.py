"""Complaints about a request, in the reader's language.

    "rank 3 of the FEN has 10 files"  ->  第3行有10格，应为9格

Messages are made in English where the fault is found; those that a page can show are put into
Chinese by their form (complaints.csv). One that is not known becomes a general sentence, never
English. What the reader has typed stands between 「 and 」.
"""

from __future__ import annotations

import re

from tbgen.board.language.i18n import localise, read_csv

_SIDES = {"Red": "红方", "Black": "黑方"}
_KINDS = {"king": "将（帅）", "advisor": "士", "elephant": "象", "rook": "车", "knight": "马",
          "cannon": "炮", "pawn": "兵", "K": "将（帅）", "A": "士", "B": "象", "R": "车", "N": "马",
          "C": "炮", "P": "兵"}  # fmt: skip

_FORMS = read_csv("complaints.csv")
"""Patterns of whole messages and hints, and what they are in simplified Chinese."""

_CANNOT = "无法理解这个请求"


def complain(message: str, hint: str, language: str) -> tuple[str, str]:
    """A message and its hint as they are shown; a hint that has no Chinese form is left out."""
    if language == "en":
        return _sentence(message), _sentence(hint)
    said = _translated(message) or _CANNOT
    return localise(language, "", said), localise(language, "", _translated(hint) or "")


def _sentence(english: str) -> str:
    """A text with a capital, unless it begins with a square, a parameter or a command."""
    named = re.match(r"[a-i][0-9]|\w+=|pip |tbgen ", english)
    return english if named else english[:1].upper() + english[1:]


def _translated(message: str) -> str | None:
    for pattern, chinese in _FORMS:
        match = re.fullmatch(pattern, message, re.DOTALL)
        if match:
            return chinese.format(*(_word(group) for group in match.groups()))
    return None


def _word(found: str) -> str:
    """A side or a piece in Chinese, a number as it is, anything else in corner brackets."""
    if found in _SIDES or found in _KINDS:
        return _SIDES.get(found) or _KINDS[found]
    if found.isdecimal() or found.startswith("run: "):
        return found.removeprefix("run: ")
    return f"「{found}」"
