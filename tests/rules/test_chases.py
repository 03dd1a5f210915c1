"""Captures that are worth making (points 1 to 5 of docs/referee.md), against the naive oracle.

Positions with a side in check are included, since point 3 ignores a check that already stands, but
not one that the capture adds.
"""

import random

import pytest

from tbgen.indexing.rulesets import Rules
from tbgen.indexing.squares import SQUARES, Side, piece_side
from tbgen.rules import attacks, chases
from tbgen.tables.rule_sets import RuleSet
from tests.helpers.strategies import pieces, place
from tests.oracles.naive import chases as naive
from tests.oracles.naive.movegen import from_fen

MATERIALS = ("KRNCKRNC", "KRRCKNNA", "KCCAKRBB", "KRNAKCCP", "KRCPKRNP", "KNNCKRCA")
RULE_SETS = (*map(RuleSet, Rules), RuleSet(Rules.WXF, minor_chases=False))
WORDS = {
    str(each): each.chase_rules for each in RULE_SETS if each.rules and each.rules.judges_chases
}
"""Chase rules, as packed for kernels, by the names that the oracle uses."""


def as_oracle(square: int) -> int:
    """Return the number that the oracle gives a square."""
    return square % 9 * 10 + square // 9


def random_placement(rng):
    """Return a random position: pieces anywhere in their areas, kings in check or facing or not."""
    while True:
        men = pieces(rng.choice(MATERIALS), rng.choice(tuple(Side)))
        position = place(men, rng.choice(tuple(Side)), rng.choice)
        if position is not None:
            return position


@pytest.mark.parametrize("name", WORDS)
def test_captures_worth_making_agree_with_the_oracle(name):
    rng, word, terms = random.Random(name), WORDS[name], naive.TERMS[name]
    worth = checked = 0
    for _ in range(700):
        position = random_placement(rng)
        board, expected = bytearray(position.board), from_fen(position.fen)[0]
        occupied = [square for square in range(SQUARES) if board[square]]
        for q in occupied:
            for v in occupied:
                if piece_side(board[q]) == piece_side(board[v]):
                    continue
                for xray in (True, False):
                    found = chases.threatens(board, q, v, not xray, word)
                    assert found == naive.is_worth_taking(
                        expected, as_oracle(q), as_oracle(v), terms, through=xray
                    ), (position.fen, q, v, xray)
                    worth += found
                    checked += found and attacks.in_check(board, piece_side(board[q]))
    assert worth > 250
    assert checked > 25
    assert bytes(board) == bytes(position.board)  # trial moves are undone
