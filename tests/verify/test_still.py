"""Still moves: none of them attacks anything anew, says the referee, whatever else is on the board."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tbgen.indexing import Side
from tbgen.indexing.squares import EMPTY, SQUARES, PieceType, area, piece_code, piece_side
from tbgen.indexing.threads import thread_pool
from tbgen.rules.attacks import in_check
from tbgen.rules.chases import is_new_attack
from tbgen.rules.moves import is_safe_after, piece_moves
from tbgen.tables.names import Rules, RuleSet
from tbgen.verify.arrays import Men, gather
from tbgen.verify.chase.sieve import sift
from tbgen.verify.forward.first_pass import Passes
from tbgen.verify.forward.still import is_still
from tbgen.verify.report import no_progress
from tests.kits.solutions import solution

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


@pytest.mark.parametrize("name", ["KRKNA", "KNKB"])
def test_the_sieve_would_leave_them_out(name):
    """In ranks as they are after the first pass; in KRKNA almost all chasers have a still move."""
    table = solution(name, Rules.WXF)
    loaded = gather(table, lambda child: solution(child.name, Rules.WXF), RuleSet(Rules.WXF))
    passes = Passes(loaded.arrays, table.layout, 1, no_progress)
    found = passes.prove(list_checks=True)
    left = passes.without_still(found.chasers)
    assert len(left) < len(found.chasers)
    with thread_pool(1) as pool:
        every = sift(found.chasers, found.claims, loaded.arrays, pool)
        assert np.array_equal(sift(left, found.claims, loaded.arrays, pool), every)
