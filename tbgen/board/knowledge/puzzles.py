"""Puzzles made from tables, and the table as an opponent of other strengths.

material, aim, level  ->  positions with such a value  ->  one move alone keeps it, no capture
the game so far       ->  whether the task is open, rightly begun, lost or solved
a study, a strength   ->  a move: best      the table's own choice
                                  varied    any move that keeps the outcome, at random
                                  beginner  as varied, but one move in four is any legal one

A level is how hard a puzzle is: how many moves there are to choose from, how long the win takes,
and whether repetition decides.
"""

from __future__ import annotations

import random

from tbgen.board.knowledge.errors import NothingFoundError
from tbgen.board.knowledge.library import Library, Study
from tbgen.board.knowledge.search import glance
from tbgen.finding.query import NO_END, Query
from tbgen.indexing import Material, Move, Position, Side
from tbgen.rules import legal_moves
from tbgen.tables import Outcome, ProbeResult

SHORTEST = 5
"""Plies of a win of order 0 that is worth solving."""

LEVELS = ("easy", "medium", "hard")
"""How hard a puzzle is."""

FEW_MOVES, MANY_MOVES = 4, 10
"""Legal moves beyond which the choice is harder."""

LONG = 13
"""Plies beyond which a win is hard to see."""

LOOKED, ROUNDS = 24, 24
"""Positions by repetition, and as many others, that are looked at together, and how often."""


def level_of(position: Position, result: ProbeResult) -> str:
    """The level of a puzzle, one of `LEVELS`."""
    choices = len(legal_moves(position))
    points = (choices > FEW_MOVES) + (choices > MANY_MOVES)
    points += 2 * ((result.plies or 0) > LONG) + 2 * (result.order > 0)
    return LEVELS[min(2, points // 2)]


def find_puzzle(
    library: Library,
    material: Material,
    aim: Outcome = Outcome.WIN,
    seed: int | None = None,
    level: str = "",
) -> Position:
    """A random position of a material in which one move alone keeps the win, or the draw.

    Wins by repetition count whatever their length. `seed` makes the choice repeatable; without
    `level`, one of `LEVELS`, any will do. Raises `NothingFoundError` where none is found, and else
    like `Tablebase.probe`.
    """
    chance = random.Random(seed)
    least = SHORTEST if aim == Outcome.WIN else 0
    kinds = [
        Query(outcome=aim, orders=(1, NO_END)),
        Query(outcome=aim, orders=(0, 0), plies=(LONG + 1 if level == "hard" else least, NO_END)),
    ]
    first = chance.randrange(ROUNDS)
    for number in range(ROUNDS):
        seed_of_round = (first + number) % ROUNDS
        found = [glance(library, material, kind, seed_of_round, LOOKED) for kind in kinds]
        positions = [position for each in found for position in each.positions]
        for position in chance.sample(positions, len(positions)):
            if _is_puzzle(library, position, aim, level):
                return position
        if all(each.share == 1 for each in found):
            raise NothingFoundError(f"{material} has no such puzzle", "try another level")
    raise NothingFoundError("no puzzle was found", "try another endgame")


def _is_puzzle(library: Library, position: Position, aim: Outcome, level: str) -> bool:
    if level and level_of(position, library.tables.probe(position)) != level:
        return False
    moves = library.tables.probe_root(position)
    if len(moves) < 2 or any(move.outcome is None for move in moves):
        return False
    good = [move for move in moves if move.outcome == aim]
    return len(good) == 1 and not good[0].capture


def state_of(study: Study, human: Side, task: str, *, begun: bool) -> str:
    """The state of a puzzle: "open", "right", "lost" or "solved".

    It is lost when what was to be kept is gone, and right while it is kept after the first move. A
    win is solved by mate, a draw once the move that keeps it has been made.

    human : the side that is to keep what `task` names, "win" or "draw"
    begun : whether a move has been made
    """
    if study.over is not None and study.over.winner == human:
        return "solved"
    if study.result is None:
        return "open"
    mine = study.result.outcome if study.position.side == human else -study.result.outcome
    if mine < (Outcome.WIN if task == "win" else Outcome.DRAW):
        return "lost"
    if not begun:
        return "open"
    return "solved" if task == "draw" else "right"


SLIPS = 0.25
"""The share of a beginner's moves that are any legal ones."""


def answer(study: Study, strength: str, chance: random.Random | None = None) -> Move:
    """Return a move of a study that has one to suggest, at one of `STRENGTHS`.

    Moves that the referee punishes at once are left out, except the last one there is.
    """
    assert study.suggested is not None
    if strength == "best":
        return study.suggested.move
    chance = chance or random.Random()
    allowed = [move for move in study.moves if move.move not in (study.forbidden or {})]
    if strength == "beginner" and chance.random() < SLIPS:
        return chance.choice(allowed or [study.suggested]).move
    keeping = [move for move in allowed if move.outcome == study.suggested.outcome]
    return chance.choice(keeping or [study.suggested]).move
