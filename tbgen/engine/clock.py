"""Time limits of a search, in seconds, computed from the arguments of a `go` command.

soft   no new iteration is started after this time
hard   the search is stopped at this time, also within an iteration

An *iteration* is the search to one depth; each is one ply deeper than the last.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from tbgen.indexing import Move

OVERHEAD_SECONDS = 0.03
"""Seconds reserved for communication between GUI and engine. They are subtracted from the remaining
time on the clock, or from a fixed time of the move (`movetime`), but at most half of the latter.
"""

MAX_SECONDS = 1e6
"""Maximum seconds for one move, about 11 days; longer delays overflow timers on some systems."""

DEFAULT_SECONDS = 1.0
"""Seconds for a `go` command without `infinite` and without a limit (`EngineProtocol.limits`)."""

_MOVES_LEFT = 30
"""Number of moves that the remaining time must last for, unless `movestogo` is smaller (not 0)."""


class Budget(NamedTuple):
    """Soft and hard time limits in seconds from the start of the clock."""

    soft: float
    hard: float


@dataclass(frozen=True, slots=True)
class Limits:
    """Arguments of a `go` command; an argument that is not given has its default.

    `depth` is in plies, `nodes` for each thread of the search. Times are seconds: `remaining` on
    the clock of the side to move, `increment` per move, `move_time` for this move alone. `mate`:
    stop once the side to move has a mate in at most this many moves. `moves_to_go`: moves up to the
    next time control; None or 0 if unknown. `ponder`: search on the opponent's time until
    `ponderhit`. `infinite`: give no answer before `stop`. `only`: the moves that may be played,
    None for all. `draw_offered`: the opponent offers a draw.
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
        # The hard limit, up to which a begun iteration may go on, is four times the soft limit, but
        # at most half of the time left, and at least the soft limit.
        hard = max(soft, min(4 * soft, 0.5 * left))
        return Budget(min(soft, MAX_SECONDS), min(hard, MAX_SECONDS))
