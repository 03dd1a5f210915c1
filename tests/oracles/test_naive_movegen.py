"""The naive moves against Fairy-Stockfish's (pyffish), and against the naive solver's graph."""

from __future__ import annotations

import random

import pyffish
import pytest

from tests.oracles.naive import movegen
from tests.oracles.naive.movegen import Board
from tests.oracles.naive.solver import SIDES, table

ARMIES = [
    "K",
    "KR",
    "KN",
    "KC",
    "KP",
    "KAB",
    "KRC",
    "KNP",
    "KCAB",
    "KPP",
    "KNN",
    "KRAABB",
    "KRNCPP",
    "KRRNNCCPPPPPAABB",
]


def random_position(rng: random.Random) -> tuple[Board, str]:
    """Return a legal position (board, side to move) of random armies, often crowded on five files.

    Pieces without a free square are left out.
    """
    while True:
        letters = rng.choice(ARMIES) + rng.choice(ARMIES).lower()
        files = range(2, 7) if rng.random() < 0.5 else range(9)
        board: Board = {}
        for letter in letters:
            free = [sq for sq in movegen.area(letter) if sq not in board and sq // 10 in files]
            if free:
                board[rng.choice(free)] = letter
        side = rng.choice(SIDES)
        if movegen.is_legal(board, side):
            return board, side


def uci(move: movegen.Move) -> str:
    """Return the move in pyffish's notation, ranks from 1."""
    return "".join(movegen.FILES[sq // 10] + str(sq % 10 + 1) for sq in move)


@pytest.mark.parametrize("seed", range(3))
def test_moves_and_checks_agree_with_pyffish(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(150):
        board, side = random_position(rng)
        fen = movegen.to_fen(board, side)
        moves = sorted(uci(move) for move in movegen.legal_moves(board, side))
        assert moves == sorted(pyffish.legal_moves("xiangqi", fen, [])), fen
        assert movegen.in_check(board, side) == pyffish.gives_check("xiangqi", fen, []), fen


def test_opening_array_and_its_second_ply() -> None:
    fen = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w"
    board, side = movegen.from_fen(fen)
    moves = list(movegen.legal_moves(board, side))
    replies = sum(len(list(movegen.legal_moves(movegen.after(board, move), "b"))) for move in moves)
    assert (len(moves), replies) == (44, 1920)


def test_fen_round_trip() -> None:
    rng = random.Random(3)
    for _ in range(50):
        board, side = random_position(rng)
        assert movegen.from_fen(movegen.to_fen(board, side)) == (board, side)


def test_areas() -> None:
    sizes = {letter: len(movegen.area(letter)) for letter in "KABPRNC"}
    assert sizes == {"K": 9, "A": 5, "B": 7, "P": 55, "R": 90, "N": 90, "C": 90}
    for letter in "KABP":
        flipped = sorted(sq - sq % 10 + 9 - sq % 10 for sq in movegen.area(letter.lower()))
        assert flipped == movegen.area(letter)


@pytest.mark.parametrize("material", [("KR", "KA"), ("KP", "KB"), ("KPP", "K"), ("KAA", "KB")])
def test_the_graph_holds_exactly_the_legal_moves(material: tuple[str, str]) -> None:
    """The moves in the graph of the naive solver are the legal moves of each position.

    The materials have identical pieces, mirror images and captures.
    """
    positions = table(material)
    rng = random.Random(1)
    for node in rng.sample(range(len(positions.side)), 400):
        board, side = movegen.from_fen(positions.fen(node))
        expected: list[object] = []
        for move in movegen.legal_moves(board, side):
            new = movegen.after(board, move)
            if move[1] in board:
                left = "".join(new.values())
                armies = ("".join(filter(str.isupper, left)), "".join(filter(str.islower, left)))
                smaller = tuple("".join(sorted(a.upper(), key="KRNCPAB".index)) for a in armies)
                child = table((smaller[0], smaller[1])).find(new, movegen.other(side))
                expected.append((smaller, child))
            else:
                expected.append(positions.find(new, movegen.other(side)))
        found = [*positions.moves[node], *positions.captures.get(node, [])]
        assert sorted(map(str, found)) == sorted(map(str, expected)), positions.fen(node)
