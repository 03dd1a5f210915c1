"""Features of a material, computed from its supporting tables, for estimates of its costs.

    captures  ->  `Traits` of the supporting tables  ->  features, and a first guess of the
                                                         material's own `Traits`

The share of positions that a side wins usually lies between the shares after losing a piece and
after capturing one. Where these two differ widely, outcomes are mixed and the table is large.
`estimate` learns the errors of the first guess.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material
from tbgen.indexing.squares import PieceType, Side
from tbgen.tables.statistics import TableStatistics

START_SECONDS, ROW_SECONDS = 0.04, 1.35e-5
"""Terms of `typical_seconds`: CPU seconds of every table, and for each row of its index."""

LEAST_ENTROPY = 0.05
"""Constant added to entropies, which may be 0, before taking their logarithm."""


@dataclass(frozen=True)
class Outcomes:
    """Outcomes of the positions of a table: shares of wins, and the entropy of the values."""

    wins: tuple[float, float]
    """Share of positions that the side to move wins, with the first and the second army to move."""
    entropy: float
    """Entropy of the value of a position, in nats; the mean of both sides to move."""

    @classmethod
    def of(cls, statistics: TableStatistics) -> Outcomes:
        """Return the outcomes of a finished table."""
        red, black = statistics.red_to_move, statistics.black_to_move
        legal = {Side.RED: red.legal, Side.BLACK: black.legal}
        shares = [line.positions / legal[line.side] for line in statistics.histogram]
        entropy = -sum(share * math.log(share) for share in shares) / 2
        return cls((red.wins / max(red.legal, 1), black.wins / max(black.legal, 1)), entropy)


@dataclass(frozen=True)
class Traits:
    """Measured or estimated properties of a table: relative size, relative time, outcomes."""

    density: float
    """Natural logarithm of the file's bytes per canonical placement (slots minus holes)."""
    rate: float
    """Natural logarithm of the build's CPU seconds divided by `typical_seconds` of its material."""
    outcomes: Outcomes

    def numbers(self, stronger: int) -> tuple[float, ...]:
        """Return density, rate, the wins of each army, and the logarithm of the entropy.

        stronger : index (0 or 1) of the army whose wins come first
        """
        wins, entropy = self.outcomes.wins, self.outcomes.entropy
        logarithm = math.log(LEAST_ENTROPY + entropy)
        return self.density, self.rate, wins[stronger], wins[1 - stronger], logarithm

    @classmethod
    def from_numbers(cls, numbers: Sequence[float], stronger: int) -> Traits:
        """Return traits with these `numbers`; wins are clipped to 0..1, entropy to 0 or more."""
        density, rate, strong, weak, entropy = numbers
        wins = min(max(strong, 0.0), 1.0), min(max(weak, 0.0), 1.0)
        outcomes = Outcomes(
            (wins[stronger], wins[1 - stronger]), max(math.exp(entropy) - LEAST_ENTROPY, 0.0)
        )
        return cls(density, rate, outcomes)


@dataclass(frozen=True)
class WinBounds:
    """Bounds of the share of positions that a side wins, from the shares in supporting tables.

    most : upper bound: the lowest share after capturing a piece, but at least `least`. If there is
        nothing to capture, it is 1 for a side with attackers, else `least`
    least : lower bound: the highest share after losing a piece; 0 if there is none to lose
    taking : mean share after capturing a piece; 0 if there is none to capture
    losing : mean share after losing a piece; 0 if there is none to lose
    """

    most: float
    least: float
    taking: float
    losing: float

    @property
    def middle(self) -> float:
        """Mean of `most` and `least`."""
        return (self.most + self.least) / 2


def typical_seconds(material: Material) -> float:
    """Return the typical CPU seconds of building a material's table, from its number of rows."""
    return START_SECONDS + ROW_SECONDS * Layout.of(material).rows


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0


class Support:
    """Supporting tables of a material; `traits` has their traits, by name of material."""

    def __init__(self, material: Material, traits: Mapping[str, Traits]) -> None:
        self.material = material
        self._by_capture: dict[tuple[int, PieceType], Traits] = {}
        """Traits of supporting tables, by the army that loses a piece and the kind of piece."""
        self._wins: dict[tuple[int, PieceType], tuple[float, float]] = {}
        """`Outcomes.wins` after each capture, in the order of `material.armies`; (0, 0) if the
        material after it needs no table.
        """
        for (army, kind), child in material.captures().items():
            self._wins[army, kind] = (0.0, 0.0)
            if child.needs_table:
                found = traits[child.name]
                first, second = found.outcomes.wins
                left = material.armies[0].without(kind) if army == 0 else material.armies[0]
                self._by_capture[army, kind] = found
                # The child's canonical name may exchange the armies.
                self._wins[army, kind] = (
                    (first, second) if child.armies[0] == left else (second, first)
                )
        bounds = self._bounds(0), self._bounds(1)
        self.stronger = int(bounds[1].middle > bounds[0].middle)
        """Index of the army with the higher `WinBounds.middle`; `strong` has its bounds."""
        self.strong, self.weak = bounds[self.stronger], bounds[1 - self.stronger]

    def _bounds(self, side: int) -> WinBounds:
        """Return the bounds of the wins of the army with index `side`."""
        losing = [wins[side] for (army, _), wins in self._wins.items() if army == side]
        taking = [wins[side] for (army, _), wins in self._wins.items() if army != side]
        armed = self.material.armies[side].attackers > 0
        least = max(losing, default=0.0)
        most = max(least, min(taking, default=float(armed)))
        return WinBounds(most, least, _mean(taking), _mean(losing))

    def first_guess(self) -> tuple[float, ...]:
        """Return `Traits.numbers` of the material, guessed from those of its supporting tables.

        The rate is the highest of any supporting table. Density and entropy are the highest after
        the capture of a defender or, without defenders, of any supporting table. The share of wins
        of each army is the middle of its bounds. There must be a supporting table.
        """
        found = self._by_capture
        nearest = [traits for (_, kind), traits in found.items() if not kind.is_attacker]
        nearest = nearest or list(found.values())
        entropy = max(traits.outcomes.entropy for traits in nearest)
        return (
            max(traits.density for traits in nearest),
            max(traits.rate for traits in found.values()),
            self.strong.middle,
            self.weak.middle,
            math.log(LEAST_ENTROPY + entropy),
        )

    def features(self) -> tuple[float, ...]:
        """Return the numbers from which a regression predicts the error of the first guess.

        The last twelve are the piece counts of both armies, the stronger army's first.
        """
        found = list(self._by_capture.values())
        density, rate, _, _, entropy = self.first_guess()
        strong, weak, armies = self.strong, self.weak, self.material.armies
        attackers = [army.attackers for army in armies]
        # A row takes longer where armies with rooks chase each other.
        facing = min(army.rooks for army in armies)
        return (
            density, _mean([traits.density for traits in found]),
            entropy, _mean([traits.outcomes.entropy for traits in found]),
            rate, _mean([traits.rate for traits in found]),
            strong.most, strong.least, strong.taking, strong.losing,
            weak.most, weak.least, weak.taking, weak.losing,
            math.log(Layout.of(self.material).rows),
            min(attackers), max(attackers), facing * (sum(attackers) - 2),
            *armies[self.stronger].strength, *armies[1 - self.stronger].strength,
        )  # fmt: skip
