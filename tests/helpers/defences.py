"""Defences: rules by which a defender chooses its moves against `best_move`.

Moves of longest resistance are those that the table values best for the defender.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from tbgen.indexing import Position
from tbgen.play.preference import RootMove
from tbgen.play.tablebase import GameTablebase
from tests.helpers.starts import is_endangered

Defence = Callable[[random.Random, Sequence[RootMove], Sequence[Position]], RootMove]
"""Function (rng, moves, game) that returns one of a defender's moves.

The moves have their values, and are sorted best first for the defender. The game is its positions
so far, oldest first.
"""


def at_random(rng: random.Random, moves: Sequence[RootMove], game: Sequence[Position]) -> RootMove:
    """Choose any of the moves."""
    del game
    return rng.choice(moves)


def longest(rng: random.Random, moves: Sequence[RootMove], game: Sequence[Position]) -> RootMove:
    """Choose the first move of the list, one of longest resistance; not random."""
    del rng, game
    return moves[0]


def offending(rng: random.Random, moves: Sequence[RootMove], game: Sequence[Position]) -> RootMove:
    """Choose a random move of longest resistance.

    In a loop that the rules decide, these moves continue the loop and its offences.
    """
    del game
    return rng.choice([move for move in moves if move.best])


def checking(rng: random.Random, moves: Sequence[RootMove], game: Sequence[Position]) -> RootMove:
    """Choose the check with the best value for the defender; the best move if there is no check."""
    del rng, game
    return next((move for move in moves if move.check), moves[0])


def evading(rng: random.Random, moves: Sequence[RootMove], game: Sequence[Position]) -> RootMove:
    """Choose a move of longest resistance to a position with the fewest occurrences in the game.

    So a defender who must check or chase for ever delays the repetition that loses the game.
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
    """Return a defence that leads the opponent into loops in which the opponent must offend.

    It considers the moves without capture after which the opponent can draw only by checks and
    attacks. Of these it chooses one to the position that has occurred most often in the game. If
    there are none, it chooses any of the given moves at random.
    """

    def hunt_on(
        rng: random.Random, moves: Sequence[RootMove], game: Sequence[Position]
    ) -> RootMove:
        hunting = [m for m in moves if not m.capture and is_endangered(tables, m.after)]
        often = max((game.count(move.after) for move in hunting), default=0)
        return rng.choice([m for m in hunting if game.count(m.after) == often] or moves)

    return hunt_on
