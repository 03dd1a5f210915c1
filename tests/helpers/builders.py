"""Builder for tests: builds tables, supporting tables first, in this process."""

from __future__ import annotations

from collections.abc import Iterable

from tbgen.building import builder
from tbgen.building.work import work_for
from tbgen.indexing import Material
from tbgen.scheduling.run import InProcess, Observer, run
from tbgen.tables import Metric


class Builder(builder.Builder):
    """Builder whose `build` runs in this process, and raises the first error of a table."""

    def build(
        self, materials: Iterable[Material], metric: Metric | None = None, *, force: bool = False
    ) -> None:
        """Build materials and their supporting tables.

        `metric` (None: chosen automatically) and `force` hold for these materials, not for their
        supporting tables.
        """
        work = work_for(materials, metric, force=force)
        outcome = run(builder.jobs_of(work), InProcess(self.build_job), Observer())
        for error in outcome.failures.values():
            raise error
