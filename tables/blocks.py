"""One block of values: the bytes that are compressed, and reading single values out of them.

    palette   n (2 bytes, 1 to 256), n codes ascending (width bytes each), one byte per slot:
              the place of its code in the palette; left out where n is 1
    planes    0 (2 bytes), then the lowest byte of every code, then the next byte, ...
              where a block has more than 256 codes

Slots that hold no position (code 0) are filled before: no block contains code 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tbgen.tables.codes import CodeSpace

Codes = NDArray[Any]
"""An array of codes: uint8, uint16 or uint32."""

Encode = Callable[[Codes, int], bytes]
"""`encode(codes, draw)`: the bytes of a block before compression; called from any thread."""

NumbersOf = Callable[[Codes], Codes]
"""`numbers_of(codes)`: what to say in the place of (n,) codes, all different."""

MAX_PALETTE = 256
MAX_BLOCK_BYTES = 1 << 16
"""The most bytes of a block before compression: what one answer has to unpack."""
BLOCK_SLOTS = 48600
"""Slots per block, 540 rows of ninety squares: fewer than would fit, because zstd needs 60
microseconds for so many (docs/format.md)."""
_COUNT_BYTES = 2


class BlockError(Exception):
    """Bytes that are no block of the expected size."""


def code_dtype(width: int) -> np.dtype[Any]:
    """The little-endian unsigned integers of a code width."""
    return np.dtype(f"<u{width}")


def fill(codes: Codes, otherwise: int) -> Codes:
    """The codes with every 0 replaced by the code before it (the first code, at the start).

    A run costs a compressor next to nothing, and no code is added to the palette. A block without
    any position becomes `otherwise`.
    """
    held = codes != 0
    first = int(held.argmax())
    if not held[first]:
        return np.full_like(codes, otherwise)
    # A block of distances has no more slots than 16 bits number.
    source: Codes = np.arange(codes.size, dtype=np.uint16 if codes.size <= 1 << 16 else np.int32)
    source *= held
    np.maximum.accumulate(source, out=source)
    source[:first] = first
    return codes.take(source)


def encode_block(codes: Codes) -> bytes:
    """The bytes of a block of codes, none of them 0 (uint8, uint16 or uint32, shape (slots,))."""
    width = codes.dtype.itemsize
    if width <= 2:
        occurs = np.zeros(256**width, np.bool_)
        occurs[codes] = True
        palette = np.flatnonzero(occurs).astype(code_dtype(width))
    else:
        palette = np.unique(codes).astype(code_dtype(width))
    if palette.size > MAX_PALETTE:
        planes = codes.astype(code_dtype(width)).view(np.uint8).reshape(-1, width)
        return bytes(_COUNT_BYTES) + planes.T.tobytes()
    head = palette.size.to_bytes(_COUNT_BYTES, "little") + palette.tobytes()
    if palette.size == 1:
        return head
    if width <= 2:
        place = np.zeros(256**width, np.uint8)
        place[palette] = np.arange(palette.size)
        return head + place.take(codes).tobytes()
    return head + np.searchsorted(palette, codes).astype(np.uint8).tobytes()


def encode_filled(codes: Codes, otherwise: int) -> bytes:
    """The bytes of a block of codes, 0 where there is no position."""
    return encode_block(fill(codes, otherwise))


def with_palette(content: bytes, width: int, codes_of: Callable[[Codes], Codes]) -> bytes | None:
    """A palette block, every code in its palette replaced; None for a block of planes.

    width : bytes of its own codes
    codes_of : what to put in the place of some of these, (n,) ascending, in the same order
    """
    count = int.from_bytes(content[:_COUNT_BYTES], "little")
    if not count:
        return None
    own = np.frombuffer(content, code_dtype(width), count, _COUNT_BYTES)
    return content[:_COUNT_BYTES] + codes_of(own).tobytes() + content[_COUNT_BYTES + own.nbytes :]


def safe_slots(width: int) -> int:
    """The most slots of which every block fits in `MAX_BLOCK_BYTES`, whatever their codes."""
    by_planes = (MAX_BLOCK_BYTES - _COUNT_BYTES) // width
    return min(by_planes, MAX_BLOCK_BYTES - _COUNT_BYTES - MAX_PALETTE * width)


class Block:
    """A decoded block, kept as small as it was before compression."""

    __slots__ = ("_codes", "_content", "_first", "_palette", "_values", "nbytes")

    def __init__(self, content: bytes, slots: int, width: int) -> None:
        """Check and wrap the bytes of a block; raises `BlockError`."""
        dtype = code_dtype(width)
        count = int.from_bytes(content[:_COUNT_BYTES], "little")
        self._content = content
        self._first = _COUNT_BYTES + count * width
        self._codes: Codes | None = None
        self._palette: Sequence[int] = ()
        self._values: Codes = np.empty(0, dtype)
        self.nbytes = len(content) + 256
        if count == 0:
            if len(content) != _COUNT_BYTES + slots * width:
                raise BlockError("a block of another size")
            planes = np.frombuffer(content, np.uint8, offset=_COUNT_BYTES).reshape(width, slots)
            self._codes = np.ascontiguousarray(planes.T).view(dtype).ravel()
            if not self._codes.all():
                raise BlockError("a block with a code that stands for no value")
            self._content = b""
            return
        expected = self._first + (slots if count > 1 else 0)
        if count > MAX_PALETTE or len(content) != expected:
            raise BlockError("a block of another size")
        self._values = np.frombuffer(content, dtype, count, _COUNT_BYTES)
        if self._values[0] == 0 or (self._values[1:] <= self._values[:-1]).any():
            raise BlockError("a block whose codes are out of order")
        if count > 1 and int(self._places.max()) >= count:
            raise BlockError("a block that names a code it does not have")
        self._palette = self._values.tolist()
        self.nbytes += 40 * count

    @property
    def _places(self) -> NDArray[np.uint8]:
        """The place in the palette of every slot's code."""
        return np.frombuffer(self._content, np.uint8, offset=self._first)

    @property
    def constant(self) -> int | None:
        """The code of all slots, where the block has one only."""
        return self._palette[0] if len(self._palette) == 1 else None

    @property
    def packed(self) -> NDArray[np.uint8]:
        """A palette block as it was before compression; else 0 (2 bytes), then code after code."""
        if self._codes is None:
            return np.frombuffer(self._content, np.uint8)
        return np.concatenate([np.zeros(_COUNT_BYTES, np.uint8), self._codes.view(np.uint8)])

    def code(self, index: int) -> int:
        """The code of the block's slot `index`."""
        if self._codes is not None:
            return int(self._codes[index])
        if len(self._palette) == 1:
            return self._palette[0]
        return self._palette[self._content[self._first + index]]

    def codes(self, indices: NDArray[np.int64]) -> Codes:
        """The codes of many slots of the block."""
        if self._codes is not None:
            return self._codes[indices]
        if len(self._palette) == 1:
            return np.full(len(indices), self._palette[0], self._values.dtype)
        return self._values[self._places[indices]]

    def write_to(self, out: Codes, numbers_of: NumbersOf | None = None) -> None:
        """Write all codes of the block, or what stands for them, into `out`, shape (slots,)."""
        if self._codes is None:
            numbers = self._values if numbers_of is None else numbers_of(self._values)
            if len(numbers) == 1:
                out[:] = numbers
            else:
                # No place is beyond: the mode is the one that takes least, 25 microseconds for 35.
                numbers.take(self._places, out=out, mode="wrap")
        elif numbers_of is None:
            out[:] = self._codes
        else:
            codes, places = np.unique(self._codes, return_inverse=True)
            numbers_of(codes).take(places, out=out, mode="wrap")


