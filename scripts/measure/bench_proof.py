"""Compare the cost of proving a table with that of building it.

    python scripts/measure/bench_proof.py [MATERIAL...] [--large] [--tables DIR] [--repeat N]

Builds each table again, then proves it, each in a process of its own. Prints two ratios:

    time      CPU seconds of `tbgen verify` to those of `tbgen build --force`, whole processes
    memory    peak of `tbgen verify` to the peak of `tbgen build --force`

Supporting tables are present and kernels are compiled. `--compile` measures instead by how much the
first proof on a machine, which compiles kernels, takes longer than the second. A table that is not
proven ends the script.
"""

from __future__ import annotations

import os
import tempfile
from functools import partial

from bench_goals import GOAL_MATERIALS, LARGE_WALL
from frame import MIB, PrintedTable, arguments, by_turns
from measuring import EVERY_KERNEL, BuildBench, build_bench, parse_material

from tbgen.indexing import Material

RATIO_OF_SUMS, RATIO_OF_EACH = 0.6, 0.8
COMPILE_SECONDS = 15


def bench_tables(materials: list[Material], bench: BuildBench, repeat: int) -> None:
    """Build and prove each table, best of `repeat`; print a line for each, then the ratios."""
    table = PrintedTable(
        material="<10", build_s=">8.2f", prove_s=">8.2f", ratio=">6.2f",
        build_MiB=">10.0f", prove_MiB=">10.0f", MiB_ratio=">10.2f",
    )  # fmt: skip
    ratios, peaks, built, proven = {}, {}, 0.0, 0.0
    for material in materials:
        name = material.name
        bench.prepare(material)
        bench.run("build", name)
        # Not timed: it compiles the kernels for ranks of one or two bytes.
        bench.run("verify", name)
        ways = {
            "build": partial(bench.run, "build", name, "--force"),
            "prove": partial(bench.run, "verify", name),
        }
        build, proof = by_turns(ways, repeat, lambda used: used.cpu).values()
        ratios[name], peaks[name] = proof.cpu / build.cpu, proof.peak / build.peak
        built, proven = built + build.cpu, proven + proof.cpu
        table.row(
            name, build.cpu, proof.cpu, ratios[name],
            build.peak / MIB, proof.peak / MIB, peaks[name],
        )  # fmt: skip
    worst = max(ratios, key=lambda name: ratios[name])
    largest = max(peaks, key=lambda name: peaks[name])
    print(
        f"time      {proven:.2f} of {built:.2f} CPU seconds: {proven / built:.3f} "
        f"(goal {RATIO_OF_SUMS}), worst {worst}: {ratios[worst]:.3f} (goal {RATIO_OF_EACH})"
    )
    print(f"memory    worst {largest}: {peaks[largest]:.2f} (goal 1)")


def bench_compile(bench: BuildBench) -> None:
    """Print by how many seconds the first proof, which compiles kernels, exceeds the second."""
    bench.run("build", EVERY_KERNEL)
    with tempfile.TemporaryDirectory() as cache:
        first, second = (bench.run("verify", EVERY_KERNEL, NUMBA_CACHE_DIR=cache) for _ in range(2))
    cpu = first.cpu - second.cpu
    print(f"compile   {first.wall - second.wall:.1f} s wall, {cpu:.1f} s CPU: "
          f"{cpu / COMPILE_SECONDS:.2f} of {COMPILE_SECONDS} s")  # fmt: skip


def main() -> None:
    """Read the command line, and measure."""
    parser = arguments(__doc__, tables="Default: a temporary folder.", rules="wxf")
    parser.add_argument(
        "materials", nargs="*", type=parse_material, help=f"Default: {' '.join(GOAL_MATERIALS)}."
    )
    parser.add_argument("--large", action="store_true", help=f"Add {' and '.join(LARGE_WALL)}.")
    parser.add_argument("--repeat", type=int, default=1, help="The least CPU seconds of N pairs.")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--compile", action="store_true", help="Measure the first compilation.")
    options = parser.parse_args()
    if options.repeat < 1:
        parser.error("--repeat needs at least one pair")
    with build_bench(options) as bench:
        materials = options.materials or [Material.parse(name) for name in GOAL_MATERIALS]
        if options.large:
            materials += [Material.parse(name) for name in LARGE_WALL]
        if options.compile:
            bench_compile(bench)
            return
        bench_tables(materials, bench, options.repeat)


if __name__ == "__main__":
    main()
