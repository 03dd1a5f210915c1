"""Results and errors on their way between processes: an error arrives as what it was.

pickle makes an exception anew from its `args`, which are the message alone where a class derives
the message from facts. Here class, `args` and attributes travel, and nothing is derived again.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Attempt:
    """Result or error of a call; both can be pickled if their parts can."""

    value: Any = None
    error: tuple[type[Exception], tuple[Any, ...], dict[str, Any]] | None = None

    def complete(self, future: Future[Any]) -> None:
        """Give a future the call's result, or its exception with a note of the place."""
        if self.error is None:
            future.set_result(self.value)
            return
        kind, arguments, attributes = self.error
        error = kind.__new__(kind, *arguments)  # and not __init__
        error.__dict__.update(attributes)
        future.set_exception(error)


def attempt(function: Callable[..., Any], *arguments: Any) -> Attempt:
    """Call a function; only exceptions that stop the process itself are raised here."""
    try:
        return Attempt(function(*arguments))
    except Exception as error:
        error.add_note("there:\n" + "".join(traceback.format_exception(error)))
        # An `OSError` keeps the name of a file apart from its `args`.
        parts: Any = error.__reduce__()[1]
        return Attempt(error=(type(error), parts, error.__dict__))
