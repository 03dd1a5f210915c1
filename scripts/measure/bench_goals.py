"""Compare the cost of building tables with the project's goals and with another generator.

    python scripts/measure/bench_goals.py --yardstick STUDY/bulk2.py --peer peer_cost.csv [--large]

    time      CPU seconds of each table, divided by the other generator's; for KRNKR, also divided
              by the seconds of the reference program; with --large, wall seconds of large tables
    busy      CPU seconds over threads times wall seconds, for builds of more than 5 wall seconds
    memory    peak, divided by the allowed bytes: 2.6 per slot (of the other generator's index where
              it lists the material), plus the files of the supporting tables, plus 160 MiB
    growth    with --huge: CPU nanoseconds a slot of KRNKRC against those of KRNKR
    compile   the first build on a machine, with no kernel compiled: of KNAKN and of KRK

--yardstick names the reference program, which solves KRNKR and writes no table. The seconds in
--peer were measured on a machine where this program took 2.1 CPU seconds; they are multiplied by
its time here over 2.1.

Each table is built in a process of its own, with supporting tables present and kernels compiled.
`--start` measures instead the first compilation, `tbgen --help` and `tbgen probe` of a present
table. `bench_disk.py --peer` compares the sizes of files.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from frame import MIB, PrintedTable, arguments
from measuring import (
    EVERY_KERNEL,
    BuildBench,
    Measurement,
    Peer,
    Run,
    build_anew,
    build_bench,
    parse_material,
    read_peer,
    run,
)

from tbgen.indexing import Material
from tbgen.indexing.layout import Layout
from tbgen.indexing.rulesets import Rules

GOAL_MATERIALS = ("KRNKR", "KRKNN", "KRKNC", "KNPKN", "KRPKR", "KRCKR", "KRKNP", "KRKNAABB")
"""Materials whose CPU seconds are summed for the goal."""

LARGE_WALL = {"KRNKRA": 15, "KRNKRAA": 40}
"""Wall seconds allowed to a table on two cores, by material."""

STUDY_MATERIAL = "KRNKR"
"""Material that the reference program solves (`--yardstick`), and the base of `GROWTH`."""

HUGE, GROWTH = "KRNKRC", 2
"""Material of 2.95 G slots; allowed ratio of its CPU time per slot to that of `STUDY_MATERIAL`."""

YARDSTICK_SECONDS = 2.1
"""CPU seconds that the reference program (`--yardstick`) took for KRNKR when the other generator's
costs were measured. Its time on this machine scales these costs.
"""

RATIO_OF_SUMS, RATIO_OF_EACH = 0.045, 0.07
RATIO_TO_STUDY = 2.2
"""Goal: largest ratio of the CPU seconds of tbgen's build of `STUDY_MATERIAL`, with all rules, to
those of the reference program's bare solve of it (`--yardstick`).
"""
BUSY, BUSY_FROM_SECONDS = 0.9, 5
"""Goal for the used share of the threads' time, in builds of more than so many wall seconds."""
BYTES_PER_SLOT = 2.6
FIXED_BYTES = 160 * MIB
COMPILE_SECONDS, FIRST_KRK_SECONDS = 8, 10


def allowed_memory(slots: int, supporting_bytes: int) -> float:
    """Return the bytes of memory that building a table may take.

    slots : size of the table's index; supporting_bytes : size of the supporting tables' files
    """
    return BYTES_PER_SLOT * slots + supporting_bytes + FIXED_BYTES


def yardstick(study: Path) -> float:
    """Run the reference program `study`; return the CPU seconds in which it solves KRNKR."""
    if not study.is_file():
        sys.exit(f"{study}: no such file; --yardstick takes the study's bulk2.py")
    with tempfile.TemporaryDirectory() as cache:
        environment = {
            **os.environ, "NUMBA_CACHE_DIR": cache, "NUMBA_OPT": "1", "PYTHONDONTWRITEBYTECODE": "1"
        }  # fmt: skip
        process = subprocess.run(
            [sys.executable, str(study), "KRNKR"], env=environment, capture_output=True, text=True
        )
    found = re.search(r"^KRNKR .* cpu ([\d.]+)s$", process.stdout, re.MULTILINE)
    if process.returncode or not found:
        sys.exit(f"{study} did not solve KRNKR: {process.stderr.strip()[-200:]}")
    return float(found[1])


