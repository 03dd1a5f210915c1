"""An executor with a clock of its own: nothing runs, and time passes from one end to the next.

    jobs with seconds and memory, slots, memory  ->  `simulate`  ->  when all would be done

It is run by the same loop and the same queue as what really runs.
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
"""How long a job takes, and what it raises: None where it is done."""


def _as_estimated(start: Start) -> tuple[float, None]:
    return start.job.seconds, None


class Simulated(Executor):
    """Executor with a simulated clock; `ending` decides how jobs end, by default on time."""

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
        """Of all slots together."""

    def submit(self, start: Start) -> Future[Any]:
        """Begin a job at the current time of the simulation."""
        future: Future[Any] = Future()
        seconds, error = self._ending(start)
        self._submitted += 1
        self.busy_seconds += seconds
        heapq.heappush(self._ends, (self._now + seconds, self._submitted, future, error))
        return future

    def wait(self, futures: Collection[Future[Any]], timeout: float | None) -> set[Future[Any]]:
        """Advance the clock until a job ends, or by `timeout` seconds."""
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
        """Seconds that have passed."""
        return self._now


@dataclass(frozen=True, slots=True)
class Simulation:
    """Simulated cost of running some jobs."""

    seconds: float
    """Until the last one is done."""
    longest_path: float
    """Seconds that no number of slots makes fewer."""
    busy: float
    """The share of the slots' time in which they work."""


class _Paths(Observer):
    longest = 0.0

    def started(self, start: Start) -> None:
        self.longest = max(self.longest, start.path)


def simulate(jobs: Iterable[Job], slots: int, memory: int | None = None) -> Simulation:
    """Run jobs that take exactly the seconds that they have."""
    executor, paths = Simulated(slots, memory), _Paths()
    run(jobs, executor, paths)
    seconds = executor.now()
    busy = executor.busy_seconds / (seconds * slots) if seconds else 1.0
    return Simulation(seconds, paths.longest, busy)
