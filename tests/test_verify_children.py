"""What the proof takes for the children of a position: against pyffish, and against probing."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tbgen.indexing import Material, Move, Side
from tbgen.indexing.squares import EMPTY, PieceType, piece_kind
from tbgen.rules import in_check
from tbgen.tables.names import Rules
from tbgen.verify.keys import key_of_code
from tbgen.verify.material_arrays import (
    BLACK_KING,
    END_WORD,
    FIRST_ATTACKER,
    FIRST_WORD,
    gather,
)
from tbgen.verify.move_kernels import (
    k_gives_check,
    k_is_checked,
    k_key_after_capture,
    k_list_legal,
    k_load_key,
    k_set_up,
    k_slot_after,
    make_scratch,
)
from tests import oracle
from tests.solutions import solution
from tests.verifykit import Planted

MATERIALS = ["KRKN", "KPPKA", "KNKCA", "KRKAABB", "KNNKN", "KCCK", "KRPKP"]


def key_of(table, position):
    """The key of a position, by probing an in-memory table."""
    if not position.material.needs_table:
        return 0
    if position.is_swapped:
        position = position.swapped()
    space = table.code_space
    code = int(table.plane(position.side)[table.layout.slot(position)])
    assert code, position.fen
    return key_of_code(code, space.top, space.draw, space.span)


@pytest.mark.parametrize("name", MATERIALS)
def test_children_of_a_sample(name):
    rng = random.Random(name)
    material = Material.parse(name)
    table = Planted.of(solution(name))
    children = {
        child.name: Planted.of(solution(child.name))
        for child in material.captures().values()
        if child.needs_table
    }
    arrays = gather(table, lambda child: children[child.name], Rules.NONE)
    layout, pieces = table.layout, arrays.pieces
    kings = (np.int64(0), arrays.options[BLACK_KING])
    line = arrays.tables[0]
    descriptor = arrays.descriptors[line[FIRST_WORD] : line[END_WORD]]
    squares, board, piece_on, (movers, targets, other) = make_scratch(len(pieces))
    for side in map(int, Side):
        for slot in map(int, rng.choices(np.flatnonzero(table.plane(side)), k=150)):
            position = table.position(side, slot)
            assert k_set_up(slot, descriptor, pieces, squares, board, piece_on)
            assert board.tobytes() == position.board
            checked = k_is_checked(board, squares[kings[side]], squares[kings[1 - side]], side)
            assert checked == oracle.in_check(position)
            count = k_list_legal(side, checked, kings, pieces, squares, board, movers, targets)
            moves = [
                Move(int(squares[m]), int(t))
                for m, t in zip(movers[:count], targets[:count], strict=True)
            ]
            assert len(set(moves)) == count
            assert set(moves) == oracle.legal_moves(position), position.fen
            image = -1
            if layout.self_mirrored[slot // (layout.mids * layout.inner_size)]:
                image = image_slot(layout, position, arrays)
            for mover, move in zip(movers, moves, strict=False):
                after = position.after(*move)
                assert k_gives_check(
                    side, mover, move.target, kings, pieces, squares, board
                ) == in_check(after)
                if position.board[move.target] == EMPTY:
                    child_slot = k_slot_after(
                        slot, image, mover, move.target, descriptor, arrays.weights, squares
                    )
                    assert child_slot == layout.slot(after), (position.fen, move)
                    key = k_load_key(arrays.codes, line, 1 - side, child_slot)
                    assert key == key_of(table, after)
                else:
                    taken = piece_on[move.target]
                    assert piece_kind(int(pieces[taken])) != PieceType.KING
                    key = k_key_after_capture(
                        side, mover, taken, arrays.codes, arrays.tables, arrays.descriptors,
                        arrays.captures[taken], squares, other,
                    )  # fmt: skip
                    assert key == key_of(children.get(after.material.name), after)
                    assert key == key_of(children.get(after.material.name), after.mirrored())
            assert board.tobytes() == position.board
            board[:] = EMPTY


def image_slot(layout, position, arrays):
    """The slot of the mirror image, where the lead is its own."""
    from tbgen.indexing.slots import attacker_slot

    wanted: dict[int, list[int]] = {}
    for code, square in position.pieces():
        wanted.setdefault(code, []).append(square)
    squares = np.array([wanted[code].pop() for code in layout.piece_codes], np.int64)
    block = layout.mids * layout.inner_size
    lead = layout.slot(position) // block
    first = int(arrays.options[FIRST_ATTACKER])
    return lead * block + attacker_slot(squares, first, True, layout.descriptor)
