"""Kernels stay within their arrays: small tables with every index checked.

    NUMBA_BOUNDSCHECK=1 tbgen build KRKN KNKPP && NUMBA_BOUNDSCHECK=1 tbgen verify KRKN

With that variable all kernels and device functions are recompiled into a cache folder of their own
(`tbgen.compiling.jit`), and an index out of bounds raises `IndexError`. KRKN has perpetual checks,
KNKPP perpetual chases of both sides' pieces.
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
"""Environment without this process's cache folder, which has unchecked kernels."""

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
    """Return the output of a test program in a process that checks every array index."""
    result = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_bounds_are_checked_inside_device_functions(tmp_path: Path) -> None:
    # A file, since a kernel is cached under the name of the file that defines it.
    (tmp_path / "reach").with_suffix(".py").write_text(REACHING, "utf-8")
    assert run(tmp_path, "-m", "reach") == "caught 7\ncaught -1\n"


SEARCHING = """
from tbgen.engine.search.searcher import Searcher
from tbgen.indexing import START_FEN, Position

searcher = Searcher(hash_mebibytes=1)
for fen in (
    START_FEN,
    "r1ba1a3/4kn3/2n1b4/pNp1p1p1p/4c4/6P2/P1P2R2P/1CcC5/9/2BAKAB2 w",
    "3ak4/4a4/4b4/9/2p3N2/6P2/4r4/4B4/4A4/R2AK4 b",
    "9/9/3k5/9/9/4n4/9/4R4/9/4K4 w",
):
    searcher.clear_stop()
    *_, last = searcher.think([Position.from_fen(fen)], [], nodes=60_000)
    print(last.lines[0].score)
"""


@pytest.mark.certification
def test_the_search_stays_in_bounds(tmp_path: Path) -> None:
    """The search has equal results with every index checked; none is out of bounds.

    Kernels of the search do not support negative indices (`disable_negative_indexing`).
    """
    path = (tmp_path / "searching").with_suffix(".py")
    path.write_text(SEARCHING, "utf-8")
    checked = run(tmp_path, "-m", "searching")
    unchecked = subprocess.run(
        [sys.executable, str(path)], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert checked == unchecked.stdout
    assert len(checked.split()) == 4


@pytest.mark.certification
def test_the_phases_stay_in_bounds(tmp_path: Path) -> None:
    run(tmp_path, "-m", "tbgen", "build", "KRKN", "KNKPP", "--tables", "tables")


@pytest.mark.certification
def test_the_proofs_stay_in_bounds(tmp_path: Path) -> None:
    run(tmp_path, "-m", "tbgen", "build", "KRKN", "KNKP", "--tables", "tables")
    run(tmp_path, "-m", "tbgen", "verify", "KRKN", "KNKP", "--tables", "tables")
