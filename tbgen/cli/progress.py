"""How a build goes on, on stderr: one live line on a terminal, else a line for each table."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

import click
from tqdm import tqdm

from tbgen.answers.units import duration, size
from tbgen.tables.names import TableName

QUIET_SECONDS = 10.0
"""Without a terminal, a table that takes long is heard of this often."""


class BuildProgress:
    """Implements `tbgen.building.builder.Progress`; `tables` collects what was done."""

    def __init__(self) -> None:
        self.tables: list[dict[str, Any]] = []
        self._label = ""
        self._settled = 0
        self._spoken = time.monotonic()
        self._bar: tqdm[Any] | None = None

    def __enter__(self) -> BuildProgress:
        """Begin the live line, if there is a terminal."""
        if sys.stderr.isatty():
            self._bar = tqdm(bar_format="{desc}", leave=False)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove the live line."""
        if self._bar is not None:
            self._bar.close()

    def table(self, number: int, total: int, name: TableName, finished: bool) -> None:
        """A table is begun, or found finished."""
        self._label = f"{number}/{total} {name}"
        self._settled = 0
        self._spoken = time.monotonic()
        if finished:
            self.tables.append({"table": str(name), "built": False})
            self._live(f"{self._label}: present")

    def phase(self, name: str, order: int, plies: int, settled: int) -> None:
        """A phase of the table at hand; speaks at once on a terminal, else from time to time."""
        self._settled += settled
        text = f"{self._label}: {name}"
        if name == "propagation":
            text += f", order {order}, ply {plies}, {self._settled:,} positions settled"
        self._live(text)
        if self._bar is None and time.monotonic() - self._spoken > QUIET_SECONDS:
            self._spoken = time.monotonic()
            click.echo(text, err=True)

    def written(self, name: TableName, size_of_file: int, seconds: float) -> None:
        """A table has been written."""
        self.tables.append(
            {
                "table": str(name),
                "built": True,
                "bytes_on_disk": size_of_file,
                "build_seconds": round(seconds, 3),
            }
        )
        text = f"{self._label}: {size(size_of_file)} in {duration(seconds)}"
        if self._bar is not None:
            self._bar.write(text, file=sys.stderr)
        else:
            click.echo(text, err=True)

    def _live(self, text: str) -> None:
        if self._bar is not None:
            self._bar.set_description_str(text)
