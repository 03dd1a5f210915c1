"""A second process that compiles kernels into the cache, beside this one.

    Beside           the process; what it calls compiles, and this process loads that afterwards
    start_beside     one, if the machine has a core, memory and a cache for it
    is_compiled      whether what has a name has been compiled on this machine, to its end
    note_compiled    that it has

To compile takes seconds, and numba does one thing at a time. The first process holds the lock of
the cache (`jit.compile_lock`), and the second one compiles under it. It is started afresh and not
forked, since neither threads nor the compiler survive that.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from tbgen.compiling.folder import PACKAGE
from tbgen.compiling.internals import HAS_DIGESTS
from tbgen.compiling.jit import CACHE_FOLDER
from tbgen.indexing.systems import own_python, usable_cores

_COMPILE = """
import os, sys, threading
threading.Thread(target=lambda: os._exit(len(os.read(0, 1)) or 1), daemon=True).start()
from tbgen.compiling.jit import borrow_lock
from tbgen.indexing.importing import import_for_good
with borrow_lock():
    for name in sys.argv[1:]:
        module, _, function = name.partition(":")
        getattr(import_for_good(module), function)()
        print(name, flush=True)
"""
"""What the second process runs: it says what it has compiled, and ends when that is all.

Its standard input is a pipe that nobody writes to: it is at its end when the first process is,
however that ended, and then the second one ends, too."""


def is_compiled(what: str) -> bool:
    """Return whether `note_compiled` has been called of these very sources on this machine."""
    return CACHE_FOLDER is not None and (CACHE_FOLDER / _mark(what)).exists()


def note_compiled(what: str) -> None:
    """Say that nothing of it is left to be compiled; where that cannot be kept, nobody knows."""
    if CACHE_FOLDER is not None:
        with contextlib.suppress(OSError):
            (CACHE_FOLDER / _mark(what)).touch()


def _mark(what: str) -> str:
    """The empty file in the cache that says so."""
    return f"{what}-compiled"


def start_beside(*functions: Callable[[], None]) -> Beside | None:
    """A process that calls these functions; None where it would help nobody, or there is no room.

    functions : of modules, without arguments; what they compile is in the cache when they return
    """
    # numba's own cache is unsafe while two processes write it (numba issue 4807).
    if CACHE_FOLDER is None or not HAS_DIGESTS or usable_cores() == 1:
        return None
    try:
        return Beside(CACHE_FOLDER, functions)
    except OSError:
        return None


class Beside:
    """A process that compiles kernels into the cache, beside this one."""

    def __init__(self, cache_folder: Path, functions: tuple[Callable[[], None], ...]) -> None:
        """Start it; raises `OSError` where there is neither room nor a process for it."""
        sources = str(PACKAGE.parent)
        # In a group of its own, Ctrl-C reaches this process only; and what goes wrong there shows
        # as kernels that are still to be compiled here.
        self.process = subprocess.Popen(
            own_python("-c", _COMPILE, *map(_name, functions)),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            process_group=0,
            env={**os.environ, "NUMBA_CACHE_DIR": str(cache_folder), "PYTHONPATH": os.pathsep.join(
                filter(None, [sources, os.environ.get("PYTHONPATH")]))},
        )  # fmt: skip
        self._said: set[str] = set()
        atexit.register(self.end)

    def wait_for(self, function: Callable[[], None]) -> None:
        """Wait until it has called one of the functions, or has ended."""
        assert self.process.stdout is not None
        while _name(function) not in self._said:
            line = self.process.stdout.readline()
            if not line:
                return
            self._said.add(line.rstrip())

    def wait(self) -> bool:
        """Wait until it has ended; whether it has called all functions."""
        status = self.process.wait()
        self.end()
        return status == 0

    def end(self) -> None:
        """End the process."""
        atexit.unregister(self.end)
        self.process.kill()
        self.process.wait()


def _name(function: Callable[[], None]) -> str:
    """The words by which the other process finds a function."""
    return f"{function.__module__}:{function.__name__}"
