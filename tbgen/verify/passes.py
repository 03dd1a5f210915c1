# mypy: allow-untyped-calls
"""The passes over a table: whole planes, every position against its moves, checks by rows.

    places  --complete-->  numbers  --judge-->  findings, lists  --settle-->  marks, few questions

Each task has some leads, which do not depend on the threads, so that a table gives the same
findings whatever their number.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import compile_lock
from tbgen.indexing import Side
from tbgen.indexing.layout import Layout
from tbgen.indexing.systems import trim_process
from tbgen.indexing.threads import thread_pool
from tbgen.verify.acceleration import LANES, MASKS
from tbgen.verify.arrays import NOBODY, Arrays, ManyNumbers, Numbers
from tbgen.verify.complete import k_complete
from tbgen.verify.index import BoardState, make_index
from tbgen.verify.judge import (
    CHASERS,
    CLAIMS,
    COUNTS,
    FINDINGS,
    FIRST_BEST,
    FIRST_NODE,
    FIRST_STORED,
    HELD_DRAWS,
    Look,
    k_judge,
)
from tbgen.verify.marks import (
    CHECK,
    CLAIM,
    CLAIM_EARLY,
    DRAW_CHECK,
    DRAW_CUT,
    DRAW_FREE,
    DRAW_HELD,
    DRAW_HELD_CHECKED,
    EARLY,
    EARLY_CHECKED,
    HELD,
    HELD_CHECKED,
    LEFT,
    SET,
    SET_CHECKED,
    SHARED,
    Marks,
    k_mark,
    k_settle,
    make_marks,
)
from tbgen.verify.moves import Ranges, cut, narrowed, stored_keys
from tbgen.verify.planes import BYTE, widened
from tbgen.verify.report import Progress
from tbgen.verify.values import DECIDED_BY_RULES

_TASK_SLOTS = 1 << 21
"""Slots of a task, about."""

_ROUNDS = 100
"""Passes after which what is in question is left to the scalar rules."""

Result = TypeVar("Result")


@dataclass(frozen=True)
class Found:
    """Findings of the passes. Nodes ascend."""

    findings: int
    first: tuple[int, int, int] | None
    """Node, stored key and best key of the first finding."""
    counts: NDArray[np.int64]
    """int64 (2, places): how often each place of the palette is the value of a position."""
    check_claims: Numbers
    """Direct wins of sides in check."""
    chase_claims: tuple[Numbers, Numbers]
    """Those of others, and their values."""


class Suspects(NamedTuple):
    """Positions that may have to do with patterns."""

    offenders: Ranges
    """Possible offenders of a pattern of checks that is not claimed, or not yet."""
    checked: Numbers
    """Claims of checks that are to be looked at."""
    chasers: Ranges
    """Possible chasers."""


class Passes:
    """The passes over one table, by several threads."""

    def __init__(
        self,
        arrays: Arrays,
        layout: Layout,
        threads: int,
        report: Progress,
        *,
        plain: bool = False,
    ) -> None:
        self.arrays = arrays
        self.index = make_index(layout)
        self._layout, self._threads, self._report, self._plain = layout, threads, report, plain
        self._hung = np.zeros((2, layout.slots // 8 + 1), np.uint8)
        # Draws that only checks hold, in every slot of theirs; nodes that may be chasers.
        self.held: ManyNumbers = NOBODY
        self.chasers: ManyNumbers = NOBODY

    def prove(self, keys: list[Numbers]) -> Found:
        """Fill the planes, and prove every position.

        keys : of the places of the palette, by side
        """
        arrays, index = self.arrays, self.index
        count = arrays.values.own.shape[2]
        places = np.zeros((2, 2, count), np.bool_)
        for side, own in enumerate(keys):
            places[0, side, : len(own)] = (own >= 0) & (own <= DECIDED_BY_RULES)
            places[1, side, : len(own)] = (own > 0) & (own <= DECIDED_BY_RULES)
        places &= arrays.seek_patterns
        places[1] &= bool(arrays.stakes.any())

        def complete(lead_0: int, lead_1: int) -> NDArray[np.int64]:
            counts = np.zeros((2, count), np.int64)
            masks, buffer = (np.zeros(shape, np.uint8) for shape in
                             ((MASKS, index.row_slots), (index.row_slots,)))  # fmt: skip
            look = self._look(places, 0)
            k_complete(
                lead_0, lead_1, self._plain, counts, masks, buffer, look, BoardState.make(index),
                index, arrays,
            )  # fmt: skip
            return counts

        def judge(lead_0: int, lead_1: int) -> Look:
            state, best, kept = self._buffers()
            look = self._look(places, 2 * (lead_1 - lead_0) * index.lead_slots)
            k_judge(lead_0, lead_1, self._plain, look, best, kept, state, index, arrays)
            return look._replace(
                held=narrowed(look.held[: look.counts[HELD_DRAWS]], index.slots),
                chasers=narrowed(look.chasers[: look.counts[CHASERS]], index.slots),
                claims=narrowed(look.claims[: look.counts[CLAIMS]], index.slots),
            )

        with compile_lock():
            complete(0, 0)
            judge(0, 0)
        trim_process()
        counts = sum(self._over_leads(complete, "legality"), np.zeros((2, count), np.int64))
        looks = self._over_leads(judge, "positions")
        figures = np.array([look.counts for look in looks])
        refuted = figures[figures[:, FINDINGS] > 0]
        first = None
        if len(refuted):
            node, stored, best = refuted[0, [FIRST_NODE, FIRST_STORED, FIRST_BEST]].tolist()
            first = node, stored, best
        claims = np.sort(np.concatenate([look.claims for look in looks])).astype(np.int64)
        checked = arrays.ranks[(1 - claims % 2) * index.slots + claims // 2] == 0
        of_chases = claims[~checked]
        self.held = np.concatenate([look.held for look in looks])
        self.chasers = np.concatenate([look.chasers for look in looks])
        return Found(
            int(figures[:, FINDINGS].sum()), first, counts,
            claims[checked], (of_chases, stored_keys(of_chases, arrays)),
        )  # fmt: skip

    def suspects(self) -> Suspects:
        """Turn numbers into marks; who may have to do with a pattern, as far as rows can tell."""
        arrays, index = self.arrays, self.index
        marks = make_marks(arrays.values.keys)
        if marks.role.shape[1] > BYTE and arrays.ranks.itemsize == 1:
            arrays = arrays._replace(ranks=widened(arrays.ranks))
        with compile_lock():
            k_mark(0, 0, self._hung, BoardState.make(index), index, arrays, marks)
        self._over_leads(
            lambda a, b: k_mark(a, b, self._hung, BoardState.make(index), index, arrays, marks),
            "marks",
        )
        del self._hung
        supports = arrays.supports
        ranks = np.empty(supports.ranks.shape, arrays.ranks.dtype)
        drawn = arrays.values.drawn.copy()
        for here in Side:
            of_captures = marks.of_ranks[here, SHARED]
            ranks[:, :, here] = of_captures[supports.ranks[:, :, here]]
            drawn[here] = of_captures[drawn[here]]
        settled = np.zeros(marks.keys.shape, np.bool_)
        values = arrays.values._replace(keys=marks.keys, settled=settled, drawn=drawn)
        self.arrays = arrays._replace(supports=supports._replace(ranks=ranks), values=values)
        questions, chasers, offenders = [NOBODY], [self.chasers], [NOBODY]
        for winner in Side:
            held = self.held[self.held % 2 != winner] // 2
            asked, losing, alive = self._settle_side(winner, held, marks)
            questions.append(asked)
            chasers.append(narrowed(losing, index.slots))
            offenders.append(alive)
        checked = np.unique(np.concatenate(questions))
        roles = [SET, EARLY]
        if not len(checked):
            roles += [SET_CHECKED, EARLY_CHECKED]
        else:
            rows = np.ones(index.slots // index.row_slots, np.bool_)
            offenders += [self._list_alive(side, marks, [SET_CHECKED, EARLY_CHECKED], rows)
                          for side in Side]  # fmt: skip
        values.settled[:] = np.isin(marks.role, roles)
        del self.held, self.chasers
        return Suspects(
            cut(np.unique(np.concatenate(offenders))), checked,
            cut(np.sort(np.concatenate(chasers))),
        )  # fmt: skip

    def everybody(self, found: Found) -> Suspects:
        """All positions that are drawn or decided by rules."""
        values = self.arrays.values
        self.arrays = self.arrays._replace(
            values=values._replace(settled=np.zeros_like(values.settled))
        )
        ranges = [partial(self._list_open, start, end) for start, end in self._lead_ranges()]
        return Suspects(ranges, found.check_claims, ranges)

    def _list_open(self, lead_0: int, lead_1: int) -> Numbers:
        """The positions of some leads that are drawn or decided by rules."""
        index, arrays = self.index, self.arrays
        first, end = lead_0 * index.lead_slots, lead_1 * index.lead_slots
        nodes = []
        for side in Side:
            is_wanted = np.abs(arrays.values.keys[side]) <= DECIDED_BY_RULES
            ranks = arrays.ranks[side * index.slots + first : side * index.slots + end]
            nodes.append(2 * (first + np.flatnonzero(is_wanted[ranks] & (ranks != 0))) + side)
        listed = np.sort(np.concatenate(nodes))
        _, is_position = self._layout.squares_of_slots(listed // 2)
        return listed[is_position]

    def _settle_side(
        self, winner: Side, held: ManyNumbers, marks: Marks
    ) -> tuple[Numbers, Numbers, Numbers]:
        """Make the passes for one side as W.

        held : slots of the draws in which the other side has only checks

        Returns the claims that ask a question, losses that may be chasers, and whoever is held when
        nothing changes any more.
        """
        offender = Side(winner).other
        self._remark(offender, held, marks, DRAW_HELD_CHECKED, DRAW_HELD)
        holding = np.zeros(self.index.slots // self.index.row_slots, np.bool_)
        holding[held // self.index.row_slots] = True
        due = {winner: np.ones_like(holding), offender: np.ones_like(holding)}
        first_asks = {winner: [CLAIM_EARLY, CLAIM, CHECK, DRAW_CHECK], offender: [LEFT]}
        asks = {
            winner: [CLAIM_EARLY, CHECK, DRAW_CHECK],
            offender: [HELD, HELD_CHECKED, EARLY, EARLY_CHECKED, DRAW_HELD, DRAW_HELD_CHECKED],
        }
        questions, chasers = NOBODY, NOBODY
        for number in range(_ROUNDS):
            changed = 0
            for side in (offender, winner):
                roles = (asks if number else first_asks)[side], asks[side]
                asked, later = (np.isin(marks.role[side], each) for each in roles)
                new, listed = self._settle(side, asked, later, number == 0, due[side], marks)
                changed += new
                if number == 0:
                    if side == offender:
                        chasers = listed[1]
                        due[side] |= holding
                    else:
                        questions = listed[0]
            if not changed:
                break
        alive = self._list_alive(offender, marks, asks[offender], due[offender])
        self._remark(offender, held, marks, DRAW_CHECK, DRAW_FREE)
        return questions, chasers, alive

    def _remark(
        self, side: Side, held: ManyNumbers, marks: Marks, checked: int, others: int
    ) -> None:
        """Give roles to the draws of a side that only checks hold; held : their slots."""
        index = self.index
        plane = self.arrays.ranks[side * index.slots : (side + 1) * index.slots]
        first_mark = int(np.flatnonzero(marks.role[side] == DRAW_CHECK)[0]) - DRAW_CHECK
        mark_of = np.arange(marks.role.shape[1], dtype=plane.dtype)
        mark_of[[first_mark + role for role in (DRAW_CHECK, DRAW_CUT, DRAW_HELD_CHECKED)]] = (
            first_mark + checked
        )
        mark_of[[first_mark + role for role in (DRAW_FREE, DRAW_HELD)]] = first_mark + others
        plane[held] = mark_of[plane[held]]

    def _list_alive(
        self, side: Side, marks: Marks, roles: list[int], due: NDArray[np.bool_]
    ) -> Numbers:
        """The nodes of a side whose marks have some roles, in rows that are due."""
        index = self.index
        is_wanted = np.isin(marks.role[side], roles)
        plane = self.arrays.ranks[side * index.slots : (side + 1) * index.slots]
        cells, listed = plane.reshape(-1, index.row_slots), [NOBODY]
        for some in cut(np.flatnonzero(due)):
            rows = some()
            at, cell = np.nonzero(is_wanted[cells[rows]])
            listed.append(2 * (rows[at] * index.row_slots + cell) + int(side))
        return np.concatenate(listed)

    def _settle(
        self, side: Side, asked: NDArray[np.bool_], later: NDArray[np.bool_], is_first: bool,
        due: NDArray[np.bool_], marks: Marks,
    ) -> tuple[int, list[Numbers]]:  # fmt: skip
        """One pass: how many marks have changed, and what was listed."""
        index, arrays = self.index, self.arrays

        def settle(lead_0: int, lead_1: int) -> tuple[int, list[Numbers]]:
            size = (lead_1 - lead_0) * index.lead_slots if is_first else 0
            state, best, kept = self._buffers()
            listed = np.empty((2, size + 1), np.int64)
            listed[:, 0] = 0
            changed = k_settle(
                lead_0, lead_1, int(side), asked, later, is_first, due, listed, state, best, kept,
                index, arrays, marks,
            )  # fmt: skip
            return changed, [line[1 : line[0] + 1].copy() for line in listed]

        with compile_lock():
            settle(0, 0)
        results = self._over_leads(settle, "checks")
        lists = [np.concatenate([each[1][n] for each in results]) for n in range(2)]
        return sum(each[0] for each in results), lists

    def _look(self, places: NDArray[np.bool_], room: int) -> Look:
        """Room for what a task finds."""
        held, chasers, claims = (np.empty(room, np.int64) for _ in range(3))
        return Look(
            places[0], places[1], self.arrays.values.keys == 0, self._hung, held, chasers, claims,
            np.zeros(COUNTS, np.int64),
        )  # fmt: skip

    def _buffers(self) -> tuple[BoardState, NDArray[np.generic], NDArray[np.generic]]:
        """Return what a task works with: a position, and two rows."""
        lanes = -(-self.index.row_slots // LANES) * LANES
        best, kept = np.zeros((2, lanes), self.arrays.ranks.dtype)
        return BoardState.make(self.index), best, kept

    def _over_leads(self, work: Callable[[int, int], Result], phase: str) -> list[Result]:
        """Return what a function returns for each range of leads."""
        starts, ends = zip(*self._lead_ranges(), strict=True)
        results = []
        with thread_pool(self._threads) as pool:
            for end, result in zip(ends, pool.map(work, starts, ends), strict=True):
                results.append(result)
                self._report(phase, end, ends[-1])
        return results

    def _lead_ranges(self) -> list[tuple[int, int]]:
        """The leads of each task, which ends where a byte of a set of bits does."""
        leads, size = self._layout.leads, self.index.lead_slots
        least = 8 // math.gcd(8, size)
        step = max(1, _TASK_SLOTS // size // least) * least
        return [(start, min(start + step, leads)) for start in range(0, leads, step)]
