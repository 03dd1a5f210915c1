"""Builds that the board's pages request: one at a time, in processes beside the server.

    materials  ->  Collection  ->  Processes  ->  BuildProgress, for the board

One core of several is left to the server. After a cancelled build, or the end of its server, the
next build resumes with the finished tables.
"""

from __future__ import annotations

import logging
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import fsum
from pathlib import Path
from typing import Any

from tbgen.answers import failures
from tbgen.board.knowledge.builds import BuildProgress, Cost, Limits, Stage, closure_bound
from tbgen.building.collection import Collection, jobs_worth, process_limits
from tbgen.building.plan import Totals
from tbgen.building.sets import materials_of
from tbgen.indexing import InputError, Material
from tbgen.scheduling.processes import Processes
from tbgen.scheduling.queue import Start
from tbgen.scheduling.run import LostError, Observer
from tbgen.system.platform import usable_cores
from tbgen.tables import LimitExceededError, Rules, RuleSet

FIRST_SET = ("KRKN", "KRKR", "KRKC", "KNKC", "KNKA", "KCAK", "KRKPA", "KPKA")
"""First set that the board offers to build: endgames of each type, built in seconds."""

RULES_MATERIAL = "KRPKR"
"""Second set that the board offers: the rules decide many of its positions, up to order 18."""

COMPARED = ("KRKN", RULES_MATERIAL)
"""Endgames of `serve --demo` that are also built without repetition rules."""

_MAX_PLANNED = 200
"""Number of tables above which a page shows no cost of a material; planning so many takes 1 s."""

_STOP_SECONDS = 15.0
"""Seconds to wait for a build to end when the server ends; more than `GRACE_SECONDS` of
`tbgen.scheduling.processes`, after which worker processes end themselves.
"""


class _CancelledError(Exception):
    """Raised inside a build to end it after the user has cancelled it."""


class Workshop:
    """Builder of tables for the board; implements `tbgen.board.knowledge.builds.BuildService`.

    directory : the tables directory
    rule_set : function that returns the rule set of the tables to build; its result may change when
        the first tables are built
    limits : largest cost of a build that a page requests; None if pages may not build
    """

    def __init__(
        self, directory: Path, rule_set: Callable[[], RuleSet], limits: Limits | None
    ) -> None:
        self.limits = limits
        self.starters: Mapping[str, Sequence[Material]] = {
            "small": materials_of(FIRST_SET),
            "rules": [Material.parse(RULES_MATERIAL)],
            "four": materials_of((), 4),
        }
        self.compared = directory / "compared"
        """Directory of tables without repetition rules, for comparisons in the demonstration."""
        self._directory = directory
        self._rule_set = rule_set
        self._lock = threading.Lock()
        self._current: _Build | None = None

    def cost(self, materials: Sequence[Material]) -> Cost | None:
        """Return the cost of building materials and their supporting tables, without finished ones.

        Returns None if planning would take long (`_MAX_PLANNED`) or is impossible.
        """
        if any(closure_bound(material) > _MAX_PLANNED for material in materials):
            return None
        collection = Collection(materials, self._directory, self._rule_set())
        try:
            totals = Totals.of(collection.planned())
        except (InputError, LimitExceededError):
            return None
        return Cost(totals.seconds, totals.memory_bytes, totals.disk_bytes)

    def progress(self) -> BuildProgress | None:
        """Return the progress of the last build; None if there was none."""
        build = self._current
        return None if build is None else build.progress()

    def start(self, materials: Sequence[Material]) -> bool:
        """Start to build materials and their supporting tables; return False if a build runs."""
        with self._lock:
            if self._current is not None and self._current.thread.is_alive():
                return False
            self._begin(Collection(materials, self._directory, self._rule_set()))
            return True

    def start_demo(self) -> None:
        """Start building the tables of the demonstration; called before any other build."""
        materials = [*self.starters["small"], *self.starters["rules"]]
        own = Collection(materials, self._directory, self._rule_set())
        compared = Collection(materials_of(COMPARED), self.compared, RuleSet(Rules.NONE))
        with self._lock:
            self._begin(own, compared)

    def _begin(self, *collections: Collection) -> None:
        memory = 0 if self.limits is None else self.limits.memory_bytes
        self._current = _Build(collections, memory)
        self._current.thread.start()

    def cancel(self) -> None:
        """Request cancellation of a build, if there is one; it ends within seconds."""
        if self._current is not None:
            self._current.cancelled.set()

    def close(self) -> None:
        """Cancel the build, and wait for its end, at most `_STOP_SECONDS`."""
        self.cancel()
        if self._current is not None:
            self._current.thread.join(_STOP_SECONDS)


