"""What numba has found out of an operation on numbers, it need not look for again.

For every `+` and `<` of every kernel numba goes through all that ever declared such an operation,
dates and arrays of strings included, until something fits: a fifth of the time of compiling. The
answer for numbers depends on nothing but their types. So does that for elements of arrays, which
are a twentieth.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

from numba.core import types

_NUMBERS = types.Number, types.Boolean
_ELEMENTS = operator.getitem, operator.setitem

_resolve = types.Function.get_call_type
_resolved: WeakKeyDictionary[types.Function, dict[tuple[Any, ...], Any]] = WeakKeyDictionary()
"""The signatures found, by the types of the arguments; numba makes a new `types.Function` of an
operation that learns something."""


def _remember(
    operation: types.Function, context: Any, args: tuple[Any, ...], kws: Mapping[str, Any]
) -> Any:
    """The signature of a call, as `types.Function.get_call_type` finds it."""
    if kws or not _is_settled(operation, args):
        return _resolve(operation, context, args, kws)
    found = _resolved.setdefault(operation, {})
    key = (context, *args)
    if key not in found:
        found[key] = _resolve(operation, context, args, kws)
    return found[key]


def _is_settled(operation: types.Function, args: tuple[Any, ...]) -> bool:
    """Whether nothing but the types of the arguments has to do with the signature."""
    if operation.typing_key in _ELEMENTS and isinstance(args[0], types.Array):
        _, index, *value = args
        args = *(index.types if isinstance(index, types.BaseTuple) else [index]), *value
    return all(isinstance(each, _NUMBERS) for each in args)


def remember_operations() -> None:
    """Have numba look for each operation on numbers once."""
    types.Function.get_call_type = _remember
