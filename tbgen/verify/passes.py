# mypy: allow-untyped-defs, allow-untyped-calls
"""Passes over a table: complete the planes, then compare every position with its moves.

    stored ranks  --captures, complete-->  ranks  --compare-->  findings, lists

A plane has a *rank* for every slot (index of a position) with one side to move: the larger, the
better the value for the side that moved there. The stored value must equal that of the best move
(docs/proof.md, point 2). Only a direct win may be better: a *claim*, to be proven by a pattern.

Draws that may belong to a pattern are listed. In a draw *held by checks alone*, every move that
keeps the draw is a check. In each other listed draw, every such move is a check, or leaves a piece
of the opponent under attack that can be chased; at least one is no check.

The best move is computed for whole rows (`acceleration`), with `plain` for single positions. A task
is a range of *leads* (placements of kings, advisors and elephants) that does not depend on the
number of threads; so neither do the findings.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import borrowing_kernel, compile_lock, part
from tbgen.indexing import Side
from tbgen.indexing.layout import Layout
from tbgen.indexing.squares import EMPTY
from tbgen.system.platform import trim_process
from tbgen.system.threads import thread_pool
from tbgen.verify.acceleration import best_of_row
from tbgen.verify.arrays import Arrays, CapturePlane, Flags, NodeList, Numbers
from tbgen.verify.captures import k_fill_captures
from tbgen.verify.complete import find_canonical, k_complete
from tbgen.verify.index import BoardState, make_index, open_row
from tbgen.verify.moves import Lists, Ranges, add_node, best_move, in_check, narrow_nodes
from tbgen.verify.report import Progress
from tbgen.verify.values import (
    CHECKED,
    DECIDED_BY_RULES,
    HANGING,
    MATE,
    ORDER,
    is_open,
    key_after_move,
)

_TASK_SLOTS = 1 << 21
"""Approximate number of slots that one task of a thread examines."""

HELD_DRAWS, CHASERS, CHECK_CLAIMS, CHASE_CLAIMS, LISTS = range(5)
"""Lists of `k_compare`: the draws of `ForcedDraws`; claims of sides in check, and not in check."""

FINDINGS, FIRST_NODE, FIRST_STORED, FIRST_BEST, FIGURES = range(5)
"""Figures of `k_compare`: number of findings; of the first one the node, the key that is stored,
and the key by the best move.
"""

Result = TypeVar("Result")


@part
def _classify(side, slot, rank, best, lists, figures, index, arrays):
    """Add a position to the claims, the possible chasers or the findings, if it belongs there.

    A claim is a stored direct win that is better than every move. The side to move must be in
    check, unless the rules judge chases. Any other stored value that is not that of the best move
    is a finding; so is a rule-decided value if the rules judge no checks. A possible chaser is a
    draw whose best move leads to a draw of the kind HANGING.

    rank, best : int, the stored rank, and the rank that the best move leads to, 0 without a move
    lists : Lists, inout, as in `k_compare`
    figures : int64 (FIGURES,), inout: a finding is counted, and the first one is stored
    """
    stored = arrays.values.keys[side, rank]
    worth = key_after_move(arrays.values.keys[1 - side, best]) if best else -MATE
    node = 2 * slot + side
    if stored == worth and (arrays.judges_checks or worth == 0 or not is_open(worth)):
        if arrays.values.kinds[1 - side, best] == HANGING:
            add_node(lists, CHASERS, node)
        return
    checked = arrays.ranks[(1 - side) * index.slots + slot] == 0
    if (
        arrays.judges_checks
        and 0 < stored <= DECIDED_BY_RULES
        and (MATE - stored) % ORDER == 0
        and worth < stored
        and (checked or arrays.judges_chases)
    ):
        add_node(lists, CHECK_CLAIMS if checked else CHASE_CLAIMS, node)
        return
    if not figures[FINDINGS]:
        figures[FIRST_NODE], figures[FIRST_STORED], figures[FIRST_BEST] = node, stored, worth
    figures[FINDINGS] += 1


@borrowing_kernel
def k_compare(lead_0, lead_1, plain, lists, figures, state, index, arrays):
    """Compare the stored values of a range of leads with the best of their moves.

    plain : bool, whether to examine positions one by one instead of rows
    lists : Lists, inout, the lists HELD_DRAWS to CHASE_CLAIMS
    figures : int64 (FIGURES,), inout, the findings; all 0 before the first call
    """
    slots, planes, best, board = index.slots, arrays.ranks, state.best, state.board
    for lead in range(lead_0, lead_1):
        base = lead * index.lead_slots
        for row in range(index.lead_slots // index.row_slots):
            at, image, overlaps, _, _ = open_row(lead, row, state, index)
            if overlaps:
                continue
            for side in range(2):
                own = planes[side * slots + base + at : side * slots + base + at + index.row_slots]
                there = (1 - side) * slots
                if not plain:
                    best_of_row(side, own, there, base, at, image, planes, state, index)
                keys, expected = arrays.values.keys[side], arrays.values.expected[1 - side]
                kinds = arrays.values.kinds[1 - side]
                for place in range(index.row_slots):
                    if own[place] == 0:
                        continue
                    square = index.square_of_place[place]
                    if plain and board[square] == EMPTY:
                        best[place] = best_move(side, place, base, at, image, planes, state, index)
                    if keys[own[place]] == expected[best[place]] or board[square] != EMPTY:
                        continue
                    slot, mirrored = base + at + place, image + index.mirrored_place[place]
                    state.piece_squares[state.piece_squares.size - 1] = square
                    if kinds[best[place]] == CHECKED and keys[own[place]] == 0:
                        add_node(lists, HELD_DRAWS, 2 * slot + side)
                    elif slot == find_canonical(lead, at + place, mirrored, state, index):
                        _classify(
                            side, slot, own[place], best[place], lists, figures, index, arrays
                        )


class Compared(NamedTuple):
    """Results of `Passes.compare`; positions are nodes (2 * slot + side to move)."""

    findings: int
    """Number of positions whose stored value their moves refute."""
    first: tuple[int, int, int] | None
    """Node, stored key and best key of the first finding; None without findings."""
    counts: NDArray[np.int64]
    """int64 (2, ranks): number of positions by side and rank, all draws as FREE; ignore rank 0."""
    check_claims: NodeList
    """Claims of sides in check, ascending."""
    chase_claims: NodeList
    """Claims of sides not in check, ascending."""


class ForcedDraws(NamedTuple):
    """Draws that may belong to a pattern, as nodes (2 * slot + side), maybe millions; unsorted."""

    held: NodeList
    """Draws held by checks alone, with all slots of each position."""
    chasers: NodeList
    """Draws in which every move that keeps the draw is a check or may be a chase, and at least one
    is no check. Canonical slots only.
    """


class Candidates(NamedTuple):
    """Positions in which `checks` and `chase_patterns` search for patterns."""

    offenders: Ranges
    """Positions whose side to move may be the offender of a perpetual check."""
    checked: Numbers
    """Claims and other positions in check that `checks` must examine."""
    chasers: Ranges
    """Positions whose side to move may be the offender of a perpetual chase (`list_chasers`)."""


class Passes:
    """Passes over all positions of one table, by several threads; `index` has its lookup tables."""

    def __init__(self, layout: Layout, threads: int, progress: Progress) -> None:
        self.index = make_index(layout)
        self._layout, self._threads, self._progress = layout, threads, progress

    def compare(
        self, arrays: Arrays, captures: Iterable[CapturePlane], *, plain: bool = False
    ) -> tuple[Compared, ForcedDraws]:
        """Complete the planes of `arrays` in place, and compare every position with its moves.

        captures : the planes that captures lead to (`gather`)
        plain : whether to examine positions one by one
        """
        index = self.index

        def complete(lead_0: int, lead_1: int) -> NDArray[np.int64]:
            counts = np.zeros(arrays.values.keys.shape, np.int64)
            k_complete(lead_0, lead_1, plain, counts, self.make_state(arrays), index, arrays)
            return counts

        def compare(lead_0: int, lead_1: int) -> tuple[NDArray[np.int64], list[NodeList]]:
            lists = Lists.make(LISTS, 2 * (lead_1 - lead_0) * index.lead_slots)
            figures = np.zeros(FIGURES, np.int64)
            k_compare(lead_0, lead_1, plain, lists, figures, self.make_state(arrays), index, arrays)
            return figures, [narrow_nodes(nodes[:, 0], index.slots) for nodes in lists.entries()]

        self._fill_captures(arrays, captures)
        self.compile(complete)
        counts = np.sum(self.over_leads(complete, "legality"), axis=0)
        self.compile(compare)
        figures, lists = zip(*self.over_leads(compare, "positions"), strict=True)
        held, chasers, checks, chases = map(np.concatenate, zip(*lists, strict=True))
        checks.sort()
        chases.sort()
        refuted = [each.tolist() for each in figures if each[FINDINGS]]
        first = tuple(refuted[0][FIRST_NODE:]) if refuted else None
        findings = sum(each[FINDINGS] for each in refuted)
        return Compared(findings, first, counts, checks, chases), ForcedDraws(held, chasers)

    def _fill_captures(self, arrays: Arrays, captures: Iterable[CapturePlane]) -> None:
        """Fill the slots that captures lead to, in the planes of `arrays`."""
        index = self.index
        no_plane = CapturePlane(
            0, arrays.ranks, index.descriptor, False, np.zeros((0, 0), np.int64)
        )

        def fill(plane: CapturePlane, lead_0: int, lead_1: int) -> None:
            state, is_first = self.make_state(arrays), plane is no_plane
            k_fill_captures(lead_0, lead_1, is_first, plane, state, index, arrays)

        for plane in itertools.chain([no_plane], captures):
            work = partial(fill, plane)
            self.compile(work)
            self.over_leads(work, "captures")

    def all_candidates(self, arrays: Arrays) -> tuple[Arrays, Candidates]:
        """Return `arrays` with no direct loss confirmed, and all open positions as candidates.

        Open positions are draws and positions decided by the repetition rules. All are candidates
        for offenders and for chasers, and those in check for checked sides.

        arrays : with ranks or marks; not changed
        """
        values = arrays.values
        arrays = arrays._replace(values=values._replace(confirmed=np.zeros_like(values.confirmed)))

        def list_open(lead_0: int, lead_1: int) -> Numbers:
            first, end = lead_0 * self.index.lead_slots, lead_1 * self.index.lead_slots
            nodes = []
            for side in Side:
                is_wanted = np.abs(arrays.values.keys[side]) <= DECIDED_BY_RULES
                numbers = arrays.plane(side)[first:end]
                is_open = is_wanted[numbers] & (numbers != 0)
                nodes.append(2 * (first + np.flatnonzero(is_open)) + side)
            listed = np.sort(np.concatenate(nodes))
            is_canonical: Flags = self._layout.squares_of_slots(listed // 2)[1]
            return listed[is_canonical]

        ranges = [partial(list_open, start, end) for start, end in self._lead_ranges()]
        checked = [nodes[in_check(nodes, arrays)] for nodes in (some() for some in ranges)]
        return arrays, Candidates(ranges, np.concatenate(checked), ranges)

    def make_state(self, arrays: Arrays) -> BoardState:
        """Return new buffers for a task."""
        return BoardState.make(self.index, arrays.ranks.dtype)

    def compile(self, work: Callable[[int, int], object]) -> None:
        """Compile the kernel of a task by calling `work(0, 0)`, an empty range; release memory."""
        with compile_lock():
            work(0, 0)
        trim_process()

    def over_leads(self, work: Callable[[int, int], Result], phase: str) -> list[Result]:
        """Call `work(first, end)` for each task's range of leads, in threads.

        Returns the results in the order of ranges. `phase` is passed to the progress callback.
        """
        starts, ends = zip(*self._lead_ranges(), strict=True)
        results = []
        with thread_pool(self._threads) as pool:
            for end, result in zip(ends, pool.map(work, starts, ends), strict=True):
                results.append(result)
                self._progress(phase, end, ends[-1])
        return results

    def _lead_ranges(self) -> list[tuple[int, int]]:
        """Return the first lead and the end of each task's range of leads.

        Ranges end where a byte of the bit sets ends, so that threads never write the same byte.
        """
        leads, size = self._layout.leads, self.index.lead_slots
        least = 8 // math.gcd(8, size)
        step = max(1, _TASK_SLOTS // size // least) * least
        return [(start, min(start + step, leads)) for start in range(0, leads, step)]
