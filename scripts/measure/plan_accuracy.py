"""Accuracy of `tbgen plan`: compare predicted with measured costs of tables.

    python scripts/measure/plan_accuracy.py [--csv FILE] [--unseen FILE] [--men N]

Predicts each `wxf` table of at least five men in tbgen/building/measured.csv (or FILE) from the
other rows, without those of tables that depend on it. `--unseen` predicts instead the tables of
another such file from all rows; `--men` the `wxf` tables of more than N men from the smaller ones.

Prints the measured and the predicted cost of each table, with the error of its memory if its peak
is known; then the shares of good predictions. Tables below 0.2 CPU seconds do not count for
seconds, tables below 64 KiB not for bytes: their cost is mostly constant. The goals are for tables
of at least ten million slots: 95 % within a factor of 1.5 for seconds, and of 2 for bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from frame import arguments
from growth import read_growth, read_measurements

from tbgen.building.estimate import Estimates
from tbgen.building.measured import CLOCK_SECONDS, MEASURED, Measured, Measurements
from tbgen.indexing import Material
from tbgen.indexing.rulesets import Rules
from tbgen.retrograde.memory import code_spaces, memory_needed

FACTOR, BYTES_FACTOR = 1.5, 2.0
"""Largest accepted error of a prediction, as a factor: 1.5 accepts 1/1.5 to 1.5 times the cost.

