"""Tables built in this process for tests: by a `Builder`, or once per process by `built`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from tbgen.building import builder
from tbgen.building.work import work_for
from tbgen.indexing import Material
from tbgen.scheduling.run import InProcess, Observer, run
from tbgen.tables import Metric, Rules
from tbgen.tables.rule_sets import RuleSet

_folders: list[tempfile.TemporaryDirectory[str]] = []


class Builder(builder.Builder):
    """Builder whose `build` runs in this process, and raises the first error of a table."""

    def build(
        self, materials: Iterable[Material], metric: Metric | None = None, *, force: bool = False
    ) -> None:
        """Build materials and their supporting tables.

        metric : metric of these materials, None for any. With DTM, supporting tables are in DTM,
            too; else they may have any metric
        force : rebuild finished tables of these materials, but not their supporting tables
        """
        work = work_for(materials, metric, force=force)
        outcome = run(builder.jobs_of(work), InProcess(self.build_job), Observer())
        for error in outcome.failures.values():
            raise error


@cache
def built(*materials: str, rules: str = "check", metric: str | None = None) -> Path:
    """Return a directory with tables of materials and their supporting tables.

    Each combination of arguments is built once per process; the directory is removed at exit.
    `metric` is `dtm` or `dtc`, None for any.
    """
    folder = tempfile.TemporaryDirectory(prefix="tbgen-built-")
    _folders.append(folder)
    directory = Path(folder.name)
    Builder(directory, RuleSet(Rules(rules)), builder.Progress()).build(
        [Material.parse(name) for name in materials], None if metric is None else Metric(metric)
    )
    return directory
