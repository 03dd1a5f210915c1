"""Tables built by tbgen for several tests; each directory is built once per run."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from tbgen.building.builder import Progress
from tbgen.indexing import Material
from tbgen.tables import Metric, Rules
from tbgen.tables.names import RuleSet
from tests.helpers.builders import Builder

_folders: list[tempfile.TemporaryDirectory[str]] = []


@cache
def built(*materials: str, rules: str = "check", metric: str | None = None) -> Path:
    """Return a directory with tables of materials and their supporting tables.

    Each combination of arguments is built once; the directory is removed at exit.
    """
    folder = tempfile.TemporaryDirectory(prefix="tbgen-built-")
    _folders.append(folder)
    directory = Path(folder.name)
    builder = Builder(directory, RuleSet(Rules(rules)), Progress())
    builder.build(
        [Material.parse(name) for name in materials], None if metric is None else Metric(metric)
    )
    return directory
