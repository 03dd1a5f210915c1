"""The table as an opponent of other strengths: a move among those that it knows.

best       the table's own choice
varied     any move that keeps the outcome, at random
beginner   as varied, but one move in four is any legal one
"""

from __future__ import annotations

import random

from tbgen.board.knowledge.library import Study
from tbgen.indexing import Move

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
