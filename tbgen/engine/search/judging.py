# mypy: allow-untyped-defs, allow-untyped-calls
"""Values of a position without search: a verdict of the referee, a table's value.

    repeated?        find_span    ->  judge_record  ->  won, lost, drawn by the rules
    just captured?   probe_board  ->  the value in a table, exact: nothing can have been repeated

The verdict is exact (it is the referee's own), and comes before anything else, as in Tan &
Watkinson Medina, section 5.1. What it decides follows from where the repetition began:

* After the root: final at the second occurrence. The offender's other moves are searched at the
  earlier occurrence, in the same tree.
* In the game before the root, with only one earlier occurrence: the opponent of the side that
  thinks may still deviate, so a verdict in favour of that side is not counted yet; one against it
  is, and a draw, because a referee may give either at once.

A value that rests on a repetition holds for this way to the position only. `state.depends` has,
for the value that a node has just returned, the first row that it depends on: where the loop
begins, or `CLEAN`. A node's value may be stored if that is not above the node itself (the graph
history problem). What remains is the other half of it: a clean value may be used on a way whose
own positions its line would repeat.
"""

from __future__ import annotations

import numpy as np

from tbgen.compiling.jit import part
from tbgen.engine.search.scores import (
    DRAW,
    UNKNOWN,
    VERDICT_WIN,
    of_table,
)
from tbgen.probing.kernels import OK, order_of, outcome_of, plies_of, probe_board
from tbgen.referee import record

CLEAN = 1 << 40
"""In place of the first row that a value rests on, for values that rest on no earlier position."""


@part
def verdict_score(state, row, side, beta):
    """The score of a repetition, or `UNKNOWN`; `state.depends` says on what it rests.

    beta : int64; where a draw is enough for a cutoff, the opponent's chases are not worked out
        (Tan & Watkinson Medina, section 5.2)
    """
    start = record.find_span(state.boards, state.log, row, 2)
    if start == record.NO_SPAN:
        return UNKNOWN
    verdict = record.judge_record(
        state.boards,
        state.ids,
        state.log,
        row,
        side,
        state.rules,
        2,
        state.chase_rules,
        beta <= DRAW,
        (state.scratch[0], state.scratch[1]),
    )
    state.judged += 1
    ply = row - state.root
    state.depends[ply] = start
    if verdict == record.DRAW:
        # Equal offences are counted too, though both sides were looked at: nobody tells them apart.
        state.spared += beta <= DRAW
        return np.int64(DRAW)
    winner = np.int64(0)
    if verdict == record.BLACK_WINS:
        winner = np.int64(1)
    if (
        winner == state.root_side
        and start < state.root
        and record.find_span(state.boards, state.log, row, 3) == record.NO_SPAN
    ):
        state.depends[ply] = CLEAN
        return UNKNOWN
    if winner == side:
        return VERDICT_WIN - ply
    return ply - VERDICT_WIN


@part
def table_score(state, shared, row, side):
    """The score of a position that nothing can have repeated, or `UNKNOWN`.

    That is one right after a capture or a pawn's advance, where history does not matter.
    """
    if state.log[row, record.FIRST] != row or row == state.root:
        return UNKNOWN
    if state.men_left[row] > state.table_pieces:
        return UNKNOWN
    status, value = probe_board(shared.buffers, state.boards[row], side)
    if status != OK:
        return UNKNOWN
    state.table_hits += 1
    outcome = outcome_of(value)
    score = of_table(outcome, order_of(value), plies_of(value), False)
    return np.int64(score - outcome * (row - state.root))
