# mypy: allow-untyped-defs, allow-untyped-calls
"""Checks and attacks of a whole row: in which columns a side is in check, or has a piece hanging.

Outer pieces stand still in a row, so an attack of one on another holds in every column, except
where the inner piece comes between, or is the mount that it lacks. The inner piece's own attacks
hold in the columns from which it sees the square. What is said of checks is exact; what is said of
other attacks may be more than there are, and is never less: whether they are chases, or win, is for
the scalar rules.
"""

from __future__ import annotations

import numpy as np

from tbgen.compiling.jit import part
from tbgen.indexing.squares import EMPTY, piece_kind, piece_side
from tbgen.rules.attacks import pieces_between
from tbgen.rules.board import is_in_palace, is_own_half
from tbgen.rules.chases import may_be_offender, may_be_victim
from tbgen.verify.forward.index import INNER_KIND, INNER_SIDE
from tbgen.verify.forward.lines import (
    CANNON,
    DIAGONAL,
    DIRECTIONS,
    KNIGHT,
    LANES,
    LEAP_COUNT,
    LEAPS_FROM,
    LEAPS_TO,
    OFF,
    PAWN,
    PAWN_STEPS,
    PAWN_TO,
    RAYS,
    ROOK,
)
from tbgen.verify.ranks import (
    ASKS_ATTACKS,
    ASKS_HUNG,
    ATTACKING,
    CHASE,
    CHECK,
    FREE,
)

KING, ADVISOR, ELEPHANT = range(3)


@part
def _mark_all_but(count, stake, mark, row, index):
    """Raise the marks of all columns but those that are listed in `row.passed`.

    count : int, how many they are; stake : int, the mark; mark : uint8 (lanes,), inout
    """
    for i in range(count):
        row.kept[i] = mark[row.passed[i]]
    lanes = mark.size // LANES * LANES
    marks = mark[:lanes]
    for lane in range(lanes):
        marks[lane] = max(marks[lane], stake)
    for i in range(count):
        mark[row.passed[i]] = row.kept[i]


@part
def _raise_passed(first, count, stake, mark, row):
    """Raise the marks of some of the columns that are listed in `row.passed`.

    first, count : int, which of them; stake : int, the mark; mark : uint8 (lanes,), inout
    """
    for i in range(first, count):
        column = row.passed[i]
        mark[column] = max(mark[column], stake)


@part
def _mark_lines(target, side, stake, mark, row, index):
    """Mark attacks by rooks and cannons of a side on a square.

    target : int, a square; stake : int, the mark; mark : uint8 (lanes,), inout
    """
    if not (index.owns[side, ROOK] or index.owns[side, CANNON]):
        return
    board = row.board
    is_rook = index.size[INNER_SIDE] == side and index.size[INNER_KIND] == ROOK
    is_cannon = index.size[INNER_SIDE] == side and index.size[INNER_KIND] == CANNON
    rook, cannon = 8 * side + ROOK + 1, 8 * side + CANNON + 1
    for direction in range(DIRECTIONS):
        before = _pass(target, direction, 0, 0, row, index)
        near = RAYS[target, direction, before]
        # The inner piece before the first one: a rook, or the mount of a cannon.
        if is_rook or (near != OFF and board[near] == cannon):
            _raise_passed(0, before, stake, mark, row)
        if near == OFF:
            continue
        if board[near] == rook:
            _mark_all_but(before, stake, mark, row, index)
        elif index.owns[side, CANNON]:
            # Between the first and the second: a cannon, or in the way of one.
            count = _pass(target, direction, before + 1, before, row, index)
            far = RAYS[target, direction, count + 1]
            if is_cannon:
                _raise_passed(before, count, stake, mark, row)
            if far != OFF and board[far] == cannon:
                _mark_all_but(count, stake, mark, row, index)


@part
def _pass(square, direction, i, count, row, index):
    """List in `row.passed` the columns of the empty squares of a line, up to a piece or its end.

    direction : int, of the line; i : int, the first of its squares
    count : int, how many are listed; returned is how many are then
    """
    to = RAYS[square, direction, i]
    while to != OFF and row.board[to] == EMPTY:
        row.passed[count] = index.column[to]
        count += 1
        i += 1
        to = RAYS[square, direction, i]
    return count


