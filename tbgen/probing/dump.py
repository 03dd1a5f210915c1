"""A table as rows: every legal position once, or a sample of them, as CSV or as a NumPy array.

    slots, chunk by chunk  ->  squares, legal ones  ->  codes  ->  rows

    slot      index of the position (docs/format.md), the same for both sides to move
    side      0: the side that the material names first, Red, is to move; 1: Black
    squares   9 * rank + file of every piece, in the order of `pieces`
    outcome   1 win, 0 draw, -1 loss for the side to move
    order     0 mate or conversion, k >= 1 decided by the repetition rules
    plies     distance; 0 for a draw
    value     as Fang, Hsu & Hsu print it: plies, or 255 - plies at order k

Mirror images count once. Rows are sorted by side and slot.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Any, BinaryIO, TextIO

import numpy as np
from numpy.typing import NDArray

from tbgen.indexing import Position, Side
from tbgen.indexing.layout import Layout
from tbgen.indexing.squares import LETTERS, piece_kind, piece_side
from tbgen.probing.legality import legal_boards
from tbgen.tables import CorruptTableError, TableFile

CHUNK = 1 << 16
"""Slots looked at together; bounds the memory."""

CSV_COLUMNS = ("slot", "side", "fen", "outcome", "order", "plies", "value")

Rows = NDArray[Any]
"""A structured array of `row_type`."""


def row_type(layout: Layout) -> np.dtype[Any]:
    """The type of one row."""
    return np.dtype(
        [
            ("slot", "<i8"),
            ("side", "u1"),
            ("squares", "u1", (len(layout.piece_codes),)),
            ("outcome", "i1"),
            ("order", "<u4"),
            ("plies", "<u4"),
            ("value", "<i4"),
        ]
    )


def pieces(layout: Layout) -> str:
    """The letters of the pieces in the order of `squares`, Black's in lower case: `KkRn`."""
    letters = [LETTERS[piece_kind(code)] for code in layout.piece_codes]
    sides = [piece_side(code) for code in layout.piece_codes]
    return "".join(
        letter.lower() if side == Side.BLACK else letter
        for letter, side in zip(letters, sides, strict=True)
    )


def rows_of_slots(file: TableFile, side: int, slots: NDArray[np.int64]) -> Rows:
    """The rows of those slots that hold a legal position with `side` to move."""
    layout = file.layout
    squares, sound = layout.squares_of_slots(slots)
    boards = layout.boards_of_squares(squares)
    sound[sound] = legal_boards(boards[sound], side)
    slots, squares = slots[sound], squares[sound]
    rows = np.zeros(len(slots), row_type(layout))
    rows["slot"], rows["side"], rows["squares"] = slots, side, squares
    codes, places = np.unique(file.codes(side, slots), return_inverse=True)
    values = [file.code_space.decode(code) for code in codes.tolist()]
    for column in ("outcome", "order", "plies"):
        rows[column] = np.array([getattr(value, column) for value in values], np.int64)[places]
    rows["value"] = np.array([value.number for value in values], np.int64)[places]
    return rows


def all_rows(file: TableFile) -> Iterator[Rows]:
    """Every legal position of a table, in pieces of a bounded size.

    Raises `CorruptTableError` where there are not as many as the statistics say.
    """
    wrong = CorruptTableError(file.path, "the statistics count other positions")
    missing = file.statistics.legal
    for side in Side:
        for first in range(0, file.header.slots, CHUNK):
            last = min(first + CHUNK, file.header.slots)
            rows = rows_of_slots(file, side, np.arange(first, last))
            missing -= len(rows)
            if missing < 0:  # before more is handed out than there is room for
                raise wrong
            yield rows
    if missing:
        raise wrong


def sampled_rows(file: TableFile, count: int, seed: int) -> Rows:
    """So many different legal positions, all equally likely, or all if there are fewer."""
    rng = np.random.default_rng(seed)
    slots = file.header.slots
    found = np.zeros(0, row_type(file.layout))
    # Drawing slots until enough of them are legal and new looks at few blocks of a large table.
    # Half of the positions take 1.4 times the slots of a side; where it takes far more, the
    # statistics claim too much, as reading everything will tell.
    patience = 8 * slots + 10_000
    while 2 * count <= file.statistics.legal and len(found) < count and patience > 0:
        drawn = rng.integers(2 * slots, size=max(1000, 4 * (count - len(found))))
        patience -= len(drawn)
        drawn = drawn[np.sort(np.unique(drawn, return_index=True)[1])]
        keys = found["side"].astype(np.int64) * slots + found["slot"]
        drawn = drawn[~np.isin(drawn, keys)]
        new = [rows_of_slots(file, side, drawn[drawn // slots == side] % slots) for side in Side]
        together = np.concatenate(new)
        found = np.concatenate([found, rng.permutation(together)[: count - len(found)]])
    if len(found) == count:
        return np.sort(found, order=["side", "slot"])
    everything = np.concatenate(list(all_rows(file)))
    return everything[np.sort(rng.permutation(len(everything))[:count])]


def write_csv(layout: Layout, chunks: Iterator[Rows], out: TextIO) -> None:
    """Write rows as CSV with a header line and FENs."""
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for rows in chunks:
        boards = layout.boards_of_squares(rows["squares"])
        for row, board in zip(rows.tolist(), boards, strict=True):
            slot, side, _, outcome, order, plies, value = row
            fen = Position(board.tobytes(), Side(side)).fen
            writer.writerow((slot, side, fen, outcome, order, plies, value))


def write_array(layout: Layout, count: int, chunks: Iterator[Rows], out: BinaryIO) -> None:
    """Write rows, `count` in all, as one structured array in NumPy's format.

    One after the other, and not through a memory map: on a full disk that would end the process.
    """
    header = {
        "descr": np.lib.format.dtype_to_descr(row_type(layout)),
        "fortran_order": False,
        "shape": (count,),
    }
    np.lib.format.write_array_header_1_0(out, header)
    for rows in chunks:
        out.write(rows.tobytes())


def description(file: TableFile, rows: int) -> dict[str, Any]:
    """Return the description of the rows and their columns, for the file beside an array."""
    name = file.header.spec.name
    return {
        "material": name.material.name,
        "rules": str(name.rules),
        "minor_chases": name.rule_set.choice,
        "metric": str(name.metric),
        "orders_limit": name.orders or None,
        "index_size": file.header.slots,
        "rows": rows,
        "pieces": pieces(file.layout),
        "columns": {
            "slot": "index of the position, the same for both sides to move (docs/format.md)",
            "side": "0: the side named first in the material (Red) is to move, 1: Black",
            "squares": "9 * rank + file of each piece, in the order of `pieces`",
            "outcome": "for the side to move: 1 win, 0 draw, -1 loss",
            "order": "0: by mate or conversion; k >= 1: by the repetition rules",
            "plies": "distance in plies; 0 for a draw",
            "value": "plies, or 255 - plies for order k >= 1",
        },
    }
