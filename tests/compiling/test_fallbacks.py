"""With a numba without its undocumented internals, kernels compile to the same results.

A certification compares the digests of a whole build:

    .venv/bin/python -m pytest -m certification tests/compiling
"""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import njit
from numba.np import arrayobj

from tbgen.compiling import jit
from tbgen.tables import TableFile
from tests.helpers.paths import DOCS, ROOT

INTERNALS = (
    "codegen.JITCodeLibrary", "caching.CompileResultCacheImpl", "options.DefaultOptions",
    "options.DefaultOptions._nrt", "pythonapi.PythonAPI.numba_array_adaptor",
)  # fmt: skip
"""Some undocumented names in `numba.core` that tbgen uses."""

HIDE = """
import sys
import numba.core.caching, numba.core.codegen, numba.core.options, numba.core.pythonapi
del numba.core.{}
"""
"""Beginning of a script that deletes one of numba's undocumented names, to be filled in at `{}`."""

KERNELS = """
from enum import IntEnum
from typing import NamedTuple
import numpy as np
from tbgen.compiling import jit
from tbgen.compiling.jit import borrowing_kernel, by_pointer, kernel, part, prefetch

@by_pointer
class Inner(NamedTuple):
    numbers: np.ndarray
    scale: int

@by_pointer
class Outer(NamedTuple):
    inner: Inner
    square: np.ndarray

class Kind(IntEnum):
    ROOK = 3

@part
def shifted(number, by):
    return (number << by) - 200

@part
def twice_shifted(numbers, at, by):
    return shifted(numbers[at], by) + shifted(by, by) + shifted(Kind.ROOK, 1)

@borrowing_kernel
def total(numbers, by):
    found = 0
    for at in range(len(numbers)):
        found += twice_shifted(numbers, at, by)
    return found

@kernel
def made(count):
    numbers = np.zeros(count, np.int64)
    for at in range(count):
        numbers[at] = shifted(at, 2)
    return numbers

@part
def scaled(inner, at):
    return inner.numbers[at] * inner.scale

@borrowing_kernel
def read(outer, at):
    prefetch(outer.square, at)
    return scaled(outer.inner, at) + outer.square[at, 1]

small = np.array([-128, -1, 0, 5, 127], np.int8)
by_python = sum(twice_shifted(small.tolist(), at, 9) for at in range(len(small)))
assert total(small, 9) == total(small.astype(np.int64), np.int64(9)) == by_python
assert made(4).tolist() == [shifted(at, 2) for at in range(4)]
assert read(Outer(Inner(small, 3), np.arange(10).reshape(5, 2)), 4) == 3 * 127 + 9
hits = sum(sum(kernel.stats.cache_hits.values()) for kernel in (total, made))
print(hits)
"""

FOUND = """
from tbgen.compiling import jit
print(jit.internals, jit._BORROWS)
"""


def hidden(tmp_path: Path, script: str, *arguments: str, name: str = INTERNALS[0]) -> str:
    """Run a script in a Python whose numba lacks one undocumented name, and return its output.

    name : name to delete in `numba.core`

    The script is stored in a file, under whose name its kernels are cached.
    """
    path = (tmp_path / "hidden").with_suffix(".py")
    path.write_text(HIDE.format(name) + script, "utf-8")
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kernels")}
    result = subprocess.run(
        [sys.executable, str(path), *arguments], env=environment, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_the_installed_numba_has_the_internals() -> None:
    """The installed numba has the internals that tbgen uses; else builds are slower."""
    assert jit.internals is not None
    assert jit._BORROWS["_nrt"] is False
    jit.internals.disable_negative_indexing()
    assert arrayobj.fix_integer_index.__module__ == "tbgen.compiling.internals"


def test_kernels_without_the_internals(tmp_path: Path) -> None:
    assert hidden(tmp_path, KERNELS) == "0\n"
    # They are kept as numba itself keeps them.
    assert hidden(tmp_path, KERNELS) == "3\n"


@pytest.mark.parametrize("name", INTERNALS)
def test_one_missing_name_selects_all_replacements(tmp_path: Path, name: str) -> None:
    assert hidden(tmp_path, FOUND, name=name) == "None {}\n"


@pytest.mark.certification
def test_tables_without_the_internals(tmp_path: Path) -> None:
    """Builds without numba's internals give the known digests and cache their kernels.

    A second process loads the kernels of the first, and takes less than a sixth of its CPU time.
    """
    script = f"sys.path.insert(0, {str(ROOT)!r})\nfrom tbgen.cli import main\nmain()\n"
    seconds = []
    for _ in range(2):
        before = os.times().children_user
        hidden(
            tmp_path,
            script,
            "build",
            "KRKN",
            "--rules",
            "wxf",
            "--tables",
            str(tmp_path),
            "--force",
        )
        seconds.append(os.times().children_user - before)
    assert seconds[1] < seconds[0] / 6
    with (DOCS / "digests.csv").open(newline="") as file:
        known = {row["file"]: row["digest"] for row in csv.DictReader(file)}
    tables = sorted(tmp_path.glob("*.xqt"))
    assert len(tables) == 3
    for path in tables:
        with TableFile(path) as table:
            assert table.header.digest.hex() == known[path.name]


def read(values, at):  # type: ignore[no-untyped-def]
    """Return the element `values[at]`; the tests compile this function with numba."""
    return values[at]


def test_borrowing_kernels_do_not_wrap_negative_indices() -> None:
    jit.internals.disable_negative_indexing()
    if jit.CHECK_BOUNDS:
        pytest.skip("an index out of bounds is an error here")
    compiled = njit(boundscheck=False, **jit._BORROWS)(read)
    values = np.arange(5)
    assert compiled(values[2:], -1) == 1
    assert compiled(values[2:], 1) == 3


def test_other_kernels_wrap_negative_indices() -> None:
    compiled = njit(boundscheck=False)(read)
    assert compiled(np.arange(5)[2:], -1) == 4
