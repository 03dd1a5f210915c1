"""One block of codes: its content, the bytes that are compressed; reading single codes out of it.

    palette   n (2 bytes, 1 to 256), n codes ascending (width bytes each), one byte per slot:
              index of its code in the palette; omitted if n is 1
    planes    0 (2 bytes), then the lowest byte of every code, then the next byte, ...
              for a block of more than 256 codes

Slots without a position (code 0) are filled before encoding: no block contains code 0.

zstd compresses contents with parameters `FAST` when a table is built, `DENSE` when it is published,
`SMALLEST` for win-draw-loss files, `COMPARING` for samples. A zstd frame states the size of its
content. Checksums are in the block table, not in frames (docs/format.md, decision 14).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import zstandard
from numpy.typing import NDArray

from tbgen.tables.codes import CodeSpace

Codes = NDArray[Any]
"""An array of codes: uint8, uint16 or uint32."""

Encode = Callable[[Codes, int], bytes]
"""Function `encode(codes, otherwise)` that returns the content of a block of `codes`.

`otherwise` is the code that fills a block without any position (`fill`). Called from any thread.
"""

NumbersOf = Callable[[Codes], Codes]
"""Function that maps distinct codes (n,) to the numbers (n,) that replace them (`palettes`)."""

MAX_PALETTE = 256
MAX_BLOCK_BYTES = 1 << 16
"""Most bytes of a block's content: a single probe unpacks at most this many."""
BLOCK_SLOTS = 48600
"""Slots per block of a table: 540 rows of ninety squares, which zstd unpacks in 60 microseconds."""
_COUNT_BYTES = 2


class BlockError(Exception):
    """An invalid content, or the content of a block with another number of slots than expected."""


def fill(codes: Codes, otherwise: int) -> Codes:
    """Return codes in which each 0 is replaced by the last other code before it.

    Leading zeros become the first other code. If all codes are 0, all become `otherwise`. This
    makes long runs of one code, which compress well.
    """
    held = codes != 0
    first = int(held.argmax())
    if not held[first]:
        return np.full_like(codes, otherwise)
    # 16 bits suffice for the indices in blocks of distances, which have at most 2**16 slots.
    source: Codes = np.arange(codes.size, dtype=np.uint16 if codes.size <= 1 << 16 else np.int32)
    source *= held
    np.maximum.accumulate(source, out=source)
    source[:first] = first
    return codes.take(source)


def encode_filled(codes: Codes, otherwise: int) -> bytes:
    """Return the content of a block of codes, in which `fill(codes, otherwise)` replaces each 0."""
    codes = fill(codes, otherwise)
    dtype = codes.dtype.newbyteorder("<")
    palette = np.unique(codes).astype(dtype)
    if palette.size > MAX_PALETTE:
        planes = codes.astype(dtype).view(np.uint8).reshape(-1, dtype.itemsize)
        return bytes(_COUNT_BYTES) + planes.T.tobytes()
    head = palette.size.to_bytes(_COUNT_BYTES, "little") + palette.tobytes()
    if palette.size == 1:
        return head
    return head + np.searchsorted(palette, codes).astype(np.uint8).tobytes()


def replace_palette(content: bytes, width: int, codes_of: Callable[[Codes], Codes]) -> bytes | None:
    """Return a content with other codes in its palette; None for a block of planes.

    width : bytes of each code in `content`
    codes_of : maps ascending codes (n,) to their replacements, in the same order
    """
    count = int.from_bytes(content[:_COUNT_BYTES], "little")
    if not count:
        return None
    own = np.frombuffer(content, CodeSpace(width).dtype, count, _COUNT_BYTES)
    return content[:_COUNT_BYTES] + codes_of(own).tobytes() + content[_COUNT_BYTES + own.nbytes :]


def safe_slots(width: int) -> int:
    """Return the greatest number of slots with which no block exceeds `MAX_BLOCK_BYTES`.

    width : bytes per code
    """
    by_planes = (MAX_BLOCK_BYTES - _COUNT_BYTES) // width
    return min(by_planes, MAX_BLOCK_BYTES - _COUNT_BYTES - MAX_PALETTE * width)


class Block:
    """A decoded block of codes; `nbytes` is its approximate size in memory."""

    __slots__ = ("_content", "_indices", "_values", "constant", "nbytes")

    def __init__(self, content: bytes, slots: int, width: int) -> None:
        """Check and keep the content of a block of `slots` slots; raises `BlockError`.

        width : bytes per code
        """
        dtype = CodeSpace(width).dtype
        count = int.from_bytes(content[:_COUNT_BYTES], "little")
        self.constant: int | None = None
        """Code of all slots if the palette has only this code, else None."""
        self.nbytes = len(content) + 512
        if count == 0:
            if len(content) != _COUNT_BYTES + slots * width:
                raise BlockError("the block has the wrong size")
            planes = np.frombuffer(content, np.uint8, offset=_COUNT_BYTES).reshape(width, slots)
            self._values: Codes = np.ascontiguousarray(planes.T).view(dtype).ravel()
            self._indices: NDArray[np.uint8] | None = None
            if not self._values.all():
                raise BlockError("the block contains code 0")
            return
        first = _COUNT_BYTES + count * width
        if count > MAX_PALETTE or len(content) != first + (slots if count > 1 else 0):
            raise BlockError("the block has the wrong size")
        self._content = content
        self._values = np.frombuffer(content, dtype, count, _COUNT_BYTES)
        self._indices = np.frombuffer(content, np.uint8, offset=first)
        if self._values[0] == 0 or (self._values[1:] <= self._values[:-1]).any():
            raise BlockError("the codes of the palette do not ascend")
        if count == 1:
            self.constant = int(self._values[0])
        elif int(self._indices.max()) >= count:
            raise BlockError("the block has an index beyond its palette")

    @property
    def packed(self) -> NDArray[np.uint8]:
        """uint8 (bytes,): the block as the compiled reader `tbgen.probing.kernels` needs it.

        For a block with a palette this is its content. For a block of planes it is 0 (2 bytes), and
        then the codes of all slots, each with its bytes together.
        """
        if self._indices is not None:
            return np.frombuffer(self._content, np.uint8)
        return np.concatenate([np.zeros(_COUNT_BYTES, np.uint8), self._values.view(np.uint8)])

    def code(self, index: int) -> int:
        """Return the code of slot `index` of the block."""
        if self.constant is not None:
            return self.constant
        return self._values.item(index if self._indices is None else self._indices.item(index))

    def codes(self, indices: NDArray[np.int64]) -> Codes:
        """Return the codes (n,) at `indices` (n,) in the block."""
        if self.constant is not None:
            return np.full(len(indices), self.constant, self._values.dtype)
        return self._values[indices if self._indices is None else self._indices[indices]]

    def write_to(self, out: Codes, numbers_of: NumbersOf | None = None) -> None:
        """Write the codes of all slots, or their numbers by `numbers_of`, into `out` (slots,)."""
        if self._indices is not None:
            numbers = self._values if numbers_of is None else numbers_of(self._values)
            if len(numbers) == 1:
                out[:] = numbers
            else:
                # All indices are in range. Mode "wrap" is the fastest: 25 microseconds, not 35.
                numbers.take(self._indices, out=out, mode="wrap")
        elif numbers_of is None:
            out[:] = self._values
        else:
            codes, indices = np.unique(self._values, return_inverse=True)
            numbers_of(codes).take(indices, out=out, mode="wrap")


@dataclass(frozen=True, slots=True)
class DistanceCodec(CodeSpace):
    """Conversion between the codes of a table and the content of its blocks."""

    max_slots: ClassVar[int] = MAX_BLOCK_BYTES
    may_be_plain: ClassVar[bool] = False
    """True if blocks may be stored uncompressed, each in `max_content` bytes."""

    def max_content(self, slots: int) -> int:
        """Return the largest possible size of the content of a block of `slots` slots, in bytes."""
        longest = max(slots * self.width, MAX_PALETTE * self.width + slots)
        return min(MAX_BLOCK_BYTES, _COUNT_BYTES + longest)

    def constant_content(self, code: int) -> bytes:
        """Return the content of a block in which every slot has the code `code`."""
        return (1).to_bytes(_COUNT_BYTES, "little") + code.to_bytes(self.width, "little")

    def constant_code(self, content: bytes) -> int | None:
        """Return the code that all slots of a content share; None if they differ."""
        if len(content) != _COUNT_BYTES + self.width or content[:_COUNT_BYTES] != b"\1\0":
            return None
        return int.from_bytes(content[_COUNT_BYTES:], "little")

    def block(self, content: bytes, slots: int) -> Block:
        """Check and decode the content of a block of `slots` slots; raises `BlockError`."""
        return Block(content, slots, self.width)


# -- compression -------------------------------------------------------------------------------

Parameters = zstandard.ZstdCompressionParameters

_COMMON = {"window_log": 16, "write_content_size": True, "write_checksum": False}
"""Parameters shared by `FAST` and `DENSE`. The window is 64 KiB, the largest size of a block."""

FAST: Parameters = Parameters(
    **_COMMON, hash_log=15, chain_log=16, search_log=4, min_match=5, target_length=64,
    strategy=zstandard.STRATEGY_LAZY2,
)  # fmt: skip
"""Parameters of a lazy parse: a quarter of the fastest optimal parse's time, 7 % more bytes."""

DENSE: Parameters = Parameters(
    **_COMMON, hash_log=14, chain_log=16, search_log=5, min_match=3, target_length=256,
    strategy=zstandard.STRATEGY_BTOPT,
)  # fmt: skip
"""Parameters of a deep optimal parse: a ninth smaller than `FAST`, ten times slower."""

SMALLEST: Parameters = Parameters.from_level(
    19, source_size=1 << 16, write_content_size=True, write_checksum=False
)
"""Parameters of zstd level 19 (decision 11)."""

COMPARING: Parameters = Parameters(compression_level=1)
"""Fast parameters to compare arrangements; dense parameters choose no better arrangement."""


class Compressor(threading.local):
    """Compressor of blocks, with one zstd compressor for each thread: threads cannot share one."""

    def __init__(self, parameters: Parameters) -> None:
        """Create the compressor of a thread; `threading.local` calls it in each thread."""
        self.compress = zstandard.ZstdCompressor(compression_params=parameters).compress
        """Compress bytes to one zstd frame."""
