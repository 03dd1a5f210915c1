"""Compare ways to build a set of tables: one process, several processes, dask workers.

    python scripts/measure/bench_collections.py [MATERIAL... | --men N] [--jobs N] [--rounds N]
    python scripts/measure/bench_collections.py --goals [--yardstick STUDY/bulk2.py] [--huge]

Builds the set with `--jobs 1`, with `--jobs N` and, where dask is installed, with
`--dask local:N`, each into a directory of its own. Prints wall and CPU seconds of all processes
together, the used share of the cores' time, and ratios to `--jobs 1`. Default: all materials of
at most 4 men, with N = 2. Exit status 1 if any digest differs.

`--goals` compares costs with the project's goals instead:

    set       all tables of at most 5 men, with `--jobs 2`: wall seconds as a share of the allowed
              seconds; used share of the cores; bytes as built and packed densely
    dask      all but the ten largest of these: two dask workers against two processes
    huge      with --huge: wall seconds and peak memory of the largest tables, whose supporting
              tables are built before; `--tables DIR` keeps these tables

`--yardstick` scales the allowed seconds to this machine, as in `bench_goals.py`.
"""

from __future__ import annotations

import importlib.util
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from bench_goals import yardstick
from frame import MIB, PrintedTable, arguments, tbgen
from measuring import BuildBench, compile_kernels

from tbgen.building.sets import materials_of
from tbgen.indexing import Material
from tbgen.indexing.layout import Layout
from tbgen.indexing.rulesets import Rules

MEN, LARGEST = 5, 10
"""Most men of a material in the set of `--goals`; with dask its ten largest are left out."""

SET_SECONDS, SET_BYTES, SET_BUSY = 100, 145e6, 0.9
YARDSTICK_SECONDS = 1.5
"""CPU seconds of the reference program (`--yardstick`) on the machine of `SET_SECONDS`.

On another machine `SET_SECONDS` is multiplied by the program's time there over this time.
"""

DASK_RATIO = 1.15

HUGE_LIMITS = {"KRNKRC": (15, 10), "KRNBKRBB": (15, 14)}
"""Wall minutes and GiB of memory allowed to a table, by material."""


class Cost(NamedTuple):
    """Cost of one command, in seconds, and the tables that its folder has afterwards."""

    wall: float
    cpu: float
    """CPU seconds of all processes together."""
    digests: dict[str, str]
    """Digest of each table, by file name."""
    bytes: int
    """Total size of the tables."""

    @property
    def busy(self) -> float:
        """Share of the time of all cores that the command used, 0 to 1."""
        return self.cpu / self.wall / (os.cpu_count() or 1)


