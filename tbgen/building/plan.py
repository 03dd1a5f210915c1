"""Plan of a build: its tables, their order and their costs.

    plan              closure of the requested materials, bottom-up  ->  index size, memory, disk,
                                                                         time for each
    forecast_workers  plan, number of workers  ->  time by simulation, tables by memory class

Memory follows from the arrays that the solver allocates (`tbgen.retrograde.memory`). Disk and time
are estimated from tables that were measured or are finished (`estimate.py`).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tbgen.building.estimate import Estimates, finished_tables
from tbgen.building.measured import measurements
from tbgen.building.states import STATE_SECONDS
from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material, needed_materials
from tbgen.retrograde.memory import code_spaces, fits_32_bits, memory_needed
from tbgen.scheduling.forecast import Simulation, simulate
from tbgen.scheduling.queue import Job
from tbgen.system.units import format_bytes, format_duration
from tbgen.tables.rule_sets import RuleSet

CLASSES = tuple(gib << 30 for gib in (1, 4, 16, 64, 256))
"""Upper bounds, in bytes, of the memory classes of tables; a further class has larger tables."""

_SETTLED_BYTES = 0.7
"""Maximum bytes per slot of the unnamed file of settled positions (those with a final value)."""

_STATE_BYTES = 0.8
"""Maximum bytes per slot of a saved checkpoint."""


@dataclass(frozen=True)
class PlannedTable:
    """Size and estimated cost of one table of a plan."""

    material: Material
    index_size: int
    """Number of slots (entries of the table) for each side to move."""
    placements: int
    """Number of canonical placements; the other slots are holes."""
    memory_bytes: int
    """Bytes of memory that a build of this table needs with its arrays in memory."""
    least_bytes: int
    """Bytes of memory that a build of this table needs at least, with its arrays on disk."""
    disk_bytes: int
    """Size of the file: the actual one of a finished table, else measured or estimated."""
    cpu_seconds: float
    """Measured or estimated CPU seconds, on the machine of the measurements."""
    seconds: float
    """Estimated wall seconds, on this machine if its speed is known (`Estimates.wall_per_cpu`)."""

    @property
    def is_supported(self) -> bool:
        """True if the table can be built; the solver refuses too many placements for 32 bits."""
        return fits_32_bits(self.material)

    @property
    def worker_seconds(self) -> float:
        """Estimated wall seconds of a build by one thread."""
        return self.seconds / measurements().wall_per_cpu

    def scratch_bytes(self, state_seconds: float = STATE_SECONDS) -> int:
        """Return the most bytes of temporary files of a build with its arrays in memory.

        They hold settled positions (with a final value) and, for a build longer than
        `state_seconds`, two checkpoints: the last one, and the one being saved.

        state_seconds : least seconds between two checkpoints
        """
        states = 2 if self.seconds > state_seconds else 0
        return round(self.index_size * (_SETTLED_BYTES + states * _STATE_BYTES))


@dataclass(frozen=True, slots=True)
class Totals:
    """Estimated cost of tables, in bytes and wall seconds; `of` defines the totals."""

    tables: int
    slots: int
    """Number of slots for each side to move, summed over all tables."""
    memory_bytes: int
    disk_bytes: int
    scratch_bytes: int
    seconds: float
    """Time if the tables are built one at a time."""

    @classmethod
    def of(
        cls, planned: Sequence[PlannedTable], jobs: int = 1, state_seconds: float = STATE_SECONDS
    ) -> Totals:
        """Return the totals of planned tables, of which at most `jobs` are built at once.

        Slots, disk and time are sums; `memory_bytes` is the largest of any table; `scratch_bytes`
        is the sum of the `jobs` largest. `state_seconds` are as in `PlannedTable.scratch_bytes`.
        """
        return cls(
            len(planned),
            sum(table.index_size for table in planned),
            max((table.memory_bytes for table in planned), default=0),
            sum(table.disk_bytes for table in planned),
            sum(heapq.nlargest(jobs, (table.scratch_bytes(state_seconds) for table in planned))),
            sum(table.seconds for table in planned),
        )

    def __str__(self) -> str:
        """Format all but the number of tables: `4,050 slots a side: up to 2 MiB of memory, ...`."""
        return (
            f"{self.slots:,} slots a side: up to {format_bytes(self.memory_bytes)} of memory, "
            f"{format_bytes(self.disk_bytes)} of disk and {format_bytes(self.scratch_bytes)} more "
            f"meanwhile, about {format_duration(self.seconds)}"
        )


def plan(
    materials: Iterable[Material],
    rule_set: RuleSet,
    directory: Path | None = None,
    threads: int = 2,
) -> list[PlannedTable]:
    """Return the tables of the materials and all their supporting tables, bottom-up, with costs.

    directory : its finished tables improve the estimates; None for none
    threads : number of threads that build one table, each of which takes memory

    Raises `OSError` if the directory cannot be listed, and `MaterialError` for too large an index.
    """
    measured = measurements()
    rules = rule_set.known_rules
    present = finished_tables(directory, rule_set) if directory is not None else {}
    estimates = Estimates(rules, measured, present)
    wall_per_cpu = estimates.wall_per_cpu()
    planned = []
    for material in needed_materials(materials):
        cpu_seconds = estimates.cpu_seconds(material)
        need = memory_needed(material, code_spaces(material, rules)[0], rules, threads)
        planned.append(
            PlannedTable(
                material=material,
                index_size=Layout.of(material).slots,
                placements=estimates.placements(material),
                memory_bytes=max(need.in_memory, need.least),
                least_bytes=need.least,
                disk_bytes=estimates.disk_bytes(material),
                cpu_seconds=cpu_seconds,
                seconds=cpu_seconds * wall_per_cpu,
            )
        )
    return planned


@dataclass(frozen=True, slots=True)
class MemoryClass:
    """Number and total time of the tables of a plan whose memory lies in one class."""

    memory_bytes: int | None
    """Upper bound (one of `CLASSES`) on the bytes that a table needs; None for larger tables."""
    tables: int
    seconds: float
    """Sum of the seconds of these tables, each built by one thread."""


@dataclass(frozen=True, slots=True)
class WorkerForecast:
    """Forecast of a plan on workers that build one table at a time, with one thread each."""

    workers: int
    simulation: Simulation
    classes: tuple[MemoryClass, ...]


def forecast_workers(planned: Sequence[PlannedTable], workers: int) -> WorkerForecast:
    """Simulate workers that build the tables of a plan, each table in its `worker_seconds`."""
    jobs = {
        table: Job(
            table.material.name,
            tuple(child.name for child in table.material.supporting()),
            seconds=table.worker_seconds,
        )
        for table in planned
    }
    classes, left = [], dict(jobs)
    for limit in (*CLASSES, None):
        within = [table for table in left if limit is None or table.memory_bytes <= limit]
        if within:
            seconds = sum(left.pop(table).seconds for table in within)
            classes.append(MemoryClass(limit, len(within), seconds))
    return WorkerForecast(workers, simulate(jobs.values(), workers), tuple(classes))
