"""Openings of games: nearly even positions, reproducible from a seed.

array     some random plies from the opening array
endings   random positions of some number of men that a short search scores as nearly even
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tbgen.indexing import START_FEN, Move, Position, Side
from tbgen.indexing.material import MAX_COUNT
from tbgen.indexing.squares import EMPTY, SQUARES, PieceType, area, piece_code
from tbgen.rules import is_legal, legal_moves

if TYPE_CHECKING:
    from tbgen.engine.search.searcher import Searcher

Opening = tuple[Position, tuple[Move, ...]]
"""The first position of a game, and the moves played before the engines begin."""

EVEN_SCORE = 150
"""Largest absolute score of a nearly even position, in centipawns."""

_NODES = 20_000
"""Number of nodes of the search that decides whether a position is nearly even."""


def array(rng: random.Random, plies: int) -> Iterator[Opening]:
    """Yield openings without end, each of `plies` random legal plies from the opening array.

    The last position of an opening has a legal move.
    """
    start = Position.from_fen(START_FEN)
    while True:
        position, moves = start, []
        for _ in range(plies):
            legal = legal_moves(position)
            if not legal:
                break
            moves.append(rng.choice(legal))
            position = position.after(*moves[-1])
        if len(moves) == plies and legal_moves(position):
            yield start, tuple(moves)


def endings(rng: random.Random, men: Sequence[int]) -> Iterator[Opening]:
    """Yield nearly even random positions without end, each with no moves before it.

    Nearly even: the engine's search without tables scores the position within `EVEN_SCORE`, with
    Red and with Black to move. Each side has a rook, knight, cannon or pawn, and half of the men;
    of an odd number a random side has one more.

    men : numbers of men to choose from for each position, kings included
    """
    from tbgen.engine.search.searcher import Searcher

    searcher = Searcher(hash_mebibytes=4)
    while True:
        position = _scattered(rng, rng.choice(men))
        if position is None or not position.material.both_armed:
            continue
        passed = Position(position.board, position.side.other)
        if not all(is_legal(each) and legal_moves(each) for each in (position, passed)):
            continue
        if all(_is_even(searcher, each) for each in (position, passed)):
            yield position, ()


def _is_even(searcher: Searcher, position: Position) -> bool:
    """Return whether a search of `_NODES` nodes scores a position within `EVEN_SCORE`."""
    searcher.clear()
    searcher.clear_stop()
    *_, last = searcher.think([position], [], nodes=_NODES)
    return abs(last.lines[0].score) <= EVEN_SCORE


def _scattered(rng: random.Random, men: int) -> Position | None:
    """Place both kings and `men` - 2 random pieces on random squares of their areas.

    The side to move is random, the position may be illegal. None if two pieces share a square.
    """
    board = bytearray(SQUARES)
    first = rng.choice(list(Side))
    for side, count in ((first, (men + 1) // 2), (first.other, men // 2)):
        rest = [kind for kind in list(PieceType)[1:] for _ in range(MAX_COUNT[kind])]
        for kind in (PieceType.KING, *rng.sample(rest, count - 1)):
            square = rng.choice(area(side, kind))
            if board[square] != EMPTY:
                return None
            board[square] = piece_code(side, kind)
    return Position(bytes(board), rng.choice(list(Side)))
