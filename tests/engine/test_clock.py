"""Time limits of a move, from the arguments of `go`."""

from __future__ import annotations

import pytest

from tbgen.engine.clock import OVERHEAD_SECONDS, Limits


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


def test_a_time_for_the_move_is_kept() -> None:
    assert Limits(move_time=1.0).budget() == 2 * (1.0 - OVERHEAD_SECONDS,)
    assert Limits(move_time=0.01).budget() == (0.005, 0.005)
    assert Limits(infinite=True, remaining=1.0).budget() is None
    assert Limits(depth=5).budget() is None
