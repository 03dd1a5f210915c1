"""Executor with a simulated clock, which advances from one job's end to the next.

    jobs with seconds and memory, slots, memory  ->  `simulate`  ->  total time

Simulated and real executors share the loop and the queue.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from tbgen.scheduling.queue import Job, Start
from tbgen.scheduling.run import Executor, Observer, run

Ending = Callable[[Start], "tuple[float, BaseException | None]"]
"""Function that returns the duration of a started job in seconds, and its exception or None."""


def _as_estimated(start: Start) -> tuple[float, None]:
    return start.job.seconds, None


class Simulated(Executor):
    """Executor with a simulated clock, which runs nothing.

    ending : returns duration and error of each job; by default the estimate, and no error
    """

    def __init__(
        self, slots: int | None, memory: int | None = None, ending: Ending = _as_estimated
    ) -> None:
        self.slots = slots
        self.memory = memory
        self._ending = ending
        self._now = 0.0
        self._ends: list[tuple[float, int, Future[Any], BaseException | None]] = []
        self._submitted = 0
        self.busy_seconds = 0.0
        """Total over all slots."""

    def submit(self, start: Start) -> Future[Any]:
        """Begin a job at the current simulated time; implements `Executor.submit`."""
        future: Future[Any] = Future()
        seconds, error = self._ending(start)
        self._submitted += 1
        self.busy_seconds += seconds
        heapq.heappush(self._ends, (self._now + seconds, self._submitted, future, error))
        return future

    def wait(self, futures: Collection[Future[Any]], timeout: float | None) -> set[Future[Any]]:
        """Advance the simulated clock until a job ends, or by `timeout` seconds.

        Implements `Executor.wait`; returns the futures that are done.
        """
        if timeout is not None and (not self._ends or self._ends[0][0] > self._now + timeout):
            self._now += timeout
            return set()
        self._now, _, future, error = heapq.heappop(self._ends)
        if error is None:
            future.set_result(None)
        else:
            future.set_exception(error)
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


class _Paths(Observer):
    longest = 0.0

    def started(self, start: Start) -> None:
        self.longest = max(self.longest, start.path)


def simulate(jobs: Iterable[Job], slots: int, memory: int | None = None) -> Simulation:
    """Return the total time of jobs that take exactly their estimated seconds."""
    executor, paths = Simulated(slots, memory), _Paths()
    run(jobs, executor, paths)
    seconds = executor.now()
    busy = executor.busy_seconds / (seconds * slots) if seconds else 1.0
    return Simulation(seconds, paths.longest, busy)
