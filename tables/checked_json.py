"""Reading of untrusted JSON, with checks of the types and ranges of values.

    text   ->  `parse_record`  ->  object of a dataclass, every field checked
    text   ->  `parse_object`  ->  {name: unchecked value, name: (checked entry, ...)}
    value  ->  `Check`         ->  the checked value, or `SchemaError`

Values, and entries of lists, are decoded and checked one by one, so even a malicious text takes
little memory before it is rejected.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from functools import cache
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

MAX_VALUE = 512
"""Most characters of one value; an entry with a FEN has fewer than 250."""
MAX_MEMBERS = 64
"""Most members of an object that `parse_object` reads; objects of this project have fewer."""
MAX_COUNT = 2**63 - 1
"""Largest number, unless a check has another limit."""

_DECODER = json.JSONDecoder()
_BLANKS = re.compile(r"[ \t\r\n]*")

Record = TypeVar("Record")

Check = Callable[[object], Any]
"""Function that checks and converts one JSON value; raises `SchemaError` if it is invalid."""


class SchemaError(ValueError):
    """A text that is not JSON, or a value of another type or range than required."""


def integer(least: int = 0, most: int = MAX_COUNT) -> Check:
    """Return a check for integers from `least` to `most`."""

    def check(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise SchemaError(f"no whole number from {least} to {most}")
        return value

    return check


def non_negative(value: object) -> float:
    """Return `value` if it is a number from 0 to `MAX_COUNT`; else raise `SchemaError`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MAX_COUNT:
        raise SchemaError("not a number of at least 0")
    return value


def string(accepts: Callable[[str], object], fault: str) -> Check:
    """Return a check for strings for which `accepts` is true; `fault` is the error's message."""

    def check(value: object) -> str:
        if not isinstance(value, str) or not accepts(value):
            raise SchemaError(fault)
        return value

    return check


def one_of(names: Iterable[str]) -> Check:
    """Return a check that accepts only the strings in `names`."""
    known = tuple(map(str, names))
    return string(known.__contains__, f"none of {', '.join(known)}")


def enum_member(kind: type[Enum]) -> Check:
    """Return a check that converts the lower-case name of an enumeration's member to the member."""
    known = {each.name.lower(): each for each in kind}
    word = one_of(known)
    return lambda value: known[word(value)]


def text(pattern: str, what: str) -> Check:
    """Return a check for strings that match a pattern as a whole; messages call them `what`."""
    return string(re.compile(pattern, re.ASCII).fullmatch, f"no {what}")


def optional(check: Check) -> Check:
    """Return a check that accepts null, as None, and all values that `check` accepts."""
    return lambda value: None if value is None else check(value)


DIGEST = text(r"[0-9a-f]{32}", "digest")
"""Check for the digest of a table: 32 hexadecimal digits, in lower case."""


def record(kind: type) -> Check:
    """Return a check that converts JSON objects to objects of the dataclass `kind`.

    The type of each field is a dataclass, or has the field's check, as in `Annotated[int,
    integer(1)]`. Fields with a default may be missing. Members that are no fields are errors.
    """

    def check(value: object) -> Any:
        checks, _ = _checks(kind)
        if not isinstance(value, dict) or not value.keys() <= checks.keys():
            raise SchemaError(f"no {kind.__name__}")
        return _new_record(kind, {name: checks[name](member) for name, member in value.items()})

    return check


@cache
def _checks(kind: type) -> tuple[dict[str, Check], dict[str, Check]]:
    """Return two maps from field name to check, for the fields of the dataclass `kind`.

    The first is of fields with one value. The second is of tuples, with the check of an entry.
    """
    checks, lists = {}, {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        if get_origin(hint) is tuple:
            lists[name] = record(get_args(hint)[0])
        else:
            checks[name] = hint.__metadata__[0] if get_origin(hint) is Annotated else record(hint)
    return checks, lists


def _new_record(kind: type[Record], fields: dict[str, Any]) -> Record:
    """Return a dataclass object with these fields; raises `SchemaError` if one is missing."""
    try:
        return kind(**fields)
    except TypeError:
        raise SchemaError(f"incomplete {kind.__name__}") from None


def parse_record(text: str, kind: type[Record], **versions: int) -> Record:
    """Parse the text of a JSON object into an object of the dataclass `kind` (see `record`).

    versions : members that are no fields, with their required values

    A tuple of dataclasses is a list in the text. Other members are ignored. Raises `SchemaError`.
    """
    checks, lists = _checks(kind)  # type: ignore[arg-type]
    found = parse_object(text, lists)
    for name, version in versions.items():
        if found.get(name) != version:
            raise SchemaError(f"not of the form {version}")
    fields = {name: check(found[name]) for name, check in checks.items() if name in found}
    return _new_record(kind, fields | {name: found[name] for name in lists if name in found})


def parse_object(text: str, lists: Mapping[str, Check]) -> dict[str, Any]:
    """Parse the text of a JSON object, and return its members as a dictionary.

    lists : check of the entries of each member that is a list, by name; lists become tuples

    Other members are returned unchecked. If a name occurs several times, its last member is
    returned. Raises `SchemaError`, also for more than `MAX_MEMBERS` members.
    """
    reader = _Reader(text)
    found: dict[str, Any] = {}
    for _ in reader.elements("{", "}"):
        name = reader.value()
        if not isinstance(name, str) or reader.character() != ":" or len(found) == MAX_MEMBERS:
            raise SchemaError("no object")
        check = lists.get(name)
        if check is None:
            found[name] = reader.value()
        else:
            found[name] = tuple(check(reader.value()) for _ in reader.elements("[", "]"))
    if reader.character():
        raise SchemaError("text after the object")
    return found


class _Reader:
    """Sequential reader of a JSON text: every method advances the place in the text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def character(self) -> str:
        """Return the next character that is not blank; empty at the end of the text."""
        self._skip_blanks()
        self._at += 1
        return self._text[self._at - 1 : self._at]

    def value(self) -> Any:
        """Return the next JSON value, decoded.

        Raises `SchemaError` if it is invalid, or longer than `MAX_VALUE` characters.
        """
        self._skip_blanks()
        try:
            value, length = _DECODER.raw_decode(self._text[self._at : self._at + MAX_VALUE])
        except (ValueError, RecursionError):
            raise SchemaError("no JSON, or a value that is too long") from None
        self._at += length
        return value

    def elements(self, begin: str, end: str) -> Iterator[None]:
        """Read the commas and brackets (`begin` and `end`) of a list or object.

        Yields None before each element, which the caller reads: a value, or name, colon and value.
        """
        if self.character() != begin:
            raise SchemaError(f"no {begin}")
        if self.character() == end:
            return
        self._at -= 1
        while True:
            yield
            character = self.character()
            if character == end:
                return
            if character != ",":
                raise SchemaError(f"neither a comma nor {end}")

    def _skip_blanks(self) -> None:
        match = _BLANKS.match(self._text, self._at)
        if match is not None:
            self._at = match.end()
