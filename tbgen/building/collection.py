"""Build of many tables at once: jobs of `tbgen.scheduling`, in processes or on a cluster.

    work, plan  ->  jobs  ->  `tbgen.scheduling`  ->  processes, own or dask's: a `Builder` in each

The planned memory of each table, and a margin, are reserved for it. The fewer tables run at once,
the more threads each has. Finished tables are checked in this process, so that workers start only
for those missing or to be rebuilt.
"""

from __future__ import annotations

import heapq
import math
import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from tbgen.building.builder import (
    COMPILER_BYTES,
    MEMORY_MARGIN,
    TWO_COMPILERS_BYTES,
    Builder,
    Built,
    NotEnoughMemoryError,
    Progress,
    jobs_of,
    require_memory,
)
from tbgen.building.plan import PlannedTable, plan
from tbgen.building.states import STATE_SECONDS
from tbgen.building.work import Task, finished_table, work_for
from tbgen.indexing.errors import InputError
from tbgen.indexing.material import Material
from tbgen.retrograde.memory import has_orders, require_numbers_of_32_bits
from tbgen.scheduling.queue import Job, Start
from tbgen.scheduling.run import Executor, InProcess, LostError, Observer, Outcome, run
from tbgen.system.allowance import usable_memory
from tbgen.system.units import counted, format_bytes
from tbgen.tables.names import Metric
from tbgen.tables.rule_sets import RuleSet

IDLE_WORKER_BYTES = 145 << 20
"""Memory of an idle worker: the interpreter, the compiler, the kernels."""

PARALLEL_SECONDS = 10.0
"""Estimated seconds of a build by one thread, up to which `--jobs auto` uses a single process: a
second process would spend this time on loading its kernels.
"""

_DISK_ERROR = 2
"""Factor by which the estimated size of a build may be too high. A build is rejected only if its
estimated size exceeds the free disk space times this factor.
"""


class _Resumption(Progress):
    """`Progress` of a worker that records the order and plies from which a build resumes."""

    at: tuple[int, int] | None = None

    def phase(self, name: str, order: int, plies: int, settled: int) -> None:
        if name == "resuming":
            self.at = order, plies


