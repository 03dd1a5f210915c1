"""Where the big arrays live: mapped pages, which go back to the system as soon as they are free.

An allocator would keep what was freed for later requests; the solver's arrays come and go in
megabytes, one phase after the other, and the largest phase alone should show in the memory used.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import mmap
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

_HUGE_PAGES = 4 << 20
"""Bytes from which huge pages pay."""

_M_MMAP_THRESHOLD, _MADV_DONTNEED = -3, 4
_MAPPED_FROM = 1 << 20


def zeros(shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """An array of zeros on pages of its own."""
    count = math.prod(shape) if isinstance(shape, tuple) else shape
    size = count * np.dtype(dtype).itemsize
    pages = mmap.mmap(-1, max(1, size), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if size >= _HUGE_PAGES and hasattr(mmap, "MADV_HUGEPAGE"):
        pages.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(pages, dtype, count).reshape(shape)


def copied(array: NDArray[Any]) -> NDArray[Any]:
    """A copy on pages of its own."""
    copy = zeros(array.shape, array.dtype)
    copy[...] = array
    return copy


def trim_process() -> None:
    """Give back what a solver that is about to run does not need, where the system allows it.

    The compiler's code, 50 MiB, is idle once the kernels are loaded (it is read again if need be).
    And numpy's temporary arrays get pages of their own too, where glibc would raise the size from
    which they do with every one that is freed, up to 32 MiB.
    """
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        libc.mallopt(_M_MMAP_THRESHOLD, _MAPPED_FROM)
    with contextlib.suppress(OSError), open("/proc/self/maps") as maps:
        for line in maps:
            # Code pages are never written to, so that nothing is lost with them.
            if "libllvmlite" in line and " r-xp " in line:
                start, end = (int(word, 16) for word in line.split(maxsplit=1)[0].split("-"))
                libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), _MADV_DONTNEED)
