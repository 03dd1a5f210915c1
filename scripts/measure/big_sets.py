"""Simulate building a set of tables on workers with limited memory: tables that fit, and hours.

    python scripts/measure/big_sets.py [MATERIAL...] [--men N] [--attackers N]
                                       [--workers K] [--memory GIB]

A worker builds one table at a time, with one thread. Its arrays are in memory if they fit, else on
its disk, at twice the processor time (docs/build-big.md). A table that fits neither way is left
out, with all that depend on it. Nothing is built.
"""

from __future__ import annotations

from pathlib import Path

from frame import arguments

from tbgen.building.plan import PlannedTable, plan
from tbgen.building.sets import materials_of
from tbgen.indexing.rulesets import Rules
from tbgen.scheduling.forecast import simulate
from tbgen.scheduling.queue import Job
from tbgen.tables.rule_sets import RuleSet

DISK_FACTOR = 2.0
"""Factor of processor time if the arrays are on disk, an upper bound."""

GIB = 1 << 30


def jobs_within(planned: list[PlannedTable], memory: int) -> tuple[list[Job], int]:
    """Return the builds of tables that can run in `memory` bytes, and how many use the disk.

    planned : tables with their estimated costs on one thread, supporting tables first

    The jobs are in the order of `planned`. A table has no job if a supporting table has none.
    """
    jobs: dict[str, Job] = {}
    on_disk = 0
    for table in planned:
        name, below = table.material.name, tuple(m.name for m in table.material.supporting())
        if table.least_bytes > memory or not jobs.keys() >= set(below):
            continue
        seconds = table.worker_seconds
        if table.memory_bytes > memory:
            on_disk += 1
            seconds *= DISK_FACTOR
        jobs[name] = Job(name, below, seconds=seconds)
    return list(jobs.values()), on_disk


def main() -> None:
    """Simulate, and print a line for each figure."""
    parser = arguments(__doc__)
    parser.add_argument("materials", nargs="*")
    parser.add_argument("--men", type=int)
    parser.add_argument("--attackers", type=int)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--memory", type=float, default=8, metavar="GIB", help="Of each worker.")
    options = parser.parse_args()
    wanted = materials_of(options.materials, options.men, options.attackers)
    planned = plan(wanted, RuleSet(Rules.WXF), Path("none"), threads=1)
    jobs, on_disk = jobs_within(planned, int(options.memory * GIB))
    found = simulate(jobs, options.workers)
    largest = max(planned, key=lambda table: table.memory_bytes)
    print(f"{len(planned)} tables, {sum(table.index_size for table in planned) / 1e9:.1f} G slots")
    print(f"files {sum(table.disk_bytes for table in planned) / GIB:,.1f} GiB")
    print(f"largest {largest.material}: {largest.memory_bytes / GIB:,.1f} GiB")
    print(f"{len(jobs)} within {options.memory:g} GiB, {on_disk} of them with arrays on disk")
    print(f"{options.workers} workers: {found.seconds / 3600:.1f} hours, "
          f"longest chain {found.longest_path / 3600:.1f}, {found.busy:.0%} busy")  # fmt: skip


if __name__ == "__main__":
    main()
