"""Codes are ordered by preference, and values beyond a limit raise."""

import itertools

import pytest

from tbgen.tables import CodeSpace, LimitExceededError, Outcome, Value
from tbgen.tables.codes import BYTE_SPAN, DRAW, LONG_SPAN

SPACES = [CodeSpace(1), CodeSpace(2), CodeSpace(2, LONG_SPAN), CodeSpace(4, LONG_SPAN)]


def preference(value: Value) -> tuple[int, ...]:
    """Return a sort key of values by preference of the side to move; larger is better."""
    if value.outcome == Outcome.WIN:
        return 1, -value.order, -value.plies
    if value.outcome == Outcome.LOSS:
        return -1, value.order, value.plies
    return (0,)


def some_values(space: CodeSpace, orders: int = 6, plies: int = 300) -> list[Value]:
    values = [DRAW]
    plies = min(plies, space.max_plies)
    for order in range(min(orders, space.max_order + 1)):
        for n in range(plies + 1):
            odd = n % 2 == 1
            values.append(Value(Outcome.WIN if odd == (order == 0) else Outcome.LOSS, order, n))
    return values


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_codes_are_distinct_and_ordered_by_preference(space: CodeSpace) -> None:
    values = some_values(space)
    codes = [space.encode(value) for value in values]
    assert len(set(codes)) == len(values)
    assert all(0 < code <= space.top for code in codes)
    by_code = sorted(values, key=space.encode)
    assert by_code == sorted(values, key=preference)
    for better, worse in itertools.pairwise(reversed(by_code)):
        assert preference(better) > preference(worse)


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_decode_undoes_encode(space: CodeSpace) -> None:
    for value in some_values(space):
        assert space.decode(space.encode(value)) == value


def test_every_byte_code_is_a_value() -> None:
    space = CodeSpace(1)
    assert [space.encode(space.decode(code)) for code in range(1, 256)] == list(range(1, 256))


@pytest.mark.parametrize("space", SPACES, ids=str)
@pytest.mark.parametrize("outcome", [Outcome.WIN, Outcome.LOSS])
def test_limits_raise(space: CodeSpace, outcome: Outcome) -> None:
    for order in {0, space.max_order}:
        odd = (outcome == Outcome.WIN) == (order == 0)
        last = space.max_plies + (1 if odd else 0)
        assert space.decode(space.encode(Value(outcome, order, last))).plies == last
        with pytest.raises(LimitExceededError, match=str(last + 2)):
            space.encode(Value(outcome, order, last + 2))
    beyond = space.max_order + 1
    with pytest.raises(LimitExceededError, match=f"order {beyond}"):
        space.encode(Value(outcome, beyond, 0 if outcome == Outcome.WIN else 1))


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_losses_draw_and_wins_are_separate(space: CodeSpace) -> None:
    last = space.max_order
    even, odd = space.max_plies, space.max_plies + 1
    most_stubborn = Value(Outcome.LOSS, last, odd if last else even)
    weakest_win = Value(Outcome.WIN, last, even if last else odd)
    assert space.encode(most_stubborn) < space.draw < space.encode(weakest_win)


@pytest.mark.parametrize(
    "value",
    [
        Value(Outcome.WIN, 0, 2),
        Value(Outcome.LOSS, 0, 1),
        Value(Outcome.WIN, 1, 1),
        Value(Outcome.LOSS, 2, 0),
        Value(Outcome.LOSS, 0, -2),
        Value(Outcome.LOSS, -1, 1),
    ],
)
def test_impossible_values_are_refused(value: Value) -> None:
    with pytest.raises(ValueError, match="no value"):
        CodeSpace(2).encode(value)


def test_decode_refuses_invalid_codes() -> None:
    for code in (0, -1, 256):
        with pytest.raises(ValueError, match="no code"):
            CodeSpace(1).decode(code)


def test_printed_numbers_agree_with_the_paper() -> None:
    assert DRAW.number == 0
    assert Value(Outcome.WIN, 0, 5).number == 5
    assert Value(Outcome.LOSS, 0, 0).number == 0
    assert Value(Outcome.WIN, 3, 0).number == 255
    assert Value(Outcome.LOSS, 3, 1).number == 254


def test_spans_are_the_largest_that_fit() -> None:
    assert CodeSpace(1).max_order == 0
    assert 2 * BYTE_SPAN + 1 == 255
    assert CodeSpace(2).max_order >= 255
    assert CodeSpace(1).max_plies == 252