def measured(folder: str, *command: str) -> Cost:
    """Run a tbgen command with `--tables FOLDER`, and return its cost."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    tbgen(*command, "--tables", folder)
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    listed = json.loads(tbgen("ls", "--tables", folder, "--json"))["tables"]
    digests = {entry["file"]: entry["digest"] for entry in listed}
    return Cost(wall, cpu, digests, sum(entry["bytes_on_disk"] for entry in listed))


def built(wanted: Sequence[str], *how: str) -> Cost:
    """Build tables in an empty folder, and return the cost.

    wanted : materials, or `--men` and a number; how : further options of `tbgen build`
    """
    with tempfile.TemporaryDirectory() as folder:
        return measured(folder, "build", *wanted, *how)


def has_dask() -> bool:
    """Return whether dask is installed."""
    return importlib.util.find_spec("distributed") is not None


def compare(wanted: Sequence[str], jobs: int, rounds: int) -> bool:
    """Build in each way, `rounds` times; print costs, return whether all ways gave equal digests.

    wanted : as for `built`; jobs : number of processes, or of dask workers
    """
    ways = [("--jobs", "1"), ("--jobs", str(jobs))]
    if has_dask():
        ways.append(("--dask", f"local:{jobs}"))
    same = True
    table = PrintedTable(
        way=">15", wall_s=">8.1f", CPU_s=">8.1f", cores_used=">11.0%", wall_x=">7.2f", CPU_x=">6.2f"
    )
    for _ in range(rounds):
        first: Cost | None = None
        for way in ways:
            cost = built(wanted, *way)
            first = first or cost
            same = same and cost.digests == first.digests
            table.row(
                " ".join(way), cost.wall, cost.cpu, cost.busy,
                cost.wall / first.wall, cost.cpu / first.cpu,
            )  # fmt: skip
        print(f"{len(first.digests) if first else 0} tables, digests "
              f"{'the same' if same else 'DIFFER'}")  # fmt: skip
    return same


def bench_set(scale: float) -> bool:
    """Measure the goals for the set, all tables of at most `MEN` men: time, use of cores, size.

    Returns whether packing the tables densely kept their digests.

    scale : factor of the allowed seconds on this machine
    """
    with tempfile.TemporaryDirectory() as folder:
        cost = measured(folder, "build", "--men", str(MEN), "--jobs", "2")
        print(f"set       {len(cost.digests)} tables: {cost.wall:.1f} s wall: "
              f"{cost.wall / (SET_SECONDS * scale):.2f} of {SET_SECONDS * scale:.0f} s; "
              f"{cost.cpu:.1f} CPU s, cores {cost.busy:.0%} busy (goal {SET_BUSY:.0%})",
              flush=True)  # fmt: skip
        dense = measured(folder, "index", "--dense")
        print(f"          {cost.bytes / 1e6:.1f} MB as built, {dense.bytes / 1e6:.1f} MB packed "
              f"densely: {dense.bytes / SET_BYTES:.2f} of {SET_BYTES / 1e6:.0f} MB",
              flush=True)  # fmt: skip
        return dense.digests == cost.digests


def bench_dask() -> bool:
    """Build all but the `LARGEST` largest tables by processes and by dask; print the wall times.

    Returns whether the digests are equal, and True without dask.
    """
    if not has_dask():
        print("dask      not installed (extra `cluster`)")
        return True
    by_size = sorted(materials_of((), MEN), key=lambda material: Layout.of(material).slots)
    names = [material.name for material in by_size[:-LARGEST]]
    jobs, dask = built(names, "--jobs", "2"), built(names, "--dask", "local:2")
    same = jobs.digests == dask.digests
    print(f"dask      {len(dask.digests)} tables: {dask.wall:.1f} of {jobs.wall:.1f} s wall: "
          f"{dask.wall / jobs.wall:.2f} (goal {DASK_RATIO}), digests "
          f"{'the same' if same else 'DIFFER'}", flush=True)  # fmt: skip
    return same


def bench_huge(bench: BuildBench) -> None:
    """Build the tables of `HUGE_LIMITS`, and print their time and memory beside the limits."""
    for name, (minutes, gib) in HUGE_LIMITS.items():
        used = bench.measure(Material.parse(name))
        wall, peak = used.process.wall / 60, used.process.peak / (MIB << 10)
        print(f"huge      {name}: {wall:.1f} min wall: {wall / minutes:.2f} of {minutes} min; "
              f"{used.process.cpu / 60:.1f} CPU min; {peak:.1f} GiB: {peak / gib:.2f} of {gib} "
              f"GiB; {used.file_bytes / MIB:.0f} MiB", flush=True)  # fmt: skip


def main() -> int:
    """Read the command line, and measure; return 1 if a digest differs."""
    parser = arguments(__doc__, tables="Of --huge; default: a temporary folder.")
    parser.add_argument("materials", nargs="*", metavar="MATERIAL")
    parser.add_argument("--men", metavar="N")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    parser.add_argument("--rounds", type=int, default=1, metavar="N")
    parser.add_argument("--goals", action="store_true", help="Measure the project's goals instead.")
    parser.add_argument("--yardstick", type=Path, help="The study's bulk2.py.")
    parser.add_argument("--huge", action="store_true", help=f"Add {' and '.join(HUGE_LIMITS)}.")
    options = parser.parse_args()
    compile_kernels(Rules.WXF)
    if not options.goals:
        wanted = [*options.materials, *(("--men", options.men) if options.men else ())]
        return 0 if compare(wanted or ["--men", "4"], options.jobs, options.rounds) else 1
    scale = yardstick(options.yardstick) / YARDSTICK_SECONDS if options.yardstick else 1.0
    same = [bench_set(scale), bench_dask()]
    if options.huge:
        with tempfile.TemporaryDirectory() as folder:
            bench_huge(BuildBench(options.tables or Path(folder), Rules.WXF, threads=2))
    return 0 if all(same) else 1


if __name__ == "__main__":
    sys.exit(main())
