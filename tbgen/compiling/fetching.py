# mypy: allow-untyped-calls
"""Fetching memory before it is read, which Python has no word for.

A look into a large table at a random place waits for memory about as long as a hundred
additions take; asked for in time, it is there: a quarter of the engine's speed with a hash table
of 256 MiB (docs/measurements/compiling.md). It takes what numba documents of extensions, no more.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_READ, _KEEP, _DATA = 0, 3, 1
"""What LLVM's `prefetch` asks for: to read, into the nearest cache, no instructions."""


@intrinsic  # type: ignore[untyped-decorator]
def fetch(typing: Any, array: Any, index: Any) -> Any:
    """Begin to load the row `index` of an array of two dimensions; a hint, without an effect."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = cgutils.create_struct_proxy(signature.args[0])(context, builder, arguments[0])
        stride = builder.extract_value(view.strides, 0)
        start = builder.ptrtoint(view.data, ir.IntType(64))
        address = builder.add(start, builder.mul(arguments[1], stride))
        pointer = builder.inttoptr(address, ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        takes = ir.FunctionType(ir.VoidType(), [pointer.type, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", [pointer.type], takes)
        builder.call(function, [pointer, number(_READ), number(_KEEP), number(_DATA)])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate
