"""Marks, small integers for values in the search for perpetual checks: their winner and order."""

from __future__ import annotations

import numpy as np

from tbgen.verify.values import (
    MATE,
    NO_KEY,
    ORDER,
    SHARED,
    STATES,
    make_marks,
    order_of_key,
)


def test_marks_have_the_winner_and_the_order_of_their_values() -> None:
    """All values of a mark have one winner and one order, and better values have larger marks.

    Better means better for the side that made the last move. Among values of one winner and one
    order, the mark also depends on checks, and on pieces under attack that can be chased.
    """
    wins = [MATE - order * ORDER - plies for order in (0, 1, 2, 4) for plies in (1, 2, 9)]
    listed = [[*wins, 0, *(-key for key in wins[::-1])], [*wins[:6], 0, *(-key for key in wins)]]
    listed[1].sort(reverse=True)
    keys = np.full((2, len(listed[0]) + 1), NO_KEY)
    for side, of_side in enumerate(listed):
        keys[side, 1 : len(of_side) + 1] = of_side
    marks = make_marks(keys)
    for side, of_side in enumerate(listed):
        for state in set(range(STATES)) - {SHARED}:
            last = 0, (None, None)
            for rank, key in enumerate(of_side, 1):
                mark = int(marks.of_ranks[side, state, rank])
                own = int(marks.keys[side, mark])
                group = np.sign(key), order_of_key(key)
                assert (np.sign(own), order_of_key(own)) == group
                assert (marks.role[side, mark] < 0) == (group[1] == 0)
                assert group == last[1] or mark > last[0]
                last = max(mark, last[0]), group
