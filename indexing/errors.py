"""Errors that a user can correct; functions that raise them, or quote text in their messages.

`message` is one line that states the fault. `hint` is the remedy, or empty; `str` of an error has
both. The command line prints one below the other and exits with status 2.
"""

import operator
from enum import Enum
from typing import SupportsIndex, TypeVar

Named = TypeVar("Named", bound=Enum)


class InputError(ValueError):
    """Invalid input, or a fault of the machine that the user can mend; `hint` says how."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message


class MaterialError(InputError):
    """A text that names no material, or a material with too many pieces or too many slots."""


class PositionError(InputError):
    """A FEN, another notation or a board that is no position; also a text that names no square."""


class MoveTextError(InputError):
    """A text that is not a move, or not a move of the given position."""


def printable(text: str) -> str:
    """Return `text` with a backslash escape for each character that `str.isprintable` rejects."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def excerpt(text: str, length: int = 40) -> str:
    """Return `text` in quotes, on one line, for error messages.

    Each run of white space becomes one blank, and is removed at both ends; of a text of white space
    alone, the first character is kept. The rest is escaped as by `printable`. A result longer than
    `length` is cut to `length` characters, the last three of them `...`.
    """
    line = printable((" ".join(text.split()) or text[:1])[: length + 1])
    return f"'{line}'" if len(line) <= length else f"'{line[: length - 3]}...'"


def one_line(error: BaseException) -> str:
    """Return the message of an exception on one line, or its type if it has no message."""
    return " ".join(str(error).split()) or type(error).__name__


def require_text(value: object, noun: str, error: type[InputError], hint: str) -> None:
    """Raise `error`, saying that `value` is no `noun`, with `hint`, unless `value` is a string."""
    if not isinstance(value, str):
        raise error(f"a value of type {type(value).__name__} is no {noun}", hint)


def integer(value: SupportsIndex, noun: str) -> int:
    """Return an integer of any type as `int`; raises `InputError` for other values, such as 2.0.

    noun : plural name of the things counted, for the message
    """
    try:
        return operator.index(value)
    except TypeError:
        message = f"{excerpt(repr(value))} is no number of {noun}"
        raise InputError(message, "give an integer") from None


def enum_member(kind: type[Named], name: str | int) -> Named:
    """Return the member of `kind` whose value, or whose name in lower case, is `name`.

    Synonyms that `kind(name)` accepts are allowed. Raises `InputError`, which lists the members.
    """
    try:
        return kind(name)
    except ValueError:
        members = {each.name.lower(): each for each in kind}
        if isinstance(name, str) and name in members:
            return members[name]
        raise InputError(
            f"{excerpt(name if isinstance(name, str) else repr(name))} is none of "
            f"{', '.join(members)}",
            "name one",
        ) from None
