"""Main loop that runs jobs: it starts those that the queue selects, and evaluates their futures.

    queue.next  ->  executor.submit  ->  a future  ->  result           done
                                                       PostponedError   postponed, retried soon
                                                       LostError        retried, with more memory
                                                       any other        failed

All executors share the loop: this process, processes of this machine, a cluster, a simulation.
"""

from __future__ import annotations

import concurrent.futures
import time
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Self

from tbgen.scheduling.queue import Job, ReadyQueue, Start

PAUSE = 0.2
"""Seconds after which a job that was postponed is retried."""


class PostponedError(Exception):
    """Raised when a job cannot run now, but may succeed later; the job is postponed."""


class BusyError(PostponedError):
    """Raised when another process is doing the job."""


class LostError(Exception):
    """Raised when a worker has ended without an answer, usually because the system killed it."""


class Executor:
    """Base class of executors, in real time; a future has its job's result or exception.

    Executors that hold processes or connections release them at the end of a `with` block.
    """

    slots: int | None = None
    """Number of jobs that may run at once; None for no limit."""

    memory: int | None = None
    """Bytes that all jobs share; None if jobs are started without regard to memory."""

    def __enter__(self) -> Self:
        """Return the executor."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Do nothing; executors with processes or connections override this."""

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
        """Return the executor's clock in seconds, for differences only."""
        return time.monotonic()


class InProcess(Executor):
    """Executor that runs one job at a time in this process; Ctrl-C is raised in the caller."""

    slots: int | None = 1

    def __init__(self, function: Callable[[Start], Any], memory: int | None = None) -> None:
        """Store the function that runs a job, and the bytes that jobs may take (None: no limit)."""
        self._function = function
        self.memory = memory

    def submit(self, start: Start) -> Future[Any]:
        """Run a job to its end, and return a future that is done; implements `Executor.submit`."""
        future: Future[Any] = Future()
        try:
            future.set_result(self._function(start))
        except Exception as error:
            future.set_exception(error)
        return future


class Observer:
    """Receiver of events of a run; each method does nothing unless overridden."""

    every: float | None = None
    """Longest time in seconds without an event before `waiting` is called; None for no limit."""

    def waiting(self) -> None:
        """Called if no job has ended for `every` seconds, or until a postponed job is due again."""

    def started(self, start: Start) -> None:
        """Called when a job begins; it may begin again after `retried`."""

    def finished(self, start: Start, result: Any) -> None:
        """Called when a job is done."""

    def retried(self, start: Start, error: PostponedError | LostError) -> None:
        """Called when a job will begin again: it cannot run now, or its worker was lost."""

    def failed(self, start: Start, error: BaseException) -> None:
        """Called when a job has failed and is not retried."""


@dataclass
class Outcome:
    """Result of a run."""

    results: dict[str, Any] = field(default_factory=dict)
    """Results of finished jobs, by key."""
    failures: dict[str, BaseException] = field(default_factory=dict)
    """Errors of failed jobs by key, in the order of failures."""
    left_out: list[str] = field(default_factory=list)
    """Keys of jobs that were not started: they depend on a failed job, or the run ended early."""


def run(
    jobs: Iterable[Job], executor: Executor, observer: Observer, *, keep_going: bool = False
) -> Outcome:
    """Run all jobs in the order of a `ReadyQueue`, and return their results and errors.

    keep_going : whether to continue after a failure with jobs that do not depend on it; else no
        further job is started, and running jobs are finished
    """
    queue = ReadyQueue(jobs, executor.memory)
    outcome = Outcome()
    futures: dict[Future[Any], Start] = {}
    while queue.unfinished:
        for start in queue.next(executor.now(), executor.slots):
            observer.started(start)
            futures[executor.submit(start)] = start
        done = executor.wait(futures.keys(), _wait_seconds(queue, executor, observer))
        if not done:
            observer.waiting()
        for future in done:
            _settle(futures.pop(future), future, queue, observer, outcome, executor.now())
            if outcome.failures and not keep_going:
                queue.stop()
    outcome.left_out = queue.left_out
    return outcome


def _wait_seconds(queue: ReadyQueue, executor: Executor, observer: Observer) -> float | None:
    """Return the seconds that the loop may wait for a future; None for no limit.

    The wait ends earlier if `Observer.waiting` must be called or a postponed job is due again.
    """
    waits = [] if observer.every is None else [observer.every]
    next_retry_at = queue.next_retry_at()
    if next_retry_at is not None:
        waits.append(max(0.0, next_retry_at - executor.now()))
    return min(waits, default=None)


def _settle(
    start: Start, future: Future[Any], queue: ReadyQueue, observer: Observer, outcome: Outcome,
    now: float,
) -> None:  # fmt: skip
    """Report the end of a job, read from its future, to the queue, the observer and the outcome.

    A job with an error is postponed, retried, or recorded as failed, by the kind of error.
    """
    key = start.job.key
    error = future.exception()
    if error is None:
        outcome.results[key] = future.result()
        queue.finish(key)
        observer.finished(start, outcome.results[key])
    elif isinstance(error, PostponedError):
        queue.postpone(key, now + PAUSE)
        observer.retried(start, error)
    elif isinstance(error, LostError) and queue.mark_lost(key):
        observer.retried(start, error)
    else:
        if not isinstance(error, LostError):  # else `mark_lost` has marked it
            queue.fail(key)
        outcome.failures[key] = error
        observer.failed(start, error)
