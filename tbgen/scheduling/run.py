"""Main loop that runs jobs: it starts those that the queue selects, and evaluates their futures.

    queue.next  ->  executor.submit  ->  a future  ->  result           done
                                                       PostponedError   postponed, retried soon
                                                       LostError        retried, with more memory;
                                                                        failed at the last try
                                                       any other        failed

All executors share the loop. Their base class is here, and the executor of this process.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import math
import time
import traceback
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass, field
from typing import Any, Self

from tbgen.scheduling.queue import Job, ReadyQueue, Start

PAUSE = 0.2
"""Seconds after which a job that was postponed is retried."""


class PostponedError(Exception):
    """Raised when a job cannot run now, but may succeed later; the job is postponed."""


class LostError(Exception):
    """Raised when a job is lost: its worker ended, usually killed, or had too little memory."""


@dataclass(frozen=True)
class Attempt:
    """Result or error of a call, in a form that passes between processes."""

    value: Any = None
    error: Exception | None = None

    def complete(self, future: Future[Any]) -> None:
        """Complete a future with this result or exception; do nothing if it is done already."""
        with contextlib.suppress(InvalidStateError):
            if self.error is None:
                future.set_result(self.value)
            else:
                future.set_exception(self.error)


def attempt(function: Callable[..., Any], *arguments: Any) -> Attempt:
    """Call a function; return an `Attempt`: its result, or its `Exception` and traceback."""
    try:
        return Attempt(function(*arguments))
    except Exception as error:
        error.add_note("in the worker:\n" + "".join(traceback.format_exception(error)))
        return Attempt(error=error)


_WAIT_SECONDS = 0.5
"""Most seconds of one wait: on Windows, Ctrl-C is noticed only between two waits."""


class Executor:
    """Base class of executors: `submit` starts a job, and returns a future for its result.

    Executors with processes or connections release them at the end of a `with` block.
    """

    slots: int | None = None
    """Number of jobs that may run at once; None for no limit."""

    memory: int | None = None
    """Bytes that all jobs share; None if jobs are started without regard to memory."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        """Do nothing; executors with processes or connections override this."""

    def submit(self, start: Start) -> Future[Any]:
        """Start a job, and return its future."""
        raise NotImplementedError

    def wait(self, futures: Collection[Future[Any]], timeout: float | None) -> set[Future[Any]]:
        """Wait until a future is done, or `timeout` seconds (None: no limit); return those done.

        Without futures, waits `timeout` seconds, or not at all if it is None.
        """
        if not futures:
            time.sleep(timeout or 0)
            return set()
        end = math.inf if timeout is None else time.monotonic() + timeout
        while True:
            left = end - time.monotonic()
            done = concurrent.futures.wait(
                futures, min(left, _WAIT_SECONDS), return_when=concurrent.futures.FIRST_COMPLETED
            ).done
            if done or left <= _WAIT_SECONDS:
                return done

    def trouble(self) -> str:
        """Return the reason why submitted jobs do not advance, for the user; "" if unknown."""
        return ""

    def now(self) -> float:
        """Return the time of the executor's clock, in seconds since an arbitrary moment."""
        return time.monotonic()


class InProcess(Executor):
    """Executor that runs one job at a time in this process; Ctrl-C is raised in the caller."""

    slots: int | None = 1

    def __init__(self, function: Callable[[Start], Any], memory: int | None = None) -> None:
        self._function = function
        self.memory = memory

    def submit(self, start: Start) -> Future[Any]:
        """Run a job to its end, and return a future that is done."""
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

    def waiting(self, trouble: str) -> None:
        """Called when a wait ends without a finished job; `trouble` is of `Executor.trouble`."""

    def started(self, start: Start) -> None:
        """Called just before a job begins; it may begin again after `retried`."""

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
    """Keys of all other jobs: they depend on a failed job, or waited when the run ended early."""


def run(
    jobs: Iterable[Job], executor: Executor, observer: Observer, *, keep_going: bool = False
) -> Outcome:
    """Run all jobs in the order of a `ReadyQueue`, and return their results and errors.

    keep_going : after a failure, continue with jobs that do not depend on the failed one. If False,
        no further job is started after a failure, and running jobs are finished

    Raises `graphlib.CycleError` if prerequisites form a cycle, and errors of executor and observer.
    """
    queue = ReadyQueue(jobs, executor.memory)
    outcome = Outcome()
    futures: dict[Future[Any], Start] = {}
    while queue.unfinished:
        for start in queue.next(executor.now(), executor.slots):
            observer.started(start)
            futures[executor.submit(start)] = start
        waits = [observer.every, queue.seconds_to_retry(executor.now())]
        timeout = min((wait for wait in waits if wait is not None), default=None)
        done = executor.wait(futures.keys(), timeout)
        if not done:
            observer.waiting(executor.trouble())
        for future in done:
            start, error = futures.pop(future), future.exception()
            key = start.job.key
            if error is None:
                outcome.results[key] = future.result()
                queue.finish(key)
                observer.finished(start, outcome.results[key])
            elif isinstance(error, PostponedError):
                queue.postpone(key, executor.now() + PAUSE)
                observer.retried(start, error)
            elif isinstance(error, LostError) and queue.retry(key):
                observer.retried(start, error)
            else:
                queue.fail(key)
                outcome.failures[key] = error
                observer.failed(start, error)
                if not keep_going:
                    queue.stop()
    outcome.left_out = list(queue.outstanding)
    return outcome