@dataclass(frozen=True, slots=True)
class CodeCoding(CodeSpace):
    """Conversion of distances to the bytes of a block, and back."""

    max_slots: ClassVar[int] = MAX_BLOCK_BYTES
    """The most slots that a block may have."""

    def max_content(self, slots: int) -> int:
        """The most bytes that a block of so many slots can have before compression."""
        longest = max(slots * self.width, MAX_PALETTE * self.width + slots)
        return min(MAX_BLOCK_BYTES, _COUNT_BYTES + longest)

    def plain_length(self, slots: int) -> int | None:
        """The length of a block that is stored as it is: None, as distances never are."""
        del slots
        return None

    def constant_content(self, code: int) -> bytes:
        """The bytes that stand for a block whose slots all have one code."""
        return (1).to_bytes(_COUNT_BYTES, "little") + code.to_bytes(self.width, "little")

    def constant_code(self, content: bytes) -> int | None:
        """The code of a block whose slots all have one, else None."""
        if len(content) != _COUNT_BYTES + self.width or content[:_COUNT_BYTES] != b"\1\0":
            return None
        return int.from_bytes(content[_COUNT_BYTES:], "little")

    def block(self, content: bytes, slots: int) -> Block:
        """Check and wrap the bytes of a block; raises `BlockError`."""
        return Block(content, slots, self.width)
