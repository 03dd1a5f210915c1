"""Settings of the test run: shared files and tables, order of tests, number of processes."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest
from hypothesis import settings

from tbgen.building.builder import Progress
from tbgen.indexing import Material
from tbgen.system.platform import usable_cores
from tbgen.tables import Rules
from tbgen.tables.rule_sets import RuleSet
from tests.helpers.built import Builder
from tests.helpers.shared import share

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


_FIRST = (
    "verify/test_chases.py", "engine/test_diagrams.py", "oracles", "notation", "referee",
    "journeys", "board", "verify", "engine", "probing", "docs",
)  # fmt: skip
"""Files and folders that are begun first.

Only one process at a time compiles kernels. The first two files compile nearly all of them. The
folders after them need few or none, and are run meanwhile. Then follow folders with files of few
long tests, since a long test that is begun last would keep one core busy after all others have
finished.
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort the tests by file, in the order of `_FIRST`; the tests of other files follow."""
    places = {name: place for place, name in enumerate(_FIRST)}

    def place(item: pytest.Item) -> int:
        folder, last = item.path.parent.name, len(places)
        return places.get(f"{folder}/{item.path.name}", places.get(folder, last))

    items.sort(key=place)


def pytest_collection_finish() -> None:
    """Exempt the collected tests and all modules from garbage collection.

    They are more than a million objects, which each full collection would visit.
    """
    gc.freeze()


def build(directory: Path, rules: Rules, *names: str) -> None:
    """Build the tables of materials, and the supporting tables that they need."""
    builder = Builder(directory, RuleSet(rules), Progress())
    builder.build([Material.parse(name) for name in names], None)


@pytest.fixture(scope="session", autouse=True)
def _shared(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Let all processes of the run share what `tests.helpers.shared.once` makes."""
    folder = tmp_path_factory.getbasetemp()
    # With several processes, the parent of the process's folder is shared by the run.
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    share(folder / "shared")


@pytest.fixture(scope="session")
def tables_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Directory with KRK, KNK, KPK and KRKN under the rules `none` and `check`.

    It is shared by all tests, which must not write to it.
    """
    directory = tmp_path_factory.mktemp("tables")
    for rules in (Rules.NONE, Rules.CHECK):
        build(directory, rules, "KRKN", "KPK")
    return directory
