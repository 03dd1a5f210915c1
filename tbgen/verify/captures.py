"""What captures lead to: which table each does, which piece is which there, and in which slot.

    material, layouts  ->  `Arrays.captures`, `stakes`, `weights`, `moved_along`

Only facts of the material and of its index are computed here, and no table is read (`loading`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material
from tbgen.indexing.squares import (
    SQUARES,
    PieceType,
    flip_square,
    mirror_square,
    piece_code,
    piece_kind,
    piece_side,
)
from tbgen.verify.arrays import LAST_STAKE, NO_TABLE, SOURCES, SWAPPED, TABLE, Plane


def list_captures(
    layouts: Sequence[Layout],
    children: Mapping[tuple[int, PieceType], Material],
    numbers: Mapping[str, int],
) -> NDArray[np.int64]:
    """`Arrays.captures`.

    layouts : of all tables, by number; of this one first
    children : what is left after each capture; numbers : of the tables, by name of material
    """
    pieces = layouts[0].piece_codes
    captures = np.full((len(pieces), SOURCES + len(pieces)), NO_TABLE, np.int64)
    for taken, code in enumerate(pieces):
        if piece_kind(code) == PieceType.KING:
            continue
        child = children[piece_side(code), PieceType(piece_kind(code))]
        number = numbers.get(child.name, NO_TABLE)
        if number != NO_TABLE:
            swapped, sources = _list_survivors(layouts[0], taken, layouts[number])
            captures[taken, TABLE], captures[taken, SWAPPED] = number, swapped
            captures[taken, SOURCES : SOURCES + len(sources)] = sources
    return captures


def list_needed(captures: NDArray[np.int64], pieces: Sequence[int]) -> set[tuple[int, int, int]]:
    """Which planes captures lead to: table, side to move there, side to move here.

    captures, pieces : as in `Arrays`; who has lost a piece is to move
    """
    return {
        (int(line[TABLE]), piece_side(code) ^ int(line[SWAPPED]), piece_side(code))
        for line, code in zip(captures, pieces, strict=True)
        if line[TABLE] != NO_TABLE
    }


def list_stakes(
    captures: NDArray[np.int64], pieces: Sequence[int], last_orders: Mapping[Plane, int], *,
    at_least: int,
) -> NDArray[np.uint8]:  # fmt: skip
    """`Arrays.stakes`.

    captures, pieces : as in `Arrays`; last_orders : of losses, by the plane
    at_least : AT_STAKE, or 0
    """
    stakes = np.full(len(pieces), at_least, np.uint8)
    for taken, (line, code) in enumerate(zip(captures, pieces, strict=True)):
        if line[TABLE] != NO_TABLE:
            last = last_orders[int(line[TABLE]), piece_side(code) ^ int(line[SWAPPED])]
            stakes[taken] += min(last, LAST_STAKE)
    return stakes


def _list_survivors(layout: Layout, taken: int, child: Layout) -> tuple[bool, list[int]]:
    """How a capture's child lists the pieces: colours swapped or not, and who is who.

    The child's sides change places where its material names the other one first.
    """
    left = list(layout.armies)
    code = layout.piece_codes[taken]
    left[piece_side(code)] = left[piece_side(code)].without(piece_kind(code))
    swapped = tuple(left) != child.armies
    survivors = [p for p in range(len(layout.piece_codes)) if p != taken]
    sources = []
    for wanted in child.piece_codes:
        own = wanted ^ 8 if swapped else wanted
        source = next(p for p in survivors if layout.piece_codes[p] == own)
        survivors.remove(source)
        sources.append(source)
    return swapped, sources


def list_weights(layout: Layout) -> NDArray[np.int64]:
    """What the square of each piece adds to the slot; -1 where it is no sum over pieces.

    Single attackers add up; twins are ranked together, and defenders make the lead.
    """
    codes = layout.piece_codes
    weights = np.full((len(codes), SQUARES), -1, np.int64)
    for group, stride in zip(layout.groups, layout.strides, strict=True):
        code = piece_code(group.side, group.kind)
        if codes.count(code) == 1:
            line = weights[codes.index(code)]
            line[list(group.area)] = np.arange(len(group.area)) * stride * layout.inner_size
    if layout.inner is not None and layout.twin < 0:
        weights[-1, list(layout.inner.area)] = np.arange(layout.inner_size)
    return weights


def list_weights_after(captures: NDArray[np.int64], layouts: Sequence[Layout]) -> NDArray[np.int64]:
    """`Arrays.moved_along`.

    captures : as in `Arrays`; layouts : of all tables, by number; of this one first
    """
    layout = layouts[0]
    weights = np.full((len(captures), 2, layout.inner_size), -1, np.int64)
    if layout.inner is None:
        return weights
    for line, capture in zip(weights, captures, strict=True):
        (places,) = np.nonzero(capture[SOURCES:] == len(captures) - 1)
        for place in places:  # one, or none where nothing is left to be looked up
            there = list_weights(layouts[capture[TABLE]])[place]
            for column, square in enumerate(layout.inner.area):
                flipped = flip_square(square) if capture[SWAPPED] else square
                line[:, column] = there[flipped], there[mirror_square(flipped)]
    return weights
