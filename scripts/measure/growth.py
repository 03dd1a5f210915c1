"""Read and write tbgen/building/measured.csv, the measured costs of many tables; fit power laws.

`tbgen.building.measured` describes the file.
"""

from __future__ import annotations

import csv
import datetime
import io
import math
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from statistics import StatisticsError, linear_regression

from measuring import Measurement

from tbgen.building.features import Outcomes
from tbgen.building.measured import CLOCK_SECONDS, Measured, Measurements, read_measured
from tbgen.indexing import Material
from tbgen.indexing.layout import Layout
from tbgen.indexing.placement_count import count_placements
from tbgen.indexing.rulesets import Rules


def row_of(
    material: Material, rules: Rules, measured: Measurement, outcomes: Outcomes, orders: int
) -> Measured:
    """Return a table's row of measured.csv.

    measured, outcomes : cost of building the table, and outcomes of its positions
    orders : highest order of any position
    """
    layout = Layout.of(material)
    first, second = outcomes.wins
    return Measured(
        material.name, str(rules), layout.slots, count_placements(layout), measured.table_cpu,
        measured.table_wall, measured.process.peak, measured.file_bytes, round(first, 4),
        round(second, 4), round(outcomes.entropy, 4), orders,
    )  # fmt: skip


def read_growth(path: Path) -> tuple[str, list[Measured]]:
    """Return date and machine in measured.csv, and its rows; a bad file ends the script."""
    try:
        return read_measured(path)
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.exit(f"{path}: no measurements can be read there ({error!r}); "
                 "`python scripts/measure/plot_growth.py --measure` makes them")  # fmt: skip


def read_measurements(path: Path) -> tuple[str, list[Measured], Measurements]:
    """Return date and machine, rows and measurements of measured.csv; too few end the script."""
    where, rows = read_growth(path)
    try:
        return where, rows, Measurements.of(rows)
    except StatisticsError:
        sys.exit(f"{path}: no table under wxf took more than {CLOCK_SECONDS} CPU seconds")


def here() -> str:
    """Return today's date and this machine, as measured.csv states them."""
    return f"{datetime.date.today()}, {os.cpu_count()} cores"


def write_growth(path: Path, where: str, rows: Sequence[Measured]) -> None:
    """Write measured.csv with the rows sorted by rules, index size and name.

    where : date and machine of the measurements (`here`)
    """
    text = io.StringIO()
    text.write(f"# {where}\n")
    writer = csv.DictWriter(text, [field.name for field in fields(Measured)], lineterminator="\n")
    writer.writeheader()
    for row in sorted(rows, key=lambda row: (row.rules, row.index_size, row.material)):
        writer.writerow(asdict(row))
    path.write_text(text.getvalue(), "utf-8")


def fit_power(sizes: Sequence[float], costs: Sequence[float]) -> tuple[float, float]:
    """Fit cost = factor * size ** exponent by least squares of the logarithms.

    Returns (factor, exponent). Raises `ValueError` for fewer than two different sizes, or if a size
    or a cost is not positive.
    """
    if len(set(sizes)) < 2 or min(*sizes, *costs) <= 0:
        raise ValueError("a power law needs two different sizes, and costs above zero")
    exponent, start = linear_regression(
        [math.log(size) for size in sizes], [math.log(cost) for cost in costs]
    )
    return math.exp(start), exponent
