"""Times to think: from the words of a `go` command to two times.

soft   no new depth is begun after it
hard   the search is stopped
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from tbgen.indexing import Move

OVERHEAD = 0.03
"""Seconds of every move that a GUI and this program may lose to each other."""

LONGEST = 1e6
"""Seconds, more than eleven days, that no move thinks longer than: timers have limits, too."""

UNLIMITED_MOVE_TIME = 1.0
"""Seconds for a `go` that sets no limit of any kind."""

_MOVES_LEFT = 30
"""How many moves the rest of a game is taken to have, where the clock does not say."""


class Budget(NamedTuple):
    """Seconds from the start of the clock."""

    soft: float
    hard: float


@dataclass(frozen=True, slots=True)
class Limits:
    """The words of a `go` command; None where it does not say.

    Times are seconds: `remaining` on the clock of the side to move, `increment` per move,
    `move_time` for this move alone. `ponder`: think on the opponent's time until told otherwise;
    `infinite`: until stopped. `only` are the moves to choose from, `draw_offered` whether the
    opponent offers a draw.
    """

    depth: int | None = None
    nodes: int | None = None
    mate: int | None = None
    move_time: float | None = None
    remaining: float | None = None
    increment: float = 0.0
    moves_to_go: int | None = None
    infinite: bool = False
    ponder: bool = False
    draw_offered: bool = False
    only: tuple[Move, ...] | None = None

    @property
    def waits(self) -> bool:
        """Return whether the answer waits for `stop` or `ponderhit`, even once it is found."""
        return self.infinite or self.ponder

    def budget(self) -> Budget | None:
        """The times to think; None for no limit."""
        if self.infinite:
            return None
        if self.move_time is not None:
            hard = min(max(self.move_time - OVERHEAD, self.move_time / 2), LONGEST)
            return Budget(hard, hard)
        if self.remaining is None:
            return None
        left = max(self.remaining - OVERHEAD, 0.005)
        share = left / max(1, min(self.moves_to_go or _MOVES_LEFT, _MOVES_LEFT))
        soft = min(0.6 * share + 0.7 * self.increment, 0.6 * left)
        # A depth that is under way may take longer, but never most of what is left.
        hard = max(soft, min(4 * soft, 0.5 * left))
        return Budget(min(soft, LONGEST), min(hard, LONGEST))
