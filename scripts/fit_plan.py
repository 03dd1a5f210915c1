"""Fit what `tbgen plan` predicts to measured tables, and tell how well it does.

    docs/growth.csv  ->  tbgen/build/costs.py, and a line for each table

    python scripts/fit_plan.py [--check] [--unseen FILE]

For each table: what it cost, and what would be predicted had neither it nor any table that needs it
been measured. Tables below 0.2 CPU seconds or 64 KiB cost what any table costs and are not counted
for seconds or bytes. `--check` writes nothing; `--unseen` tells how well the tables of another file
in the form of docs/growth.csv are predicted, those of docs/growth.csv being known.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from statistics import median

import numpy as np
from growth import GROWTH, Row, read_growth
from measuring import ROOT

from tbgen.build.estimate import (
    CLOCK_SECONDS,
    QUANTITIES,
    Estimates,
    Fit,
    Knowledge,
    Lesson,
    Measured,
    Share,
    learn,
    lessons_for,
    rooks_chase,
)
from tbgen.build.kriging import Scales
from tbgen.build.plan import code_spaces, memory_needed
from tbgen.indexing import Material
from tbgen.tables.names import Rules

COSTS = ROOT / "tbgen" / "build" / "costs.py"
FACTOR = 1.5
LEAST_SECONDS, LEAST_BYTES = CLOCK_SECONDS, 64 << 10
LONG_SECONDS = 2.0
LEAST_MEN = 5
"""Smaller materials are all measured: predictions start from them."""

START = Scales(slopes=0.2, common=0.3, local=0.4, attackers=1.4, defenders=1.4, reach=0.7)
"""Where the search for scales begins."""

STEPS = (0.5, 2.0, 0.71, 1.41)
ROUNDS = 2
SMALLEST, LARGEST = 0.05, 10.0
"""Limits of all scales: beyond, only the rounding changes."""

GAIN = 0.1
"""What the logarithm of the likelihood must gain for a step to be taken."""


def likelihood(name: str, lessons: Sequence[Lesson], defended: bool, scales: Scales) -> float:
    """How likely each large table is, had the others been measured (logarithm, but a constant)."""
    own, _ = lessons_for(name, lessons, defended)
    counted = np.array([lesson.file_bytes >= LEAST_BYTES for lesson in own])
    learned = learn(name, lessons, defended, scales)
    assert learned is not None, "no table to learn from"
    errors, variance = learned.left_out()
    logarithms = -(np.log(variance) + errors**2 / variance) / 2
    return float(logarithms[counted].sum())


def search(name: str, lessons: Sequence[Lesson], defended: bool) -> Scales:
    """The scales under which the tables are most likely, one scale after the other."""
    best, scales = likelihood(name, lessons, defended, START), START
    for _ in range(ROUNDS):
        for field in (field.name for field in fields(Scales)):
            for step in STEPS:
                while True:
                    value = round(getattr(scales, field) * step, 3)
                    if not SMALLEST <= value <= LARGEST:
                        break
                    tried = replace(scales, **{field: value})
                    found = likelihood(name, lessons, defended, tried)
                    if found < best + GAIN:
                        break
                    best, scales = found, tried
    return scales


def shares(rows: Sequence[Row]) -> dict[Rules, tuple[Share, Share]]:
    """What other rules than `wxf` cost, by rule set: medians where both sides attack."""
    usual = {row.material: row for row in rows if row.rules == Rules.WXF}
    found = {}
    for rules in (Rules.NONE, Rules.CHECK):
        kinds: dict[bool, list[Share]] = {False: [], True: []}
        for row in rows:
            material, same = Material.parse(row.material), usual.get(row.material)
            if row.rules == rules and same is not None and material.both_armed:
                share = Share(row.cpu_seconds / same.cpu_seconds, row.file_bytes / same.file_bytes)
                kinds[rooks_chase(material)].append(share)
        if all(kinds.values()):
            few, many = (
                Share(
                    round(median(share.seconds for share in kinds[kind]), 3),
                    round(median(share.file_bytes for share in kinds[kind]), 3),
                )
                for kind in (False, True)
            )
            found[rules] = few, many
    return found


def unfitted(rows: Sequence[Row]) -> Fit:
    """What was measured, without scales."""
    own = [row for row in rows if row.rules == Rules.WXF]
    measured = {
        row.material: Measured(
            round(row.cpu_seconds, 3), row.file_bytes, round(row.first_wins, 4),
            round(row.second_wins, 4), round(row.entropy, 3), row.placements,
        )
        for row in own
    }  # fmt: skip
    wall = median(row.wall_seconds / row.cpu_seconds for row in own
                  if row.cpu_seconds > LEAST_SECONDS)  # fmt: skip
    return Fit({}, shares(rows), round(wall, 3), measured)


def fit_rows(rows: Sequence[Row]) -> Fit:
    """The fit of some measurements."""
    fit = unfitted(rows)
    lessons = Knowledge.of(fit.measured).lessons
    scales = {
        name: (search(name, lessons, False), search(name, lessons, True)) for name in QUANTITIES
    }
    return replace(fit, scales=scales)


def contains(larger: Material, smaller: Material) -> bool:
    """Whether captures may lead from one material to another, or they are the same."""
    return any(
        all(
            more >= less
            for army, other in zip((larger.armies[side], larger.armies[1 - side]),
                                   smaller.armies, strict=True)
            for more, less in zip(army.strength, other.strength, strict=True)
        )
        for side in (0, 1)
    )  # fmt: skip


def left_out(rows: Sequence[Row], fit: Fit) -> Iterator[tuple[Row, float, int]]:
    """For each table: what would be predicted had it not been measured, CPU seconds and bytes.

    Nor any table that needs it; the scales are kept.
    """
    knowledge = Knowledge.of(fit.measured)
    for row in rows:
        material = Material.parse(row.material)
        if row.rules == Rules.WXF and material.men >= LEAST_MEN:
            forgotten = {n for n in fit.measured if contains(Material.parse(n), material)}
            left = {name: known for name, known in fit.measured.items() if name not in forgotten}
            estimates = Estimates(
                Rules.WXF, replace(fit, measured=left), knowledge=knowledge.without(forgotten)
            )
            yield row, estimates.cpu_seconds(material), estimates.disk_bytes(material)


def unseen(rows: Sequence[Row], fit: Fit) -> Iterator[tuple[Row, float, int]]:
    """For each table that was not measured: what is predicted, CPU seconds and bytes."""
    for rules in Rules:
        estimates = Estimates(rules, fit)
        for row in rows:
            if row.rules == rules and (rules != Rules.WXF or row.material not in fit.measured):
                material = Material.parse(row.material)
                yield row, estimates.cpu_seconds(material), estimates.disk_bytes(material)


def factor(predicted: float, actual: float) -> float:
    """How far off a prediction is: 2.0 for twice or half as much."""
    return max(predicted / actual, actual / predicted)


def share(factors: Iterable[float]) -> str:
    """`41 of 45 (91 %), the worst 1.62` within `FACTOR`."""
    listed = list(factors)
    within = sum(value <= FACTOR for value in listed)
    worst = max(listed, default=1.0)
    return (f"{within} of {len(listed)} ({100 * within / max(len(listed), 1):.0f} %), "
            f"the worst {worst:.2f}")  # fmt: skip


def report(predictions: Iterable[tuple[Row, float, int]]) -> None:
    """Print a line for each table, and how many are within `FACTOR`."""
    counted: dict[str, list[float]] = {key: [] for key in ("seconds", "long", "bytes", "memory")}
    print(f"{'material':10} {'rules':5} {'slots':>12} {'CPU s':>8} {'planned':>8} {'x':>6} "
          f"{'bytes':>12} {'planned':>12} {'x':>6} {'memory x':>9}")  # fmt: skip
    for row, seconds, size in predictions:
        material, rules = Material.parse(row.material), Rules(row.rules)
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
        print(f"{row.material:10} {row.rules:5} {row.index_size:12,} {row.cpu_seconds:8.2f} "
              f"{seconds:8.2f} {off[0]:6.2f} {row.file_bytes:12,} {size:12,} {off[1]:6.2f} "
              f"{memory:9.2f}")  # fmt: skip
    print(f"within a factor of {FACTOR}:")
    print(f"  seconds  {share(counted['seconds'])}, tables of at least {LEAST_SECONDS} CPU seconds")
    print(f"           {share(counted['long'])}, tables of at least {LONG_SECONDS}")
    print(f"  bytes    {share(counted['bytes'])}, tables of at least {LEAST_BYTES >> 10} KiB")
    print(f"  memory   {share(counted['memory'])}, all tables")


def _lines(fit: Fit) -> Iterator[str]:
    yield "    scales={"
    for name, (bare, defended) in fit.scales.items():
        yield f'        "{name}": ('
        yield f"            Scales{bare.values},"
        yield f"            Scales{defended.values},"
        yield "        ),"
    yield "    },"
    yield "    shares={"
    for rules, (few, many) in fit.shares.items():
        pair = ", ".join(f"Share({each.seconds}, {each.file_bytes})" for each in (few, many))
        yield f"        Rules.{rules.name}: ({pair}),"
    yield "    },"
    yield f"    wall_per_cpu={fit.wall_per_cpu},"
    yield "    measured={"
    for name, known in fit.measured.items():
        values = ", ".join(str(getattr(known, field.name)) for field in fields(Measured))
        yield f'        "{name}": Measured({values}),'
    yield "    },"


def render(where: str, fit: Fit) -> str:
    """The source of `costs.py`."""
    lines = [
        '"""What tables cost where they were measured, and the scales fitted to that.',
        "",
        f"Measured: {where}. Written by `python scripts/fit_plan.py`",
        "from docs/growth.csv; do not edit.",
        '"""',
        "",
        "from __future__ import annotations",
        "",
        "from tbgen.build.estimate import Fit, Measured, Share",
        "from tbgen.build.kriging import Scales",
        "from tbgen.tables.names import Rules",
        "",
        "FIT = Fit(",
        *_lines(fit),
        ")",
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--csv", type=Path, default=GROWTH)
    parser.add_argument("--check", action="store_true", help="Only tell how well it does.")
    parser.add_argument("--unseen", type=Path, help="Tables to predict.")
    options = parser.parse_args()
    where, rows = read_growth(options.csv)
    fit = fit_rows(rows)
    if options.unseen:
        report(unseen(read_growth(options.unseen)[1], fit))
    else:
        report(left_out(rows, fit))
    if not options.check:
        COSTS.write_text(render(where, fit))
        print(COSTS)


if __name__ == "__main__":
    main()
