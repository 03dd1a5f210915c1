# mypy: allow-untyped-calls
"""Declaration of kernels, with the same options of numba for all.

    kernel             compiled on first use, cached on disk, runs without the GIL
    borrowing_kernel   kernel that does not change the reference counts of its arrays; it can
                       create no arrays
    part               function that only kernels call, compiled into them; creates no arrays
    inlined_part       part that is inlined into its callers
    recursive_part     part that calls itself
    scalar             part that does not depend on numba (`tbgen.system.scalar`)
    by_pointer         class of named tuples that kernels take by pointer

Parts, the cache, pointers and some options need undocumented names inside numba. If a version of
numba lacks one of these names, documented features of numba replace all four. Tables are then the
same, but kernels compile or run slower (docs/measurements/compiling.md).
`tests/compiling/test_fallbacks.py` runs kernels without these names. `scripts/certify/versions.py`
runs them with the oldest and the newest numba.
"""

from __future__ import annotations

import contextlib
import gc
import os
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, TypeVar

import numba
from numba import njit
from numba.extending import overload

from tbgen.compiling.folder import CHECK_BOUNDS, clear_stale_files, find_kernel_folder
from tbgen.indexing import InputError
from tbgen.system.platform import MemoryLeft, lock, memory_left, open_to_write
from tbgen.system.scalar import use_compiler

try:
    from numba.core.options import DefaultOptions

    from tbgen.compiling.cache import KernelCache
    from tbgen.compiling.parts import compile_part
    from tbgen.compiling.pointers import by_pointer as by_pointer

    for _option in ("_nrt", "forceinline", "no_cfunc_wrapper", "no_rewrites"):
        getattr(DefaultOptions, _option)
except (AttributeError, ImportError):
    # Used instead: numba's cache, which does not detect damage, `numba.extending.overload`, and
    # numba's named tuples.
    KernelCache = compile_part = None  # type: ignore[assignment,misc]

    def by_pointer(cls: type) -> type:  # type: ignore[misc]
        """Return the class unchanged."""
        return cls


Function = TypeVar("Function", bound=Callable[..., Any])

if numba.config.DISABLE_JIT:
    # Kernels rely on 64-bit integers, and would take days.
    raise InputError(
        "NUMBA_DISABLE_JIT is set, and kernels cannot run without being compiled",
        "unset NUMBA_DISABLE_JIT",
    )

_LEAST_ROOM = MemoryLeft(addresses=320 << 20, memory=160 << 20)
"""Address space and memory that must be free when this module is imported, since kernels are
compiled or loaded afterwards. A process that compiles took 540 MiB and 210 MiB in total.
"""

if any(left < least for left, least in zip(memory_left(), _LEAST_ROOM, strict=True)):
    # LLVM ends the process if it gets no memory.
    raise MemoryError("kernels may be neither compiled nor loaded with so little memory")

_OBJECTS_BETWEEN_COLLECTIONS = 100_000
"""Threshold of garbage collection while compiling: saves a tenth of the time for 20 MiB."""

CACHE_FOLDER = find_kernel_folder()
"""Folder of the compiled kernels of these sources; None if no folder can be written."""

if CACHE_FOLDER is not None:
    os.environ["NUMBA_CACHE_DIR"] = str(CACHE_FOLDER)
os.environ.setdefault("NUMBA_OPT", "1")  # measured: row kernels run 25 % faster than at level 3
numba.core.config._config_fname = os.devnull  # read again when numba compiles
numba.core.config.reload_config()


_OPTIONS: dict[str, Any] = {"error_model": "numpy", "boundscheck": CHECK_BOUNDS}
"""Options of all kernels and parts: divisions unchecked as in NumPy, no entry point for C."""

_BORROWS: dict[str, Any] = {}
"""Additional options of borrowing kernels and parts: no reference counting, and no rewrites
(numba's passes that replace code which creates arrays). Empty if the module `parts` cannot be used.
"""

_INLINED: dict[str, Any] = {}
"""Additional option of inlined parts; empty if the module `parts` cannot be used."""

if compile_part is not None:
    _OPTIONS["no_cfunc_wrapper"] = _BORROWS["no_rewrites"] = _INLINED["forceinline"] = True
    _BORROWS["_nrt"] = False


