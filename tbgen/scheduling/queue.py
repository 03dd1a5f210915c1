"""Queue that selects the jobs that may start now.

    waiting  --all prerequisites done-->  ready  --next()-->  running  -->  done, or failed
                                            ^                    |
                                            +-- lost, postponed--+

A job's *longest remaining path* is its own seconds and those of the longest chain of jobs that
depend on it. Ready jobs start in the order of these paths, the longest first, if their memory and
a *slot* are free: the number of slots limits the jobs that run at once. Other jobs may start before
one that waits for memory if they do not delay it (backfilling): they end before the bytes that it
needs are free, or leave enough bytes for it.

A job whose worker was lost, usually for lack of memory, is retried with twice the memory reserved,
and the last time (`MAX_TRIES`) with all the memory if that is limited. The queue itself starts
nothing and does not wait: the caller passes times as numbers.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable
from dataclasses import dataclass
from graphlib import TopologicalSorter

MAX_TRIES = 3
"""Number of lost workers after which a job fails."""


@dataclass(frozen=True, slots=True)
class Job:
    """A unit of work with prerequisites and estimated costs."""

    key: str
    needs: tuple[str, ...] = ()
    """Keys of prerequisites; keys that are no jobs of the queue count as done."""
    memory: int = 0
    """Bytes that the job takes while it runs."""
    seconds: float = 0.0
    """Estimated duration."""
    payload: object = None
    """Data for the executor's function, such as the table to build."""


@dataclass(frozen=True, slots=True)
class Start:
    """A job that starts now, and the resources it is given."""

    job: Job
    memory: int
    """Reserved bytes: the job's estimate, or more after a worker of this job was lost."""
    jobs_at_once: int
    """Number of jobs that run or are ready now, including this one, but at most the number of
    slots. This job may use 1 / `jobs_at_once` of the cores.
    """
    remaining_path: float
    """Longest remaining path in seconds."""


class ReadyQueue:
    """Queue of jobs, ordered by prerequisites, then by longest remaining path.

    memory : bytes that all running jobs share, None for no limit

    Raises `graphlib.CycleError` if prerequisites form a cycle.
    """

    def __init__(self, jobs: Iterable[Job], memory: int | None = None) -> None:
        self.jobs = {job.key: job for job in jobs}
        self.memory = memory
        needs = {
            key: [need for need in job.needs if need in self.jobs] for key, job in self.jobs.items()
        }
        self._paths = _longest_paths(self.jobs, needs)
        self._place = {key: place for place, key in enumerate(self.jobs)}
        self._sorter = TopologicalSorter(needs)
        self._sorter.prepare()
        self._ready: list[tuple[float, int, str]] = []
        """Ready jobs, longest remaining path first: minus the path, place among the jobs, key."""
        self._make_ready(self._sorter.get_ready())
        self._postponed: dict[str, float] = {}
        self._running: dict[str, tuple[int, float]] = {}
        """Reserved bytes of each running job, and the time at which it should end."""
        self._tries: dict[str, int] = {}
        self._stopped = False
        self.outstanding = dict.fromkeys(self.jobs)
        """Keys of the jobs that are neither done nor failed, in the order of the jobs."""

    @property
    def unfinished(self) -> bool:
        """Return whether a job runs or may still start."""
        return bool(self._running or (not self._stopped and (self._ready or self._postponed)))

    def next(self, now: float, slots: int | None) -> list[Start]:
        """Return the jobs to start now, the longest remaining path first; count them as running.

        now : time in seconds
        slots : number of jobs that may run at once, None for no limit
        """
        if self._stopped:
            return []
        for key in [key for key, until in self._postponed.items() if until <= now]:
            del self._postponed[key]
            self._make_ready((key,))
        width = len(self._running) + len(self._ready)
        jobs_at_once = width if slots is None else min(width, slots)
        started: list[Start] = []
        # For the first job that waits for memory: time at which it can start, spare bytes then.
        shadow: tuple[float, int] | None = None
        kept_waiting = []
        for at, entry in enumerate(self._ready):
            if slots is not None and len(self._running) >= slots:
                kept_waiting += self._ready[at:]
                break
            key = entry[2]
            job, memory = self.jobs[key], self._reserved(key)
            if memory > self._free():
                shadow = shadow or self._time_when_free(memory)
                kept_waiting.append(entry)
                continue
            if shadow is not None:
                ends_before, spare = now + job.seconds <= shadow[0], shadow[1] - memory
                if not ends_before and spare < 0:
                    kept_waiting.append(entry)
                    continue
                shadow = shadow[0], shadow[1] if ends_before else spare
            self._running[key] = memory, now + job.seconds
            started.append(Start(job, memory, jobs_at_once, self._paths[key]))
        self._ready = kept_waiting
        return started

    def finish(self, key: str) -> None:
        """Mark a job as done; jobs whose prerequisites are now all done become ready."""
        del self._running[key]
        del self.outstanding[key]
        self._sorter.done(key)
        self._make_ready(self._sorter.get_ready())

    def fail(self, key: str) -> None:
        """Mark a job as failed; jobs that depend on it never start."""
        del self._running[key]
        del self.outstanding[key]

    def retry(self, key: str) -> bool:
        """Make a job ready again after it lost a worker, unless it has lost `MAX_TRIES` workers.

        Returns whether the job is ready. If not, it counts as running until `fail` is called.
        """
        self._tries[key] = self._tries.get(key, 0) + 1
        if self._tries[key] >= MAX_TRIES:
            return False
        del self._running[key]
        self._make_ready((key,))
        return True

    def postpone(self, key: str, until: float) -> None:
        """Delay a job, which cannot run now, until the time `until`."""
        del self._running[key]
        self._postponed[key] = until

    def stop(self) -> None:
        """Prevent further starts."""
        self._stopped = True

    def seconds_to_retry(self, now: float) -> float | None:
        """Return the seconds until a delayed job becomes ready; None for none, or after `stop`."""
        if self._stopped or not self._postponed:
            return None
        return max(0.0, min(self._postponed.values()) - now)

    def _make_ready(self, keys: Iterable[str]) -> None:
        for key in keys:
            insort(self._ready, (-self._paths[key], self._place[key], key))

    def _reserved(self, key: str) -> int:
        """Return the bytes to reserve for a job: its estimate, doubled after each lost worker.

        No job gets more than all of a limited `memory`; at the last try it gets this.
        """
        tries = self._tries.get(key, 0)
        doubled = self.jobs[key].memory << tries
        if self.memory is None:
            return doubled
        return self.memory if tries == MAX_TRIES - 1 else min(self.memory, doubled)

    def _free(self) -> float:
        if self.memory is None:
            return float("inf")
        return self.memory - sum(memory for memory, _ in self._running.values())

    def _time_when_free(self, memory: int) -> tuple[float, int]:
        """Return the estimated time when `memory` bytes are free, and the bytes left over then."""
        free = int(self._free())
        for reserved, until in sorted(self._running.values(), key=lambda running: running[1]):
            free += reserved
            if free >= memory:
                return until, free - memory
        raise AssertionError("no job has more memory reserved than exists")


def _longest_paths(jobs: dict[str, Job], needs: dict[str, list[str]]) -> dict[str, float]:
    """Return the longest remaining path, in seconds, by key; `needs` are keys of prerequisites."""
    paths = {key: job.seconds for key, job in jobs.items()}
    for key in reversed(list(TopologicalSorter(needs).static_order())):
        for need in needs[key]:
            paths[need] = max(paths[need], jobs[need].seconds + paths[key])
    return paths
