"""JSON from files that may say anything: every value of the type and range that it must have.

    text   ->  `members`  ->  {name: value, name: (entry, entry, ...)}
    value  ->  `Check`    ->  what it stands for, or `SchemaError`

Values are read one by one, each of a bounded length, and lists are checked entry by entry: a text
takes no more memory than what passed its checks. What the values mean is for those who read them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from typing import Any

MAX_VALUE = 512
"""Characters of one value; an entry with a FEN has fewer than 250."""
MAX_MEMBERS = 64
"""Members of an object; no file of this project has as many."""
MAX_COUNT = 2**63 - 1

_DECODER = json.JSONDecoder()
_BLANKS = re.compile(r"[ \t\r\n]*")

Check = Callable[[object], Any]
"""What a value stands for; raises `SchemaError` unless it is of the right kind."""


class SchemaError(ValueError):
    """A text that is no JSON, or a value of another type or range than it must have."""


def integer(least: int = 0, most: int = MAX_COUNT) -> Check:
    """Return a check for whole numbers of a range."""

    def check(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise SchemaError(f"no whole number from {least} to {most}")
        return value

    return check


def measure(value: object) -> float:
    """Check a finite number from 0 on, such as seconds."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MAX_COUNT:
        raise SchemaError("no number from 0 on")
    return value


def one_of(names: Iterable[str]) -> Check:
    """Return a check for one of some words."""
    known = {str(name): str(name) for name in names}

    def check(value: object) -> str:
        if not isinstance(value, str) or value not in known:
            raise SchemaError(f"none of {', '.join(known)}")
        return known[value]

    return check


def member(kind: type[Enum]) -> Check:
    """Return a check for names of an enumeration in lower case, which gives the members."""
    known = {each.name.lower(): each for each in kind}
    word = one_of(known)
    return lambda value: known[word(value)]


def text(pattern: str, what: str) -> Check:
    """Return a check for texts that a pattern matches as a whole; `what` names them in messages."""
    wanted = re.compile(pattern, re.ASCII)

    def check(value: object) -> str:
        if not isinstance(value, str) or not wanted.fullmatch(value):
            raise SchemaError(f"no {what}")
        return value

    return check


def optional(check: Check) -> Check:
    """Return a check that also accepts null."""
    return lambda value: None if value is None else check(value)


def entries(value: object) -> tuple[Any, ...]:
    """Check a list of an object that `members` has read, entry by entry."""
    if not isinstance(value, tuple):
        raise SchemaError("no list")
    return value


DIGEST = text(r"[0-9a-f]{32}", "digest")
"""Check for the digest of a table, as hexadecimal digits."""


def record(kind: type, checks: Mapping[str, Check]) -> Check:
    """Objects with the members that `kind` is made from; those with a default may be missing."""

    def check(value: object) -> Any:
        if not isinstance(value, dict) or not value.keys() <= checks.keys():
            raise SchemaError(f"no {kind.__name__}")
        fields = {name: checks[name](member) for name, member in value.items()}
        try:
            return kind(**fields)
        except TypeError:
            raise SchemaError(f"no whole {kind.__name__}") from None

    return check


def members(text: str, lists: Mapping[str, Check]) -> dict[str, Any]:
    """The members of an object; of each that `lists` names, the checked entries (a tuple).

    The others are as they were read: their reader checks them. Raises `SchemaError`.
    """
    reader = _Reader(text)
    found: dict[str, Any] = {}
    for _ in reader.elements("{", "}"):
        name = reader.value()
        if not isinstance(name, str) or reader.sign() != ":" or len(found) == MAX_MEMBERS:
            raise SchemaError("no object")
        check = lists.get(name)
        if check is None:
            found[name] = reader.value()
        else:
            found[name] = tuple(check(reader.value()) for _ in reader.elements("[", "]"))
    if reader.sign():
        raise SchemaError("something follows the object")
    return found


class _Reader:
    """Reader of a JSON text, from its beginning on."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def sign(self) -> str:
        """The next character that is no blank; empty at the end."""
        self._skip_blanks()
        self._at += 1
        return self._text[self._at - 1 : self._at]

    def value(self) -> Any:
        """The next value."""
        self._skip_blanks()
        try:
            value, length = _DECODER.raw_decode(self._text[self._at : self._at + MAX_VALUE])
        except (ValueError, RecursionError):
            raise SchemaError("no JSON, or a value that is too long") from None
        self._at += length
        return value

    def elements(self, begin: str, end: str) -> Iterator[None]:
        """Yield once before each element between two brackets, for the caller to read it."""
        if self.sign() != begin:
            raise SchemaError(f"no {begin}")
        if self.sign() == end:
            return
        self._at -= 1
        while True:
            yield
            sign = self.sign()
            if sign == end:
                return
            if sign != ",":
                raise SchemaError(f"neither a comma nor {end}")

    def _skip_blanks(self) -> None:
        match = _BLANKS.match(self._text, self._at)
        if match is not None:
            self._at = match.end()
