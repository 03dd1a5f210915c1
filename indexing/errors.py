"""Errors in text that names a material, a position or a move.

Every `message` is one line that says what is wrong, and `hint` what to do about it; the text of an
error has both. The command line prints one below the other, and answers exit status 2.
"""

from enum import StrEnum
from typing import TypeVar

Named = TypeVar("Named", bound=StrEnum)


class InputError(ValueError):
    """Text from a user that cannot be understood, with a hint on how to mend it."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        """The message, and the hint behind it."""
        return f"{self.message}; {self.hint}" if self.hint else self.message


class MaterialError(InputError):
    """A material name that names no material of xiangqi."""


class PositionError(InputError):
    """A FEN, or another notation of a position, that describes no position of xiangqi."""


class MoveTextError(InputError):
    """Text that is no move, or no move of the position at hand."""


def printable(text: str) -> str:
    """`text` with escapes for all that would break a line, steer a terminal or not be seen."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def excerpt(text: str, length: int = 40) -> str:
    """A quotation of `text` that keeps a message on one line and of bearable length.

    Every message quotes with it what somebody has typed. Blanks and line breaks between words
    become one blank each; of nothing but blanks the first is shown.
    """
    line = printable((" ".join(text.split()) or text[:1])[: length + 1])
    return f"'{line}'" if len(line) <= length else f"'{line[: length - 3]}...'"


def member(kind: type[Named], name: str) -> Named:
    """Return the member of an enumeration by its name; raises `InputError` that lists them all."""
    try:
        return kind(name)
    except ValueError:
        raise InputError(f"{excerpt(str(name))} is none of {', '.join(kind)}", "name one") from None
