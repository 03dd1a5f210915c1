# mypy: allow-untyped-defs, allow-untyped-calls
"""Still moves: what cannot be a chase, seen without asking for one.

A possible chaser has to chase with each move that keeps its value. Most have a move of the king, an
advisor or an elephant that keeps it and is nowhere near anything:

    still    the move opens and closes no line, frees no leg and no eye, attacks nothing itself,
             and it makes no capture legal that was not so before, nor a recapture illegal

It attacks nothing anew then, so its mover is no chaser. A move that is not called still may be no
chase all the same. Planes are complete (`tbgen.verify.forward.complete`), so that what a step leads
to, and whether it is legal, is one look.
"""

from __future__ import annotations

from tbgen.compiling.jit import part
from tbgen.indexing.squares import EMPTY, piece_kind, piece_side
from tbgen.rules.attacks import attacks
from tbgen.verify.arrays import LAST_STAKE
from tbgen.verify.forward.index import (
    AFTER,
    COLUMNS,
    EYE,
    MIDS,
    MIRROR_MID,
    MIRRORED,
    NUMBER_OF_ROW,
    PIECE,
    TARGET,
)
from tbgen.verify.forward.lines import CANNON, KNIGHT, OFF, ROOK
from tbgen.verify.forward.marks import ADVISOR, ELEPHANT, KING
from tbgen.verify.keys import MATE, order_of_key

_RANK, _FILE = 3, 12
"""Both ways along a rank, and along a file, as `_way` has them."""


@part
def _way(source, square):
    """The way from a square to another one of its lines, as a bit; 0 where they share none.

    source : int, a square
    """
    if source // 9 == square // 9:
        return 1 if square < source else 2
    if source % 9 == square % 9:
        return 4 if square < source else 8
    return 0


@part
def _is_between(ways):
    """Whether there are pieces both ways along a line.

    ways : int, bits of `_way`
    """
    return ways & _RANK == _RANK or ways & _FILE == _FILE


@part
def _is_barred(knight, target, board):
    """Whether a knight would attack a square, but for what stands on its leg.

    knight : int, its square
    """
    ranks, files = target // 9 - knight // 9, target % 9 - knight % 9
    if ranks * ranks + files * files != 5:
        return False
    leg = knight + files // 2
    if abs(ranks) == 2:
        leg = knight + 9 * (ranks // 2)
    return board[leg] != EMPTY


@part
def is_still(mover, target, squares, board, men):
    """Whether a legal move of a defender to an empty square surely attacks nothing anew.

    Squares beside each other are told by their difference; those at two ends of neighbouring ranks
    are taken for such, too, which only leaves out a move.
    """
    source, code = squares[mover], men.pieces[mover]
    side, kind = piece_side(code), piece_kind(code)
    # What protects a piece may be pinned between the kings now, or be the other king.
    files = abs(squares[men.kings[1 - side]] % 9 - target % 9)
    faces = kind == KING and source % 9 != target % 9 and files < 2
    ways, ways_after, own, pinning = 0, 0, 0, 0
    for p in range(squares.size):
        if p == mover:
            continue
        square, other = squares[p], piece_kind(men.pieces[p])
        way = _way(source, square)
        ways |= way
        ways_after |= _way(target, square)
        left, reached = abs(square - source), abs(square - target)
        if piece_side(men.pieces[p]) == side:
            own |= way
            # The mover may have stood on the leg, or on the eye.
            if other == KNIGHT and (left == 1 or left == 9):
                return False
            if other == ELEPHANT and (left == 8 or left == 10):
                return False
            continue
        # Now he may stand on the leg of a knight that protects something.
        if other == KNIGHT and (reached == 1 or reached == 9):
            return False
        if kind == ADVISOR and (reached == 8 or reached == 10):
            return False
        if kind == ELEPHANT and (reached == 16 or reached == 20):
            return False
        if kind == KING:
            if other == ROOK or other == CANNON or other == KING:
                pinning |= way
            if other == KNIGHT and _is_barred(square, source, board):
                return False
            if faces and other != KING and square % 9 == target % 9:
                return False
    # A king may have left a line on which his own pieces were pinned.
    return not (_is_between(ways) or _is_between(ways_after) or (own & pinning))


@part
def _may_win(side, mover, target, order, squares, board, arrays):
    """Whether, after a move to an empty square, the other side attacks a piece that is at stake.

    side : int, the mover's; order : int, by which the capture would have to win
    """
    men = arrays.men
    source, code = squares[mover], board[squares[mover]]
    board[source], board[target], squares[mover] = EMPTY, code, target
    found = False
    for p in range(squares.size):
        if piece_side(men.pieces[p]) == side:
            continue
        for q in range(squares.size):
            at_stake = arrays.stakes[q] & LAST_STAKE >= min(order, LAST_STAKE)
            if piece_side(men.pieces[q]) == side and at_stake:
                found = found or attacks(board, squares[p], squares[q])
    board[target], board[source], squares[mover] = EMPTY, code, source
    return found


@part
def key_after_step(i, side, column, row, index, arrays):
    """The key, for the opponent, of the position after a defender's step.

    i : int, the place of the step in `row.steps`; column : int, that of the inner piece
    """
    columns, step = index.size[COLUMNS], row.steps[side, i]
    mid = row.words[NUMBER_OF_ROW] % index.size[MIDS]
    if step[MIRRORED]:
        mid, column = row.words[MIRROR_MID], index.mirror_column[column]
    at = arrays.tables[0, 1 - side] + (step[AFTER] + mid) * columns + column
    return arrays.values.keys[1 - side, arrays.ranks[at]]


@part
def has_still_move(side, column, limit, row, index, arrays):
    """Whether a defender has a still move that loses by no order up to the limit.

    column : int, that of the inner piece, which is on `row.board` and in `row.squares`
    """
    board, squares, men = row.board, row.squares, arrays.men
    for i in range(row.counts[side]):
        step = row.steps[side, i]
        mover, target, eye = step[PIECE], step[TARGET], step[EYE]
        if board[target] != EMPTY or (eye != OFF and board[eye] != EMPTY):
            continue
        child = key_after_step(i, side, column, row, index, arrays)
        if child < -MATE or (child > 0 and order_of_key(child) < limit):
            continue
        if not is_still(mover, target, squares, board, men):
            continue
        # By the order of the value it loses only if a capture does it.
        if child <= 0 or order_of_key(child) > limit:
            return True
        if not _may_win(side, mover, target, limit, squares, board, arrays):
            return True
    return False
