"""What building costs: wall and CPU seconds, peak memory and file size of single tables.

    python scripts/bench_build.py [--rules wxf] [--threads 2] KRNKR KRNKRAA ...

Each table is built by a process of its own, its supporting tables being there already and the
kernels compiled. The memory allowed by the project's goal (bytes per index slot of both sides,
plus the largest supporting table, plus 300 MiB) is printed beside the memory used. `--start`
measures instead the first compilation, `tbgen --help` and `tbgen probe` of a present table.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from tbgen.indexing import Material
from tbgen.indexing.layout import Layout

BYTES_PER_SLOT = {"none": 5, "check": 6, "wxf": 6}
MIB = 1 << 20


class Run(NamedTuple):
    """What one process used."""

    wall: float
    cpu: float
    peak: int


def run(*command: str, **environment: str) -> Run:
    """Run tbgen, and return seconds and peak resident bytes; its failure ends the benchmark."""
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "tbgen", *command],
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    message = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"tbgen {' '.join(command)}: {message.decode()}")
    wall = time.perf_counter() - started
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def bench_tables(names: list[str], rules: str, threads: int, tables: Path) -> None:
    """Print a line for each table."""
    print(f"{'material':12} {'slots':>12} {'wall s':>8} {'CPU s':>8} {'peak MiB':>9} "
          f"{'goal MiB':>9} {'file MiB':>9}")  # fmt: skip
    for name in names:
        material = Material.parse(name)
        options = ("--rules", rules, "--tables", str(tables), "--threads", str(threads))
        children = [m for m in material.captures().values() if m.needs_table]
        for child in children:
            run("build", child.name, *options)
        used = run("build", material.name, "--force", *options)
        slots = Layout.of(material).slots
        support = max((Layout.of(child).slots for child in children), default=0)
        # Supporting tables of rule sets have two-byte codes.
        goal = BYTES_PER_SLOT[rules] * slots + 300 * MIB
        goal += 2 * support * (1 if rules == "none" else 2)
        size = sum(path.stat().st_size for path in tables.glob(f"{material}.*.xqt"))
        print(f"{name:12} {slots:12,} {used.wall:8.2f} {used.cpu:8.2f} {used.peak / MIB:9.0f} "
              f"{goal / MIB:9.0f} {size / MIB:9.2f}", flush=True)  # fmt: skip


def bench_start(tables: Path) -> None:
    """Print how long a user waits for the first table, for help, and for one answer."""
    with tempfile.TemporaryDirectory() as cache:
        cold = run("build", "KRKN", "--tables", str(tables), NUMBA_CACHE_DIR=cache)
    fen = "4k4/9/9/4n4/9/9/9/9/9/R3K4 w"
    print(f"first build (KRKN), kernels not compiled: {cold.wall:6.2f} s")
    for label, command in (
        ("tbgen --help", ("--help",)),
        ("tbgen probe", ("probe", fen, "--tables", str(tables))),
    ):
        best = min(run(*command).wall for _ in range(5))
        print(f"{label:12} (best of five): {best:6.3f} s")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("materials", nargs="*", default=["KRNKR", "KRNKRAA"])
    parser.add_argument("--rules", default="wxf", choices=sorted(BYTES_PER_SLOT))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--tables", type=Path, help="Default: a temporary folder.")
    parser.add_argument("--start", action="store_true", help="Measure starting up instead.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tables = options.tables or Path(folder)
        if options.start:
            bench_start(tables)
        else:
            bench_tables(options.materials, options.rules, options.threads, tables)


if __name__ == "__main__":
    main()
