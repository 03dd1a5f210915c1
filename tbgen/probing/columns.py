"""Tables as columns: legal positions and their values as NumPy arrays.

    slot          index of the placement of the pieces (docs/format.md)
    side          0: Red, who has the stronger army, is to move; 1: Black
    red_king ...  9 * rank + file of each piece; identical ones are red_pawn_1, red_pawn_2, ...
    outcome       1 win, 0 draw, -1 loss for the side to move
    order         0 mate or conversion, k >= 1 decided by the repetition rules
    plies         distance; 0 for a draw
    legal         False for a slot without a legal position; no column if only legal ones are read

Mirror images count once: only one of two is legal. Rows are in order of side and slot.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tbgen.indexing import InputError, Material, Position, Side
from tbgen.indexing.errors import enum_member, integer
from tbgen.indexing.layout import Layout
from tbgen.indexing.squares import PieceType, piece_kind, piece_side
from tbgen.probing.placements import squares_and_legality
from tbgen.tables import CorruptTableError, Tablebase, TableFile
from tbgen.tables.codes import value_columns
from tbgen.tables.names import TableName

CHUNK = 1 << 18
"""Number of slots processed at a time, which bounds the memory."""

SIDES = tuple(Side)


class TableColumns(dict[str, NDArray[Any]]):
    """Rows of a table as a dictionary of arrays (rows,), by column name.

    `pandas.DataFrame`, `pyarrow.table` and `numpy.savez` take it. `layout` is the material's index;
    `table` is the name of the table, None if the rows are of no table.
    """

    def __init__(
        self,
        layout: Layout,
        columns: dict[str, NDArray[Any]],
        table: TableName | None = None,
    ) -> None:
        super().__init__(columns)
        self.layout, self.table = layout, table

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self["slot"])

    @property
    def squares(self) -> NDArray[np.uint8]:
        """Squares of the pieces, uint8 (rows, pieces), in the order of `Layout.piece_codes`."""
        return np.stack([self[name] for name in piece_names(self.layout)], axis=1)

    def boards(self) -> NDArray[np.uint8]:
        """Return uint8 (rows, 90): piece codes by square, 0 for an empty square."""
        return self.layout.boards_of_squares(self.squares)

    def positions(self) -> Iterator[Position]:
        """Yield the position of each row; a row that is not legal may raise `PositionError`."""
        for board, side in zip(self.boards(), self["side"].tolist(), strict=True):
            yield Position(board.tobytes(), SIDES[side])

    def take(self, chosen: NDArray[Any] | Sequence[int] | slice | int) -> Self:
        """Return some rows, chosen by a mask, row numbers, a slice, or a single row number."""
        taken = {name: np.atleast_1d(column[chosen]) for name, column in self.items()}
        return type(self)(self.layout, taken, self.table)

    def copy(self) -> Self:
        """Return the same columns in a new dictionary; the arrays are shared."""
        return type(self)(self.layout, dict(self), self.table)

    def __or__(self, others: Mapping[str, NDArray[Any]]) -> Self:  # type: ignore[override]
        """Return these columns and `others`; a column of `others` replaces one of the same name."""
        return type(self)(self.layout, {**self, **others}, self.table)

    @classmethod
    def concatenate(cls, parts: Iterable[Self]) -> Self:
        """Join parts of one table, with equal columns; raises `InputError` for others, or none."""
        parts = list(parts)
        if len({(part.table, *part) for part in parts}) != 1:
            raise InputError("no parts, or parts of different tables", "give parts of one table")
        columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        return cls(parts[0].layout, columns, parts[0].table)

    def __repr__(self) -> str:
        return f"<TableColumns: {self.rows:,} rows of {', '.join(self)}>"


def piece_names(layout: Layout) -> list[str]:
    """Return the names of the columns of squares, in the order of `Layout.piece_codes`."""
    names = [
        f"{Side(piece_side(code)).name}_{PieceType(piece_kind(code)).name}".lower()
        for code in layout.piece_codes
    ]
    return [
        name if names.count(name) == 1 else f"{name}_{names[:number].count(name) + 1}"
        for number, name in enumerate(names)
    ]


def columns_of_codes(
    file: TableFile,
    side: int,
    slots: NDArray[np.int64],
    squares: NDArray[np.uint8],
    codes: NDArray[Any],
) -> TableColumns:
    """Return the columns of n positions with `side` to move.

    slots, codes : (n,), slot and code (stored value) of each position
    squares : (n, pieces), squares of its pieces, as in `Layout.squares_of_slots`
    """
    outcome, order, plies = value_columns(codes, file.code_space)
    most = max((counts.order for counts in file.statistics.orders), default=0)
    columns: dict[str, NDArray[Any]] = {
        "slot": slots.astype(np.int32 if file.header.slots < 1 << 31 else np.int64),
        "side": np.full(len(slots), side, np.uint8),
    }
    for number, name in enumerate(piece_names(file.layout)):
        columns[name] = np.ascontiguousarray(squares[:, number])
    columns["outcome"] = outcome
    columns["order"] = order.astype(np.min_scalar_type(most))
    columns["plies"] = plies.astype(np.min_scalar_type(file.code_space.max_plies + 1))
    return TableColumns(file.layout, columns, file.header.spec.name)


def columns_of_slots(
    file: TableFile, side: int, slots: NDArray[np.int64], *, legal_only: bool = True
) -> TableColumns:
    """Return the columns of the positions at some slots, with `side` to move.

    legal_only : whether to leave out slots without a legal position; if False, they have the value
        draw, arbitrary squares, and False in column `legal`
    """
    squares, bits = squares_and_legality(file.layout, slots)
    legal = bits & 1 << side != 0
    if legal_only:
        slots, squares = slots[legal], squares[legal]
        return columns_of_codes(file, side, slots, squares, file.codes(side, slots))
    codes = np.where(legal, file.codes(side, slots), file.code_space.draw)
    columns = columns_of_codes(file, side, slots, squares, codes)
    columns["legal"] = legal
    return columns


def all_columns(
    file: TableFile, sides: Iterable[Side] = SIDES, *, legal_only: bool = True, chunk: int = CHUNK
) -> Iterator[TableColumns]:
    """Yield a table in parts: its legal positions, or without `legal_only` all slots, as columns.

    A part covers up to `chunk` slots with one side to move. Raises `OSError`, `CorruptTableError`
    for a damaged block, and after a side if the statistics state another number of positions.
    """
    for side in sides:
        counts = file.statistics.red_to_move if side == Side.RED else file.statistics.black_to_move
        missing = counts.legal if legal_only else file.header.slots
        for first in range(0, file.header.slots, chunk):
            slots = np.arange(first, min(first + chunk, file.header.slots))
            part = columns_of_slots(file, side, slots, legal_only=legal_only)
            missing -= part.rows
            if missing < 0:  # yield no more rows than the statistics state
                break
            yield part
        if missing:
            raise CorruptTableError(file.path, "the statistics count other positions")


def sampled_columns(file: TableFile, count: int, seed: int) -> TableColumns:
    """Return the columns of `count` different legal positions, in order of side and slot.

    They are chosen at random by `seed`; if fewer exist, all are returned. Raises `OSError`, and
    `CorruptTableError` for a damaged block, and for wrong statistics if the whole table is read.
    """
    rng = np.random.default_rng(seed)
    slots = file.header.slots
    found = columns_of_slots(file, Side.RED, np.empty(0, np.int64))
    # Rejection sampling of slots reads few blocks of a large table. To sample half of the
    # positions takes 1.4 draws for each slot of a side. If far more draws do not suffice, the
    # statistics are wrong, which `all_columns` reports.
    draws_left = 8 * slots + 10_000
    while 2 * count <= file.statistics.legal and found.rows < count and draws_left > 0:
        drawn = rng.integers(2 * slots, size=max(1000, 4 * (count - found.rows)))
        draws_left -= len(drawn)
        drawn = drawn[np.sort(np.unique(drawn, return_index=True)[1])]
        keys = found["side"].astype(np.int64) * slots + found["slot"]
        drawn = drawn[~np.isin(drawn, keys)]
        new = TableColumns.concatenate(
            columns_of_slots(file, side, drawn[drawn // slots == side] % slots) for side in SIDES
        )
        chosen = rng.permutation(new.rows)[: count - found.rows]
        found = TableColumns.concatenate([found, new.take(chosen)])
    if found.rows == count:
        return found.take(np.lexsort([found["slot"], found["side"]]))
    everything = TableColumns.concatenate(all_columns(file))
    return everything.take(np.sort(rng.permutation(everything.rows)[:count]))


def read_table(
    material: Material | str,
    tables: Tablebase | Path | str | None = None,
    *,
    side: Side | str | None = None,
    legal_only: bool = True,
) -> TableColumns:
    """Return a table as columns in memory, of both sides to move or of one.

    tables : a tablebase, or a directory with tables of one rule set; None for $TBGEN_TABLES or
        `egtb`
    side : `Side.RED`, `Side.BLACK`, "red" or "black"; None for both
    legal_only : if False, every slot has a row, and a column `legal` marks the legal positions

    Raises like `all_columns`, `Tablebase.open` and `Tablebase.table`; `InputError` for other sides.

    >>> import pandas  # doctest: +SKIP
    >>> pandas.DataFrame(tbgen.read_table("KRKN", "egtb"))  # doctest: +SKIP
    """
    return TableColumns.concatenate(read_chunks(material, tables, side=side, legal_only=legal_only))


def read_chunks(
    material: Material | str,
    tables: Tablebase | Path | str | None = None,
    *,
    side: Side | str | None = None,
    legal_only: bool = True,
    chunk: int = CHUNK,
) -> Iterator[TableColumns]:
    """Yield the columns of `read_table` in parts of at most `chunk` slots; parts may have no rows.

    Raises `InputError` if `chunk` is no integer from 1, and the errors of `read_table`.
    """
    if integer(chunk, "slots") < 1:
        raise InputError(f"{chunk} is no number of slots", "chunk is at least 1")
    if not isinstance(tables, Tablebase):
        with Tablebase.open(tables) as opened:
            yield from read_chunks(material, opened, side=side, legal_only=legal_only, chunk=chunk)
        return
    sides = SIDES if side is None else (enum_member(Side, side),)
    yield from all_columns(tables.table(material), sides, legal_only=legal_only, chunk=chunk)
