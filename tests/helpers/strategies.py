"""Random positions and games for the tests.

Hypothesis strategies (`positions`) shrink a failure to a small one. Seeded generators
(`random_position`, `random_game`) are for long comparisons with an oracle.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence

from hypothesis import assume
from hypothesis import strategies as st

from tbgen.indexing import Material, Move, Position, Side, as_position
from tbgen.indexing.squares import EMPTY, LETTERS, SQUARES, PieceType, area, piece_code
from tbgen.rules import is_legal, legal_moves

ENDGAMES = (
    "KRKC",
    "KRKNAA",
    "KNPKAB",
    "KCAKN",
    "KRNKRAA",
    "KRCKRAB",
    "KCPPKAABB",
    "KNNKRBB",
    "KRPKNCA",
    "KRRKCCAABB",
    "KNCPKRPAB",
    "KPPPKPPP",
    "KRNCPABKRNCPAB",
)
"""Materials, small to large, that together have every kind of piece on both sides."""


def pieces(material: str, first: Side) -> list[tuple[Side, PieceType]]:
    """List (side, kind) of every piece of a material.

    first : side of the army that the material's name has first
    """
    own, other = Material.parse(material).armies
    return [
        (side, PieceType(LETTERS.index(letter)))
        for side, army in ((first, own), (first.other, other))
        for letter in army.name
    ]


def place(
    men: Sequence[tuple[Side, PieceType]], side: Side, choose: Callable[[Sequence[int]], int]
) -> Position | None:
    """Place pieces in the order given on free squares; return the position, legal or not.

    Returns None if the area of a piece has no free square.

    men : (side, kind) of each piece
    choose : function (free squares of a piece's area) that returns one of them
    """
    board = bytearray(SQUARES)
    for owner, kind in men:
        free = [square for square in area(owner, kind) if board[square] == EMPTY]
        if not free:
            return None
        board[choose(free)] = piece_code(owner, kind)
    return Position(bytes(board), side)


@st.composite
def positions(
    draw: st.DrawFn, materials: Sequence[str] = ENDGAMES, *, legal: bool = True
) -> Position:
    """Draw a position of one of the materials (Hypothesis strategy); unless `legal`, any placement.

    Either army may be Red's, and either side may be to move.
    """
    men = pieces(draw(st.sampled_from(materials)), draw(st.sampled_from(Side)))
    position = place(men, draw(st.sampled_from(Side)), lambda free: draw(st.sampled_from(free)))
    assume(position is not None)
    assert position is not None
    assume(not legal or is_legal(position))
    return position


def random_position(rng: random.Random, materials: Sequence[str] = ENDGAMES) -> Position:
    """Return a random legal position of one of the materials, with random colours and mover."""
    while True:
        men = pieces(rng.choice(materials), rng.choice(tuple(Side)))
        position = place(men, rng.choice(tuple(Side)), rng.choice)
        if position is not None and is_legal(position):
            return position


def random_game(rng: random.Random, start: Position, plies: int) -> Iterator[Position]:
    """Yield the positions of a random game of at most `plies` moves, beginning with `start`."""
    position = start
    for _ in range(plies):
        yield position
        moves = legal_moves(position)
        if not moves:
            return
        position = position.after(*rng.choice(moves))
    yield position


def random_moves(rng: random.Random, start: Position, plies: int) -> list[Move]:
    """Return the moves of a random game, which may end before `plies`."""
    position, moves = start, []
    while len(moves) < plies and (legal := legal_moves(position)):
        moves.append(rng.choice(legal))
        position = position.after(*moves[-1])
    return moves


def played(start: Position | str, moves: Iterable[Move] | str) -> list[Position]:
    """Return every position of a game, the start included; `moves` may be text: `h2e2 h9g7`."""
    positions = [as_position(start)]
    for move in map(Move.from_iccs, moves.split()) if isinstance(moves, str) else moves:
        positions.append(positions[-1].after(*move))
    return positions
