"""One block of values: the bytes that are compressed, and reading single values out of them.

    palette   n (2 bytes, 1 to 256), n codes ascending (width bytes each), one byte per slot:
              index of its code in the palette; omitted if n is 1
    planes    0 (2 bytes), then the lowest byte of every code, then the next byte, ...
              for a block of more than 256 codes

Slots without a position (code 0) are filled before encoding: no block contains code 0.

zstd compresses blocks: `FAST` when a table is built, `DENSE` to publish it, `SMALLEST` those of
win-draw-loss files; `COMPARING` samples. No digest depends on these parameters. Frames state their
size. Checksums are in the block table, not in frames (docs/format.md, decision 14).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import zstandard
from numpy.typing import NDArray

from tbgen.tables.codes import CodeSpace

Codes = NDArray[Any]
"""An array of codes: uint8, uint16 or uint32."""

Encode = Callable[[Codes, int], bytes]
"""Function `encode(codes, otherwise)` that returns the uncompressed bytes of a block.
`otherwise` is the code that fills a block in which no slot has a position. Called from any
thread.
"""

NumbersOf = Callable[[Codes], Codes]
"""Function that returns the numbers which replace distinct codes (n,), in the same order."""

MAX_PALETTE = 256
MAX_BLOCK_BYTES = 1 << 16
"""Most bytes of a block before compression: a single probe unpacks at most this many."""
BLOCK_SLOTS = 48600
"""Slots per block, 540 rows of ninety squares, which zstd unpacks in 60 microseconds."""
_COUNT_BYTES = 2


class BlockError(Exception):
    """Error for bytes that cannot be decoded as a block of the expected number of slots."""


def code_dtype(width: int) -> np.dtype[Any]:
    """Return the dtype of codes of a width in bytes: little-endian unsigned integers."""
    return np.dtype(f"<u{width}")


def fill(codes: Codes, otherwise: int) -> Codes:
    """Replace every 0 by the last other code before it; leading zeros by the first other code.

    Runs of one code compress to almost nothing, and no code is added to the palette. A block in
    which all codes are 0 is filled with `otherwise`.
    """
    held = codes != 0
    first = int(held.argmax())
    if not held[first]:
        return np.full_like(codes, otherwise)
    # Blocks of distances have at most 2**16 slots.
    source: Codes = np.arange(codes.size, dtype=np.uint16 if codes.size <= 1 << 16 else np.int32)
    source *= held
    np.maximum.accumulate(source, out=source)
    source[:first] = first
    return codes.take(source)


def encode_block(codes: Codes) -> bytes:
    """Return the bytes of a block of codes (slots,), uint8, uint16 or uint32, none of them 0."""
    width = codes.dtype.itemsize
    palette = np.unique(codes).astype(code_dtype(width))
    if palette.size > MAX_PALETTE:
        planes = codes.astype(code_dtype(width)).view(np.uint8).reshape(-1, width)
        return bytes(_COUNT_BYTES) + planes.T.tobytes()
    head = palette.size.to_bytes(_COUNT_BYTES, "little") + palette.tobytes()
    if palette.size == 1:
        return head
    return head + np.searchsorted(palette, codes).astype(np.uint8).tobytes()


def encode_filled(codes: Codes, otherwise: int) -> bytes:
    """Return the bytes of a block of codes in which `fill` replaces each 0 (no position)."""
    return encode_block(fill(codes, otherwise))


def replace_palette(content: bytes, width: int, codes_of: Callable[[Codes], Codes]) -> bytes | None:
    """Replace every code in the palette of a palette block; return None for a block of planes.

    width : bytes of each code in `content`
    codes_of : maps ascending codes (n,) to their replacements, in the same order
    """
    count = int.from_bytes(content[:_COUNT_BYTES], "little")
    if not count:
        return None
    own = np.frombuffer(content, code_dtype(width), count, _COUNT_BYTES)
    return content[:_COUNT_BYTES] + codes_of(own).tobytes() + content[_COUNT_BYTES + own.nbytes :]


def safe_slots(width: int) -> int:
    """Return the most slots of a block within `MAX_BLOCK_BYTES`, for codes of `width` bytes."""
    by_planes = (MAX_BLOCK_BYTES - _COUNT_BYTES) // width
    return min(by_planes, MAX_BLOCK_BYTES - _COUNT_BYTES - MAX_PALETTE * width)


class Block:
    """A decoded block of codes: a palette and one index per slot, or an array of its codes.

    The array is kept for a block of planes. A palette block keeps its bytes before compression.
    """

    __slots__ = ("_codes", "_content", "_first", "_palette", "_values", "constant", "nbytes")

    def __init__(self, content: bytes, slots: int, width: int) -> None:
        """Check and wrap the bytes of a block; raises `BlockError`."""
        dtype = code_dtype(width)
        count = int.from_bytes(content[:_COUNT_BYTES], "little")
        self._content = content
        self._first = _COUNT_BYTES + count * width
        self._codes: Codes | None = None
        self._palette: Sequence[int] = ()
        self._values: Codes = np.empty(0, dtype)
        self.constant: int | None = None
        """Code of all slots, or None if they differ."""
        self.nbytes = len(content) + 256
        if count == 0:
            if len(content) != _COUNT_BYTES + slots * width:
                raise BlockError("the block has the wrong size")
            planes = np.frombuffer(content, np.uint8, offset=_COUNT_BYTES).reshape(width, slots)
            self._codes = np.ascontiguousarray(planes.T).view(dtype).ravel()
            if not self._codes.all():
                raise BlockError("the block contains code 0")
            self._content = b""
            return
        expected = self._first + (slots if count > 1 else 0)
        if count > MAX_PALETTE or len(content) != expected:
            raise BlockError("the block has the wrong size")
        self._values = np.frombuffer(content, dtype, count, _COUNT_BYTES)
        if self._values[0] == 0 or (self._values[1:] <= self._values[:-1]).any():
            raise BlockError("the codes of the palette do not ascend")
        if count > 1 and int(self._indices.max()) >= count:
            raise BlockError("the block has an index beyond its palette")
        self._palette = self._values.tolist()
        if count == 1:
            self.constant = self._palette[0]
        self.nbytes += 40 * count

    @property
    def _indices(self) -> NDArray[np.uint8]:
        """uint8 (slots,): index in the palette of every slot's code."""
        return np.frombuffer(self._content, np.uint8, offset=self._first)

    @property
    def packed(self) -> NDArray[np.uint8]:
        """Bytes of the block as the compiled reader `tbgen.probing.kernels` reads them.

        The palette form has the bytes before compression. A block of planes has 0 (2 bytes), then
        its codes in order.
        """
        if self._codes is None:
            return np.frombuffer(self._content, np.uint8)
        return np.concatenate([np.zeros(_COUNT_BYTES, np.uint8), self._codes.view(np.uint8)])

    def code(self, index: int) -> int:
        """Return the code of slot `index` of the block."""
        if self._codes is not None:
            return int(self._codes[index])
        if self.constant is not None:
            return self.constant
        return self._palette[self._content[self._first + index]]

    def codes(self, indices: NDArray[np.int64]) -> Codes:
        """Return the codes of slots (n,) of the block."""
        if self._codes is not None:
            return self._codes[indices]
        if self.constant is not None:
            return np.full(len(indices), self.constant, self._values.dtype)
        return self._values[self._indices[indices]]

    def write_to(self, out: Codes, numbers_of: NumbersOf | None = None) -> None:
        """Write all codes, or what `numbers_of` returns for them, into `out`, shape (slots,)."""
        if self._codes is None:
            numbers = self._values if numbers_of is None else numbers_of(self._values)
            if len(numbers) == 1:
                out[:] = numbers
            else:
                # All indices are in range: mode "wrap" is the fastest, 25 microseconds for 35.
                numbers.take(self._indices, out=out, mode="wrap")
        elif numbers_of is None:
            out[:] = self._codes
        else:
            codes, indices = np.unique(self._codes, return_inverse=True)
            numbers_of(codes).take(indices, out=out, mode="wrap")


