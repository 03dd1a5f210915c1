# mypy: allow-untyped-calls
"""Indices that count from the front only, for kernels that use no others.

In Python `array[-1]` is the last element, so numba compares every index with zero before it uses
it. That costs an instruction or three at every access, and keeps loops over part of an array from
being turned into vectors. Functions of the packages named here are compiled without: there a
negative index is a mistake like one that is too large (`NUMBA_BOUNDSCHECK=1` shows both).
"""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.np import arrayobj

PACKAGES = ("tbgen.engine",)
"""Their functions have no negative index."""

_SYMBOLS = tuple(
    "_ZN" + "".join(f"{len(word)}{word}" for word in package.split(".")) for package in PACKAGES
)
"""How the names of these functions begin in machine code."""

_fix = arrayobj.fix_integer_index


def _taken_as_it_is(context: Any, builder: Any, kind: Any, index: Any, size: Any) -> Any:
    """The index as an address needs it, as `arrayobj.fix_integer_index` finds it."""
    if builder.function.name.startswith(_SYMBOLS):
        return context.cast(builder, index, kind, types.intp)
    return _fix(context, builder, kind, index, size)


def count_from_the_front() -> None:
    """Have numba compile the functions of `PACKAGES` like that."""
    arrayobj.fix_integer_index = _taken_as_it_is
