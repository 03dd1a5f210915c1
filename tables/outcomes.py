"""One block of outcomes: five slots per byte, and reading single outcomes.

    loss 1, draw 2, win 3      codes, ordered by preference like those of distances
    byte = sum of (code - 1) * 3^k, k = 0 to 4       k is the slot's index among the five

A row (slots that differ in one attacker's square alone) has 90 or 55 slots, multiples of five. So
equal rows have equal bytes if their slots are neighbours in the file. After zstd, files have half
the size that they would have with two bits per slot.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbgen.tables.blocks import (
    MAX_BLOCK_BYTES,
    Block,
    BlockError,
    Codes,
    DistanceCodec,
    NumbersOf,
    fill,
)
from tbgen.tables.codes import CodeSpace, Outcome

SLOTS_PER_BYTE = 5
BYTES = 3**SLOTS_PER_BYTE
"""Number of values that a byte of five outcomes can have: 3^5, from 0 to 242."""

LOSS, DRAW, WIN = (int(outcome) + 2 for outcome in Outcome)
"""Codes of the three outcomes."""

_POWERS = tuple(3**k for k in range(SLOTS_PER_BYTE))
_DIGITS = (np.arange(BYTES)[:, None] // np.array(_POWERS) % 3 + 1).astype(np.uint8)
"""uint8 (243, 5): codes of the five slots of every byte."""
_FLAT_DIGITS = _DIGITS.ravel()
_FIVE_DRAWS = sum(_POWERS)
"""Value of a byte of five draws; of five wins it is twice this, of five losses 0."""
_OUTCOMES = np.array([LOSS, DRAW, WIN], np.uint8)


def outcomes_of(codes: Codes, space: CodeSpace) -> NDArray[np.uint8]:
    """Convert the codes of a table (n,) to codes of outcomes; 0 (no position) stays 0."""
    outcomes = np.full(codes.shape, DRAW, np.uint8)
    outcomes[codes > space.draw] = WIN
    outcomes[codes < space.draw] = LOSS
    outcomes[codes == 0] = 0
    return outcomes


def encode_outcomes(codes: Codes, otherwise: int) -> bytes:
    """Return the content of a block of outcome codes, uint8 (slots,), 0 for no position.

    `fill(codes, otherwise)` replaces each 0 first.
    """
    filled = fill(codes, otherwise)
    first = int(filled[0])
    if (filled == first).all():
        return OUTCOMES.constant_content(first)
    digits = np.zeros(-(-filled.size // SLOTS_PER_BYTE) * SLOTS_PER_BYTE, np.uint8)
    np.subtract(filled, 1, out=digits[: filled.size])
    packed = digits[SLOTS_PER_BYTE - 1 :: SLOTS_PER_BYTE].copy()
    for k in range(SLOTS_PER_BYTE - 2, -1, -1):
        packed *= 3
        packed += digits[k::SLOTS_PER_BYTE]
    return packed.tobytes()


class OutcomeBlock:
    """A block of outcomes, kept as its content; `nbytes` is its approximate size in memory."""

    __slots__ = ("_content", "constant", "nbytes")

    def __init__(self, content: bytes, slots: int) -> None:
        """Check and keep the content of a block of `slots` slots; raises `BlockError`."""
        self._content = content
        self.constant = OUTCOMES.constant_code(content)
        """Outcome code of all slots if the block was stored as one outcome, else None."""
        self.nbytes = len(content) + 128
        if self.constant is not None:
            return
        bytes_ = self.packed
        if bytes_.size != -(-slots // SLOTS_PER_BYTE):
            raise BlockError("the block has the wrong size")
        if int(bytes_.max()) >= BYTES:
            raise BlockError("a byte is not five outcomes")
        rest = slots % SLOTS_PER_BYTE
        if rest and int(bytes_[-1]) >= _POWERS[rest]:
            raise BlockError("the block has outcomes beyond its last slot")

    @property
    def packed(self) -> NDArray[np.uint8]:
        """uint8 (bytes,): five slots per byte; meaningless if `constant` is not None."""
        return np.frombuffer(self._content, np.uint8)

    def code(self, index: int) -> int:
        """Return the outcome code of slot `index` of the block."""
        if self.constant is not None:
            return self.constant
        byte, digit = divmod(index, SLOTS_PER_BYTE)
        return self._content[byte] // _POWERS[digit] % 3 + 1

    def codes(self, indices: NDArray[np.int64]) -> Codes:
        """Return the outcome codes (n,) at `indices` (n,) in the block."""
        if self.constant is not None:
            return np.full(len(indices), self.constant, np.uint8)
        return digits_at(self.packed, indices)

    def write_packed(self, out: NDArray[np.uint8]) -> None:
        """Write the outcomes of all slots into `out`, uint8 (bytes,), five slots per byte."""
        if self.constant is not None:
            out[:] = (self.constant - LOSS) * _FIVE_DRAWS
        else:
            out[:] = self.packed

    def write_to(self, out: Codes, numbers_of: NumbersOf | None = None) -> None:
        """Write all outcome codes, or their numbers by `numbers_of`, into `out` (slots,)."""
        if self.constant is not None:
            constant = np.array([self.constant], np.uint8)
            out[:] = constant if numbers_of is None else numbers_of(constant)
            return
        outcomes = _DIGITS.take(self.packed, axis=0).ravel()[: len(out)]
        if numbers_of is None:
            out[:] = outcomes
        else:
            np.take(numbers_of(_OUTCOMES), outcomes - LOSS, out=out, mode="clip")


def digits_at(packed: NDArray[np.uint8], slots: NDArray[np.int64]) -> Codes:
    """Return the outcome codes (n,) of slots (n,) in `packed`, which has five slots per byte."""
    bytes_ = slots // SLOTS_PER_BYTE
    within = slots - SLOTS_PER_BYTE * bytes_
    return _FLAT_DIGITS.take(packed.take(bytes_) * np.int64(SLOTS_PER_BYTE) + within)


class OutcomeCodec:
    """Conversion between outcome codes and the content of blocks.

    Has the attributes and methods of `DistanceCodec` that writers and readers use.
    """

    dtype: np.dtype[Any] = np.dtype(np.uint8)
    top = WIN
    draw = DRAW
    max_slots = SLOTS_PER_BYTE * MAX_BLOCK_BYTES
    may_be_plain = True

    def max_content(self, slots: int) -> int:
        """Return the size in bytes of the content of a block of `slots` slots.

        The content of a block with one outcome is one byte instead (`constant_content`).
        """
        return -(-slots // SLOTS_PER_BYTE)

    def constant_content(self, code: int) -> bytes:
        """Return the content of a block whose slots all have the outcome `code`: one byte > 242."""
        return bytes([BYTES + code])

    def constant_code(self, content: bytes) -> int | None:
        """Return the outcome code that all slots of a content share; None if they differ."""
        if len(content) == 1 and LOSS <= content[0] - BYTES <= WIN:
            return content[0] - BYTES
        return None

    def block(self, content: bytes, slots: int) -> OutcomeBlock:
        """Check and wrap the content of a block of `slots` slots; raises `BlockError`."""
        return OutcomeBlock(content, slots)


OUTCOMES = OutcomeCodec()
"""Conversion between outcomes and blocks that all win-draw-loss files use."""

BlockCodec = DistanceCodec | OutcomeCodec
"""Encoding of the blocks of either kind of file; code 0 is never stored."""

AnyBlock = Block | OutcomeBlock