@dataclass(frozen=True)
class TableBuilder:
    """Function that workers call to build the table of a job; can be pickled.

    `directory` must be absolute, since a worker has another working directory. All tables under
    construction share `cores`. `state_seconds` is as in `Builder`.
    """

    directory: Path
    rule_set: RuleSet
    cores: int
    state_seconds: float = STATE_SECONDS

    def __call__(self, start: Start) -> Built:
        """Build the table of a job; raises the errors of `Builder.build_job`.

        But `LostError` replaces errors of memory, so that the job is retried: with fewer tables
        under construction, the memory may suffice.
        """
        threads = -(-self.cores // start.jobs_at_once)
        resumption = _Resumption()
        builder = Builder(
            self.directory, self.rule_set, resumption, threads=threads, memory=start.memory,
            state_seconds=self.state_seconds,
        )  # fmt: skip
        try:
            built = builder.build_job(start)
            return replace(built, resumed_at=resumption.at)
        except NotEnoughMemoryError as error:
            raise LostError(str(error)) from error
        except MemoryError as error:
            raise LostError("there was not enough memory") from error


@dataclass
class Collection:
    """Tables of some materials: finished ones, and those to be built with their costs.

    materials, metric, force : as in `work_for`
    directory, rule_set, state_seconds : as in `Builder`
    """

    materials: Sequence[Material]
    directory: Path
    rule_set: RuleSet
    metric: Metric | None = None
    force: bool = False
    state_seconds: float = STATE_SECONDS
    _plans: dict[int, list[PlannedTable]] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def work(self) -> list[Task]:
        """Tasks of all requested tables and their supporting tables, bottom-up."""
        return work_for(self.materials, self.metric, self.force)

    @cached_property
    def unfinished(self) -> list[Task]:
        """Tasks whose tables were missing or to be rebuilt when this property was first read."""
        return [
            task
            for task in self.work
            if task.rebuild
            or not finished_table(self.directory, task.material, self.rule_set, task.metric)
        ]

    def planned(self, threads: int = 2) -> list[PlannedTable]:
        """Return the unfinished tables with their estimated costs; cached for each `threads`.

        threads : number of threads that build one table

        Raises the errors of `plan`, as do the methods that use this one.
        """
        if threads not in self._plans:
            missing = {task.material for task in self.unfinished}
            listed = plan(missing, self.rule_set, self.directory, threads)
            self._plans[threads] = [table for table in listed if table.material in missing]
        return self._plans[threads]

    @property
    def all_jobs(self) -> list[Job]:
        """All tables as jobs without estimates; a finished table has no prerequisites."""
        unfinished = set(self.unfinished)
        return [
            job if job.payload in unfinished else replace(job, needs=())
            for job in jobs_of(self.work)
        ]

    def require_supported(self) -> None:
        """Raise `UnsupportedMaterialError` if the solver cannot solve an unfinished table."""
        for task in self.unfinished:
            require_numbers_of_32_bits(task.material)

    def require_memory(self, memory: int, threads: int) -> None:
        """Raise `NotEnoughMemoryError` if memory is too small, even with the arrays on disk.

        memory : requested bytes, 0 for free memory
        threads : number of threads that build one table
        """
        rules, planned = self.rule_set.known_rules, self.planned(threads)
        needs = ((table.least_bytes, table.material.name) for table in planned)
        largest, name = max(needs, default=(0, ""))
        allowed = usable_memory(memory)
        if largest > allowed.memory:
            ordered = any(has_orders(table.material, rules) for table in planned)
            require_memory(name, largest, allowed, rules, ordered=ordered)

    def require_disk(self, memory: int, threads: int, jobs: int = 1) -> tuple[int, int]:
        """Return the most bytes of disk that a build may take, and the free bytes.

        The first number includes the temporary files of `jobs` tables. `memory` and `threads` are
        as in `require_memory`. Raises `InputError` if the tables alone would take more than
        `_DISK_ERROR` times the free bytes.
        """
        planned, available = self.planned(threads), usable_memory(memory).memory
        disk = sum(table.disk_bytes for table in planned)
        scratch = [
            table.scratch_bytes(self.state_seconds)
            + (table.memory_bytes if table.memory_bytes * MEMORY_MARGIN > available else 0)
            for table in planned
        ]
        parents = (self.directory, *self.directory.absolute().parents)
        free = shutil.disk_usage(next(each for each in parents if each.exists())).free
        if disk > _DISK_ERROR * free:
            raise InputError(
                f"{counted(len(planned), 'table')} would take about {format_bytes(disk)} of disk, "
                f"and {self.directory} has {format_bytes(free)} left",
                "build fewer materials, or name another directory with --tables",
            )
        return disk + sum(heapq.nlargest(jobs, scratch)), free

    def jobs(self, threads: int, floor: int = 0, *, by_workers: bool = True) -> list[Job]:
        """Return the unfinished tables as jobs, with estimated seconds, and memory with a margin.

        threads : number of threads that build one table
        floor : least bytes of memory that a job is given
        by_workers : take `PlannedTable.worker_seconds`, of one thread; else `PlannedTable.seconds`
        """
        planned = {table.material.name: table for table in self.planned(threads)}
        return [
            replace(
                job,
                memory=max(floor, math.ceil(planned[job.key].memory_bytes * MEMORY_MARGIN)),
                seconds=planned[job.key].worker_seconds if by_workers else planned[job.key].seconds,
            )
            for job in jobs_of(self.unfinished)
        ]

    def build(
        self,
        jobs: Sequence[Job],
        executor: Executor,
        observer: Observer,
        *,
        keep_going: bool,
        download: Callable[[Iterable[Built]], None] = lambda built: None,
    ) -> Outcome:
        """Build tables with an executor, whose function must return a `Built`.

        First the finished tables, those of `work` that are not among `jobs`, are checked in this
        process. If one fails, the tables that need it are left out; without `keep_going` all are.

        jobs : `all_jobs`, or the result of `jobs()`
        keep_going : as in `tbgen.scheduling.run.run`
        download : copies built tables to `directory`, if workers write to another one

        Errors of jobs are in the `Outcome`. Raises `InputError` if no job failed and a built table
        is not in `directory` afterwards, and the errors of `executor` and `download`.
        """
        keys = {job.key for job in jobs}
        finished = [job for job in self.all_jobs if job.key not in keys]
        here = InProcess(self.table_builder(1))
        outcome = run(finished, here, observer, keep_going=keep_going)
        if outcome.failures and not keep_going:
            outcome.left_out += [job.key for job in jobs]
            return outcome
        bad, tried = set(outcome.failures), []
        for job in jobs:  # bottom-up
            if bad.isdisjoint(job.needs):
                tried.append(job)
            else:
                bad.add(job.key)
                outcome.left_out.append(job.key)
        rest = run(tried, executor, observer, keep_going=keep_going)
        download(rest.results.values())
        there = set(os.listdir(self.directory)) if self.directory.exists() else set()
        absent = sorted({built.name.filename for built in rest.results.values()} - there)
        if absent and not rest.failures:
            raise InputError(
                f"{counted(len(absent), 'built table')} missing in {self.directory}: {absent[0]}",
                "workers must see the directory that the build sees, under the same name, or "
                "exchange tables by --via",
            )
        return Outcome(
            outcome.results | rest.results,
            outcome.failures | rest.failures,
            outcome.left_out + rest.left_out,
        )

    def table_builder(self, cores: int) -> TableBuilder:
        """Return the function that workers call; the tables being built share `cores` cores."""
        directory = Path(os.path.abspath(self.directory))
        return TableBuilder(directory, self.rule_set, cores, self.state_seconds)


@dataclass(frozen=True)
class ProcessLimits:
    """Division of one machine among processes."""

    jobs: int
    memory: int
    """Bytes that all tables share; 0 if the `Builder` of a single process sets the limit."""
    floor: int
    """Least bytes that each table is given, even if its planned memory is less."""


def process_limits(jobs: int, asked: int = 0) -> ProcessLimits:
    """Return the division of this machine among `jobs` processes, or fewer if memory is short.

    Of several, each can have `COMPILER_BYTES`. The memory for tables excludes `IDLE_WORKER_BYTES`
    of each process but one.

    asked : bytes for all processes together, 0 for free memory
    """
    available = usable_memory(asked).memory
    jobs = max(1, min(jobs, available // COMPILER_BYTES))
    floor = min(TWO_COMPILERS_BYTES, available // jobs)
    return ProcessLimits(jobs, max(floor, available - (jobs - 1) * IDLE_WORKER_BYTES), floor)


def jobs_worth(jobs: Iterable[Job], cores: int) -> int:
    """Return `cores` for `--jobs auto`, or 1 if the jobs take at most `PARALLEL_SECONDS` in all."""
    return cores if sum(job.seconds for job in jobs) > PARALLEL_SECONDS else 1
