"""Memory of the idle compiler is returned to the system, and is loaded again when needed."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from llvmlite import binding

from tbgen.compiling.jit import kernel
from tbgen.system.platform import trim_process

MAPS = Path("/proc/self/smaps")


@kernel
def k_translate(numbers, becomes):
    """Replace each number `n` of an integer array by `becomes[n]`, in place."""
    for n in range(numbers.size):
        numbers[n] = becomes[numbers[n]]


def compiler_code() -> int:
    """Return the resident KiB of the compiler's code."""
    resident, inside = 0, False
    for line in MAPS.read_text().splitlines():
        if "-" in line.split(maxsplit=1)[0]:
            inside = "libllvmlite" in line and " r-xp " in line
        elif inside and line.startswith("Rss:"):
            resident += int(line.split()[1])
    return resident


def compile_something() -> None:
    """Parse a function in LLVM's language, which loads the compiler's code into memory."""
    assert "define" in str(binding.parse_assembly("define void @f() { ret void }"))


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_trimming_releases_the_compiler_until_it_is_needed():
    numbers = np.arange(3, dtype=np.uint8)
    k_translate(numbers, np.array([2, 0, 1], np.uint8))
    compile_something()
    before = compiler_code()
    trim_process()
    assert compiler_code() < before / 2
    k_translate(numbers, np.array([7, 6, 5], np.uint8))
    assert numbers.tolist() == [5, 7, 6]
    compile_something()
