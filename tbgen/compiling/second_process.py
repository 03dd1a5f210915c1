"""Second process that compiles kernels into the cache, beside this one.

    start_beside     start the process, if there is a core and a cache for it
    note_compiled    record that all kernels of a name are compiled on this machine
    is_compiled      return whether that was recorded

numba compiles in one thread. With two processes the first build on a machine takes two thirds as
long (docs/measurements/compiling.md). The caller checks that there is memory for both. The first
process holds the lock of the cache (`jit.compile_lock`), and the second one compiles under it. The
second process is not forked, since neither threads nor the compiler survive that.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable

from tbgen.compiling.folder import PACKAGE
from tbgen.compiling.jit import CACHE_FOLDER, KernelCache
from tbgen.system.platform import python_command, usable_cores

_COMPILE = """
import os, sys, threading
threading.Thread(target=lambda: os._exit(len(os.read(0, 1)) or 1), daemon=True).start()
from tbgen.compiling.jit import hold_inherited_lock
from tbgen.system.importing import import_permanently
module, function = sys.argv[1:]
with hold_inherited_lock():
    getattr(import_permanently(module), function)()
"""
"""Code of the second process. Its standard input is a pipe without data, which closes when the
first process ends in any way; then the second process exits."""


def is_compiled(what: str) -> bool:
    """Return whether `note_compiled` has recorded this name of a set of kernels."""
    return CACHE_FOLDER is not None and (CACHE_FOLDER / f"{what}-compiled").exists()


def note_compiled(what: str) -> None:
    """Record that all kernels of a set are compiled; do nothing without a writable cache."""
    if CACHE_FOLDER is not None:
        with contextlib.suppress(OSError):
            (CACHE_FOLDER / f"{what}-compiled").touch()


def start_beside(function: Callable[[], None]) -> subprocess.Popen[bytes] | None:
    """Start a second process that calls a function, which compiles kernels; return the process.

    function : defined at the top level of a module, without parameters

    Returns None if `jit` uses no cache or numba's own, if there is one processor only, or if the
    process cannot be started. When the process ends without an error, the kernels are in the cache.
    """
    # Two processes must not write numba's own cache (numba issue 4807).
    if CACHE_FOLDER is None or KernelCache is None or usable_cores() == 1:
        return None
    paths = [str(PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    settings = {"NUMBA_CACHE_DIR": str(CACHE_FOLDER), "PYTHONPATH": os.pathsep.join(paths)}
    # A process group of its own, so that Ctrl-C reaches only this process. If the second process
    # fails, this process compiles the missing kernels.
    with contextlib.suppress(OSError):
        return subprocess.Popen(
            python_command("-c", _COMPILE, function.__module__, function.__name__),
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            process_group=0, env={**os.environ, **settings},
        )  # fmt: skip
    return None
