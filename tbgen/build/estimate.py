"""What tables will cost: measured where they were measured, else by two small linear models.

    seconds    log(CPU seconds per slot) = coefficients . `time_features`
    bytes      log(bytes per placement)  = coefficients . `density_features`

`costs.py` holds a `Fit` of coefficients and measurements for each rule set.
Tables that are there already teach the rest: how well they compress, which tells about those that
they support, and how many wall seconds this machine takes for a CPU second of the measurements.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from tbgen.indexing.census import count_placements
from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Army, Material
from tbgen.indexing.squares import PieceType
from tbgen.tables.names import Rules, TableName, read_build_record

ATTACKER_VALUES = {
    PieceType.ROOK: 9.0,
    PieceType.KNIGHT: 4.0,
    PieceType.CANNON: 2.0,
    PieceType.PAWN: 3.0,
}
DEFENDER_VALUE = 1.2
"""What pieces are worth when few are left, for the surplus of a side: chosen by the fit."""

EVEN_SURPLUS, WINNING_SURPLUS = 3.0, 6.0
"""Below the one most positions are drawn, above the other most are won soon."""

CLOCK_SECONDS = 0.2
"""Tables that take less say nothing about the machine."""


@dataclass(frozen=True)
class Fit:
    """Coefficients and measurements of one rule set; see `time_features`, `density_features`."""

    time: tuple[float, ...]
    density: tuple[float, ...]
    start_seconds: float
    """CPU seconds that the smallest table takes."""
    wall_per_cpu: float
    """Wall seconds for a CPU second, on the machine of the measurements."""
    measured: Mapping[str, tuple[float, int]]
    """By material: CPU seconds and bytes."""


@dataclass(frozen=True)
class Present:
    """A finished table: its bytes, and the wall seconds it took, 0 where no record says so."""

    file_bytes: int
    seconds: float


def present_tables(directory: Path, rules: Rules) -> dict[str, Present]:
    """The finished tables of a rule set (all orders) in a directory, by material."""
    found = {}
    for path in directory.glob("*.xqt"):
        name = TableName.parse(path.name)
        if name is not None and name.rules == rules and not name.orders:
            seconds = float(read_build_record(path).get("build_seconds", 0))
            found[name.material.name] = Present(path.stat().st_size, seconds)
    return found


def _attackers(army: Army) -> int:
    return sum(army.count(kind) for kind in ATTACKER_VALUES)


def _worth(army: Army) -> float:
    attack = sum(value * army.count(kind) for kind, value in ATTACKER_VALUES.items())
    return attack + DEFENDER_VALUE * (army.advisors + army.elephants)


def _surplus(material: Material) -> float:
    first, second = material.armies
    return abs(_worth(first) - _worth(second))


def time_features(
    material: Material, rules: Rules, densities: Mapping[tuple[int, PieceType], float]
) -> tuple[float, ...]:
    """(constant, rules decide, surplus, helpers of facing rooks, mean density).

    The larger the surplus of one side, the sooner all is decided. Rules take their time where
    both sides attack, and most where rooks face each other with help. Supporting tables that do
    not compress have long distances, and so many plies. `densities` as for `density_features`.
    """
    first, second = material.armies
    ruled = float(material.both_armed and rules != Rules.NONE)
    helpers = _attackers(first) + _attackers(second) - 2
    return (
        1.0,
        ruled,
        _surplus(material),
        ruled * helpers * bool(first.rooks and second.rooks),
        sum(densities.values()) / len(densities),
    )


def density_features(
    material: Material, densities: Mapping[tuple[int, PieceType], float]
) -> tuple[float, ...]:
    """(constant, densest after losing a defender, mean, both armed, uneven, overwhelming).

    `densities` are the logarithms of bytes per placement of the supporting tables, by capture. A
    defender more or less changes little; where no side has any, the densest supporting table
    stands for them. What is drawn, or won at once, compresses: the surplus of a side up to
    `EVEN_SURPLUS` and from `WINNING_SURPLUS` on.
    """
    after_defender = [value for (_, kind), value in densities.items() if not kind.is_attacker]
    surplus = _surplus(material)
    return (
        1.0,
        max(after_defender or densities.values()),
        sum(densities.values()) / len(densities),
        float(material.both_armed),
        min(surplus, EVEN_SURPLUS),
        max(surplus - WINNING_SURPLUS, 0.0),
    )


def _dot(coefficients: tuple[float, ...], features: tuple[float, ...]) -> float:
    return sum(c * x for c, x in zip(coefficients, features, strict=True))


@dataclass
class Estimates:
    """The costs of tables of one rule set, given a fit and the tables that are there."""

    rules: Rules
    fit: Fit
    present: Mapping[str, Present] = field(default_factory=dict)
    _densities: dict[str, float] = field(default_factory=dict)

    def log_density(self, material: Material) -> float:
        """The logarithm of bytes per placement: known, or from the supporting tables'."""
        if material.name not in self._densities:
            if material.name in self.present:
                known = self.present[material.name].file_bytes
            else:
                known = self.fit.measured.get(material.name, (0.0, 0))[1]
            if known:
                found = math.log(known / count_placements(Layout.of(material)))
            else:
                features = density_features(material, self.supporting(material))
                found = _dot(self.fit.density, features)
            self._densities[material.name] = found
        return self._densities[material.name]

    def supporting(self, material: Material) -> dict[tuple[int, PieceType], float]:
        """`log_density` of the supporting tables, by capture."""
        return {
            capture: self.log_density(child)
            for capture, child in material.captures().items()
            if child.needs_table
        }

    def disk_bytes(self, material: Material) -> int:
        """The size of the file."""
        return round(math.exp(self.log_density(material)) * count_placements(Layout.of(material)))

    def cpu_seconds(self, material: Material) -> float:
        """CPU seconds on the machine of the measurements, the program's start not counted."""
        if material.name in self.fit.measured:
            return self.fit.measured[material.name][0]
        features = time_features(material, self.rules, self.supporting(material))
        rate = math.exp(_dot(self.fit.time, features))
        return self.fit.start_seconds + rate * Layout.of(material).slots

    def wall_per_cpu(self) -> float:
        """Wall seconds on this machine for a CPU second of the measurements.

        The median over the tables that are there; that of the measurements where none took long
        enough to tell.
        """
        ratios = [
            present.seconds / cpu
            for name, present in self.present.items()
            if present.seconds and (cpu := self.cpu_seconds(Material.parse(name))) > CLOCK_SECONDS
        ]
        return median(ratios) if ratios else self.fit.wall_per_cpu
