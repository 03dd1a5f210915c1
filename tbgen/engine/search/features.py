# mypy: allow-untyped-defs, allow-untyped-calls
"""What the evaluation sees of a position beyond the pieces and their squares.

    mobility        free squares of a rook or cannon, free legs' leaps of a knight
    lines           rooks and cannons on a line with the enemy king, by what stands between
    nearness        knights, by their distance from the enemy king
    siege           how many attackers have crossed the river
    guards          attackers of each kind, by the advisors and elephants they meet
    pawns           two beside each other past the river

`see_features` adds up what they are worth, each once for each time it is there, and writes their
numbers into a list for the script that finds the weights. Pieces on squares are not among them:
their sums are kept from move to move (`state`). Neither are guards, which follow from the material:
`GUARD_FEATURES` has them.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import part
from tbgen.engine.search.geometry import (
    DISTANCES,
    FILE_OF,
    LEG_LEAPS,
    LEG_SQUARES,
    RANK_OF,
    count_between,
    free_squares,
)
from tbgen.engine.search.worths import FEATURE_WORTHS
from tbgen.indexing.squares import EMPTY, FILES, PieceType, piece_code

ROOK, KNIGHT, CANNON = (
    piece_code(0, kind) for kind in (PieceType.ROOK, PieceType.KNIGHT, PieceType.CANNON)
)
PAWN = piece_code(0, PieceType.PAWN)
ADVISOR, ELEPHANT = (piece_code(0, kind) for kind in (PieceType.ADVISOR, PieceType.ELEPHANT))
KING = piece_code(0, PieceType.KING)

_BETWEEN = 4
"""Pieces between that are told apart: none, one, two, more."""
_MOST = {ROOK: 2, KNIGHT: 2, CANNON: 2, PAWN: 5}
"""How many of a kind a side has."""

GROUPS = {
    "rook's mobility": 18,
    "cannon's mobility": 18,
    "knight's mobility": 9,
    "rook on the king's file": _BETWEEN,
    "rook on the king's rank": _BETWEEN,
    "cannon on the king's file": _BETWEEN,
    "cannon on the king's rank": _BETWEEN,
    "knight's distance from the king": 10,
    "attackers across the river": 12,
    "rooks against advisors": 3 * (_MOST[ROOK] + 1),
    "rooks against elephants": 3 * (_MOST[ROOK] + 1),
    "knights against advisors": 3 * (_MOST[KNIGHT] + 1),
    "knights against elephants": 3 * (_MOST[KNIGHT] + 1),
    "cannons against advisors": 3 * (_MOST[CANNON] + 1),
    "cannons against elephants": 3 * (_MOST[CANNON] + 1),
    "pawns against advisors": 3 * (_MOST[PAWN] + 1),
    "pawns against elephants": 3 * (_MOST[PAWN] + 1),
    "pawns beside each other": 1,
    "the move": 1,
}
"""How many features there are of each sort, in the order of their numbers."""

_FIRST = dict(zip(GROUPS, np.cumsum([0, *GROUPS.values()]).tolist(), strict=False))
FEATURES = sum(GROUPS.values())
MAX_LISTED = 80
"""More than a position has: sixteen for guards, two for the river, one for the move, at most three
for each of twelve rooks, knights and cannons, one for each of ten pawns."""

_ROOK_MOBILITY, _CANNON_MOBILITY = _FIRST["rook's mobility"], _FIRST["cannon's mobility"]
_KNIGHT_MOBILITY, _DISTANCE = _FIRST["knight's mobility"], _FIRST["knight's distance from the king"]
_ROOK_FILE, _CANNON_FILE = _FIRST["rook on the king's file"], _FIRST["cannon on the king's file"]
_ACROSS, _BESIDE = _FIRST["attackers across the river"], _FIRST["pawns beside each other"]
_MOVE = _FIRST["the move"]

_GUARD_NUMBERS = 9
_ATTACK_NUMBERS = math.prod(most + 1 for most in _MOST.values())
GUARD_SHIFT = 8
ATTACKERS = (1 << GUARD_SHIFT) - 1
"""The material of a side as one number: advisors and elephants above, attackers in these bits."""


def _strengths() -> NDArray[np.int64]:
    """`STRENGTHS`."""
    strengths = np.zeros(16, np.int64)
    step = 1
    for kind, most in _MOST.items():
        strengths[[kind, kind + 8]] = step
        step *= most + 1
    strengths[[ADVISOR, ADVISOR + 8]] = 1 << GUARD_SHIFT
    strengths[[ELEPHANT, ELEPHANT + 8]] = 3 << GUARD_SHIFT
    return strengths


STRENGTHS = _strengths()
"""int64 (16,): what a piece code adds to the number of its side's material."""


