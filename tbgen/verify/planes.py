# mypy: allow-untyped-defs, allow-untyped-calls
"""The codes of tables, unpacked: which there are, and the place of each slot's among them.

    file  --tile by tile-->  codes  --pack-->  places in a palette

The palette of the table that is proven is one for both sides, and its places are written where
its ranks are to be. What captures lead to is only looked up: it stays as places, for which a byte
is enough as a rule, since a side rarely has more than 256 different values. What the places are
worth is in `ranks`, what else the proof holds in `arrays`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tbgen.compiling.jit import borrowing_kernel, compile_lock, part
from tbgen.indexing import Side
from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material
from tbgen.indexing.threads import thread_pool
from tbgen.tables.codes import CodeSpace, LimitExceededError
from tbgen.tables.names import Metric

PALETTE = 1 << 17
"""Room of a palette; twice as many as there are places of 16 bits."""

BYTE = 256
"""Places that one byte tells apart."""

SLACK = 64
"""Ranks beyond the planes: whole vectors are read where the last row ends."""


class Table(Protocol):
    """A finished table, in a file or in memory."""

    @property
    def layout(self) -> Layout:
        """Its index."""

    @property
    def code_space(self) -> CodeSpace:
        """How it codes values."""

    @property
    def metric(self) -> Metric:
        """What its distances count to."""

    def tiles(self, side: int) -> int:
        """Into how many tiles the codes of a side are divided."""

    def tile(self, side: int, number: int) -> Sequence[tuple[int, NDArray[Any]]]:
        """The codes of a tile: for each run of slots the first one, and (n,) codes.

        Anything may be said of slots that hold no canonical position.
        """


Supporting = Callable[[Material], Table]
"""Opens the table of a material that a capture leads to; only asked for those that need one."""


class Palette(NamedTuple):
    """The different codes of some slots, in the order in which they were met."""

    codes: NDArray[np.int64]
    """int64 (PALETTE,): a hash table of codes, -1 where it is free."""
    places: NDArray[np.int64]
    """int64 (PALETTE,): the place of each code of the hash table."""
    listed: NDArray[np.int64]
    """int64 (PALETTE,): the codes by place."""
    used: NDArray[np.int64]
    """int64 (1,): how many they are."""

    @classmethod
    def make(cls) -> Palette:
        """An empty one."""
        codes = np.full(PALETTE, -1, np.int64)
        places, listed = np.zeros(PALETTE, np.int64), np.zeros(PALETTE, np.int64)
        return cls(codes, places, listed, np.zeros(1, np.int64))

    def list_codes(self) -> NDArray[np.int64]:
        """int64 (n,): the codes by place."""
        return self.listed[: self.used[0]].copy()


@part
def _place_of(code, limit, palette):
    """The place of a code; -1 where it is new, and there are as many as may be.

    limit : int, how many; palette : Palette, inout
    """
    at = code % PALETTE
    while palette.codes[at] != code:
        if palette.codes[at] < 0:
            count = palette.used[0]
            if count == limit:
                return np.int64(-1)
            palette.codes[at] = code
            palette.places[at] = count
            palette.listed[count] = code
            palette.used[0] = count + 1
            break
        at = (at + 1) % PALETTE
    return palette.places[at]


@borrowing_kernel
def k_pack(codes, palette, places):
    """Write the places of codes; False where the type of `places` cannot tell them apart.

    codes : unsigned (n,); palette : Palette, inout
    places : uint8 or uint16 (n,), out
    """
    limit = BYTE if places.itemsize == 1 else 1 << 16
    for slot in range(codes.size):
        place = _place_of(np.int64(codes[slot]), limit, palette)
        if place < 0:
            return False
        places[slot] = place
    return True


@borrowing_kernel
def k_pack_bytes(codes, palette, low, high):
    """Write the places of codes, byte by byte; False where two bytes cannot tell them apart.

    codes : unsigned (n,); palette : Palette, inout
    low : uint8 (n,), out; high : uint8 (n,), out: all zero before, and only written where it is not
    """
    for slot in range(codes.size):
        place = _place_of(np.int64(codes[slot]), 1 << 16, palette)
        if place < 0:
            return False
        low[slot] = place & (BYTE - 1)
        if place >= BYTE:
            high[slot] = place >> 8
    return True


class Supports(NamedTuple):
    """What captures lead to. Shapes: T tables, this one (number 0) included; S slots of the others.

    The planes of each of the others begin where `Arrays.tables` says, one per side to move.
    """

    low: NDArray[np.uint8]
    """uint8 (S,): the lower byte of each slot's place in the palette of its table and side."""
    high: NDArray[np.uint8]
    """uint8 (S,): the upper byte. Never touched, and so no memory, where the lower one does."""
    is_wide: NDArray[np.bool_]
    """bool (T, 2): whether a plane has more than 256 different codes."""
    ranks: NDArray[Any]
    """ranks (T, 2, places): what the places of a plane are worth (`ranks`)."""


