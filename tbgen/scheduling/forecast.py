"""Time of a run, computed by a simulation of its queue.

    simulate    jobs, slots, memory  ->  total time, if each job takes its estimated seconds
    Forecast    events of a run      ->  remaining time, by simulating the remaining jobs

The *slowdown* is the time that finished jobs took, divided by their estimated time. A forecast
multiplies the remaining estimates by the slowdown.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any

from tbgen.scheduling.queue import Job, Start
from tbgen.scheduling.run import InProcess, LostError, Observer, PostponedError, run

_PLAN_SHARE, _PLAN_SECONDS = 0.02, 2.0
"""Seconds added to both times of the slowdown, so that a few small jobs do not decide it: a share
of the estimated seconds of all jobs, or the second constant if that is more.
"""

_OVERDUE_SHARE = 0.1
"""Least remaining time assumed for a running job, which may be overdue, as a share of its age."""


class Simulated(InProcess):
    """Executor whose clock advances from the estimated end of one job to that of the next.

    slots, memory : as for `simulate`
    function : called when a job begins, as in `InProcess`; does nothing by default
    """

    def __init__(
        self, slots: int, memory: int | None = None,
        function: Callable[[Start], Any] = lambda start: None,
    ) -> None:  # fmt: skip
        super().__init__(function, memory)
        self.slots = slots
        self.longest_path = 0.0
        """Longest remaining path of any job that has begun, in seconds."""
        self._now = 0.0
        self._ends: list[tuple[float, int, Future[Any]]] = []
        self._submitted = 0

    def submit(self, start: Start) -> Future[Any]:
        """Begin a job at the current simulated time."""
        future = super().submit(start)
        self._submitted += 1
        heapq.heappush(self._ends, (self._now + start.job.seconds, self._submitted, future))
        self.longest_path = max(self.longest_path, start.remaining_path)
        return future

    def wait(self, futures: Collection[Future[Any]], timeout: float | None) -> set[Future[Any]]:
        """Advance the clock to the next end of a job, but at most by `timeout` seconds.

        Returns the future of this job, whatever `futures` has; an empty set if none ends in time.
        Without a timeout, a job must be running.
        """
        if timeout is not None and (not self._ends or self._ends[0][0] > self._now + timeout):
            self._now += timeout
            return set()
        self._now, _, future = heapq.heappop(self._ends)
        return {future}

    def now(self) -> float:
        """Return the simulated seconds since the beginning."""
        return self._now


@dataclass(frozen=True, slots=True)
class Simulation:
    """Result of simulating a run."""

    seconds: float
    """Time until the last job is done."""
    longest_path: float
    """Longest remaining path of any job: a lower bound of `seconds` for any number of slots."""
    busy: float
    """Share of the slots' total time in which jobs run, 0 to 1; 1 if `seconds` is 0."""


def simulate(jobs: Iterable[Job], slots: int, memory: int | None = None) -> Simulation:
    """Simulate a run of jobs that take exactly their estimated seconds; return its `Simulation`.

    slots : number of jobs that may run at once
    memory : bytes that the running jobs share, None for no limit

    Raises `graphlib.CycleError` if prerequisites form a cycle.
    """
    jobs = list(jobs)
    executor = Simulated(slots, memory)
    run(jobs, executor, Observer())
    seconds = executor.now()
    busy = sum(job.seconds for job in jobs) / (seconds * slots) if seconds else 1.0
    return Simulation(seconds, executor.longest_path, busy)


class Forecast(Observer):
    """Observer of a run that estimates its remaining seconds.

    Results of jobs must have an attribute `seconds`: the time taken, 0 if there was nothing to do.

    jobs : the jobs of the run with their estimated seconds
    slots, memory : as for `simulate`
    clock : returns the time in seconds
    """

    def __init__(
        self, jobs: Iterable[Job], slots: int, memory: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self._left = {job.key: job for job in jobs}
        self._slots, self._memory, self._clock = slots, memory, clock
        self.running: dict[str, float] = {}
        """Keys of the running jobs, and the time at which each began."""
        whole = sum(job.seconds for job in self._left.values())
        self._planned = self._taken = max(_PLAN_SHARE * whole, _PLAN_SECONDS)

    def started(self, start: Start) -> None:
        """Record that a job has begun."""
        self.running[start.job.key] = self._clock()

    def finished(self, start: Start, result: Any) -> None:
        """Record the time that a job took."""
        job = self._left.pop(start.job.key, None)
        if job is not None and result.seconds:
            self._planned += job.seconds
            self._taken += result.seconds
        self.running.pop(start.job.key, None)

    def failed(self, start: Start, error: BaseException) -> None:
        """Record that a job takes no further time."""
        self._left.pop(start.job.key, None)
        self.running.pop(start.job.key, None)

    def retried(self, start: Start, error: PostponedError | LostError) -> None:
        """Record that a job will take its full time again."""
        self.running.pop(start.job.key, None)

    def seconds_left(self) -> float:
        """Return the estimated seconds until all jobs of the run are done or have failed.

        Jobs that cannot start, since a prerequisite has failed, count, too.
        """
        factor, now = self._taken / self._planned, self._clock()
        rest = []
        for key, job in self._left.items():
            seconds = factor * job.seconds
            if key in self.running:
                gone = now - self.running[key]
                seconds = max(_OVERDUE_SHARE * gone, seconds - gone)
            rest.append(replace(job, seconds=seconds))
        return simulate(rest, self._slots, self._memory).seconds
