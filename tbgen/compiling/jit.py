# mypy: allow-untyped-calls
"""Declaration of kernels, and their compilation into the cache by one process or by two.

`tbgen.compiling.internals` needs undocumented names of numba. If numba lacks one, this module uses
documented features instead: kernels compute the same, but compile or run slower
(docs/measurements/compiling.md). `tests/compiling/test_fallbacks.py` tests this case. The docstring
of the package defines kernel, part and borrow.
"""

from __future__ import annotations

import contextlib
import gc
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numba
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from tbgen.compiling.folder import CHECK_BOUNDS, PACKAGE, clear_stale_files, find_kernel_folder
from tbgen.indexing import InputError
from tbgen.system.platform import (
    OWN_GROUP,
    WINDOWS,
    lock,
    memory_left,
    open_to_write,
    python_command,
    usable_cores,
)
from tbgen.system.scalar import use_compiler

try:
    from tbgen.compiling import internals
except (AttributeError, ImportError):
    internals = None  # type: ignore[assignment]

Class = TypeVar("Class", bound=type)
Function = TypeVar("Function", bound=Callable[..., Any])

if numba.config.DISABLE_JIT:
    # Kernels rely on 64-bit integers and, uncompiled, would take days.
    raise InputError(
        "NUMBA_DISABLE_JIT is set, and kernels cannot run without being compiled",
        "unset NUMBA_DISABLE_JIT",
    )

_addresses, _memory = memory_left()
if _addresses < 320 << 20 or _memory < 160 << 20:
    # A process that compiles takes 540 MiB of addresses and 210 MiB of memory, half of them before
    # this line. LLVM ends a process without an exception if it gets no memory.
    raise MemoryError("kernels may be neither compiled nor loaded with so little memory")

CACHE_FOLDER = find_kernel_folder()
"""Folder of the compiled kernels of these sources; None if no folder can be written."""

if CACHE_FOLDER is not None:
    os.environ["NUMBA_CACHE_DIR"] = str(CACHE_FOLDER)
os.environ.setdefault("NUMBA_OPT", "1")  # measured: row kernels run 25 % faster than at level 3
numba.core.config._config_fname = os.devnull  # read again when numba compiles
numba.core.config.reload_config()

_OPTIONS: dict[str, Any] = {"error_model": "numpy", "boundscheck": CHECK_BOUNDS}
"""Options of all kernels and parts: divisions unchecked as in NumPy, indices checked if
`CHECK_BOUNDS`; with `internals`, no entry point for C.
"""

_BORROWS: dict[str, Any] = {}
"""Additional options of borrowing kernels and parts: no reference counting, and no rewrites
(numba's passes that replace code which creates arrays). Empty without `internals`.
"""

if internals is not None:
    _OPTIONS["no_cfunc_wrapper"] = True
    _BORROWS |= {"_nrt": False, "no_rewrites": True}

_notifications: list[Callable[[], None]] = []


@contextlib.contextmanager
def notify_before_compiling(tell: Callable[[], None]) -> Iterator[None]:
    """Context manager: calls `tell` before the first compilation of a kernel not in the cache.

    Without a cache folder, calls `tell` at the beginning. With a cache folder but without
    `internals`, never calls it.
    """
    _notifications.append(tell)
    try:
        if CACHE_FOLDER is None:
            _begin_compiling()
        yield
    finally:
        _notifications.clear()


def _begin_compiling() -> None:
    if internals is not None:
        internals.disable_negative_indexing()
    while _notifications:
        _notifications.pop()()


def kernel(function: Function, **options: Any) -> Function:
    """Declare a kernel: compiled on first use, cached, without the GIL; `options` are `njit`'s."""
    by_numba = CACHE_FOLDER is not None and internals is None
    compiled = njit(nogil=True, cache=by_numba, **_OPTIONS, **options)(function)
    if CACHE_FOLDER is None:
        _begin_compiling()
    elif internals is not None:
        compiled._cache = internals.KernelCache(function, "_nrt" in options, _begin_compiling)
    return compiled


def borrowing_kernel(function: Function) -> Function:
    """Declare a kernel without reference counting of its arrays; it can create no arrays.

    Without `internals`, every call between compiled functions counts the references to all arrays,
    which takes half the time of kernels that visit single positions.
    """
    return kernel(function, **_BORROWS)


def part(function: Function) -> Function:
    """Declare a part, which must create no arrays; return it uncompiled, for calls from Python."""
    if internals is not None:
        internals.compile_part(function, **_OPTIONS, **_BORROWS)
    else:
        overload(function, jit_options=_OPTIONS, strict=False)(lambda *types: function)
    return function


def recursive_part(function: Function) -> Function:
    """Declare a part that calls itself.

    Without `internals` it becomes a kernel, since numba's overloads cannot call themselves. Calls
    must not pass literals: loading such a kernel from the cache crashes (numba issue 6061).
    """
    return part(function) if internals is not None else borrowing_kernel(function)


use_compiler(part)


def by_pointer(cls: Class) -> Class:
    """Let kernels take named tuples of `cls` by pointer, if there is `internals`; return `cls`."""
    if internals is not None:
        internals.pass_by_pointer(cls)
    return cls


@intrinsic  # type: ignore[untyped-decorator]
def prefetch(typing: Any, array: Any, index: Any) -> Any:
    """Begin to load the row `index` of a two-dimensional array into the processor's cache.

    Without it, the engine is a fifth slower (docs/measurements/compiling.md).
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(array)(context, builder, arguments[0])
        first = cgutils.get_item_pointer(
            context, builder, array, view, [arguments[1], cgutils.intp_t(0)]
        )
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        takes = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", [byte], takes)
        hints = number(0), number(3), number(1)  # a read, into the nearest cache, of data
        builder.call(function, [builder.bitcast(first, byte), *hints])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


_thread = threading.local()
_clock = [0.0]


def compiling_seconds() -> float:
    """Return the seconds of all threads in `compile_lock`: waiting, compiling and loading."""
    return _clock[0]


@contextlib.contextmanager
def compile_lock(*, held: bool = False) -> Iterator[None]:
    """Context manager: holds the kernel cache's lock, so that other processes and threads wait.

    A thread that holds the lock may enter again. Without a cache folder, or on a file system
    without locks, nothing is locked. Inside, garbage is collected rarely: this saves a tenth of the
    time and costs 20 MiB. At the beginning, stale files of the cache are removed.

    held : True to neither lock nor remove files: the process that started this one holds the lock,
        or all kernels are in the cache

    Raises `OSError` if the lock file cannot be opened.
    """
    if getattr(_thread, "holds_lock", False):
        yield
        return
    began = time.monotonic()
    with contextlib.ExitStack() as files:
        if CACHE_FOLDER is not None and not held:
            CACHE_FOLDER.mkdir(parents=True, exist_ok=True)
            file = files.enter_context(open_to_write(CACHE_FOLDER / "lock"))
            with contextlib.suppress(OSError):  # a file system without locks
                lock(file, wait=True)
            clear_stale_files(CACHE_FOLDER)
        thresholds = gc.get_threshold()  # restored by the last thread that held the lock
        gc.set_threshold(100_000, *thresholds[1:])
        _thread.holds_lock = True
        try:
            yield
        finally:
            _thread.holds_lock = False
            gc.set_threshold(*thresholds)
            _clock[0] += time.monotonic() - began


def is_compiled(what: str) -> bool:
    """Return whether `note_compiled` has recorded the set of kernels named `what` as compiled."""
    return CACHE_FOLDER is not None and (CACHE_FOLDER / f"{what}-compiled").exists()


def note_compiled(what: str) -> None:
    """Record in the cache folder, if any, that all kernels of the set named `what` are compiled."""
    if CACHE_FOLDER is not None:
        with contextlib.suppress(OSError):
            (CACHE_FOLDER / f"{what}-compiled").touch()


_COMPILE = """
import os, sys, threading
threading.Thread(target=lambda: os._exit(len(os.read(0, 1)) or 1), daemon=True).start()
from tbgen.compiling.jit import compile_lock
from tbgen.system.platform import import_permanently
module, function = sys.argv[1:]
with compile_lock(held=True):
    getattr(import_permanently(module), function)()
"""
"""Code of the second process. If the first process ends in any way, the standard input of the
second one, a pipe without data, closes, and the second one exits."""


def start_beside(function: Callable[[], None]) -> subprocess.Popen[bytes] | None:
    """Start and return a process that calls `function`, which compiles kernels into the cache.

    With two processes the first build on a machine takes two thirds as long
    (docs/measurements/compiling.md). The caller must hold `compile_lock`, and `function` must be at
    the top level of a module. Returns None without cache or `internals`, with a single processor,
    on Windows, or if the process cannot be started.
    """
    # Two processes must not write numba's own cache (numba issue 4807).
    if CACHE_FOLDER is None or internals is None or usable_cores() == 1 or WINDOWS:
        return None
    paths = [str(PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    settings = {"NUMBA_CACHE_DIR": str(CACHE_FOLDER), "PYTHONPATH": os.pathsep.join(paths)}
    # A process group of its own, so that Ctrl-C reaches only this process.
    with contextlib.suppress(OSError):
        return subprocess.Popen(
            python_command("-c", _COMPILE, function.__module__, function.__name__),
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, **settings}, **OWN_GROUP,
        )  # fmt: skip
    return None
