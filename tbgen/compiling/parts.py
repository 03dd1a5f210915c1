"""Functions that only kernels call, compiled by numba without what Python callers need.

    one signature     signed integers of all kinds are passed as int64
    no entry          neither from Python nor from C, and no file in the cache
    no machine code   a kernel has the code of its parts in its own
    no optimisation   nor before it is in the kernel, where all of it is optimised at once

A kernel's tree of calls has two or three times as many functions as there are kernels, and all
of this again for each of them took half of the time of compiling. Parts of parts would be
optimised once for every level of the tree above them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.typing.templates import infer_global
from numba.extending import models, register_model


class _Part(types.Dispatcher):  # type: ignore[misc]
    """The type of a part in kernels: whatever signed integers it is called with, it gets int64.

    So it is compiled once, and not again for squares of an int8 array, members of an enum and
    constants.
    """

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """The signature of a call; the arguments are cast to it."""
        return super().get_call_type(
            context, tuple(map(_widened, args)), {name: _widened(kws[name]) for name in kws}
        )


register_model(_Part)(models.OpaqueModel)


def _widened(argument: Any) -> Any:
    """The type that an argument of a part is cast to."""
    signed = isinstance(argument, types.IntEnumMember) or argument in types.signed_domain
    return types.int64 if signed else types.unliteral(argument)  # type: ignore[no-untyped-call]


class _Library(JITCodeLibrary):  # type: ignore[misc]
    """The code of a part: to be linked into kernels, and never turned into machine code.

    numba has no word for that; this leaves out all that follows the linking of its own parts.
    """

    def _optimize_final_module(self) -> None:
        """Do nothing: the kernel's module is optimised."""

    def _finalize_final_module(self) -> None:
        self._finalized = True

    @property
    def codegen(self) -> Any:
        """Return a null address of the function's environment."""
        return self

    def set_env(self, env_name: str, env: Any) -> None:
        """Do nothing."""


class _Compiler(Compiler):  # type: ignore[misc]
    """numba's compiler, into a library of that kind."""

    def __init__(self, typing: Any, target: Any, library: Any, *arguments: Any) -> None:
        library = _Library(target.codegen(), "part")  # type: ignore[no-untyped-call]
        super().__init__(typing, target, library, *arguments)  # type: ignore[no-untyped-call]


_parts: list[Callable[..., Any]] = []
"""The compiled parts: numba's types do not keep them alive."""


def compile_part(function: Callable[..., Any], **options: Any) -> None:
    """Let kernels call a function; it is compiled with these options of `numba.njit`."""
    options |= {"pipeline_class": _Compiler, "no_cpython_wrapper": True}
    compiled = njit(**options)(function)
    _parts.append(compiled)
    infer_global(function, _Part(compiled))  # type: ignore[no-untyped-call]
