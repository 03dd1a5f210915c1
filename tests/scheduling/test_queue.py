"""The job queue by simulation, for any jobs and any ends of jobs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from graphlib import CycleError
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tbgen.scheduling.forecast import Simulated, simulate
from tbgen.scheduling.queue import MAX_TRIES, Job, ReadyQueue, Start
from tbgen.scheduling.run import LostError, Observer, Outcome, PostponedError, run

MEMORY = 100

played_out = settings(deadline=None, suppress_health_check=list(HealthCheck))
"""Settings of Hypothesis without a deadline, for slow machines."""


@st.composite
def graphs(draw: st.DrawFn) -> list[Job]:
    """Draw up to 12 jobs, each of which needs up to three of the jobs before it."""
    number = draw(st.integers(0, 12))
    return [
        Job(
            str(key),
            tuple(str(need) for need in draw(st.sets(st.integers(0, max(0, key - 1)), max_size=3))
                  if need < key),
            memory=draw(st.integers(0, 2 * MEMORY)),
            seconds=draw(st.floats(0, 10)),
        )
        for key in range(number)
    ]  # fmt: skip


ENDINGS = st.sampled_from(["done"] * 6 + ["busy", "lost", "failed"])


@dataclass
class Watch(Observer):
    """Observer of the job queue that fails if the queue breaks a guarantee.

    A job never runs twice at once, after it is done, or before the jobs that it needs. At most
    `slots` jobs run at once, and the memory suffices for them.

    By key of the job, `needs` has the keys of the jobs needed, `running` the memory it keeps now,
    `begun` the number of its starts, and `kept` the memory that it kept at each start.
    """

    slots: int
    needs: dict[str, set[str]]
    running: dict[str, int] = field(default_factory=dict)
    done: list[str] = field(default_factory=list)
    begun: Counter[str] = field(default_factory=Counter)
    kept: dict[str, list[int]] = field(default_factory=dict)

    def started(self, start: Start) -> None:
        key = start.job.key
        assert key not in self.running, "nothing is done twice at once"
        assert key not in self.done, "nothing is done again"
        assert self.needs[key] <= set(self.done), "what it needs is done"
        self.running[key] = start.memory
        assert len(self.running) <= self.slots
        assert sum(self.running.values()) <= MEMORY
        assert 1 <= start.jobs_at_once <= self.slots
        self.begun[key] += 1
        self.kept.setdefault(key, []).append(start.memory)

    def finished(self, start: Start, result: Any) -> None:
        del self.running[start.job.key]
        self.done.append(start.job.key)

    def retried(self, start: Start, error: PostponedError | LostError) -> None:
        del self.running[start.job.key]

    def failed(self, start: Start, error: BaseException) -> None:
        del self.running[start.job.key]


ERRORS = {"done": None, "busy": PostponedError(), "lost": LostError(), "failed": OSError()}


def played(
    jobs: list[Job], slots: int, endings: dict[str, list[str]], keep_going: bool
) -> tuple[Outcome, Watch]:
    """Run simulated jobs, and return the outcome and the observer.

    slots : number of jobs that may run at once
    endings : for each job, the keys in `ERRORS` of its first attempts, removed one by one; later
        attempts succeed
    """
    watch = Watch(slots, {job.key: set(job.needs) for job in jobs})

    def end(start: Start) -> None:
        left = endings.get(start.job.key)
        error = ERRORS[left.pop(0) if left else "done"]
        if error is not None:
            raise error

    outcome = run(jobs, Simulated(slots, MEMORY, end), watch, keep_going=keep_going)
    assert not watch.running
    return outcome, watch


@played_out
@given(graphs(), st.integers(1, 4))
def test_every_job_is_done_once_and_in_order(jobs: list[Job], slots: int) -> None:
    outcome, watch = played(jobs, slots, {}, keep_going=False)
    assert sorted(watch.done) == sorted(job.key for job in jobs)
    assert set(outcome.results) == set(watch.done)
    assert not outcome.failures
    assert not outcome.left_out


@played_out
@given(graphs(), st.integers(1, 4), st.data(), st.booleans())
def test_failures_lose_no_job(
    jobs: list[Job], slots: int, data: st.DataObject, keep_going: bool
) -> None:
    endings = {job.key: data.draw(st.lists(ENDINGS, max_size=4)) for job in jobs}
    before = {key: list(listed) for key, listed in endings.items()}
    outcome, watch = played(jobs, slots, endings, keep_going)
    parts = [set(outcome.results), set(outcome.failures), set(outcome.left_out)]
    assert Counter(key for part in parts for key in part) == Counter(job.key for job in jobs)
    for key, listed in before.items():
        assert watch.begun[key] <= len(listed) + 1
        lost = listed[: watch.begun[key]].count("lost")
        assert lost <= MAX_TRIES
        if isinstance(outcome.failures.get(key), LostError):
            assert lost == MAX_TRIES
    if keep_going:
        for key in outcome.left_out:
            assert watch.needs[key] & (parts[1] | parts[2]), "something that it needs is missing"
    elif not outcome.failures:
        assert not outcome.left_out


def test_a_lost_job_reserves_more_memory() -> None:
    jobs = [Job("large", memory=20), *(Job(str(n), memory=10, seconds=1.0) for n in range(6))]
    _, watch = played(jobs, 4, {"large": ["lost", "lost"]}, keep_going=False)
    assert watch.kept["large"] == [20, 40, MEMORY]


def test_a_lost_job_requests_more_memory_without_a_limit() -> None:
    queue = ReadyQueue([Job("large", memory=30)])
    kept = []
    for _ in range(MAX_TRIES):
        kept += [start.memory for start in queue.next(0.0, None)]
        retried = queue.retry("large")
    assert kept == [30, 60, 120]
    assert not retried
    queue.fail("large")
    assert not queue.unfinished
    assert not queue.outstanding


def test_the_longest_remaining_path_goes_first() -> None:
    jobs = [Job("short", seconds=5.0), Job("base", seconds=1.0), Job("top", ("base",), 0, 9.0)]
    queue = ReadyQueue(jobs)
    assert [(start.job.key, start.remaining_path) for start in queue.next(0.0, 2)] == [
        ("base", 10.0), ("short", 5.0)
    ]  # fmt: skip


def test_small_jobs_pass_a_large_one_only_without_delaying_it() -> None:
    queue = ReadyQueue(
        [
            Job("first", memory=60, seconds=50.0), Job("after it", ("first",), seconds=100.0),
            Job("large", memory=80, seconds=40.0), Job("above it", ("large",), seconds=60.0),
            Job("long", memory=30, seconds=51.0),
            Job("short", memory=30, seconds=1.0),
        ],
        100,
    )  # fmt: skip
    assert [start.job.key for start in queue.next(0.0, 4)] == ["first", "short"]
    queue.finish("short")
    assert queue.next(1.0, 4) == [], "the long one would end after the first one"
    queue.finish("first")
    assert [start.job.key for start in queue.next(50.0, 4)] == ["after it", "large"]


def test_spare_memory_is_kept_for_jobs_that_end_late() -> None:
    """The memory that is spare beside a large job is kept for jobs that run at the same time.

    A job that ends before the large one can start does not count.
    """
    queue = ReadyQueue(
        [
            Job("first", memory=60, seconds=50.0), Job("after it", ("first",), seconds=100.0),
            Job("large", memory=80, seconds=40.0), Job("above it", ("large",), seconds=60.0),
            Job("short", memory=15, seconds=1.0), Job("after that", ("short",), seconds=60.0),
            Job("long", memory=20, seconds=51.0),
        ],
        100,
    )  # fmt: skip
    assert [start.job.key for start in queue.next(0.0, 4)] == ["first", "short", "long"]


def test_cores_are_shared_among_ready_jobs() -> None:
    queue = ReadyQueue([Job("a"), Job("b"), Job("c"), Job("top", ("a", "b", "c"))])
    assert [start.jobs_at_once for start in queue.next(0.0, 2)] == [2, 2]
    for key in "ab":
        queue.finish(key)
    assert [start.jobs_at_once for start in queue.next(0.0, 2)] == [1]


def test_a_cycle_is_refused() -> None:
    with pytest.raises(CycleError):
        ReadyQueue([Job("a", ("b",)), Job("b", ("a",))])


@played_out
@given(graphs(), st.integers(1, 5))
def test_a_simulation_takes_at_least_the_lower_bounds(jobs: list[Job], slots: int) -> None:
    found = simulate(jobs, slots)
    total = sum(job.seconds for job in jobs)
    assert found.seconds >= max(found.longest_path, total / slots) * (1 - 1e-9)
    assert found.seconds <= total * (1 + 1e-9)
    if slots == 1 or not jobs:
        assert found.busy == pytest.approx(1.0)
