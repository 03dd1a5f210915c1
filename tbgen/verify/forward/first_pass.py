# mypy: allow-untyped-calls
"""The passes over the rows of a table: every position against its children, then who may check.

    codes  --complete-->  ranks and counts  --repeat-->  whole planes  --judge-->  findings, lists
    ranks  --begin-->  marks  --settle, for either side-->  what is left of the checks

Marks are mostly fewer than ranks: where ranks took two bytes and marks take one, half of the room
is given back before anything is listed.

Ranges of rows do not depend on the threads, so that the same table gives the same findings
whatever their number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import compile_lock
from tbgen.compiling.trimming import trim_process
from tbgen.indexing import Side
from tbgen.indexing.layout import Layout
from tbgen.indexing.squares import piece_side
from tbgen.indexing.threads import thread_pool
from tbgen.verify.arrays import LAST_STAKE, Arrays, ManyNumbers, Numbers
from tbgen.verify.forward.complete import COUNT_LINES, k_complete, k_repeat
from tbgen.verify.forward.index import Row, make_index
from tbgen.verify.forward.judge import (
    FINDINGS,
    FIRST_BEST,
    FIRST_NODE,
    FIRST_STORED,
    Listed,
    Notes,
    k_judge,
    k_settle,
)
from tbgen.verify.forward.kinds import k_begin
from tbgen.verify.forward.numbering import SideMarks, number_by_side
from tbgen.verify.forward.settle import (
    ANSWERS,
    FIRST_ANSWER,
    FIRST_OFFENCE,
    LISTS,
    STEPS,
    Marks,
    Scope,
    forget_states,
    k_translate,
    make_marks,
)
from tbgen.verify.planes import narrow, widened
from tbgen.verify.ranks import ASKS_ATTACKS, ASKS_CHECKS, ASKS_HUNG, CAPTURE
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
    chasers: ManyNumbers
    """Nodes that may be chasers: all of them are among these."""
    claims: Numbers
    """Direct wins of sides that are not in check."""
    held_draws: ManyNumbers
    """Draws that only checks hold, in every slot that a position has; none where checkers are
    listed."""
    counts: NDArray[np.int64]
    """int64 (2, places): how often each place of the palette is the value of a position, Red to
    move and Black to move."""


_SOME_DRAWS = 1 << 16
"""Draws that are marked at a time."""

Result = TypeVar("Result")
Nodes = TypeVar("Nodes", NDArray[np.int64], NDArray[np.uint32] | NDArray[np.int64])


class Passes:
    """The passes over the rows of one table, by several threads."""

    def __init__(self, arrays: Arrays, layout: Layout, threads: int, report: Progress) -> None:
        self._arrays = arrays
        self._layout = layout
        self._threads = threads
        self._report = report
        self.index = make_index(layout)
        self._dtype = np.uint32 if len(Side) * layout.slots < 1 << 32 else np.int64

    def prove(self, *, list_checks: bool) -> FirstPass:
        """Prove all rows, and put together what they found; makes the planes complete.

        list_checks : whether to list what may have to do with perpetual checks
        """
        arrays, index = self._arrays, self.index
        places = arrays.values.own.shape[2]

        def complete(row_0: int, row_1: int) -> NDArray[np.int64]:
            counts = np.zeros((len(Side), COUNT_LINES, places), np.int64)
            k_complete(row_0, row_1, counts, self._row(), index, arrays)
            return counts.sum(axis=1)

        def repeat(row_0: int, row_1: int) -> None:
            k_repeat(row_0, row_1, self._row(), index, arrays)

        def judge(row_0: int, row_1: int) -> Listed:
            nodes = 2 * (row_1 - row_0) * self._layout.inner_size
            of_checks, held_draws = (nodes, 0) if list_checks else (0, nodes)
            notes = Notes.make(of_checks, nodes, held_draws)
            k_judge(row_0, row_1, notes, self._row(), index, arrays)
            return notes.cut(self._dtype)

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
        values, seek_chases = self._arrays.values, self._arrays.seek_chases
        settling = number_by_side(
            make_marks(values, seek_chases=seek_chases, scope=self._list_scope())
        )
        claims = self._begin(settling)
        left: list[Listed] = []
        for winner in Side:
            if winner != Side.RED:
                self._translate(settling.of_marks)
            offender = Side(winner).other
            draws = found.held_draws[found.held_draws % 2 == offender]
            due = self._hold(offender, draws, settling.held[offender])
            left += self._settle_checks(winner, settling.marks[winner], due)
        if self._arrays.ranks.itemsize > 1:
            values, numbers = forget_states(self._arrays.values)
            self._arrays = self._arrays._replace(values=values)
            self._translate(numbers)
        checkers = _join([notes.checkers for notes in left])
        checked_wins = _join([notes.checked_wins for notes in left])
        chased = [found.chasers, *(notes.chasers for notes in left)]
        del left
        chasers = _join(chased)
        return self._arrays, replace(
            found,
            # Under rules that know no chases, nobody wins by one.
            findings=found.findings + (0 if self._arrays.seek_chases else len(claims)),
            checkers=checkers,
            checked_wins=checked_wins,
            chasers=chasers,
            claims=claims,
            held_draws=chasers[:0],
        )

    def _begin(self, settling: SideMarks) -> Numbers:
        """Turn ranks into marks, with Red as W; the direct wins of sides that are not in check."""
        index, arrays, layout = self.index, self._arrays, self._layout
        beginning, dtype = settling.of_ranks, settling.of_ranks.becomes.dtype
        if dtype.itemsize > arrays.ranks.itemsize:
            self._arrays = arrays = arrays._replace(ranks=widened(arrays.ranks))
        beginning = beginning._replace(
            becomes=beginning.becomes.astype(arrays.ranks.dtype),
            asks=beginning.asks & self._list_matters(),
        )

        def begin(row_0: int, row_1: int) -> Listed:
            notes = Notes.make(0, 2 * (row_1 - row_0) * layout.inner_size)
            k_begin(row_0, row_1, beginning, notes, self._row(), index, arrays)
            return notes.cut(self._dtype)

        with compile_lock():
            begin(0, 0)
        positions = np.count_nonzero(arrays.ranks)
        notes = self._over_rows(begin, "kinds")
        # What has no mark would be no position to the passes, and nothing would be asked of it.
        if np.count_nonzero(arrays.ranks) != positions:
            raise RuntimeError("positions have no marks: which may occur is not known rightly")
        supports = arrays.supports
        ranks = np.empty(supports.ranks.shape, dtype)
        for here in Side:
            ranks[:, :, here] = settling.of_ranks.becomes[here, CAPTURE][supports.ranks[:, :, here]]
        self._arrays = arrays._replace(
            ranks=narrow(arrays.ranks, dtype),
            supports=supports._replace(ranks=ranks),
            values=settling.values,
        )
        return _join([each.claims for each in notes])

    def _list_matters(self) -> NDArray[np.uint8]:
        """uint8 (2, 1): what marks of each side may depend on: not on attacks of which none wins by
        rules."""
        matters = [ASKS_CHECKS | ASKS_HUNG | (ASKS_ATTACKS if stake else 0)
                   for stake in self._list_scope().stakes]  # fmt: skip
        return np.array(matters, np.uint8)[:, None]

    def _list_scope(self) -> Scope:
        """Which wins by rules may come about by captures, or threaten one."""
        arrays = self._arrays
        captured = np.zeros(arrays.values.keys.shape, np.bool_)
        stakes = [0, 0]
        for side in Side:
            captured[side, arrays.supports.ranks[:, :, side]] = True
            for stake, code in zip(arrays.stakes, arrays.men.pieces.tolist(), strict=True):
                if piece_side(code) != side:
                    stakes[side] = max(stakes[side], int(stake & LAST_STAKE))
        return Scope(captured, stakes)

    def _hold(self, side: Side, draws: ManyNumbers, held: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Mark draws of O's that only checks hold; bool (2, rows), the rows of each side with any.

        side : O's; held : int64 (marks,), as in `Settling`
        """
        due = np.zeros((len(Side), self._layout.rows), np.bool_)
        marks, tables = self._arrays.ranks, self._arrays.tables
        for first in range(0, len(draws), _SOME_DRAWS):
            slots = draws[first : first + _SOME_DRAWS].astype(np.int64) // 2
            at = tables[0, side] + slots
            marks[at] = held[marks[at]]
            due[side, slots // self._layout.inner_size] = True
        return due

    def _settle_checks(self, winner: Side, marks: Marks, due: NDArray[np.bool_]) -> list[Listed]:
        """Make the passes for one side as W; what they list.

        due : bool (2, rows), inout, the rows that passes after a side's first have to do with
        """
        index, arrays, layout = self.index, self._arrays, self._layout
        left: list[Listed] = []
        for step in range(STEPS):
            mover = int(winner) if step in ANSWERS else 1 - int(winner)

            def settle(row_0: int, row_1: int, side: int = mover, step: int = step) -> Listed:
                nodes = (row_1 - row_0) * layout.inner_size if step in LISTS else 0
                notes = Notes.make(nodes, nodes)
                row = self._row()
                k_settle(row_0, row_1, side, step, due[side], notes, row, index, arrays, marks)
                return notes.cut(self._dtype)

            with compile_lock():
                settle(0, 0)
            # Later passes have to do with few of the rows.
            is_first = step in (FIRST_OFFENCE, FIRST_ANSWER)
            left += self._over_rows(settle, "checks", RANGE_SLOTS if is_first else 8 * RANGE_SLOTS)
        return left

    def _translate(self, becomes: NDArray[Any]) -> None:
        """Replace the marks of the planes, and those of what captures lead to.

        becomes : uint8 or uint16 (2, marks), by side to move
        """
        arrays, slots = self._arrays, self._layout.slots
        marks, captured = arrays.ranks, arrays.supports.ranks.copy()
        for side in Side:
            captured[:, :, side] = becomes[side, captured[:, :, side]]
            first = int(arrays.tables[0, side])
            k_translate(marks[first : first + slots], becomes[side].astype(marks.dtype))
        self._arrays = arrays._replace(
            ranks=narrow(marks, becomes.dtype),
            supports=arrays.supports._replace(ranks=captured.astype(becomes.dtype)),
        )

    def _row(self) -> Row:
        """A thread's row."""
        arrays = self._arrays
        return Row.make(self.index, len(arrays.men.pieces), arrays.ranks.dtype)

    def _over_rows(
        self, work: Callable[[int, int], Result], phase: str, slots: int = RANGE_SLOTS
    ) -> list[Result]:
        """What a function returns for each range of rows.

        slots : of a range, about
        """
        rows, step = self._layout.rows, max(1, slots // self._layout.inner_size)
        starts = range(0, rows, step)
        ends = [min(start + step, rows) for start in starts]
        results = []
        with thread_pool(self._threads) as pool:
            for end, result in zip(ends, pool.map(work, starts, ends), strict=True):
                results.append(result)
                self._report(phase, end, rows)
        return results


def _join(parts: list[Nodes]) -> Nodes:
    """Lists of nodes as one, in ascending order; `parts` is emptied.

    Of the chasers there are millions: each part is gone before the next one is copied, and they are
    sorted in place.
    """
    nodes: Nodes = np.empty(sum(map(len, parts)), parts[0].dtype)
    at = len(nodes)
    while parts:
        part = parts.pop()
        at -= len(part)
        nodes[at : at + len(part)] = part
    nodes.sort()
    return nodes
