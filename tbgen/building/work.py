"""Work of a build: the tables, their order and metrics, decided before the first table is solved.

    materials, requested metric  ->  work_for  ->  Task, Task, ...   supporting tables first
    a task                       ->  attempts  ->  pairs (metric, code space) to try in turn

The metric that each table must have:

    requested metric    the materials themselves    their supporting tables
    dtm                 DTM                         DTM, since distances add up
    dtc                 DTC                         any: a conversion ends the count
    auto                any                         any

If any metric will do, a finished table of either is kept. A missing table becomes DTM if all its
supporting tables are DTM, and its distances fit the shorter of two code spaces; else DTC. A *code
space* maps values to numbers (codes), and limits the distances. Only solving shows whether they
fit, so `attempts` lists choices.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tbgen.indexing.material import Material, needed_materials
from tbgen.retrograde.memory import code_spaces
from tbgen.tables.codes import CodeSpace
from tbgen.tables.names import Metric, TableName
from tbgen.tables.rule_sets import RuleSet


@dataclass(frozen=True, slots=True)
class Task:
    """One table of a build."""

    material: Material
    metric: Metric | None
    """Metric that the table must have; None for any."""
    rebuild: bool = False
    """Build the table even if it is finished."""


def work_for(materials: Iterable[Material], metric: Metric | None, force: bool) -> list[Task]:
    """Return the tasks of a build: the requested materials and their supporting tables, bottom-up.

    Materials that need no table are left out.

    metric : required metric of the requested materials, None for any
    force : rebuild finished tables of the requested materials, but not supporting ones
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
    """Return the pairs of metric and code space to try in turn, until every distance fits.

    all_support_dtm : whether all supporting tables are finished DTM tables
    """
    short, long = code_spaces(task.material, rule_set.known_rules)
    if task.metric is not None:
        return [(task.metric, short), (task.metric, long)]
    first = [(Metric.DTM, short)] if all_support_dtm else []
    return [*first, (Metric.DTC, short), (Metric.DTC, long)]


def finished_table(
    directory: Path, material: Material, rule_set: RuleSet, metric: Metric | None = None
) -> TableName | None:
    """Return the name of a material's finished table; None if the directory has no such file.

    metric : metric of the table; None for any, DTM before DTC
    """
    names = (TableName(material, rule_set, each) for each in ([metric] if metric else Metric))
    return next((name for name in names if (directory / name.filename).exists()), None)