`BYTES_FACTOR` is that of the bytes of tables of at least `LARGE_SLOTS` slots.
"""
LEAST_SECONDS, LEAST_BYTES = CLOCK_SECONDS, 64 << 10
LONG_SECONDS, LARGE_SLOTS = 2.0, 10_000_000
"""CPU seconds and slots from which tables are also counted separately."""
LEAST_MEN = 5
"""Least men of the materials that are predicted; smaller materials are all measured."""

Prediction = tuple[Measured, float, int]
"""A measured table, with the predicted CPU seconds and bytes."""


def contains(larger: Material, smaller: Material) -> bool:
    """Return whether captures can turn `larger` into `smaller`; equal materials count, too.

    The colours of one of them may be exchanged.
    """
    return any(
        all(
            more >= less
            for army, other in zip((larger.armies[side], larger.armies[1 - side]),
                                   smaller.armies, strict=True)
            for more, less in zip(army.strength, other.strength, strict=True)
        )
        for side in (0, 1)
    )  # fmt: skip


def left_out(rows: Iterable[Measured], known: Measurements) -> Iterator[Prediction]:
    """Predict each table of `rows` without its measurement and those of tables that depend on it.

    Only tables under `wxf` of at least `LEAST_MEN` men are predicted. `known` has all measurements.
    """
    materials = {name: Material.parse(name) for name in known.tables}
    for row in rows:
        material = Material.parse(row.material)
        if row.rules == Rules.WXF and material.men >= LEAST_MEN:
            forgotten = {name for name, other in materials.items() if contains(other, material)}
            yield _predicted(row, material, known, forgotten)


def beyond(men: int, rows: Iterable[Measured], known: Measurements) -> Iterator[Prediction]:
    """Predict each `wxf` table of more than `men` men from the tables of at most `men` men."""
    forgotten = {name for name in known.tables if Material.parse(name).men > men}
    for row in rows:
        if row.rules == Rules.WXF and row.material in forgotten:
            yield _predicted(row, Material.parse(row.material), known, forgotten)


def _predicted(
    row: Measured, material: Material, known: Measurements, forgotten: set[str]
) -> Prediction:
    left = {name: table for name, table in known.tables.items() if name not in forgotten}
    estimates = Estimates(Rules.WXF, replace(known, tables=left))
    return row, estimates.cpu_seconds(material), estimates.disk_bytes(material)


def unseen(rows: Sequence[Measured], known: Measurements) -> Iterator[Prediction]:
    """Predict the tables in `rows` from `known`, except those under wxf that `known` contains."""
    for rules in Rules:
        estimates = Estimates(rules, known)
        for row in rows:
            if row.rules == rules and (rules != Rules.WXF or row.material not in known.tables):
                material = Material.parse(row.material)
                yield row, estimates.cpu_seconds(material), estimates.disk_bytes(material)


def factor(predicted: float, actual: float) -> float:
    """Return the error of a prediction as a factor: 2.0 for twice or half the actual cost."""
    return max(predicted / actual, actual / predicted)


def share(factors: Iterable[float], limit: float = FACTOR) -> str:
    """Describe how many factors of error are within `limit`: `41 of 45 (91 %), the worst 1.62`."""
    listed = list(factors)
    within = sum(value <= limit for value in listed)
    worst = max(listed, default=1.0)
    return (f"{within} of {len(listed)} ({100 * within / max(len(listed), 1):.0f} %), "
            f"the worst {worst:.2f}")  # fmt: skip


def report(predictions: Iterable[Prediction]) -> None:
    """Print the measured and predicted costs of each table, then the shares of good predictions.

    A prediction is good if it is off by at most the factor `FACTOR`. Tables of at least
    `LARGE_SLOTS` slots are also counted alone, then with `BYTES_FACTOR` for bytes.
    """
    keys = "seconds", "long", "bytes", "memory", "large seconds", "large bytes"
    counted: dict[str, list[float]] = {key: [] for key in keys}
    print(f"{'material':10} {'rules':5} {'slots':>12} {'CPU s':>8} {'planned':>8} {'x':>6} "
          f"{'bytes':>12} {'planned':>12} {'x':>6} {'memory x':>9}")  # fmt: skip
    for row, seconds, size in predictions:
        material, rules = Material.parse(row.material), Rules(row.rules)
        off = factor(seconds, row.cpu_seconds), factor(size, row.file_bytes)
        needed = memory_needed(material, code_spaces(material, rules)[0], rules).in_memory
        memory = factor(needed, row.peak_bytes) if row.peak_bytes else 0.0
        if memory:
            counted["memory"].append(memory)
        if row.cpu_seconds >= LEAST_SECONDS:
            counted["seconds"].append(off[0])
        if row.cpu_seconds >= LONG_SECONDS:
            counted["long"].append(off[0])
        if row.file_bytes >= LEAST_BYTES:
            counted["bytes"].append(off[1])
        if row.index_size >= LARGE_SLOTS:
            counted["large seconds"].append(off[0])
            counted["large bytes"].append(off[1])
        print(f"{row.material:10} {row.rules:5} {row.index_size:12,} {row.cpu_seconds:8.2f} "
              f"{seconds:8.2f} {off[0]:6.2f} {row.file_bytes:12,} {size:12,} {off[1]:6.2f} "
              f"{memory:9.2f}")  # fmt: skip
    print(f"within a factor of {FACTOR}:")
    print(f"  seconds  {share(counted['seconds'])}, tables of at least {LEAST_SECONDS} CPU seconds")
    print(f"           {share(counted['long'])}, tables of at least {LONG_SECONDS}")
    print(f"  bytes    {share(counted['bytes'])}, tables of at least {LEAST_BYTES >> 10} KiB")
    print(f"  memory   {share(counted['memory'])}, all whose peak is known")
    print(f"of at least {LARGE_SLOTS:,} slots:")
    print(f"  seconds  {share(counted['large seconds'])}, within a factor of {FACTOR}")
    print(f"  bytes    {share(counted['large bytes'], BYTES_FACTOR)}, of {BYTES_FACTOR}")


def main() -> None:
    """Read the command line, and print the report."""
    parser = arguments(__doc__)
    parser.add_argument("--csv", type=Path, default=MEASURED)
    parser.add_argument("--unseen", type=Path, help="Tables to predict.")
    parser.add_argument("--men", type=int, help="Predict larger tables from those of so many men.")
    options = parser.parse_args()
    _, rows, known = read_measurements(options.csv)
    if options.unseen:
        report(unseen(read_growth(options.unseen)[1], known))
    elif options.men:
        report(beyond(options.men, rows, known))
    else:
        report(left_out(rows, known))


if __name__ == "__main__":
    main()
