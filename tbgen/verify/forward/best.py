# mypy: allow-untyped-defs, allow-untyped-calls
"""The best of the moves of a whole row: maxima of the rows that its moves lead to.

    an outer piece moves   the columns stay: one maximum of two rows
    the inner piece moves  the row stays: maxima along its lines, or over its leaps

The planes are complete (`complete`): what a move takes, and whether it is legal, the rank says
that it leads to. What is left is what stands in the way, and that may be the inner piece: its
columns on the way are kept from the maximum.
"""

from __future__ import annotations

from tbgen.compiling.jit import part
from tbgen.indexing.squares import EMPTY, SQUARES, piece_kind, piece_side
from tbgen.verify.forward.index import (
    AFTER,
    COLUMNS,
    EYE,
    INNER_KIND,
    INNER_SIDE,
    LEAD_PIECES,
    MIRROR_MID,
    MIRRORED,
    NUMBER_OF_ROW,
    TARGET,
    lift,
    put_down,
)
from tbgen.verify.forward.index import MIDS as MIDS_WORD
from tbgen.verify.forward.lines import (
    BOARD_FILES,
    BOARD_RANKS,
    CANNON,
    DIRECTIONS,
    KNIGHT,
    LANES,
    LEAP_COUNT,
    LEAP_STEPS,
    LEAPS_FROM,
    MARGIN,
    OFF,
    PAWN_FROM,
    PAWN_STEPS,
    RAYS,
    ROOK,
    STAYS_ON_BOARD,
)


@part
def _take_row(at, row, index, arrays):
    """Take the maximum with a row of children, column by column.

    Slices have no negative indices to be looked for, and a length that is seen to be one of whole
    vectors needs no remainder: measured, a third of the time. What the last lanes hold is no
    matter.
    """
    lanes = row.best.size // LANES * LANES
    best, children = row.best[:lanes], arrays.ranks[at : at + lanes]
    for lane in range(lanes):
        best[lane] = max(best[lane], children[lane])


@part
def _take_cell(at, column, row, index, arrays):
    """Take the maximum with a row of children in one column.

    column : int, which may be that of a square outside the inner piece's area
    """
    if column < index.size[COLUMNS] and arrays.ranks[at + column] > row.best[column]:
        row.best[column] = arrays.ranks[at + column]


@part
def _keep(count, square, row, index):
    """Note what the column of a square holds now, for `_restore`; returns how many are noted.

    count : int, how many were
    """
    column = index.column[square]
    row.passed[count] = column
    row.kept[count] = row.best[column]
    return count + 1


@part
def _restore(count, row):
    """Put back what the noted columns held.

    count : int, how many they are
    """
    for i in range(count):
        row.best[row.passed[i]] = row.kept[i]


@part
def _move_rook(man, square, side, plane, row, index, arrays):
    """Take the maximum with the moves of a rook of the mid."""
    lifted = lift(man, plane, row, index)
    for direction in range(DIRECTIONS):
        count = 0
        for i in range(RAYS.shape[2]):
            target = RAYS[square, direction, i]
            if target == OFF:
                break
            code = row.board[target]
            if code != EMPTY and piece_side(code) == side:
                break
            _take_row(put_down(target, lifted, index), row, index, arrays)
            # Where the inner piece stands on the target it may be taken, and nothing behind it.
            count = _keep(count, target, row, index)
            if code != EMPTY:
                break
        _restore(count, row)


@part
def _move_cannon(man, square, side, plane, row, index, arrays):
    """Take the maximum with the moves of a cannon of the mid."""
    lifted = lift(man, plane, row, index)
    board = row.board
    for direction in range(DIRECTIONS):
        count, i = 0, 0
        target = RAYS[square, direction, 0]
        while target != OFF and board[target] == EMPTY:
            # Where the inner piece stands on the target it is in the way.
            count = _keep(count, target, row, index)
            at = put_down(target, lifted, index)
            _take_row(at, row, index, arrays)
            i += 1
            target = RAYS[square, direction, i]
        _restore(count, row)
        if target == OFF:
            continue
        if piece_side(board[target]) != side:
            # The inner piece is the mount.
            at = put_down(target, lifted, index)
            for j in range(count):
                _take_cell(at, row.passed[j], row, index, arrays)
        i += 1
        target = RAYS[square, direction, i]
        while target != OFF and board[target] == EMPTY:
            # The inner piece is the first behind the mount.
            at = put_down(target, lifted, index)
            _take_cell(at, index.column[target], row, index, arrays)
            row.passed[count] = index.column[target]
            count += 1
            i += 1
            target = RAYS[square, direction, i]
        if target != OFF and piece_side(board[target]) != side:
            for j in range(count):
                row.kept[j] = row.best[row.passed[j]]
            at = put_down(target, lifted, index)
            _take_row(at, row, index, arrays)
            _restore(count, row)


