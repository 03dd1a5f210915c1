"""Tables built by tbgen for several tests; each directory is built once per run."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from tbgen.indexing import Material
from tbgen.tables import Metric, Rules, TableName
from tbgen.tables.names import RuleSet
from tests.helpers.builders import Builder

_folders: list[tempfile.TemporaryDirectory[str]] = []


class NoProgress:
    """`Progress` that does nothing."""

    def table(self, number: int, total: int, name: TableName, finished: bool) -> None:
        pass

    def phase(self, name: str, order: int, plies: int, settled: int) -> None:
        pass

    def written(self, name: TableName, size: int, seconds: float) -> None:
        pass


@cache
def built(*materials: str, rules: str = "check", metric: str | None = None) -> Path:
    """Return a directory with tables of materials and their supporting tables.

    Each combination of arguments is built once; the directory is removed at exit.
    """
    folder = tempfile.TemporaryDirectory(prefix="tbgen-built-")
    _folders.append(folder)
    directory = Path(folder.name)
    builder = Builder(directory, RuleSet(Rules(rules)), NoProgress())
    builder.build(
        [Material.parse(name) for name in materials], None if metric is None else Metric(metric)
    )
    return directory
