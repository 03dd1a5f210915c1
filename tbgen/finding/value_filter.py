"""Selection of the slots of a table by their values, a chunk at a time, in NumPy.

A selected slot may be unused or have an illegal position: the caller must test that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbgen.finding.query import Query
from tbgen.indexing import Side
from tbgen.tables import TableFile
from tbgen.tables.outcomes import DRAW, outcomes_of

CodesOf = Callable[[Side, NDArray[np.int64]], NDArray[Any]]
"""Function from a side to move and slots (n,) to the codes of the slots (n,)."""


class ValueFilter:
    """Selection of the slots of a table whose values match a query.

    Side to move, value, `Query.zugzwang` and `Query.differs` are tested, no other conditions.

    others : tables of the same material under other rule sets, for `Query.differs`
    codes : faster replacement of `file.codes`, or None
    """

    def __init__(
        self,
        file: TableFile,
        query: Query,
        others: tuple[TableFile, ...] = (),
        codes: CodesOf | None = None,
    ) -> None:
        self._file, self._query, self._others = file, query, others
        self.codes = codes or file.codes
        """Function that returns the codes of slots with a given side to move."""
        lines = query.lines(file.statistics)
        self._wanted = {
            side: np.array([file.code_space.encode(one.exact) for one in lines if one.side == side])
            for side in Side
        }

    @property
    def sides(self) -> list[Side]:
        """Sides to move for which the table's statistics have a value that the query wants."""
        return [side for side in Side if len(self._wanted[side])]

    def select(self, side: Side, slots: NDArray[np.int64], codes: NDArray[Any]) -> NDArray[np.intp]:
        """Return the indices, ascending, of the slots (n,) whose `codes` (n,) match the query."""
        chosen = np.flatnonzero(_are_among(codes, self._wanted[side], self._file.code_space.top))
        if self._query.zugzwang:
            own = outcomes_of(codes[chosen], self._file.code_space)
            opposite = self.codes(side.other, slots[chosen])
            other = outcomes_of(opposite, self._file.code_space)
            # Outcomes are numbers symmetric about DRAW: the sum is below that of two draws if
            # having the move is worse for each side than not having it.
            chosen = chosen[own.astype(np.int8) + other.astype(np.int8) < 2 * DRAW]
        if self._query.differs:
            own = outcomes_of(codes[chosen], self._file.code_space)
            apart = np.zeros(len(chosen), np.bool_)
            for file in self._others:
                apart |= outcomes_of(file.codes(side, slots[chosen]), file.code_space) != own
            chosen = chosen[apart]
        return chosen


def _are_among(codes: NDArray[Any], wanted: NDArray[Any], top: int) -> NDArray[np.bool_]:
    """Return bool (n,): whether each code is in `wanted`; `top` is the table's greatest code."""
    if top > 1 << 16:
        return np.isin(codes, wanted)
    known = np.zeros(top + 1, np.bool_)
    known[wanted.astype(np.int64)] = True
    return known.take(codes)
