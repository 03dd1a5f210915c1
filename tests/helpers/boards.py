"""Arrays of boards, uint8 (n, 90): every placement of a material, or random ones.

A board has the piece code of each square, 0 for an empty one. It has no side to move.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from tbgen.indexing import Material
from tbgen.indexing.squares import SQUARES, PieceType, Side, area, flip_square, piece_code

Boards = NDArray[np.uint8]

_FLIP = np.array([flip_square(square) for square in range(SQUARES)])


def _groups(material: Material) -> list[tuple[int, int, tuple[int, ...]]]:
    """List (piece code, number of pieces, squares they may stand on) for each kind of piece.

    The kinds of Red's army come first.
    """
    return [
        (piece_code(side, kind), army.count(kind), area(side, kind))
        for side, army in zip(Side, material.armies, strict=True)
        for kind in PieceType
        if army.count(kind)
    ]


def all_boards(material: Material) -> Boards:
    """Return every placement of a material, mirror images and illegal positions included."""
    boards = np.zeros((1, SQUARES), np.uint8)
    for code, count, squares in _groups(material):
        sets = np.array(list(combinations(squares, count)))
        grown = np.repeat(boards, len(sets), axis=0)
        rows = np.arange(len(grown))
        chosen = np.tile(sets, (len(boards), 1))
        free = (grown[rows[:, None], chosen] == 0).all(axis=1)
        grown[rows[:, None], chosen] = code
        boards = grown[free]
    return boards


def random_boards(material: Material, count: int, seed: int) -> Boards:
    """Return up to `count` random placements of a material.

    Makes `count` placements, and drops those in which two pieces share a square.
    """
    rng = np.random.default_rng(seed)
    boards = np.zeros((count, SQUARES), np.uint8)
    rows = np.arange(count)
    sound = np.ones(count, bool)
    for code, pieces, squares in _groups(material):
        for _ in range(pieces):
            square = rng.choice(squares, count)
            sound &= boards[rows, square] == 0
            boards[rows, square] = code
    return boards[sound]


def exchanged(boards: Boards) -> Boards:
    """Return copies with colours exchanged and ranks reversed; the other side is then to move."""
    flipped = boards[:, _FLIP]
    return np.ascontiguousarray(np.where(flipped > 0, flipped ^ 8, 0), np.uint8)
