"""Comparison of the solver with the naive solver on some positions of a material (a region).

The naive solver takes the outcomes of all other positions from the solver
(`tests.oracles.naive.region`). Chases decide a position if its outcome under rules with chases
differs from that under check rules.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from tbgen.indexing import Position, Side
from tbgen.indexing.rulesets import Rules
from tbgen.rules import legal_moves
from tbgen.tables.codes import Outcome
from tests.helpers.solutions import solution
from tests.oracles.naive.region import Region


@cache
def outcomes(name: str, rules: Rules, side: Side) -> NDArray[np.int8]:
    """Return the solver's outcome of each slot, int8 (slots,), for one side to move.

    Slots without a position count as draws (0).
    """
    table = solution(name, rules)
    plane = table.plane(side)
    counts = np.bincount(plane)
    outcome_of_code = np.zeros(len(counts), np.int8)
    for code in np.flatnonzero(counts[1:]) + 1:
        outcome_of_code[code] = table.code_space.decode(int(code)).outcome
    return outcome_of_code[plane]


def outcome(position: Position, rules: Rules) -> int:
    """Return the solver's outcome of a position for its side to move."""
    position = position.swapped() if position.is_swapped else position
    if not position.material.needs_table:
        return Outcome.DRAW
    name = position.material.name
    slot = solution(name, rules).layout.slot(position)
    return int(outcomes(name, rules, position.side)[slot])


def where_chases_decide(name: str, rules: Rules, most: int, rng: random.Random) -> list[Position]:
    """List positions of a material that chases decide under `rules` according to the solver.

    At most `most` positions are listed for each side to move, chosen at random.
    """
    layout, found = solution(name, rules).layout, []
    for side in Side:
        decided = outcomes(name, rules, side) != outcomes(name, Rules.CHECK, side)
        slots = np.flatnonzero(decided).tolist()
        for slot in slots if len(slots) <= most else rng.sample(slots, most):
            position = layout.position(slot, side)
            assert position is not None
            found.append(position)
    return found


def with_moves(positions: Iterable[Position]) -> dict[str, Position]:
    """Return positions by FEN: the given ones, and those after each move without capture."""
    found = {}
    for position in positions:
        found[position.fen] = position
        for source, target in legal_moves(position):
            if not position.board[target]:
                after = position.after(source, target)
                found[after.fen] = after
    return found


def decided_by_chases(positions: dict[str, Position], rules: Rules) -> int:
    """Compare the solver's outcomes with the naive solver's, and count those that chases decide.

    Fails if an outcome differs. The positions, by FEN, are the region.
    """
    region = Region(positions, lambda fen: outcome(Position.from_fen(fen), rules))
    naive = region.outcomes(str(rules))
    for fen, position in positions.items():
        assert naive[fen] == outcome(position, rules), fen
    by_checks = region.outcomes("check")
    return sum(naive[fen] != by_checks[fen] for fen in positions)
