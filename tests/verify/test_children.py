"""Children, the positions after moves, in the proof, against pyffish and against probing."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tbgen.indexing import Material, Move, Side
from tbgen.indexing.rulesets import Rules
from tbgen.indexing.squares import EMPTY, PieceType, piece_code
from tbgen.rules import in_check
from tbgen.tables.rule_sets import RuleSet
from tbgen.verify.arrays import gather
from tbgen.verify.index import BoardState, make_index
from tbgen.verify.moves import list_moves, load_key, set_up, slot_after
from tbgen.verify.values import key_of_code
from tests.helpers.memory_tables import Planted, completed
from tests.helpers.solutions import solution, solution_under
from tests.oracles import fairy_stockfish as oracle

NONE = key_of_code(0, 255, 128, 127)
"""Key of a slot without a position; a key is a value as one integer, see `tbgen.verify.values`."""

MATERIALS = [
    "KRKN", "KPPKA", "KNKCA", "KCCK", "KPKP", "KRKAB",
    *(pytest.param(each, marks=pytest.mark.certification) for each in ("KNNKN", "KRPKP", "KRKAABB"))
]  # fmt: skip
"""Materials with twins, every kind of piece, and two attacking sides.

The larger ones add no kind of move.
"""


def key_of(table, position):
    """Return the value of a position as a key, an int that is larger for better values.

    table : the table of the position's material; not used if no attackers are left (0, a draw)
    """
    if not position.material.needs_table:
        return 0
    if position.is_swapped:
        position = position.swapped()
    space = table.code_space
    code = int(table.plane(position.side)[table.layout.slot(position)])
    assert code, position.fen
    return key_of_code(code, space.top, space.draw, space.span)


@pytest.mark.parametrize("name", MATERIALS)
def test_children_of_a_sample_agree(name):
    rng = random.Random(name)
    material = Material.parse(name)
    table = Planted.of(solution(name))
    children = {
        child.name: Planted.of(solution(child.name))
        for child in material.captures().values()
        if child.needs_table
    }
    arrays, _, _, captures = gather(table, lambda child: children[child.name], RuleSet(Rules.NONE))
    index, _, _ = completed(table, arrays, captures)
    layout = table.layout
    state = BoardState.make(index)
    for side in map(int, Side):
        for slot in map(int, rng.choices(np.flatnonzero(table.plane(side)), k=40)):
            position = table.position(side, slot)
            slot = layout.slot(position)
            assert load_key(1 - side, slot, index, arrays) == NONE or not oracle.in_check(position)
            within, image = set_up(slot, state, index)
            assert state.board.tobytes() == position.board
            count = list_moves(side, slot - within, within, image, state, index)
            found = {}
            for n in range(count):
                key = load_key(1 - side, state.children[n], index, arrays)
                if key != NONE:
                    found[Move(int(state.sources[n]), int(state.targets[n]))] = n, key
            assert set(found) == oracle.legal_moves(position), position.fen
            for move, (n, key) in found.items():
                after = position.after(*move)
                if position.board[move.target] != EMPTY:
                    assert key == key_of(children.get(after.material.name), after)
                    continue
                assert slot_after(n, state, index) == layout.slot(after), (position.fen, move)
                assert key == key_of(table, after)
                checks = load_key(side, state.children[n], index, arrays) == NONE
                assert checks == in_check(after)


def test_captures_that_may_win_by_the_rules():
    """Of the captures in KRKNA, that of the advisor alone leads to a table with wins by the rules.

    That table is KRKN. All tables are limited to order 1, the lowest order of such wins.
    """
    rule_set = RuleSet(Rules.CHECK, 1)
    table = solution_under("KRKNA", rule_set)
    arrays, *_ = gather(table, lambda child: solution_under(child.name, rule_set), rule_set)
    taken = make_index(table.layout).pieces[arrays.wins_by_rules]
    assert taken.tolist() == [piece_code(Side.BLACK, PieceType.ADVISOR)]
