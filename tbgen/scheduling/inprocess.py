"""Executor that runs each job in `submit`: a future is done when it is returned."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from tbgen.scheduling.queue import Start
from tbgen.scheduling.run import RealTime


class InProcess(RealTime):
    """Executor of one job at a time in this process; Ctrl-C is raised in the caller."""

    slots = 1

    def __init__(self, function: Callable[[Start], Any], memory: int | None = None) -> None:
        """Run jobs by a function; each is told that it may use all of `memory`."""
        self._function = function
        self.memory = memory

    def submit(self, start: Start) -> Future[Any]:
        """Run a job to its end."""
        future: Future[Any] = Future()
        try:
            future.set_result(self._function(start))
        except Exception as error:
            future.set_exception(error)
        return future
