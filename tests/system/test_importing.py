"""Permanent imports: exempt from garbage collection, which is on or off as before."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import gc, sys
from tbgen.system.platform import import_permanently

if sys.argv[1] == "off":
    gc.disable()
before = gc.isenabled(), gc.get_freeze_count()
module = import_permanently("tbgen.tables")
assert module is sys.modules["tbgen.tables"] is import_permanently("tbgen.tables")
assert gc.isenabled() == before[0]
assert gc.get_freeze_count() > before[1]
frozen = gc.get_freeze_count()
import_permanently("tbgen.tables")
assert gc.get_freeze_count() == frozen
"""


@pytest.mark.parametrize("collecting", ["on", "off"])
def test_imported_objects_are_not_collected(collecting: str) -> None:
    command = [sys.executable, "-c", SCRIPT, collecting]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
