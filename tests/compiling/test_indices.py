"""Kernels that count no references count all indices from the front; others as Python does."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numba import njit

from tbgen.compiling import internals, jit

Reader = Callable[..., int]


def read(values, at):  # type: ignore[no-untyped-def]
    """An element."""
    return values[at]


def test_before_the_first_element_is_not_the_last() -> None:
    assert internals.has_indices()
    jit.prepare_compiler()
    if jit.CHECK_BOUNDS:
        pytest.skip("an index out of bounds is an error here")
    compiled: Reader = njit(boundscheck=False, **jit._BORROWS)(read)
    values = np.arange(5)
    assert compiled(values[2:], -1) == 1
    assert compiled(values[2:], 1) == 3


def test_elsewhere_indices_are_those_of_python() -> None:
    compiled: Reader = njit(boundscheck=False)(read)
    assert compiled(np.arange(5)[2:], -1) == 4
