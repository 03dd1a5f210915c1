"""Forecasts of the time left, with a simulated clock."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from tbgen.scheduling.forecast import Forecast
from tbgen.scheduling.queue import Job, Start

JOBS = [Job(str(n), seconds=10.0) for n in range(4)]


def start(number: int) -> Start:
    """Return the start of a job without estimates, as a build in one process has them."""
    return Start(Job(JOBS[number].key), 0, 1, 0.0)


def test_estimates_are_unchanged_before_the_first_result() -> None:
    assert Forecast(JOBS, 1, clock=lambda: 0.0).seconds_left() == pytest.approx(40.0)
    assert Forecast(JOBS, 2, clock=lambda: 0.0).seconds_left() == pytest.approx(20.0)


class Result(NamedTuple):
    """Result of a job that took some seconds."""

    seconds: float


def test_estimates_scale_with_finished_jobs() -> None:
    """If finished jobs took twice their estimated time, the estimates of other jobs double.

    Neither the time between two jobs nor a job that took no time changes the estimates.
    """
    now = [0.0]
    forecast = Forecast(JOBS, 1, clock=lambda: now[0])
    forecast.started(start(0))
    now[0] = 100.0
    forecast.finished(start(0), Result(0.0))
    assert forecast.seconds_left() == pytest.approx(30.0)
    forecast.started(start(1))
    now[0] = 200.0
    forecast.finished(start(1), Result(20.0))
    assert forecast.seconds_left() == pytest.approx(40.0, rel=0.15)
    forecast.started(start(2))
    now[0] = 210.0
    assert forecast.seconds_left() == pytest.approx(30.0, rel=0.15)
    now[0] = 500.0
    assert forecast.seconds_left() > 20, "one has not begun"
    forecast.failed(start(2), OSError())
    forecast.finished(start(3), Result(20.0))
    assert forecast.seconds_left() == 0.0


def test_small_jobs_change_the_estimate_of_a_large_one_little() -> None:
    for large in (0.5, 1000.0):
        jobs = [Job("small", seconds=0.01), Job("large", seconds=large)]
        forecast = Forecast(jobs, 1, clock=lambda: 0.0)
        forecast.finished(Start(jobs[0], 0, 1, 0.0), Result(0.5))
        assert forecast.seconds_left() == pytest.approx(large, rel=0.3)


@pytest.mark.parametrize("looks", [1, 50])
def test_an_overdue_job_extends_the_forecast(looks: int) -> None:
    """The forecast stays positive while a job takes longer than planned.

    The last job takes ten times its planned time. The number of queries has no influence.
    """
    now = [0.0]
    forecast = Forecast(JOBS[:2], 1, clock=lambda: now[0])
    forecast.started(start(0))
    now[0] = 10.0
    forecast.finished(start(0), Result(10.0))
    forecast.started(start(1))
    for look in range(1, looks + 1):
        now[0] = 10.0 + 100.0 * look / looks
        left = forecast.seconds_left()
        assert left > 0
    assert 5.0 < left < 50.0
