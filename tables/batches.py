"""Values of many positions at once, given as boards: grouped by material, indexed, looked up.

    boards, sides  ->  groups of one material and colouring  ->  slots  ->  codes  ->  outcomes,
                                                                            orders, plies

`Tablebase.probe_many` takes `Position` objects; creating these takes longer than all steps above.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tbgen.indexing import Material, Position, Side
from tbgen.indexing.squares import SQUARES
from tbgen.tables.blocks import Codes
from tbgen.tables.codes import value_columns
from tbgen.tables.outcomes import DRAW, outcomes_of
from tbgen.tables.reader import TableFile
from tbgen.tables.wdl import WdlFile

Boards = NDArray[np.uint8]
"""uint8 (n, 90): piece codes by square, 0 for an empty square."""


class Library(Protocol):
    """Interface that `BoardProber` needs: the open files of a material."""

    def table(self, material: Material | str) -> TableFile:
        """Return the open table of distances; raises `MissingTableError` if there is none."""

    def wdl_file(self, material: Material | str) -> WdlFile | None:
        """Return the open win-draw-loss file, or None."""


class BoardProber:
    """Probes of many boards at once; a mixin for classes with the methods of `Library`."""

    def probe_wdl_boards(self: Library, boards: Boards, sides: NDArray[Any]) -> NDArray[np.int8]:
        """Outcomes (n,) of many legal positions: 1 win, 0 draw, -1 loss; raises like `probe`.

        boards : uint8 (n, 90), piece codes by square, 0 for an empty square
        sides : (n,), the side to move: 0 Red, 1 Black
        """
        found = np.zeros(len(boards), np.int8)
        for numbers, file, codes in look_up(self, boards, sides, outcomes_alone=True):
            if isinstance(file, TableFile):
                codes = outcomes_of(codes, file.code_space)
            found[numbers] = codes.astype(np.int8) - np.int8(DRAW)
        return found

    def probe_boards(
        self: Library, boards: Boards, sides: NDArray[Any]
    ) -> tuple[NDArray[np.int8], NDArray[np.uint32], NDArray[np.uint32]]:
        """Outcomes, orders and plies (n,) of legal positions; see `probe_wdl_boards`."""
        outcomes = np.zeros(len(boards), np.int8)
        orders, plies = np.zeros(len(boards), np.uint32), np.zeros(len(boards), np.uint32)
        for numbers, file, codes in look_up(self, boards, sides, outcomes_alone=False):
            assert isinstance(file, TableFile)
            values = value_columns(codes, file.code_space)
            outcomes[numbers], orders[numbers], plies[numbers] = values
        return outcomes, orders, plies


def look_up(
    library: Library, boards: Boards, sides: NDArray[Any], *, outcomes_alone: bool
) -> Iterator[tuple[NDArray[np.intp], TableFile | WdlFile, Codes]]:
    """Yield groups of boards: their indices, the file with their values, and their codes.

    Boards of a material that needs no table are omitted: they are draws.

    outcomes_alone : whether to read the win-draw-loss file of a material if present, not the table
    """
    boards = np.ascontiguousarray(boards, np.uint8).reshape(-1, SQUARES)
    sides = np.asarray(sides)
    occupied = np.flatnonzero(boards != 0)  # numpy scans booleans faster than integers
    codes = boards.ravel()[occupied].astype(np.int64)
    rows = occupied // SQUARES
    places = occupied - SQUARES * rows
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    for members in _groups(codes, starts):
        example = Position(boards[rows[starts[members[0]]]].tobytes(), Side.RED)
        material, swapped = example.material, example.is_swapped
        if not material.needs_table:
            continue
        file: TableFile | WdlFile | None = library.wdl_file(material) if outcomes_alone else None
        if file is None:
            file = library.table(material)
        listed = starts[members][:, None] + np.arange(material.men)
        slots = file.layout.slots_of_pieces(codes[listed], places[listed], swapped)
        own = rows[starts[members]]
        movers = sides[own] ^ int(swapped)
        for side in Side:
            chosen = np.flatnonzero(movers == side)
            if chosen.size:
                yield own[chosen], file, file.codes(side, slots[chosen])


def _groups(codes: NDArray[np.int64], starts: NDArray[np.int64]) -> list[NDArray[np.intp]]:
    """Return the indices of boards with the same pieces, one array for each set of pieces.

    codes : (pieces of all boards,), piece codes, board after board
    starts : (n,), index in `codes` of each board's first piece
    """
    if not len(starts):
        return []
    # Four bits for each of sixteen codes: a side has at most five pieces of a kind.
    keys = np.add.reduceat(np.int64(1) << (4 * codes), starts)
    if (keys == keys[0]).all():
        return [np.arange(len(keys))]
    order = np.argsort(keys, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(keys[order])) + 1)