@cache
def disable_negative_indexing() -> bool:
    """Disable negative indexing in functions without reference counting (decision 15).

    For negative indices, numba compiles three more instructions per index. Without them a negative
    index is an error, raised only if bounds are checked (`NUMBA_BOUNDSCHECK=1`).

    The first call takes 40 ms, and is needed only before compiling. Returns True, or False if this
    version of numba lacks the undocumented names that are used here.
    """
    try:
        from numba.core import types
        from numba.core.targetconfig import ConfigStack
        from numba.np import arrayobj

        usual, top = arrayobj.fix_integer_index, ConfigStack.top_or_none
    except (AttributeError, ImportError):
        return False

    def index_as_it_is(context: Any, builder: Any, index_type: Any, index: Any, size: Any) -> Any:
        flags = top()
        if flags is None or flags.nrt:
            return usual(context, builder, index_type, index, size)
        return context.cast(builder, index, index_type, types.intp)

    arrayobj.fix_integer_index = index_as_it_is
    return True


_notifications: list[Callable[[], None]] = []


@contextlib.contextmanager
def notify_before_compiling(tell: Callable[[], None]) -> Iterator[None]:
    """Context that calls `tell` once, before the first kernel is compiled that is not in the cache.

    Without a cache folder, `tell` is called at the beginning; with numba's own cache never.
    """
    _notifications.append(tell)
    try:
        if CACHE_FOLDER is None:
            _begin_compiling()
        yield
    finally:
        _notifications.clear()


def _begin_compiling() -> None:
    disable_negative_indexing()
    while _notifications:
        _notifications.pop()()


def kernel(function: Function, **options: Any) -> Function:
    """Declare a kernel: compiled on first use, cached, and without the GIL."""
    by_numba = CACHE_FOLDER is not None and KernelCache is None
    compiled = njit(nogil=True, cache=by_numba, **_OPTIONS, **options)(function)
    if CACHE_FOLDER is None or by_numba:
        disable_negative_indexing()
    else:
        compiled._cache = KernelCache(
            function, borrows="_nrt" in options, before_compiling=_begin_compiling
        )
    return compiled


def borrowing_kernel(function: Function) -> Function:
    """Declare a kernel without reference counting of its arrays; it can create no arrays.

    With reference counting, every call between compiled functions changes the counts of all arrays,
    atomically and in memory shared by threads: half the time of kernels that visit single
    positions.
    """
    return kernel(function, **_BORROWS)


def part(function: Function, **options: Any) -> Function:
    """Make a function that creates no arrays callable from kernels; Python calls it uncompiled.

    If the module `parts` cannot be used, numba compiles the function for every kind of integer,
    with its own entry points and machine code.
    """
    options = _OPTIONS | _BORROWS | options
    if compile_part is not None:
        compile_part(function, **options)
    else:
        overload(function, jit_options=options, strict=False)(lambda *types: function)
    return function


def inlined_part(function: Function) -> Function:
    """Declare a part that is inlined into its callers, even if LLVM would not inline it."""
    return part(function, **_INLINED)


def recursive_part(function: Function) -> Function:
    """Declare a part that calls itself.

    If the module `parts` cannot be used, the function is declared as a kernel, since overloads
    cannot be recursive. Calls of it must not pass literals, which crash the process that loads a
    cached kernel (numba issue 6061).
    """
    return part(function) if compile_part is not None else borrowing_kernel(function)


use_compiler(part)

_thread = threading.local()

_clock = [0.0]


def compiling_seconds() -> float:
    """Return the seconds that this process has spent in `compile_lock`, in the outermost block.

    That is the time for compiling, for loading compiled kernels and for waiting for other
    processes.
    """
    return _clock[0]


@contextlib.contextmanager
def compile_lock() -> Iterator[None]:
    """Hold the kernel cache's lock, so that one process compiles while others wait; reentrant."""
    if getattr(_thread, "holds_lock", False):
        yield
        return
    began = time.monotonic()
    with contextlib.ExitStack() as held:
        if CACHE_FOLDER is not None:
            CACHE_FOLDER.mkdir(parents=True, exist_ok=True)
            file = held.enter_context(open_to_write(CACHE_FOLDER / "lock"))
            with contextlib.suppress(OSError):  # a system without locks
                lock(file, wait=True)
            clear_stale_files(CACHE_FOLDER)
        held.enter_context(hold_inherited_lock())
        try:
            yield
        finally:
            _clock[0] += time.monotonic() - began


@contextlib.contextmanager
def hold_inherited_lock() -> Iterator[None]:
    """Context in which this thread counts as holder of the cache's lock without locking.

    The lock is held by this thread, or by the process that started this one. Garbage is collected
    rarely meanwhile, since the compiler's graphs are large and in use.
    """
    thresholds = gc.get_threshold()
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS, *thresholds[1:])
    _thread.holds_lock = True
    try:
        yield
    finally:
        _thread.holds_lock = False
        gc.set_threshold(*thresholds)
