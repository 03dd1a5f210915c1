"""Puzzles made from tables: one move alone keeps the win or the draw, and takes nothing.

material, aim  ->  random slots  ->  legal, one good move  ->  the playing mode, with a task
the game so far  ->  whether the task is open, lost or solved
"""

from __future__ import annotations

import random

from tbgen.board.http import RequestError
from tbgen.board.library import Library, Study
from tbgen.board.search import good_moves
from tbgen.board.state import View
from tbgen.indexing import Material, Position, Side
from tbgen.rules import is_legal
from tbgen.tables import Outcome

SHORTEST = 5
"""Plies of a win of order 0 that is worth solving."""

TRIES = 4000
"""Slots that are looked at: a second or two, where there is nothing to find."""


def find_puzzle(
    library: Library, material: Material, aim: Outcome = Outcome.WIN, seed: int | None = None
) -> Position:
    """A random position of a material in which one move alone keeps the win, or the draw.

    Wins by repetition count whatever their length. `seed` makes the choice repeatable. Raises
    `RequestError` where none is found in `TRIES`, and else like `Tablebase.probe`.
    """
    file = library.tables.table(material)
    chance = random.Random(seed)
    for _ in range(TRIES):
        slot, side = chance.randrange(file.header.slots), Side(chance.randrange(2))
        position = file.layout.position(slot, side)
        if position is not None and _is_puzzle(library, position, aim):
            return position
    raise RequestError(404, "no puzzle was found", "try another endgame")


def _is_puzzle(library: Library, position: Position, aim: Outcome) -> bool:
    if not is_legal(position):
        return False
    found = library.tables.probe(position)
    if found.outcome != aim:
        return False
    if aim == Outcome.WIN and not found.order and (found.plies or 0) < SHORTEST:
        return False
    good = good_moves(library.tables, position)
    return good is not None and len(good) == 1 and not good[0].capture


def state_of(study: Study, view: View) -> str:
    """How a puzzle stands: "open", "lost" (what was to be kept is gone) or "solved".

    A win is solved by mate, a draw once the move that keeps it has been made.
    """
    if study.over is not None and study.over.winner == view.human:
        return "solved"
    if study.result is None:
        return "open"
    mine = study.result.outcome if study.position.side == view.human else -study.result.outcome
    if mine < (Outcome.WIN if view.task == "win" else Outcome.DRAW):
        return "lost"
    return "solved" if view.task == "draw" and view.moves else "open"
