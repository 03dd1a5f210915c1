# mypy: allow-untyped-defs, allow-untyped-calls
"""Ranks become marks: distances are proven, and what was decided by rules is told apart by kind.

    ranks, by order and distance  --kind of the position-->  marks, by order and state (`settle`)

Ranks of what the rules of repetition decide do not say of which kind a position is (`ranks`), or a
byte would not do for them. It is asked here, of the rows that hold any. Draws have said it before.
"""

from __future__ import annotations

from tbgen.compiling.jit import borrowing_kernel, part
from tbgen.indexing.squares import EMPTY
from tbgen.verify.arrays import LAST_STAKE
from tbgen.verify.forward.index import COLUMNS, OVERLAPS, is_canonical, set_row
from tbgen.verify.forward.judge import CLAIMS
from tbgen.verify.forward.marks import mark_checks, mark_hung
from tbgen.verify.ranks import ATTACKING, CAPTURE, CHASE, CHECK, FREE, UNTOLD


@part
def _ask(side, at, columns, arrays):
    """Which kinds are to be told in a row: 0 none, 1 who is in check, 2 also what is attacked.

    at : int, the row in the plane of the side; columns : int
    """
    kinds, keys = arrays.values.kinds[side], arrays.values.keys[side]
    asked = 0
    for column in range(columns):
        rank = arrays.ranks[at + column]
        if kinds[rank] == UNTOLD:
            asked = 1
            if keys[rank] > 0:
                return 2
    return asked


@part
def _begin_row(
    number, side, at, asked, becomes, orders, direct, notes, row, index, arrays
):  # fmt: skip
    """Translate a row of one side, and note who claims to win by a perpetual chase.

    asked : int, as `_ask` says, of either side: 0 if there is nothing UNTOLD
    becomes : marks (KINDS + 1, ranks); orders : uint8 (ranks,); direct : bool (ranks,)
    notes : Notes, inout
    """
    columns, board, kinds = index.size[COLUMNS], row.board, arrays.values.kinds[side]
    ranks = arrays.ranks[at : at + columns]
    taken = row.words[OVERLAPS] > 0
    checked, hung, attacking = row.checked[side], row.hung[side], row.hung[1 - side]
    for column in range(columns):
        rank = ranks[column]
        if kinds[rank] != UNTOLD:
            ranks[column] = becomes[FREE, rank]
            continue
        kind = FREE
        if taken or board[index.area[column]] != EMPTY:
            kind = CAPTURE
        elif checked[column]:
            kind = CHECK
        elif asked > 1 and hung[column]:
            kind = CHASE
        elif asked > 1 and attacking[column] & LAST_STAKE >= orders[rank]:
            kind = ATTACKING
        ranks[column] = becomes[kind, rank]
        if direct[rank] and kind >= CHASE and is_canonical(column, row, index, arrays):
            notes.claims[notes.result[CLAIMS]] = 2 * (number * columns + column) + side
            notes.result[CLAIMS] += 1


@borrowing_kernel
def k_begin(row_0, row_1, becomes, orders, direct, notes, row, index, arrays):
    """Turn the ranks of the rows [row_0, row_1) into marks.

    becomes : marks (2, KINDS + 1, ranks), what each side's ranks become by the position's kind
    orders : uint8 (2, ranks), of each side's wins by rules: LAST_STAKE for higher ones
    direct : bool (2, ranks), of each side's direct wins
    notes : Notes, out, with room for claims
    """
    columns = index.size[COLUMNS]
    notes.result[:] = 0
    for number in range(row_0, row_1):
        red, black = arrays.tables[0, 0] + number * columns, arrays.tables[0, 1] + number * columns
        asked = max(_ask(0, red, columns, arrays), _ask(1, black, columns, arrays))
        if asked:
            set_row(number, row, index, arrays)
            if row.words[OVERLAPS] == 0:
                mark_checks(0, row, index, arrays)
                mark_checks(1, row, index, arrays)
                if asked > 1 and arrays.seek_chases:
                    mark_hung(0, row, index, arrays)
                    mark_hung(1, row, index, arrays)
        for side in range(2):
            at = red
            if side == 1:
                at = black
            _begin_row(
                number, side, at, asked, becomes[side], orders[side], direct[side], notes, row,
                index, arrays,
            )  # fmt: skip
