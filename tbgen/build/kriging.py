"""Guesses from similar materials: a Gaussian process over armies and features.

    value  =  mean  +  slopes . linear features  +  what similar materials have in common

Two materials are as similar as their armies, whichever side has which: a factor for every piece
that one has more of. Some of it they share whatever their features are, the rest only where their
local features are close, too.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

ATTACKERS = 4
"""Of the six counts of an army, those before the defenders'."""


@dataclass(frozen=True)
class Scales:
    """How much of the variation is due to what, and how far it reaches."""

    slopes: float
    """The deviation of what one deviation of a linear feature changes."""
    common: float
    """The deviation of what similar armies share."""
    local: float
    """The deviation of what they share where the local features are close."""
    attackers: float
    """How many more attackers make another kind of army."""
    defenders: float
    """The same of defenders."""
    reach: float
    """How many deviations of all local features are far."""

    @property
    def values(self) -> tuple[float, ...]:
        """In the order of the fields."""
        return tuple(getattr(self, field.name) for field in fields(self))


@dataclass(frozen=True)
class Cases:
    """Materials, one a row, and what is known of them."""

    armies: Array
    """(n, 2, 6) pieces, attackers first: `Army.strength` of both sides."""
    linear: Array
    """(n, any)"""
    local: Array
    """(n, any)"""

    def where(self, chosen: NDArray[np.bool_]) -> Cases:
        """Some of the rows."""
        return Cases(self.armies[chosen], self.linear[chosen], self.local[chosen])


def _squared_distances(a: Array, b: Array) -> Array:
    """(rows of a, rows of b) squared distances between rows."""
    squares = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1)[None] - 2 * a @ b.T
    return np.maximum(squares, 0)


class _Standard:
    """Columns scaled to mean 0 and deviation 1, as they were among the known cases."""

    def __init__(self, columns: Array) -> None:
        deviation = columns.std(axis=0)
        # A column that does not vary there tells nothing elsewhere.
        self._factor = np.where(deviation > 1e-9, 1 / np.maximum(deviation, 1e-9), 0)
        self._mean = columns.mean(axis=0)

    def __call__(self, columns: Array) -> Array:
        scaled: Array = (columns - self._mean) * self._factor
        return scaled


class Kriging:
    """A value of known cases, carried over to others."""

    def __init__(self, cases: Cases, values: Array, noise: Array, scales: Scales) -> None:
        """Learn values (n,), each with the deviation of what no feature explains (n,)."""
        self._scales = scales
        self._linear, self._local = _Standard(cases.linear), _Standard(cases.local)
        self._cases = self._standard(cases)
        self._lowest, self._highest = float(values.min()), float(values.max())
        covariance = self._covariance(self._cases, self._cases) + np.diag(noise**2)
        self._inverse = np.linalg.inv(covariance)
        # The generalised least squares mean, of a prior that knows none.
        self._mean = float(self._inverse.sum(axis=0) @ values / self._inverse.sum())
        self._weights = self._inverse @ (values - self._mean)

    def __call__(self, cases: Cases) -> Array:
        """(n,) values, none beyond those that were learned."""
        covariance = self._covariance(self._standard(cases), self._cases)
        return np.clip(self._mean + covariance @ self._weights, self._lowest, self._highest)

    def left_out(self) -> tuple[Array, Array]:
        """For each known case, were it not known: (n,) its error, and the error's variance."""
        variance = 1 / np.diag(self._inverse)
        return self._weights * variance, variance

    def _standard(self, cases: Cases) -> Cases:
        return Cases(cases.armies, self._linear(cases.linear), self._local(cases.local))

    def _covariance(self, a: Cases, b: Cases) -> Array:
        s = self._scales
        far = s.reach**2 * max(1, a.local.shape[1])
        near = np.exp(-0.5 * _squared_distances(a.local, b.local) / far)
        alike = self._alikeness(a.armies, b.armies) * (s.common**2 + s.local**2 * near)
        covariance: Array = s.slopes**2 * a.linear @ b.linear.T + alike
        return covariance

    def _alikeness(self, a: Array, b: Array) -> Array:
        """(n, m), 1 for the same armies; the sides of a material may be exchanged."""
        widths = np.repeat(
            [self._scales.attackers, self._scales.defenders],
            [ATTACKERS, a.shape[2] - ATTACKERS],
        )

        def between(p: Array, q: Array) -> Array:
            return np.exp(-0.5 * _squared_distances(p / widths, q / widths))

        def itself(p: Array) -> Any:
            return 1 + np.exp(-((((p[:, 0] - p[:, 1]) / widths) ** 2).sum(axis=1)))

        both = between(a[:, 0], b[:, 0]) * between(a[:, 1], b[:, 1])
        both += between(a[:, 0], b[:, 1]) * between(a[:, 1], b[:, 0])
        alike: Array = both / np.sqrt(np.outer(itself(a), itself(b)))
        return alike
