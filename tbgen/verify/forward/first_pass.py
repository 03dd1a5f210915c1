# mypy: allow-untyped-calls
"""The passes over the rows of a table: every position against its children, then who may check.

    codes  --complete-->  ranks and counts  --repeat-->  whole planes  --judge-->  findings, lists
    ranks  --translate-->  marks  --settle, for either side-->  what is left of the checks

Marks are fewer than ranks, and a byte is enough for those of seventeen orders: planes of marks take
half of the room, and the other half is given back before anything is listed.

Ranges of rows do not depend on the threads, so that the same table gives the same findings
whatever their number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import compile_lock
from tbgen.compiling.trimming import trim_process
from tbgen.indexing import Side
from tbgen.indexing.layout import Layout
from tbgen.indexing.threads import thread_pool
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
    k_settle,
)
from tbgen.verify.forward.settle import (
    ANSWERS,
    LISTS,
    STEPS,
    Marks,
    Translation,
    forget_states,
    k_translate,
    make_marks,
)
from tbgen.verify.planes import give_back, narrowed
from tbgen.verify.report import Progress

RANGE_SLOTS = 1 << 19
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
    held_draws: Numbers
    """Draws that only checks hold, in every slot that a position has; none where checkers are
    listed."""
    counts: NDArray[np.int64]
    """int64 (2, places): how often each place of the palette is the value of a position, Red to
    move and Black to move."""


Result = TypeVar("Result")


class Passes:
    """The passes over the rows of one table, by several threads."""

    def __init__(self, arrays: Arrays, layout: Layout, threads: int, report: Progress) -> None:
        self._arrays = arrays
        self._layout = layout
        self._threads = threads
        self._report = report
        self.index = make_index(layout)
        self._step = max(1, RANGE_SLOTS // layout.inner_size)

    def prove(self, *, list_checks: bool) -> FirstPass:
        """Prove all rows, and put together what they found; makes the planes complete.

        list_checks : whether to list what may have to do with perpetual checks
        """
        arrays, index = self._arrays, self.index
        places = arrays.values.own.shape[1]

        def complete(row_0: int, row_1: int) -> NDArray[np.int64]:
            counts = np.zeros((len(Side), places), np.int64)
            k_complete(row_0, row_1, counts, self._row(), index, arrays)
            return counts

        def repeat(row_0: int, row_1: int) -> None:
            k_repeat(row_0, row_1, self._row(), index, arrays)

        def judge(row_0: int, row_1: int) -> Notes:
            nodes = 2 * (row_1 - row_0) * self._layout.inner_size
            of_checks, held_draws = (nodes, 0) if list_checks else (0, nodes)
            notes = Notes.make(of_checks, nodes, held_draws)
            k_judge(row_0, row_1, notes, self._row(), index, arrays)
            return notes.cut()

        with compile_lock():
            for work in (complete, repeat, judge):
                work(0, 0)
        trim_process()
        counts = sum(self._over_rows(complete, "legality"), np.zeros((len(Side), places), np.int64))
        self._over_rows(repeat, "images")
        notes = self._over_rows(judge, "positions")
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
            np.concatenate([each.held_draws for each in notes]),
            counts,
        )

    def settle(self, found: FirstPass) -> tuple[Arrays, FirstPass]:
        """Settle the perpetual checks of rows that were proven, as far as rows do (`settle`).

        Returns the arrays, whose planes hold no ranks from here on but what patterns ask for, and
        what is left to be looked at.

        Raises `LimitExceededError` for more marks than 16 bits tell apart.
        """
        settling = make_marks(self._arrays.values, seek_chases=self._arrays.seek_chases)
        self._arrays = self._arrays._replace(values=settling.values)
        translation = settling.of_ranks
        left: list[Notes] = []
        for winner in Side:
            self._translate(translation, winner)
            translation = settling.of_marks
            offender = Side(winner).other
            due = self._hold(found.held_draws[found.held_draws % 2 == offender], settling.held)
            left += self._settle_checks(winner, settling.marks, due)
        if self._arrays.ranks.itemsize > 1:
            values, numbers = forget_states(self._arrays.values)
            self._arrays = self._arrays._replace(values=values)
            self._translate(Translation(numbers, numbers), Side.RED)
        chasers = _join([found.chasers, *(notes.chasers for notes in left)])
        return self._arrays, replace(
            found,
            checkers=_join([notes.checkers for notes in left]),
            checked_wins=_join([notes.checked_wins for notes in left]),
            chasers=chasers,
            held_draws=chasers[:0],
        )

    def _hold(self, draws: Numbers, held: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Mark draws of O's that only checks hold; bool (2, rows), the rows of each side with any.

        held : int64 (marks,), as in `Settling`
        """
        due = np.zeros((len(Side), self._layout.rows), np.bool_)
        if len(draws):
            side = int(draws[0] % 2)
            at = self._arrays.tables[0, side] + draws // 2
            self._arrays.ranks[at] = held[self._arrays.ranks[at]]
            due[side, draws // 2 // self._layout.inner_size] = True
        return due

    def _settle_checks(self, winner: Side, marks: Marks, due: NDArray[np.bool_]) -> list[Notes]:
        """Make the passes for one side as W; what they list.

        due : bool (2, rows), inout, the rows that passes after a side's first have to do with
        """
        index, arrays, layout = self.index, self._arrays, self._layout
        left: list[Notes] = []
        for step in range(STEPS):
            mover = int(winner) if step in ANSWERS else 1 - int(winner)

            def settle(row_0: int, row_1: int, side: int = mover, step: int = step) -> Notes:
                nodes = (row_1 - row_0) * layout.inner_size if step in LISTS else 0
                notes = Notes.make(nodes, nodes)
                row = self._row()
                k_settle(row_0, row_1, side, step, due[side], notes, row, index, arrays, marks)
                return notes.cut()

            with compile_lock():
                settle(0, 0)
            left += self._over_rows(settle, "checks")
        return left

    def _translate(self, translation: Translation, winner: Side) -> None:
        """Replace what the planes hold, and what captures lead to."""
        arrays, slots = self._arrays, self._layout.slots
        dtype = translation.winner.dtype
        # What is narrower is written behind what is read.
        numbers, translated = arrays.ranks, narrowed(arrays.ranks, dtype)
        for side in Side:
            becomes = translation.winner if side == winner else translation.offender
            first = int(arrays.tables[0, side])
            for at in range(first, first + slots, RANGE_SLOTS):
                some = slice(at, min(at + RANGE_SLOTS, first + slots))
                written = np.empty(some.stop - some.start, dtype)
                k_translate(numbers[some], becomes, written)
                translated[some] = written
        ranks = translation.winner[arrays.supports.ranks]
        self._arrays = arrays._replace(
            ranks=give_back(numbers, dtype), supports=arrays.supports._replace(ranks=ranks)
        )

    def _row(self) -> Row:
        """A thread's row."""
        arrays = self._arrays
        return Row.make(self.index, len(arrays.men.pieces), arrays.ranks.dtype)

    def _over_rows(self, work: Callable[[int, int], Result], phase: str) -> list[Result]:
        """What a function returns for each range of rows."""
        rows = self._layout.rows
        starts = range(0, rows, self._step)
        ends = [min(start + self._step, rows) for start in starts]
        results = []
        with thread_pool(self._threads) as pool:
            for end, result in zip(ends, pool.map(work, starts, ends), strict=True):
                results.append(result)
                self._report(phase, end, rows)
        return results


def _join(parts: list[Numbers]) -> Numbers:
    """Lists of nodes as one, in ascending order."""
    nodes = np.concatenate(parts)
    nodes.sort()  # in place: of the chasers there are millions
    return nodes
