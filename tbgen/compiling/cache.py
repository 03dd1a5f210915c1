# mypy: allow-untyped-calls
"""The cache of compiled kernels: what is damaged there is compiled again.

    KernelCache     numba's cache of one kernel, with a digest in every entry

An entry that a full disk, a crash or a power cut has emptied, cut or zeroed counts as missing. To
read one anyway would at best be an exception out of `pickle`, and at worst wrong machine code.

Any number of processes may use the folder at once. numba writes an index and the entry that it
names one after the other, so that the last of two writers may leave an index that names the
other's entry (numba issue 4807). That is found by the signature, and counts as missing.

An entry has the kernel as machine code, and as bitcode for the compiler, should another kernel
call it. To read the latter takes most of the time of loading, so it is left unread until then.
Where numba's entries have another form, they are kept as they are.
"""

from __future__ import annotations

import contextlib
import hashlib
import pickle
from collections.abc import Callable
from functools import cache
from typing import Any

from llvmlite import binding
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.serialize import dumps


class _Entries(CompileResultCacheImpl):  # type: ignore[misc]
    """Contents of an entry: the digest of the code, and the code."""

    def reduce(self, cres: Any) -> tuple[bytes, bytes]:
        """Return what is stored of a compiled kernel."""
        code = dumps(_without_bitcode(super().reduce(cres), cres.library))
        return hashlib.sha256(code).digest(), code

    def rebuild(self, target_context: Any, payload: tuple[bytes, bytes]) -> Any:
        """The kernel of an entry; raises `ValueError` if it is not what was written."""
        digest, code = payload
        if hashlib.sha256(code).digest() != digest:
            raise ValueError("a damaged entry")
        reduced, bitcode, defined = pickle.loads(code)
        if bitcode is None:
            return super().rebuild(target_context, reduced)
        target_context.codegen()._engine._defined_symbols.update(defined)
        kernel = super().rebuild(target_context, reduced)
        _link_when_called(kernel.library, bitcode)
        return kernel


def _without_bitcode(reduced: Any, library: Any) -> tuple[Any, bytes | None, list[str]]:
    """Part numba's form of a kernel from its bitcode, and from the names that this defines.

    None in place of the bitcode where the form is another one. All that `_Entries.rebuild` counts
    on is tested here: else every start would compile what the one before has written.
    """
    engine = library.codegen._engine
    known = hasattr(engine, "_defined_symbols") and hasattr(library, "_get_module_for_linking")
    match reduced:
        case ((str() as name, str() as kind, (bytes() as code, bytes() as bitcode)), *others) if (
            known
        ):
            module = library._get_module_for_linking()
            defined = [each.name for every in (module.functions, module.global_variables)
                       for each in every if not each.is_declaration]  # fmt: skip
            return ((name, kind, (code, _empty_bitcode())), *others), bitcode, defined
    return reduced, None, []


@cache
def _empty_bitcode() -> bytes:
    """Return the bitcode of a library without functions."""
    return bytes(binding.parse_assembly("").as_bitcode())


def _link_when_called(library: Any, bitcode: bytes) -> None:
    """Have a library read what the compiler needs when something is to be linked with it."""

    def read() -> Any:
        del library._get_module_for_linking
        library._shared_module = binding.parse_bitcode(bitcode)
        return library._shared_module

    library._get_module_for_linking = read


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
        # numba gets ready to compile before it loads, in 0.2 seconds. Of that, what counts
        # references needs a part, and what borrows needs nothing.
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
