"""Choose positions of a table to start games from: decided by the rules, drawn, or endangered.

A draw is endangered if only checks and attacks hold it.
"""

from __future__ import annotations

import random

import numpy as np
from numpy.typing import NDArray

from tbgen.indexing import Position, Side
from tbgen.play.streaks import Offences, is_irreversible
from tbgen.play.tablebase import GameTablebase
from tbgen.tables import IllegalPositionError, Outcome
from tbgen.tables.reader import TableFile


def rule_decided(
    tables: GameTablebase, material: str, limit: int, rng: random.Random
) -> list[Position]:
    """Choose positions of a material that a rule of repetition decides (order above 0).

    A value is an outcome, an order and a distance. At most `limit` positions are chosen at random
    for each side to move and each value.
    """
    file = tables.table(material)
    codes = file.code_space
    result: list[Position] = []
    for side in Side:
        plane = file.plane(side)
        for code in np.unique(plane).tolist():
            if code and codes.decode(code).order:
                result += _some(tables, file, side, np.flatnonzero(plane == code), limit, rng, True)
    return result


def drawn(tables: GameTablebase, material: str, limit: int, rng: random.Random) -> list[Position]:
    """Choose up to `limit` random draws, for each side to move, in which a check keeps the draw."""
    file = tables.table(material)
    result: list[Position] = []
    for side in Side:
        slots = np.flatnonzero(file.plane(side) == file.code_space.draw)
        result += _some(tables, file, side, slots, limit, rng, False)
    return result


def is_endangered(tables: GameTablebase, position: Position) -> bool:
    """Return whether a position is an endangered draw.

    Each move that keeps the draw is then a check or an attack, and neither a capture nor a pawn's
    advance. The side to move loses if it must repeat such moves in a loop.
    """
    try:
        root, moves = tables.probe_with_moves(position)
    except IllegalPositionError:
        return False
    offences = Offences(root.rule_set)
    return root.outcome == Outcome.DRAW and all(
        not is_irreversible(position, move.move)
        and offences.threats(position, move.move, move.after)
        for move in moves
        if move.outcome == Outcome.DRAW
    )


def endangered(
    tables: GameTablebase, material: str, limit: int, rng: random.Random, attempts: int = 200
) -> list[Position]:
    """Choose endangered draws of a material at random, up to `limit` for each side to move.

    Examines at most `attempts * limit` drawn slots for each side to move.
    """
    file = tables.table(material)
    result: list[Position] = []
    for side in Side:
        slots = np.flatnonzero(file.plane(side) == file.code_space.draw)
        found: list[Position] = []
        for slot in rng.sample(range(slots.size), min(slots.size, attempts * limit)):
            if len(found) >= limit:
                break
            position = file.layout.position(int(slots[slot]), side)
            if position is not None and is_endangered(tables, position):
                found.append(position)
        result += found
    return result


def _some(
    tables: GameTablebase,
    file: TableFile,
    side: Side,
    slots: NDArray[np.int64],
    limit: int,
    rng: random.Random,
    decided: bool,
) -> list[Position]:
    """Choose up to `limit` suitable positions at random, from at most `30 * limit` of the slots.

    decided : True for positions that the rules decide, False for draws in which a check keeps
        the draw
    """
    found: list[Position] = []
    for slot in rng.sample(slots.tolist(), min(slots.size, 30 * limit)):
        position = file.layout.position(slot, side)
        if position is None or len(found) >= limit:
            continue
        try:
            root, moves = tables.probe_with_moves(position)
        except IllegalPositionError:
            continue
        # Unused slots may have any code, so the position is probed.
        checks = any(move.check and move.outcome == Outcome.DRAW for move in moves)
        if root.order if decided else root.outcome == Outcome.DRAW and checks:
            found.append(position)
    return found
