"""Order of preference of moves for probing, play, the command line and the board.

    value of the position after a move  ->  worth of the move  ->  sort key, best first

The *worth* of a move is its value for the side that makes it. The preference is that of Fang, Hsu &
Hsu 2002, section 6.4 (docs/values.md, "Outcomes and distances"). A value that is unknown for lack
of a table ranks between a draw and a loss.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tbgen.indexing import Move, Position
from tbgen.tables import Outcome, ProbeResult, Value
from tbgen.tables.reader import as_html

_RANKS = {Outcome.WIN: 0, Outcome.DRAW: 1, None: 2, Outcome.LOSS: 3}


class Preference(NamedTuple):
    """Sort key of a value; the value that the side to move prefers has the smaller key.

    `outcome` is 0 for a win, 1 for a draw, 2 if unknown, 3 for a loss. `order` and `plies` are
    those of the value, negated for a loss, and 0 for a draw or an unknown value.
    """

    outcome: int
    order: int
    plies: int

    @classmethod
    def of(cls, value: Value | None) -> Preference:
        """Return the sort key of `value`; None stands for an unknown value."""
        if value is None or value.outcome == Outcome.DRAW:
            return cls(_RANKS[value.outcome if value else None], 0, 0)
        sign = 1 if value.outcome == Outcome.WIN else -1
        return cls(_RANKS[value.outcome], sign * value.order, sign * value.plies)


def worth_of_move(child: Value, converts: bool) -> Value:
    """Return the worth of a move to the side that makes it.

    child : the opponent's value of the position after the move
    converts : whether the move is a capture from a table that counts distances to conversion

    The worth has the opposite outcome, the order of `child`, and one ply more; that of a draw has
    order 0 and 0 plies. If the move converts, a win is worth 1 ply and a loss 2, of order 0,
    whatever the plies and order of `child` (Fang, Hsu & Hsu 2002, section 6.3).
    """
    outcome = Outcome(-child.outcome)
    if outcome == Outcome.DRAW:
        return Value(outcome)
    if converts:
        return Value(outcome, 0, 1 if outcome == Outcome.WIN else 2)
    return Value(outcome, child.order, child.plies + 1)


@dataclass(frozen=True, slots=True)
class RootMove:
    """A legal move and the value of the position after it.

    `result` is the probe of that position (`after`), None if its table is missing; `missing` then
    names the material. `converts`: the move is a capture from a table that counts distances to
    conversion. `check`: the move gives check. `best` marks the best moves (docs/values.md, "Best
    moves").
    """

    move: Move
    after: Position
    result: ProbeResult | None
    converts: bool
    capture: bool
    check: bool
    missing: str | None = None
    best: bool = False

    def __repr__(self) -> str:
        """Return text such as `RootMove(a0a9: win, order 0, 0 plies later)`."""
        if self.result is None:
            return f"RootMove({self.move}: unknown, for want of {self.missing})"
        outcome = Outcome(-self.result.outcome).name.lower()
        if self.plies is None:
            return f"RootMove({self.move}: {outcome})"
        return f"RootMove({self.move}: {outcome}, order {self.order}, {self.plies} plies later)"

    def _repr_html_(self) -> str:
        """Return the HTML table that a notebook shows."""
        outcome = self.outcome
        return as_html({
            "move": self.move,
            "outcome": "unknown" if outcome is None else outcome.name.lower(),
            "order": "-" if outcome is None else self.order,
            "plies afterwards": "-" if self.plies is None else self.plies,
            "best": "yes" if self.best else "no",
        })  # fmt: skip

    @property
    def worth(self) -> Value | None:
        """The value of the move to the side that makes it; None if unknown."""
        return None if self.result is None else worth_of_move(self.result.exact, self.converts)

    @property
    def outcome(self) -> Outcome | None:
        """The outcome for the side that makes the move; None if unknown."""
        return None if self.result is None else Outcome(-self.result.outcome)

    @property
    def value(self) -> int | None:
        """Number of the opponent's value after the move (docs/values.md); None if unknown."""
        return None if self.result is None else self.result.value

    @property
    def order(self) -> int | None:
        """The order of the position after the move, 0 for a draw; None if unknown."""
        return None if self.result is None else self.result.order

    @property
    def plies(self) -> int | None:
        """The distance of the position after the move; None for a draw or an unknown value."""
        return None if self.result is None else self.result.plies

    @property
    def ends_game(self) -> bool:
        """Return whether the opponent has no legal move left; False if the value is unknown."""
        return self.result is not None and self.result.exact == Value(Outcome.LOSS)

    @property
    def preference(self) -> Preference:
        """Sort key of the worth; equally good moves have equal keys."""
        return Preference.of(self.worth)

    @property
    def sort_key(self) -> tuple[Preference, bool, bool, Preference, str]:
        """Sort key: the best move has the smallest key, and no two moves have equal keys.

        Equally good moves are ordered by four criteria: moves that end the game first, then
        captures, then the better value of the position after the move, then the text of the move.
        The third matters only for captures that convert: their worth does not depend on that value.
        """
        child = None if self.result is None else worth_of_move(self.result.exact, False)
        later = Preference.of(child)
        return self.preference, not self.ends_game, not self.capture, later, self.move.iccs


def equally_good(root: ProbeResult, moves: Sequence[RootMove]) -> list[RootMove]:
    """Return the best moves, which have equal worth (docs/values.md, "Best moves").

    root : value of the position; if it is a direct win, it counts here as a win in 2 plies
    moves : moves, best first

    The best moves are the known ones of the highest worth. But if some moves are unknown for lack
    of a table, and all known ones are worth less than the position, an unknown move is best. It is
    returned if it is the only unknown one; otherwise the list is empty.
    """
    known = [move for move in moves if move.result is not None]
    unknown = [move for move in moves if move.result is None]
    value = Value(Outcome.WIN, root.order, 2) if is_direct_win(root) else root.exact
    if unknown and (not known or known[0].preference > Preference.of(value)):
        return unknown if len(unknown) == 1 else []
    return [move for move in known if move.preference == known[0].preference]


def is_direct_win(result: ProbeResult) -> bool:
    """Return whether a value is a direct win (docs/values.md), number 255."""
    return result.outcome == Outcome.WIN and result.order > 0 and result.plies == 0
