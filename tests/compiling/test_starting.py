"""A process that finds its kernels compiled imports nothing of what only compiling takes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tbgen.compiling import internals

SCRIPT = """
import sys
import numpy as np
from tbgen.compiling.jit import borrowing_kernel

@borrowing_kernel
def last(numbers):
    return numbers[numbers.size - 1]

assert last(np.arange(5)) == 4
print("numba.np.arrayobj" in sys.modules, sum(last.stats.cache_hits.values()))
"""


def test_loading_is_not_compiling(tmp_path: Path) -> None:
    assert internals.HAS_DIGESTS
    path = (tmp_path / "started").with_suffix(".py")
    path.write_text(SCRIPT, "utf-8")
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kernels")}
    said = [
        subprocess.run(
            [sys.executable, str(path)], env=environment, capture_output=True, text=True, check=True
        ).stdout.split()
        for _ in range(2)
    ]
    assert said == [["True", "0"], ["False", "1"]]
