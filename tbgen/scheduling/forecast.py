"""Remaining time of a run: the queue simulated to its end, with measured seconds.

    jobs, slots, memory  ->  all of them simulated      how long all was to take
    what is done         ->  the rest of them simulated, times how much slower things went so far

Nothing here says so to anybody.
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
"""The share of all work that must be done before its pace is taken for that of the rest."""

_OVERDUE_SHARE = 0.1
"""A job that should have ended is given this share of the time that it has taken, on top."""


class Forecast(Observer):
    """Estimate of the seconds that a run still takes, from its events."""

    def __init__(
        self, jobs: Iterable[Job], slots: int, memory: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        """Take the jobs still to be done, each with seconds, and the resources."""
        self._left = {job.key: job for job in jobs}
        self._slots, self._memory, self._clock = slots, memory, clock
        self._running: dict[str, float] = {}
        self._began = clock()
        self._factor = 1.0
        self._whole = self._simulated()

    def started(self, start: Start) -> None:
        """Record that a job has begun."""
        self._running[start.job.key] = self._clock()

    def finished(self, start: Start, result: Any) -> None:
        """Record that a job is done."""
        self._ended(start)
        self._left.pop(start.job.key, None)

    def failed(self, start: Start, error: BaseException) -> None:
        """Record that a job has failed, and takes no more time."""
        self.finished(start, None)

    def set_aside(self, start: Start, reason: PostponedError) -> None:
        """Record that a job was set aside; another process that does it may take as long."""
        self._ended(start)

    def lost(self, start: Start, error: LostError) -> None:
        """Record that a job must be done again."""
        self._ended(start)

    def seconds_left(self) -> float:
        """Return about the seconds until all is done; an overdue job is given some more."""
        passed, done = self._clock() - self._began, self._whole - self._simulated()
        if done > _LEAST_SHARE * self._whole and passed > 0:
            self._factor = passed / done
        return self._simulated(_OVERDUE_SHARE) * self._factor

    def _ended(self, start: Start) -> None:
        self._running.pop(start.job.key, None)

    def _simulated(self, overdue: float = 0.0) -> float:
        """Return the seconds of the remaining jobs by simulation, running ones in part.

        overdue : which part of what it has taken that rest is at least
        """
        now = self._clock()
        rest = []
        for key, job in self._left.items():
            if key in self._running:
                gone = (now - self._running[key]) / self._factor
                job = replace(job, seconds=max(overdue * gone, job.seconds - gone))
            rest.append(job)
        return simulate(rest, self._slots, self._memory).seconds
