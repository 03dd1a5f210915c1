# mypy: allow-untyped-defs, allow-untyped-calls
"""What is stored against the best of the moves, row by row; and what is to be looked at again.

    stored == expected[best]    nothing more to say; this is one comparison, and almost every case
    otherwise                   wrong; or a direct win; or a position that may belong to a pattern

What is listed is more than what belongs to patterns, never less: `ranks` has the argument.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tbgen.compiling.jit import borrowing_kernel, part
from tbgen.compiling.lending import lent
from tbgen.indexing.squares import EMPTY
from tbgen.verify.arrays import ManyNumbers, Numbers
from tbgen.verify.forward.best import find_best
from tbgen.verify.forward.index import COLUMNS, LEAD, OVERLAPS, TWIN, is_canonical, set_row
from tbgen.verify.forward.settle import (
    ANSWER,
    ANSWERS,
    FIRST_ANSWER,
    FIRST_OFFENCE,
    LIST_ANSWERS,
    LIST_OFFENDERS,
    LISTS,
    OFFENCE,
)
from tbgen.verify.keys import DECIDED_BY_RULES, MATE, ORDER, is_open, key_after_move
from tbgen.verify.positions import is_wrong
from tbgen.verify.ranks import CAPTURE, CHASE, CHECK, UNTOLD

# Entries of a range's `Notes.result`: counts of wrong positions and of what is listed, and the
# first of the wrong ones.
(
    FINDINGS, CHECKERS, CHECKED, CHASERS, CLAIMS, HELD_DRAWS, FIRST_NODE, FIRST_STORED, FIRST_BEST,
    RESULTS,
) = range(10)  # fmt: skip


@lent
class Notes(NamedTuple):
    """What is written down of a range of S slots; a node is 2 * slot + side to move."""

    checkers: NDArray[np.int64]
    """int64 (2 S,): possible offenders of perpetual checks, result[CHECKERS] of them."""
    checked_wins: NDArray[np.int64]
    """int64 (2 S,): wins by rules of sides in check."""
    chasers: NDArray[np.int64]
    """int64 (2 S,): possible offenders of perpetual chases."""
    claims: NDArray[np.int64]
    """int64 (2 S,): direct wins of sides that are not in check."""
    held_draws: NDArray[np.int64]
    """int64 (2 S,): draws that only checks hold, in every slot that a position has; without room
    for checkers."""
    result: NDArray[np.int64]
    """int64 (RESULTS,)."""

    @classmethod
    def make(cls, of_checks: int, of_chases: int, held_draws: int = 0) -> Notes:
        """Room for so many nodes that have to do with checks, and with chases."""
        checkers, checked_wins = np.empty(of_checks, np.int64), np.empty(of_checks, np.int64)
        chasers, claims = np.empty(of_chases, np.int64), np.empty(of_chases, np.int64)
        held, result = np.empty(held_draws, np.int64), np.zeros(RESULTS, np.int64)
        return cls(checkers, checked_wins, chasers, claims, held, result)

    def cut(self, dtype: DTypeLike) -> Listed:
        """What was listed in ascending order, in no more memory than is needed.

        dtype : of what there may be millions of
        """
        return Listed(
            np.sort(self.checkers[: self.result[CHECKERS]]),
            np.sort(self.checked_wins[: self.result[CHECKED]]),
            np.sort(self.chasers[: self.result[CHASERS]].astype(dtype)),
            np.sort(self.claims[: self.result[CLAIMS]]),
            self.held_draws[: self.result[HELD_DRAWS]].astype(dtype),
            self.result,
        )


class Listed(NamedTuple):
    """`Notes`, when a range has been looked at."""

    checkers: Numbers
    checked_wins: Numbers
    chasers: ManyNumbers
    claims: Numbers
    held_draws: ManyNumbers
    result: NDArray[np.int64]


@part
def _look_twice(node, stored_rank, best_rank, notes, arrays):
    """Say what there is to say of a position; there may be no room for those of checks.

    stored_rank, best_rank : int, ranks; notes : Notes, inout
    """
    values, result, side = arrays.values, notes.result, node % 2
    stored, child = values.keys[side, stored_rank], values.keys[1 - side, best_rank]
    best = -MATE
    if best_rank:
        best = key_after_move(child)
    told, kind = values.kinds[side, stored_rank], values.kinds[1 - side, best_rank]
    checked = told == CHECK
    # Whoever is not told from one in check is looked at again (`kinds`).
    if is_wrong(stored, best, checked or told == UNTOLD, arrays):
        if result[FINDINGS] == 0 or node < result[FIRST_NODE]:
            result[FIRST_NODE] = node
            result[FIRST_STORED], result[FIRST_BEST] = stored, best
        result[FINDINGS] += 1
    if not arrays.seek_patterns or not is_open(stored) or told == UNTOLD:
        return
    if 0 < stored <= DECIDED_BY_RULES:
        if checked:
            if notes.checked_wins.size:
                notes.checked_wins[result[CHECKED]] = node
                result[CHECKED] += 1
        elif arrays.seek_chases and (MATE - stored) % ORDER == 0:
            notes.claims[result[CLAIMS]] = node
            result[CLAIMS] += 1
    # All moves lose, by orders that do not go with the stored value.
    astray = stored != best and (best_rank == 0 or child > 0)
    is_checker = best_rank == 0 or kind == CAPTURE or kind == CHECK or astray
    if is_checker and notes.checkers.size:
        notes.checkers[result[CHECKERS]] = node
        result[CHECKERS] += 1
    if arrays.seek_chases and (kind == CAPTURE or kind == CHASE or astray):
        notes.chasers[result[CHASERS]] = node
        result[CHASERS] += 1


@part
def _concerns(step, at, columns, arrays, marks):
    """Whether a pass has to do with any position of a row.

    step : int; columns : int; marks : Marks
    """
    found = False
    for column in range(columns):
        if marks.concerns[step, arrays.ranks[at + column]]:
            found = True
            break
    return found


@part
def _is_held_by_checks(side, rank, best, values):
    """Whether a draw is one whose moves that hold it are all checks.

    rank, best : int, ranks; values : Values
    """
    if values.keys[side, rank] != 0 or values.keys[1 - side, best] != 0:
        return False
    return values.kinds[1 - side, best] == CHECK


@part
def _judge_row(number, side, at, all_canonical, notes, row, index, arrays):
    """Compare what is stored with the best of the moves.

    all_canonical : bool, whether all slots of the row are; notes : Notes, inout
    """
    values, best = arrays.values, row.best
    stored, expected = values.stored[side], values.expected[1 - side]
    columns = index.size[COLUMNS]
    ranks = arrays.ranks[at : at + columns]
    for column in range(columns):
        rank = ranks[column]
        if rank == 0 or stored[rank] == expected[best[column]]:
            continue
        if row.board[index.area[column]] != EMPTY:
            continue
        node = 2 * (number * columns + column) + side
        if notes.held_draws.size and _is_held_by_checks(side, rank, best[column], values):
            notes.held_draws[notes.result[HELD_DRAWS]] = node
            notes.result[HELD_DRAWS] += 1
        if all_canonical or is_canonical(column, row, index, arrays):
            _look_twice(node, np.int64(rank), np.int64(best[column]), notes, arrays)


@part
def _list_row(number, side, at, step, all_canonical, notes, row, index, arrays, marks):
    """Write down which positions of a row a pass is to list, before they have new marks.

    step : int; all_canonical : bool, whether all slots of the row are
    notes : Notes, inout; marks : Marks
    """
    columns, best = index.size[COLUMNS], row.best
    own, listed = arrays.ranks[at : at + columns], marks.listed[step]
    any_listed = np.uint8(0)
    for column in range(columns):
        any_listed |= listed[own[column], best[column]]
    if not any_listed:
        return
    for column in range(columns):
        if not listed[own[column], best[column]] or row.board[index.area[column]] != EMPTY:
            continue
        if all_canonical or is_canonical(column, row, index, arrays):
            _list(2 * (number * columns + column) + side, step, notes)


@part
def _mark_row(at, step, row, index, arrays, marks):
    """Replace the marks that a pass has to do with; those of captures stay.

    step : int; marks : Marks
    """
    columns, best = index.size[COLUMNS], row.best
    own, becomes = arrays.ranks[at : at + columns], marks.becomes[step]
    count = 0
    for p in range(row.squares.size - 1):
        column = index.column[row.squares[p]]
        if column < columns:
            row.passed[count], row.kept[count] = column, own[column]
            count += 1
    for column in range(columns):
        own[column] = becomes[own[column], best[column]]
    for i in range(count):
        own[row.passed[i]] = row.kept[i]


@part
def _list(node, step, notes):
    """Write down what a pass is to list.

    step : int; notes : Notes, inout
    """
    result = notes.result
    if step == LIST_OFFENDERS:
        notes.checkers[result[CHECKERS]] = node
        result[CHECKERS] += 1
    elif step == LIST_ANSWERS:
        notes.checked_wins[result[CHECKED]] = node
        result[CHECKED] += 1
    else:
        notes.chasers[result[CHASERS]] = node
        result[CHASERS] += 1


@borrowing_kernel
def k_judge(row_0, row_1, notes, row, index, arrays):
    """Prove what is stored in the rows [row_0, row_1), whose planes are complete.

    notes : Notes, out
    """
    columns = index.size[COLUMNS]
    notes.result[:] = 0
    for number in range(row_0, row_1):
        set_row(number, row, index, arrays)
        if row.words[OVERLAPS]:
            continue
        all_canonical = index.size[TWIN] < 0 and not arrays.self_mirrored[row.words[LEAD]]
        for side in range(2):
            find_best(side, row, index, arrays)
            at = arrays.tables[0, side] + number * columns
            _judge_row(number, side, at, all_canonical, notes, row, index, arrays)


@borrowing_kernel
def k_settle(row_0, row_1, side, step, due, notes, row, index, arrays, marks):
    """Make a pass of `settle` over the rows [row_0, row_1), whose planes hold marks.

    It writes to the plane of the side to move, and reads from that of the other one only.

    step : int, the pass; notes : Notes, out; marks : Marks
    due : bool (rows,), inout: the rows that passes after the side's first have to do with
    """
    columns = index.size[COLUMNS]
    later = ANSWER if step in ANSWERS else OFFENCE
    is_first = step == FIRST_OFFENCE or step == FIRST_ANSWER
    notes.result[:] = 0
    for number in range(row_0, row_1):
        at = arrays.tables[0, side] + number * columns
        if is_first:
            if not _concerns(step, at, columns, arrays, marks):
                continue
        elif not due[number]:
            continue
        set_row(number, row, index, arrays)
        if row.words[OVERLAPS]:
            continue
        all_canonical = index.size[TWIN] < 0 and not arrays.self_mirrored[row.words[LEAD]]
        find_best(side, row, index, arrays)
        if step in LISTS:
            _list_row(number, side, at, step, all_canonical, notes, row, index, arrays, marks)
        _mark_row(at, step, row, index, arrays, marks)
        due[number] = _concerns(later, at, columns, arrays, marks)
