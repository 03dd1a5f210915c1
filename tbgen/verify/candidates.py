# mypy: allow-untyped-defs, allow-untyped-calls
"""Candidates: the few positions that may belong to a perpetual check or chase, found by rows.

    ranks  --mark-->  marks  --update, until nothing changes-->  candidates, wins in question

A rank stands for a value. A mark is the order of a value and a role in a pattern, such as CLAIM or
FREE_LOSS; the docstring of `values` defines marks, *answers* and *claims*. W is the side that would
win by the repetition, O the offender.

Each pass updates the marks of one side from the best of its moves, in the rows that are *due*:
those where a mark may change. Positions that still are possible offenders at the fixpoint, or after
`_ROUNDS` passes of each side, are candidates.

Two kinds of wins with W in check are *in question*, because marks do not decide them: claims whose
best move leads to a mark below DIRECT_LOSS, or to EARLY_IN_CHECK; and other wins whose best move
leads to DIRECT_LOSS, EARLY_IN_CHECK or EARLY_LOSS. `checks` examines these wins one by one. A loss
whose best move leads to ATTACKED_WIN may be a chaser. Parameters: see the package's docstring.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import borrowing_kernel, part
from tbgen.indexing import Side
from tbgen.indexing.squares import EMPTY
from tbgen.verify.acceleration import best_of_row
from tbgen.verify.arrays import NO_NODES, Arrays, Flags, NodeList, Numbers
from tbgen.verify.complete import find_canonical
from tbgen.verify.index import open_row
from tbgen.verify.moves import Lists, add_node, has_bit, narrow_nodes, split_nodes
from tbgen.verify.passes import Candidates, ForcedDraws, Passes
from tbgen.verify.values import (
    ATTACKED,
    ATTACKED_WIN,
    CHECKED_DRAW,
    CHECKED_WIN,
    CHECKING_DRAW,
    CHECKING_LOSS,
    CLAIM,
    CLAIM_EARLY,
    DIRECT_LOSS,
    EARLY_IN_CHECK,
    EARLY_LOSS,
    FREE_LOSS,
    IN_CHECK,
    QUIET,
    QUIET_DRAW,
    QUIET_WIN,
    SHARED,
    Marks,
)

_ROUNDS = 100
"""Largest number of passes of each side; stopping early leaves more candidates, misses none."""


@borrowing_kernel
def k_mark(lead_0, lead_1, state, index, arrays, marks):
    """Replace the ranks of a range of leads by the marks for rank and state (SHARED to QUIET)."""
    slots, planes, of_ranks = index.slots, arrays.ranks, marks.of_ranks
    for lead in range(lead_0, lead_1):
        for row in range(index.lead_slots // index.row_slots):
            at, _, overlaps, _, _ = open_row(lead, row, state, index)
            for place in range(index.row_slots):
                slot = lead * index.lead_slots + at + place
                ranks = planes[slot], planes[slots + slot]
                if ranks[0] == 0 and ranks[1] == 0:
                    continue
                is_shared = overlaps or state.board[index.square_of_place[place]] != EMPTY
                for side in range(2):
                    if is_shared:
                        of_state = SHARED
                    elif ranks[1 - side] == 0:
                        of_state = IN_CHECK
                    else:
                        of_state = ATTACKED if has_bit(arrays.hanging[side], slot) else QUIET
                    planes[side * slots + slot] = of_ranks[side, of_state, ranks[side]]


@part
def _next_mark(side, mark, best, checked, is_first, marks):
    """Return the new mark of a position: the same order, and the role by its best move.

    EARLY_LOSS and EARLY_IN_CHECK are given only in the first pass of a side, or to losses that have
    one of these roles.

    mark, best : int64, the old mark, and the best mark that moves lead to
    checked : bool, whether the side to move is in check
    is_first : bool, whether this is the first pass of the side
    """
    role, group = marks.role[side, mark], marks.group[side, mark]
    of, other = marks.number[side, group], marks.number[1 - side, group]
    if role == CLAIM:
        return mark
    if role == CLAIM_EARLY:
        return mark if best >= other[EARLY_IN_CHECK] else of[CLAIM]
    if role == CHECKED_WIN:
        return mark if best >= other[CHECKING_LOSS] else of[QUIET_WIN]
    if role == CHECKED_DRAW:
        return mark if best >= other[CHECKING_DRAW] else of[QUIET_DRAW]
    if role == CHECKING_DRAW:
        return mark if best == other[CHECKED_DRAW] else of[QUIET_DRAW]
    if best > other[CHECKED_WIN]:
        return of[FREE_LOSS]
    if best == other[CLAIM_EARLY] and (is_first or role >= EARLY_IN_CHECK):
        return of[EARLY_IN_CHECK] if checked else of[EARLY_LOSS]
    return of[CHECKING_LOSS] if checked or best == other[CHECKED_WIN] else of[DIRECT_LOSS]


@part
def _is_question(side, mark, best, marks):
    """Return whether a win in check, claim or not, is in question (module docstring).

    mark, best : int, the mark of the position, and the best mark that its moves lead to
    """
    other = marks.number[1 - side, marks.group[side, mark]]
    if marks.role[side, mark] == CHECKED_WIN:
        return best >= other[DIRECT_LOSS]
    return best < other[DIRECT_LOSS] or best == other[EARLY_IN_CHECK]


QUESTIONS, LOSING, LISTS = range(3)
"""Lists of the first pass: wins in question, losses that may be chasers; and their number."""


@borrowing_kernel
def k_update_marks(
    lead_0, lead_1, side, updated, next_pass, is_first, due, lists, state, index, arrays, marks
):
    """Update the marks of a side in the due rows; return the number of changed marks.

    A row stays due if one of its new marks is in `next_pass`.

    updated, next_pass : bool (M,), by mark: whether this pass, and the next one, updates it
    is_first : bool, whether this is the first pass of the side; only this one adds to `lists`
    due : bool (rows,), inout
    lists : Lists, inout: QUESTIONS and LOSING
    """
    slots, planes, best = index.slots, arrays.ranks, state.best
    changed, there = 0, (1 - side) * slots
    rows = index.lead_slots // index.row_slots
    for lead in range(lead_0, lead_1):
        base = lead * index.lead_slots
        for row in range(rows):
            if not due[lead * rows + row]:
                continue
            first = base + row * index.row_slots
            own = planes[side * slots + first : side * slots + first + index.row_slots]
            places = 0
            for place in range(index.row_slots):
                places += updated[own[place]]
            due[lead * rows + row] = False
            if not places:
                continue
            at, image, overlaps, _, _ = open_row(lead, row, state, index)
            if overlaps:
                continue
            best_of_row(side, own, there, base, at, image, planes, state, index)
            for place in range(index.row_slots):
                mark = np.int64(own[place])
                square = index.square_of_place[place]
                if not updated[mark] or state.board[square] != EMPTY:
                    continue
                slot, mirrored = base + at + place, image + index.mirrored_place[place]
                state.piece_squares[state.piece_squares.size - 1] = square
                checked = planes[there + slot] == 0
                new = _next_mark(side, mark, np.int64(best[place]), checked, is_first, marks)
                if is_first:
                    role, group = marks.role[side, mark], marks.group[side, mark]
                    attacked_win = marks.number[1 - side, group, ATTACKED_WIN]
                    if role == CLAIM_EARLY or role == CLAIM or role == CHECKED_WIN:
                        if _is_question(side, mark, best[place], marks):
                            add_node(lists, QUESTIONS, 2 * slot + side)
                    elif (
                        role == FREE_LOSS
                        and best[place] == attacked_win
                        and slot == find_canonical(lead, at + place, mirrored, state, index)
                    ):
                        add_node(lists, LOSING, 2 * slot + side)
                if new != mark:
                    own[place] = new
                    changed += 1
                due[lead * rows + row] |= next_pass[new]
    return changed


def mark_planes(passes: Passes, arrays: Arrays, marks: Marks) -> Arrays:
    """Replace the ranks of the planes by marks, in place.

    Returns the arrays with the keys of marks, direct losses as `confirmed`, and no `hanging` sets.
    """

    def mark(lead_0: int, lead_1: int) -> None:
        k_mark(lead_0, lead_1, passes.make_state(arrays), passes.index, arrays, marks)

    passes.compile(mark)
    passes.over_leads(mark, "marks")
    confirmed = np.isin(marks.role, [DIRECT_LOSS, EARLY_LOSS])
    return arrays._replace(
        values=arrays.values._replace(keys=marks.keys, confirmed=confirmed),
        hanging=np.zeros((2, 0), np.uint8),
    )


def find_candidates(passes: Passes, arrays: Arrays, draws: ForcedDraws, marks: Marks) -> Candidates:
    """Return the positions that may belong to repetition patterns.

    arrays : result of `mark_planes`, inout; draws : second result of `Passes.compare`
    """
    sides = [_find_for_side(passes, arrays, winner, draws.held, marks) for winner in Side]
    questions, losing, offenders = (np.concatenate(each) for each in zip(*sides, strict=True))
    chasers = np.sort(np.concatenate([draws.chasers, losing]))
    return Candidates(split_nodes(np.unique(offenders)), np.unique(questions), split_nodes(chasers))


def _find_for_side(
    passes: Passes, arrays: Arrays, winner: Side, held: NodeList, marks: Marks
) -> tuple[Numbers, NodeList, Numbers]:
    """Find candidates for patterns by which `winner` would win and the other side offends.

    During the passes, the draws `held` with the offender to move have the role CHECKING_DRAW.
    Afterwards these draws get the role for the search with exchanged sides: CHECKED_DRAW if the
    side to move is in check, else QUIET_DRAW.

    held : draws held by checks alone, with either side to move

    Returns three lists of nodes: positions of the winner that are in question, losses of the
    offender that may be chasers, and the possible offenders that remain.
    """
    index, offender = passes.index, winner.other
    held = held[held % 2 == offender] // 2
    plane = arrays.plane(offender)
    draws = marks.number[offender, -1].astype(plane.dtype)
    plane[held] = draws[CHECKING_DRAW]
    holding = np.zeros(index.slots // index.row_slots, np.bool_)
    holding[held // index.row_slots] = True
    due = {side: np.ones_like(holding) for side in Side}
    later_roles = {
        winner: [CLAIM_EARLY, CHECKED_WIN, CHECKED_DRAW],
        offender: [CHECKING_LOSS, EARLY_IN_CHECK, EARLY_LOSS, CHECKING_DRAW],
    }
    first_roles = {winner: [CLAIM, *later_roles[winner]], offender: [FREE_LOSS]}

    def run_pass(side: Side, *, is_first: bool) -> tuple[int, list[Numbers]]:
        """Update the marks of a side in all due rows.

        Returns the number of changes, and the lists QUESTIONS and LOSING of the first pass.
        """
        roles = (first_roles if is_first else later_roles)[side], later_roles[side]
        updated, next_pass = (np.isin(marks.role[side], each) for each in roles)

        def update(lead_0: int, lead_1: int) -> tuple[int, list[Numbers]]:
            lists = Lists.make(LISTS, (lead_1 - lead_0) * index.lead_slots if is_first else 0)
            changed = k_update_marks(
                lead_0, lead_1, int(side), updated, next_pass, is_first, due[side], lists,
                passes.make_state(arrays), index, arrays, marks,
            )  # fmt: skip
            return changed, [nodes[:, 0] for nodes in lists.entries()]

        if is_first:
            passes.compile(update)
        changed, lists = zip(*passes.over_leads(update, "checks"), strict=True)
        return sum(changed), [np.concatenate(each) for each in zip(*lists, strict=True)]

    listed = {}
    for number in range(_ROUNDS):
        changed = 0
        for side in (offender, winner):
            new, found = run_pass(side, is_first=number == 0)
            changed += new
            if number == 0:
                listed[side] = found
                due[offender] |= holding
        if not changed:
            break
    is_possible = np.isin(marks.role[offender], later_roles[offender])
    rows = plane.reshape(-1, index.row_slots)
    offenders = _list_offenders(rows, offender, is_possible, due[offender])
    # In the search with exchanged sides, the side to move in these draws is the winner.
    in_check = arrays.plane(winner)[held] == 0
    plane[held] = np.where(in_check, draws[CHECKED_DRAW], draws[QUIET_DRAW])
    return listed[winner][QUESTIONS], narrow_nodes(listed[offender][LOSING], index.slots), offenders


def _list_offenders(rows: NDArray[Any], side: Side, is_possible: Flags, due: Flags) -> Numbers:
    """Return the nodes with `side` to move that are possible offenders, from the due rows.

    rows : uint8 or uint16 (rows, places), the marks with `side` to move
    is_possible : bool (M,), by mark, whether its positions are possible offenders
    due : bool (rows,), the rows to read
    """
    listed = [NO_NODES]
    for some in split_nodes(np.flatnonzero(due)):
        numbers = some()
        at, place = np.nonzero(is_possible[rows[numbers]])
        listed.append(2 * (numbers[at] * rows.shape[1] + place) + int(side))
    return np.concatenate(listed)
