"""Progress of a build on stderr: on a terminal a line that is overwritten, and lines that stay.

A line stays for each note and, in a build of at most `LARGE_SET` tables, for each table that was
built. Without a terminal, the progress is printed as lines at intervals (`QUIET_SECONDS`,
`LARGE_SET_SECONDS`). The caller prints failures of tables.
"""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import click

from tbgen.building.builder import Built, Progress
from tbgen.building.profile import PhaseCost, total
from tbgen.cli.streams import LiveLine
from tbgen.scheduling.forecast import Forecast
from tbgen.scheduling.queue import Start
from tbgen.scheduling.run import LostError, Observer, PostponedError
from tbgen.system.units import counted, format_bytes, format_duration
from tbgen.tables.names import TableName

QUIET_SECONDS = 10.0
"""Seconds between lines of progress without a terminal, for at most `LARGE_SET` tables."""

LARGE_SET = 100
"""Number of tables above which a build prints no line for each table."""

LARGE_SET_SECONDS = 60.0
"""Seconds between lines of progress without a terminal, for more than `LARGE_SET` tables."""

_TIME_LEFT_SECONDS = 2.0
"""Seconds after which the displayed remaining time is estimated again."""

_MAX_NAMED = 4
"""Maximum number of running tables whose names are shown; of more tables, no names are."""