@part
def _move_knight(man, square, side, plane, row, index, arrays):
    """Take the maximum with the moves of a knight of the mid."""
    lifted = lift(man, plane, row, index)
    board = row.board
    for i in range(LEAP_COUNT):
        target, leg = LEAPS_FROM[square, i, 0], LEAPS_FROM[square, i, 1]
        if target == OFF or board[leg] != EMPTY:
            continue
        if board[target] != EMPTY and piece_side(board[target]) == side:
            continue
        _keep(0, leg, row, index)
        _take_row(put_down(target, lifted, index), row, index, arrays)
        _restore(1, row)


@part
def _move_pawn(man, square, side, plane, row, index, arrays):
    """Take the maximum with the moves of a pawn of the mid."""
    lifted = lift(man, plane, row, index)
    board = row.board
    for i in range(PAWN_STEPS):
        target = PAWN_FROM[side, square, i]
        if target != OFF and (board[target] == EMPTY or piece_side(board[target]) != side):
            _take_row(put_down(target, lifted, index), row, index, arrays)


@part
def _move_defenders(side, plane, row, index, arrays):
    """Take the maximum with the moves of king, advisors and elephants."""
    columns, board = index.size[COLUMNS], row.board
    mid = row.words[NUMBER_OF_ROW] % index.size[MIDS_WORD]
    for i in range(row.counts[side]):
        step = row.steps[side, i]
        target, eye = step[TARGET], step[EYE]
        if board[target] != EMPTY and piece_side(board[target]) == side:
            continue
        count = 0
        if eye != OFF:
            if board[eye] != EMPTY:
                continue
            count = _keep(0, eye, row, index)
        if step[MIRRORED]:
            at = plane + (step[AFTER] + row.words[MIRROR_MID]) * columns
            for column in range(columns):
                rank = arrays.ranks[at + index.mirror_column[column]]
                if rank > row.best[column]:
                    row.best[column] = rank
        else:
            _take_row(plane + (step[AFTER] + mid) * columns, row, index, arrays)
        _restore(count, row)


@part
def _slide_within(jumps, row):
    """Take the maximum with the moves of an inner rook or cannon: one sweep in each direction.

    What has been passed can be reached from what comes: of a rook all up to the last piece, and it;
    of a cannon all behind the last piece, and the piece before that one. Ranks are swept file by
    file; files all at once, a rank at a time.

    jumps : bool, whether it is a cannon
    """
    _set_free(row)
    for direction in range(2):
        _sweep_files(direction, jumps, row)
        _take_reached(row)
        _sweep_ranks(direction, jumps, row)
        _take_reached(row)


@part
def _take_reached(row):
    """Take the maximum with what has been reached."""
    lanes = row.best.size // LANES * LANES
    best, reached = row.best[:lanes], row.reached[MARGIN : MARGIN + lanes]
    for lane in range(lanes):
        best[lane] = max(best[lane], reached[lane])


@part
def _sweep_ranks(direction, jumps, row):
    """Write to `row.reached` what is reached along the ranks, square by square from one end.

    direction : int, 1 for the last file's end; jumps : bool, whether it is by a cannon
    """
    within, free, reached, nothing = row.within, row.free, row.reached, row.within[0]
    for rank in range(BOARD_RANKS):
        far, near, passed = nothing, nothing, nothing
        for i in range(BOARD_FILES):
            at = MARGIN + BOARD_FILES * rank + i
            if direction:
                at += BOARD_FILES - 1 - 2 * i
            here = within[at]
            if jumps:
                reached[at] = max(passed, far)
                if free[at]:
                    passed = max(passed, here)
                else:
                    far, near, passed = near, here, nothing
            else:
                reached[at] = passed
                if not free[at]:
                    passed = nothing
                passed = max(passed, here)


