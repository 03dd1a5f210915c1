# mypy: allow-untyped-calls
"""The cache of compiled kernels: what is damaged there is compiled again, what is left there goes.

    KernelCache     numba's cache of one kernel, with a digest in every entry
    clear_remains   what processes that were killed have left in the folder

An entry that a full disk, a crash or a power cut has emptied, cut or zeroed counts as missing. To
read one anyway would at best be an exception out of `pickle`, and at worst wrong machine code.
Where the folder is, `tbgen.compiling.folder` says.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import pickle
import shutil
import time
from pathlib import Path
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.serialize import dumps

APART = "apart-"
"""How folders begin in which a second process compiles; whoever uses one holds a lock on it."""

_ABANDONED_SECONDS = 3600
"""The age from which a half-written entry is nobody's: to write one takes no second."""


class _Entries(CompileResultCacheImpl):  # type: ignore[misc]
    """What an entry holds: the digest of the code, and the code."""

    def reduce(self, cres: Any) -> tuple[bytes, bytes]:
        """What is written of a compiled kernel."""
        code = dumps(super().reduce(cres))
        return hashlib.sha256(code).digest(), code

    def rebuild(self, target_context: Any, payload: tuple[bytes, bytes]) -> Any:
        """The kernel of an entry; raises `ValueError` if it is not what was written."""
        digest, code = payload
        if hashlib.sha256(code).digest() != digest:
            raise ValueError("a damaged entry")
        return super().rebuild(target_context, pickle.loads(code))


class KernelCache(FunctionCache):  # type: ignore[misc]
    """The cache of one kernel; to lose it costs time, and nothing else."""

    _impl_class = _Entries

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled kernel for a signature; None where it is to be compiled."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # whatever reading damaged bytes may raise
            try:
                self.flush()
            except OSError:
                self.disable()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled kernel, if there is room."""
        with contextlib.suppress(OSError):
            super().save_overload(sig, data)


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