def _guard_features() -> NDArray[np.int64]:
    """`GUARD_FEATURES`."""
    table = np.zeros((_ATTACK_NUMBERS, _GUARD_NUMBERS, 2 * len(_MOST)), np.int64)
    for attack, guards in np.ndindex(table.shape[:2]):
        rest, first, listed = attack, _FIRST["rooks against advisors"], []
        for most in _MOST.values():
            rest, count = divmod(rest, most + 1)
            for met in (guards % 3, guards // 3):
                listed.append(first + 3 * count + met)
                first += 3 * (most + 1)
        table[attack, guards] = listed
    return table


GUARD_FEATURES = _guard_features()
"""int64 (162, 9, 8): what a side's attackers, by their number, have of features against the other
side's guards, by theirs."""


@part
def _note(state, side, feature):
    """What a feature is worth to the side that has it; noted where somebody asks for a list.

    feature : int64; its number
    """
    if state.listing != 0:
        state.features[state.listed] = feature << 1 | side
        state.listed += 1
    return FEATURE_WORTHS[feature]


@part
def _see_slider(state, row, side, square, kind, king):
    """What is seen of a rook or cannon, in worths.

    square, kind : int64; the piece
    king : int64; the square of the other side's king
    """
    free, lines = free_squares(state, row, square), np.int64(_CANNON_FILE)
    if kind == ROOK:
        lines = np.int64(_ROOK_FILE)
        seen = _note(state, side, _ROOK_MOBILITY + free)
    else:
        seen = _note(state, side, _CANNON_MOBILITY + free)
    same_file = FILE_OF[square] == FILE_OF[king]
    if same_file or RANK_OF[square] == RANK_OF[king]:
        if not same_file:
            lines += _BETWEEN
        between = min(count_between(state, row, square, king), _BETWEEN - 1)
        seen += _note(state, side, lines + between)
    return seen


@part
def _see_knight(state, board, side, square, king):
    """What is seen of a knight, in worths.

    board : int8 (90,); piece codes
    square : int64; where it stands
    king : int64; the square of the other side's king
    """
    free = np.int64(0)
    for direction in range(4):
        if board[LEG_SQUARES[square, direction]] == EMPTY:
            free += LEG_LEAPS[square, direction]
    return _note(state, side, _KNIGHT_MOBILITY + free) + _note(
        state, side, np.int64(_DISTANCE) + DISTANCES[square, king]
    )


@part
def see_features(state, row, side):
    """What all features of a position but guards are worth to Red, packed.

    Where `state.listing` is set, they are also written to `state.features`, `state.listed` of them:
    each is `2 * number + side` of the side that has it.
    """
    board = state.boards[row]
    state.listed = 0
    seen = (1 - 2 * side) * _note(state, side, np.int64(_MOVE))
    for owner in range(2):
        king = np.int64(state.squares[row, state.kings[1 - owner]])
        across, own = np.int64(0), np.int64(0)
        for man in range(state.attacker_count[owner]):
            number = np.int64(state.attackers[owner, man])
            square = np.int64(state.squares[row, number])
            if square < 0:
                continue
            kind = np.int64(state.codes[number]) & 7
            past = (square >= 45) == (owner == 0)
            across += np.int64(past)
            if kind == KNIGHT:
                own += _see_knight(state, board, owner, square, king)
            elif kind != PAWN:
                own += _see_slider(state, row, owner, square, kind, king)
            elif past and FILE_OF[square] < FILES - 1 and board[square + 1] == board[square]:
                own += _note(state, owner, np.int64(_BESIDE))
        own += _note(state, owner, _ACROSS + across)
        seen += (1 - 2 * owner) * own
    return seen