@part
def _sweep_files(direction, jumps, row):
    """Write to `row.reached` what is reached along the files, towards the last rank or the first.

    A vector has a rank in its first lanes, or last ones going down; the others, of ranks still to
    come, hold what is reached from nearer by, and are written over.

    direction : int, 1 for down from the last rank; jumps : bool, whether it is by a cannon
    """
    (passed, near, far), nothing = row.swept, row.within[0]
    lanes = passed.size // LANES * LANES
    passed, near, far = passed[:lanes], near[:lanes], far[:lanes]
    for lane in range(lanes):
        passed[lane] = near[lane] = far[lane] = nothing
    for i in range(BOARD_RANKS):
        at = MARGIN + BOARD_FILES * i
        if direction:
            at = MARGIN + BOARD_FILES * (BOARD_RANKS - i) - lanes
        here, free = row.within[at : at + lanes], row.free[at : at + lanes]
        reached = row.reached[at : at + lanes]
        if jumps:
            for lane in range(lanes):
                best = max(passed[lane], here[lane])
                reached[lane] = max(passed[lane], far[lane])
                passed[lane] = best if free[lane] else nothing
            for lane in range(lanes):
                before, last, new = far[lane], near[lane], here[lane]
                far[lane] = before if free[lane] else last
                near[lane] = last if free[lane] else new
        else:
            for lane in range(lanes):
                best = passed[lane]
                reached[lane] = best
                passed[lane] = max(best if free[lane] else nothing, here[lane])


@part
def _set_free(row):
    """Write to `row.free` where no outer piece stands."""
    board, free = row.board, row.free[MARGIN : MARGIN + SQUARES]
    for square in range(SQUARES):
        free[square] = board[square] == EMPTY


@part
def _leap_within(row):
    """Take the maximum with the moves of an inner knight: all squares at once, leap by leap."""
    lanes = row.best.size // LANES * LANES
    best = row.best[:lanes]
    _set_free(row)
    for i in range(LEAP_COUNT):
        end, leg = MARGIN + LEAP_STEPS[i, 0], MARGIN + LEAP_STEPS[i, 1]
        children, legs = row.within[end : end + lanes], row.free[leg : leg + lanes]
        on_board = STAYS_ON_BOARD[i, :lanes]
        for square in range(lanes):
            if on_board[square] & legs[square]:
                best[square] = max(best[square], children[square])


@part
def _step_within(side, row, index):
    """Take the maximum with the moves of an inner pawn."""
    best, within = row.best, row.within[MARGIN:]
    for column in range(index.size[COLUMNS]):
        for i in range(PAWN_STEPS):
            target = PAWN_FROM[side, index.area[column], i]
            if target != OFF and within[index.column[target]] > best[column]:
                best[column] = within[index.column[target]]


@part
def find_best(side, row, index, arrays):
    """Write to `row.best` the best rank of the moves of a side from each column of the row.

    0 where there is no legal move. Columns in which pieces overlap, or the other side is in check,
    hold something.
    """
    columns, best = index.size[COLUMNS], row.best
    plane = arrays.tables[0, 1 - side]
    for column in range(best.size):
        best[column] = 0
    pieces, first = arrays.men.pieces, index.size[LEAD_PIECES]
    _move_defenders(side, plane, row, index, arrays)
    for man in range(index.men.shape[0]):
        code = pieces[first + man]
        if piece_side(code) != side:
            continue
        kind, square = piece_kind(code), row.squares[first + man]
        if kind == ROOK:
            _move_rook(man, square, side, plane, row, index, arrays)
        elif kind == CANNON:
            _move_cannon(man, square, side, plane, row, index, arrays)
        elif kind == KNIGHT:
            _move_knight(man, square, side, plane, row, index, arrays)
        else:
            _move_pawn(man, square, side, plane, row, index, arrays)
    if index.size[INNER_SIDE] != side:
        return
    at = plane + row.words[NUMBER_OF_ROW] * columns
    for column in range(columns):
        row.within[MARGIN + column] = arrays.ranks[at + column]
    kind = index.size[INNER_KIND]
    if kind == KNIGHT:
        _leap_within(row)
    elif kind == ROOK or kind == CANNON:
        _slide_within(kind == CANNON, row)
    else:
        _step_within(side, row, index)
