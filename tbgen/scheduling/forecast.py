"""Remaining time of a run: the queue simulated to its end, with measured seconds.

jobs, slots, memory  ->  all jobs simulated         estimate of the total time
finished jobs        ->  remaining jobs simulated, times the slowdown so far
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from tbgen.scheduling.queue import Job, Start
from tbgen.scheduling.run import LostError, Observer, PostponedError
from tbgen.scheduling.simulation import simulate

_LEAST_SHARE = 0.02
"""Share of the total work that must be finished before the slowdown is computed.

The slowdown is the time passed, divided by the simulated time of the finished work.
"""

_OVERDUE_SHARE = 0.1
"""Assumed remaining time of a job that exceeds its estimate, as a share of the time that it has
run.
"""


class Forecast(Observer):
    """Observer of a run that estimates its remaining seconds."""

    def __init__(
        self, jobs: Iterable[Job], slots: int, memory: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        """Store the jobs of a run with their estimated seconds, and the run's slots and memory.

        slots : number of jobs that may run at once
        memory : bytes that the running jobs share, None for no limit
        """
        self._left = {job.key: job for job in jobs}
        self._slots, self._memory, self._clock = slots, memory, clock
        self._running: dict[str, float] = {}
        self._began = clock()
        self._factor = 1.0
        self._whole = self._simulated()

    def started(self, start: Start) -> None:
        """Record that a job has begun; overrides `Observer.started`."""
        self._running[start.job.key] = self._clock()

    def finished(self, start: Start, result: Any) -> None:
        """Record that a job is done and takes no further time; overrides `Observer.finished`."""
        self._ended(start)
        self._left.pop(start.job.key, None)

    def failed(self, start: Start, error: BaseException) -> None:
        """Record that a job has failed and takes no further time; overrides `Observer.failed`."""
        self.finished(start, None)

    def postponed(self, start: Start, reason: PostponedError) -> None:
        """Record that a job does not run now; its full estimated time is expected again.

        Overrides `Observer.postponed`. Another process is doing the job, and may take that long.
        """
        self._ended(start)

    def lost(self, start: Start, error: LostError) -> None:
        """Record that a job must be repeated from its beginning; overrides `Observer.lost`."""
        self._ended(start)

    def seconds_left(self) -> float:
        """Return the estimated seconds until all jobs of the run are done or have failed."""
        passed, done = self._clock() - self._began, self._whole - self._simulated()
        if done > _LEAST_SHARE * self._whole and passed > 0:
            self._factor = passed / done
        return self._simulated(_OVERDUE_SHARE) * self._factor

    def _ended(self, start: Start) -> None:
        self._running.pop(start.job.key, None)

    def _simulated(self, overdue: float = 0.0) -> float:
        """Return the simulated seconds until all unfinished jobs are done.

        Of a running job only the remaining time counts.

        overdue : least remaining time of a running job, as a share of its time so far
        """
        now = self._clock()
        rest = []
        for key, job in self._left.items():
            if key in self._running:
                gone = (now - self._running[key]) / self._factor
                job = replace(job, seconds=max(overdue * gone, job.seconds - gone))
            rest.append(job)
        return simulate(rest, self._slots, self._memory).seconds
