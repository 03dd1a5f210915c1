"""Estimates of the costs of tables, learned from measured tables.

    `Traits`          file size per canonical placement, time / `typical_seconds`, outcomes
    first guess       traits of a table, guessed from those of its supporting tables
    `TrainingCase`    a measured table: its features, and the error of its first guess
    `CostRegression`  regression over the cases: predicts the error from the features
    other tables      bottom-up: first guess + predicted error  ->  seconds, bytes

Finished tables in the directory improve the estimates by their size and outcomes, and give the
wall seconds of this machine. docs/measurements/cost-estimates.md has the errors of the estimates.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.building.features import Outcomes, Support, Traits, typical_seconds
from tbgen.building.measured import CLOCK_SECONDS, Measurements
from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material
from tbgen.indexing.placement_count import count_placements
from tbgen.indexing.rulesets import Rules
from tbgen.tables.build_records import read_build_record
from tbgen.tables.errors import TablebaseError
from tbgen.tables.names import TableName
from tbgen.tables.reader import TableFile
from tbgen.tables.rule_sets import RuleSet

Array = NDArray[np.float64]

LEAST_SECONDS, LEAST_BYTES = 0.05, 4096
"""Least CPU seconds and file size that the regression uses; below, constant costs dominate."""

COMMON_DEVIATION, NEAR_DEVIATION = 0.3, 0.4
"""Prior standard deviations of two parts of a predicted error: a part that depends only on the
piece counts, and a part that depends on these and on all other features.
"""

ATTACKER_SCALE, DEFENDER_SCALE = 2.0, 2.8
"""Length scales of the regression's kernel for piece counts: difference in the number of attackers
or defenders of one kind at which two materials are no longer similar.
"""

FEATURE_SCALE = 0.7
"""Length scale of the kernel for all features but piece counts: root mean square of the differences
of the scaled features at which two materials are no longer similar.
"""

SLOPE_DEVIATION = 0.07
"""Prior standard deviation of the coefficients of the linear part of a predicted error. That part
depends on all features but the piece counts, each divided by its standard deviation.
"""

_WIDTHS = np.array(([ATTACKER_SCALE] * 4 + [DEFENDER_SCALE] * 2) * 2)
"""Length scales of the twelve piece counts of both armies."""


class CostRegression:
    """Regression that predicts, for the five `Traits.numbers`, the error of the first guess.

    It is a kernel ridge regression (a Gaussian process with the constants above as
    hyperparameters). Piece counts are scaled by `ATTACKER_SCALE` and `DEFENDER_SCALE`, all other
    features by their standard deviation over the known cases.
    """

    def __init__(self, features: Array, values: Array, noise: Array) -> None:
        """Fit the regression to n known cases, each with f features and q values to predict.

        features : (n, f); the last twelve are the piece counts of both armies
        values : (n, q)
        noise : (n, q), standard deviations of `values`; infinite for a value to be ignored. The
            prediction of a value that is ignored in all cases is 0
        """
        deviation = features.std(axis=0)
        # Features that do not vary among the known cases are ignored, except piece counts.
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
        """Return predictions (q,) for features (f,), clipped to the range of the known values."""
        covariance = self._covariance(self._scaled(features[None]))[0]
        return np.clip(self._mean + covariance @ self._weights, *self._limits)

    def _scaled(self, features: Array) -> Array:
        return (features - self._middle) * self._factor

    def _covariance(self, cases: Array) -> Array:
        """Return the covariances (m, n) of `cases`, scaled features (m, f), with n known cases."""
        features, armies = np.split(cases, [-len(_WIDTHS)], axis=1)
        known, known_armies = np.split(self._known, [-len(_WIDTHS)], axis=1)
        far = FEATURE_SCALE**2 * max(1, features.shape[1])
        near = np.exp(-_squared_distances(features, known) / far / 2)
        alike = np.exp(-_squared_distances(armies, known_armies) / 2)
        return (
            alike * (COMMON_DEVIATION**2 + NEAR_DEVIATION**2 * near)
            + SLOPE_DEVIATION**2 * features @ known.T
        )


def _squared_distances(a: Array, b: Array) -> Array:
    """Return the squared distances (rows of a, rows of b) between rows of two matrices."""
    squares = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1)[None]
    return np.maximum(squares - 2 * a @ b.T, 0)


class TrainingCase(NamedTuple):
    """Training case of the regression: a measured table with measured supporting tables."""

    material: Material
    traits: Traits
    features: tuple[float, ...]
    differences: tuple[float, ...]
    """`Traits.numbers` of the table minus its `Support.first_guess`."""
    noise: tuple[float, ...]
    """Standard deviation of each difference; infinite for a difference to be ignored."""


def has_defenders(material: Material) -> bool:
    """Return whether any side has an advisor or an elephant."""
    return any(army.advisors or army.elephants for army in material.armies)


@dataclass(frozen=True)
class FinishedTable:
    """A finished table in the directory, whose contents are read only when needed."""

    name: TableName
    path: Path
    file_bytes: int

    def seconds(self) -> float:
        """Return the wall seconds of the build, or its CPU seconds if fewer; 0 without a record.

        If the build was paused, its wall seconds include the pause.
        """
        return min(read_build_record(self.path).values(), default=0.0)

    def outcomes(self) -> Outcomes | None:
        """Return the outcomes of the table; None if they cannot be read."""
        try:
            with TableFile(self.path, name=self.name) as file:
                return Outcomes.of(file.statistics)
        except (OSError, TablebaseError):
            return None


def finished_tables(directory: Path, rule_set: RuleSet) -> dict[str, FinishedTable]:
    """Return the finished tables under a rule set in a directory, by name of material.

    Empty files are left out. Of tables of both metrics, the DTM table is taken. The directory may
    be missing. Raises `OSError` if it cannot be listed.
    """
    found = {}
    for path in sorted(directory.iterdir()) if directory.exists() else ():
        name = TableName.parse(path.name)
        if name is not None and name.rule_set == rule_set:
            with contextlib.suppress(FileNotFoundError):  # removed since, or a dangling link
                if size := path.stat().st_size:
                    found[name.material.name] = FinishedTable(name, path, size)
    return found


@cache
def _count_placements(material: Material) -> int:
    return count_placements(Layout.of(material))


class Estimates:
    """Costs of the tables of one rule set: measured, read from finished tables, or estimated."""

    def __init__(
        self,
        rules: Rules,
        measured: Measurements,
        present: Mapping[str, FinishedTable] | None = None,
    ) -> None:
        self._rules = rules
        self._measured = measured
        self._present = present or {}
        self._regressions: dict[bool, CostRegression] = {}

    @cached_property
    def _traits(self) -> dict[str, Traits]:
        """Traits by name of material under `wxf`: measured ones, and those estimated so far."""
        return {
            name: Traits(
                math.log(known.file_bytes / known.placements),
                math.log(known.cpu_seconds / typical_seconds(Material.parse(name))),
                known.outcomes,
            )
            for name, known in self._measured.tables.items()
        }

    @cached_property
    def _cases(self) -> list[TrainingCase]:
        """Training cases; computed only when a table must be estimated.

        Sizes below `LEAST_BYTES` and times below `LEAST_SECONDS` are to be ignored.
        """
        cases = []
        for name, known in self._measured.tables.items():
            material, traits = Material.parse(name), self._traits[name]
            needed = material.supporting()
            if not needed or any(child.name not in self._measured.tables for child in needed):
                continue
            support = Support(material, self._traits)
            size, seconds = known.file_bytes, known.cpu_seconds
            of_density = math.hypot(0.15, 4000 / size) if size >= LEAST_BYTES else math.inf
            of_rate = math.hypot(0.1, 0.03 / seconds) if seconds >= LEAST_SECONDS else math.inf
            noise = (of_density, of_rate, 0.05, 0.05, 0.1)
            numbers, guess = traits.numbers(support.stronger), support.first_guess()
            differences = tuple(a - b for a, b in zip(numbers, guess, strict=True))
            cases.append(TrainingCase(material, traits, support.features(), differences, noise))
        return cases

    @cached_property
    def _bounds(self) -> tuple[float, float]:
        """Lowest `Traits.rate` and highest `Traits.density` of the training cases that have them.

        Estimates are clipped to these bounds, since the errors of estimates based on other
        estimates add up; but a density may be as high as its first guess.
        """
        rates = [case.traits.rate for case in self._cases if case.noise[1] < math.inf]
        densities = [case.traits.density for case in self._cases if case.noise[0] < math.inf]
        return min(rates, default=-math.inf), max(densities, default=math.inf)

    def _regression(self, defended: bool) -> CostRegression | None:
        """Return the regression for materials with or without defenders; None without cases.

        `Traits.rate` is learned from all cases, the other numbers only from cases of the same kind:
        first guesses are better with defenders, since the loss of one changes a table little.
        """
        if defended not in self._regressions and self._cases:
            _, _, features, differences, noises = zip(*self._cases, strict=True)
            noise = np.array(noises)
            other = [has_defenders(case.material) != defended for case in self._cases]
            for number in (0, 2, 3, 4):
                noise[other, number] = math.inf
            self._regressions[defended] = CostRegression(
                np.array(features), np.array(differences), noise
            )
        return self._regressions.get(defended)

    def _traits_of(self, material: Material) -> Traits:
        """Return a table's traits under `wxf`.

        Density and outcomes of a finished table replace the estimated ones.
        """
        if material.name not in self._traits:
            guess = self._guess(material)
            there = self._present.get(material.name)
            if there is not None:
                size = there.file_bytes / self._measured.wxf_ratio(material, self._rules).file_bytes
                density = math.log(size / self.placements(material))
                guess = replace(guess, density=density, outcomes=there.outcomes() or guess.outcomes)
            self._traits[material.name] = guess
        return self._traits[material.name]

    def _guess(self, material: Material) -> Traits:
        """Return a table's traits: its first guess, corrected by the regression, within bounds."""
        below = {child.name: self._traits_of(child) for child in material.supporting()}
        support = Support(material, below)
        regression = self._regression(has_defenders(material))
        guess = np.array(support.first_guess())
        if regression is not None:  # without a case the first guess stands
            guess += regression(np.array(support.features()))
        found = Traits.from_numbers(guess.tolist(), support.stronger)
        lowest_rate, highest_density = self._bounds
        # No denser than the densest measured table or supporting table.
        densest = max(highest_density, support.first_guess()[0])
        return replace(
            found, density=min(found.density, densest), rate=max(found.rate, lowest_rate)
        )

    def placements(self, material: Material) -> int:
        """Return the number of a material's canonical placements (slots minus holes); cached."""
        if material.name in self._measured.tables:
            return self._measured.tables[material.name].placements
        return _count_placements(material)

    def disk_bytes(self, material: Material) -> int:
        """Return the bytes of a table's file: its size if finished, else measured or estimated."""
        if material.name in self._present:
            return self._present[material.name].file_bytes
        if material.name in self._measured.tables:
            size: float = self._measured.tables[material.name].file_bytes
        else:
            size = math.exp(self._traits_of(material).density) * self.placements(material)
        return round(size * self._measured.wxf_ratio(material, self._rules).file_bytes)

    def cpu_seconds(self, material: Material) -> float:
        """Return CPU seconds of a build, measured or estimated, on the machine of measured.csv."""
        if material.name in self._measured.tables:
            seconds = self._measured.tables[material.name].cpu_seconds
        else:
            seconds = math.exp(self._traits_of(material).rate) * typical_seconds(material)
        return seconds * self._measured.wxf_ratio(material, self._rules).seconds

    def wall_per_cpu(self) -> float:
        """Return wall seconds on this machine per CPU second of the measurements.

        This is the median over finished tables with a build record that were measured to take more
        than `CLOCK_SECONDS`; without such tables, the ratio on the machine of the measurements.
        """
        ratios = [
            seconds / cpu
            for name, present in self._present.items()
            if name in self._measured.tables
            and (cpu := self.cpu_seconds(Material.parse(name))) > CLOCK_SECONDS
            and (seconds := present.seconds())
        ]
        return median(ratios) if ratios else self._measured.wall_per_cpu
