"""The work of a build, decided before the first table is solved: tables, order and metrics.

    materials, metric asked for  ->  work_for  ->  Task, Task, ...   supporting tables first
    a task                       ->  attempts  ->  metrics and codes to try, in turn

The metric that each table must have:

    metric asked for    the materials themselves    their supporting tables
    dtm                 DTM                         DTM, or distances would not add up
    dtc                 DTC                         any: a conversion ends the count
    auto                any                         any

Where any metric will do, a finished table is kept. A missing one becomes DTM if it fits one byte
and all its supporting tables are DTM, else DTC. Only solving shows whether it fits, so this is
decided last; it never adds a task, since a DTC table needs no metric of those below it.

Nothing here solves, opens or writes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tbgen.indexing.material import Material, needed_materials
from tbgen.retrograde.memory import code_spaces
from tbgen.tables.codes import CodeSpace
from tbgen.tables.names import Metric, RuleSet, TableName


@dataclass(frozen=True, slots=True)
class Task:
    """One table of a build."""

    material: Material
    metric: Metric | None
    """The metric that it must have; None where any will do."""
    anew: bool = False
    """Whether it is built even if it is finished."""


def work_for(materials: Iterable[Material], metric: Metric | None, force: bool) -> list[Task]:
    """The tasks of a build, in order.

    metric : for the materials themselves, None for auto; what it asks of others follows
    force : whether the materials themselves, and only they, are built even if finished
    """
    asked = list(materials)
    wanted = {material.name for material in asked}
    below = Metric.DTM if metric == Metric.DTM else None
    return [
        Task(material, metric, force) if material.name in wanted else Task(material, below)
        for material in needed_materials(asked)
    ]


def attempts(
    task: Task, rule_set: RuleSet, all_support_dtm: bool
) -> list[tuple[Metric, CodeSpace]]:
    """The metrics and codes to try in turn, until one holds every distance.

    all_support_dtm : whether the finished supporting tables are all DTM
    """
    assert rule_set.rules is not None
    short, long = code_spaces(task.material, rule_set.rules)
    if task.metric is not None:
        return [(task.metric, short), (task.metric, long)]
    first = [(Metric.DTM, short)] if all_support_dtm else []
    return [*first, (Metric.DTC, short), (Metric.DTC, long)]


def finished_table(
    directory: Path, material: Material, rule_set: RuleSet, metric: Metric | None = None
) -> TableName | None:
    """The finished table of a material, of a metric or of any; None if there is none."""
    names = (TableName(material, rule_set, each) for each in ([metric] if metric else Metric))
    return next((name for name in names if (directory / name.filename).exists()), None)
