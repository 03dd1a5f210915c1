"""Where the big arrays live: mapped pages, which go back to the system as soon as they are free.

An allocator would keep what was freed for later requests; the solver's arrays come and go in
megabytes, one phase after the other, and the largest phase alone should show in the memory used.
"""

from __future__ import annotations

import math
import mmap
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

_HUGE_PAGES = 4 << 20
"""Bytes from which huge pages pay."""


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
