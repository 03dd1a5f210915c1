"""What processes that ended too early have left in the folder of compiled kernels.

    apart-*/      folders in which a second process compiled
    *.tmp.*       entries that were being written

Nothing here imports numba.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import time
from pathlib import Path

APART = "apart-"
"""How folders begin in which a second process compiles; whoever uses one holds a lock on it."""

_ABANDONED_SECONDS = 3600
"""The age from which a half-written entry is nobody's: to write one takes no second."""


def clear_remains(folder: Path) -> None:
    """Remove what processes that ended too early left in the cache; its lock is held."""
    for apart in folder.glob(f"{APART}*"):
        with contextlib.suppress(OSError):
            held = os.open(apart, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(apart, ignore_errors=True)
            finally:
                os.close(held)
    for unfinished in folder.glob("*/*.tmp.*"):
        with contextlib.suppress(OSError):
            if time.time() - unfinished.stat().st_mtime > _ABANDONED_SECONDS:
                unfinished.unlink()
