"""Puzzles made from tables: positions in which one move alone keeps the win, and takes nothing.

material  ->  random slots  ->  legal, won, one winning move  ->  the playing mode
"""

from __future__ import annotations

import random

from tbgen.board.http import RequestError
from tbgen.board.library import Library
from tbgen.board.search import good_moves, is_legal
from tbgen.indexing import Material, Position, Side
from tbgen.tables import Outcome

SHORTEST = 5
"""Plies of a win of order 0 that is worth solving."""

TRIES = 4000
"""Slots that are looked at: a second or two, where there is nothing to find."""


def find_puzzle(library: Library, material: Material, seed: int | None = None) -> Position:
    """A random position of a material, won for the side to move by one move alone.

    Wins by repetition count whatever their length. `seed` makes the choice repeatable. Raises
    `RequestError` where none is found in `TRIES`, and else like `Tablebase.probe`.
    """
    file = library.tables.table(material)
    chance = random.Random(seed)
    for _ in range(TRIES):
        slot, side = chance.randrange(file.header.slots), Side(chance.randrange(2))
        position = file.layout.position(slot, side)
        if position is not None and _is_puzzle(library, position):
            return position
    raise RequestError(404, "no puzzle was found", "try another endgame")


def _is_puzzle(library: Library, position: Position) -> bool:
    if not is_legal(position):
        return False
    found = library.tables.probe(position)
    if found.outcome != Outcome.WIN or (not found.order and (found.plies or 0) < SHORTEST):
        return False
    good = good_moves(library.tables, position)
    return good is not None and len(good) == 1 and not good[0].capture
