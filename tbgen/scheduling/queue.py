"""Queue of the jobs that may start now.

    waiting  --all that it needs is done-->  ready  --next()-->  running  -->  done
                                               ^                    |   \\
                                               +-- lost, set aside--+    failed

A ready job starts if a slot and its memory are free, that with the longest remaining path first:
its own seconds, and those of what can only come after it. Where the first of them does not find
its memory free, others may pass it, but only such as do not keep it waiting (backfilling): they end
before there is room for it, or leave that room. So what is large is not starved by what is small.

A job whose worker was lost, as a rule to the kernel's killer of processes that take too much
memory, is tried again with twice the memory kept free for it, and the last time with all of it:
less runs beside it. What somebody else is working on is set aside for a while. The queue starts
nothing and waits for nothing itself: times are numbers that it is given.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable
from dataclasses import dataclass
from graphlib import TopologicalSorter

MOST_TRIES = 3
"""How often a job is started that loses its worker each time."""


@dataclass(frozen=True, slots=True)
class Job:
    """A job; its function reads `payload`."""

    key: str
    needs: tuple[str, ...] = ()
    """The keys of what must be done before; those that are no jobs of the queue are done."""
    memory: int = 0
    """Bytes that it takes while it runs."""
    seconds: float = 0.0
    """About how long it takes."""
    payload: object = None


@dataclass(frozen=True, slots=True)
class Start:
    """A job that starts now."""

    job: Job
    memory: int
    """Bytes that are kept for it: more than its own where its worker was lost before."""
    beside: int
    """How many jobs could run at once now, itself included: among so many cores are shared out."""
    path: float
    """The longest remaining path in seconds, its own included: the greater, the more urgent."""


@dataclass(slots=True)
class _Running:
    memory: int
    until: float


class ReadyQueue:
    """Jobs in an order that respects what they need; raises `graphlib.CycleError` for a circle.

    memory : bytes that all running jobs share, None where that is somebody else's business
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
        """The most urgent first."""
        self._make_ready(self._sorter.get_ready())
        self._aside: dict[str, float] = {}
        self._running: dict[str, _Running] = {}
        self._tries: dict[str, int] = {}
        self._stopped = False
        self.done: set[str] = set()
        self.failed: set[str] = set()

    @property
    def unfinished(self) -> bool:
        """Return whether a job runs or may still start."""
        return bool(self._running or (not self._stopped and (self._ready or self._aside)))

    @property
    def running(self) -> list[str]:
        """The keys of running jobs, in the order in which they were started."""
        return list(self._running)

    @property
    def left_out(self) -> list[str]:
        """The keys of what has neither been done nor failed: once all is finished, of what needs
        something that failed, and of what `stop` kept from starting."""
        return [key for key in self.jobs if key not in self.done and key not in self.failed]

    def next(self, now: float, slots: int | None) -> list[Start]:
        """Start and return the next jobs, the most urgent first.

        slots : how many jobs may run at once; None for any number
        """
        if self._stopped:
            return []
        for key in [key for key, until in self._aside.items() if until <= now]:
            del self._aside[key]
            self._make_ready((key,))
        width = len(self._running) + len(self._ready)
        beside = width if slots is None else min(width, slots)
        started: list[Start] = []
        shadow: tuple[float, int] | None = None
        kept_waiting = []
        for at, entry in enumerate(self._ready):
            if slots is not None and len(self._running) >= slots:
                kept_waiting += self._ready[at:]
                break
            key = entry[2]
            job, memory = self.jobs[key], self._kept(key)
            if memory > self._free():
                shadow = shadow or self._shadow(memory)
                kept_waiting.append(entry)
                continue
            if shadow is not None:
                ends_before, spare = now + job.seconds <= shadow[0], shadow[1] - memory
                if not ends_before and spare < 0:
                    kept_waiting.append(entry)
                    continue
                shadow = shadow[0], shadow[1] if ends_before else spare
            self._running[key] = _Running(memory, now + job.seconds)
            started.append(Start(job, memory, beside, self._paths[key]))
        self._ready = kept_waiting
        return started

    def finish(self, key: str) -> None:
        """Mark a job as done; jobs that waited for it alone become ready."""
        del self._running[key]
        self.done.add(key)
        self._sorter.done(key)
        self._make_ready(self._sorter.get_ready())

    def fail(self, key: str) -> None:
        """Mark a job as failed; jobs that need it never start."""
        del self._running[key]
        self.failed.add(key)

    def lose(self, key: str) -> bool:
        """Mark the worker of a job as lost; return whether the job is tried again, not failed."""
        self._tries[key] = self._tries.get(key, 0) + 1
        if self._tries[key] >= MOST_TRIES:
            self.fail(key)
            return False
        del self._running[key]
        self._make_ready((key,))
        return True

    def set_aside(self, key: str, until: float) -> None:
        """Set a job aside that another process is doing: it is ready again from a time on."""
        del self._running[key]
        self._aside[key] = until

    def stop(self) -> None:
        """Start nothing more."""
        self._stopped = True

    def wakes_at(self) -> float | None:
        """Return the time when something set aside is ready again; None where nothing is."""
        return None if self._stopped else min(self._aside.values(), default=None)

    def _make_ready(self, keys: Iterable[str]) -> None:
        for key in keys:
            insort(self._ready, (-self._paths[key], self._place[key], key))

    def _kept(self, key: str) -> int:
        """Bytes to reserve for a job: never more than there are, so that each job can run alone."""
        tries = self._tries.get(key, 0)
        if self.memory is None:
            return self.jobs[key].memory << tries
        if tries == MOST_TRIES - 1:
            return self.memory
        return min(self.memory, self.jobs[key].memory << tries)

    def _free(self) -> float:
        if self.memory is None:
            return float("inf")
        return self.memory - sum(running.memory for running in self._running.values())

    def _shadow(self, memory: int) -> tuple[float, int]:
        """Return when so many bytes will be free by present estimates, and how many more then."""
        free = int(self._free())
        for running in sorted(self._running.values(), key=lambda running: running.until):
            free += running.memory
            if free >= memory:
                return running.until, free - memory
        raise AssertionError("what is kept for a job is no more than there is")


def _longest_paths(jobs: dict[str, Job], needs: dict[str, list[str]]) -> dict[str, float]:
    """Of each job its seconds, and those of the longest chain of jobs that wait for it."""
    above: dict[str, list[str]] = {key: [] for key in jobs}
    for key, needed in needs.items():
        for need in needed:
            above[need].append(key)
    paths: dict[str, float] = {}
    for key in reversed(list(TopologicalSorter(needs).static_order())):
        paths[key] = jobs[key].seconds + max((paths[other] for other in above[key]), default=0.0)
    return paths
