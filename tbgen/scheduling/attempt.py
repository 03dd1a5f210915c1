"""Results and errors of calls, in a form that passes between processes unchanged.

pickle reconstructs an exception from its `args`, which fails for a class that derives its message
from other arguments. `Attempt` transfers class, `args` and attributes without calling `__init__`.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Attempt:
    """Result or error of a call; can be pickled if the result or the error's parts can."""

    value: Any = None
    error: tuple[type[Exception], tuple[Any, ...], dict[str, Any]] | None = None

    def complete(self, future: Future[Any]) -> None:
        """Complete a future with the result or the exception of this attempt.

        An exception has a note with the original traceback.
        """
        if self.error is None:
            future.set_result(self.value)
            return
        kind, arguments, attributes = self.error
        error = kind.__new__(kind, *arguments)  # without `__init__`
        error.__dict__.update(attributes)
        future.set_exception(error)


def attempt(function: Callable[..., Any], *arguments: Any) -> Attempt:
    """Call a function, and return its result or exception as an `Attempt`.

    `KeyboardInterrupt` and `SystemExit` are raised.
    """
    try:
        return Attempt(function(*arguments))
    except Exception as error:
        error.add_note("in the worker:\n" + "".join(traceback.format_exception(error)))
        # The file name of an `OSError` is not among its `args`.
        parts: Any = error.__reduce__()[1]
        return Attempt(error=(type(error), parts, error.__dict__))
