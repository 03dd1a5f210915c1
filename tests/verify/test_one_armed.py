"""Materials with one attacking side: there are candidates for patterns, and no pattern.

A candidate is a draw in which every move loses or is the same offence. The proof searches such
materials, the solver does not. `scripts/reproduce/one_armed.py` searches all of at most five men.
"""

from __future__ import annotations

import pytest

from tbgen.indexing import Position, Side
from tbgen.indexing.rulesets import Rules
from tbgen.rules import in_check, legal_moves
from tbgen.rules.chases import is_new_attack
from tbgen.tables.codes import Outcome
from tbgen.tables.rule_sets import RuleSet
from tests.helpers.onearmed import find_candidates, one_armed_materials
from tests.helpers.solutions import solution_under

WXF = RuleSet(Rules.WXF)


def search(name, *, minor_chases=True):
    """Solve a material under wxf; return its table, and its candidates for patterns.

    minor_chases : option of the rule set on chases by minor pieces
    """
    rule_set = RuleSet(Rules.WXF, minor_chases=minor_chases)

    def own(child):
        return solution_under(child.name, rule_set)

    table = solution_under(name, rule_set)
    return table, find_candidates(table, own, rule_set)


def chased_by(position, move):
    """Return the squares of the pieces that a quiet move chases, according to the referee.

    The set is empty if the move gives check.
    """
    after = position.after(move.source, move.target)
    before, board = list(position.board), list(after.board)
    if in_check(after):
        return set()
    squares, rules = [square for square in range(90) if board[square]], WXF.chase_rules
    return {
        victim
        for victim in squares
        for attacker in squares
        if is_new_attack(before, board, move.source, move.target, attacker, victim, rules)
    }


def loses(table, after: Position):
    """Return whether the move that led to `after` loses: the side to move in `after` wins."""
    code = int(table.plane(after.side)[table.layout.slot(after)])
    return table.code_space.decode(code).outcome == Outcome.WIN


@pytest.mark.parametrize("name", ["KNKB", "KPKA"])
def test_an_armless_side_may_have_to_chase_one_piece(name):
    """A side without attackers can have candidates for chases.

    In each, no move captures, and all moves that do not lose chase a common piece.
    """
    table, found = search(name)
    assert len(found.armless_chasers)
    for node in found.armless_chasers.tolist():
        position = table.layout.position(node // 2, Side(node % 2))
        moves = [move for move in legal_moves(position) if not position.board[move.target]]
        assert len(moves) == len(legal_moves(position))
        held = [
            move for move in moves if not loses(table, position.after(move.source, move.target))
        ]
        assert held
        assert set.intersection(*(chased_by(position, move) for move in held))


@pytest.mark.parametrize("minor_chases", [True, False])
@pytest.mark.parametrize("name", ["KNKB", "KPKA", "KCKA", "KRK"])
def test_no_position_is_in_a_pattern(name, minor_chases):
    _, found = search(name, minor_chases=minor_chases)
    assert not found.armless_checkers
    assert not found.in_patterns


def test_one_armed_materials():
    names = {material.name for material in one_armed_materials(4)}
    assert {"KRK", "KNKB", "KPPK", "KCKA"} <= names
    assert not {"KRKR", "KNKP"} & names
