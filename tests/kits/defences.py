"""Defenders that play against `best_move`: each chooses a legal move by its own rule.

Moves of longest resistance are those that the table values best for the defender.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from tbgen.indexing import Position
from tbgen.play.preference import RootMove
from tbgen.play.tablebase import GameTablebase
from tests.kits.starts import is_endangered

Defence = Callable[[random.Random, Sequence[RootMove], Sequence[Position]], RootMove]
"""Function (rng, moves, game so far) that returns one of the moves, sorted best first."""


def at_random(rng: random.Random, moves: Sequence[RootMove], game: Sequence[Position]) -> RootMove:
    """Choose any legal move."""
    del game
    return rng.choice(moves)


def longest(rng: random.Random, moves: Sequence[RootMove], game: Sequence[Position]) -> RootMove:
    """Choose the first move of longest resistance; deterministic."""
    del rng, game
    return moves[0]


def offending(rng: random.Random, moves: Sequence[RootMove], game: Sequence[Position]) -> RootMove:
    """Choose a random move of longest resistance; in a pattern, these moves stay in it."""
    del game
    return rng.choice([move for move in moves if move.best])


def checking(rng: random.Random, moves: Sequence[RootMove], game: Sequence[Position]) -> RootMove:
    """Choose the best check, or the best move if there is none."""
    del rng, game
    return next((move for move in moves if move.check), moves[0])


def evading(rng: random.Random, moves: Sequence[RootMove], game: Sequence[Position]) -> RootMove:
    """Choose, among moves of longest resistance, one to the position with fewest occurrences.

    So the offences of a pattern form no short period.
    """
    best = [move for move in moves if move.best]
    fewest = min(game.count(move.after) for move in best)
    return rng.choice([move for move in best if game.count(move.after) == fewest])


DEFENCES: dict[str, Defence] = {
    "random": at_random,
    "longest": longest,
    "offending": offending,
    "checking": checking,
    "evading": evading,
}


def hunter(tables: GameTablebase) -> Defence:
    """Return a defender that makes the opponent choose between violating the rules and losing.

    It prefers quiet moves to drawn positions in which only checks and attacks hold the opponent's
    draw, and of these the position that has occurred most often. If there are none, it chooses
    any move.
    """

    def hunt_on(
        rng: random.Random, moves: Sequence[RootMove], game: Sequence[Position]
    ) -> RootMove:
        hunting = [m for m in moves if not m.capture and is_endangered(tables, m.after)]
        often = max((game.count(move.after) for move in hunting), default=0)
        return rng.choice([m for m in hunting if game.count(m.after) == often] or moves)

    return hunt_on
