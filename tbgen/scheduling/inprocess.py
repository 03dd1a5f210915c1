"""The executor that runs each job at once, here: a future is done before it is handed out."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from tbgen.scheduling.queue import Start
from tbgen.scheduling.run import RealTime


class InProcess(RealTime):
    """One job at a time. Ctrl-C goes through it to whoever runs the jobs."""

    slots = 1

    def __init__(self, function: Callable[[Start], Any], memory: int | None = None) -> None:
        """Run jobs by a function; of `memory` they are told, and may have all of it."""
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
