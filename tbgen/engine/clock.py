"""Time limits of a search, in seconds, computed from the arguments of a `go` command.

soft   no new iteration (search to one depth) is started after this time
hard   the search is stopped at this time, also within an iteration
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from tbgen.indexing import Move

OVERHEAD_SECONDS = 0.03
"""Seconds for communication between GUI and engine. They are subtracted from the remaining time, or
from the time for one move (`movetime`), but at most half of the latter.
"""

MAX_SECONDS = 1e6
"""Maximum seconds for one move, about 11 days; longer delays overflow timers on some systems."""

DEFAULT_SECONDS = 1.0
"""Seconds for a `go` command without `infinite` and without a limit (`EngineProtocol.limits`)."""

_MOVES_LEFT = 30
"""Number of moves that share the remaining time; `movestogo` if that is smaller, and not 0."""


class Budget(NamedTuple):
    """Time limits (module's docstring), in seconds from the start of the clock."""

    soft: float
    hard: float


@dataclass(frozen=True, slots=True)
class Limits:
    """Arguments of a `go` command.

    depth : maximum depth in plies
    nodes : maximum nodes of each thread
    mate : stop once the side to move has a mate in at most this many moves
    move_time : seconds for this move alone
    remaining : seconds on the clock of the side to move
    increment : seconds added to the clock per move
    moves_to_go : moves up to the next time control; None or 0 if unknown
    infinite : give no answer before `stop`
    ponder : search on the opponent's time until `ponderhit`
    draw_offered : the opponent offers a draw
    only : moves that may be played, None for all
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

    def budget(self) -> Budget | None:
        """Return the time limits; None with `infinite`, or without `move_time` and `remaining`."""
        if self.infinite:
            return None
        if self.move_time is not None:
            hard = min(max(self.move_time - OVERHEAD_SECONDS, self.move_time / 2), MAX_SECONDS)
            return Budget(hard, hard)
        if self.remaining is None:
            return None
        left = max(self.remaining - OVERHEAD_SECONDS, 0.005)
        share = left / max(1, min(self.moves_to_go or _MOVES_LEFT, _MOVES_LEFT))
        soft = min(0.6 * share + 0.7 * self.increment, 0.6 * left)
        hard = max(soft, min(4 * soft, 0.5 * left))
        return Budget(min(soft, MAX_SECONDS), min(hard, MAX_SECONDS))
