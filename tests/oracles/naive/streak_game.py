"""Exact solution of games on tiny graphs in which both sides check and chase.

A side plays against a rival. At each position of a `StreakGame` the side chooses an option, and
the rival one of the option's steps. A step has the pieces chased by each side; the king is one
more victim, whose chase is a check. An endless play is judged by levels: a side has level 2 if it
checks on every move from some point on, level 1 if it chases the same piece on every move, else 0.

`solved` turns this into a parity game, solved by Zielonka's algorithm. A condition is "does not
check" or "does not chase V", for one side; the levels depend on which conditions recur. Vertices
hold a latest appearance record: all conditions, those met last in front.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from .graph_game import zielonka

KING = -1
"""The victim of a check."""

Condition = tuple[bool, int]
"""Demand that a side does not chase a victim: (True for the own side, victim).

A step of the game in which this side does not chase the victim meets the condition.
"""


@dataclass(frozen=True)
class Step:
    """A move and the rival's reply: the next position, and the victims of move and reply."""

    target: int
    own: frozenset[int]
    rival: frozenset[int]


@dataclass(frozen=True)
class StreakGame:
    """Game of one side against a rival: `options[n][i]` has the steps of option i at position n.

    Every option has a step. `victims` are the pieces that either side can chase, besides the king.
    """

    victims: Sequence[int]
    options: tuple[tuple[tuple[Step, ...], ...], ...]


def level(returning: frozenset[Condition], own: bool, victims: Sequence[int]) -> int:
    """Return the level (0 to 2) of one side in an endless play.

    returning : the conditions that are met again and again
    own : True for the side, False for its rival
    """
    if (own, KING) not in returning:
        return 2
    return int(any((own, victim) not in returning for victim in victims))


def solved(game: StreakGame, is_won: Callable[[int, int], bool]) -> set[int]:
    """Return the positions from which the side can force an endless play that is won for it.

    `is_won(own level, rival's level)` is True for the levels with which a play is won.
    """
    conditions = tuple((own, v) for own in (True, False) for v in (KING, *game.victims))
    # A vertex: position; chosen option or -1; the record; and `hit`, the place (from 1) that the
    # deepest condition met by the last step had in the record, 0 if none.
    starts = [(node, -1, conditions, 0) for node in range(len(game.options))]
    label: dict[tuple, int] = {}
    ours: dict[tuple, bool] = {}
    edges: dict[tuple, list[tuple]] = {}
    agenda = list(starts)
    while agenda:
        here = agenda.pop()
        if here in edges:
            continue
        node, chosen, record, hit = here
        # The recurring conditions are those of the record up to the largest recurring `hit`.
        levels = [level(frozenset(record[:hit]), own, game.victims) for own in (True, False)]
        label[here] = (2 * hit + 2 if is_won(*levels) else 2 * hit + 1) if chosen < 0 else 0
        ours[here] = chosen < 0
        if chosen < 0:
            edges[here] = [(node, i, record, 0) for i in range(len(game.options[node]))]
        else:
            edges[here] = [
                (step.target, -1, *_recorded(record, step)) for step in game.options[node][chosen]
            ]
        agenda += edges[here]
    won = zielonka(set(label), label, ours, edges)
    return {start[0] for start in starts if start in won}


def _recorded(record: tuple[Condition, ...], step: Step) -> tuple[tuple[Condition, ...], int]:
    """Return the record after a step, and the largest old place of a condition that the step meets.

    A record has all conditions, those met last in front. Places count from 1; the place is 0 if the
    step meets no condition.
    """
    met = [c for c in record if c[1] not in (step.own if c[0] else step.rival)]
    rest = [c for c in record if c not in met]
    hit = max((record.index(condition) + 1 for condition in met), default=0)
    return (*met, *rest), hit


draws = partial(solved, is_won=lambda own, rival: own <= rival)
wins = partial(solved, is_won=lambda own, rival: own < rival)
