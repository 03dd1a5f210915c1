"""What the proof takes for the children of a position: against pyffish, and against probing."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tbgen.indexing import Material, Move, Side
from tbgen.indexing.rulesets import Rules
from tbgen.indexing.slots import attacker_slot
from tbgen.indexing.squares import EMPTY, PieceType, piece_kind
from tbgen.rules import in_check
from tbgen.tables.names import RuleSet
from tbgen.verify.keys import key_of_code
from tbgen.verify.loading import gather
from tbgen.verify.moves import (
    Desk,
    clear,
    gives_check,
    image_of,
    is_checked,
    key_after_capture,
    list_legal,
    load_key,
    set_up,
    slot_after,
)
from tests.kits.solutions import solution
from tests.kits.verifykit import Planted, believe
from tests.oracles import fairy_stockfish as oracle

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
    loaded = gather(table, lambda child: children[child.name], RuleSet(Rules.NONE))
    believe(loaded)
    arrays = loaded.arrays
    layout, pieces = table.layout, arrays.men.pieces
    desk = Desk.make(len(pieces))
    squares, board = desk.squares, desk.board
    movers, targets = desk.moves
    for side in map(int, Side):
        king, other_king = arrays.men.kings[side], arrays.men.kings[1 - side]
        for slot in map(int, rng.choices(np.flatnonzero(table.plane(side)), k=150)):
            position = table.position(side, slot)
            assert set_up(slot, desk, arrays)
            assert board.tobytes() == position.board
            checked = is_checked(board, squares[king], squares[other_king], side)
            assert checked == oracle.in_check(position)
            count = list_legal(side, checked, board, desk.moves, squares, arrays.men)
            moves = [
                Move(int(squares[m]), int(t))
                for m, t in zip(movers[:count], targets[:count], strict=True)
            ]
            assert len(set(moves)) == count
            assert set(moves) == oracle.legal_moves(position), position.fen
            image = image_of(slot, squares, arrays)
            assert image == image_slot(layout, position)
            for mover, move in zip(movers, moves, strict=False):
                after = position.after(*move)
                assert gives_check(
                    side, mover, move.target, board, squares, arrays.men
                ) == in_check(after)
                if position.board[move.target] == EMPTY:
                    child_slot = slot_after(slot, image, mover, move.target, squares, arrays)
                    assert child_slot == layout.slot(after), (position.fen, move)
                    key = load_key(1 - side, child_slot, arrays)
                    assert key == key_of(table, after)
                else:
                    taken = desk.piece_on[move.target]
                    assert piece_kind(int(pieces[taken])) != PieceType.KING
                    key = key_after_capture(side, mover, taken, desk, arrays)
                    assert key == key_of(children.get(after.material.name), after)
                    assert key == key_of(children.get(after.material.name), after.mirrored())
            assert board.tobytes() == position.board
            clear(desk)
            assert not board.any()


def image_slot(layout, position):
    """The slot of the mirror image where the lead is its own, else -1."""
    block = layout.mids * layout.inner_size
    lead = layout.slot(position) // block
    if not layout.self_mirrored[lead]:
        return -1
    wanted: dict[int, list[int]] = {}
    for code, square in position.mirrored().pieces():
        wanted.setdefault(code, []).append(square)
    squares = np.array([wanted[code].pop() for code in layout.piece_codes], np.int64)
    first = sum(defenders.pieces for defenders in layout.defenders)
    return lead * block + attacker_slot(squares, first, False, layout.descriptor)
