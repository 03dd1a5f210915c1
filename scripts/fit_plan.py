"""Fit what `tbgen plan` predicts to measured tables, and tell how well it does.

    docs/growth.csv  ->  tbgen/build/costs.py, and a line for each table

    python scripts/fit_plan.py [--check]

For each table: what it cost, and what would be predicted had it not been measured: the model is
fitted without it, and knows the other tables. Tables below 0.2 CPU seconds or 64 KiB cost what
any table costs and are not counted for seconds or bytes. `--check` writes nothing.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np
from growth import GROWTH, Row, materials_of, read_growth
from measuring import ROOT
from numpy.typing import NDArray

from tbgen.build.estimate import (
    CLOCK_SECONDS,
    Estimates,
    Fit,
    density_features,
    time_features,
)
from tbgen.build.plan import code_spaces, memory_needed
from tbgen.indexing import Material
from tbgen.tables.names import Rules

COSTS = ROOT / "tbgen" / "build" / "costs.py"
FACTOR = 1.5
LEAST_SECONDS, LEAST_BYTES = CLOCK_SECONDS, 64 << 10
LONG_SECONDS = 2.0
FITTED_SLOTS = 800_000
"""Tables of fewer slots differ in what every table costs."""

TIMED_SLOTS = 2_000_000
"""In smaller tables a slot takes longer: the plies, not the slots, make the time."""

SMALLEST_SLOTS = 20_000
"""Tables up to this size take no time beside what every table takes."""

FEWEST_ROWS = 15
"""Rule sets with fewer large tables, or without those that end all captures, get no fit."""

RIDGE = 1.0
"""Pulls coefficients towards zero as one more table would: none shall bend the model alone."""


def ridge(features: NDArray[np.float64], targets: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64 (k,): the coefficients of features (n, k), whose first column is constant.

    The other columns are scaled to unit deviation before `RIDGE` is applied.
    """
    deviation = features.std(axis=0)
    deviation[deviation == 0] = 1
    means = features.mean(axis=0)
    means[0] = 0
    deviation[0] = 1
    scaled = (features - means) / deviation
    penalty = RIDGE * np.eye(features.shape[1])
    penalty[0, 0] = 0
    solved = np.linalg.solve(scaled.T @ scaled + penalty, scaled.T @ targets) / deviation
    solved[0] -= solved[1:] @ means[1:]
    return solved


def fit_rows(rows: Sequence[Row], rules: Rules, without: str = "") -> Fit:
    """The fit of one rule set, as if the material `without` had not been measured."""
    measured = {
        row.material: (row.cpu_seconds, row.file_bytes) for row in rows if row.material != without
    }
    start = median(row.cpu_seconds for row in rows if row.index_size <= SMALLEST_SLOTS)
    wall = median(
        row.wall_seconds / row.cpu_seconds for row in rows if row.cpu_seconds > LEAST_SECONDS
    )
    unfitted = Fit((), (), start, wall, measured)
    # A table is learned from only where its supporting tables are measured.
    known = Estimates(rules, unfitted)
    time_x, density_x, time_y, density_y = [], [], [], []
    for row in rows:
        material = Material.parse(row.material)
        names = {child.name for child in material.captures().values() if child.needs_table}
        if row.index_size < FITTED_SLOTS or row.material == without or not names <= set(measured):
            continue
        supporting = known.supporting(material)
        if row.index_size >= TIMED_SLOTS:
            time_x.append(time_features(material, rules, supporting))
            time_y.append(math.log(max(row.cpu_seconds - start, start) / row.index_size))
        density_x.append(density_features(material, supporting))
        density_y.append(math.log(row.file_bytes / row.placements))
    return replace(
        unfitted,
        time=tuple(ridge(np.array(time_x), np.array(time_y)).tolist()),
        density=tuple(ridge(np.array(density_x), np.array(density_y)).tolist()),
    )


def factor(predicted: float, actual: float) -> float:
    """How far off a prediction is: 2.0 for twice or half as much."""
    return max(predicted / actual, actual / predicted)


def share(factors: Iterable[float]) -> str:
    """`41 of 45 (91 %)` within `FACTOR`."""
    listed = list(factors)
    within = sum(value <= FACTOR for value in listed)
    return f"{within} of {len(listed)} ({100 * within / max(len(listed), 1):.0f} %)"


