"""Forecast of a plan on several workers: hours by simulation, and memory by classes.

    plan  ->  jobs  ->  simulation of the queue that builds them  ->  `WorkerForecast`

A worker builds one table at a time, with one thread. A job takes the table's wall seconds of the
plan, divided by the wall seconds per CPU second of the measurements.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tbgen.building.measured import measurements
from tbgen.building.plan import PlannedTable
from tbgen.scheduling.queue import Job
from tbgen.scheduling.simulation import Simulation, simulate

CLASSES = tuple(gib << 30 for gib in (1, 4, 16, 64, 256))
"""Upper bounds, in bytes, of the classes into which tables are divided by the memory they need.

Larger tables form a further class.
"""


@dataclass(frozen=True, slots=True)
class MemoryClass:
    """Tables of a plan that need a worker with a certain memory, and their total time."""

    memory_bytes: int | None
    """Most bytes that a table of this class needs; None for the class of larger tables."""
    tables: int
    seconds: float
    """Sum of the seconds of these tables, each built by one thread."""


@dataclass(frozen=True, slots=True)
class WorkerForecast:
    """Forecast of a plan on a number of workers."""

    workers: int
    simulation: Simulation
    classes: tuple[MemoryClass, ...]


def forecast_workers(planned: Sequence[PlannedTable], workers: int) -> WorkerForecast:
    """Simulate workers that build the tables of a plan."""
    usual = measurements().wall_per_cpu
    # Wall seconds of this machine, converted to CPU seconds of the measurements.
    seconds = {table.material.name: table.seconds / usual for table in planned}
    jobs = [
        Job(
            table.material.name,
            tuple(child.name for child in table.material.supporting()),
            seconds=seconds[table.material.name],
        )
        for table in planned
    ]
    return WorkerForecast(workers, simulate(jobs, workers), tuple(_classes(planned, seconds)))


def _classes(planned: Iterable[PlannedTable], seconds: dict[str, float]) -> Iterable[MemoryClass]:
    left = list(planned)
    for limit in (*CLASSES, None):
        within = [table for table in left if limit is None or table.memory_bytes <= limit]
        left = [table for table in left if limit is not None and table.memory_bytes > limit]
        if within:
            taken = sum(seconds[table.material.name] for table in within)
            yield MemoryClass(limit, len(within), taken)
