"""Defenders against `best_move`: each chooses one of the legal moves by an idea of its own."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from tbgen.indexing import Position
from tbgen.play.preference import RootMove
from tbgen.play.tablebase import GameTablebase
from tests.kits.starts import is_endangered

Defence = Callable[[random.Random, Sequence[RootMove], Sequence[Position]], RootMove]
"""Chooses one of the moves, which are sorted best first; knows the game so far."""


def at_random(rng: random.Random, moves: Sequence[RootMove], game: Sequence[Position]) -> RootMove:
    """Any legal move."""
    del game
    return rng.choice(moves)


def longest(rng: random.Random, moves: Sequence[RootMove], game: Sequence[Position]) -> RootMove:
    """The longest resistance by the table: always the same move."""
    del rng, game
    return moves[0]


def offending(rng: random.Random, moves: Sequence[RootMove], game: Sequence[Position]) -> RootMove:
    """Any of the moves that are the longest resistance: in a pattern, those that stay there."""
    del game
    return rng.choice([move for move in moves if move.best])


def checking(rng: random.Random, moves: Sequence[RootMove], game: Sequence[Position]) -> RootMove:
    """A check if there is one, the best of its kind."""
    del rng, game
    return next((move for move in moves if move.check), moves[0])


def evading(rng: random.Random, moves: Sequence[RootMove], game: Sequence[Position]) -> RootMove:
    """Of the longest resistance, what was on the board least often: patterns without period."""
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
    """Of the replies that leave the other side only offences, what was on the board most often.

    Every such game is led into loops in which the other side has done nothing but offend.
    """

    def hunt_on(
        rng: random.Random, moves: Sequence[RootMove], game: Sequence[Position]
    ) -> RootMove:
        hunting = [m for m in moves if not m.capture and is_endangered(tables, m.after)]
        often = max((game.count(move.after) for move in hunting), default=0)
        return rng.choice([m for m in hunting if game.count(m.after) == often] or moves)

    return hunt_on