class _Build(Observer):
    """One build for the board: its thread, its progress, and the `Observer` of its jobs.

    collections : tables to build, one collection after the other
    memory : bytes for all tables together, 0 for free memory
    """

    every = 0.2

    def __init__(self, collections: Sequence[Collection], memory: int) -> None:
        self.collections, self.memory = collections, memory
        self.cancelled = threading.Event()
        self._began = time.monotonic()
        self._number = 0
        self._running: dict[tuple[int, str], float] = {}
        self._planned: dict[tuple[int, str], float] = {}
        self._done: set[tuple[int, str]] = set()
        self._last = BuildProgress(tuple(self.collections[0].materials), Stage.BUILDING)
        self._lock = threading.Lock()
        self.thread = threading.Thread(target=self._run, name="tbgen-build", daemon=True)

    def progress(self) -> BuildProgress:
        with self._lock:
            if not self._last.goes_on:
                return self._last
            return replace(
                self._last,
                done=len(self._done),
                running=tuple(sorted(key for _, key in self._running)),
                share=self._share(),
                seconds=time.monotonic() - self._began,
                compares=self._number > 0,
            )

    def _share(self) -> float:
        """Return the done share of the planned time; a running job counts at most 90 %."""
        now = time.monotonic()
        # fsum does not depend on the order, so that the share is at most 1.
        whole = fsum(self._planned.values())
        done = [self._planned.get(key, 0.0) for key in self._done]
        for key, began in self._running.items():
            done.append(min(now - began, 0.9 * self._planned.get(key, 0.0)))
        return fsum(done) / whole if whole else 0.0

    def _run(self) -> None:
        """Build the collections, and store the result or the error; the thread's function."""
        try:
            outcome = self._build()
        except _CancelledError:
            self._store_result(Stage.CANCELLED)
        except Exception as error:
            self._store_result(Stage.FAILED, self._message(error))
        else:
            self._store_result(*outcome)

    def _build(self) -> tuple[Stage, str]:
        """Build the collections up to the first failure; return its stage, and why it failed."""
        total = sum(len(collection.work) for collection in self.collections)
        self._last = replace(self._last, total=total)
        cores = max(1, usable_cores() - 1)
        limits = process_limits(cores, self.memory)
        jobs = [collection.jobs(cores, limits.floor) for collection in self.collections]
        self._planned = {
            (number, job.key): job.seconds for number, some in enumerate(jobs) for job in some
        }
        for number, collection in enumerate(self.collections):
            self._number = number
            slots = min(limits.jobs, jobs_worth(jobs[number], cores))
            with Processes(collection.table_builder(cores), slots, limits.memory) as executor:
                outcome = collection.build(jobs[number], executor, self, keep_going=False)
            for key, error in outcome.failures.items():
                return Stage.FAILED, f"{key}: {self._message(error)}"
        return Stage.BUILT, ""

    def _message(self, error: BaseException) -> str:
        """Return the message of an error for a page, which names no path; log the path.

        For a bug the message is a general one, and the traceback is printed.
        """
        if isinstance(error, LostError):
            return f"failed repeatedly: {error}"
        described = failures.describe(error)
        if described is None:
            traceback.print_exception(error)
            return "something went wrong; see the server's log"
        if isinstance(error, OSError) and error.filename:
            logging.getLogger(__name__).error(described.message)
            return str(error.strerror)
        return described.message

    def _store_result(self, stage: Stage, problem: str = "") -> None:
        """Store the final progress; `problem` is the reason of a failure."""
        whole = self.progress()
        with self._lock:
            share = 1.0 if stage == Stage.BUILT else whole.share
            self._last = replace(whole, stage=stage, running=(), share=share, problem=problem)

    # -- implements `Observer`; `waiting` and `started` end a cancelled build by an exception ---

    def started(self, start: Start) -> None:
        self.waiting("")
        with self._lock:
            self._running[self._number, start.job.key] = time.monotonic()

    def finished(self, start: Start, result: Any) -> None:
        self.retried(start)
        with self._lock:
            self._done.add((self._number, start.job.key))

    def retried(self, start: Start, error: BaseException | None = None) -> None:
        with self._lock:
            self._running.pop((self._number, start.job.key), None)

    failed = retried

    def waiting(self, trouble: str) -> None:
        if self.cancelled.is_set():
            raise _CancelledError
