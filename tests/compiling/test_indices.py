"""Functions of some packages count all indices from the front."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tbgen.compiling import jit


def reader(module: str) -> Callable[[NDArray[np.int64], int], int]:
    """A compiled function of a module that reads an element."""

    def read(values, at):  # type: ignore[no-untyped-def]
        return values[at]

    read.__module__ = module
    return njit(boundscheck=False)(read)  # type: ignore[no-any-return]


def test_before_the_first_element_is_not_the_last() -> None:
    assert jit.HAS_INDICES
    values = np.arange(5)
    assert reader("tbgen.engine.search")(values[2:], -1) == 1
    assert reader("tbgen.engine.search")(values[2:], 1) == 3


def test_elsewhere_indices_are_those_of_python() -> None:
    assert reader("tbgen.rows")(np.arange(5)[2:], -1) == 4
    assert reader("another.engine")(np.arange(5)[2:], -1) == 4
