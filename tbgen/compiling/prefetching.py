# mypy: allow-untyped-calls
"""Prefetch of memory, which Python cannot express.

Reading a random place of a large table takes as long as a hundred additions, unless its memory is
prefetched: without this, the engine with a hash table of 256 MiB is a fifth slower
(docs/measurements/compiling.md). Only documented extensions of numba are used.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_READ, _NEAREST_CACHE, _DATA = 0, 3, 1
"""Arguments of LLVM's `prefetch` intrinsic after the address: the access is a read, the line goes
into the nearest cache, and it holds data, not instructions.
"""


@intrinsic  # type: ignore[untyped-decorator]
def prefetch(typing: Any, array: Any, index: Any) -> Any:
    """Begin to load the row `index` of a two-dimensional array into the cache; a hint only."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = cgutils.create_struct_proxy(signature.args[0])(context, builder, arguments[0])
        first = cgutils.get_item_pointer(
            context, builder, signature.args[0], view, [arguments[1], cgutils.intp_t(0)]
        )
        pointer = builder.bitcast(first, ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        takes = ir.FunctionType(ir.VoidType(), [pointer.type, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", [pointer.type], takes)
        builder.call(function, [pointer, *map(number, (_READ, _NEAREST_CACHE, _DATA))])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate
