"""The numba policy, in one place.

    kernel   compiled ahead of nothing: on first use, cached on disk, without the GIL
    borrowing_kernel   the same for kernels that create no arrays: no counting of references
    part     called by kernels only, and compiled into them: neither entry nor file of its own
    inlined_part   the same, and never called: its code becomes part of its caller's
    recursive_part   the same for what calls itself
    scalar   a part that does not know of numba (`tbgen.indexing.scalar`)

Where the cache is, `tbgen.compiling.folder` says, and what it withstands `tbgen.compiling.cache`.
`compile_lock` lets one process compile while the others wait, since to compile the same side by
side only takes longer. Nothing that only probes tables imports this module.
"""

from __future__ import annotations

import contextlib
import gc
import os
import threading
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, TypeVar

import numba
from numba import njit
from numba.extending import overload

from tbgen.compiling.folder import (
    CHECK_BOUNDS,
    clear_stale_files,
    find_kernel_folder,
    open_lock,
)
from tbgen.compiling.internals import (
    HAS_DIGESTS,
    HAS_PARTS,
    count_from_the_front,
    has_indices,
    known_options,
)
from tbgen.indexing import InputError
from tbgen.indexing.scalar import use_compiler
from tbgen.indexing.systems import Room, lock, room_left

Function = TypeVar("Function", bound=Callable[..., Any])

if numba.config.DISABLE_JIT:
    # They count on integers of 64 bits, and would take days.
    raise InputError(
        "NUMBA_DISABLE_JIT is set, and kernels cannot run without being compiled",
        "unset NUMBA_DISABLE_JIT",
    )

_LEAST_ROOM = Room(addresses=320 << 20, memory=160 << 20)
"""What compiling takes, about (540 MiB of addresses and 210 of memory were measured, in all)."""

if any(left < least for left, least in zip(room_left(), _LEAST_ROOM, strict=True)):
    # LLVM ends the process where it gets no memory, whatever anybody would say of it.
    raise MemoryError("kernels may be neither compiled nor loaded with so little memory")

_OBJECTS_BETWEEN_COLLECTIONS = 100_000
"""Measured: a tenth of the time of compiling, for 20 MiB."""

CACHE_FOLDER = find_kernel_folder().path
"""Where compiled kernels of exactly these sources are kept; None where nothing can be."""

if CACHE_FOLDER is not None:
    os.environ["NUMBA_CACHE_DIR"] = str(CACHE_FOLDER)
os.environ.setdefault("NUMBA_OPT", "1")  # measured: rows run 25 % faster than at 3
numba.core.config._config_fname = os.devnull  # in place of `SETTINGS_FILE`, when it compiles
numba.core.config.reload_config()  # type: ignore[no-untyped-call]

_OPTIONS: dict[str, Any] = {
    "error_model": "numpy", "boundscheck": CHECK_BOUNDS, **known_options(no_cfunc_wrapper=True),
}  # fmt: skip
"""Of all that is compiled: no checks for division as in Python, and no entry from C."""

_BORROWS = known_options(_nrt=False, no_rewrites=True)
"""No references to arrays are counted, so none can be created; and there are no expressions of
whole arrays, for which numba would look."""

_INLINED = known_options(forceinline=True)
"""No call that LLVM may decide on."""


@cache
def prepare_compiler() -> None:
    """Install what this package changes in numba's compiler; to load compiled kernels needs none.

    It takes 40 ms, a tenth of a start.
    """
    if has_indices():
        count_from_the_front()


_announcements: list[Callable[[], None]] = []


@contextlib.contextmanager
def announcing(tell: Callable[[], None]) -> Iterator[None]:
    """Have a function called, once, when a kernel is to be compiled that the cache does not have.

    That is at the beginning where there is no cache. Of numba's own cache nothing is known.
    """
    _announcements.append(tell)
    try:
        if CACHE_FOLDER is None:
            _announce()
        yield
    finally:
        _announcements.clear()


def _announce() -> None:
    """Tell those who asked for it that something is compiled now."""
    while _announcements:
        _announcements.pop()()


def _begin_compiling() -> None:
    """Get ready for a kernel that the cache does not have."""
    prepare_compiler()
    _announce()


def kernel(function: Function) -> Function:
    """Compile a kernel: cached, and without the GIL."""
    return _compiled(function)


def borrowing_kernel(function: Function) -> Function:
    """Compile a kernel that counts no references to its arrays; it cannot create any.

    Without this, every call between compiled functions counts up and down for each array, in
    atomic operations on memory that all threads share: half the time of a kernel that looks at
    positions one by one, and worse with every thread.
    """
    return _compiled(function, **_BORROWS)


def _compiled(function: Function, **options: Any) -> Function:
    kept = CACHE_FOLDER is not None
    compiled = njit(nogil=True, cache=kept and not HAS_DIGESTS, **_OPTIONS, **options)(function)
    if kept and HAS_DIGESTS:
        from tbgen.compiling.cache import KernelCache

        # In place of the cache that numba itself attaches under `cache=True`.
        borrows = "_nrt" in options
        cached = KernelCache(function, borrows=borrows, at_miss=_begin_compiling)
        compiled._cache = cached  # type: ignore[no-untyped-call]
    else:
        prepare_compiler()
    return compiled


def part(function: Function) -> Function:
    """Let kernels call a function that creates no arrays; for Python it stays as it is.

    Entries from Python, files in the cache and machine code of its own would take longer than
    the function itself (`tbgen.compiling.parts`). Where numba lacks what it takes to leave them
    out, they are compiled, too, and the function again for every kind of integer.
    """
    return _part(function)


def inlined_part(function: Function) -> Function:
    """Declare a part whose code is inlined into its callers, however long it is.

    For what is called for each cell of a row and does little more than a call takes, where LLVM
    would leave it to be called.
    """
    return _part(function, **_INLINED)


def _part(function: Function, **options: Any) -> Function:
    options = _OPTIONS | _BORROWS | options
    if HAS_PARTS:
        from tbgen.compiling.parts import compile_part

        compile_part(function, **options)
    else:
        overload(function, jit_options=options, strict=False)(lambda *types: function)
    return function


def recursive_part(function: Function) -> Function:
    """A part that calls itself, which numba allows no overload to do: a kernel where that is all.

    It passes on values of the run time only, never a literal: as a cached kernel it would crash
    the process that loads it (numba issue 6061).
    """
    return part(function) if HAS_PARTS else borrowing_kernel(function)


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


_thread = threading.local()


@contextlib.contextmanager
def compile_lock() -> Iterator[None]:
    """Hold the machine's lock on the kernel cache, across processes.

    A thread that holds it already goes on.
    """
    if getattr(_thread, "holds_lock", False):
        yield
        return
    with contextlib.ExitStack() as held:
        if CACHE_FOLDER is not None:
            CACHE_FOLDER.mkdir(parents=True, exist_ok=True)
            file = held.enter_context(open_lock(CACHE_FOLDER))
            # Without locks several may compile the same, which only takes longer.
            with contextlib.suppress(OSError):
                lock(file, wait=True)
            clear_stale_files(CACHE_FOLDER)
        with borrow_lock():
            yield


@contextlib.contextmanager
def borrow_lock() -> Iterator[None]:
    """Compile under a lock that this thread holds, or the process that waits for this one."""
    _thread.holds_lock = True
    try:
        with rare_collections():
            yield
    finally:
        _thread.holds_lock = False
