"""Table directories that many tests look at, built once per run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

from tbgen.indexing import Material
from tbgen.indexing.systems import usable_cores
from tbgen.tables import Rules
from tbgen.tables.names import RuleSet
from tests.kits.builders import Builder
from tests.kits.built import NoProgress

# The time of an example depends on the machine.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

# The processes of a run, and the hundreds that tests start, load what one of them has compiled,
# instead of compiling every module anew: a third of the time of a short command.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return a process for each core and one more: tests of servers and of browsers mostly wait."""
    return usable_cores() + 1


_FIRST = ("journeys", "board", "verify", "engine", "probing", "docs")
"""Folders with files of few long tests: begun last, one of them would keep a core waiting."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort files by folder, those with long tests first."""
    folders = {name: place for place, name in enumerate(_FIRST)}
    items.sort(key=lambda item: folders.get(item.path.parent.name, len(folders)))


def build(directory: Path, rules: Rules, *names: str) -> None:
    """Build the tables of materials, and those they need."""
    builder = Builder(directory, RuleSet(rules), NoProgress())
    builder.build([Material.parse(name) for name in names], None)


@pytest.fixture(scope="session")
def tables_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """KRK, KNK, KPK and KRKN under the rules none and check. Not to be written to."""
    directory = tmp_path_factory.mktemp("tables")
    for rules in (Rules.NONE, Rules.CHECK):
        build(directory, rules, "KRKN", "KPK")
    return directory
