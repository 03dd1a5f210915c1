"""Time limits of a move, from the arguments of `go`."""

from __future__ import annotations

import pytest

from tbgen.engine.clock import MAX_SECONDS, OVERHEAD_SECONDS, Limits


@pytest.mark.parametrize("moves", [1, 2, 10, 30])
def test_the_time_of_all_moves_up_to_the_control_is_on_the_clock(moves: int) -> None:
    budget = Limits(remaining=60.0, moves_to_go=moves).budget()
    assert budget is not None
    assert budget.soft == pytest.approx(0.6 * (60.0 - OVERHEAD_SECONDS) / moves)
    assert budget.soft <= budget.hard < 60.0


def test_a_far_or_unknown_control_counts_as_thirty_moves() -> None:
    thirty = Limits(remaining=60.0, moves_to_go=30).budget()
    assert Limits(remaining=60.0).budget() == thirty
    assert Limits(remaining=60.0, moves_to_go=200).budget() == thirty


def test_an_increment_is_not_spent_without_time_on_the_clock() -> None:
    for remaining in (0.0, 0.02, 1.0, 60.0):
        budget = Limits(remaining=remaining, increment=10.0).budget()
        assert budget is not None
        assert 0 < budget.soft <= budget.hard < max(remaining, OVERHEAD_SECONDS)


def test_most_of_an_increment_and_at_most_half_of_the_clock_are_spent() -> None:
    alone, more = (Limits(remaining=60.0, increment=seconds).budget() for seconds in (0.0, 1.0))
    assert alone is not None
    assert more is not None
    assert more.soft == pytest.approx(alone.soft + 0.7)
    last = Limits(remaining=60.0, moves_to_go=1).budget()
    near = Limits(remaining=60.0, moves_to_go=3).budget()
    assert last is not None
    assert near is not None
    # An iteration that has begun goes on up to half of the clock, or else to the soft limit.
    assert last.soft == last.hard
    assert near.hard == pytest.approx((60.0 - OVERHEAD_SECONDS) / 2)


def test_no_time_is_longer_than_timers_allow() -> None:
    for limits in (Limits(remaining=1e12, moves_to_go=1), Limits(move_time=1e12)):
        assert limits.budget() == (MAX_SECONDS, MAX_SECONDS)


def test_a_time_for_the_move_is_kept() -> None:
    assert Limits(move_time=1.0).budget() == 2 * (1.0 - OVERHEAD_SECONDS,)
    assert Limits(move_time=0.01).budget() == (0.005, 0.005)
    assert Limits(infinite=True, remaining=1.0).budget() is None
    assert Limits(depth=5).budget() is None
