"""Codes of many positions at once, given as boards: grouped by material, indexed, looked up.

boards, sides  ->  groups of boards with the same pieces  ->  slots  ->  codes
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tbgen.indexing import InputError, Material, Position, PositionError, Side
from tbgen.indexing.layout import Layout
from tbgen.indexing.squares import SQUARES
from tbgen.tables.blocks import Codes
from tbgen.tables.reader import TableFile
from tbgen.tables.wdl import WdlFile

Boards = NDArray[np.uint8]
"""uint8 (n, 90): piece codes by square, 0 for an empty square."""

File = TypeVar("File", bound=TableFile | WdlFile)


def look_up(
    boards: Boards, sides: NDArray[Any], file_of: Callable[[Material], File]
) -> Iterator[tuple[NDArray[np.intp], File, Codes]]:
    """Yield (indices, file, codes) of groups of boards with one material and one side to move.

    `indices` (n,) are those of the group's boards, `codes` (n,) their codes in `file`. Boards of a
    material that needs no table are omitted: they are draws.

    sides : (boards,), 0 Red or 1 Black to move
    file_of : returns the open file of a material

    Raises like `checked`, `file_of` and reading, and `InputError` for boards that are no positions.
    """
    boards, sides = checked(boards, sides)
    occupied = np.flatnonzero(boards != 0)  # numpy scans booleans faster than integers
    codes = boards.ravel()[occupied].astype(np.int64)
    rows = occupied // SQUARES
    places = occupied - SQUARES * rows
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    if len(starts) < len(boards):
        raise InputError("a board is empty", "each side has exactly one king")
    for members in _groups(codes, starts):
        example = Position(boards[rows[starts[members[0]]]].tobytes(), Side.RED)
        material, swapped = example.material, example.is_swapped
        file = file_of(material) if material.needs_table else None
        listed = starts[members][:, None] + np.arange(material.men)
        slots = Layout.of(material).slots_of_pieces(codes[listed], places[listed], swapped)
        if file is None:
            continue
        own = rows[starts[members]]
        movers = sides[own] ^ int(swapped)
        for side in Side:
            chosen = np.flatnonzero(movers == side)
            if chosen.size:
                yield own[chosen], file, file.codes(side, slots[chosen])


def checked(boards: NDArray[Any], sides: NDArray[Any]) -> tuple[Boards, NDArray[np.int64]]:
    """Return boards, uint8 (n, 90), and sides to move, int64 (n,), with contiguous memory.

    Raises `InputError` for another number of sides than boards, and for sides other than 0 and 1;
    `PositionError` for codes that no byte holds, and unless 90 divides the boards' size.
    """
    given, numbers = np.asarray(boards), np.asarray(sides)
    if given.size % SQUARES:
        raise PositionError(f"{given.size} squares are no boards", "a board has 90 piece codes")
    given = given.reshape(-1, SQUARES)
    with np.errstate(invalid="ignore"):  # NaN, too, is found below: it differs from every byte
        boards = np.ascontiguousarray(given, np.uint8)
    if given.dtype != np.uint8 and (wrapped := given[boards != given]).size:
        raise PositionError(
            f"a board holds {wrapped[0]}, which is no piece code",
            "piece codes are 1 to 7 for Red and 9 to 15 for Black",
        )
    if numbers.shape != boards.shape[:1] or ((numbers != 0) & (numbers != 1)).any():
        raise InputError(
            f"{len(boards)} boards need as many sides to move", "each is 0 for Red or 1 for Black"
        )
    return boards, np.ascontiguousarray(numbers, np.int64)


def _groups(codes: NDArray[np.int64], starts: NDArray[np.int64]) -> list[NDArray[np.intp]]:
    """Return the indices of boards with the same pieces, one array for each set of pieces.

    codes : piece codes of all boards; the first of each board is at its index in `starts`
    """
    if not len(starts):
        return []
    # A key has four bits for each of sixteen codes: a side has at most five pieces of a kind.
    # Greater codes count as 8, which is no piece code, so that `Position` raises for the group.
    keys = np.add.reduceat(np.int64(1) << (4 * np.where(codes < 16, codes, 8)), starts)
    if (keys == keys[0]).all():
        return [np.arange(len(keys))]
    order = np.argsort(keys, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(keys[order])) + 1)
