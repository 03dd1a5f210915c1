"""Moves, attacks, checks and legality against pyffish, and their consistency."""

import random
import subprocess
import sys

import pytest
from hypothesis import given, settings

from tbgen import rules
from tbgen.indexing import START_FEN, Move, MoveTextError, Position, PositionError, Side
from tbgen.indexing.squares import EMPTY, SQUARES, flip_square, mirror_square, piece_side
from tbgen.rules import attacks, moves
from tbgen.rules.board import MAX_MOVES
from tests.helpers.strategies import positions, random_game, random_position
from tests.oracles import fairy_stockfish as oracle

START = Position.from_fen(START_FEN)


def generated(generate, position, side):
    """Return the moves that the function `generate` lists for a side, as (source, target)."""
    sources, targets = [0] * MAX_MOVES, [0] * MAX_MOVES
    count = generate(position.board, side, sources, targets)
    return list(zip(sources[:count], targets[:count], strict=True))


def perft(position, depth):
    legal = rules.legal_moves(position)
    if depth == 1:
        return len(legal)
    return sum(perft(position.after(*move), depth - 1) for move in legal)


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.certification) for seed in range(1, 4))]
)
def test_random_endgames_agree_with_the_oracle(seed):
    rng = random.Random(seed)
    for _ in range(400):
        position = random_position(rng)
        assert set(rules.legal_moves(position)) == oracle.legal_moves(position), position.fen
        assert rules.in_check(position) == oracle.in_check(position), position.fen
        assert rules.is_terminal(position) == (not rules.legal_moves(position)), position.fen


def test_random_games_agree_with_the_oracle():
    rng = random.Random(5)
    for _ in range(3):
        for position in random_game(rng, START, 80):
            legal = rules.legal_moves(position)
            assert len(legal) == len(set(legal))
            assert set(legal) == oracle.legal_moves(position), position.fen
            assert rules.in_check(position) == oracle.in_check(position), position.fen


def test_mates_and_stalemates_are_losses_in_the_oracle():
    rng = random.Random(6)
    mated, stalemated = [], []
    while len(mated) < 6 or len(stalemated) < 6:
        position = random_position(rng, ("KRRCCKA", "KRRNKB", "KRPPKAA"))
        if rules.is_terminal(position):
            (mated if rules.in_check(position) else stalemated).append(position)
    for position in mated[:6] + stalemated[:6]:
        assert not oracle.legal_moves(position), position.fen
        assert oracle.result_without_moves(position) < 0, position.fen


def test_perft_of_endgames():
    rng = random.Random(7)
    for _ in range(6):
        position = random_position(rng)
        assert perft(position, 2) == oracle.perft(position, 2), position.fen


@given(positions(legal=False))
def test_attackers_agree_with_attacked_squares(position):
    board = position.board
    for side in Side:
        own = [s for s in range(SQUARES) if board[s] != EMPTY and piece_side(board[s]) == side]
        captures = {(s, t) for s, t in generated(moves.generate_moves, position, side) if board[t]}
        for target in range(SQUARES):
            attackers = {s for s in own if attacks.attacks(board, s, target)}
            assert attacks.is_attacked(board, target, side) == bool(attackers)
            if board[target] != EMPTY and piece_side(board[target]) != side:
                assert {(s, target) for s in attackers} == {c for c in captures if c[1] == target}


@given(positions())
def test_generated_moves_agree_with_reaches(position):
    expected = {
        (source, target)
        for source in range(SQUARES)
        for target in range(SQUARES)
        if moves.is_legal_move(bytearray(position.board), position.side, source, target)
    }
    assert {tuple(move) for move in rules.legal_moves(position)} == expected


@given(positions())
def test_mirror_and_colour_symmetry(position):
    legal = set(rules.legal_moves(position))
    for image, square in (
        (position.mirrored(), mirror_square),
        (position.swapped(), flip_square),
    ):
        assert set(rules.legal_moves(image)) == {Move(square(a), square(b)) for a, b in legal}
        assert rules.in_check(image) == rules.in_check(position)
        assert rules.is_terminal(image) == rules.is_terminal(position)


@given(positions())
def test_trying_a_move_restores_the_board(position):
    board = bytearray(position.board)
    for source, target in generated(moves.generate_moves, position, position.side):
        moves.is_legal_move(board, position.side, source, target)
        assert board == position.board


@settings(max_examples=50)
@given(positions())
def test_play_keeps_positions_legal(position):
    for move in rules.legal_moves(position):
        rules.check_legal(rules.play(position, move))


@pytest.mark.parametrize(
    ("fen", "message"),
    [
        ("4k4/9/9/9/9/9/9/9/9/4K4 w", "the kings face each other"),
        ("4k4/9/9/9/9/9/9/9/9/r2K5 b", "Red is in check but Black is to move"),
        ("3k4R/9/9/9/9/9/9/9/9/4K4 w", "Black is in check but Red is to move"),
    ],
)
def test_impossible_positions_raise_with_a_reason(fen, message):
    with pytest.raises(PositionError, match=message) as caught:
        rules.check_legal(Position.from_fen(fen))
    assert caught.value.hint


@pytest.mark.parametrize(
    ("fen", "move", "message"),
    [
        ("4k4/9/9/9/9/9/9/9/4R4/3K5 w", "a0a1", "no piece on a0"),
        ("4k4/9/9/9/9/9/9/9/4R4/3K5 w", "e9e8", "is Black's"),
        ("4k4/9/9/9/9/9/9/9/4A4/3K5 w", "e1d0", "held by Red's own piece"),
        ("4k4/9/9/9/9/9/9/9/4R4/3K5 w", "e1d2", "rook on e1 cannot reach d2"),
        ("4k4/9/9/9/9/9/9/9/4R4/4K4 w", "e1d1", "kings facing"),
        ("4k4/9/9/9/9/9/9/9/3R5/r2K5 w", "d1e1", "Red's king in check"),
    ],
)
def test_illegal_moves_raise_with_a_reason(fen, move, message):
    with pytest.raises(MoveTextError, match=message) as caught:
        rules.play(Position.from_fen(fen), Move.from_iccs(move))
    assert caught.value.hint


def test_the_rules_do_not_import_numba():
    code = "import sys, tbgen.rules; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
