"""A builder that builds closures of materials in this process, one table after another."""

from __future__ import annotations

from collections.abc import Iterable

from tbgen.building import builder
from tbgen.building.work import work_for
from tbgen.indexing import Material
from tbgen.scheduling.run import InProcess, Observer, run
from tbgen.tables import Metric


class Builder(builder.Builder):
    """A builder whose `build` raises the first error."""

    def build(self, materials: Iterable[Material], metric: Metric | None = None) -> None:
        """Build the closure of some materials; `metric` (None: auto) is for these alone."""
        work = work_for(materials, metric, self.force)
        outcome = run(builder.jobs_of(work), InProcess(self.task_runner(len(work))), Observer())
        for error in outcome.failures.values():
            raise error
