"""Values of many positions at once, as boards: grouped by material, numbered, looked up.

    boards, sides  ->  groups of one material and colouring  ->  slots  ->  codes  ->  outcomes,
                                                                            orders, plies

Positions as objects are for `Tablebase.probe_many`; making them takes longer than all of this.
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
"""uint8 (n, 90): piece codes by square, 0 where there is none."""


class Library(Protocol):
    """Locations of the files of a material."""

    def table(self, material: Material | str) -> TableFile:
        """The open table of distances; raises `MissingTableError` where there is none."""

    def wdl_file(self, material: Material | str) -> WdlFile | None:
        """The open win-draw-loss file, None where there is none."""


class BoardProber:
    """Probes of many boards at once, for a class that has the methods of `Library`."""

    def probe_wdl_boards(self: Library, boards: Boards, sides: NDArray[Any]) -> NDArray[np.int8]:
        """Outcomes (n,) of many legal positions: 1 win, 0 draw, -1 loss; raises like `probe`.

        boards : uint8 (n, 90), piece codes by square, 0 where there is none
        sides : (n,), the side to move: 0 Red, 1 Black
        """
        found = np.zeros(len(boards), np.int8)
        for numbers, file, codes in looked_up(self, boards, sides, outcomes_alone=True):
            if isinstance(file, TableFile):
                codes = outcomes_of(codes, file.code_space)
            found[numbers] = codes.astype(np.int8) - np.int8(DRAW)
        return found

    def probe_boards(
        self: Library, boards: Boards, sides: NDArray[Any]
    ) -> tuple[NDArray[np.int8], NDArray[np.uint32], NDArray[np.uint32]]:
        """Outcomes, orders and plies (n,) of many legal positions; else as `probe_wdl_boards`."""
        outcomes = np.zeros(len(boards), np.int8)
        orders, plies = np.zeros(len(boards), np.uint32), np.zeros(len(boards), np.uint32)
        for numbers, file, codes in looked_up(self, boards, sides, outcomes_alone=False):
            assert isinstance(file, TableFile)
            values = value_columns(codes, file.code_space)
            outcomes[numbers], orders[numbers], plies[numbers] = values
        return outcomes, orders, plies


def looked_up(
    library: Library, boards: Boards, sides: NDArray[Any], *, outcomes_alone: bool
) -> Iterator[tuple[NDArray[np.intp], TableFile | WdlFile, Codes]]:
    """Numbers of boards whose codes are in one file, that file and the codes.

    Boards of a material that needs no table are left out: they are drawn.
    """
    boards = np.ascontiguousarray(boards, np.uint8).reshape(-1, SQUARES)
    sides = np.asarray(sides)
    occupied = np.flatnonzero(boards != 0)  # numpy searches booleans faster than numbers
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
    """Numbers of boards, those with the same pieces together.

    codes : (pieces of all boards,), board after board; starts : (n,), where those of each begin
    """
    if not len(starts):
        return []
    # Four bits for each of sixteen codes: no side has sixteen pieces of a kind.
    keys = np.add.reduceat(np.int64(1) << (4 * codes), starts)
    if (keys == keys[0]).all():
        return [np.arange(len(keys))]
    order = np.argsort(keys, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(keys[order])) + 1)