@dataclass(frozen=True, slots=True)
class DistanceCodec(CodeSpace):
    """Conversion between the codes of distances and the bytes of blocks."""

    max_slots: ClassVar[int] = MAX_BLOCK_BYTES
    """Most slots of a block."""
    may_be_plain: ClassVar[bool] = False
    """Whether blocks may be stored uncompressed; they then have `max_content` bytes."""

    def max_content(self, slots: int) -> int:
        """Return an upper bound of the uncompressed bytes of a block of `slots` slots."""
        longest = max(slots * self.width, MAX_PALETTE * self.width + slots)
        return min(MAX_BLOCK_BYTES, _COUNT_BYTES + longest)

    def constant_content(self, code: int) -> bytes:
        """Return the uncompressed bytes of a block in which every slot has the code `code`."""
        return (1).to_bytes(_COUNT_BYTES, "little") + code.to_bytes(self.width, "little")

    def constant_code(self, content: bytes) -> int | None:
        """Return the code that all slots of a block share, from its bytes; None if they differ."""
        if len(content) != _COUNT_BYTES + self.width or content[:_COUNT_BYTES] != b"\1\0":
            return None
        return int.from_bytes(content[_COUNT_BYTES:], "little")

    def block(self, content: bytes, slots: int) -> Block:
        """Check and wrap the bytes of a block; raises `BlockError`."""
        return Block(content, slots, self.width)


# -- compression -------------------------------------------------------------------------------

Parameters = zstandard.ZstdCompressionParameters

_COMMON = {"window_log": 16, "write_content_size": True, "write_checksum": False}
"""Parameters shared by `FAST` and `DENSE`. The window is 64 KiB, the largest size of a block."""

FAST: Parameters = Parameters(
    **_COMMON, hash_log=15, chain_log=16, search_log=4, min_match=5, target_length=64,
    strategy=zstandard.STRATEGY_LAZY2,
)  # fmt: skip
"""Parameters of a fast parse: a quarter of an optimal parse's time, and 7 % more bytes."""

DENSE: Parameters = Parameters(
    **_COMMON, hash_log=14, chain_log=16, search_log=5, min_match=3, target_length=256,
    strategy=zstandard.STRATEGY_BTOPT,
)  # fmt: skip
"""Parameters of a long optimal parse: a ninth smaller than `FAST`, ten times slower."""

SMALLEST: Parameters = Parameters.from_level(
    19, source_size=1 << 16, write_content_size=True, write_checksum=False
)
"""Parameters of the strongest parse of zstd (decision 11)."""

COMPARING: Parameters = Parameters(compression_level=1)
"""Fast parameters, as good for a comparison of arrangements as dense ones."""


class Compressor(threading.local):
    """Compressor of blocks with one zstd compressor per thread, since threads cannot share one."""

    def __init__(self, parameters: Parameters) -> None:
        """Create a compressor with zstd parameters."""
        self.compress = zstandard.ZstdCompressor(compression_params=parameters).compress
        """Compress bytes to one zstd frame."""
