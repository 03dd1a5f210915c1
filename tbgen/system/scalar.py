"""Scalar functions: one source, run as plain Python or compiled into kernels.

A function marked `@scalar` takes integers, and arrays or `bytes` of integers. It remains an
ordinary Python function, so that probing from Python needs no compiler. Importing
`tbgen.compiling.jit`, and numba with it, makes all marked functions callable from kernels. So the
index and the rules have one definition each.
"""

from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

_marked: list[Callable[..., Any]] = []
_compilers: list[Callable[[Callable[..., Any]], Any]] = []


def scalar(function: Function) -> Function:
    """Mark a function as callable from kernels, too; return it unchanged."""
    _marked.append(function)
    for compiler in _compilers:
        compiler(function)
    return function


def use_compiler(compiler: Callable[[Callable[..., Any]], Any]) -> None:
    """Call `compiler` for every marked function, now and whenever one is marked later.

    `compiler` makes a function callable from kernels.
    """
    _compilers.append(compiler)
    for function in _marked:
        compiler(function)
