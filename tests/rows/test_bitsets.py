"""Attacks as sets of squares of the inner piece agree with attacks tested on single boards."""

from __future__ import annotations

import numpy as np
import pytest

from tbgen.compiling.jit import borrowing_kernel
from tbgen.indexing.squares import SQUARES, PieceType, Side, piece_code
from tbgen.rows.bitsets import (
    BIT,
    NOWHERE,
    OFF_BOARD,
    attack_stands,
    attacks_on_inner,
    has,
    inner_attackers,
    square_set,
)
from tbgen.rules.attacks import attacks

ATTACKERS = [kind for kind in PieceType if kind.is_attacker]


@borrowing_kernel
def k_attack_stands(kind, side, source, target, lo, hi):
    """Call `attack_stands` in a kernel, since plain Python lacks the instructions that it uses."""
    return attack_stands(kind, side, source, target, lo, hi)


@pytest.mark.parametrize("side", list(Side))
@pytest.mark.parametrize("kind", ATTACKERS)
def test_attacks_are_those_of_the_rules(kind: PieceType, side: Side) -> None:
    rng = np.random.default_rng(kind)
    for _ in range(40):
        taken = rng.choice(SQUARES, rng.integers(1, 30), replace=False).tolist()
        lo, hi = map(np.uint64, square_set(taken))
        board = bytearray(SQUARES)
        for square in taken:
            board[square] = piece_code(side, PieceType.PAWN)
        own = taken[0]
        x, y = inner_attackers(int(kind), int(side), own, lo, hi)
        u, v = attacks_on_inner(int(kind), int(side), own, lo, hi)
        for square in range(SQUARES):
            if board[square]:
                expected_from = expected_on = False
            else:
                board[square] = piece_code(side, kind)
                expected_from = attacks(bytes(board), square, own)
                board[square] = 0
                kept, board[own] = board[own], piece_code(side, kind)
                expected_on = attacks(bytes(board), own, square)
                board[own] = kept
            assert has(x, y, square) == expected_from
            assert has(u, v, square) == expected_on


@pytest.mark.parametrize("kind", ATTACKERS)
def test_an_attack_stands_for_the_inner_squares_that_leave_it_open(kind: PieceType) -> None:
    """`attack_stands` agrees with attacks tested on boards, for each square of the inner piece.

    The inner piece is the one whose square a row leaves open. It is put on every free square, where
    it may block the attack or be a cannon's screen.
    """
    rng = np.random.default_rng(kind)
    some = 0
    for side in (*Side,) * 300:
        source, target, *taken = rng.choice(SQUARES, rng.integers(2, 20), replace=False).tolist()
        if rng.random() < 0.8:
            near = [source + step for step in (1, -1, 9, -9, 7, 11, 17, 19, -17, -19, 4, 27, -36)]
            target = int(rng.choice([at for at in near if 0 <= at < SQUARES and at not in taken]))
        board = bytearray(SQUARES)
        for square in (*taken, target):
            board[square] = piece_code(side, PieceType.PAWN)
        board[source] = piece_code(side, kind)
        occupied = map(np.uint64, square_set([at for at in range(SQUARES) if board[at]]))
        lo, hi = k_attack_stands(int(kind), int(side), source, target, *occupied)
        assert bool(lo & int(OFF_BOARD)) == attacks(bytes(board), source, target)
        for square in range(SQUARES):
            if not board[square]:
                board[square] = piece_code(side, PieceType.PAWN)
                assert has(lo, hi, square) == attacks(bytes(board), source, target)
                board[square] = 0
                some += has(lo, hi, square)
    assert some > 1000


def test_no_set_contains_nowhere() -> None:
    assert not BIT[NOWHERE].any()
