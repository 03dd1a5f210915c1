"""Values as ranks: small numbers, the same for every table of a proof, that rows are maxima of.

    stored codes  --planes-->  places in a palette  --here-->  ranks

A rank says what a position is worth to the side that *moved there*: the larger, the better for
him, so that the best of his moves is the maximum of the ranks of the positions after them.

    0        no position, or no move
    1 ...    a key that the opponent likes best, and so on down to the one that he likes least

Each side to move has ranks of its own, since moves of a side lead to positions of the other one
only: a byte tells apart what one side has where it does not both.

Open values (draws, and what the rules of repetition decide) may have a rank for each *kind* of the
position, so that the maximum also tells who may belong to a pattern:

    won for the side to move    CAPTURE < CHECK < CHASE < FREE
    drawn or lost                         CHECK < CHASE < FREE

    CAPTURE   it came about by a capture (which is a FREE one where it draws or wins)
    CHECK     the side to move is in check
    CHASE     he is not, but has a piece under attack that may be a chase; or wins, and attacks one
    FREE      neither

The best of the moves of a possible checker is of kind CHECK or CAPTURE, that of a possible chaser
CHASE or CAPTURE: any move of a higher kind keeps the value and is no offence, so that he need not
go on. What is possible is looked at by the scalar rules (`positions`, `chase.edges`).

Where rows settle the checks (`forward.settle`), draws alone have kinds: of what is decided they are
looked at again, when no distances have to be told apart any more. In a view (`views`) keys are
those that stand for classes, and only the last one has kinds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.lending import lent
from tbgen.indexing import Side
from tbgen.tables.codes import CodeSpace, LimitExceededError
from tbgen.verify.keys import (
    DECIDED_BY_RULES,
    MATE,
    ORDER,
    key_after_conversion,
    key_after_move,
    key_of_code,
)
from tbgen.verify.views import WHOLE, View

CAPTURE, CHECK, CHASE, FREE, KINDS = range(5)
"""Kinds of positions; closed values have one rank for all of them."""

UNTOLD = -1
"""The kind of ranks of open values that are not told apart by it."""

ATTACKING = KINDS
"""What would be FREE if the side to move did not attack a piece: with `Values.own`, the line."""
NO_POSITION = ATTACKING + 1
"""The line for what is none."""

ASKS_CHECKS, ASKS_HUNG, ASKS_ATTACKS = 1, 2, 4
"""What has to be known of a position to tell its kind: whether the side to move is in check, has a
piece that may be chased, attacks one. Bits."""

NO_RANK, NO_VALUE = -1, -2
"""In `Values`: no stored value is that of a move; no move gives that value, or there is no rank."""

Sides = Sequence[NDArray[np.int64]]
"""Keys, int64 (n,), of positions with Red and with Black to move."""


@lent
class Values(NamedTuple):
    """What ranks stand for, as kernels look it up. Shapes: R ranks of either side to move, of which
    0 is none."""

    keys: NDArray[np.int64]
    """int64 (2, R): the key of the position, for the side to move there; for rank 0 that of code 0,
    worse than every loss."""
    kinds: NDArray[np.int64]
    """int64 (2, R): the kind; UNTOLD for open values, FREE for others that have one rank."""
    stored: NDArray[np.int32]
    """int32 (2, R): the same number for all ranks of a key, of both sides; NO_RANK for wins by
    rules at which the first pass always looks twice."""
    expected: NDArray[np.int32]
    """int32 (2, R): the number, as in `stored`, of the value that a position has whose best move
    leads to the rank, if there is nothing else to say of it; else a number that no value has."""
    own: NDArray[Any]
    """ranks (2, NO_POSITION + 1, places): the rank of each place in the palette of this table's
    side, by kind, for ATTACKING, and for NO_POSITION, which has none."""
    asks: NDArray[np.uint8]
    """uint8 (2, places): what the rank of each place depends on besides checks, which are asked for
    anyway: they say what is legal."""
    settled: NDArray[np.bool_]
    """bool (2, R): losses by perpetual check that are settled (`forward.settle`): no rank is."""
    drawn: NDArray[np.int64]
    """int64 (2,): the rank of a capture into a material in which all is drawn."""

    def translate(self, side: int, keys: NDArray[np.int64], kind: int) -> NDArray[np.int64]:
        """int64 (n,): the ranks of keys of a side to move, as positions of one kind."""
        of = {
            (key, rank_kind): rank
            for rank, (key, rank_kind) in enumerate(
                zip(self.keys[side].tolist(), self.kinds[side].tolist(), strict=True)
            )
            if rank and self.stored[side, rank] != NO_VALUE
        }
        ranks = []
        for key in keys.tolist():
            for told in (_kind_of(key, kind), UNTOLD, FREE):
                if (key, told) in of:
                    ranks.append(of[key, told])
                    break
            else:
                ranks.append(0)
        return np.array(ranks, np.int64)


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


def count_ranks(keys: Sides, view: View) -> int:
    """The most ranks that a side with some of these keys has in a view: of what is decided by rules
    no kinds are told."""
    return max(len(_list_ranks(_shown(each, view), view, seek=True, all_kinds=False))
               for each in keys)  # fmt: skip


def make_values(
    own: Sides, others: Sides, *, seek: bool, all_kinds: bool = True, view: View = WHOLE
) -> Values:
    """The ranks of all values that occur.

    own : the keys of this table's palettes, by side to move; others : further ones
    seek : whether open values are told apart by kind; all_kinds : also those that are no draws
    view : what is told of them: the keys are those that stand for classes

    Raises `LimitExceededError` where 16 bits do not do.
    """
    own = [view.coarsen(each) for each in own]
    sides = [_shown(np.concatenate([own[side], others[side]]), view) for side in Side]
    number_of = {key: number for number, key in enumerate(np.union1d(*sides).tolist())}
    listed = [_list_ranks(keys, view, seek=seek, all_kinds=all_kinds) for keys in sides]
    most = max(map(len, listed))
    if most > 1 << 16:
        raise LimitExceededError(f"{most} ranks of values are more than 16 bits can tell apart")
    shape = len(Side), most
    keys, kinds = np.full(shape, key_of_code(0, 255, 128, 127)), np.full(shape, FREE)
    stored, expected = np.full(shape, NO_VALUE, np.int32), np.full(shape, NO_VALUE - 1, np.int32)
    for side, ranks in zip(Side, listed, strict=True):
        after = [-MATE] + [key_after_move(key) for key, _ in ranks[1:]]
        worths = view.coarsen(np.array(after, np.int64)).tolist()
        for rank, ((key, kind), worth) in enumerate(zip(ranks, worths, strict=True)):
            keys[side, rank], kinds[side, rank] = key, kind
            if rank:
                stored[side, rank] = number_of[key]
            if 0 < key <= DECIDED_BY_RULES and (all_kinds or (MATE - key) % ORDER == 0):
                stored[side, rank] = NO_RANK
            is_silent = abs(worth) > DECIDED_BY_RULES
            if not is_silent:
                is_silent = kind in (FREE, UNTOLD) if seek else worth == 0
            if is_silent and worth in number_of:
                expected[side, rank] = number_of[worth]
    values = Values(
        keys, kinds, stored, expected, np.zeros((2, 0, 0), np.uint8), np.zeros((2, 0), np.uint8),
        np.zeros(shape, np.bool_), np.zeros(2, np.int64),
    )  # fmt: skip
    places = max(map(len, own))
    table = np.zeros((len(Side), NO_POSITION + 1, places), np.min_scalar_type(most - 1))
    for side in Side:
        for kind in range(NO_POSITION):
            table[side, kind, : len(own[side])] = values.translate(side, own[side], kind)
        values.drawn[side] = values.translate(side, np.zeros(1, np.int64), CAPTURE)[0]
    hung, attacks = (table[:, kind] != table[:, FREE] for kind in (CHASE, ATTACKING))
    asks = hung * np.uint8(ASKS_HUNG) | attacks * np.uint8(ASKS_ATTACKS)
    return values._replace(own=table, asks=asks)


def _shown(keys: NDArray[np.int64], view: View) -> NDArray[np.int64]:
    """int64 (n,), ascending: the keys of a side as a view shows them, and that of draws."""
    return np.unique(view.coarsen(np.append(keys, 0)))


def _list_ranks(
    keys: NDArray[np.int64], view: View, *, seek: bool, all_kinds: bool
) -> list[tuple[int, int]]:
    """The key and the kind of each rank of a side, which has these keys, ascending.

    Arguments as those of `make_values`.
    """
    ranks = [(key_of_code(0, 255, 128, 127), FREE)]
    for key in keys[::-1].tolist():
        if not seek or abs(key) > DECIDED_BY_RULES:
            ranks.append((key, FREE))
        elif all_kinds or (key == 0 and view.tells_kinds):
            ranks += [(key, kind) for kind in range(KINDS) if _kind_of(key, kind) == kind]
        else:
            ranks.append((key, UNTOLD))
    return ranks
