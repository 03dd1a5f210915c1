"""Memory that a process can release: the compiler's code, and pages that numpy has freed.

Where a solver allocates, `tbgen.rows.storage` says, and where a proof does `tbgen.verify.planes`.
"""

from __future__ import annotations

import contextlib
import ctypes

_M_MMAP_THRESHOLD, _MADV_DONTNEED = -3, 4
"""Numbers of glibc's `mallopt` and of Linux's `madvise`, which Python has no names for."""

_MAPPED_FROM = 1 << 20
"""Bytes from which numpy's arrays shall have pages of their own."""


def trim_process() -> None:
    """Give back what is idle, where the system allows it: more whenever kernels have been loaded.

    The compiler's code, 30 MiB and more, is read again if need be. And numpy's temporary arrays
    get pages of their own from here on, where glibc would raise the size from which they do with
    every one that is freed, up to 32 MiB.
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
