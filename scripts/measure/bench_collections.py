"""What a collection costs one by one, by processes and by dask, and that the tables are the same.

    python scripts/measure/bench_collections.py [MATERIAL... | --men N] [--jobs N] [--rounds N]

Builds the collection in turn with `--jobs 1`, with `--jobs N` and, where dask is installed, with
`--dask local:N`, each into a directory of its own, and prints wall and CPU seconds of all processes
together, the share of the cores' time that was used, and the ratios to the first. Default: all
materials of at most 4 men, two at once. Exit status 1 if any digest differs.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]


class Cost(NamedTuple):
    """What one build took."""

    wall: float
    cpu: float
    """Of all processes together."""
    digests: dict[str, str]
    """By file."""


def tbgen(*arguments: str) -> str:
    """Run a command of this checkout; its answer."""
    command = [sys.executable, "-m", "tbgen", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def measured(wanted: list[str], *how: str) -> Cost:
    """Build a collection into a folder that is empty."""
    with tempfile.TemporaryDirectory() as folder:
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        tbgen("build", *wanted, "--tables", folder, *how)
        wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        listed = json.loads(tbgen("ls", "--tables", folder, "--json"))["tables"]
        return Cost(wall, cpu, {entry["file"]: entry["digest"] for entry in listed})


def main() -> int:
    """Print a line for each way and round; 1 if a digest differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("materials", nargs="*", metavar="MATERIAL")
    parser.add_argument("--men", metavar="N")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    parser.add_argument("--rounds", type=int, default=1, metavar="N")
    options = parser.parse_args()
    wanted = [*options.materials, *(("--men", options.men) if options.men else ())]
    ways = [("--jobs", "1"), ("--jobs", str(options.jobs))]
    if importlib.util.find_spec("distributed") is not None:
        ways.append(("--dask", f"local:{options.jobs}"))
    with tempfile.TemporaryDirectory() as folder:  # compiles what is not compiled
        tbgen("build", "KRKN", "--tables", folder)
    same = True
    print(f"{'way':>15} {'wall s':>8} {'CPU s':>8} {'cores used':>11} {'wall x':>7} {'CPU x':>6}")
    for _ in range(options.rounds):
        first: Cost | None = None
        for way in ways:
            cost = measured(wanted or ["--men", "4"], *way)
            first = first or cost
            same = same and cost.digests == first.digests
            used = cost.cpu / cost.wall / (os.cpu_count() or 1)
            ratios = f"{cost.wall / first.wall:7.2f} {cost.cpu / first.cpu:6.2f}"
            print(f"{' '.join(way):>15} {cost.wall:8.1f} {cost.cpu:8.1f} {100 * used:9.0f} % "
                  f"{ratios}", flush=True)  # fmt: skip
        print(f"{len(first.digests) if first else 0} tables, digests "
              f"{'the same' if same else 'DIFFER'}")  # fmt: skip
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
