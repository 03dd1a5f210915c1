"""One block of outcomes: five to a byte, and reading single ones out of them.

    loss 1, draw 2, win 3      codes, ordered by preference as those of distances are
    byte = sum of (code - 1) * 3^k, k = 0 to 4       the first of five slots is the least digit

Ninety and 55, the sizes of an inner piece, are multiples of five, so that rows begin with a byte
and alike rows are alike bytes: half the size of two bits a slot once zstd has looked at them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbgen.tables.blocks import (
    MAX_BLOCK_BYTES,
    Block,
    BlockError,
    CodeCoding,
    Codes,
    NumbersOf,
    fill,
)
from tbgen.tables.codes import CodeSpace, Outcome

SLOTS_PER_BYTE = 5
BYTES = 3**SLOTS_PER_BYTE
"""How many different bytes a block may have: 0 to 242."""
MAX_SLOTS = SLOTS_PER_BYTE * MAX_BLOCK_BYTES

LOSS, DRAW, WIN = (int(outcome) + 2 for outcome in Outcome)
"""The codes of outcomes."""

_POWERS = tuple(3**k for k in range(SLOTS_PER_BYTE))
_DIGITS = (np.arange(BYTES)[:, None] // np.array(_POWERS) % 3 + 1).astype(np.uint8)
"""uint8 (243, 5): the codes of the five slots of every byte."""
_FLAT_DIGITS = _DIGITS.ravel()
_ALL_DIGITS = sum(_POWERS)
"""The byte of five draws; of five losses it is 0, of five wins twice this."""
_OUTCOMES = np.array([LOSS, DRAW, WIN], np.uint8)
"""What a block may say, from the least code on."""


def outcome_codes(space: CodeSpace) -> NDArray[np.uint8]:
    """uint8 (256^width,): the outcome of each code of a table; 0 of 0. At most two bytes wide."""
    codes = np.full(space.top + 1, WIN, np.uint8)
    codes[: space.draw] = LOSS
    codes[space.draw], codes[0] = DRAW, 0
    return codes


def outcomes_of(codes: Codes, space: CodeSpace) -> NDArray[np.uint8]:
    """The outcome codes of a table's codes (n,), 0 where there is none."""
    if space.width <= 2:
        return outcome_codes(space).take(codes)
    outcomes = np.full(codes.shape, DRAW, np.uint8)
    outcomes[codes > space.draw] = WIN
    outcomes[codes < space.draw] = LOSS
    outcomes[codes == 0] = 0
    return outcomes


def encode_outcomes(codes: Codes, otherwise: int) -> bytes:
    """The bytes of a block of outcome codes, 0 where there is no position (uint8 (slots,)).

    What is no position carries the outcome before, as in a table; `otherwise` if there is none.
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
    """A decoded block of outcomes."""

    __slots__ = ("_constant", "_content", "nbytes")

    def __init__(self, content: bytes, slots: int) -> None:
        """Check and wrap the bytes of a block; raises `BlockError`."""
        self._content = content
        self._constant = OUTCOMES.constant_code(content)
        self.nbytes = len(content) + 128
        if self._constant is not None:
            return
        bytes_ = self.packed
        if bytes_.size != -(-slots // SLOTS_PER_BYTE):
            raise BlockError("a block of another size")
        if int(bytes_.max()) >= BYTES:
            raise BlockError("a block with a byte that stands for no outcomes")
        rest = slots % SLOTS_PER_BYTE
        if rest and int(bytes_[-1]) >= _POWERS[rest]:
            raise BlockError("a block with outcomes beyond its last slot")

    @property
    def constant(self) -> int | None:
        """The outcome of all slots, where the block was stored as one outcome."""
        return self._constant

    @property
    def packed(self) -> NDArray[np.uint8]:
        """The bytes of the block, five slots each; meaningless where it was stored as one."""
        return np.frombuffer(self._content, np.uint8)

    def code(self, index: int) -> int:
        """The outcome of the block's slot `index`."""
        if self._constant is not None:
            return self._constant
        byte, digit = divmod(index, SLOTS_PER_BYTE)
        return self._content[byte] // _POWERS[digit] % 3 + 1

    def codes(self, indices: NDArray[np.int64]) -> Codes:
        """The outcomes of many slots of the block."""
        if self._constant is not None:
            return np.full(len(indices), self._constant, np.uint8)
        return digits_at(self.packed, indices)

    def write_packed(self, out: NDArray[np.uint8]) -> None:
        """Write the bytes of the block into `out`, five slots each."""
        if self._constant is not None:
            out[:] = (self._constant - LOSS) * _ALL_DIGITS
        else:
            out[:] = self.packed

    def write_to(self, out: Codes, numbers_of: NumbersOf | None = None) -> None:
        """Write all outcomes of the block, or what stands for them, into `out`, shape (slots,)."""
        if self._constant is not None:
            constant = np.array([self._constant], np.uint8)
            out[:] = constant if numbers_of is None else numbers_of(constant)
            return
        outcomes = _DIGITS.take(self.packed, axis=0).ravel()[: len(out)]
        if numbers_of is None:
            out[:] = outcomes
        else:
            np.take(numbers_of(_OUTCOMES), outcomes - LOSS, out=out, mode="clip")


def digits_at(packed: NDArray[np.uint8], slots: NDArray[np.int64]) -> Codes:
    """The outcomes of slots (n,) of bytes that hold five each."""
    places = slots // SLOTS_PER_BYTE
    within = slots - SLOTS_PER_BYTE * places
    return _FLAT_DIGITS.take(packed.take(places) * np.int64(SLOTS_PER_BYTE) + within)


class OutcomeCoding:
    """Conversion of outcomes to the bytes of a block, and back."""

    dtype: np.dtype[Any] = np.dtype(np.uint8)
    top = WIN
    draw = DRAW
    max_slots = MAX_SLOTS

    def max_content(self, slots: int) -> int:
        """The bytes of a block of so many slots."""
        return -(-slots // SLOTS_PER_BYTE)

    def plain_length(self, slots: int) -> int:
        """The length that says that a block is stored as it is."""
        return self.max_content(slots)

    def constant_content(self, code: int) -> bytes:
        """A byte that begins no other block."""
        return bytes([BYTES + code])

    def constant_code(self, content: bytes) -> int | None:
        """The outcome of a block whose slots all have one, else None."""
        if len(content) == 1 and LOSS <= content[0] - BYTES <= WIN:
            return content[0] - BYTES
        return None

    def block(self, content: bytes, slots: int) -> OutcomeBlock:
        """Check and wrap the bytes of a block; raises `BlockError`."""
        return OutcomeBlock(content, slots)


OUTCOMES = OutcomeCoding()
"""The coding of all win-draw-loss files."""

Coding = CodeCoding | OutcomeCoding
"""Encoding of the blocks of either kind of file. A code is 1 or more: 0 stands for a slot without a
position while a file is written, and never appears in one."""

AnyBlock = Block | OutcomeBlock
"""A decoded block of either."""