@part
def _mark_leaps(target, side, stake, mark, row, index):
    """Mark attacks by knights of a side on a square.

    target : int, a square; stake : int, the mark; mark : uint8 (lanes,), inout
    """
    if not index.owns[side, KNIGHT]:
        return
    board = row.board
    is_inner = index.size[INNER_SIDE] == side and index.size[INNER_KIND] == KNIGHT
    knight = 8 * side + KNIGHT + 1
    for i in range(LEAP_COUNT):
        source, leg = LEAPS_TO[target, i, 0], LEAPS_TO[target, i, 1]
        if source == OFF or board[leg] != EMPTY:
            continue
        if board[source] == knight:
            row.passed[0] = index.column[leg]
            _mark_all_but(1, stake, mark, row, index)
        elif is_inner:
            _raise(source, stake, mark, index)


@part
def _mark_pawns(target, side, stake, mark, row, index):
    """Mark attacks by pawns of a side on a square.

    target : int, a square; stake : int, the mark; mark : uint8 (lanes,), inout
    """
    if not index.owns[side, PAWN]:
        return
    is_inner = index.size[INNER_SIDE] == side and index.size[INNER_KIND] == PAWN
    pawn = 8 * side + PAWN + 1
    for i in range(PAWN_STEPS):
        source = PAWN_TO[side, target, i]
        if source != OFF and row.board[source] == pawn:
            _mark_all_but(0, stake, mark, row, index)
        elif source != OFF and is_inner:
            _raise(source, stake, mark, index)


