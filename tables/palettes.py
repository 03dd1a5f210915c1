"""Numbers for the codes that occur: a plane is as wide as there are different values.

    codes      0   1   2   32768   65533   65535      of two bytes, ascending
    numbers    0   1   2       3       4       5      of one

The best of several values is the largest code, and the largest number, too. A table with rules
has codes of two bytes, and as a rule fewer than 256 different ones. Its blocks have palettes of
their own (`blocks.py`): a block of numbers becomes one of codes by another palette.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbgen.tables.blocks import Codes, Encode, encode_filled, with_palette
from tbgen.tables.codes import CodeSpace


@dataclass(frozen=True)
class Palette:
    """The codes that a plane may hold, each with its number."""

    code_space: CodeSpace
    codes: NDArray[np.int64]
    """(numbers,) ascending; codes[0] is 0, for no position, and the draw is among them."""

    @classmethod
    def of(cls, code_space: CodeSpace, codes: Iterable[int]) -> Palette:
        """The palette of some codes, those that are in every palette aside."""
        return cls(code_space, np.array(sorted({0, code_space.draw, *codes}), np.int64))

    @cached_property
    def draw(self) -> int:
        """The number of a draw."""
        return int(self.numbers([self.code_space.draw])[0])

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The type of a plane of numbers: the narrowest that holds them."""
        return np.min_scalar_type(len(self.codes) - 1)

    def numbers(self, codes: Collection[int]) -> NDArray[np.int64]:
        """(n,) the numbers of n codes, all of which are in it."""
        return np.searchsorted(self.codes, list(codes))

    @cached_property
    def all_codes(self) -> Codes:
        """(numbers,) its codes, of the type of the code space."""
        return self.codes.astype(self.code_space.dtype)

    def codes_of(self, numbers: Codes) -> Codes:
        """(n,) the codes of n numbers, of the type of the code space."""
        return self.all_codes.take(numbers)

    def encoder(self, encode: Encode) -> Encode:
        """Return an encoder of numbers whose bytes are those that `encode` makes of their codes."""

        def encode_numbers(numbers: Codes, otherwise: int) -> bytes:
            content = encode(numbers, int(self.numbers([otherwise])[0]))
            block = with_palette(content, self.dtype.itemsize, self.codes_of)
            return encode_filled(self.codes_of(numbers), otherwise) if block is None else block

        return encode_numbers
