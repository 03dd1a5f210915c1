"""A second process that compiles kernels into the cache, beside this one.

    start_beside     the process, if the machine has a core, memory and a cache for it
    is_compiled      whether what has a name has been compiled on this machine, to its end
    note_compiled    that it has

To compile takes seconds, and numba does one thing at a time: with two processes the first build on
a machine takes two thirds as long (docs/measurements/compiling.md). The first process holds the
lock of the cache (`jit.compile_lock`), and the second one compiles under it. It is started afresh
and not forked, since neither threads nor the compiler survive that.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable

from tbgen.compiling.folder import PACKAGE
from tbgen.compiling.internals import HAS_DIGESTS
from tbgen.compiling.jit import CACHE_FOLDER
from tbgen.indexing.systems import own_python, usable_cores

_COMPILE = """
import os, sys, threading
threading.Thread(target=lambda: os._exit(len(os.read(0, 1)) or 1), daemon=True).start()
from tbgen.compiling.jit import borrow_lock
from tbgen.indexing.importing import import_permanently
module, function = sys.argv[1:]
with borrow_lock():
    getattr(import_permanently(module), function)()
"""
"""What the second process runs. Its standard input is a pipe that nobody writes to: it is at its
end when the first process is, however that ended, and then the second one ends, too."""


def is_compiled(what: str) -> bool:
    """Return whether `note_compiled` has been called of these very sources on this machine."""
    return CACHE_FOLDER is not None and (CACHE_FOLDER / f"{what}-compiled").exists()


def note_compiled(what: str) -> None:
    """Say that nothing of it is left to be compiled; where that cannot be kept, nobody knows."""
    if CACHE_FOLDER is not None:
        with contextlib.suppress(OSError):
            (CACHE_FOLDER / f"{what}-compiled").touch()


def start_beside(function: Callable[[], None]) -> subprocess.Popen[bytes] | None:
    """A process that calls a function; None where it would help nobody, or there is no room.

    function : of a module, without arguments; what it compiles is in the cache when it returns
    """
    # numba's own cache is unsafe while two processes write it (numba issue 4807).
    if CACHE_FOLDER is None or not HAS_DIGESTS or usable_cores() == 1:
        return None
    paths = [str(PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    settings = {"NUMBA_CACHE_DIR": str(CACHE_FOLDER), "PYTHONPATH": os.pathsep.join(paths)}
    # In a group of its own, Ctrl-C reaches this process only; and what goes wrong there shows as
    # kernels that are still to be compiled here.
    with contextlib.suppress(OSError):
        return subprocess.Popen(
            own_python("-c", _COMPILE, function.__module__, function.__name__),
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            process_group=0, env={**os.environ, **settings},
        )  # fmt: skip
    return None
