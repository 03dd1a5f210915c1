"""Costs of the phases of a table: seconds, use of the threads, sweeps, rows.

    Profile    `Progress` that a builder reports to: it measures the cost between two reports, and
               forwards each report to the `Progress` of the caller
    PhaseCost  cost of one phase of one order
    total      sum of costs

A *sweep* is one pass over rows of a table; a row has ninety positions. Counts of sweeps and rows
are the same on every machine. The time between two reports belongs to the phase of the earlier
report. `busy` is the share of the time in which the threads computed; other processes of the
machine lower it, but not CPU seconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, astuple, dataclass
from typing import Any

from tbgen.building.builder import Progress
from tbgen.rows.workers import Meter
from tbgen.tables.names import TableName


@dataclass
class PhaseCost:
    """Cost of one phase of the solver, in one order, for one table; `seconds` are wall seconds."""

    phase: str
    order: int
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    """CPU seconds of all threads."""
    sweeps: int = 0
    rows: int = 0
    """Number of rows, ninety positions each, that the solver's sweeps have visited."""
    settled: int = 0
    """Positions that were assigned their value."""

    def busy(self, threads: int) -> float:
        """Return the share of the threads' time spent working, 0 to 1."""
        return self.cpu_seconds / (self.seconds * threads) if self.seconds else 0.0

    def to_json(self, threads: int) -> dict[str, Any]:
        """Return the JSON of this phase that `tbgen build --profile --json` prints."""
        return asdict(self) | {
            "seconds": round(self.seconds, 4),
            "cpu_seconds": round(self.cpu_seconds, 4),
            "busy": round(self.busy(threads), 3),
        }


def total(costs: list[PhaseCost]) -> PhaseCost:
    """Return the sum of all phases, without the time for compiling or loading kernels."""
    counted = [astuple(cost)[2:] for cost in costs if cost.phase != "compile"]
    return PhaseCost("all", 0, *map(sum, zip(*counted, strict=True)))


class Profile(Progress):
    """`Progress` that forwards each report, and measures the cost between reports.

    progress : receives each report
    meter : the builder's counter of sweeps and rows
    show : called with the costs of each written table, in the order in which phases began
    """

    def __init__(
        self, progress: Progress, meter: Meter, show: Callable[[list[PhaseCost]], None]
    ) -> None:
        self._progress = progress
        self._meter = meter
        self._show = show
        self._costs: dict[tuple[str, int], PhaseCost] = {}
        self._phase = ("", 0)
        self._mark = self._now()

    def table(self, name: TableName, finished: bool) -> None:
        """Discard the previous table's costs, forward the report; implements `Progress.table`."""
        self._costs = {}
        self._progress.table(name, finished)

    def phase(self, name: str, order: int, plies: int, settled: int) -> None:
        """Add the cost since the last report to the phase of that report; begin the phase `name`.

        Adds `settled` to the phase `name`, and forwards the report; implements `Progress.phase`.
        """
        self._charge()
        self._phase = (name, order)
        self._costs.setdefault(self._phase, PhaseCost(name, order)).settled += settled
        self._progress.phase(name, order, plies, settled)

    def note(self, text: str) -> None:
        """Forward a note; implements `Progress.note`."""
        self._progress.note(text)

    def written(self, name: TableName, size: int, seconds: float) -> None:
        """Complete the costs of the table, and call `show`; implements `Progress.written`."""
        self._charge()
        self._progress.written(name, size, seconds)
        self._show(list(self._costs.values()))

    def _charge(self) -> None:
        """Add the seconds, sweeps and rows since the last report to the phase of that report."""
        before, self._mark = self._mark, self._now()
        if self._costs:
            cost = self._costs[self._phase]
            cost.seconds += self._mark[0] - before[0]
            cost.cpu_seconds += self._mark[1] - before[1]
            cost.sweeps += self._mark[2] - before[2]
            cost.rows += self._mark[3] - before[3]

    def _now(self) -> tuple[float, float, int, int]:
        return time.perf_counter(), time.process_time(), self._meter.sweeps, self._meter.rows
