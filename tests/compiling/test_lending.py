"""What is lent is the value itself: arrays are written through the address."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import borrowing_kernel, part
from tbgen.compiling.lending import borrow, lend


class Both(NamedTuple):
    """Two arrays of different kinds, and a number."""

    wide: NDArray[np.int64]
    small: NDArray[np.int8]
    number: int


@part
def add(both, left):  # type: ignore[no-untyped-def]
    """Add up from behind, `left` elements."""
    values = borrow(both)
    values.wide[left, 0] += values.small[left] + values.number
    return left - 1


@borrowing_kernel
def add_all(wide, small, number):  # type: ignore[no-untyped-def]
    """`wide[:, 0] += small + number`."""
    both = lend(Both(wide, small, number))
    left = len(small) - 1
    while left >= 0:
        left = add(both, left)


def test_arrays_are_written_through_the_address() -> None:
    wide, small = np.arange(10).reshape(5, 2), np.array([1, -2, 3, -4, 5], np.int8)
    expected = wide.copy()
    expected[:, 0] += small + 100
    add_all(wide, small, 100)
    assert (wide == expected).all()
