"""Main loop that runs jobs: it starts those that the queue selects, and evaluates their futures.

    queue.next  ->  executor.submit  ->  a future  ->  result       done
                                              PostponedError   set aside, retried soon
                                              LostError        retried with fewer jobs beside it
                                              any other        failed

All executors share the loop: this process, processes of this machine, a cluster, a simulation.
"""

from __future__ import annotations

import concurrent.futures
import time
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from tbgen.scheduling.queue import Job, ReadyQueue, Start

PAUSE = 0.2
"""Seconds after which a job that was set aside is retried."""


class PostponedError(Exception):
    """Raised when a job cannot run now, for a reason outside the job."""


class BusyError(PostponedError):
    """Raised by a job that another process is doing."""


class LostError(Exception):
    """Raised when a worker has ended without an answer, usually because it was killed."""


class Executor:
    """Runner of jobs, in real time. A future has the result of its job, or the exception."""

    slots: int | None = None
    """Number of jobs that may run at once; None for no limit."""

    memory: int | None = None
    """Bytes that jobs share; None if the executor limits memory itself."""

    def submit(self, start: Start) -> Future[Any]:
        """Start a job, and return its future."""
        raise NotImplementedError

    def wait(self, futures: Collection[Future[Any]], timeout: float | None) -> set[Future[Any]]:
        """Wait until a future is done, or `timeout` seconds; return the futures that are done."""
        if not futures:
            time.sleep(timeout or 0)
            return set()
        return concurrent.futures.wait(
            futures, timeout, return_when=concurrent.futures.FIRST_COMPLETED
        ).done

    def now(self) -> float:
        """Return a time in seconds, for differences only."""
        return time.monotonic()


class InProcess(Executor):
    """Executor of one job at a time in this process; Ctrl-C is raised in the caller."""

    slots = 1

    def __init__(self, function: Callable[[Start], Any], memory: int | None = None) -> None:
        """Store the function of jobs; each job is given all of `memory`."""
        self._function = function
        self.memory = memory

    def submit(self, start: Start) -> Future[Any]:
        """Run a job to its end; the returned future is done."""
        future: Future[Any] = Future()
        try:
            future.set_result(self._function(start))
        except Exception as error:
            future.set_exception(error)
        return future


class Observer:
    """Receiver of events of a run; each method does nothing unless overridden."""

    every: float | None = None
    """Seconds without another event after which `waiting` is called; None for never."""

    def waiting(self) -> None:
        """Called while jobs are running."""

    def started(self, start: Start) -> None:
        """Called when a job begins; it may begin again after `set_aside` or `lost`."""

    def finished(self, start: Start, result: Any) -> None:
        """Called when a job is done."""

    def set_aside(self, start: Start, reason: PostponedError) -> None:
        """Called when a job will be retried soon."""

    def lost(self, start: Start, error: LostError) -> None:
        """Called when a job has lost its worker, and will be retried."""

    def failed(self, start: Start, error: BaseException) -> None:
        """Called when a job has finally failed."""


@dataclass
class Outcome:
    """Result of a run."""

    results: dict[str, Any] = field(default_factory=dict)
    """Results of finished jobs, by key."""
    failures: dict[str, BaseException] = field(default_factory=dict)
    """Errors of failed jobs by key, in the order of failures."""
    left_out: list[str] = field(default_factory=list)
    """Keys of jobs that were not started: they depend on a failed job, or the run was ending."""


def run(
    jobs: Iterable[Job], executor: Executor, observer: Observer, *, keep_going: bool = False
) -> Outcome:
    """Run all jobs; exceptions of jobs are returned, not raised.

    keep_going : whether a failure stops only the jobs that depend on it; else no further job is
        started, and running jobs are finished
    """
    queue = ReadyQueue(jobs, executor.memory)
    outcome = Outcome()
    futures: dict[Future[Any], Start] = {}
    while queue.unfinished:
        for start in queue.next(executor.now(), executor.slots):
            observer.started(start)
            futures[executor.submit(start)] = start
        done = executor.wait(futures.keys(), _patience(queue, executor, observer))
        if not done:
            observer.waiting()
        for future in done:
            _settle(futures.pop(future), future, queue, observer, outcome, executor.now())
            if outcome.failures and not keep_going:
                queue.stop()
    outcome.left_out = queue.left_out
    return outcome


def _patience(queue: ReadyQueue, executor: Executor, observer: Observer) -> float | None:
    """Return the seconds to wait for a future; None for no limit."""
    waits = [] if observer.every is None else [observer.every]
    wakes_at = queue.wakes_at()
    if wakes_at is not None:
        waits.append(max(0.0, wakes_at - executor.now()))
    return min(waits, default=None)


def _settle(
    start: Start, future: Future[Any], queue: ReadyQueue, observer: Observer, outcome: Outcome,
    now: float,
) -> None:  # fmt: skip
    """Record the result or the error of a job."""
    key = start.job.key
    error = future.exception()
    if error is None:
        outcome.results[key] = future.result()
        queue.finish(key)
        observer.finished(start, outcome.results[key])
    elif isinstance(error, PostponedError):
        queue.set_aside(key, now + PAUSE)
        observer.set_aside(start, error)
    elif isinstance(error, LostError) and queue.lose(key):
        observer.lost(start, error)
    else:
        if not isinstance(error, LostError):  # else `lose` has marked it
            queue.fail(key)
        outcome.failures[key] = error
        observer.failed(start, error)
