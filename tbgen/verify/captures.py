"""Goals of captures: the table that each leads to, which piece is which there, and in which slot.

    material, layouts  ->  `Arrays.captures` and `stakes`

Only facts of the material and of its index are computed here, and no table is read (`loading`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material
from tbgen.indexing.squares import (
    PieceType,
    piece_kind,
    piece_side,
)
from tbgen.verify.arrays import NO_TABLE, SOURCES, SWAPPED, TABLE, Plane


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
    """Return which planes captures lead to: table, side to move there, side to move here.

    captures, pieces : as in `Arrays`; who has lost a piece is to move
    """
    return {
        (int(line[TABLE]), piece_side(code) ^ int(line[SWAPPED]), piece_side(code))
        for line, code in zip(captures, pieces, strict=True)
        if line[TABLE] != NO_TABLE
    }


def list_stakes(
    captures: NDArray[np.int64], pieces: Sequence[int], last_orders: Mapping[Plane, int]
) -> NDArray[np.bool_]:
    """`Arrays.stakes`.

    captures, pieces : as in `Arrays`; last_orders : of losses, by the plane
    """
    stakes = np.zeros(len(pieces), np.bool_)
    for taken, (line, code) in enumerate(zip(captures, pieces, strict=True)):
        if line[TABLE] != NO_TABLE:
            stakes[taken] = last_orders[int(line[TABLE]), piece_side(code) ^ int(line[SWAPPED])] > 0
    return stakes


def _list_survivors(layout: Layout, taken: int, child: Layout) -> tuple[bool, list[int]]:
    """Return how a capture's child lists the pieces: colours swapped or not, and who is who.

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
