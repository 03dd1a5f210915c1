# mypy: allow-untyped-defs, allow-untyped-calls
"""Sets of numbers as bits, eight to a byte.

What several threads write lies in bytes of their own: they have leads, eight at a time.
"""

from __future__ import annotations

import numpy as np

from tbgen.compiling.jit import part
from tbgen.verify.arrays import Members, Numbers


@part
def set_bit(bits, number):
    """Put a number into a set.

    bits : uint8 (n / 8,), inout; number : int
    """
    bits[number >> 3] |= np.uint8(1 << (number & 7))


@part
def has_bit(bits, number):
    """Return whether a number is in a set.

    bits : uint8 (n / 8,); number : int
    """
    return (bits[number >> 3] >> (number & 7)) & 1 != 0


def add_bits(bits: np.ndarray, numbers: Numbers) -> None:
    """Put numbers into a set."""
    np.bitwise_or.at(bits, numbers >> 3, (1 << (numbers & 7)).astype(np.uint8))


def remove_bits(bits: np.ndarray, numbers: Numbers) -> None:
    """Take numbers out of a set."""
    np.bitwise_and.at(bits, numbers >> 3, (255 - (1 << (numbers & 7))).astype(np.uint8))


def has_bits(bits: np.ndarray, numbers: Numbers) -> Members:
    """Return whether each of some numbers is in a set, bool (n,)."""
    found: Members = (bits[numbers >> 3] >> (numbers & 7) & 1).astype(np.bool_)
    return found
