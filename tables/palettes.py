"""Compact numbers for the codes that occur, so that planes of values take less memory.

    codes      0   1   2   32768   65533   65535      two bytes each, ascending
    numbers    0   1   2       3       4       5      one byte each

A *plane* is an array with a code, or its number, for each slot of one side to move. Numbers keep
the order of codes: the best of several values is also the largest number. Most tables with
repetition rules have codes of two bytes, but fewer than 256 different ones. Files store codes: a
block of numbers is encoded, and then the list of different numbers at its start (`blocks`) is
replaced by their codes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbgen.tables.blocks import Codes, Encode, encode_filled, replace_palette
from tbgen.tables.codes import CodeSpace


@dataclass(frozen=True)
class Palette:
    """Ascending list of the codes that a plane may contain; the number of a code is its index."""

    code_space: CodeSpace
    codes: NDArray[np.int64]
    """(numbers,) codes in ascending order, always with 0 (no position) and the draw."""

    @classmethod
    def of(cls, code_space: CodeSpace, codes: Iterable[int]) -> Palette:
        """Return the palette with `codes`, 0 (no position) and the code of a draw."""
        return cls(code_space, np.array(sorted({0, code_space.draw, *codes}), np.int64))

    @cached_property
    def draw(self) -> int:
        """Number of the code of a draw."""
        return int(self.numbers([self.code_space.draw])[0])

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of a plane of numbers: the narrowest sufficient unsigned integers."""
        return np.min_scalar_type(len(self.codes) - 1)

    def numbers(self, codes: Collection[int]) -> NDArray[np.int64]:
        """Return the numbers (n,) of n codes, all of which are in the palette."""
        return np.searchsorted(self.codes, list(codes))

    @cached_property
    def all_codes(self) -> Codes:
        """Codes of all numbers, (numbers,), with the dtype of the code space."""
        return self.codes.astype(self.code_space.dtype)

    def codes_of(self, numbers: Codes) -> Codes:
        """Return the codes of n numbers, (n,), with the dtype of the code space."""
        return self.all_codes.take(numbers)

    def encoder(self, encode: Encode) -> Encode:
        """Return an encoder for blocks of numbers, with the result of `encode` for their codes.

        `encode` is `encode_filled` or an equivalent. The encoder's parameter `otherwise` is a code.
        """

        def encode_numbers(numbers: Codes, otherwise: int) -> bytes:
            content = encode(numbers, int(self.numbers([otherwise])[0]))
            block = replace_palette(content, self.dtype.itemsize, self.codes_of)
            return encode_filled(self.codes_of(numbers), otherwise) if block is None else block

        return encode_numbers
