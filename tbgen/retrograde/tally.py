"""How often each code of a plane occurs, and where first: each thread counts, and all are added."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from tbgen.jit import borrowing_kernel
from tbgen.tables.blocks import Codes
from tbgen.tables.codes import CodeSpace


class CodeCount(NamedTuple):
    """How often a code occurs."""

    positions: int
    first: int
    """The first slot that has it."""


@borrowing_kernel
def _k_count(codes, slot_0, counts, firsts):
    """Count codes, and find the first slot of each; counts, firsts int64 (codes,), in/out."""
    for i in range(codes.size):
        code = codes[i]
        counts[code] += 1
        if firsts[code] > slot_0 + i:
            firsts[code] = slot_0 + i


class Tally:
    """What one thread has counted; codes of up to two bytes in arrays, longer ones by sorting."""

    def __init__(self, code_space: CodeSpace) -> None:
        self._found: dict[int, CodeCount] = {}
        self._arrays = None
        if code_space.width <= 2:
            codes = code_space.top + 1
            self._arrays = np.zeros(codes, np.int64), np.full(codes, np.iinfo(np.int64).max)

    def add(self, slot_0: int, codes: Codes) -> None:
        """Count the codes of the slots from `slot_0` on."""
        if self._arrays is not None:
            _k_count(codes, slot_0, *self._arrays)
            return
        values, firsts, counts = np.unique(codes, return_index=True, return_counts=True)
        lists = values.tolist(), counts.tolist(), (firsts + slot_0).tolist()
        for code, positions, first in zip(*lists, strict=True):
            self._found[code] = _sum(self._found.get(code), CodeCount(positions, first))

    @property
    def found(self) -> dict[int, CodeCount]:
        """What has been counted, by code."""
        if self._arrays is None:
            return self._found
        counts, firsts = self._arrays
        return {
            int(code): CodeCount(int(counts[code]), int(firsts[code]))
            for code in np.flatnonzero(counts)
        }


def added(tallies: Iterable[Tally]) -> dict[int, CodeCount]:
    """All counts together, by code; 0, no position, left out."""
    total: dict[int, CodeCount] = {}
    for tally in tallies:
        for code, count in tally.found.items():
            if code:
                total[code] = _sum(total.get(code), count)
    return dict(sorted(total.items()))


def _sum(one: CodeCount | None, other: CodeCount) -> CodeCount:
    if one is None:
        return other
    return CodeCount(one.positions + other.positions, min(one.first, other.first))
