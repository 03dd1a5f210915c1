"""Costs of the phases of a table: seconds, use of the threads, sweeps, rows.

    Profile    `Progress` that a builder reports to: it measures the cost between two reports, and
               forwards each report to the `Progress` of the caller
    PhaseCost  cost of one phase of one order, or a sum of such costs
    total      sum of costs

A *sweep* is one pass over rows of a table; a row has ninety positions. Counts of sweeps and rows
are the same on every machine. The time from one call of `phase` to the next, or to `written`,
belongs to the first call's phase. `PhaseCost.busy` is lower if other processes use the machine.
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
    """Cost of one phase of a table in one order; or the sum over phases (`total`)."""

    phase: str
    """Name of the phase, as `Progress.phase` reports it; "all" for a sum."""
    order: int
    """Order of values (`tbgen.building`) for which the phase ran; 0 for a sum."""
    seconds: float = 0.0
    """Wall seconds."""
    cpu_seconds: float = 0.0
    """CPU seconds of all threads."""
    sweeps: int = 0
    rows: int = 0
    """Number of rows that the solver's sweeps read; a row counts once for each sweep."""
    settled: int = 0
    """Positions that were assigned their value."""

    def busy(self, threads: int) -> float:
        """Return the share of the threads' time spent computing, about 0 to 1; 0 without any time.

        threads : number of threads of the build
        """
        return self.cpu_seconds / (self.seconds * threads) if self.seconds else 0.0

    def to_json(self, threads: int) -> dict[str, Any]:
        """Return the JSON of this phase that `tbgen build --profile --json` prints."""
        return asdict(self) | {
            "seconds": round(self.seconds, 4),
            "cpu_seconds": round(self.cpu_seconds, 4),
            "busy": round(self.busy(threads), 3),
        }


def total(costs: list[PhaseCost]) -> PhaseCost:
    """Return the sum of all costs except those of the phase "compile"."""
    counted = [astuple(cost)[2:] for cost in costs if cost.phase != "compile"]
    return PhaseCost("all", 0, *map(sum, zip(*counted, strict=True)))


class Profile(Progress):
    """`Progress` that forwards each report, and measures the cost between reports.

    progress : receives each report
    meter : that of the builder
    show : called when a table is written, with the costs of its phases in order
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
        """Discard the previous table's costs, and forward the report."""
        self._costs = {}
        self._progress.table(name, finished)

    def phase(self, name: str, order: int, plies: int, settled: int) -> None:
        """Add to the current phase its cost since the last call, and begin another phase.

        `settled` counts for the other phase. The report is forwarded.
        """
        self._add_cost()
        self._phase = (name, order)
        self._costs.setdefault(self._phase, PhaseCost(name, order)).settled += settled
        self._progress.phase(name, order, plies, settled)

    def note(self, text: str) -> None:
        """Forward a note."""
        self._progress.note(text)

    def written(self, name: TableName, size: int, seconds: float) -> None:
        """Complete the costs, forward the report, and call `show`."""
        self._add_cost()
        self._progress.written(name, size, seconds)
        self._show(list(self._costs.values()))

    def _add_cost(self) -> None:
        """Add the cost since the last call to the current phase, if one has begun."""
        before, self._mark = self._mark, self._now()
        if self._costs:
            cost = self._costs[self._phase]
            cost.seconds += self._mark[0] - before[0]
            cost.cpu_seconds += self._mark[1] - before[1]
            cost.sweeps += self._mark[2] - before[2]
            cost.rows += self._mark[3] - before[3]

    def _now(self) -> tuple[float, float, int, int]:
        return time.perf_counter(), time.process_time(), self._meter.sweeps, self._meter.rows