def summary(
    measured: Mapping[str, Measurement], slots: Mapping[str, int], peers: Mapping[str, Peer]
) -> list[str]:
    """Return lines of text on the goals for time and memory, with the figures reached.

    measured, slots : costs and index sizes of the built tables, by material
    peers : the other generator's costs, scaled to this machine; a material without them counts for
        memory and wall time only
    """
    lines = []
    seconds = {
        name: (m.process.cpu, peers[name].cpu or 0)
        for name, m in measured.items()
        if name in peers and peers[name].cpu
    }
    if seconds:
        ratios = {name: own / theirs for name, (own, theirs) in seconds.items()}
        own, theirs = (sum(column) for column in zip(*seconds.values(), strict=True))
        worst = max(ratios, key=lambda name: ratios[name])
        lines.append(f"time      {own:.2f} of {theirs:.2f} scaled CPU seconds: "
                     f"{own / theirs:.3f} (goal {RATIO_OF_SUMS:.3f})")  # fmt: skip
        lines.append(f"          worst {worst}: {ratios[worst]:.3f} (goal {RATIO_OF_EACH:.3f})")
        if missing := [name for name in measured if name not in seconds]:
            lines.append(f"          not measured beside the other generator: {' '.join(missing)}")
    for name, allowed in LARGE_WALL.items():
        if name in measured:
            wall = measured[name].process.wall
            lines.append(
                f"          {name}: {wall:.1f} s wall: {wall / allowed:.2f} of {allowed} s"
            )
    memory = {
        name: m.process.peak
        / allowed_memory(
            peers[name].index_size if name in peers else slots[name], m.supporting_bytes
        )
        for name, m in measured.items()
    }
    worst = max(memory, key=lambda name: memory[name])
    lines.append(f"memory    worst {worst}: {memory[worst]:.2f} of what is allowed")
    return lines


def own_goals(
    measured: Mapping[str, Measurement],
    slots: Mapping[str, int],
    threads: int,
    studied: float | None,
) -> list[str]:
    """Return lines of text on the other goals: ratio to the reference program, `busy`, `growth`.

    measured, slots : costs and index sizes of the built tables, by material
    studied : CPU seconds of the reference program on this machine; None if it was not run
    """
    lines = []
    solved = measured.get(STUDY_MATERIAL)
    if solved is not None and studied is not None:
        ratio = solved.process.cpu / studied
        lines.append(f"          {STUDY_MATERIAL}: {ratio:.2f} times the study's bare solve "
                     f"(goal {RATIO_TO_STUDY})")  # fmt: skip
    busy = {
        name: m.table_cpu / (threads * m.table_wall)
        for name, m in measured.items()
        if m.table_wall > BUSY_FROM_SECONDS
    }
    if busy:
        worst = min(busy, key=lambda name: busy[name])
        lines.append(f"busy      worst {worst}: {busy[worst]:.0%} of {threads} threads, {len(busy)}"
                     f" builds of more than {BUSY_FROM_SECONDS} s (goal {BUSY:.0%})")  # fmt: skip
    if solved is not None and HUGE in measured:
        huge, small = (
            1e9 * measured[name].process.cpu / slots[name] for name in (HUGE, STUDY_MATERIAL)
        )
        lines.append(f"growth    {HUGE}: {huge:.0f} ns a slot, {STUDY_MATERIAL}: {small:.0f} ns: "
                     f"{huge / small:.2f} (goal {GROWTH})")  # fmt: skip
    return lines


