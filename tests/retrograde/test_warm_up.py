"""Compilation before the first build compiles every kernel that it needs."""

from __future__ import annotations

import subprocess
import sys

import pytest

UNCALLED = """
import tbgen.rows.gather, tbgen.rows.moves, tbgen.rows.sets, tbgen.rows.sweep
from tbgen.retrograde.warm_up import warm_up
from tbgen.tables import Rules

warm_up(Rules.WXF, ordered=True, alone=True)
for module in (tbgen.rows.gather, tbgen.rows.moves, tbgen.rows.sets, tbgen.rows.sweep):
    for name, kernel in vars(module).items():
        if name.lstrip("_").startswith("k_") and not kernel.signatures:
            print(name)
"""


def test_warm_up_compiles_every_set_operation() -> None:
    command = [sys.executable, "-c", UNCALLED]
    assert subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout == b""


LEFT = """
import sys
import numpy as np
from numba.core.registry import CPUDispatcher
from tbgen.retrograde import warm_up
from tbgen.retrograde.captures import compile_captures
from tbgen.tables import Rules
from tbgen.tables.palettes import Palette

wide = sys.argv[1] == "wide"
warm_up._propagate_made_up(wide=wide)
compile_captures(wide=wide)
modules = [module for name, module in sys.modules.items() if name.startswith("tbgen.")]
kernels = {k for m in modules for k in vars(m).values() if isinstance(k, CPUDispatcher)}
compiled = {kernel: len(kernel.signatures) for kernel in kernels}
if wide:
    Palette.dtype = np.dtype(np.uint16)
warm_up._solve_all(Rules.NONE)
print(*sorted(k.__name__ for k in kernels if len(k.signatures) > compiled[k]))
"""


@pytest.mark.parametrize("width", ["narrow", "wide"])
def test_warm_up_compiles_every_kernel_of_order_0(width: str) -> None:
    """After a warm-up, solving order 0 compiles no more kernels.

    Called are the parts of a warm-up that two processes share, for planes of one byte per slot
    (`narrow`) or of two (`wide`).
    """
    command = [sys.executable, "-c", LEFT, width]
    result = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    assert result.stdout.split() == []