@part
def _mark_minor(target, side, stake, by_king, mark, row, index):
    """Mark attacks by king, advisors and elephants of a side on a square.

    target : int, a square; stake, by_king : int, the marks; mark : uint8 (lanes,), inout
    """
    board = row.board
    if not is_own_half(side, target // 9):
        return
    if by_king and is_in_palace(side, target // 9, target % 9):
        for i in range(DIRECTIONS):
            square = RAYS[target, i, 0]
            if square != OFF and board[square] == 8 * side + KING + 1:
                _mark_all_but(0, by_king, mark, row, index)
    if not (index.owns[side, ADVISOR] or index.owns[side, ELEPHANT]):
        return
    for i in range(DIRECTIONS):
        square = DIAGONAL[target, i]
        if square == OFF:
            continue
        if board[square] == 8 * side + ADVISOR + 1:
            if is_in_palace(side, target // 9, target % 9):
                _mark_all_but(0, stake, mark, row, index)
        elif board[square] == EMPTY:
            beyond = DIAGONAL[square, i]
            if beyond != OFF and board[beyond] == 8 * side + ELEPHANT + 1:
                row.passed[0] = index.column[square]
                _mark_all_but(1, stake, mark, row, index)


@part
def mark_checks(side, row, index, arrays):
    """Mark in `row.checked` the columns in which a side's king is attacked, or faces the other."""
    mark, stake = row.checked[side], np.uint8(1)
    for column in range(mark.size):
        mark[column] = 0
    squares, men = row.squares, arrays.men
    king, other_king = squares[men.kings[side]], squares[men.kings[1 - side]]
    _mark_lines(king, 1 - side, stake, mark, row, index)
    _mark_leaps(king, 1 - side, stake, mark, row, index)
    _mark_pawns(king, 1 - side, stake, mark, row, index)
    if pieces_between(row.board, king, other_king) == 0:
        count = 0
        for square in range(min(king, other_king) + 9, max(king, other_king), 9):
            row.passed[count] = index.column[square]
            count += 1
        _mark_all_but(count, stake, mark, row, index)


@part
def _mark_attacks(side, chases, mark, row, index, arrays):
    """Mark at least the columns in which a side has a piece that may be taken, or chased.

    The mark is 1, or the greatest of what is at stake for these pieces (`Arrays.stakes`).

    chases : bool, whether only attacks are meant that may be chases; mark : uint8 (lanes,), inout
    """
    pieces, squares = arrays.men.pieces, row.squares
    for p in range(pieces.size - 1):
        if piece_side(pieces[p]) != side or p == arrays.men.kings[side]:
            continue
        square = squares[p]
        stake = _at_stake(p, square, True, chases, arrays)
        if stake:
            _mark_lines(square, 1 - side, stake, mark, row, index)
            _mark_leaps(square, 1 - side, stake, mark, row, index)
            other = _at_stake(p, square, False, chases, arrays)
            _mark_minor(square, 1 - side, stake, other, mark, row, index)
            if other:
                _mark_pawns(square, 1 - side, other, mark, row, index)
    if index.size[INNER_SIDE] == side:
        _mark_inner(side, chases, mark, row, index, arrays)


@part
def _at_stake(p, square, is_chaser, chases, arrays):
    """The mark of an attack on a piece; 0 if it is of no interest.

    p : int, which of the pieces; is_chaser : bool, whether who attacks may chase
    chases : bool, whether only attacks are meant that may be chases
    """
    if not chases:
        return arrays.stakes[p]
    may_chase = may_be_victim(arrays.men.pieces[p], square, arrays.chase_rules)
    return np.uint8(is_chaser and may_chase)


@part
def ask(at, asks, columns, arrays):
    """What has to be known of the positions of a row, to tell the kinds of all of them.

    at : int, the row in the plane of a side; asks : uint8 (ranks,), of each rank or place there
    columns : int
    """
    asked = np.uint8(0)
    for column in range(columns):
        asked |= asks[arrays.ranks[at + column]]
    return asked


@part
def mark_asked(red, black, row, index, arrays):
    """Mark in `row.hung` and `row.threats` what kinds depend on, and nothing else.

    red, black : int, what is asked of positions with Red, and with Black to move
    """
    for side in range(2):
        own, other = red, black
        if side == 1:
            own, other = black, red
        for chases in range(2):
            mark, is_asked = row.threats[side], other & ASKS_ATTACKS
            if chases:
                mark, is_asked = row.hung[side], own & ASKS_HUNG
            for lane in range(mark.size):
                mark[lane] = 0
            if arrays.seek_chases and is_asked:
                _mark_attacks(side, chases == 1, mark, row, index, arrays)


@part
def mark_kinds(side, row):
    """Write to `row.kinds` what kinds the positions of a side are, as far as was asked for."""
    lanes = row.kinds.size // LANES * LANES
    kinds, checked = row.kinds[:lanes], row.checked[side][:lanes]
    hung, attacking = row.hung[side][:lanes], row.threats[1 - side][:lanes]
    for lane in range(lanes):
        kind = np.uint8(FREE)
        if attacking[lane]:
            kind = np.uint8(ATTACKING)
        if hung[lane]:
            kind = np.uint8(CHASE)
        if checked[lane]:
            kind = np.uint8(CHECK)
        kinds[lane] = kind


@part
def mark_taken(kind, row, index):
    """Write to `row.kinds` that positions are of another kind if the inner piece stands on one.

    kind : int
    """
    for p in range(row.squares.size - 1):
        row.kinds[index.column[row.squares[p]]] = kind


@part
def _raise(square, stake, mark, index):
    """Raise the mark of a square's column.

    stake : int, the mark; mark : uint8 (lanes,), inout
    """
    column = index.column[square]
    mark[column] = max(mark[column], stake)


@part
def _raise_inner(square, is_chaser, chases, mark, index, arrays):
    """Raise the mark of the column of the inner piece, attacked on a square.

    is_chaser, chases : bool, as in `_at_stake`; mark : uint8 (lanes,), inout
    """
    inner = arrays.men.pieces.size - 1
    _raise(square, _at_stake(inner, square, is_chaser, chases, arrays), mark, index)


@part
def _mark_inner(side, chases, mark, row, index, arrays):
    """Mark the columns in which an outer piece attacks the inner one, of a side.

    chases : bool, whether only attacks are meant that may be chases; mark : uint8 (lanes,), inout
    """
    board, pieces, squares = row.board, arrays.men.pieces, row.squares
    for p in range(pieces.size - 1):
        if piece_side(pieces[p]) == side:
            continue
        kind, square = piece_kind(pieces[p]), squares[p]
        is_chaser = may_be_offender(pieces[p])
        if chases and not is_chaser:
            continue
        if kind == ROOK or kind == CANNON:
            for direction in range(DIRECTIONS):
                met = 0
                i = 0
                while RAYS[square, direction, i] != OFF and met < 2:
                    to = RAYS[square, direction, i]
                    if board[to] != EMPTY:
                        met += 1
                    elif (met == 0) == (kind == ROOK):
                        _raise_inner(to, is_chaser, chases, mark, index, arrays)
                    i += 1
        elif kind == KNIGHT:
            for i in range(LEAP_COUNT):
                if LEAPS_FROM[square, i, 0] != OFF and board[LEAPS_FROM[square, i, 1]] == EMPTY:
                    to = LEAPS_FROM[square, i, 0]
                    _raise_inner(to, is_chaser, chases, mark, index, arrays)
        elif kind == PAWN or kind == KING:
            # Whether he may go there is no matter.
            for direction in range(DIRECTIONS):
                to = RAYS[square, direction, 0]
                if to != OFF:
                    _raise_inner(to, is_chaser, chases, mark, index, arrays)
        else:
            for i in range(DIRECTIONS):
                to = DIAGONAL[square, i]
                if kind == ELEPHANT and to != OFF:
                    if board[to] == EMPTY:
                        to = DIAGONAL[to, i]
                    else:
                        to = OFF
                if to != OFF:
                    _raise_inner(to, is_chaser, chases, mark, index, arrays)
