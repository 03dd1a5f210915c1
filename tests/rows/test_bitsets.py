"""Attacks on rows against attacks on boards, square by square."""

from __future__ import annotations

import numpy as np
import pytest

from tbgen.indexing.squares import SQUARES, PieceType, Side, piece_code
from tbgen.rows.bitsets import (
    BIT,
    NOWHERE,
    attacks_on_inner,
    has,
    inner_attackers,
    square_set,
)
from tbgen.rules.attacks import attacks

ATTACKERS = [kind for kind in PieceType if kind.is_attacker]


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


def test_no_set_contains_nowhere() -> None:
    assert not BIT[NOWHERE].any()
