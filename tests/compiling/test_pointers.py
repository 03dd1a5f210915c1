"""Tuples passed by pointer: kernels read their fields, and write their arrays, in place."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from numba.core.errors import TypingError
from numpy.typing import NDArray

from tbgen.compiling.jit import borrowing_kernel, by_pointer, kernel, part


@by_pointer
class Inner(NamedTuple):
    """Tuple passed by pointer inside another."""

    cube: NDArray[np.int16]
    scale: float


@by_pointer
class Outer(NamedTuple):
    """Tuple passed by pointer, with a field of every kind that kernels can read."""

    wide: NDArray[Any]
    flag: bool
    small: NDArray[np.int8]
    inner: Inner
    pair: tuple[NDArray[np.int32], NDArray[np.int32]]
    number: int
    columns: NDArray[np.float64]
    plain: None


@part
def _add(outer, left):  # type: ignore[no-untyped-def]
    """Add `number` and `small[left]` to `wide[left, 0]`, and return the row before, `left - 1`."""
    outer.wide[left, 0] += outer.small[left] + outer.number
    return left - 1


@part
def _weigh(inner, a, b, c):  # type: ignore[no-untyped-def]
    """Return an element of `inner.cube` times `inner.scale`."""
    return inner.cube[a, b, c] * inner.scale


@borrowing_kernel
def read(outer, out):  # type: ignore[no-untyped-def]
    """Compute `wide[:, 0] += small + number`, and write values from fields but `plain` into `out`.

    out : float64 (6,), out
    """
    left = len(outer.small) - 1
    while left >= 0:
        left = _add(outer, left)
    inner = outer.inner
    first, second = outer.pair
    out[0] = _weigh(inner, 1, 2, 3)
    out[1] = first[1] - second[0]
    out[2] = outer.columns[2, 1]
    out[3] = 1.0 if outer.flag else -1.0
    out[4] = outer.wide.size + 10 * outer.wide.ndim + 100 * inner.cube.shape[1]
    # A view shares memory with the array.
    row = outer.wide[3]
    out[5] = row[1] + inner.cube[1, 2:, 1].sum()


def _make(dtype: type, *, flag: bool) -> Outer:
    cube = np.arange(2 * 3 * 4, dtype=np.int16).reshape(2, 3, 4)
    pair = np.array([3, 5], np.int32), np.array([7], np.int32)
    columns = np.asfortranarray(np.arange(12.0).reshape(4, 3))
    return Outer(
        np.arange(10, dtype=dtype).reshape(5, 2), flag, np.array([1, -2, 3, -4, 5], np.int8),
        Inner(cube, 0.5), pair, 100, columns, None,
    )  # fmt: skip


@pytest.mark.parametrize("flag", [False, True])
@pytest.mark.parametrize("dtype", [np.int64, np.uint16])
def test_fields_are_read_and_arrays_written_in_place(dtype: type, flag: bool) -> None:
    outer, out = _make(dtype, flag=flag), np.zeros(6)
    expected = outer.wide.copy()
    expected[:, 0] += (outer.small.astype(np.int64) + 100).astype(dtype)
    read(outer, out)
    assert (outer.wide == expected).all()
    cube = outer.inner.cube
    assert out.tolist() == [
        cube[1, 2, 3] / 2, 5 - 7, 7.0, 1.0 if flag else -1.0, 10 + 20 + 300,
        expected[3, 1] + cube[1, 2:, 1].sum(),
    ]  # fmt: skip


def test_each_type_of_a_field_has_its_own_compilation() -> None:
    read(_make(np.int32, flag=True), np.zeros(6))
    mutable = _make(np.int32, flag=True)
    mutable.columns.flags.writeable = False
    out = np.zeros(6)
    read(mutable, out)
    assert out[2] == 7.0


@borrowing_kernel
def misread(outer):  # type: ignore[no-untyped-def]
    """Read a field that the tuple lacks, so that compilation must fail with an error."""
    return outer.nothing


@kernel
def count(inner):  # type: ignore[no-untyped-def]
    """Read a tuple by pointer in a kernel with reference counting; compilation must fail."""
    return inner.cube.size


def test_invalid_uses_are_errors_of_compilation() -> None:
    inner = _make(np.int64, flag=True).inner
    with pytest.raises(TypingError, match="nothing"):
        misread(inner)
    with pytest.raises(TypeError, match="borrow"):
        count(inner)
