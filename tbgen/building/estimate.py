"""Estimates of the cost of tables: measured, or learned from measured tables.

    known tables   ->  `Lesson`: features of the supporting tables, and the table's own traits
    lessons        ->  `Law`: the difference between a table and its first guess
    other tables   ->  traits by the law, bottom-up  ->  seconds, bytes

Finished tables in the directory improve the estimates: their compression, their outcomes, and the
wall seconds of this machine for a CPU second of the measurements. Errors of the estimates are in
docs/measurements/cost-estimates.md.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

from tbgen.building.features import Outcomes, Support, Traits, usual_seconds
from tbgen.building.measured import CLOCK_SECONDS, Measured, Measurements
from tbgen.indexing.census import count_placements
from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material
from tbgen.indexing.rulesets import Rules
from tbgen.tables.errors import TablebaseError
from tbgen.tables.names import TableName, read_build_record
from tbgen.tables.reader import TableFile

Array = NDArray[np.float64]

LEAST_SECONDS, LEAST_BYTES = 0.05, 4096
"""Below that a table costs what any table costs, and teaches nothing about others."""

COMMON, NEAR = 0.3, 0.4
"""The deviations, of the logarithm of a cost, that materials with similar armies share: whatever
their features are, and where these are close, too."""

ATTACKERS, DEFENDERS = 1.4, 2.8
"""By how many pieces of a kind armies differ that have little to tell about each other."""

REACH = 0.7
"""The same of all other features, in deviations."""

SLOPES = 0.07
"""How much of the linear part a deviation of one feature may change: a deviation, too."""

_WIDTHS = np.array(([ATTACKERS] * 4 + [DEFENDERS] * 2) * 2)


class Law:
    """Prediction of five numbers from features: a linear part, and a part of similar armies.

    Kernel ridge regression (a Gaussian process, whose scales are the constants above). Armies are
    compared as they are, and all other features in deviations of the known cases.
    """

    def __init__(self, features: Array, values: Array, noise: Array) -> None:
        """Learn values (n, q) of n cases with features (n, f), armies last.

        noise : (n, q), the deviation of what no feature explains; infinite where a case teaches
            nothing of a value
        """
        deviation = features.std(axis=0)
        # A feature that does not vary among the known cases tells nothing elsewhere.
        self._factor = np.where(deviation > 1e-9, 1 / np.maximum(deviation, 1e-9), 0)
        self._factor[-len(_WIDTHS) :] = 1 / _WIDTHS
        self._middle = features.mean(axis=0)
        self._known = self._scaled(features)
        covariance = self._covariance(self._known)
        self._mean = np.zeros(values.shape[1])
        self._weights = np.zeros(values.shape)
        self._limits = np.zeros((2, values.shape[1]))
        for number in range(values.shape[1]):
            taught = np.isfinite(noise[:, number])
            if not taught.any():
                continue
            own, variance = values[taught, number], noise[taught, number] ** 2
            self._mean[number] = np.average(own, weights=1 / variance)
            self._limits[:, number] = own.min(), own.max()
            matrix = covariance[np.ix_(taught, taught)] + np.diag(variance)
            self._weights[taught, number] = np.linalg.solve(matrix, own - self._mean[number])

    def __call__(self, features: Array) -> Array:
        """(q,) values of a case with features (f,), none beyond those that were learned."""
        covariance = self._covariance(self._scaled(features[None]))[0]
        values: Array = np.clip(self._mean + covariance @ self._weights, *self._limits)
        return values

    def _scaled(self, features: Array) -> Array:
        scaled: Array = (features - self._middle) * self._factor
        return scaled

    def _covariance(self, cases: Array) -> Array:
        """(cases, known cases)"""
        features, armies = np.split(cases, [-len(_WIDTHS)], axis=1)
        known, known_armies = np.split(self._known, [-len(_WIDTHS)], axis=1)
        far = REACH**2 * max(1, features.shape[1])
        near = np.exp(-_squared_distances(features, known) / far / 2)
        alike = np.exp(-_squared_distances(armies, known_armies) / 2)
        covariance: Array = alike * (COMMON**2 + NEAR**2 * near) + SLOPES**2 * features @ known.T
        return covariance


def _squared_distances(a: Array, b: Array) -> Array:
    """(rows of a, rows of b) squared distances between rows."""
    squares = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1)[None]
    distances: Array = np.maximum(squares - 2 * a @ b.T, 0)
    return distances


@dataclass(frozen=True)
class Lesson:
    """A table whose traits are known, as are those of its supporting tables."""

    material: Material
    features: tuple[float, ...]
    differences: tuple[float, ...]
    """Of `Traits.numbers` from the first guess."""
    noise: tuple[float, ...]
    """The deviations of what nothing explains; infinite where it teaches nothing."""

    @classmethod
    def of(cls, measured: Measured, support: Support, traits: Traits) -> Lesson:
        """Return the lesson of a measured table; small ones weigh nothing: headers add noise."""
        size, seconds = measured.file_bytes, measured.cpu_seconds
        of_density = math.hypot(0.15, 4000 / size) if size >= LEAST_BYTES else math.inf
        of_rate = math.hypot(0.1, 0.03 / seconds) if seconds >= LEAST_SECONDS else math.inf
        numbers, guess = traits.numbers(support.stronger), support.first_guess()
        differences = tuple(a - b for a, b in zip(numbers, guess, strict=True))
        noise = (of_density, of_rate, 0.05, 0.05, 0.1)
        return cls(support.material, support.features(), differences, noise)


def has_defenders(material: Material) -> bool:
    """Return whether any side has an advisor or an elephant."""
    return any(army.advisors or army.elephants for army in material.armies)


@dataclass(frozen=True)
class Knowledge:
    """Regression learned from measured tables."""

    traits: Mapping[str, Traits]
    """By material."""
    lessons: Sequence[Lesson]
    """Of the tables whose supporting tables are measured, too."""

    @classmethod
    def of(cls, measured: Mapping[str, Measured]) -> Knowledge:
        """Return the knowledge of all measurements."""
        materials = {name: Material.parse(name) for name in measured}
        traits = {
            name: Traits(
                math.log(known.file_bytes / known.placements),
                math.log(known.cpu_seconds / usual_seconds(materials[name])),
                known.outcomes,
            )
            for name, known in measured.items()
        }
        lessons = []
        for name, known in measured.items():
            needed = materials[name].supporting()
            if needed and all(child.name in measured for child in needed):
                support = Support(materials[name], traits)
                lessons.append(Lesson.of(known, support, traits[name]))
        return cls(traits, lessons)

    def law(self, defended: bool) -> Law | None:
        """The law of materials with defenders or without; None without any lesson.

        Of the rate all lessons teach, of all else those of the same kind: a defender less is a
        table that is nearly the same, and without any there is none.
        """
        if not self.lessons:
            return None
        noise = np.array([each.noise for each in self.lessons])
        other = [has_defenders(each.material) != defended for each in self.lessons]
        for number in (0, 2, 3, 4):
            noise[other, number] = math.inf
        return Law(
            np.array([each.features for each in self.lessons]),
            np.array([each.differences for each in self.lessons]),
            noise,
        )

    @cached_property
    def lowest_rate(self) -> float:
        """Lowest rate of any measured table: a bound for guesses that rest on guesses."""
        rates = [self.traits[each.material.name].rate for each in self.lessons
                 if each.noise[1] < math.inf]  # fmt: skip
        return min(rates, default=-math.inf)

    @cached_property
    def highest_density(self) -> float:
        """Highest density of any measured table: a bound like `lowest_rate`."""
        densities = [self.traits[each.material.name].density for each in self.lessons]
        return max(densities, default=math.inf)


@dataclass(frozen=True)
class Present:
    """A finished table that is there."""

    file_bytes: int
    seconds: float
    """The wall seconds it took, 0 where no record says so."""
    outcomes: Outcomes | None = None
    """None where they were not read."""


def present_tables(
    directory: Path, rules: Rules, measured: Container[str] = ()
) -> dict[str, Present]:
    """The finished tables of a rule set (all orders) in a directory, by material.

    How the positions end is read from those that are not `measured`.
    """
    found = {}
    for path in directory.glob("*.xqt"):
        name = TableName.parse(path.name)
        if name is not None and name.rules == rules and not name.orders:
            seconds = read_build_record(path).get("build_seconds", 0)
            known = name.material.name in measured
            outcomes = None if known else _outcomes(path, name)
            with contextlib.suppress(FileNotFoundError):  # removed meanwhile, or a dangling link
                found[name.material.name] = Present(path.stat().st_size, seconds, outcomes)
    return found


def _outcomes(path: Path, name: TableName) -> Outcomes | None:
    try:
        with TableFile(path, name=name) as file:
            return Outcomes.of(file.statistics)
    except (OSError, TablebaseError):
        return None


class Estimates:
    """The costs of tables of one rule set, given measurements and the tables that are there."""

    def __init__(
        self,
        rules: Rules,
        measured: Measurements,
        present: Mapping[str, Present] | None = None,
    ) -> None:
        self._rules = rules
        self._measured = measured
        self._present = present or {}
        self._laws: dict[bool, Law | None] = {}
        self._counted: dict[str, int] = {}

    @cached_property
    def _knowledge(self) -> Knowledge:
        """Knowledge of all measurements, made when the first table must be guessed."""
        return Knowledge.of(self._measured.tables)

    @cached_property
    def _traits(self) -> dict[str, Traits]:
        """By material, under `wxf`: known, or guessed so far."""
        return dict(self._knowledge.traits)

    def _traits_of(self, material: Material) -> Traits:
        if material.name not in self._traits:
            guess = self._guess(material)
            there = self._present.get(material.name)
            if there is not None:
                size = there.file_bytes / self._measured.share(material, self._rules).file_bytes
                density = math.log(size / self.placements(material))
                guess = replace(guess, density=density, outcomes=there.outcomes or guess.outcomes)
            self._traits[material.name] = guess
        return self._traits[material.name]

    def _guess(self, material: Material) -> Traits:
        """From the supporting tables, each known or guessed before."""
        below = {child.name: self._traits_of(child) for child in material.supporting()}
        support = Support(material, below)
        defended = has_defenders(material)
        if defended not in self._laws:
            self._laws[defended] = self._knowledge.law(defended)
        law = self._laws[defended]
        guess = np.array(support.first_guess())
        if law is not None:  # without a lesson the first guess stands
            guess += law(np.array(support.features()))
        found = Traits.from_numbers(guess.tolist(), support.stronger)
        # No denser than any measured table, or than one below it that is there.
        densest = max(self._knowledge.highest_density, support.first_guess()[0])
        return replace(
            found,
            density=min(found.density, densest),
            rate=max(found.rate, self._knowledge.lowest_rate),
        )

    def placements(self, material: Material) -> int:
        """Canonical placements of a material, counted once."""
        if material.name in self._measured.tables:
            return self._measured.tables[material.name].placements
        if material.name not in self._counted:
            self._counted[material.name] = count_placements(Layout.of(material))
        return self._counted[material.name]

    def disk_bytes(self, material: Material) -> int:
        """The size of the file."""
        if material.name in self._present:
            return self._present[material.name].file_bytes
        if material.name in self._measured.tables:
            size: float = self._measured.tables[material.name].file_bytes
        else:
            size = math.exp(self._traits_of(material).density) * self.placements(material)
        return round(size * self._measured.share(material, self._rules).file_bytes)

    def cpu_seconds(self, material: Material) -> float:
        """CPU seconds on the machine of the measurements, the program's start not counted."""
        if material.name in self._measured.tables:
            seconds = self._measured.tables[material.name].cpu_seconds
        else:
            seconds = math.exp(self._traits_of(material).rate) * usual_seconds(material)
        return seconds * self._measured.share(material, self._rules).seconds

    def wall_per_cpu(self) -> float:
        """Wall seconds on this machine for a CPU second of the measurements.

        The median over the tables that are there; that of the measurements where none took long
        enough to tell.
        """
        ratios = [
            present.seconds / cpu
            for name, present in self._present.items()
            if present.seconds and (cpu := self.cpu_seconds(Material.parse(name))) > CLOCK_SECONDS
        ]
        return median(ratios) if ratios else self._measured.wall_per_cpu
