"""Still moves: none of them attacks anything anew, says the referee, whatever is on the board."""

from __future__ import annotations

import random

import numpy as np

from tbgen.indexing import Side
from tbgen.indexing.squares import (
    EMPTY,
    SQUARES,
    PieceType,
    area,
    parse_square,
    piece_code,
    piece_side,
)
from tbgen.rules.attacks import in_check
from tbgen.rules.chases import is_new_attack
from tbgen.rules.moves import is_safe_after, piece_moves
from tbgen.verify.arrays import Men
from tbgen.verify.chase.still import is_still

ATTACKERS = [PieceType.ROOK, PieceType.KNIGHT, PieceType.CANNON, PieceType.PAWN]
DEFENDERS = [PieceType.KING, PieceType.ADVISOR, PieceType.ELEPHANT]


def crowd(rng):
    """A position with a few pieces of either side: the men, their squares, and the board."""
    codes = []
    for side in Side:
        kinds = [PieceType.KING, *rng.choices(DEFENDERS[1:], k=rng.randrange(3)),
                 *rng.choices(ATTACKERS, k=rng.randrange(4))]  # fmt: skip
        codes += [piece_code(side, kind) for kind in kinds]
    board = np.zeros(SQUARES, np.int8)
    squares = []
    for code in codes:
        # Most of them where kings and their neighbours are.
        places = [s for s in area(piece_side(code), (code & 7) - 1) if board[s] == EMPTY]
        near = [s for s in places if s < 36]
        squares.append(rng.choice(near if near and rng.random() < 0.7 else places))
        board[squares[-1]] = code
    kings = [codes.index(piece_code(side, PieceType.KING)) for side in Side]
    men = Men(np.array(codes, np.int64), np.array(kings, np.int64))
    return men, np.array(squares, np.int64), board


def moves_of_defenders(side, men, squares, board):
    """The legal moves of a side's defenders to empty squares, as (piece, target)."""
    for p, code in enumerate(men.pieces.tolist()):
        if piece_side(code) != side or (code & 7) - 1 not in DEFENDERS:
            continue
        targets = [0] * 20
        for target in targets[: piece_moves(board, int(squares[p]), targets, 0)]:
            if board[target] == EMPTY and is_safe_after(board, side, int(squares[p]), target):
                yield p, target


def attacks_anew(side, source, target, board, after):
    """Whether a move attacks anything anew, with or without chases by minor pieces."""
    own = [s for s in range(SQUARES) if after[s] != EMPTY and piece_side(after[s]) == side]
    others = [s for s in range(SQUARES) if after[s] != EMPTY and piece_side(after[s]) != side]
    return any(
        is_new_attack(board, after, source, target, attacker, victim, minor)
        for attacker in own for victim in others for minor in (False, True)
    )  # fmt: skip


def test_still_moves_attack_nothing_anew():
    rng = random.Random("still")
    still = lively = 0
    while still < 4000:
        men, squares, board = crowd(rng)
        side = Side.RED
        if in_check(board, 1 - side):
            continue
        for p, target in moves_of_defenders(side, men, squares, board):
            after = board.copy()
            after[target], after[squares[p]] = board[squares[p]], EMPTY
            anew = in_check(after, 1 - side) or attacks_anew(
                side, int(squares[p]), target, board, after
            )
            if is_still(p, target, squares, board, men):
                assert not anew, (board.tolist(), p, target)
                still += 1
            lively += anew
    assert lively > 100


def test_a_king_steps_out_of_a_knights_reach():
    """Kd0-d1, and the rook on e1 may leave the leg of the knight on e2: it attacks the cannon."""
    codes = [piece_code(Side.RED, PieceType.KING), piece_code(Side.RED, PieceType.ROOK),
             piece_code(Side.BLACK, PieceType.KING), piece_code(Side.BLACK, PieceType.KNIGHT),
             piece_code(Side.BLACK, PieceType.CANNON)]  # fmt: skip
    squares = np.array([parse_square(name) for name in ("d0", "e1", "f9", "e2", "i1")])
    men = Men(np.array(codes), np.array([0, 2]))
    board = np.zeros(SQUARES, np.int8)
    board[squares] = codes
    after = board.copy()
    after[parse_square("d0")], after[parse_square("d1")] = EMPTY, codes[0]
    assert attacks_anew(Side.RED, parse_square("d0"), parse_square("d1"), board, after)
    assert not is_still(0, parse_square("d1"), squares, board, men)
