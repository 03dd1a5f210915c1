"""Marks in numbers of each side: that they mean what shared ones mean, and that none is missing."""

import numpy as np
import pytest

from tbgen.indexing import Side
from tbgen.indexing.rulesets import Rules
from tbgen.indexing.squares import piece_side
from tbgen.tables.names import RuleSet
from tbgen.verify.arrays import NO_TABLE, TABLE
from tbgen.verify.forward import first_pass
from tbgen.verify.forward.first_pass import Passes
from tbgen.verify.forward.numbering import number_by_side
from tbgen.verify.forward.settle import (
    _LOSSES,
    _WINS,
    AMBUSH,
    ANSWERS,
    HIDDEN,
    MAYBE,
    STEPS,
    TAKEN,
    Scope,
    forget_states,
    make_marks,
)
from tbgen.verify.keys import MATE, ORDER
from tbgen.verify.loading import gather_views
from tbgen.verify.ranks import ATTACKING, CAPTURE, make_values
from tbgen.verify.report import no_progress
from tests.kits.solutions import solution

ORDERS = 3
WINS = [MATE - order * ORDER - plies for order in range(ORDERS + 1) for plies in (0, 2)]
RED = np.array([0, *WINS])
"""One side wins by orders 1 to 3, the other one by order 1."""
BLACK = np.array([0, *(-key for key in WINS), *WINS[:4]])


@pytest.fixture(scope="module")
def values():
    return make_values([RED, BLACK], [RED, BLACK], seek=True, all_kinds=False)


@pytest.fixture(scope="module")
def settling(values):
    return make_marks(values, seek_chases=True)


@pytest.fixture(scope="module")
def numbered(settling):
    return number_by_side(settling)


def shared_numbers(state, order):
    """The shared number of a state of an order, by how the numbers are given."""
    if state == HIDDEN:
        return order
    if state in _WINS:
        return 2 + ORDERS + (order - 1) * len(_WINS) + _WINS.index(state)
    return (
        2
        + ORDERS
        + ORDERS * len(_WINS)
        + 9
        + (ORDERS - order) * len(_LOSSES)
        + _LOSSES.index(state)
    )


def numbers_of(numbered, side):
    """The shared numbers of a side's marks, without padding."""
    line = numbered.shared[side]
    return line[: 1 + int(np.argmax(line))]


def test_numbers_ascend_from_none(numbered):
    for side in Side:
        line = numbers_of(numbered, side)
        assert line[0] == 0
        assert (np.diff(line) > 0).all()
        assert not numbered.shared[side, len(line) :].any()


def test_marks_that_cannot_occur_have_no_number(settling, numbered):
    red, black = (set(numbers_of(numbered, side).tolist()) for side in Side)
    assert max(len(red), len(black)) < len(settling.held)
    for order in range(1, ORDERS + 1):
        assert red >= {shared_numbers(state, order) for state in (HIDDEN, *_WINS)}
        assert black >= {shared_numbers(state, order) for state in _LOSSES}
        assert not red & {shared_numbers(state, order) for state in _LOSSES}
        of_black = black & {shared_numbers(state, order) for state in (HIDDEN, *_WINS)}
        assert len(of_black) == (1 + len(_WINS) if order == 1 else 0)


def test_what_does_not_occur_has_no_mark_either(values):
    """Wins after captures, and threats to win by one, where captures win by order 2 at most."""
    captured = np.zeros(values.keys.shape, np.bool_)
    captured[0] = np.isin(values.keys[0], MATE - 1 * ORDER - 2)
    scope = Scope(captured, [2, 0])
    settling = make_marks(values, seek_chases=True, scope=scope)
    red = set(numbers_of(number_by_side(settling), Side.RED).tolist())
    assert [shared_numbers(TAKEN, order) in red for order in (1, 2, 3)] == [True, False, False]
    assert [shared_numbers(AMBUSH, order) in red for order in (1, 2, 3)] == [True, True, False]
    whole = make_marks(values, seek_chases=True).of_ranks.becomes
    own = settling.of_ranks.becomes
    differs = np.argwhere(own != whole)
    assert {kind for _, kind, _ in differs.tolist()} == {CAPTURE, ATTACKING}
    # Whatever else is found there is a danger, and no way out.
    for side, kind, rank in differs.tolist():
        assert own[side, kind, rank] < whole[side, ATTACKING, rank] or kind == ATTACKING
    assert len(differs) > 3


