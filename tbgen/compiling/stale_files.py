"""Stale files of ended processes in the folder of compiled kernels.

    *.tmp.*       entries that were being written

Nothing here imports numba.
"""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

_ABANDONED_SECONDS = 3600
"""The age from which a half-written entry is nobody's: to write one takes no second."""


def clear_stale_files(folder: Path) -> None:
    """Remove files that ended processes left half-written; the cache's lock is held."""
    for unfinished in folder.glob("*/*.tmp.*"):
        with contextlib.suppress(OSError):
            if time.time() - unfinished.stat().st_mtime > _ABANDONED_SECONDS:
                unfinished.unlink()
