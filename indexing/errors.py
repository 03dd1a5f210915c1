"""Errors in text that names a material, a position or a move.

Every message is one line that says what is wrong; `hint` says what to do about it. The command
line prints both, and answers exit status 2.
"""


class InputError(ValueError):
    """Text from a user that cannot be understood, with a hint on how to mend it."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


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
