"""The second compiling process ends with the first one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SECOND = """
import sys, time
from pathlib import Path
from tbgen.retrograde.warm_up import SecondCompiler
from tbgen.tables import Rules

print(SecondCompiler(Path(sys.argv[1]), Rules.WXF).process.pid, flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_second_compiler_ends_with_the_first(tmp_path: Path, end: signal.Signals) -> None:
    first = subprocess.Popen(
        [sys.executable, "-c", SECOND, tmp_path],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    assert first.stdout is not None
    second = int(first.stdout.readline())
    os.killpg(first.pid, end)
    _, stderr = first.communicate()
    assert stderr.count("Traceback") == (end == signal.SIGINT)  # of the script above
    deadline = time.monotonic() + 10
    while is_running(second):
        assert time.monotonic() < deadline
        time.sleep(0.01)


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


def test_no_operation_on_sets_is_left_to_be_compiled() -> None:
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
warm_up._propagate_alone(wide=wide)
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
def test_what_is_compiled_leaves_nothing(width: str) -> None:
    """What the two processes compile, or one for wide planes, is all that order 0 asks for."""
    command = [sys.executable, "-c", LEFT, width]
    result = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    assert result.stdout.split() == []


def is_running(process: int) -> bool:
    """Whether a process is there, and not only waiting to be asked how it ended."""
    try:
        status = Path(f"/proc/{process}/stat").read_text("ascii")
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"
