"""What the supporting tables of a material tell about its own.

    captures  ->  `Traits` of the tables that they lead to  ->  features, and a first guess

A piece less on one side is a bound: who is left with fewer pieces hardly wins more. So what a side
wins lies between what it wins after losing a piece and what it wins after taking one, and where
these are far apart a table is mixed, and large. `kriging.py` makes a guess better by what is known
of similar materials.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material
from tbgen.indexing.squares import SQUARES, PieceType
from tbgen.tables.statistics import TableStatistics

Capture = tuple[int, PieceType]
"""The army that loses a piece, and the piece."""

START_SECONDS, ROW_SECONDS = 0.04, 1.35e-5
"""About what a table takes at least, and for each row: `Traits.rate` is relative to that."""

LEAST_ENTROPY = 0.05
"""Added to entropies, so that those of drawn tables have a logarithm."""


@dataclass(frozen=True)
class Outcomes:
    """How the positions of a table end."""

    wins: tuple[float, float]
    """By army: the share of the positions with it to move that it wins."""
    entropy: float
    """Of the value of a position, in nats; the mean of both sides to move."""

    @classmethod
    def of(cls, statistics: TableStatistics) -> Outcomes:
        """Those of a finished table."""
        entropy = 0.0
        for side, counts in (
            ("red", statistics.red_to_move),
            ("black", statistics.black_to_move),
        ):
            for line in statistics.histogram:
                if line.side == side:
                    share = line.positions / counts.legal
                    entropy -= share * math.log(share) / 2
        red, black = statistics.red_to_move, statistics.black_to_move
        return cls((red.wins / max(red.legal, 1), black.wins / max(black.legal, 1)), entropy)


@dataclass(frozen=True)
class Traits:
    """What is known or guessed of a table."""

    density: float
    """The logarithm of bytes per placement."""
    rate: float
    """The logarithm of CPU seconds over `usual_seconds`."""
    outcomes: Outcomes


@dataclass(frozen=True)
class Features:
    """Of one material: what a trait follows from, as a plane and near by; see `Kriging`."""

    linear: tuple[float, ...]
    local: tuple[float, ...]


@dataclass(frozen=True)
class Bounds:
    """What a side wins: `most` after taking a piece, `least` after losing one, and the means."""

    most: float
    least: float
    taking: float
    losing: float

    @property
    def middle(self) -> float:
        """Between the bounds."""
        return (self.most + self.least) / 2


def usual_seconds(material: Material) -> float:
    """CPU seconds of a table that takes neither more nor less than others of its size."""
    return START_SECONDS + ROW_SECONDS * Layout.of(material).rows


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0


class Support:
    """The supporting tables of a material; `traits` by name, of all that there are."""

    def __init__(self, material: Material, traits: Mapping[str, Traits]) -> None:
        self.material = material
        self._by_capture: dict[Capture, Traits] = {}
        self._wins: dict[Capture, tuple[float, float]] = {}
        for (army, kind), child in material.captures().items():
            self._wins[army, kind] = (0.0, 0.0)
            if child.needs_table:
                found = traits[child.name]
                first, second = found.outcomes.wins
                left = material.armies[0].without(kind) if army == 0 else material.armies[0]
                self._by_capture[army, kind] = found
                # The armies may have changed places.
                self._wins[army, kind] = (
                    (first, second) if child.armies[0] == left else (second, first)
                )
        bounds = self._bounds(0), self._bounds(1)
        self.stronger = int(bounds[1].middle > bounds[0].middle)
        """The army that wins more, by the bounds."""
        self.strong, self.weak = bounds[self.stronger], bounds[1 - self.stronger]
        self.densities = [found.density for found in self._by_capture.values()]
        self.rates = [found.rate for found in self._by_capture.values()]
        self._entropies = [found.outcomes.entropy for found in self._by_capture.values()]

    def _bounds(self, side: int) -> Bounds:
        losing = [wins[side] for (army, _), wins in self._wins.items() if army == side]
        taking = [wins[side] for (army, _), wins in self._wins.items() if army != side]
        armed = self.material.armies[side].has_attackers
        least = max(losing, default=0.0)
        most = max(least, min(taking, default=float(armed)))
        return Bounds(most, least, _mean(taking), _mean(losing))

    def _after_defender(self) -> list[Traits]:
        found = [t for (_, kind), t in self._by_capture.items() if not kind.is_attacker]
        return found or list(self._by_capture.values())

    @property
    def density(self) -> float:
        """That of the densest table after losing a defender, or of any if there is none."""
        return max(found.density for found in self._after_defender())

    @property
    def rate(self) -> float:
        """That of the slowest supporting table."""
        return max(self.rates)

    @property
    def entropy(self) -> float:
        """The logarithm of the largest after losing a defender, or of any if there is none."""
        return math.log(
            LEAST_ENTROPY + max(found.outcomes.entropy for found in self._after_defender())
        )

    def outcome_features(self) -> Features:
        """What density and outcomes follow from."""
        strong, weak = self.strong, self.weak
        return Features(
            linear=(
                self.density, _mean(self.densities), strong.taking, strong.losing, weak.taking,
                weak.losing, _mean(self._entropies),
            ),
            local=(strong.most, strong.least, weak.most, weak.least, self.entropy),
        )  # fmt: skip

    def time_features(self) -> Features:
        """What the rate follows from: a row takes longer where armies with rooks chase."""
        first, second = self.material.armies
        attackers = [sum(army.strength[:4]) for army in self.material.armies]
        found = (
            self.rate,
            _mean(self.rates),
            math.log(Layout.of(self.material).rows * SQUARES),
            float(self.material.both_armed),
            float(min(attackers)),
            float(max(attackers)),
            float(min(first.rooks, second.rooks) * (sum(attackers) - 2)),
        )
        return Features(found, found)
