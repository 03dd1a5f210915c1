# mypy: allow-untyped-calls
"""The first pass over a table: every position against its children, by rows.

    codes  --complete-->  ranks and counts  --repeat-->  whole planes  --judge-->  findings, lists

Ranges of rows do not depend on the threads, so that the same table gives the same findings
whatever their number.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import compile_lock
from tbgen.indexing import Side
from tbgen.indexing.layout import Layout
from tbgen.verify.arrays import Arrays, Numbers
from tbgen.verify.forward.complete import k_complete, k_repeat
from tbgen.verify.forward.index import Row, make_index
from tbgen.verify.forward.judge import (
    FINDINGS,
    FIRST_BEST,
    FIRST_NODE,
    FIRST_STORED,
    Notes,
    k_judge,
)
from tbgen.verify.report import Progress

RANGE_SLOTS = 1 << 17
"""Slots per task, about: short enough for progress, and for lists of nodes to stay small."""


@dataclass(frozen=True)
class FirstPass:
    """What the first pass found, over all ranges. All nodes ascend."""

    findings: int
    first: tuple[int, int, int] | None
    """Node, stored key and best key of the first finding."""
    checkers: Numbers
    """Nodes that may be offenders of perpetual checks: all of them are among these."""
    checked_wins: Numbers
    """Wins by rules of sides in check."""
    chasers: Numbers
    """Nodes that may be chasers: all of them are among these."""
    claims: Numbers
    """Direct wins of sides that are not in check."""
    counts: NDArray[np.int64]
    """int64 (2, places): how often each place of the palette is the value of a position, Red to
    move and Black to move."""


Result = TypeVar("Result")


def run_first_pass(arrays: Arrays, layout: Layout, threads: int, report: Progress) -> FirstPass:
    """Prove all rows, and put together what they found; makes the planes complete."""
    index = make_index(layout)
    places = arrays.values.own.shape[1]
    pieces = len(arrays.men.pieces)
    step = max(1, RANGE_SLOTS // layout.inner_size)
    starts = range(0, layout.rows, step)
    ends = [min(start + step, layout.rows) for start in starts]

    def row() -> Row:
        return Row.make(index, pieces, arrays.ranks.dtype)

    def complete(row_0: int, row_1: int) -> NDArray[np.int64]:
        counts = np.zeros((len(Side), places), np.int64)
        k_complete(row_0, row_1, counts, row(), index, arrays)
        return counts

    def repeat(row_0: int, row_1: int) -> None:
        k_repeat(row_0, row_1, row(), index, arrays)

    def judge(row_0: int, row_1: int) -> Notes:
        notes = Notes.make(2 * (row_1 - row_0) * layout.inner_size)
        k_judge(row_0, row_1, notes, row(), index, arrays)
        return notes.cut()

    with compile_lock():
        for work in (complete, repeat, judge):
            work(0, 0)

    with ThreadPoolExecutor(threads) as pool:

        def over_rows(work: Callable[[int, int], Result], phase: str) -> list[Result]:
            results = []
            for end, result in zip(ends, pool.map(work, starts, ends), strict=True):
                results.append(result)
                report(phase, end, layout.rows)
            return results

        counts = sum(over_rows(complete, "legality"), np.zeros((len(Side), places), np.int64))
        over_rows(repeat, "images")
        notes = over_rows(judge, "positions")
    results = np.array([each.result for each in notes])
    refuted = results[results[:, FINDINGS] > 0]
    first = None
    if len(refuted):
        node, stored, best = refuted[0, [FIRST_NODE, FIRST_STORED, FIRST_BEST]].tolist()
        first = node, stored, best
    return FirstPass(
        int(results[:, FINDINGS].sum()),
        first,
        np.concatenate([each.checkers for each in notes]),
        np.concatenate([each.checked_wins for each in notes]),
        np.concatenate([each.chasers for each in notes]),
        np.concatenate([each.claims for each in notes]),
        counts,
    )
