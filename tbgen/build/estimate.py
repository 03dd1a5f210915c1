"""What tables will cost: measured where they were measured, else guessed from similar ones.

    known tables   ->  `Lesson`: features from its supporting tables, and its own traits
    other tables   ->  traits by `Kriging` over the lessons, bottom-up  ->  seconds, bytes

`costs.py` holds what was measured under `wxf`, and how much less other rules take. Finished tables
that are there already teach the rest: how well they compress, how their positions end, and how
many wall seconds this machine takes for a CPU second of the measurements.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median

import numpy as np

from tbgen.build.features import (
    LEAST_ENTROPY,
    Features,
    Outcomes,
    Support,
    Traits,
    usual_seconds,
)
from tbgen.build.kriging import Cases, Kriging, Scales
from tbgen.indexing.census import count_placements
from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material
from tbgen.tables.errors import TablebaseError
from tbgen.tables.names import Rules, TableName, read_build_record
from tbgen.tables.reader import TableFile

CLOCK_SECONDS = 0.2
"""Tables that take less say nothing about the machine."""

LEAST_SECONDS, LEAST_BYTES = 0.05, 4096
"""Below that a table costs what any table costs, and teaches nothing about others."""


@dataclass(frozen=True)
class Measured:
    """What one table cost, and how its positions end."""

    cpu_seconds: float
    file_bytes: int
    first_wins: float
    second_wins: float
    entropy: float
    placements: int
    """Kept because counting them takes longer than all else here."""

    @property
    def outcomes(self) -> Outcomes:
        """How its positions end."""
        return Outcomes((self.first_wins, self.second_wins), self.entropy)


@dataclass(frozen=True)
class Share:
    """What a table under other rules costs of one under `wxf`."""

    seconds: float
    file_bytes: float


@dataclass(frozen=True)
class Fit:
    """What `scripts/fit_plan.py` makes of the measurements."""

    scales: Mapping[str, tuple[Scales, Scales]]
    """By quantity: for materials without any defender, and with."""
    shares: Mapping[Rules, tuple[Share, Share]]
    """By rule set, where both sides attack: for others, and for those of `rooks_chase`."""
    wall_per_cpu: float
    """Wall seconds for a CPU second, on the machine of the measurements."""
    measured: Mapping[str, Measured]
    """By material, under `wxf`."""

    def share(self, material: Material, rules: Rules) -> Share:
        """What a material costs under some rules; with one armless side all are the same."""
        if not material.both_armed or rules not in self.shares:
            return Share(1.0, 1.0)
        return self.shares[rules][rooks_chase(material)]


def rooks_chase(material: Material) -> bool:
    """Whether rooks face each other, with help: where chases decide most."""
    attackers = sum(sum(army.strength[:4]) for army in material.armies)
    return all(army.rooks for army in material.armies) and attackers > 2


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
            seconds = float(read_build_record(path).get("build_seconds", 0))
            known = name.material.name in measured
            outcomes = None if known else _outcomes(path, name)
            found[name.material.name] = Present(path.stat().st_size, seconds, outcomes)
    return found


def _outcomes(path: Path, name: TableName) -> Outcomes | None:
    try:
        with TableFile(path, name=name) as file:
            return Outcomes.of(file.statistics)
    except (OSError, TablebaseError):
        return None


@dataclass(frozen=True)
class Lesson:
    """A table whose traits are known, as are those of its supporting tables."""

    support: Support
    traits: Traits
    file_bytes: int
    cpu_seconds: float
    """0 where it was not measured."""


@dataclass(frozen=True)
class Quantity:
    """One number that is guessed of a table: by how much it differs from a first guess."""

    features: Callable[[Support], Features]
    difference: Callable[[Support, Traits], float]
    noise: Callable[[Lesson], float]
    """The deviation of what nothing explains; infinite where a lesson teaches nothing."""
    apart: bool = True
    """Whether materials with defenders follow laws of their own: a defender less is a table that
    is nearly the same, and without any there is none."""

    def cases(self, supports: Iterable[Support]) -> Cases:
        """What it follows from."""
        features, armies = [], []
        for support in supports:
            features.append(self.features(support))
            armies.append([army.strength for army in support.material.armies])
        return Cases(
            np.array(armies, float),
            np.array([found.linear for found in features]),
            np.array([found.local for found in features]),
        )


def _bytes_noise(lesson: Lesson) -> float:
    if lesson.file_bytes < LEAST_BYTES:
        return math.inf
    return math.hypot(0.15, 4000 / lesson.file_bytes)


def _seconds_noise(lesson: Lesson) -> float:
    if lesson.cpu_seconds < LEAST_SECONDS:
        return math.inf
    return math.hypot(0.1, 0.03 / lesson.cpu_seconds)


def _wins(side: int) -> Callable[[Support, Traits], float]:
    """What the stronger army (0) or the weaker one (1) wins, from the middle of its bounds."""

    def difference(support: Support, traits: Traits) -> float:
        bounds = support.weak if side else support.strong
        return traits.outcomes.wins[support.stronger ^ side] - bounds.middle

    return difference


QUANTITIES = {
    "density": Quantity(
        Support.outcome_features,
        lambda support, traits: traits.density - support.density,
        _bytes_noise,
    ),
    "rate": Quantity(
        Support.time_features,
        lambda support, traits: traits.rate - support.rate,
        _seconds_noise,
        apart=False,
    ),
    "strong_wins": Quantity(Support.outcome_features, _wins(0), lambda lesson: 0.05),
    "weak_wins": Quantity(Support.outcome_features, _wins(1), lambda lesson: 0.05),
    "entropy": Quantity(
        Support.outcome_features,
        lambda support, traits: math.log(LEAST_ENTROPY + traits.outcomes.entropy) - support.entropy,
        lambda lesson: 0.1,
    ),
}


def lessons_for(
    name: str, lessons: Iterable[Lesson], defended: bool
) -> tuple[list[Lesson], list[float]]:
    """Those that teach a quantity of materials with defenders or without, and their noise."""
    quantity, found, noise = QUANTITIES[name], [], []
    for lesson in lessons:
        deviation = quantity.noise(lesson)
        fits = not quantity.apart or has_defenders(lesson.support.material) == defended
        if fits and math.isfinite(deviation):
            found.append(lesson)
            noise.append(deviation)
    return found, noise


def learn(name: str, lessons: Iterable[Lesson], defended: bool, scales: Scales) -> Kriging | None:
    """How a quantity of materials with defenders or without follows; None without any lesson."""
    quantity = QUANTITIES[name]
    own, noise = lessons_for(name, lessons, defended)
    if not own:
        return None
    values = [quantity.difference(lesson.support, lesson.traits) for lesson in own]
    cases = quantity.cases(lesson.support for lesson in own)
    return Kriging(cases, np.array(values), np.array(noise), scales)


def has_defenders(material: Material) -> bool:
    """Whether any side has an advisor or an elephant: one taken off changes little."""
    return any(army.advisors or army.elephants for army in material.armies)


@dataclass(frozen=True)
class Knowledge:
    """What measured tables teach."""

    traits: Mapping[str, Traits]
    """By material."""
    lessons: Sequence[Lesson]
    """Of the tables whose supporting tables are measured, too."""

    @classmethod
    def of(cls, measured: Mapping[str, Measured]) -> Knowledge:
        """All that there is to learn."""
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
            needed = [child.name for child in children(materials[name])]
            if needed and all(child in measured for child in needed):
                support = Support(materials[name], traits)
                lessons.append(Lesson(support, traits[name], known.file_bytes, known.cpu_seconds))
        return cls(traits, lessons)

    def without(self, forgotten: Container[str]) -> Knowledge:
        """The same, had some materials never been measured, nor any that needs them."""
        return Knowledge(
            {name: traits for name, traits in self.traits.items() if name not in forgotten},
            [each for each in self.lessons if each.support.material.name not in forgotten],
        )


def children(material: Material) -> list[Material]:
    """The materials of its supporting tables."""
    return [child for child in material.captures().values() if child.needs_table]


class Estimates:
    """The costs of tables of one rule set, given a fit and the tables that are there."""

    def __init__(
        self,
        rules: Rules,
        fit: Fit,
        present: Mapping[str, Present] | None = None,
        knowledge: Knowledge | None = None,
    ) -> None:
        """Estimate from `knowledge`: None for that of the fit's own measurements."""
        self._rules = rules
        self._fit = fit
        self._present = present or {}
        self._given = knowledge
        self._learned: dict[tuple[str, bool], Kriging | None] = {}
        self._counted: dict[str, int] = {}

    @cached_property
    def _knowledge(self) -> Knowledge:
        """Made of all measurements, and so only where anything must be guessed."""
        return self._given or Knowledge.of(self._fit.measured)

    @cached_property
    def _traits(self) -> dict[str, Traits]:
        """By material, known or guessed so far."""
        return dict(self._knowledge.traits)

    @cached_property
    def _lowest_rate(self) -> float:
        """Guesses from guesses drift, where nothing was measured for many captures on."""
        lessons = self._knowledge.lessons
        rates = [each.traits.rate for each in lessons if each.cpu_seconds > CLOCK_SECONDS]
        return min(rates, default=-math.inf)

    def _difference(self, name: str, support: Support) -> float:
        defended = has_defenders(support.material)
        if (name, defended) not in self._learned:
            scales = self._fit.scales[name][defended]
            self._learned[name, defended] = learn(name, self._knowledge.lessons, defended, scales)
        learned = self._learned[name, defended]
        # Without a lesson the first guess stands.
        return float(learned(QUANTITIES[name].cases([support]))[0]) if learned else 0.0

    def _support(self, material: Material) -> Support:
        """The supporting tables of a material, each known or guessed."""
        for child in children(material):
            if child.name not in self._traits:
                self._traits[child.name] = Traits(
                    self.density(child), self.rate(child), self._outcomes(child)
                )
        return Support(material, self._traits)

    def density(self, material: Material) -> float:
        """The logarithm of bytes per placement under `wxf`, known or guessed."""
        if material.name in self._traits:
            return self._traits[material.name].density
        there = self._present.get(material.name)
        if there is not None:
            share = self._fit.share(material, self._rules).file_bytes
            return math.log(there.file_bytes / share / self.placements(material))
        support = self._support(material)
        return support.density + self._difference("density", support)

    def rate(self, material: Material) -> float:
        """The logarithm of CPU seconds over `usual_seconds` under `wxf`, known or guessed."""
        if material.name in self._traits:
            return self._traits[material.name].rate
        support = self._support(material)
        return max(self._lowest_rate, support.rate + self._difference("rate", support))

    def _outcomes(self, material: Material) -> Outcomes:
        """How the positions of a table that was not measured end, read or guessed."""
        there = self._present.get(material.name)
        if there is not None and there.outcomes is not None:
            return there.outcomes
        support = self._support(material)
        strong = support.strong.middle + self._difference("strong_wins", support)
        weak = support.weak.middle + self._difference("weak_wins", support)
        wins = min(max(strong, 0.0), 1.0), min(max(weak, 0.0), 1.0)
        entropy = math.exp(support.entropy + self._difference("entropy", support)) - LEAST_ENTROPY
        return Outcomes((wins[1], wins[0]) if support.stronger else wins, max(entropy, 0.0))

    def placements(self, material: Material) -> int:
        """Canonical placements of a material, counted once."""
        if material.name in self._fit.measured:
            return self._fit.measured[material.name].placements
        if material.name not in self._counted:
            self._counted[material.name] = count_placements(Layout.of(material))
        return self._counted[material.name]

    def disk_bytes(self, material: Material) -> int:
        """The size of the file."""
        if material.name in self._present:
            return self._present[material.name].file_bytes
        if material.name in self._fit.measured:
            size: float = self._fit.measured[material.name].file_bytes
        else:
            size = math.exp(self.density(material)) * self.placements(material)
        return round(size * self._fit.share(material, self._rules).file_bytes)

    def cpu_seconds(self, material: Material) -> float:
        """CPU seconds on the machine of the measurements, the program's start not counted."""
        if material.name in self._fit.measured:
            seconds = self._fit.measured[material.name].cpu_seconds
        else:
            seconds = math.exp(self.rate(material)) * usual_seconds(material)
        return seconds * self._fit.share(material, self._rules).seconds

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
        return median(ratios) if ratios else self._fit.wall_per_cpu
