"""Defenders against `best_move`: each chooses a legal move by its own rule."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from tbgen.indexing import Position
from tbgen.play.preference import RootMove
from tbgen.play.tablebase import GameTablebase
from tests.kits.starts import is_endangered

Defence = Callable[[random.Random, Sequence[RootMove], Sequence[Position]], RootMove]
"""Function that chooses one of the moves, sorted best first, given the game so far."""


def at_random(rng: random.Random, moves: Sequence[RootMove], game: Sequence[Position]) -> RootMove:
    """Choose any legal move."""
    del game
    return rng.choice(moves)


def longest(rng: random.Random, moves: Sequence[RootMove], game: Sequence[Position]) -> RootMove:
    """Choose the longest resistance by the table; deterministic."""
    del rng, game
    return moves[0]


def offending(rng: random.Random, moves: Sequence[RootMove], game: Sequence[Position]) -> RootMove:
    """Choose any move of longest resistance; in a pattern, these moves stay in it."""
    del game
    return rng.choice([move for move in moves if move.best])


def checking(rng: random.Random, moves: Sequence[RootMove], game: Sequence[Position]) -> RootMove:
    """Choose the best check, or the best move if there is none."""
    del rng, game
    return next((move for move in moves if move.check), moves[0])


def evading(rng: random.Random, moves: Sequence[RootMove], game: Sequence[Position]) -> RootMove:
    """Choose, of the longest resistance, the position seen least often: patterns without period."""
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
    """Choose, of the replies that leave only offences, the position seen most often.

    Leads the game into loops in which the other side has done nothing but offend.
    """

    def hunt_on(
        rng: random.Random, moves: Sequence[RootMove], game: Sequence[Position]
    ) -> RootMove:
        hunting = [m for m in moves if not m.capture and is_endangered(tables, m.after)]
        often = max((game.count(move.after) for move in hunting), default=0)
        return rng.choice([m for m in hunting if game.count(m.after) == often] or moves)

    return hunt_on
