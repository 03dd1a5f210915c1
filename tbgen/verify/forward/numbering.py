"""Marks numbered for each side, of those that may occur with that side to move.

    shared    (HIDDEN, 1) (HIDDEN, 2) ... (ESCAPE, 1) ... (OUT, 1) ...      `settle.make_marks`
    Red's     those that ranks of his become to begin with, and whatever passes make of them
    Black's   likewise

Most orders are won by one side only: that one needs no marks of their losses, nor the other one of
their wins. So a byte is enough for more orders. Each side's numbers ascend with the shared ones: a
pass takes the maximum of marks of one side, and looks up the pair of it and the position's own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.indexing import Side
from tbgen.verify.forward.settle import ANSWERS, STEPS, Beginning, Marks, Settling
from tbgen.verify.ranks import Values


class SideMarks(NamedTuple):
    """`Settling` in numbers of either side. Shape: M marks of the side that has more."""

    marks: tuple[Marks, Marks]
    """What passes do with Red as W, and with Black as W."""
    values: Values
    of_ranks: Beginning
    of_marks: NDArray[Any]
    """marks (2, M): what becomes of each, by the side to move, where Black begins as W."""
    held: NDArray[np.int64]
    """int64 (2, M): what becomes of the mark of a draw of O's that only checks hold."""
    shared: NDArray[np.int64]
    """int64 (2, M): the shared number of each."""


def number_by_side(settling: Settling) -> SideMarks:
    """The marks of a proof in numbers of either side."""
    shared = [np.flatnonzero(may) for may in _list_occurring(settling)]
    most = max(map(len, shared))
    number = np.zeros((len(Side), len(settling.held)), np.int64)
    for side, kept in zip(Side, shared, strict=True):
        number[side, kept] = np.arange(len(kept))
    shared = [np.pad(kept, (0, most - len(kept))) for kept in shared]
    dtype = np.min_scalar_type(most - 1)
    keys, settled = (np.stack([line[kept] for line, kept in zip(of_both, shared, strict=True)])
                     for of_both in (settling.values.keys, settling.values.settled))  # fmt: skip
    beginning = settling.of_ranks
    becomes = [number[side, beginning.becomes[side]] for side in Side]
    of_marks = [number[side, settling.of_marks[1 - side, shared[side]]] for side in Side]
    held = [number[side, settling.held[shared[side]]] for side in Side]
    return SideMarks(
        (_marks_of(Side.RED, settling.marks, shared, number, dtype),
         _marks_of(Side.BLACK, settling.marks, shared, number, dtype)),
        settling.values._replace(keys=keys, settled=settled),
        beginning._replace(becomes=np.stack(becomes).astype(dtype)),
        np.stack(of_marks).astype(dtype),
        np.stack(held),
        np.stack(shared),
    )  # fmt: skip


def _list_occurring(settling: Settling) -> NDArray[np.bool_]:
    """bool (2, marks): which of the shared marks may occur with a side to move."""
    own = np.arange(len(settling.held))
    leads = np.zeros((len(own), len(own)), np.bool_)
    for after in settling.marks.becomes:
        leads[own[:, None], after] = True
    for after in (settling.held, *settling.of_marks):
        leads[own, after] = True
    occurring = np.zeros((len(Side), len(own)), np.bool_)
    for side in Side:
        found = occurring[side]
        found[settling.of_ranks.becomes[side]] = found[0] = True
        while (new := leads[found].any(axis=0) & ~found).any():
            found |= new
    return occurring


def _marks_of(
    winner: Side,
    marks: Marks,
    shared: list[NDArray[np.int64]],
    number: NDArray[np.int64],
    dtype: np.dtype[Any],
) -> Marks:
    """What passes do with a side as W.

    shared : by side, the shared number of each mark; number : int64 (2, marks), the other way round
    dtype : of marks
    """
    concerns, becomes, listed = [], [], []
    for step in range(STEPS):
        side = winner if step in ANSWERS else winner.other
        own, best = shared[side], shared[side.other]
        concerns.append(marks.concerns[step, own])
        becomes.append(number[side, marks.becomes[step][np.ix_(own, best)]])
        listed.append(marks.listed[step][np.ix_(own, best)])
    return Marks(np.stack(concerns), np.stack(becomes).astype(dtype), np.stack(listed))
