"""Values, and the integer codes that encode them.

A `Value` is the value of a position for the side to move: outcome, *order* and plies
(docs/values.md). Tables hold *codes*, ordered by preference of the side to move (Fang, Hsu & Hsu
2002, section 6.4), so that the best of several values is the largest code:

    0        no position: illegal, or a hole of the index
    1 ...    losses    order 0 first, the longer the better; then order 1, 2, ...: a loser
                       prefers a high order, and within it a long resistance
    middle   draw
    ... top  wins      top is a win in one ply; down from it order 0, the shorter the better,
                       then order 1, ...

        rank = order * span + plies // 2          (parity follows from outcome and order)
        loss = 1 + rank        win = top - rank

Codes of one byte hold order 0 alone, up to 253 plies; codes of two bytes hold 258 orders of the
same span (number of distances). Tables with longer distances have `LONG_SPAN`, and codes of two
bytes if only order 0 is searched, else of four.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

BYTE_SPAN = 127
"""Number of distances per order in most tables: at order 0, losses to 252 plies, wins to 253."""

LONG_SPAN = 16383
"""Number of distances per order in tables with distances that `BYTE_SPAN` excludes.

The largest that a file may have: distances are below 32768 plies, as 15 bits hold them.
"""

DIRECT_WIN = 255
"""Printed number (`Value.number`) of a direct win, at any order.

Fang, Hsu & Hsu 2002, section 6.1, call it *WinByDirectCheckingIndefinitely*. Each ply of distance
subtracts one: 254 is their *LossByDirectCheckingIndefinitely*.
"""


class Outcome(IntEnum):
    """Outcome for the side to move; compared as integers, a better outcome is larger."""

    LOSS = -1
    DRAW = 0
    WIN = 1


class LimitExceededError(Exception):
    """A distance or an order too large for the codes of a table; values are never clipped."""


@dataclass(frozen=True, slots=True)
class Value:
    """Value of a position for the side to move.

    At order 0, `plies` is the distance to mate or conversion. At order 1 and above it is the
    distance to a *direct win*, a position in which the opponent must repeat an offence forever. A
    draw has order 0 and 0 plies.
    """

    outcome: Outcome
    order: int = 0
    plies: int = 0

    @property
    def number(self) -> int:
        """Number printed by Fang, Hsu & Hsu: 0 for a draw, plies at order 0, else 255 - plies."""
        if self.order:
            return DIRECT_WIN - self.plies
        return self.plies


DRAW = Value(Outcome.DRAW)


@dataclass(frozen=True, slots=True)
class CodeSpace:
    """An encoding of values: `width` bytes per code, and `span` distances per order."""

    width: int
    span: int = BYTE_SPAN

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of an array of codes: little-endian unsigned integers of `width` bytes."""
        return np.dtype(f"<u{self.width}")

    @property
    def top(self) -> int:
        """Largest code: a win in one ply."""
        return int(256**self.width) - 1

    @property
    def draw(self) -> int:
        """Code of a draw."""
        return (self.top + 1) // 2

    @property
    def max_plies(self) -> int:
        """Distance up to which wins and losses of every order have a code, in plies."""
        return 2 * self.span - 2

    @property
    def max_order(self) -> int:
        """Highest order that has codes."""
        return (self.draw - 1) // self.span - 1

    def encode(self, value: Value) -> int:
        """Return the code of a value; order and plies of a draw are ignored.

        Raises `LimitExceededError` if the value has no code here, and `ValueError` for an
        impossible value such as an order 0 win in an even number of plies.
        """
        if value.outcome == Outcome.DRAW:
            return self.draw
        odd = (value.outcome == Outcome.WIN) == (value.order == 0)
        if min(value.order, value.plies) < 0 or value.plies % 2 != odd:
            raise ValueError(f"{value} is no value")
        if value.plies // 2 >= self.span or value.order > self.max_order:
            raise LimitExceededError(
                f"order {value.order}, {value.plies} plies exceed {self.max_order} orders "
                f"of {self.max_plies} plies"
            )
        rank = value.order * self.span + value.plies // 2
        return 1 + rank if value.outcome == Outcome.LOSS else self.top - rank

    def decode(self, code: int) -> Value:
        """Return the value of a code; raises `ValueError` for 0 and for codes above `top`.

        Codes near that of a draw, which `encode` never returns, get an order above `max_order`.
        """
        if not 0 < code <= self.top:
            raise ValueError(f"{code} is no code of {self.width} bytes")
        if code == self.draw:
            return DRAW
        win = code > self.draw
        order, half = divmod(self.top - code if win else code - 1, self.span)
        # Order 0 wins take an odd number of plies, and wins of order k an even number.
        odd = win == (order == 0)
        return Value(Outcome.WIN if win else Outcome.LOSS, order, 2 * half + odd)


def value_columns(
    codes: NDArray[Any], space: CodeSpace
) -> tuple[NDArray[np.int8], NDArray[np.uint32], NDArray[np.uint32]]:
    """Return the parts of `decode` of each code: outcomes int8, orders and plies uint32, all (n,).

    codes : (n,), none of them 0
    """
    if space.width <= 2 and len(codes) > space.top + 1:
        known = value_columns(np.arange(space.top + 1), space)
        return known[0][codes], known[1][codes], known[2][codes]
    codes = codes.astype(np.int64)
    win, draw = codes > space.draw, codes == space.draw
    order, half = np.divmod(np.where(win, space.top - codes, codes - 1), space.span)
    plies = 2 * half + (win == (order == 0))
    outcome = np.where(win, 1, -1).astype(np.int8)
    outcome[draw], order[draw], plies[draw] = 0, 0, 0
    return outcome, order.astype(np.uint32), plies.astype(np.uint32)
