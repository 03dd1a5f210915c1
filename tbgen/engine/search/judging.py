# mypy: allow-untyped-defs, allow-untyped-calls
"""Exact values of a position without search: verdicts of the referee, table values.

    repeated?        find_span    ->  judge_record  ->  won, lost, drawn by the rules
    irreversible?    probe_board  ->  table value, exact: no position can have been repeated

The verdict comes first, as in Tan & Watkinson Medina, section 5.1. Its use depends on where the
repetition began:

* At or after the root: final at the second occurrence. The offender's other moves are searched at
  the earlier occurrence, in the same tree.
* In the game before the root: at the second occurrence, a win by verdict for the side to move at
  the root is ignored, because the opponent may still deviate. A draw, and a loss for that side,
  count, because a referee may decide so at once. From the third occurrence on, every verdict
  counts.

The value of a repetition holds for the current path only (graph history interaction).
`state.depends[ply]` is the first row on which the value just returned for the ply depends: the
start of the loop, or `CLEAN`. A node's value is stored in the hash table only if that row is not
before the node.
"""

from __future__ import annotations

import numpy as np

from tbgen.compiling.jit import part
from tbgen.engine.search.scores import DRAW, UNKNOWN, VERDICT_WIN, score_of_value
from tbgen.probing.kernels import OK, order_of, outcome_of, plies_of, probe_board
from tbgen.referee import record

CLEAN = 1 << 40
"""Value of `state.depends` for a score that depends on no repetition; above all rows."""


@part
def verdict_score(state, row, side, beta):
    """Return the score of a repetition by the referee's verdict.

    Returns `UNKNOWN` without a repetition, or if the verdict is ignored (module's docstring).
    Otherwise sets `state.depends[ply]` to the first row of the loop. If beta is at most `DRAW`, the
    result `DRAW` means at least a draw (`record.judge_record`).
    """
    start = record.find_span(state.boards, state.log, row, 2)
    if start == record.NO_SPAN:
        return UNKNOWN
    scratch = state.scratch[0], state.scratch[1]
    verdict = record.judge_record(
        state.boards, state.ids, state.log, row, side, state.offences, 2, state.chase_rules,
        beta <= DRAW, scratch,
    )  # fmt: skip
    state.judged += 1
    ply = row - state.root
    state.depends[ply] = start
    if verdict == record.DRAW:
        # `spared` includes equal offences, where both sides were judged.
        state.spared += beta <= DRAW
        return np.int64(DRAW)
    winner = np.int64(verdict == record.BLACK_WINS)
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
    """Return the score by the table right after an irreversible move, else `UNKNOWN`.

    Irreversible are captures, advances of pawns and null moves: no later position repeats an
    earlier one, so the value does not depend on the path. The result is `UNKNOWN` also at the root,
    and if no loaded table has the position; a block that must be loaded is marked as wanted.
    """
    may_repeat = state.log[row, record.FIRST] != row or row == state.root
    if may_repeat or state.men_left[row] > state.table_pieces:
        return UNKNOWN
    status, value = probe_board(shared.buffers, state.boards[row], side)
    if status != OK:
        return UNKNOWN
    state.table_hits += 1
    outcome = outcome_of(value)
    score = score_of_value(outcome, order_of(value), plies_of(value), False)
    return np.int64(score - outcome * (row - state.root))
