"""Tables in memory with values that a test may change, for the tests of the proof.

A slot is the index of a position, and a code is the number by which a table stores a value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tbgen.indexing import Position, Side
from tbgen.indexing.layout import Layout
from tbgen.retrograde.solution import Solution
from tbgen.tables.blocks import NumbersOf
from tbgen.tables.codes import CodeSpace, Value
from tbgen.tables.names import Metric
from tbgen.verify.arrays import Arrays, CapturePlane, Table
from tbgen.verify.index import Index
from tbgen.verify.passes import Compared, ForcedDraws, Passes
from tbgen.verify.report import no_progress


@dataclass
class Planted:
    """Copy of a table, in which a test plants wrong values.

    `planes` has, for Red and for Black to move, an array of the codes by slot, 0 for no position.
    The class has the interface by which the proof reads a table (`verify.arrays.Table`).
    """

    layout: Layout
    code_space: CodeSpace
    metric: Metric
    planes: list[np.ndarray]

    @classmethod
    def of(cls, table: Solution) -> Planted:
        planes = [table.plane(side).copy() for side in Side]
        return cls(table.layout, table.code_space, table.metric, planes)

    def plane(self, side: int) -> np.ndarray:
        return self.planes[side]

    def occurring_codes(self, side: int) -> list[int]:
        return np.flatnonzero(np.bincount(self.planes[side])).tolist()

    def tiles(self, side: int) -> int:
        return 1

    def tile(self, side: int, number: int, numbers_of: NumbersOf) -> list[tuple[int, np.ndarray]]:
        codes, places = np.unique(self.planes[side], return_inverse=True)
        return [(0, numbers_of(codes).take(places))]

    def position(self, side: int, slot: int) -> Position:
        position = self.layout.position(slot, Side(side))
        assert position is not None
        return position

    def with_value(self, value: Value) -> list[tuple[int, int]]:
        """List (side to move, slot) of the positions that have a value in the table."""
        code = self.code_space.encode(value)
        return [
            (side, int(slot)) for side in Side for slot in np.flatnonzero(self.plane(side) == code)
        ]

    def plant(self, side: int, slot: int, value: Value) -> None:
        self.planes[side][slot] = self.code_space.encode(value)


def recoded(table: Solution, space: CodeSpace) -> Planted:
    """Return a copy of a table with the same values, in the codes of `space`."""
    copy = Planted.of(table)
    own = table.code_space
    codes = np.zeros(own.top + 1, space.dtype)
    for code in np.unique(np.concatenate(copy.planes)):
        codes[code] = space.encode(own.decode(int(code))) if code else 0
    return Planted(table.layout, space, table.metric, [codes[plane] for plane in copy.planes])


def completed(
    table: Table, arrays: Arrays, captures: Iterator[CapturePlane]
) -> tuple[Index, Compared, ForcedDraws]:
    """Run the passes of a proof on a table in memory; return its index and the passes' results.

    The passes fill in the values of mirror images in `arrays`, and compare the value of every
    position with the values after its moves. The results are wrong values and direct wins
    (`Compared`), and draws that only checks or attacks hold (`ForcedDraws`).

    arrays, captures : values of the table, and planes of its supporting tables, as loaded by
        `verify.arrays.gather`
    """
    passes = Passes(table.layout, 1, no_progress)
    return passes.index, *passes.compare(arrays, captures)


def canonical(nodes: np.ndarray, layout: Layout) -> np.ndarray:
    """Return those of the nodes (2 * slot + side to move) whose slot is no hole of the index.

    A position and its mirror image may have two slots, of which only one is used for both. The
    other one is a hole.
    """
    return nodes[layout.squares_of_slots(nodes // 2)[1]]
