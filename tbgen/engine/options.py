"""Options of the engine, under the names of both protocols.

Names are compared without case, blanks and underscores. Unknown options are ignored, because GUIs
send the options of other engines, too.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tbgen.indexing.errors import excerpt
from tbgen.indexing.rulesets import SYNONYMS, Rules

RULES = tuple(map(str, Rules))
REPETITION_RULES = {rules.terms.option: str(rules) for rules in Rules}
"""Names of rule sets, by the values of the option `Repetition Rule`."""
_EMPTY = ("", "<empty>", "null")
_FLAGS = {"true": True, "on": True, "1": True, "": True, "false": False, "off": False, "0": False}
"""Values of boolean options in lower case; an empty one is true, as in UCCI."""
MAX_HASH, MAX_LINES, MAX_THREADS = 65_536, 128, 256
_MAX_DIGITS = 4_000
"""Maximum characters of a number; Python refuses to convert more than 4,300 digits."""


@dataclass(slots=True)
class Options:
    """Values of all options.

    `hash` is in MiB. `paths` are the directories of tables; `useegtb` switches tables on. `multipv`
    is the number of lines to report. `rules` names a member of `Rules`. `usemillisec`: UCCI's times
    are milliseconds, not seconds. `variant` is the `UCI_Variant` that a GUI has set, else empty.
    """

    hash: int = 16
    threads: int = 1
    multipv: int = 1
    paths: tuple[Path, ...] = ()
    useegtb: bool = True
    rules: str = "wxf"
    usemillisec: bool = False
    variant: str = ""

    @property
    def directories(self) -> tuple[Path, ...]:
        """The table directories; empty if tables are switched off."""
        return self.paths if self.useegtb else ()

    @property
    def path_list(self) -> str:
        """The table directories joined by semicolons."""
        return ";".join(map(str, self.paths))

    def set(self, name: str, value: str) -> bool:
        """Set an option; return False for an unknown name, else True.

        Nothing changes for an empty value (also `<empty>` or `null`) of `SyzygyPath` and
        `XiangqiTablePath`, options of other engines. Raises `ValueError` for an invalid value.
        """
        key = "".join(name.lower().replace("_", " ").split())
        if key not in _PARSERS:
            return False
        field, parse = _PARSERS[key]
        parsed = parse(name, value)
        if parsed is not None:
            setattr(self, field, parsed)
        return True


def _up_to(largest: int) -> Callable[[str, str], int]:
    """Return a parser of numbers from 1 to `largest`."""

    def parse(name: str, value: str) -> int:
        number = integer(value)
        if not 1 <= number <= largest:
            raise ValueError(f"{name} is from 1 to {largest}, not {excerpt(value, 20)}")
        return number

    return parse


def _flag(name: str, value: str) -> bool:
    if value.lower() not in _FLAGS:
        raise ValueError(f"{excerpt(value, 20)} is neither true nor false")
    return _FLAGS[value.lower()]


def _paths(name: str, value: str) -> tuple[Path, ...]:
    """Parse directories that are separated as in PATH or by semicolons; none for `_EMPTY`."""
    if "\0" in value:
        raise ValueError("a path has no NUL character")
    parts = [] if value in _EMPTY else value.replace(os.pathsep, ";").split(";")
    return tuple(Path(part.strip()) for part in parts if part.strip())


def _borrowed_paths(name: str, value: str) -> tuple[Path, ...] | None:
    """Parse the table option of another engine; return None for an empty value.

    GUIs send such options to all engines.
    """
    return None if value in _EMPTY else _paths(name, value)


def _rules(name: str, value: str) -> str:
    try:
        return str(Rules(value.lower()))
    except ValueError:
        known = ", ".join((*RULES, *SYNONYMS))
        raise ValueError(f"{excerpt(value, 20)} is none of {known}") from None


def _repetition_rule(name: str, value: str) -> str:
    if value not in REPETITION_RULES:
        known = ", ".join(REPETITION_RULES)
        raise ValueError(f"repetition rule {excerpt(value, 20)} is none of {known}")
    return REPETITION_RULES[value]


def _variant(name: str, value: str) -> str:
    if value.lower() != "xiangqi":
        raise ValueError(f"the only variant is xiangqi, not {excerpt(value, 20)}")
    return value


_PARSERS: dict[str, tuple[str, Callable[[str, str], object]]] = {
    "hash": ("hash", _up_to(MAX_HASH)),
    "hashsize": ("hash", _up_to(MAX_HASH)),
    "threads": ("threads", _up_to(MAX_THREADS)),
    "multipv": ("multipv", _up_to(MAX_LINES)),
    "useegtb": ("useegtb", _flag),
    "usemillisec": ("usemillisec", _flag),
    "egtbpath": ("paths", _paths),
    "egtbpaths": ("paths", _paths),
    "syzygypath": ("paths", _borrowed_paths),
    "xiangqitablepath": ("paths", _borrowed_paths),
    "rules": ("rules", _rules),
    "repetitionrule": ("rules", _repetition_rule),
    "ucivariant": ("variant", _variant),
}
"""Field of `Options` and parser of each option. A parser takes the option's name and value; returns
the field's new value, None to keep the old one; and raises `ValueError` for an invalid value.
"""


def integer(text: str) -> int:
    """Parse a decimal integer of at most `_MAX_DIGITS` characters; else raises `ValueError`."""
    if not (text.isascii() and text.removeprefix("-").isdecimal() and len(text) <= _MAX_DIGITS):
        raise ValueError(f"a number is needed, not {excerpt(text, 20)}")
    return int(text)
