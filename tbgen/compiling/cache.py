# mypy: allow-untyped-calls
"""The cache of compiled kernels: what is damaged there is compiled again.

    KernelCache     numba's cache of one kernel, with a digest in every entry

An entry that a full disk, a crash or a power cut has emptied, cut or zeroed counts as missing. To
read one anyway would at best be an exception out of `pickle`, and at worst wrong machine code.

Any number of processes may use the folder at once. numba writes an index and the entry that it
names one after the other, so that the last of two writers may leave an index that names the
other's entry (numba issue 4807). That is found by the signature, and counts as missing.

What numba keeps of a kernel is passed on as it is, whatever its form.
"""

from __future__ import annotations

import contextlib
import hashlib
import pickle
from collections.abc import Callable
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.serialize import dumps


class _Entries(CompileResultCacheImpl):  # type: ignore[misc]
    """Contents of an entry: the digest of the code, and the code."""

    def reduce(self, cres: Any) -> tuple[bytes, bytes]:
        """Return what is stored of a compiled kernel."""
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

    def __init__(
        self, function: Callable[..., Any], *, borrows: bool, at_miss: Callable[[], None]
    ) -> None:
        """For a kernel.

        borrows : whether it counts no references to arrays
        at_miss : called before it is compiled, since nothing was found
        """
        super().__init__(function)
        self._borrows, self._at_miss = borrows, at_miss

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled kernel for the types of arguments; None where it is to be compiled."""
        # numba gets ready to compile before it loads, in a quarter of the time of a start. Of
        # that, what counts references needs a part, and what borrows needs nothing.
        load = self._load_overload if self._borrows else super().load_overload
        try:
            found = load(sig, target_context)
            if found is not None and found.signature.args == tuple(sig):
                return found
        except Exception:  # whatever reading damaged bytes may raise
            try:
                self.flush()
            except OSError:
                self.disable()
        self._at_miss()
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled kernel, if there is room."""
        with contextlib.suppress(OSError):
            super().save_overload(sig, data)