@part
def rank_after_capture(table, to_move, slot, arrays):
    """The rank of a slot of a supporting table.

    table : int, its number; to_move : int, the side; slot : int, of that table
    """
    supports = arrays.supports
    at = arrays.tables[table, to_move] + slot
    place = np.int64(supports.low[at])
    if supports.is_wide[table, to_move]:
        place += BYTE * np.int64(supports.high[at])
    return np.int64(supports.ranks[table, to_move, place])


class Room:
    """Where planes are put: into memory while there is some left, then into files.

    The files have no names, and are gone when nobody uses them. What is never written takes no
    room, here or there; it is counted all the same.
    """

    def __init__(self, memory: int | None = None, folder: Path | None = None) -> None:
        """Begin with so many bytes of memory, None for all that there is."""
        self._left = memory
        self._folder = folder

    def reserve(self, slots: int, dtype: DTypeLike) -> NDArray[Any]:
        """Zeros for so many slots."""
        size = slots * np.dtype(dtype).itemsize
        if self._left is None:
            return np.zeros(slots, dtype)
        if size <= self._left:
            self._left -= size
            return np.zeros(slots, dtype)
        with tempfile.TemporaryFile(dir=self._folder) as file:
            return np.memmap(file, dtype, "w+", shape=slots).view(np.ndarray)


def narrowed(numbers: NDArray[Any], dtype: DTypeLike) -> NDArray[Any]:
    """As many numbers of a type that is no wider, in the same memory from its beginning."""
    return numbers.view(dtype)[: len(numbers)]


def give_back(numbers: NDArray[Any], dtype: DTypeLike) -> NDArray[Any]:
    """The same, when nothing else of `numbers` is used any more: the rest of the memory is free.

    Of a file nothing is given back. Other views of the memory are void afterwards.
    """
    size = len(numbers)
    if numbers.flags.owndata and np.dtype(dtype).itemsize < numbers.itemsize:
        numbers.resize(-(-size * np.dtype(dtype).itemsize // numbers.itemsize), refcheck=False)
    return numbers.view(dtype)[:size]


def unpack_own(
    table: Table, room: Room, dtypes: Sequence[DTypeLike], threads: int
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Both planes as places, with slack, of the first type that can tell them apart; the codes.

    Raises `LimitExceededError` where none can.
    """
    for dtype in dtypes:
        places = room.reserve(len(Side) * table.layout.slots + SLACK, dtype)
        palette = Palette.make()
        if _unpack_both(table, palette, places, threads):
            return places, palette.list_codes()
    raise LimitExceededError("a table has more different values than 16 bits can tell apart")


def _unpack_both(table: Table, palette: Palette, places: NDArray[Any], threads: int) -> bool:
    """Write the places of both planes; whether their type can tell them apart."""

    def write(side: int, first: int, codes: NDArray[Any]) -> bool:
        at = side * table.layout.slots + first
        return bool(k_pack(codes, palette, places[at : at + len(codes)]))

    return all(_over_tiles(table, side, write, threads) for side in Side)


def unpack_side(
    table: Table, side: int, low: NDArray[np.uint8], high: NDArray[np.uint8], threads: int
) -> NDArray[np.int64]:
    """Write the bytes of the places of one plane; its codes.

    Raises `LimitExceededError` where 16 bits cannot tell them apart.
    """
    palette = Palette.make()

    def write(_: int, first: int, codes: NDArray[Any]) -> bool:
        slots = slice(first, first + len(codes))
        return bool(k_pack_bytes(codes, palette, low[slots], high[slots]))

    if not _over_tiles(table, side, write, threads):
        raise LimitExceededError("a table has more different values than 16 bits can tell apart")
    return palette.list_codes()


def _over_tiles(
    table: Table, side: int, write: Callable[[int, int, NDArray[Any]], bool], threads: int
) -> bool:
    """Whether all runs of codes of a side could be written, one after the other.

    write : is given the side, the first slot of a run, and its codes
    """
    turn = Lock()

    def unpack(number: int) -> bool:
        fits = True
        for first, codes in table.tile(side, number):
            with turn:
                fits = fits and write(side, first, codes)
        return fits

    with compile_lock():
        fits = unpack(0)
    with thread_pool(threads) as pool:
        return all([fits, *pool.map(unpack, range(1, table.tiles(side)))])
