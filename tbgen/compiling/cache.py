# mypy: allow-untyped-calls
"""Cache of compiled kernels with a digest in every entry: damaged entries are compiled again.

A full disk, a crash or a power failure may leave an entry empty, truncated or zeroed. Such an entry
counts as missing; loading it would raise errors in `pickle`, or run wrong machine code.

Several processes may use the folder at once. numba writes an index and its entry one after the
other, so that an index may refer to the entry of another process (numba issue 4807). That entry has
another signature, and counts as missing. Whatever numba stores in an entry is digested as bytes.
"""

from __future__ import annotations

import contextlib
import hashlib
import pickle
from collections.abc import Callable
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.serialize import dumps

# Importing this module fails if numba lacks one of these undocumented names (`jit`).
_USED = FunctionCache._impl_class, FunctionCache._load_overload


class _Entries(CompileResultCacheImpl):  # type: ignore[misc]
    """Format of cache entries, in place of numba's format without a digest."""

    def reduce(self, cres: Any) -> tuple[bytes, bytes]:
        """Return the cache entry of a compiled kernel: SHA-256 digest, and pickled kernel."""
        code = dumps(super().reduce(cres))
        return hashlib.sha256(code).digest(), code

    def rebuild(self, target_context: Any, payload: tuple[bytes, bytes]) -> Any:
        """Return the kernel of an entry; raises `ValueError` if the entry is damaged."""
        digest, code = payload
        if hashlib.sha256(code).digest() != digest:
            raise ValueError("a damaged entry")
        return super().rebuild(target_context, pickle.loads(code))


class KernelCache(FunctionCache):  # type: ignore[misc]
    """Cache of one kernel on disk, used in place of numba's.

    borrows : whether the kernel counts no references to arrays (`borrowing_kernel`)
    before_compiling : called before the kernel is compiled
    """

    _impl_class = _Entries

    def __init__(
        self, function: Callable[..., Any], *, borrows: bool, before_compiling: Callable[[], None]
    ) -> None:
        super().__init__(function)
        self._borrows, self._at_miss = borrows, before_compiling

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the cached kernel for argument types `sig`; None if it is missing or damaged."""
        # numba's own method initialises the compiler, which takes a quarter of a start. Kernels
        # that borrow arrays load without the compiler; others need a part of it.
        load = self._load_overload if self._borrows else super().load_overload
        try:
            found = load(sig, target_context)
            if found is not None and found.signature.args == tuple(sig):
                return found
        except Exception:  # damaged bytes may raise any error
            try:
                self.flush()
            except OSError:
                self.disable()
        self._at_miss()
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store a compiled kernel, unless the disk is full."""
        with contextlib.suppress(OSError):
            super().save_overload(sig, data)
