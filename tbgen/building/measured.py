"""Measured costs of tables, and figures computed from them.

    measured.csv  ->  `Measured`, a line each  ->  `Measurements`: costs by material under `wxf`,
                                                   cost ratios of other rules to `wxf`,
                                                   wall seconds per CPU second

`scripts/measure/plot_growth.py --measure` writes the file: a comment with machine and date, the
column names (the fields of `Measured`), and a line for each table and rule set.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median
from typing import get_type_hints

from tbgen.building.features import Outcomes
from tbgen.indexing.material import Material
from tbgen.indexing.rulesets import Rules

MEASURED = Path(__file__).with_name("measured.csv")

CLOCK_SECONDS = 0.2
"""CPU seconds above which a table is used to compare the speed of machines."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Measured cost and outcomes of one table of one rule set: a line of measured.csv.

    `first_wins` and `second_wins` are `Outcomes.wins`, `entropy` is `Outcomes.entropy`.
    """

    material: str
    rules: str
    index_size: int
    """Number of slots (entries of the table) for each side to move."""
    placements: int
    """Number of canonical placements (slots minus holes); stored, since counting takes long."""
    cpu_seconds: float
    """CPU seconds of the build; these and `wall_seconds` exclude loading Python and kernels."""
    wall_seconds: float
    peak_bytes: int
    """Peak resident memory of the process that built the table."""
    file_bytes: int
    first_wins: float
    second_wins: float
    entropy: float
    orders: int
    """Highest order of any position of the table."""

    @property
    def outcomes(self) -> Outcomes:
        """Outcomes of the table's positions, as shares."""
        return Outcomes((self.first_wins, self.second_wins), self.entropy)


def read_measured(path: Path = MEASURED) -> tuple[str, list[Measured]]:
    """Return the text of the first line, which names date and machine, and the measured costs.

    Raises `OSError`, `KeyError` for a missing column, `ValueError` for a malformed number, and
    `TypeError` for a missing one.
    """
    with path.open(newline="", encoding="utf-8") as file:
        where = file.readline().lstrip("# ").rstrip()
        columns = get_type_hints(Measured)
        rows = [
            Measured(**{name: kind(line[name]) for name, kind in columns.items()})
            for line in csv.DictReader(file)
        ]
    return where, rows


@dataclass(frozen=True)
class CostRatio:
    """Ratios of a table's CPU seconds and file size under other rules to those under `wxf`."""

    seconds: float
    file_bytes: float


def rooks_chase(material: Material) -> bool:
    """Return whether both sides have a rook, and there are three or more attackers in total.

    Rules on chases raise the cost of these materials most.
    """
    return all(army.rooks for army in material.armies) and material.attackers > 2


@dataclass(frozen=True)
class Measurements:
    """Measurements on which estimates are based."""

    tables: Mapping[str, Measured]
    """Measured costs under `wxf`, by name of material."""
    wxf_ratios: Mapping[tuple[Rules, bool], CostRatio]
    """Medians of the ratios of tables in which both sides have attackers, by rules other than `wxf`
    and by the result of `rooks_chase`.
    """
    wall_per_cpu: float
    """Wall seconds per CPU second, on the machine of the measurements."""

    @classmethod
    def of(cls, rows: Iterable[Measured]) -> Measurements:
        """Compute the measurements from lines of measured.csv.

        At least one table under `wxf` must have taken more than `CLOCK_SECONDS`.
        """
        listed = list(rows)
        tables = {row.material: row for row in listed if row.rules == Rules.WXF}
        ratios: dict[tuple[Rules, bool], list[CostRatio]] = {}
        for row in listed:
            usual = tables.get(row.material)
            if row.rules == Rules.WXF or usual is None:
                continue
            material = Material.parse(row.material)
            if material.both_armed:
                key = Rules(row.rules), rooks_chase(material)
                seconds = row.cpu_seconds / usual.cpu_seconds
                ratios.setdefault(key, []).append(
                    CostRatio(seconds, row.file_bytes / usual.file_bytes)
                )
        wxf_ratios = {
            key: CostRatio(median(s.seconds for s in found), median(s.file_bytes for s in found))
            for key, found in ratios.items()
        }
        long = [row for row in tables.values() if row.cpu_seconds > CLOCK_SECONDS]
        return cls(tables, wxf_ratios, median(row.wall_seconds / row.cpu_seconds for row in long))

    def wxf_ratio(self, material: Material, rules: Rules) -> CostRatio:
        """Return the ratios of a material's time and file size under `rules` to those under `wxf`.

        Both are medians of `wxf_ratios`; or 1 for `wxf` itself, if a side has no attacker, or if
        `wxf_ratios` has none for `rules` and the material's result of `rooks_chase`.
        """
        if not material.both_armed:
            return CostRatio(1.0, 1.0)
        return self.wxf_ratios.get((rules, rooks_chase(material)), CostRatio(1.0, 1.0))


@cache
def measurements() -> Measurements:
    """Return the measurements that are part of the package."""
    return Measurements.of(read_measured()[1])
