# mypy: allow-untyped-calls
"""Handing on the address of a value instead of the value, which Python does anyway.

numba hands arrays on as seven and more numbers each, with every call that is not compiled into its
caller. What calls itself over and over spends a twentieth of its time on that for nine arrays.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


@intrinsic  # type: ignore[untyped-decorator]
def lend(typing: Any, value: Any) -> Any:
    """The address of a value, for what the function that lends it calls until it returns."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        model = context.data_model_manager[signature.args[0]]
        return cgutils.alloca_once_value(builder, model.as_data(builder, arguments[0]))

    return types.CPointer(value)(value), generate


@intrinsic  # type: ignore[untyped-decorator]
def borrow(typing: Any, address: Any) -> Any:
    """The value at an address that has been lent; no references to its arrays are counted."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        model = context.data_model_manager[signature.return_type]
        return model.load_from_data_pointer(builder, arguments[0])

    return address.dtype(address), generate
