"""Random samples of the short wins of a table, one per order, and shares estimated from them.

The order of a win is 0 for mate or conversion, and above 0 for the rules of repetition. Every order
gets a sample of its own, since rare orders would be missed in a sample of all. A share of all short
wins is the mean of the shares by order, weighted by the number of wins of each order (`weighted`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tbgen.indexing import Side
from tbgen.probing.columns import TableColumns, columns_of_slots
from tbgen.tables import Outcome, TableFile


class Share(NamedTuple):
    """A share of some positions, 0 to 1, with its standard error."""

    mean: float
    error: float

    def __str__(self) -> str:
        """Format the share in percent with its error, as `97.5 +- 1.2 %`."""
        return f"{100 * self.mean:.1f} +- {100 * self.error:.1f} %"


def share_of(part: int, drawn: int, positions: int) -> Share:
    """Estimate the share of some positions that have a property.

    positions : number of all positions
    drawn, part : size of a random sample, and the number of its positions with the property

    The standard error is 0 if the sample is complete. It is computed as if the sample had one more
    position with the property and one more without: a sample of equal ones has an error, too.
    """
    likely = (part + 1) / (drawn + 2)
    left = (positions - drawn) / max(1, positions - 1)
    return Share(part / drawn, math.sqrt(likely * (1 - likely) / drawn * left))


def weighted(shares: Sequence[Share], weights: Sequence[float]) -> Share:
    """Return the weighted mean of shares, with its standard error."""
    parts = np.array(weights) / sum(weights)
    means, errors = np.array(shares).T
    return Share(float(parts @ means), math.sqrt(float(parts**2 @ errors**2)))


class ShortWins:
    """Positions of a table, either side to move, that are won in at most `plies` plies.

    A win of order 1 or above is counted in plies to its loop.
    """

    def __init__(self, file: TableFile, plies: int) -> None:
        self._file = file
        self._planes = [file.plane(side) for side in Side]
        lines = [
            line
            for line in file.statistics.histogram
            if line.outcome == Outcome.WIN and line.exact.plies <= plies
        ]
        self.positions: Counter[int] = Counter()
        """Number of positions of each order."""
        self._codes: dict[int, set[int]] = {}
        for line in lines:
            self.positions[line.order] += line.positions
            code = file.code_space.encode(line.exact)
            self._codes.setdefault(line.order, set()).add(code)

    def draw(self, order: int, count: int, seed: int) -> TableColumns:
        """Draw `count` different wins of an order at random, or all if there are fewer.

        Raises `ValueError` if the table has fewer than its statistics say.
        """
        codes = sorted(self._codes[order])
        slots = self._file.layout.slots
        keys = np.concatenate(
            [
                side * slots + np.flatnonzero(np.isin(plane, codes))
                for side, plane in zip(Side, self._planes, strict=True)
            ]
        )
        # Slots that hold no position have codes as well.
        keys = np.random.default_rng(seed).permutation(keys)
        wanted, at = min(count, self.positions[order]), 0
        found = [columns_of_slots(self._file, Side.RED, np.empty(0, np.int64))]
        while sum(part.rows for part in found) < wanted:
            some = keys[at : at + 4 * wanted]
            if not len(some):
                raise ValueError(f"the statistics of {self._file.path} count other positions")
            found += [
                columns_of_slots(self._file, side, some[some // slots == side] % slots)
                for side in Side
            ]
            at += len(some)
        together = TableColumns.concatenate(found)
        return together.take(np.random.default_rng(seed).permutation(together.rows)[:wanted])
