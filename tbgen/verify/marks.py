"""Perpetual checks by rows: few positions are left for the scalar rules.

When values have been compared with their moves, distances are known to be right, and patterns ask
for less: of whom a position is won by which order, and who gives check. So numbers become *marks*,
whose order again makes the best of the moves a maximum. W is who would win by the loop, O who
checks.

    won for the side to move   CLAIM_EARLY < CLAIM < (HUNG < OPEN of the order before)
                                           < CAPTURE < CHECK < HUNG < OPEN
    drawn                      CHECK < CUT < FREE < HELD
    lost                       LEFT < HELD < SET < EARLY

    CLAIM    a direct win in check
    CAPTURE  won by a capture
    CHECK    in check, and may have an answer; of draws, CUT if not
    HUNG     not in check, with a piece under attack that can be chased; OPEN without one
    HELD     every move that keeps the value is a check of those
    SET      every such move is a claim: a direct loss
    EARLY    a direct loss that may have been one an order before, as may the claims that it leads
             to: its moves to the order before are checks, too

A position of O's keeps being held while the best of its moves is no more than CHECK, one of W's
keeps being CHECK while the best of his moves is HELD. What remains when nothing changes any more is
for `checks` to judge; and so are claims that have no answer but to a position in which O is in
check, and what is no claim but has such an answer as claims have.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.lending import lent
from tbgen.verify.values import MATE, NEVER, ORDER, orders_of_keys

CLAIM_EARLY, CLAIM, CAPTURE, CHECK, HUNG, OPEN, WIN_ROLES = range(7)
LEFT, HELD_CHECKED, HELD, SET_CHECKED, SET, EARLY_CHECKED, EARLY, LOSS_ROLES = range(7, 15)
DRAW_CHECK, DRAW_CUT, DRAW_FREE, DRAW_HELD_CHECKED, DRAW_HELD, ROLES = range(15, 21)
"""Roles of marks: of wins, losses and draws; CHECKED where O is in check himself."""

_LOSSES = range(LEFT, LOSS_ROLES)
_DRAWS = range(DRAW_CHECK, ROLES)

SHARED, IN_CHECK, ATTACKED, CALM, STATES = range(5)
"""States of a slot: two pieces share a square; the side to move is in check, or has a piece under
attack that can be chased; none of these."""


@lent
class Marks(NamedTuple):
    """Meaning of marks. Shapes: M marks of either side to move; 0 is none."""

    of_ranks: NDArray[np.int64]
    """int64 (2, STATES, ranks): the mark of a rank."""
    role: NDArray[np.int64]
    """int64 (2, M): its role, or -1 for what order 0 decides."""
    number: NDArray[np.int64]
    """int64 (2, 2, M, ROLES): the mark of the same order with another role, by the side of the mark
    and that of the other one."""
    keys: NDArray[np.int64]
    """int64 (2, M): the key that a mark stands for."""


def make_marks(keys: NDArray[np.int64]) -> Marks:
    """The marks of the keys of ranks (2, ranks)."""
    orders = orders_of_keys(keys)
    orders[:, 0] = -1
    by_rules = (orders > 0) & (orders < NEVER)
    # What one side wins, the other one loses.
    won = [np.union1d(orders[side][by_rules[side] & (keys[side] > 0)],
                      orders[1 - side][by_rules[1 - side] & (keys[1 - side] < 0)]).tolist()
           for side in range(2)]  # fmt: skip
    listed = [_list_marks(won[side], won[1 - side]) for side in range(2)]
    shape = 2, max(map(len, listed))
    role, of_keys = np.full(shape, -1), np.zeros(shape, np.int64)
    number = np.zeros((2, 2, shape[1], ROLES), np.int64)
    of_ranks = np.zeros((2, STATES, keys.shape[1]), np.int64)
    at = [{mark: n for n, mark in enumerate(line)} for line in listed]
    for side, line in enumerate(listed):
        of_keys[side, [0, 1, len(line) - 1]] = -MATE - 1, MATE - 1, -MATE
        for mark, (order, own) in enumerate(line):
            if own < 0:
                continue
            role[side, mark] = own
            for there in range(2):
                number[side, there, mark] = [at[there].get((order, each), 0)
                                             for each in range(ROLES)]  # fmt: skip
            if own < WIN_ROLES:
                of_keys[side, mark] = MATE - order * ORDER - (0 if own <= CLAIM else 2)
            elif own < LOSS_ROLES:
                of_keys[side, mark] = order * ORDER + 1 - MATE
        for rank in range(1, keys.shape[1]):
            key, order = int(keys[side, rank]), int(orders[side, rank])
            if order == 0:
                of_ranks[side, :, rank] = 1 if key > 0 else len(line) - 1
            elif order > 0:
                of_ranks[side, :, rank] = [at[side][order, each] for each in _roles(key, order)]
    return Marks(of_ranks, role, number, of_keys)


def _list_marks(won: list[int], lost: list[int]) -> list[tuple[int, int]]:
    """Order and role of each mark of a side; won, lost : orders, ascending."""
    listed = [(0, -1), (0, -1)]
    for order in won:
        listed += [(order, CLAIM_EARLY), (order, CLAIM)] if order > 1 else [(order, CLAIM)]
        if order - 1 in won:
            listed += [(order - 1, HUNG), (order - 1, OPEN)]
        listed += [(order, CAPTURE), (order, CHECK)]
        if order + 1 not in won:
            listed += [(order, HUNG), (order, OPEN)]
    listed += [(NEVER, role) for role in _DRAWS]
    listed += [(order, role) for order in lost[::-1] for role in _LOSSES]
    return [*listed, (0, -1)]


def _roles(key: int, order: int) -> tuple[int, int, int, int]:
    """The role of a value in each state."""
    if key == 0:
        return DRAW_FREE, DRAW_CHECK, DRAW_FREE, DRAW_FREE
    if key < 0:
        return SET, LEFT, LEFT, LEFT
    claim = CLAIM_EARLY if order > 1 else CLAIM
    return CAPTURE, claim if (MATE - key) % ORDER == 0 else CHECK, HUNG, OPEN
