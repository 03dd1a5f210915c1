"""Encoding of blocks: the interface that a reader and a writer need of either kind of file.

    `Coding`     distances (`blocks.py`) or outcomes (`outcomes.py`), as bytes
    `AnyBlock`   a decoded block of either

A *code* is 1 or more; 0 stands for a slot without a position while a file is written, and never
appears in one. Nothing here packs or unpacks.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tbgen.tables.blocks import Codes, NumbersOf


class AnyBlock(Protocol):
    """A decoded block, kept as small as it was before compression."""

    nbytes: int
    """What it takes in memory, about."""

    @property
    def constant(self) -> int | None:
        """The code of all slots, where the block was stored as one code."""

    def code(self, index: int) -> int:
        """The code of the block's slot `index`."""

    def codes(self, indices: NDArray[np.int64]) -> Codes:
        """The codes of many slots of the block."""

    def write_to(self, out: Codes, numbers_of: NumbersOf | None = None) -> None:
        """Write all codes of the block, or what stands for them, into `out`, shape (slots,)."""


class Coding(Protocol):
    """Conversion of codes to the bytes of a block, and back."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of a plane of codes."""

    @property
    def top(self) -> int:
        """The largest code."""

    @property
    def draw(self) -> int:
        """The code of a draw."""

    @property
    def max_slots(self) -> int:
        """The most slots that a block may have."""

    def max_content(self, slots: int) -> int:
        """The most bytes that a block of so many slots can have before compression."""

    def plain_length(self, slots: int) -> int | None:
        """The length that says that a block is stored as it is; None where that is never done."""

    def constant_content(self, code: int) -> bytes:
        """The bytes that stand for a block whose slots all have one code."""

    def constant_code(self, content: bytes) -> int | None:
        """The code of a block whose slots all have one, else None."""

    def decode(self, content: bytes, slots: int) -> AnyBlock:
        """Check and wrap the bytes of a block; raises `BlockError`."""
