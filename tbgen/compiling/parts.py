"""Parts: functions that only kernels call, compiled by numba without an interface to Python.

    one signature     signed integers of all kinds are passed as int64
    no entry          neither from Python nor from C, and no file in the cache
    no machine code   a part is linked into each kernel that calls it
    no optimisation   except within the kernel

There are two or three times as many parts as kernels. Machine code and entry points of parts took
half of the compile time. A part that other parts call would be optimised again at every level.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from numba import njit, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.typing.templates import infer_global
from numba.extending import models, register_model

# Importing this module fails if numba lacks one of these undocumented names (`jit`).
_USED = (
    JITCodeLibrary._finalize_final_module, JITCodeLibrary._optimize_final_module,
    types.Dispatcher.get_call_type, types.IntEnumMember, types.signed_domain,
)  # fmt: skip

if list(inspect.signature(Compiler).parameters)[2:3] != ["library"]:
    raise ImportError("numba's compiler has another signature")


class _Part(types.Dispatcher):  # type: ignore[misc]
    """numba type of a part: its parameters are int64 for all signed integers.

    So the part is compiled once for elements of int8 arrays, members of an enum and constants.
    """

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """Return the signature of a call, to which numba casts the arguments."""
        return super().get_call_type(
            context, tuple(map(_widened, args)), {name: _widened(kws[name]) for name in kws}
        )


register_model(_Part)(models.OpaqueModel)


def _widened(argument: Any) -> Any:
    signed = isinstance(argument, types.IntEnumMember) or argument in types.signed_domain
    return types.int64 if signed else types.unliteral(argument)  # type: ignore[no-untyped-call]


class _Library(JITCodeLibrary):  # type: ignore[misc]
    """Code library of a part, which numba links into the kernels that call it.

    Overrides the steps after linking, optimisation and machine code, to do nothing.
    """

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True

    @property
    def codegen(self) -> Any:
        """The library itself, so that numba's compiler calls its `set_env`."""
        return self

    def set_env(self, env_name: str, env: Any) -> None:
        """Do nothing: a part has no environment (Python globals) of its own."""


class _Compiler(Compiler):  # type: ignore[misc]
    """numba's compiler, changed to put the code of a part into a `_Library`."""

    def __init__(self, typing: Any, target: Any, library: Any, *arguments: Any) -> None:
        library = _Library(target.codegen(), "part")  # type: ignore[no-untyped-call]
        super().__init__(typing, target, library, *arguments)  # type: ignore[no-untyped-call]


_parts: list[Callable[..., Any]] = []
"""The compiled parts; the list keeps them alive, since numba's types refer to them weakly."""


def compile_part(function: Callable[..., Any], **options: Any) -> None:
    """Make a function callable from kernels, as a part; `options` are those of `numba.njit`."""
    options |= {"pipeline_class": _Compiler, "no_cpython_wrapper": True}
    compiled = njit(**options)(function)
    _parts.append(compiled)
    infer_global(function, _Part(compiled))  # type: ignore[no-untyped-call]