class SetProgress(LiveLine, Progress, Observer):
    """Progress on stderr of a build of `total` tables, and the `Observer` of its jobs.

    `tables` has a JSON object for each table that was built or found present: its name (`table`),
    whether it was `built`, and if so `bytes_on_disk` and `build_seconds`.

    forecast : estimates the remaining time from the events of jobs
    by_workers : whether worker processes build the tables; their phases are not shown
    """

    every = 1.0

    def __init__(self, total: int, forecast: Forecast, *, by_workers: bool) -> None:
        super().__init__()
        self.tables: list[dict[str, Any]] = []
        self.counts: Counter[str] = Counter()
        """Numbers of tables that are `built`, `present` or `failed`."""
        self._total = total
        self._forecast = forecast
        self._by_workers = by_workers
        self._prints_each = total <= LARGE_SET
        self._label = ""
        self._settled = 0
        self._began = self._printed = time.monotonic()
        self._time_left_text, self._time_left_computed = "", 0.0

    # -- of the table under construction in this process -------------------------------------

    def table(self, name: TableName, finished: bool) -> None:
        """Begin a table; if it is `finished`, show it as present and add it to `tables`."""
        self._label = f"{self.counts.total() + 1}/{self._total} {name}"
        self._settled = 0
        if self._prints_each:
            self._printed = time.monotonic()
        if finished:
            self.tables.append({"table": str(name), "built": False})
            self.update(f"{self._label}: present")

    def phase(self, name: str, order: int, plies: int, settled: int) -> None:
        """Show a phase, or print a line if `name` is `resuming`."""
        self._settled += settled
        if name == "resuming":
            self.print(f"{self._label}: resumes from its saved state: order {order}, ply {plies}")
            return
        text = f"{self._label}: {name}"
        if order or plies:
            text += f", order {order}"
        if plies:
            text += f", ply {plies}, {counted(self._settled, 'position')} settled"
        self._show_at_intervals(text)

    def note(self, text: str) -> None:
        """Print a note on the table."""
        self.print(f"{self._label}: {text}")

    def written(self, name: TableName, size: int, seconds: float) -> None:
        """Show a table that has been written, of `size` bytes, and add it to `tables`."""
        figures = {"bytes_on_disk": size, "build_seconds": round(seconds, 3)}
        self.tables.append({"table": str(name), "built": True, **figures})
        show = self.print if self._prints_each else self._show_at_intervals
        show(f"{self._label}: {format_bytes(size)} in {format_duration(seconds)}")

    def report_costs(self, costs: list[PhaseCost], threads: int) -> None:
        """Print the costs of the last table's phases, and their sum; add them to its JSON object.

        threads : number of threads that built the table
        """
        whole = total(costs)
        self.tables[-1]["profile"] = [cost.to_json(threads) for cost in [*costs, whole]]
        self.print(f"{'phase':<13}{'order':>5}{'s':>10}{'CPU s':>10}{'busy':>6}{'sweeps':>8}"
                   f"{'rows':>16}{'settled':>16}")  # fmt: skip
        for cost in [*costs, whole]:
            self.print(
                f"{cost.phase:<13}{cost.order:>5}{cost.seconds:>10.3f}{cost.cpu_seconds:>10.3f}"
                f"{cost.busy(threads):>6.0%}{cost.sweeps:>8,}{cost.rows:>16,}{cost.settled:>16,}"
            )

    # -- of the run --------------------------------------------------------------------------

    def started(self, start: Start) -> None:
        """Show that a table begins."""
        self._forecast.started(start)
        self.waiting("")

    def finished(self, start: Start, result: Built) -> None:
        """Count a built or present table; show one of a worker, and add it to `tables`."""
        self._forecast.finished(start, result)
        if self._by_workers:
            self.table(result.name, result.size is None)
            if result.resumed_at is not None:
                order, plies = result.resumed_at
                self.print(f"{self._label}: resumed from a saved state: order {order}, ply {plies}")
            if result.size is not None:
                self.written(result.name, result.size, result.seconds)
        self.counts["present" if result.size is None else "built"] += 1

    def retried(self, start: Start, error: PostponedError | LostError) -> None:
        """Report a job that will be tried again: its table was locked, or its worker was lost."""
        self._forecast.retried(start, error)
        if isinstance(error, LostError):
            self.print(f"{start.job.key}: {error}; trying again with more memory")
        else:
            self._show_at_intervals(f"{start.job.key}: {error}")

    def failed(self, start: Start, error: BaseException) -> None:
        """Count a failed table; the caller prints the reason."""
        self.counts["failed"] += 1
        self._forecast.failed(start, error)

    def waiting(self, trouble: str) -> None:
        """Show the tables given to workers, if any, and the `trouble` of these."""
        running = self._forecast.running
        if self._by_workers and running:
            names = f": {', '.join(running)}" if len(running) <= _MAX_NAMED else ""
            done = f"{self.counts.total()}/{self._total} done"
            state = f"{len(running)} waiting" if trouble else f"{len(running)} running"
            reason = f"; {trouble}" if trouble else ""
            self._show_at_intervals(f"{done}, {state}{names}{reason}")

    def summary(self, left_out: int) -> str:
        """Return the totals: `9 tables: 7 built, 2 left out; 143 MiB in 2 min`."""
        counts = self.counts + Counter({"left out": left_out})
        kinds = ("built", "present", "failed", "left out")
        said = ", ".join(f"{counts[what]} {what}" for what in kinds if counts[what])
        built = sum(table.get("bytes_on_disk", 0) for table in self.tables)
        took = format_duration(time.monotonic() - self._began)
        return f"{counted(self._total, 'table')}: {said}; {format_bytes(built)} in {took}"

    def _show_at_intervals(self, text: str) -> None:
        """Show a text and the remaining time on a terminal; else print both at intervals."""
        text += self._time_left()
        self.update(text)
        interval = QUIET_SECONDS if self._prints_each else LARGE_SET_SECONDS
        if not self.is_shown and time.monotonic() - self._printed > interval:
            self._printed = time.monotonic()
            click.echo(text, err=True)

    def _time_left(self) -> str:
        """Return `; about 3 min left`; empty until a table is built."""
        if not self.counts["built"]:
            return ""
        if time.monotonic() - self._time_left_computed > _TIME_LEFT_SECONDS:
            self._time_left_text = f"; about {format_duration(self._forecast.seconds_left())} left"
            self._time_left_computed = time.monotonic()
        return self._time_left_text
