"""Options of the engine, under the names of both protocols.

Names are compared without case, blanks and underscores, so that `UCI_Variant`, `EGTBPaths` and
`egtbpaths` match in any spelling. Unknown options are ignored: GUIs send other engines' options.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from tbgen.indexing.errors import excerpt
from tbgen.indexing.rulesets import SYNONYMS, Rules

RULES = tuple(map(str, Rules))
REPETITION_RULES = {rules.terms.option: str(rules) for rules in Rules}
"""Names of rule sets, by the values that GUIs send for the option `Repetition Rule`."""
_BORROWED_PATH_NAMES = ("syzygypath", "xiangqitablepath")
"""Other engines' names of the table option; GUIs send them to all engines, perhaps empty."""
_EMPTY = ("", "<empty>", "null")
_FLAGS = {"true": True, "on": True, "1": True, "": True, "false": False, "off": False, "0": False}
"""Values of boolean options in lower case; an empty one is true, as in UCCI."""
MAX_HASH, MAX_LINES, MAX_THREADS = 65_536, 128, 256
_MAX_DIGITS = 4_000
"""Maximum length of a number; Python refuses to convert more than 4,300 digits."""
_LARGEST = {"hash": MAX_HASH, "threads": MAX_THREADS, "multipv": MAX_LINES}
"""Largest value of each numeric option; the least is 1."""


@dataclass(slots=True)
class Options:
    """Values of all options.

    `hash` is in MiB. `egtbpaths` are the directories of tables, separated as in PATH or by
    semicolons; `useegtb` switches tables on. `multipv` is the number of lines to report. `rules`
    names a member of `Rules`. `usemillisec`: UCCI's times are milliseconds, not seconds. `variant`
    is the value of `UCI_Variant`, empty until a GUI sets it.
    """

    hash: int = 16
    threads: int = 1
    multipv: int = 1
    egtbpaths: str = ""
    useegtb: bool = True
    rules: str = "wxf"
    usemillisec: bool = False
    variant: str = ""

    @property
    def directories(self) -> tuple[Path, ...]:
        """The table directories; empty if tables are switched off."""
        if not self.useegtb:
            return ()
        parts = self.egtbpaths.replace(os.pathsep, ";").split(";")
        return tuple(Path(part.strip()) for part in parts if part.strip())

    def set(self, name: str, value: str) -> bool:
        """Set an option, and return True; returns False for an unknown name.

        Raises `ValueError` for an invalid value, and changes nothing then.
        """
        key = "".join(name.lower().replace("_", " ").split())
        key = {"hashsize": "hash", "egtbpath": "egtbpaths"}.get(key, key)
        if key in _LARGEST:
            number = integer(value)
            if not 1 <= number <= _LARGEST[key]:
                raise ValueError(f"{name} is from 1 to {_LARGEST[key]}, not {excerpt(value, 20)}")
            setattr(self, key, number)
        elif key in ("useegtb", "usemillisec"):
            if value.lower() not in _FLAGS:
                raise ValueError(f"{excerpt(value, 20)} is neither true nor false")
            setattr(self, key, _FLAGS[value.lower()])
        elif key in ("egtbpaths", *_BORROWED_PATH_NAMES) and "\0" in value:
            raise ValueError("a path has no NUL character")
        elif key == "egtbpaths":
            self.egtbpaths = "" if value in _EMPTY else value
        elif key in _BORROWED_PATH_NAMES:
            self.egtbpaths = self.egtbpaths if value in _EMPTY else value
        elif key == "rules":
            try:
                self.rules = str(Rules(value.lower()))
            except ValueError:
                known = ", ".join((*RULES, *SYNONYMS))
                raise ValueError(f"{excerpt(value, 20)} is none of {known}") from None
        elif key == "repetitionrule":
            if value not in REPETITION_RULES:
                known = ", ".join(REPETITION_RULES)
                raise ValueError(f"repetition rule {excerpt(value, 20)} is none of {known}")
            self.rules = REPETITION_RULES[value]
        elif key == "ucivariant":
            if value.lower() != "xiangqi":
                raise ValueError(f"the only variant is xiangqi, not {excerpt(value, 20)}")
            self.variant = value
        else:
            return False
        return True


def integer(text: str) -> int:
    """Parse a number of decimal digits, perhaps with a minus sign; raises `ValueError`."""
    if not (text.isascii() and text.removeprefix("-").isdecimal() and len(text) <= _MAX_DIGITS):
        raise ValueError(f"a number is needed, not {excerpt(text, 20)}")
    return int(text)