@pytest.mark.parametrize("winner", Side)
@pytest.mark.parametrize("step", range(STEPS))
def test_passes_do_the_same(settling, numbered, winner, step):
    """For every mark of the side to move, and every best one of the other side's."""
    side = winner if step in ANSWERS else winner.other
    marks, shared = numbered.marks[winner], settling.marks
    own, best = numbers_of(numbered, side), numbers_of(numbered, side.other)
    assert marks.concerns[step, : len(own)].tolist() == shared.concerns[step, own].tolist()
    at = np.ix_(range(len(own)), range(len(best)))
    after = numbered.shared[side][marks.becomes[step][at]]
    assert np.array_equal(after, shared.becomes[step][np.ix_(own, best)])
    assert np.array_equal(marks.listed[step][at], shared.listed[step][np.ix_(own, best)])


def test_planes_come_to_hold_the_same(settling, numbered):
    for side in Side:
        back, own = numbered.shared[side], numbers_of(numbered, side)
        number = range(len(own))
        begun = back[numbered.of_ranks.becomes[side]]
        assert np.array_equal(begun, settling.of_ranks.becomes[side])
        # Black is W the second time.
        again = settling.of_marks[0 if side == Side.BLACK else 1]
        assert np.array_equal(back[numbered.of_marks[side, number]], again[own])
        assert np.array_equal(back[numbered.held[side, number]], settling.held[own])
        assert np.array_equal(numbered.values.keys[side, number], settling.values.keys[side, own])
        settled = settling.values.settled[side, own]
        assert np.array_equal(numbered.values.settled[side, number], settled)
    maybe = shared_numbers(MAYBE, ORDERS)
    assert maybe in numbers_of(numbered, Side.BLACK)


def test_patterns_ask_for_few_of_them(numbered):
    values, numbers = forget_states(numbered.values)
    assert values.keys.shape[1] < numbered.shared.shape[1]
    for side in Side:
        assert np.array_equal(values.keys[side, numbers[side]], numbered.values.keys[side])
        assert np.array_equal(values.settled[side, numbers[side]], numbered.values.settled[side])
    assert not numbers[:, 0].any()


@pytest.fixture(scope="module")
def passes():
    """Those of KRKN, where captures lead to other values with Red to move than with Black."""
    table, rules = solution("KRKN", Rules.WXF), RuleSet(Rules.WXF)
    (loaded,) = gather_views(table, lambda child: solution(child.name, Rules.WXF), rules)
    return Passes(loaded.arrays, table.layout, 1, no_progress)


def test_what_captures_lead_to_is_known_of_each_side(passes):
    """Who has lost a piece is to move; a capture wins for who takes the other one's."""
    arrays = passes._arrays
    captured, pieces = passes._list_scope().captured, arrays.men.pieces.tolist()
    for side in Side:
        expected = {0}
        for code, line in zip(pieces, arrays.captures, strict=True):
            if piece_side(code) == side and line[TABLE] != NO_TABLE:
                expected |= set(arrays.supports.ranks[line[TABLE], :, side].ravel().tolist())
        assert set(np.flatnonzero(captured[side]).tolist()) == expected
        assert len(expected) > 1
    orders = np.array([3 if piece_side(code) == Side.RED else 5 for code in pieces], np.uint8)
    asked = Passes(arrays._replace(stakes=orders), passes._layout, 1, no_progress)
    assert asked._list_scope().stakes == [5, 3]


def test_a_position_without_a_mark_is_an_error(passes, monkeypatch):
    """Rather than none that anything is asked of."""
    found = passes.prove(list_checks=False)

    def forget(settling):
        numbered = number_by_side(settling)
        numbered.of_ranks.becomes[:, :, 3] = 0
        return numbered

    monkeypatch.setattr(first_pass, "number_by_side", forget)
    with pytest.raises(RuntimeError, match="no marks"):
        passes.settle(found)
