"""One live line on stderr, for commands that take long."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Self

import click

if TYPE_CHECKING:
    from tqdm import tqdm


class LiveLine:
    """A line on stderr that is overwritten, if stderr is a terminal; use as a `with` block."""

    def __init__(self) -> None:
        self._bar: tqdm[Any] | None = None

    def __enter__(self) -> Self:
        """Begin the line if stderr is a terminal."""
        if sys.stderr.isatty():
            from tqdm import tqdm

            self._bar = tqdm(bar_format="{desc}", leave=False)
        return self

    def __exit__(self, *exception: object) -> None:
        """Remove the line."""
        if self._bar is not None:
            self._bar.close()

    @property
    def is_shown(self) -> bool:
        """Return whether stderr is a terminal, so that the line is displayed."""
        return self._bar is not None

    def update(self, text: str) -> None:
        """Replace the text of the line; do nothing without a terminal."""
        if self._bar is not None:
            self._bar.set_description_str(text)

    def print(self, text: str) -> None:
        """Print a permanent line above the line that is overwritten."""
        if self._bar is not None:
            self._bar.write(text, file=sys.stderr)
        else:
            click.echo(text, err=True)

    def clear(self) -> None:
        """Clear the line before other output."""
        if self._bar is not None:
            self._bar.clear()
