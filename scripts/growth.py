"""Measured costs of many tables, as kept in docs/growth.csv, and power laws through them.

    # 2026-11-21, 2 cores
    material,rules,index_size,placements,cpu_seconds,wall_seconds,peak_bytes,file_bytes,
        first_wins,second_wins,entropy

Seconds are those of the table alone, kernels loaded; the peak is that of the process. The last
three say how its positions end (`tbgen.build.features.Outcomes`), as its file tells.
"""

from __future__ import annotations

import csv
import io
import itertools
import math
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from measuring import ROOT, Measurement

from tbgen.build.features import Outcomes
from tbgen.indexing import Material
from tbgen.indexing.census import count_placements
from tbgen.indexing.errors import MaterialError
from tbgen.indexing.layout import Layout
from tbgen.tables.names import Rules

GROWTH = ROOT / "docs" / "growth.csv"


@dataclass(frozen=True)
class Row:
    """What one table cost."""

    material: str
    rules: str
    index_size: int
    placements: int
    cpu_seconds: float
    wall_seconds: float
    peak_bytes: int
    file_bytes: int
    first_wins: float
    second_wins: float
    entropy: float

    @classmethod
    def of(cls, material: Material, rules: Rules, measured: Measurement, outcomes: Outcomes) -> Row:
        """The row of a measurement."""
        layout = Layout.of(material)
        first, second = outcomes.wins
        return cls(
            material.name, str(rules), layout.slots, count_placements(layout), measured.table_cpu,
            measured.table_wall, measured.process.peak, measured.file_bytes, round(first, 4),
            round(second, 4), round(outcomes.entropy, 4),
        )  # fmt: skip


def read_growth(path: Path) -> tuple[str, list[Row]]:
    """When and where the rows were measured, and the rows; a bad file ends the script."""
    try:
        head, _, body = path.read_text().partition("\n")
        rows = [
            Row(
                line["material"], line["rules"], int(line["index_size"]), int(line["placements"]),
                float(line["cpu_seconds"]), float(line["wall_seconds"]), int(line["peak_bytes"]),
                int(line["file_bytes"]), float(line["first_wins"]), float(line["second_wins"]),
                float(line["entropy"]),
            )
            for line in csv.DictReader(io.StringIO(body))
        ]  # fmt: skip
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"{path}: no measurements can be read there ({error!r}); "
                 "`python scripts/plot_growth.py --measure` makes them")  # fmt: skip
    return head.lstrip("# "), rows


def write_growth(path: Path, where: str, rows: Sequence[Row]) -> None:
    """Write rows by rules, index size and name."""
    text = io.StringIO()
    text.write(f"# {where}\n")
    writer = csv.DictWriter(text, [field.name for field in fields(Row)], lineterminator="\n")
    writer.writeheader()
    for row in sorted(rows, key=lambda row: (row.rules, row.index_size, row.material)):
        writer.writerow(asdict(row))
    path.write_text(text.getvalue())


def fit_power(sizes: Sequence[float], costs: Sequence[float]) -> tuple[float, float]:
    """(factor, exponent) of cost = factor * size ** exponent, least squares of logarithms.

    Raises `ValueError` for fewer than two different sizes, or a size or cost not above zero.
    """
    if len(set(sizes)) < 2 or min(*sizes, *costs) <= 0:
        raise ValueError("a power law needs two different sizes, and costs above zero")
    x, y = [math.log(size) for size in sizes], [math.log(cost) for cost in costs]
    x_mean, y_mean = sum(x) / len(x), sum(y) / len(y)
    exponent = sum((a - x_mean) * (b - y_mean) for a, b in zip(x, y, strict=True))
    exponent /= sum((a - x_mean) ** 2 for a in x)
    return math.exp(y_mean - exponent * x_mean), exponent


def materials_of(men: int) -> list[Material]:
    """Every material with so many pieces that needs a table, by name."""
    found = {}
    for pieces in itertools.combinations_with_replacement("RNCPAB", men - 2):
        for sides in itertools.product((0, 1), repeat=men - 2):
            armies = ["K", "K"]
            for piece, side in zip(pieces, sides, strict=True):
                armies[side] += piece
            try:
                material = Material.parse("".join(armies))
            except MaterialError:  # more of a kind than a set has
                continue
            if material.needs_table:
                found[material.name] = material
    return [found[name] for name in sorted(found)]
