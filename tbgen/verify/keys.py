"""Values as comparable numbers, the same for every table.

Tables number their values in different ways (`tbgen.tables.codes`), so the proof converts what it
reads into *keys*: larger is better for the side to move, and a move costs one ply.

    win     MATE - order * ORDER - plies
    draw    0
    loss    -(MATE - order * ORDER - plies)

    after a move to a child worth `key`, the mover has        -key, one step closer to 0

The arithmetic is unbounded for all purposes: a child on the longest distance that its table can
show gives its parent one ply more, and never a value of the next order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tbgen.indexing.scalar import scalar
from tbgen.tables.codes import Outcome, Value

ORDER = 1 << 24
"""More plies than any distance that codes can show (four bytes: 2 * LONG_SPAN)."""

MATE = 1 << 56
"""Above every order: a mated side has -MATE."""

DECIDED_BY_RULES = MATE - ORDER
"""Wins of order 1 and above have keys up to this."""


@scalar
def key_of_code(code: int, top: int, draw: int, span: int) -> int:
    """The key of a stored code.

    Code 0, no position, gives a number below every loss: nothing true can follow from it.
    """
    if code == draw:
        return 0
    win = code > draw
    rank = top - code if win else code - 1
    order = 0
    if rank >= span:
        order = rank // span
        rank -= order * span
    # Order 0 wins take an odd number of plies, and wins of order k an even number.
    plies = 2 * rank
    if win == (order == 0):
        plies += 1
    key = MATE - order * ORDER - plies
    return key if win else -key


@scalar
def key_after_move(child: int) -> int:
    """Return what a move is worth that leads to a position worth `child` to the opponent."""
    if child > 0:
        return 1 - child
    if child < 0:
        return -1 - child
    return 0


@scalar
def key_after_conversion(child: int) -> int:
    """Return the worth of a capture where distances count to conversion (docs/values.md)."""
    if child > 0:
        return 2 - MATE
    if child < 0:
        return MATE - 1
    return 0


@scalar
def order_of_key(key: int) -> int:
    """The order of a decided key; a draw has one above all others, it is decided last."""
    if key == 0:
        return NEVER
    return (MATE - abs(key)) // ORDER


@scalar
def is_open(key: int) -> bool:
    """Return whether a value is a draw or decided by rules: what patterns may have to do with."""
    return -DECIDED_BY_RULES <= key <= DECIDED_BY_RULES


NEVER = MATE // ORDER
"""The order of what no order decides: draws."""


def value_of_key(key: int) -> Value:
    """The value that a key stands for."""
    if key == 0:
        return Value(Outcome.DRAW)
    order, plies = divmod(MATE - abs(key), ORDER)
    return Value(Outcome.WIN if key > 0 else Outcome.LOSS, order, plies)


def orders_of_keys(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """The orders of keys, as `order_of_key` has them."""
    return np.where(keys == 0, NEVER, (MATE - np.abs(keys)) // ORDER)
