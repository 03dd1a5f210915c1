# mypy: allow-untyped-calls
"""The cache of compiled kernels: what is damaged there is compiled again.

    KernelCache     numba's cache of one kernel, with a digest in every entry

An entry that a full disk, a crash or a power cut has emptied, cut or zeroed counts as missing. To
read one anyway would at best be an exception out of `pickle`, and at worst wrong machine code.
Where the folder is, `tbgen.compiling.folder` says. This needs numba's internals
(`tbgen.compiling.internals`).
"""

from __future__ import annotations

import contextlib
import hashlib
import pickle
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.serialize import dumps


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
