"""Time of a run, computed by a simulation of its queue.

    simulate    jobs, slots, memory  ->  total time, if each job takes its estimated seconds
    Forecast    finished jobs        ->  remaining jobs simulated, times the slowdown so far

Simulated and real executors share the loop and the queue.
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

_LEAST_SHARE = 0.02
"""Share of the total work that must be finished before the slowdown is computed.

The slowdown is the time passed, divided by the simulated time of the finished work.
"""

_OVERDUE_SHARE = 0.1
"""Assumed remaining time of a job that exceeds its estimate, as a share of the time that it has
run.
"""


class Simulated(InProcess):
    """Executor whose clock advances from the estimated end of one job to that of the next.

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
        """Begin a job at the current simulated time; implements `Executor.submit`."""
        future = super().submit(start)
        self._submitted += 1
        heapq.heappush(self._ends, (self._now + start.job.seconds, self._submitted, future))
        self.longest_path = max(self.longest_path, start.remaining_path)
        return future

    def wait(self, futures: Collection[Future[Any]], timeout: float | None) -> set[Future[Any]]:
        """Advance the simulated clock until a job ends, or by `timeout` seconds.

        Implements `Executor.wait`; returns the futures that are done.
        """
        if timeout is not None and (not self._ends or self._ends[0][0] > self._now + timeout):
            self._now += timeout
            return set()
        self._now, _, future = heapq.heappop(self._ends)
        return {future}

    def now(self) -> float:
        """Return the simulated seconds since the beginning; overrides `Executor.now`."""
        return self._now


@dataclass(frozen=True, slots=True)
class Simulation:
    """Result of simulating a run."""

    seconds: float
    """Time until the last job is done."""
    longest_path: float
    """Longest remaining path of any job: the lower bound of `seconds` for any number of slots."""
    busy: float
    """Share of the slots' total time in which jobs run, 0 to 1."""


def simulate(jobs: Iterable[Job], slots: int, memory: int | None = None) -> Simulation:
    """Simulate a run of jobs that take exactly their estimated seconds; return its `Simulation`.

    slots : number of jobs that may run at once
    memory : bytes that the running jobs share, None for no limit
    """
    jobs = list(jobs)
    executor = Simulated(slots, memory)
    run(jobs, executor, Observer())
    seconds = executor.now()
    busy = sum(job.seconds for job in jobs) / (seconds * slots) if seconds else 1.0
    return Simulation(seconds, executor.longest_path, busy)


class Forecast(Observer):
    """Observer of a run that estimates its remaining seconds.

    jobs : the jobs of the run, with their estimated seconds
    slots, memory : as for `simulate`
    clock : returns the time in seconds
    """

    def __init__(
        self, jobs: Iterable[Job], slots: int, memory: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
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
        """Record that a job takes no further time; overrides `Observer.finished`."""
        self._running.pop(start.job.key, None)
        self._left.pop(start.job.key, None)

    def failed(self, start: Start, error: BaseException) -> None:
        """Record that a job takes no further time; overrides `Observer.failed`."""
        self.finished(start, None)

    def retried(self, start: Start, error: PostponedError | LostError) -> None:
        """Record that the full time of a job is expected again; overrides `Observer.retried`.

        If another process is doing the job, that process may take as long.
        """
        self._running.pop(start.job.key, None)

    def seconds_left(self) -> float:
        """Return the estimated seconds until all jobs of the run are done or have failed."""
        passed, done = self._clock() - self._began, self._whole - self._simulated()
        if done > _LEAST_SHARE * self._whole and passed > 0:
            self._factor = passed / done
        return self._simulated(_OVERDUE_SHARE) * self._factor

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
