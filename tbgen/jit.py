"""The numba policy, in one place.

    kernel   compiled ahead of nothing: on first use, cached on disk, without the GIL
    borrowing_kernel   the same for kernels that create no arrays: no counting of references
    part     called by kernels only, and compiled into them: neither entry nor file of its own
    scalar   a part that does not know of numba (`tbgen.indexing.scalar`)

The cache folder is named after the sources, because numba notices a change only in the file that
holds a kernel and not in the functions it calls. numba's cache is unsafe while two processes
write it (numba issue 4807): `compile_lock` lets one of them compile while the others wait.
Nothing that only probes tables imports this module.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba import njit

import tbgen.indexing
import tbgen.parts
from tbgen.indexing.scalar import use_compiler

Function = TypeVar("Function", bound=Callable[..., Any])

_OBJECTS_BETWEEN_COLLECTIONS = 100_000
"""Measured: a tenth of the time of compiling, for 20 MiB."""

CHECK_BOUNDS = os.environ.get("NUMBA_BOUNDSCHECK") == "1"


def _source_digest() -> str:
    """A digest of every source that kernels are compiled from, and of the compiler's version.

    And of where they lie: numba keeps the kernels of every path apart, and what is known to be
    compiled (`tbgen.retrograde.warm_up`) shall be true of these.
    """
    package, indexing = Path(__file__).parent, Path(tbgen.indexing.__file__).parent
    digest = hashlib.sha256(f"{numba.__version__} {sys.version} {CHECK_BOUNDS} {package}".encode())
    folders = [package / name for name in ("probing", "referee", "retrograde", "rules", "verify")]
    for folder in (indexing, *folders):
        for path in sorted(folder.rglob("*.py")):
            digest.update(path.read_bytes())
    for module in (__file__, tbgen.parts.__file__):
        digest.update(Path(module).read_bytes())
    return digest.hexdigest()[:16]


def _cache_folder() -> Path:
    """Where compiled kernels of exactly these sources are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "tbgen" / _source_digest()


CACHE_FOLDER = Path(os.environ.setdefault("NUMBA_CACHE_DIR", str(_cache_folder())))
os.environ.setdefault("NUMBA_OPT", "1")  # measured: rows run 25 % faster than at 3
numba.core.config.reload_config()  # type: ignore[no-untyped-call]

_OPTIONS: dict[str, Any] = {
    "error_model": "numpy", "boundscheck": CHECK_BOUNDS, "no_cfunc_wrapper": True,
}  # fmt: skip
"""Of all that is compiled: no checks for division as in Python, and no entry from C."""

_BORROWS: dict[str, Any] = {"_nrt": False}
"""No references to arrays are counted, so none can be created."""


def kernel(function: Function) -> Function:
    """Compile a kernel: cached, and without the GIL."""
    compiled: Function = njit(cache=True, nogil=True, **_OPTIONS)(function)
    return compiled


def borrowing_kernel(function: Function) -> Function:
    """Compile a kernel that counts no references to its arrays; it cannot create any.

    Without this, every call between compiled functions counts up and down for each array, in
    atomic operations on memory that all threads share: half the time of a kernel that looks at
    positions one by one, and worse with every thread.
    """
    compiled: Function = njit(cache=True, nogil=True, **_OPTIONS, **_BORROWS)(function)
    return compiled


def part(function: Function) -> Function:
    """Let kernels call a function that creates no arrays; for Python it stays as it is.

    Entries from Python, files in the cache and machine code of its own would take longer than
    the function itself (`tbgen.parts`).
    """
    tbgen.parts.compile_part(function, **_OPTIONS, **_BORROWS)
    return function


use_compiler(part)


@contextlib.contextmanager
def rare_collections() -> Iterator[None]:
    """Look for garbage rarely, while compiling: the compiler's own graphs are large and live."""
    thresholds = gc.get_threshold()
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS, *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)


@contextlib.contextmanager
def compile_lock() -> Iterator[None]:
    """Hold the machine's lock on the kernel cache, across processes."""
    CACHE_FOLDER.mkdir(parents=True, exist_ok=True)
    with open(CACHE_FOLDER / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            with rare_collections():
                yield
        finally:
            fcntl.flock(lock, fcntl.LOCK_UN)
