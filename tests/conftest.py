"""Settings of the test run: shared directory of tables, order of tests, number of processes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

from tbgen.building.builder import Progress
from tbgen.indexing import Material
from tbgen.system.platform import usable_cores
from tbgen.tables import Rules
from tbgen.tables.names import RuleSet
from tests.helpers.built import Builder

# The time of an example depends on the machine.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

# The processes of a run, and the hundreds that tests start, load what one of them has compiled,
# instead of compiling every module anew: a third of the time of a short command.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return the number of test processes: one per core and one more.

    Tests of servers and browsers mostly wait, and leave their core to another process.
    """
    return usable_cores() + 1


_FIRST = ("journeys", "board", "verify", "engine", "probing", "docs")
"""Folders with files of few long tests. They are begun first, since a long test that is begun last
would keep one core busy after all others have finished.
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort the tests by folder, so that the folders with long tests (`_FIRST`) are run first."""
    folders = {name: place for place, name in enumerate(_FIRST)}
    items.sort(key=lambda item: folders.get(item.path.parent.name, len(folders)))


def build(directory: Path, rules: Rules, *names: str) -> None:
    """Build the tables of materials, and the supporting tables that they need."""
    builder = Builder(directory, RuleSet(rules), Progress())
    builder.build([Material.parse(name) for name in names], None)


@pytest.fixture(scope="session")
def tables_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Directory with KRK, KNK, KPK and KRKN under the rules `none` and `check`.

    It is shared by all tests, which must not write to it.
    """
    directory = tmp_path_factory.mktemp("tables")
    for rules in (Rules.NONE, Rules.CHECK):
        build(directory, rules, "KRKN", "KPK")
    return directory
