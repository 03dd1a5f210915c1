# mypy: allow-untyped-defs, allow-untyped-calls
"""Ranks become marks: distances are proven, and what was decided by rules is told apart by kind.

    ranks, by order and distance  --kind of the position-->  marks, by order and state (`settle`)

Ranks of what the rules of repetition decide do not say of which kind a position is (`ranks`), or a
byte would not do for them. It is asked here, of the rows that hold any. Draws have said it before.
"""

from __future__ import annotations

from tbgen.compiling.jit import borrowing_kernel, part
from tbgen.verify.arrays import LAST_STAKE
from tbgen.verify.forward.index import COLUMNS, OVERLAPS, is_canonical, set_row
from tbgen.verify.forward.judge import CLAIMS
from tbgen.verify.forward.marks import ask, mark_asked, mark_checks, mark_kinds, mark_taken
from tbgen.verify.ranks import ATTACKING, CAPTURE, CHASE, FREE


@part
def _list_claims(number, side, at, direct, notes, row, index, arrays):
    """Write down who claims to win by a perpetual chase in a row whose kinds are told.

    at : int, the row in the plane of the side; direct : bool (ranks,); notes : Notes, inout
    """
    columns, kinds = index.size[COLUMNS], row.kinds
    ranks = arrays.ranks[at : at + columns]
    found = False
    for column in range(columns):
        found |= direct[ranks[column]] and kinds[column] >= CHASE
    if not found:
        return
    for column in range(columns):
        if not direct[ranks[column]] or kinds[column] < CHASE:
            continue
        if is_canonical(column, row, index, arrays):
            notes.claims[notes.result[CLAIMS]] = 2 * (number * columns + column) + side
            notes.result[CLAIMS] += 1


@part
def _translate(side, at, beginning, row, index, arrays):
    """Turn the ranks of a row whose kinds are told into marks.

    at : int, the row in the plane of the side; beginning : Beginning
    """
    becomes, orders = beginning.becomes[side], beginning.orders[side]
    columns, kinds, attacking = index.size[COLUMNS], row.kinds, row.threats[1 - side]
    ranks = arrays.ranks[at : at + columns]
    for column in range(columns):
        kind, rank = kinds[column], ranks[column]
        if kind == ATTACKING and attacking[column] & LAST_STAKE < orders[rank]:
            kind = FREE
        ranks[column] = becomes[kind, rank]


@borrowing_kernel
def k_begin(row_0, row_1, beginning, notes, row, index, arrays):
    """Turn the ranks of the rows [row_0, row_1) into marks.

    beginning : Beginning; notes : Notes, out, with room for claims
    """
    columns, asks = index.size[COLUMNS], beginning.asks
    notes.result[:] = 0
    for number in range(row_0, row_1):
        red, black = arrays.tables[0, 0] + number * columns, arrays.tables[0, 1] + number * columns
        asked = ask(red, asks[0], columns, arrays), ask(black, asks[1], columns, arrays)
        kind = FREE
        if asked[0] | asked[1]:
            set_row(number, row, index, arrays)
            if row.words[OVERLAPS]:
                kind = CAPTURE
            else:
                mark_asked(asked[0], asked[1], row, index, arrays)
        for side in range(2):
            at, of_side = red, asked[0]
            if side == 1:
                at, of_side = black, asked[1]
            if of_side and kind == FREE:
                mark_checks(side, row, index, arrays)
                mark_kinds(side, row)
                mark_taken(CAPTURE, row, index)
                _list_claims(number, side, at, beginning.direct[side], notes, row, index, arrays)
            else:
                for lane in range(row.kinds.size):
                    row.kinds[lane] = kind
            _translate(side, at, beginning, row, index, arrays)