def report(rows: Sequence[Row], rules: Rules) -> None:
    """Print, for each material, what is predicted for it by the fit without it."""
    counted: dict[str, list[float]] = {
        key: [] for key in ("seconds", "long", "bytes", "far", "memory")
    }
    print(f"{'material':10} {'slots':>12} {'CPU s':>8} {'planned':>8} {'x':>6} "
          f"{'bytes':>12} {'planned':>12} {'x':>6} {'memory x':>9}")  # fmt: skip
    for row in rows:
        material = Material.parse(row.material)
        if material.men < 5:
            continue  # these are always measured: predictions start from them
        estimates = Estimates(rules, fit_rows(rows, rules, without=row.material))
        seconds, size = estimates.cpu_seconds(material), estimates.disk_bytes(material)
        off = factor(seconds, row.cpu_seconds), factor(size, row.file_bytes)
        needed = memory_needed(material, code_spaces(material, rules)[0], rules).in_memory
        memory = factor(needed, row.peak_bytes)
        counted["memory"].append(memory)
        if row.cpu_seconds >= LEAST_SECONDS:
            counted["seconds"].append(off[0])
        if row.cpu_seconds >= LONG_SECONDS:
            counted["long"].append(off[0])
        if row.file_bytes >= LEAST_BYTES:
            counted["bytes"].append(off[1])
            few = {n: m for n, m in estimates.fit.measured.items() if Material.parse(n).men < 5}
            far = Estimates(rules, replace(estimates.fit, measured=few))
            counted["far"].append(factor(far.disk_bytes(material), row.file_bytes))
        print(f"{row.material:10} {row.index_size:12,} {row.cpu_seconds:8.2f} {seconds:8.2f} "
              f"{off[0]:6.2f} {row.file_bytes:12,} {size:12,} {off[1]:6.2f} "
              f"{memory:9.2f}")  # fmt: skip
    print(f"{rules}, within a factor of {FACTOR}:")
    print(f"  seconds  {share(counted['seconds'])} tables of at least {LEAST_SECONDS} CPU seconds, "
          f"{share(counted['long'])} of at least {LONG_SECONDS}")  # fmt: skip
    print(f"  bytes    {share(counted['bytes'])} tables of at least {LEAST_BYTES >> 10} KiB; "
          f"{share(counted['far'])} if tables of four men were all that is known")  # fmt: skip
    print(f"  memory   {share(counted['memory'])} tables")


def _tuple(values: Sequence[float]) -> str:
    return "(" + ", ".join(f"{value:.4f}" for value in values) + ")"


def _lines(rules: Rules, fit: Fit) -> Iterable[str]:
    yield f"    Rules.{rules.name}: Fit("
    yield f"        time={_tuple(fit.time)},"
    yield f"        density={_tuple(fit.density)},"
    yield f"        start_seconds={fit.start_seconds:.4f},"
    yield f"        wall_per_cpu={fit.wall_per_cpu:.3f},"
    yield "        measured={"
    for name, (seconds, size) in fit.measured.items():
        yield f'            "{name}": ({seconds:.3f}, {size}),'
    yield "        },"
    yield "    ),"


def render(where: str, fits: Mapping[Rules, Fit]) -> str:
    """The source of `costs.py`."""
    lines = [
        '"""What tables cost where they were measured, and the models fitted to that.',
        "",
        "    rule set -> coefficients of time and density, and by material: CPU seconds, bytes",
        "",
        f"Measured: {where}. Written by `python scripts/fit_plan.py`",
        "from docs/growth.csv; do not edit.",
        '"""',
        "",
        "from __future__ import annotations",
        "",
        "from tbgen.build.estimate import Fit",
        "from tbgen.tables.names import Rules",
        "",
        "FITS: dict[Rules, Fit] = {",
    ]
    for rules, fit in fits.items():
        lines += _lines(rules, fit)
    return "\n".join([*lines, "}", ""])


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--csv", type=Path, default=GROWTH)
    parser.add_argument("--check", action="store_true", help="Only tell how well it does.")
    options = parser.parse_args()
    where, rows = read_growth(options.csv)
    fits = {}
    for rules in Rules:
        own = [row for row in rows if row.rules == str(rules)]
        smallest = {material.name for material in materials_of(3)}
        large = sum(row.index_size >= TIMED_SLOTS for row in own)
        if large < FEWEST_ROWS or not smallest <= {row.material for row in own}:
            print(f"{rules}: too few tables measured, planned as wxf")
            continue
        report(own, rules)
        fits[rules] = fit_rows(own, rules)
    if not options.check:
        COSTS.write_text(render(where, fits))
        print(COSTS)


if __name__ == "__main__":
    main()
