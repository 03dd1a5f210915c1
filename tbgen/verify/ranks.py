"""Values as ranks: small numbers, the same for every table of a proof, that rows are maxima of.

    stored codes  --planes-->  places in a palette  --here-->  ranks

A rank says what a position is worth to the side that *moved there*: the larger, the better for
him, so that the best of his moves is the maximum of the ranks of the positions after them.

    0        no position, or no move
    1 ...    a key that the opponent likes best, and so on down to the one that he likes least

Open values (draws, and what the rules of repetition decide) have three ranks each, by the *kind*
of the position, so that the maximum also tells who may belong to a pattern:

    won for the side to move    CAPTURE < CHECK < CHASE < FREE
    drawn or lost                         CHECK < CHASE < FREE

    CAPTURE   it came about by a capture (which is a FREE one where it draws or wins)
    CHECK     the side to move is in check
    CHASE     he is not, but has a piece under attack; or wins, and attacks one
    FREE      neither

The best of the moves of a possible checker is of kind CHECK or CAPTURE, that of a possible chaser
CHASE or CAPTURE: any move of a higher kind keeps the value and is no offence, so that he need not
go on. What is possible is looked at by the scalar rules (`positions`, `chase.edges`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.tables.codes import CodeSpace, LimitExceededError
from tbgen.verify.keys import (
    DECIDED_BY_RULES,
    MATE,
    key_after_conversion,
    key_after_move,
    key_of_code,
)

CAPTURE, CHECK, CHASE, FREE, KINDS = range(5)
"""Kinds of positions; closed values have one rank for all of them."""

ATTACKING = KINDS
"""What would be FREE if the side to move did not attack a piece: with `Values.own`, the line."""
NO_POSITION = ATTACKING + 1
"""The line for what is none."""

NO_RANK = -1
"""In `Values`: no stored value is that of a move; no move gives that value."""


class Values(NamedTuple):
    """What ranks stand for, as kernels look it up. Shapes: R ranks, of which 0 is none."""

    keys: NDArray[np.int64]
    """int64 (R,): the key of the position, for the side to move there; for rank 0 that of code 0,
    worse than every loss."""
    kinds: NDArray[np.int64]
    """int64 (R,): the kind; FREE for values that have one rank."""
    stored: NDArray[np.int32]
    """int32 (R,): the same number for all ranks of a key; NO_RANK for wins by rules, at which the
    first pass always looks twice."""
    expected: NDArray[np.int32]
    """int32 (R,): the number, as in `stored`, of the value that a position has whose best move
    leads to the rank, if there is nothing else to say of it; else a number that no value has."""
    own: NDArray[Any]
    """ranks (NO_POSITION + 1, places): the rank of each place in this table's palette, by kind,
    for ATTACKING, and for NO_POSITION, which has none."""
    settled: NDArray[np.bool_]
    """bool (R,): losses by perpetual check that are known to be (`forward.settle`): no rank is."""
    drawn: int
    """The rank of a capture into a material in which all is drawn."""

    def translate(self, keys: NDArray[np.int64], kind: int) -> NDArray[np.int64]:
        """int64 (n,): the ranks of keys as positions of one kind."""
        of = {
            (key, rank_kind): rank
            for rank, (key, rank_kind) in enumerate(
                zip(self.keys.tolist(), self.kinds.tolist(), strict=True)
            )
            if rank
        }
        return np.array(
            [of.get((key, _kind_of(key, kind)), of.get((key, FREE), 0)) for key in keys.tolist()],
            np.int64,
        )


def _kind_of(key: int, kind: int) -> int:
    """The kind under which a key is kept."""
    if kind == ATTACKING:
        return CHASE if key > 0 else FREE
    return FREE if kind == CAPTURE and key <= 0 else kind


def keys_of_palette(codes: NDArray[np.int64], space: CodeSpace) -> NDArray[np.int64]:
    """int64 (n,): the keys of codes."""
    keys = [key_of_code(code, space.top, space.draw, space.span) for code in codes.tolist()]
    return np.array(keys, np.int64)


def after_conversion(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """int64 (n,): keys whose moves are worth what conversions into the given ones are."""
    values = [-key_after_conversion(key) for key in keys.tolist()]
    return np.array([value + (value > 0) - (value < 0) for value in values], np.int64)


def make_values(own: NDArray[np.int64], others: NDArray[np.int64], *, seek: bool) -> Values:
    """The ranks of all values that occur.

    own : int64 (places,), the keys of this table's palette; others : int64 (n,), further ones
    seek : whether open values are told apart by kind

    Raises `LimitExceededError` where 16 bits do not do.
    """
    ascending = np.unique(np.concatenate([own, others, [0]]))
    keys, kinds, numbers = [key_of_code(0, 255, 128, 127)], [FREE], [NO_RANK]
    for number, key in enumerate(ascending[::-1].tolist()):
        is_split = seek and abs(key) <= DECIDED_BY_RULES
        for kind in range(KINDS) if is_split else (FREE,):
            if not is_split or _kind_of(key, kind) == kind:
                keys.append(key)
                kinds.append(kind)
                numbers.append(number)
    if len(keys) > 1 << 16:
        raise LimitExceededError(
            f"{len(keys)} ranks of values are more than 16 bits can tell apart"
        )
    number_of = dict(zip(keys[1:], numbers[1:], strict=True))
    stored, expected = list(numbers), []
    for rank, (key, kind) in enumerate(zip(keys, kinds, strict=True)):
        if rank and 0 < key <= DECIDED_BY_RULES:
            stored[rank] = NO_RANK
        worth = key_after_move(key) if rank else -MATE
        is_open = abs(worth) <= DECIDED_BY_RULES
        silent = not is_open or (worth == 0 if not seek else kind == FREE)
        expected.append(number_of.get(worth, NO_RANK - 1) if silent else NO_RANK - 1)
    values = Values(
        np.array(keys, np.int64), np.array(kinds, np.int64), np.array(stored, np.int32),
        np.array(expected, np.int32), np.zeros((0, 0), np.uint8),
        np.zeros(len(keys), np.bool_), 0,
    )  # fmt: skip
    dtype = np.uint8 if len(keys) <= 1 << 8 else np.uint16
    lines = [values.translate(own, kind) for kind in range(NO_POSITION)]
    table = np.array([*lines, np.zeros(len(own), np.int64)], dtype)
    return values._replace(
        own=table, drawn=int(values.translate(np.zeros(1, np.int64), CAPTURE)[0])
    )