def bench_tables(
    materials: list[Material],
    bench: BuildBench,
    peers: dict[str, Peer],
    repeat: int,
    studied: float | None,
) -> None:
    """Measure tables, each `repeat` times; print a line for each, then the goals.

    peers, studied : as for `summary` and `own_goals`
    """
    table = PrintedTable(
        material="<10", slots=">12,d", wall_s=">8.2f", CPU_s=">8.2f", CPU_ratio=">9.3f",
        peak_MiB=">9.0f", allowed=">9.0f", peak_ratio=">10.2f", file_MiB=">9.2f",
    )  # fmt: skip
    measured, slots = {}, {}
    for material in materials:
        result = bench.measure(material, repeat)
        name, used, peer = material.name, result.process, peers.get(material.name)
        measured[name], slots[name] = result, Layout.of(material).slots
        allowed = allowed_memory(peer.index_size if peer else slots[name], result.supporting_bytes)
        ratio = used.cpu / peer.cpu if peer and peer.cpu else None
        table.row(
            name, slots[name], used.wall, used.cpu, ratio,
            used.peak / MIB, allowed / MIB, used.peak / allowed, result.file_bytes / MIB,
        )  # fmt: skip
    for line in summary(measured, slots, peers):
        print(line)
    for line in own_goals(measured, slots, bench.threads, studied):
        print(line)


def first_build(rules: Rules, material: str = EVERY_KERNEL) -> Run:
    """Build a table in an empty directory, with an empty kernel cache, and return the cost."""
    with tempfile.TemporaryDirectory() as cache:
        return build_anew(rules, material, NUMBA_CACHE_DIR=cache)


def bench_start(bench: BuildBench) -> None:
    """Print the wall seconds of a first build, of `tbgen --help`, and of one `tbgen probe`."""
    first = first_build(bench.rules)
    print(f"first build ({EVERY_KERNEL}), kernels not compiled: {first.wall:6.2f} s")
    bench.run("build", "KRKN")
    fen = "4k4/9/9/4n4/9/9/9/9/9/R3K4 w"
    probe = ("probe", fen, "--rules", str(bench.rules), "--tables", str(bench.tables))
    for label, command in (("tbgen --help", ("--help",)), ("tbgen probe", probe)):
        best = min(run(*command).wall for _ in range(5))
        print(f"{label:12} (best of five): {best:6.3f} s")


def main() -> None:
    """Read the command line, and measure."""
    parser = arguments(__doc__, tables="Default: a temporary folder.", rules="wxf")
    parser.add_argument(
        "materials", nargs="*", type=parse_material, help=f"Default: {' '.join(GOAL_MATERIALS)}."
    )
    parser.add_argument("--yardstick", type=Path, help="The study's bulk2.py.")
    parser.add_argument("--peer", type=Path, help="CSV with the other generator's costs.")
    parser.add_argument("--large", action="store_true", help=f"Add {' and '.join(LARGE_WALL)}.")
    parser.add_argument("--huge", action="store_true", help=f"Add {HUGE}.")
    parser.add_argument("--repeat", type=int, default=1, help="The least CPU seconds of N builds.")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--start", action="store_true", help="Measure starting up instead.")
    options = parser.parse_args()
    if options.repeat < 1:
        parser.error("--repeat needs at least one build")
    peers = read_peer(options.peer) if options.peer else {}
    with build_bench(options) as bench:
        if options.start:
            bench_start(bench)
            return
        studied = None
        if options.yardstick:
            studied = yardstick(options.yardstick)
            scale = studied / YARDSTICK_SECONDS
            print(f"yardstick {studied:.2f} CPU seconds: the other generator's times {scale:.3f}")
            peers = {name: peer.scaled(scale) for name, peer in peers.items()}
        materials = options.materials or [Material.parse(name) for name in GOAL_MATERIALS]
        if options.large:
            materials += [Material.parse(name) for name in LARGE_WALL]
        if options.huge:
            materials.append(Material.parse(HUGE))
        bench_tables(materials, bench, peers, options.repeat, studied)
        for name, allowed in ((EVERY_KERNEL, COMPILE_SECONDS), ("KRK", FIRST_KRK_SECONDS)):
            first = first_build(bench.rules, name)
            print(f"compile   {name}: {first.wall:.1f} s wall, {first.cpu:.1f} s CPU: "
                  f"{first.wall / allowed:.2f} of {allowed} s")  # fmt: skip


if __name__ == "__main__":
    main()
