# mypy: allow-untyped-defs, allow-untyped-calls
"""Passes over a table: complete the planes, then compare every position with its moves.

    stored ranks  --complete-->  ranks  --judge-->  findings, lists

A plane has a value for every slot (index of a position) with one side to move. Values are held as
*ranks*: small numbers, larger for values that are better for the side that moved there. A file
stores the value of a position in one slot only; `complete` copies it to the slots of the mirror
image and of exchanged pieces, and adds the values after captures.

The stored value must equal the value of the best move (docs/proof.md, point 2). Only a direct win
may be better. It is listed as a *claim*, to be proven by a pattern: a set of positions in which the
loser is forced to repeat an offence.

Draws that may belong to a pattern are listed, too. In a draw *held by checks alone*, every move
that keeps the draw is a check. In others, every such move gives no check and leaves a piece under
attack that can be chased. A side with any other drawing move commits no offence.

The best move is computed for whole rows (`acceleration`); with `plain` for single positions. A task
is a range of leads (placements of the defenders) that does not depend on the number of threads. So
the findings do not depend on the number of threads either.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import borrowing_kernel, compile_lock, part
from tbgen.indexing import Side
from tbgen.indexing.layout import Layout
from tbgen.indexing.squares import EMPTY
from tbgen.indexing.systems import trim_process
from tbgen.indexing.threads import thread_pool
from tbgen.verify.acceleration import best_of_row
from tbgen.verify.arrays import Arrays, NodeList, Numbers
from tbgen.verify.complete import find_canonical, k_complete
from tbgen.verify.index import BoardState, make_index, open_row
from tbgen.verify.moves import (
    Lists,
    Ranges,
    add_node,
    best_move,
    in_check,
    narrow_nodes,
)
from tbgen.verify.report import Progress
from tbgen.verify.values import (
    CHASED,
    CHECKED,
    DECIDED_BY_RULES,
    MATE,
    ORDER,
    is_open,
    key_after_move,
)

_TASK_SLOTS = 1 << 21
"""Approximate number of slots that one task of a thread examines."""

HELD_DRAWS, CHASERS, CLAIMS, LISTS = range(4)
"""Lists of `k_compare`: draws held by checks alone (all slots of each position); draws in which
every move that keeps the draw may be a chase; claims, the stored direct wins by the rules.
"""

FINDINGS, FIRST_NODE, FIRST_STORED, FIRST_BEST, FIGURES = range(5)
"""Counters of `k_compare`: number of findings; of the first its node, stored key and best key."""

Result = TypeVar("Result")


@part
def _classify(side, slot, rank, best, lists, figures, index, arrays):
    """Add a position to the claims, the possible chasers or the findings, if it belongs there.

    A claim is a stored direct win by the repetition rules. A finding is any other stored value that
    is not the best of the moves. Called for positions whose value does not simply follow from the
    best move.

    rank, best : int, the stored rank, and the rank that the best move leads to
    lists : Lists; figures : int64 (FIGURES,), inout, the counters
    """
    stored = arrays.values.keys[side, rank]
    worth = key_after_move(arrays.values.keys[1 - side, best]) if best else -MATE
    node = 2 * slot + side
    if stored == worth and (arrays.judges_checks or worth == 0 or not is_open(worth)):
        if arrays.values.kinds[1 - side, best] == CHASED:
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
        add_node(lists, CLAIMS, node)
        return
    if not figures[FINDINGS]:
        figures[FIRST_NODE], figures[FIRST_STORED], figures[FIRST_BEST] = node, stored, worth
    figures[FINDINGS] += 1


@borrowing_kernel
def k_compare(lead_0, lead_1, plain, lists, figures, state, index, arrays):
    """Compare the stored values of a range of leads with the best of their moves.

    Writes claims, possible offenders and findings (see `HELD_DRAWS`, `FINDINGS`).

    plain : bool, whether to examine positions one by one
    figures : int64 (FIGURES,), inout, the counters
    """
    slots, planes, best = index.slots, arrays.ranks, state.best
    board, last = state.board, index.attackers.size - 1
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
                stored, expected = arrays.values.stored[side], arrays.values.expected[1 - side]
                kinds, keys = arrays.values.kinds[1 - side], arrays.values.keys[side]
                for place in range(index.row_slots):
                    if own[place] == 0:
                        continue
                    if not plain and stored[own[place]] == expected[best[place]]:
                        continue
                    square = index.square_of_place[place]
                    if board[square] != EMPTY:
                        continue
                    slot, mirrored = base + at + place, image + index.mirrored_place[place]
                    state.attacker_squares[last] = square
                    state.piece_squares[state.piece_squares.size - 1] = square
                    if plain:
                        board[square] = index.attackers[last]
                        best[place] = best_move(
                            side, slot, at + place, mirrored, planes, state, index
                        )
                        board[square] = EMPTY
                        if stored[own[place]] == expected[best[place]]:
                            continue
                    if kinds[best[place]] == CHECKED and keys[own[place]] == 0:
                        add_node(lists, HELD_DRAWS, 2 * slot + side)
                    elif slot == find_canonical(lead, at + place, mirrored, state, index):
                        _classify(
                            side, slot, own[place], best[place], lists, figures, index, arrays
                        )


class Compared(NamedTuple):
    """Results of `Passes.prove`; lists of nodes (positions)."""

    findings: int
    first: tuple[int, int, int] | None
    """Node, stored key and best key of the first finding; None without findings."""
    counts: NDArray[np.int64]
    """int64 (2, ranks): number of positions of each rank, all draws as FREE."""
    held: NodeList
    """Draws that only checks keep, all slots of each position; not ascending."""
    chasers: NodeList
    """Draws in which every move that keeps the draw may be a chase; not ascending."""
    check_claims: Numbers
    """Claims (stored direct wins by the repetition rules) of sides in check, ascending."""
    chase_claims: Numbers
    """Claims (stored direct wins by the repetition rules) of sides not in check, ascending."""


class Candidates(NamedTuple):
    """Positions in which `checks` and `chase_patterns` search for patterns."""

    offenders: Ranges
    """Positions of sides that may check for ever."""
    checked: Numbers
    """Claims (stored direct wins) and other positions in check that `checks` must examine."""
    chasers: Ranges
    """Positions that may be chasers: every move chases one piece or loses."""


class Passes:
    """Passes over one table, by several threads."""

    def __init__(
        self, arrays: Arrays, layout: Layout, threads: int, report: Progress, *, plain: bool = False
    ) -> None:
        hanging = np.zeros((2, layout.slots // 8 + 1), np.uint8)
        self.arrays = arrays._replace(hanging=hanging)
        self.index = make_index(layout)
        self._layout, self._threads, self._report, self._plain = layout, threads, report, plain
        self._phase = ""

    def prove(self) -> Compared:
        """Complete the planes, compare every position with its moves, and return the results."""
        arrays, index = self.arrays, self.index

        def complete(lead_0: int, lead_1: int) -> NDArray[np.int64]:
            counts = np.zeros(arrays.values.keys.shape, np.int64)
            k_complete(lead_0, lead_1, self._plain, counts, self.make_state(), index, arrays)
            return counts

        def judge(lead_0: int, lead_1: int) -> tuple[NDArray[np.int64], list[NodeList]]:
            lists = Lists.make(LISTS, 2 * (lead_1 - lead_0) * index.lead_slots)
            figures = np.zeros(FIGURES, np.int64)
            k_compare(lead_0, lead_1, self._plain, lists, figures, self.make_state(), index, arrays)
            return figures, [narrow_nodes(nodes[:, 0], index.slots) for nodes in lists.entries()]

        counts = np.sum(self.over_leads(complete, "legality"), axis=0)
        figures, lists = zip(*self.over_leads(judge, "positions"), strict=True)
        held, chasers, claims = map(np.concatenate, zip(*lists, strict=True))
        refuted = [each for each in figures if each[FINDINGS]]
        first = None
        if refuted:
            _, node, stored, best = refuted[0].tolist()
            first = node, stored, best
        claims = np.sort(claims).astype(np.int64)
        checked = in_check(claims, arrays)
        return Compared(
            int(sum(each[FINDINGS] for each in refuted)), first, counts, held, chasers,
            claims[checked], claims[~checked],
        )  # fmt: skip

    def all_candidates(self, compared: Compared) -> Candidates:
        """Return all draws and rule-decided positions as candidates."""
        self.arrays.values.confirmed[:] = False
        ranges = [partial(self._list_open, start, end) for start, end in self._lead_ranges()]
        return Candidates(ranges, compared.check_claims, ranges)

    def _list_open(self, lead_0: int, lead_1: int) -> Numbers:
        """Return the draws and rule-decided positions of a range of leads, as ascending nodes.

        Only canonical slots are listed.
        """
        first, end = lead_0 * self.index.lead_slots, lead_1 * self.index.lead_slots
        nodes = []
        for side in Side:
            is_wanted = np.abs(self.arrays.values.keys[side]) <= DECIDED_BY_RULES
            ranks = self.plane(side)[first:end]
            nodes.append(2 * (first + np.flatnonzero(is_wanted[ranks] & (ranks != 0))) + side)
        listed = np.sort(np.concatenate(nodes))
        return listed[self._layout.squares_of_slots(listed // 2)[1]]

    def plane(self, side: int) -> NDArray[Any]:
        """Return the ranks or marks of positions with a side to move, uint8 or uint16 (slots,)."""
        slots = self.index.slots
        return self.arrays.ranks[side * slots : (side + 1) * slots]

    def make_state(self) -> BoardState:
        """Return new buffers for a task."""
        return BoardState.make(self.index, self.arrays.ranks.dtype)

    def over_leads(self, work: Callable[[int, int], Result], phase: str) -> list[Result]:
        """Call `work(first, end)` for each range of leads, in threads; return the results in order.

        phase : name that is passed to the progress callback
        """
        if phase != self._phase:
            # Compile on an empty range, then return the compiler's memory to the system.
            self._phase = phase
            with compile_lock():
                work(0, 0)
            trim_process()
        starts, ends = zip(*self._lead_ranges(), strict=True)
        results = []
        with thread_pool(self._threads) as pool:
            for end, result in zip(ends, pool.map(work, starts, ends), strict=True):
                results.append(result)
                self._report(phase, end, ends[-1])
        return results

    def _lead_ranges(self) -> list[tuple[int, int]]:
        """Return the first lead and the end of each task's range of leads.

        Ranges end where a byte of the bit sets ends, so that threads never write the same byte.
        """
        leads, size = self._layout.leads, self.index.lead_slots
        least = 8 // math.gcd(8, size)
        step = max(1, _TASK_SLOTS // size // least) * least
        return [(start, min(start + step, leads)) for start in range(0, leads, step)]
