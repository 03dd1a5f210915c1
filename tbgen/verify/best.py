# mypy: allow-untyped-defs, allow-untyped-calls
"""The best of a position's moves: the largest number of those of the slots that they lead to.

A slot without a position has the number 0, less than every other: so has one after an illegal move,
and one in which two pieces of a side share a square. Where two of different sides do, there is the
number of the position after the capture (`complete`). So moves are not told apart here.
"""

from __future__ import annotations

import numpy as np

from tbgen.compiling.jit import inlined_part, part
from tbgen.indexing.squares import EMPTY, SQUARES, PieceType, piece_kind, piece_side
from tbgen.verify.index import EYE, FIRST_SLOT, MIRRORED, NOWHERE, TARGET

_KNIGHT, _PAWN, _CANNON = int(PieceType.KNIGHT), int(PieceType.PAWN), int(PieceType.CANNON)


@inlined_part
def _along(side, kind, s, end, step, at, line, numbers, best, desk, index):
    """The best of the moves of a rook or cannon one way.

    best : int, what was the best before
    """
    while s != end:
        code = desk.board[s]
        if code != EMPTY:
            if kind == _CANNON:
                s += step
                while s != end and desk.board[s] == EMPTY:
                    s += step
                if s == end:
                    break
                code = desk.board[s]
            if piece_side(code) != side:
                best = max(best, numbers[at + index.extend[line, s]])
            break
        best = max(best, numbers[at + index.extend[line, s]])
        s += step
    return best


@part
def best_of_man(m, side, at, best, numbers, desk, index):
    """The best of the moves of an attacker, or what was the best before.

    best : int, what was the best before
    """
    kind, square, line = piece_kind(index.men[m]), desk.squares[m], desk.line[m]
    board = desk.board
    if kind == _KNIGHT:
        n = 0
        while index.leaps[square, n, 0] != NOWHERE:
            if board[index.leaps[square, n, 0]] == EMPTY:
                s = index.leaps[square, n, 1]
                if board[s] == EMPTY or piece_side(board[s]) != side:
                    best = max(best, numbers[at + index.extend[line, s]])
            n += 1
    elif kind == _PAWN:
        n = 0
        while index.pawn[side, square, n] != NOWHERE:
            s = index.pawn[side, square, n]
            if board[s] == EMPTY or piece_side(board[s]) != side:
                best = max(best, numbers[at + index.extend[line, s]])
            n += 1
    else:
        file = square % 9
        best = _along(side, kind, square + 1, square - file + 9, 1, at, line, numbers, best,
                      desk, index)  # fmt: skip
        best = _along(side, kind, square - 1, square - file - 1, -1, at, line, numbers, best,
                      desk, index)  # fmt: skip
        best = _along(side, kind, square + 9, file + SQUARES, 9, at, line, numbers, best,
                      desk, index)  # fmt: skip
        best = _along(side, kind, square - 9, file - 9, -9, at, line, numbers, best,
                      desk, index)  # fmt: skip
    return best


@part
def best_of_steps(side, plane, within, image, best, numbers, desk):
    """The best of the steps of a side's king, advisors and elephants, or what was the best before.

    best : int, what was the best before
    """
    board, steps = desk.board, desk.steps
    for n in range(desk.counts[side]):
        code = board[steps[side, n, TARGET]]
        if code != EMPTY and piece_side(code) == side:
            continue
        if steps[side, n, EYE] != NOWHERE and board[steps[side, n, EYE]] != EMPTY:
            continue
        after = image if steps[side, n, MIRRORED] else within
        best = max(best, numbers[plane + steps[side, n, FIRST_SLOT] + after])
    return best


@part
def best_move(side, plane, lead, cell, within, image, numbers, desk, index):
    """The largest number that a move of a side leads to, 0 without one.

    lead : int, the first slot of the lead
    """
    best = best_of_steps(side, plane, within, image, numbers[0] * 0, numbers, desk)
    k, last = 0, index.men.size - 1
    while index.own[side, k] != NOWHERE:
        m = index.own[side, k]
        at = plane + lead + desk.rest[m]
        if m != last:
            at += cell
        best = best_of_man(m, side, at, best, numbers, desk, index)
        k += 1
    return np.int64(best)
