"""Preference among moves: a total order, that of the codes by which tables store values."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tbgen.indexing import Material, Move, Position
from tbgen.play.preference import Preference, RootMove, worth_of_move
from tbgen.tables import CodeSpace, Metric, Outcome, ProbeResult, Rules, RuleSet, Value

CODES = CodeSpace(2)
START = Position.from_fen("3k5/9/9/9/9/9/9/9/9/R3K4 w")


@st.composite
def values(draw: st.DrawFn) -> Value:
    """Strategy for values that tables can store.

    Wins of order 0 and losses of higher orders take an odd number of plies, other values an even
    one.
    """
    outcome = draw(st.sampled_from(Outcome))
    if outcome == Outcome.DRAW:
        return Value(outcome)
    order = draw(st.integers(0, 4))
    odd = (outcome == Outcome.WIN) == (order == 0)
    return Value(outcome, order, 2 * draw(st.integers(0, 9)) + odd)


@st.composite
def root_moves(draw: st.DrawFn) -> RootMove:
    """Strategy for moves with any result; the position after the move is a dummy."""
    value = draw(st.none() | values())
    result = None
    if value is not None:
        plies = None if value.outcome == Outcome.DRAW else value.plies
        result = ProbeResult(
            value.outcome,
            value.number,
            value.order,
            plies,
            Material.parse("KRK"),
            RuleSet(Rules.CHECK),
            Metric.DTM,
        )
    capture = draw(st.booleans())
    move = Move(draw(st.integers(0, 89)), draw(st.integers(0, 89)))
    converts = capture and draw(st.booleans())
    return RootMove(move, START, result, converts, capture, draw(st.booleans()))


@given(values(), values())
def test_preference_agrees_with_the_order_of_codes(one: Value, other: Value) -> None:
    better = CODES.encode(one) > CODES.encode(other)
    assert (Preference.of(one) < Preference.of(other)) == better
    assert (Preference.of(one) == Preference.of(other)) == (one == other)


def test_unknown_values_are_between_losses_and_draws() -> None:
    worst_to_best = [
        Value(Outcome.LOSS, 0, 0),
        Value(Outcome.LOSS, 0, 8),
        Value(Outcome.LOSS, 1, 1),
        Value(Outcome.LOSS, 2, 1),
        Value(Outcome.LOSS, 2, 3),
        None,
        Value(Outcome.DRAW),
        Value(Outcome.WIN, 2, 4),
        Value(Outcome.WIN, 2, 0),
        Value(Outcome.WIN, 1, 100),
        Value(Outcome.WIN, 0, 201),
        Value(Outcome.WIN, 0, 1),
    ]
    keys = [Preference.of(value) for value in worst_to_best]
    assert keys == sorted(keys, reverse=True)
    assert len(set(keys)) == len(keys)


@given(st.lists(root_moves(), min_size=3, max_size=3, unique_by=lambda move: move.move))
def test_sort_key_is_a_total_order(moves: list[RootMove]) -> None:
    for a, b, c in permutations(moves):
        assert (a.sort_key < b.sort_key) != (b.sort_key < a.sort_key)
        if a.sort_key < b.sort_key < c.sort_key:
            assert a.sort_key < c.sort_key
        if a.preference < b.preference:
            assert a.sort_key < b.sort_key


@given(st.lists(root_moves(), max_size=8, unique_by=lambda move: move.move), st.randoms())
def test_sorting_does_not_depend_on_the_input_order(
    moves: list[RootMove], random: st.DataObject
) -> None:
    shuffled = list(moves)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert sorted(shuffled, key=lambda m: m.sort_key) == sorted(moves, key=lambda m: m.sort_key)


@pytest.mark.parametrize(
    ("child", "converts", "worth"),
    [
        (Value(Outcome.LOSS, 0, 8), False, Value(Outcome.WIN, 0, 9)),
        (Value(Outcome.WIN, 0, 9), False, Value(Outcome.LOSS, 0, 10)),
        (Value(Outcome.LOSS, 3, 1), False, Value(Outcome.WIN, 3, 2)),
        (Value(Outcome.LOSS, 3, 1), True, Value(Outcome.WIN, 0, 1)),
        (Value(Outcome.LOSS, 0, 8), True, Value(Outcome.WIN, 0, 1)),
        (Value(Outcome.WIN, 0, 1), True, Value(Outcome.LOSS, 0, 2)),
        (Value(Outcome.DRAW), True, Value(Outcome.DRAW)),
    ],
)
def test_worth_of_a_move(child: Value, converts: bool, worth: Value) -> None:
    assert worth_of_move(child, converts) == worth
