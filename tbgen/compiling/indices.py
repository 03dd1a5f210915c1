# mypy: allow-untyped-calls
"""Indices of kernels count from the front: a negative one is an error, not a place from the end.

numba looks at every signed index whether it is negative, and adds the length of the array: three
instructions for each dimension of each look, which no kernel of ours wants. A kernel that counts
no references (`jit.borrowing_kernel`) and its parts have none of that, and with bounds checked
(`NUMBA_BOUNDSCHECK=1`) a negative index raises. Other functions, whoever compiles them, are left
as they are.
"""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.core.targetconfig import ConfigStack
from numba.np import arrayobj

_wrapped = arrayobj.fix_integer_index


def _index(context: Any, builder: Any, index_type: Any, index: Any, size: Any) -> Any:
    """The index as a machine word, as `numba.np.arrayobj.fix_integer_index` makes it."""
    flags = ConfigStack.top_or_none()
    if flags is None or flags.nrt:
        return _wrapped(context, builder, index_type, index, size)
    return context.cast(builder, index, index_type, types.intp)


def count_from_the_front() -> None:
    """Have numba take the indices of kernels that count no references as they are."""
    arrayobj.fix_integer_index = _index
