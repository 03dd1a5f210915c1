"""No kernel reaches out of its arrays: small tables with every index checked.

    NUMBA_BOUNDSCHECK=1 tbgen build KRKN KNKPP && NUMBA_BOUNDSCHECK=1 tbgen verify KRKN

With that variable all kernels, and the parts inside them, are compiled anew, into a cache folder of
their own (`tbgen.compiling.jit`); an index out of bounds is then an `IndexError` and not a wrong
value somewhere. KRKN has perpetual checks, KNKPP perpetual chases of both sides' pieces.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"},
    "NUMBA_BOUNDSCHECK": "1",
}
"""Without the cache folder that this process has chosen for kernels that check nothing."""

REACHING = """
import numpy as np
from tbgen.compiling.jit import borrowing_kernel, part

@part
def read(values, at):
    return values[at]

@borrowing_kernel
def reach(values, at):
    return read(values, at)

for at in (7, -1):
    try:
        reach(np.zeros(3), at)
    except IndexError:
        print("caught", at)
"""


def run(folder: Path, *arguments: str) -> str:
    """What a program of this environment prints, with checked indices."""
    result = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_bounds_are_checked_inside_parts(tmp_path: Path) -> None:
    # A file, since kernels are cached under the name of theirs.
    (tmp_path / "reach").with_suffix(".py").write_text(REACHING, "utf-8")
    assert run(tmp_path, "-m", "reach") == "caught 7\ncaught -1\n"


@pytest.mark.certification
def test_the_phases_stay_in_bounds(tmp_path: Path) -> None:
    run(tmp_path, "-m", "tbgen", "build", "KRKN", "KNKPP", "--tables", "tables")


@pytest.mark.certification
def test_the_proofs_stay_in_bounds(tmp_path: Path) -> None:
    run(tmp_path, "-m", "tbgen", "build", "KRKN", "KNKP", "--tables", "tables")
    run(tmp_path, "-m", "tbgen", "verify", "KRKN", "KNKP", "--tables", "tables")
