"""The sweep (predecessors of a set of positions): its variants give equal results.

There are two ways to gather and two ways to find escapes. Whole tables test the results
(tests/retrograde/test_naive.py).
"""

from __future__ import annotations

import numpy as np
import pytest

from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material
from tbgen.indexing.squares import Side
from tbgen.retrograde.legality import find_legal
from tbgen.rows.frame import make_frame
from tbgen.rows.sets import Frontier, Rows, Sets
from tbgen.rows.sweep import Sweeper
from tbgen.rows.workers import Workers

MATERIALS = ["KRKN", "KCKP", "KRRK", "KNPKA", "KPKAB"]


class Bench:
    """The legal positions of a material, a sweeper, and random sets to sweep."""

    def __init__(self, name: str) -> None:
        layout = Layout.of(Material.parse(name))
        self.frame = make_frame(layout)
        self.workers = Workers(1)
        self.legal = [find_legal(self.frame, side, self.workers) for side in Side]
        self.sweeper = Sweeper(self.frame, self.workers)
        self.rng = np.random.default_rng(len(name))

    def some(self, side: int, share: float) -> Rows:
        """Return a random set of legal positions.

        A share of the rows has any, about half of their legal ones.
        """
        rows = self.legal[side].copy()
        rows[self.rng.random(len(rows)) >= share] = 0
        rows &= self.rng.integers(0, 1 << 45, rows.shape, np.uint64) | np.uint64(1 << 63)
        return rows

    def front(self, rows: Rows) -> Frontier:
        """Return a set of positions as a frontier."""
        front = self.empty()
        self.sweeper.sweep(0, None, rows, front)
        return front

    def empty(self) -> Frontier:
        """Return an empty frontier."""
        return Sets(self.frame, self.workers).empty_frontier()

    def found(
        self, side: int, front: Rows | None, within: Rows, escape: Rows | None = None
    ) -> Rows:
        """Return the result of one sweep."""
        found = self.empty()
        source = None if front is None else self.front(front)
        self.sweeper.sweep(side, source, within, found, escape)
        return found.rows


@pytest.fixture(params=MATERIALS)
def bench(request: pytest.FixtureRequest) -> Bench:
    return Bench(request.param)


@pytest.mark.parametrize("side", [0, 1])
def test_predecessors_agree_with_those_of_parts(bench: Bench, side: int) -> None:
    many = bench.some(1 - side, 0.5)
    together = bench.found(side, many, bench.legal[side])
    apart = np.zeros_like(together)
    part_of = bench.rng.integers(0, 40, len(many))
    for part in range(40):
        few = np.where((part_of == part)[:, None], many, np.uint64(0))
        apart |= bench.found(side, few, bench.legal[side])
    assert together.any()
    assert np.array_equal(together, apart)


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("share", [0.02, 0.7, None])
def test_escapes_agree_with_those_of_parts(bench: Bench, side: int, share: float | None) -> None:
    escape, within = bench.some(1 - side, 0.05), bench.legal[side]
    front = None if share is None else bench.some(1 - side, share)
    if front is not None:
        within = bench.found(side, front, within)
    together = bench.found(side, front, within, escape)
    few = within & bench.some(side, 0.05)
    assert together.any()
    assert (within & ~together).any()
    assert np.array_equal(together & few, bench.found(side, front, few, escape))


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("share", [0.001, 0.5])
def test_sweeping_a_frontier_sweeps_its_rows(bench: Bench, side: int, share: float) -> None:
    within, escape = bench.front(bench.some(side, share)), bench.some(1 - side, 0.05)
    found = bench.empty()
    bench.sweeper.sweep(side, None, within, found, escape)
    assert np.array_equal(found.rows, bench.found(side, None, within.rows, escape))
