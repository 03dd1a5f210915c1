"""Scalar functions: one source, run as plain Python or compiled into kernels.

A function marked `@scalar` works on integers and on arrays or `bytes` of integers, and stays an
ordinary Python function: importing it costs nothing, and probing from Python calls it as it is.
When `tbgen.compiling.jit` is imported (and numba with it), every marked function also becomes
callable from compiled kernels, so that the index and the rules are written down once.
"""

from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

_marked: list[Callable[..., Any]] = []
_compilers: list[Callable[[Callable[..., Any]], Any]] = []


def scalar(function: Function) -> Function:
    """Mark a function of integers and arrays as callable from compiled kernels too."""
    _marked.append(function)
    for compiler in _compilers:
        compiler(function)
    return function


def use_compiler(compiler: Callable[[Callable[..., Any]], Any]) -> None:
    """Pass every marked function, past and future, to `compiler`."""
    _compilers.append(compiler)
    for function in _marked:
        compiler(function)
