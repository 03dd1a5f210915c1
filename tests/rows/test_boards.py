"""Conversion between slots and boards by kernels, against the layout."""

from __future__ import annotations

import numpy as np
import pytest

from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material
from tbgen.indexing.squares import SQUARES, Side, area, piece_kind, piece_side
from tbgen.rows.boards import is_mirrored, make_converter, move, set_up, slot_of
from tbgen.rows.frame import make_frame


@pytest.mark.parametrize("name", ["KRRK", "KPPNKRA", "KCAKPB"])
def test_boards_and_slots_are_those_of_the_layout(name: str) -> None:
    layout = Layout.of(Material.parse(name))
    converter = make_converter(layout, make_frame(layout))
    rng = np.random.default_rng(3)
    squares, other = (np.zeros(len(layout.piece_codes), np.int64) for _ in range(2))
    board, scratch = np.zeros(SQUARES, np.int8), np.zeros(SQUARES, np.int8)
    images = 0
    for slot in rng.integers(0, layout.slots, 400).tolist():
        position = layout.position(slot, Side.RED)
        if position is None:
            continue
        row, inner = divmod(slot, layout.inner_size)
        set_up(row, layout.inner.area[inner], converter, squares, board)
        assert board.tobytes() == position.board
        source = int(rng.choice(squares))
        code = int(board[source])
        target = int(
            rng.choice(
                [at for at in area(piece_side(code), piece_kind(code)) if board[at] == 0]
                or [source]
            )
        )
        if target == source:
            continue
        move(squares, board, source, target)
        expected = position.after(source, target)
        assert board.tobytes() == expected.board
        row, square = slot_of(squares, converter)
        assert row * layout.inner_size + layout.inner.area.index(square) == layout.slot(expected)
        stored = layout.position(layout.slot(expected), Side.RED)
        assert stored is not None
        assert is_mirrored(row, square, squares, converter, other, scratch) == (
            stored.board != expected.board
        )
        images += stored.board != expected.board
    assert images > 10
