# mypy: allow-untyped-defs, allow-untyped-calls
"""The codes of tables, unpacked: which there are, and the place of each slot's among them.

    file  --tile by tile, each block's codes looked up in a palette-->  places in it

Each side of a table has a palette of its own, since a side rarely has more than the 256 different
values that a byte tells apart. Of the table that is proven the places are written where its ranks
are to be. What captures lead to is only looked up: it stays as places, and of a table only the
sides are there that a capture gives the move to. Where a byte is not enough, all is unpacked once
more, into two. What the places are worth is in `values`, what else the proof holds in `arrays`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tbgen.compiling.jit import part
from tbgen.compiling.lending import lent
from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material
from tbgen.tables.blocks import Codes, NumbersOf
from tbgen.tables.codes import CodeSpace, LimitExceededError
from tbgen.tables.names import Metric

BYTE = 256
"""Places that one byte tells apart."""

SLACK = 64
"""Ranks beyond the planes: whole vectors are read where the last row ends."""


_MOST_PLACES = 1 << 16
"""Places that a palette may have: two bytes tell them apart."""

_NO_CODE = 1 << 62
"""Greater than every code."""

_PIECE = 1 << 20
"""Numbers that are made wider or narrower at a time."""


class Table(Protocol):
    """A finished table, in a file or in memory."""

    @property
    def layout(self) -> Layout:
        """Its index."""

    @property
    def code_space(self) -> CodeSpace:
        """Return how it codes values."""

    @property
    def metric(self) -> Metric:
        """Return what its distances count to."""

    def tiles(self, side: int) -> int:
        """Into how many tiles the codes of a side are divided."""

    def tile(self, side: int, number: int, numbers_of: NumbersOf) -> Sequence[tuple[int, Codes]]:
        """The codes of a tile: for each run of slots the first one, and (n,) numbers.

        Anything may be said of slots that hold no canonical position.

        numbers_of : says what is to stand there in place of codes, all different
        """


Supporting = Callable[[Material], Table]
"""Opens the table of a material that a capture leads to; only asked for those that need one."""


Classify = Callable[[NDArray[np.int64]], NDArray[np.int64]]
"""`classify(codes)`: a number for each of (n,) codes, the same for those that share a place."""


class Palette:
    """The different codes of some slots, or classes of them, in the order in which they were met.

    A class stands under the first of its codes that was met.
    """

    def __init__(self, dtype: DTypeLike, classify: Classify) -> None:
        """An empty one, whose places are told as numbers of a type.

        Where that is too narrow, they are told without their upper bits.
        """
        self._classify = classify
        self._codes: list[int] = []
        self._place_of_class: dict[int, int] = {}
        # Ascending codes and the place of each; the last is beyond all codes.
        self._known = np.full(1, _NO_CODE), np.zeros(1, dtype)

    def places_of(self, codes: Codes) -> NDArray[Any]:
        """(n,): the places of codes, all different.

        Raises `LimitExceededError` where 16 bits do not tell them apart.
        """
        known, places = self._known
        at = known.searchsorted(codes)
        is_new = known[at] != codes
        if not is_new.any():
            return places[at]
        self._add(codes[is_new].astype(np.int64))
        return self.places_of(codes)

    def _add(self, new: NDArray[np.int64]) -> None:
        """Give places to codes that have none."""
        places = []
        for code, each in zip(new.tolist(), self._classify(new).tolist(), strict=True):
            place = self._place_of_class.setdefault(each, len(self._codes))
            if place == len(self._codes):
                self._codes.append(code)
            places.append(place)
        if len(self._codes) > _MOST_PLACES:
            raise LimitExceededError("a table has more different values than 16 bits tell apart")
        known, of_known = self._known
        codes = np.concatenate([known[:-1], new])
        order = np.argsort(codes)
        told = np.concatenate([of_known[:-1], np.array(places).astype(of_known.dtype)])
        self._known = np.append(codes[order], _NO_CODE), np.append(told[order], told[:1])

    def __len__(self) -> int:
        """Return how many places there are."""
        return len(self._codes)

    def list_codes(self) -> NDArray[np.int64]:
        """int64 (n,): the codes by place, of a class the one under which it stands."""
        return np.array(self._codes, np.int64)


@lent
class Supports(NamedTuple):
    """The tables that captures lead to. Shapes: T tables, this one included; S slots of the others.

    The planes of each of the others begin where `Arrays.tables` says, one per side to move; what
    no capture leads to is not there.
    """

    places: NDArray[Any]
    """uint8 or uint16 (S,): the place of each slot in the palette of its table and side."""
    ranks: NDArray[Any]
    """ranks (T, 2, 2, places): what the places of a plane, by the side to move there, are worth
    where Red or Black is to move here (`values`): the other one where colours are swapped."""


@part
def rank_after_capture(table, to_move, here, slot, arrays):
    """The rank of a slot of a supporting table.

    table : int, its number; to_move : int, the side there; here : int, the side whose rank it is
    slot : int, of that table
    """
    supports = arrays.supports
    place = supports.places[arrays.tables[table, to_move] + slot]
    return np.int64(supports.ranks[table, to_move, here, place])


class Room:
    """Room for planes: in memory while there is some left, then in files.

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

    def reserve_twice(self, slots: int) -> NDArray[np.uint8]:
        """Bytes for so many slots, before which there is as much room: for `widened`."""
        return self.reserve(slots, np.uint16).view(np.uint8)[slots:]


def whole_room(numbers: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """Return the memory with the room before it: two bytes for each number, whatever they hold."""
    assert isinstance(numbers.base, np.ndarray)
    wide = np.asarray(numbers.base)
    assert wide.dtype == np.uint16
    return wide


def widened(numbers: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """Return the numbers in two bytes each, in the room that `reserve_twice` has left.

    `numbers` are overwritten.
    """
    wide = whole_room(numbers)
    for at in range(0, len(numbers), _PIECE):
        # What is written ends before what is still to be read.
        wide[at : at + _PIECE] = numbers[at : at + _PIECE].copy()
    return wide


class Source(NamedTuple):
    """One side of a table that is unpacked."""

    table: Table
    side: int
    first: int
    """The place of its first slot."""
    classify: Classify


def unpack(
    sources: Sequence[Source], places: NDArray[Any]
) -> tuple[NDArray[Any], list[NDArray[np.int64]]]:
    """Write planes as places in palettes; where they stand, and the codes of each by place.

    They stand in `places`, or in two bytes each (`whole_room`) if one does not tell them apart. By
    this thread alone: two of them spend as long, and twice the processor time, since what takes
    long is done in pieces of some 30 microseconds, and the interpreter changes hands between them.

    places : uint8 (slots,) as `Room.reserve_twice` has made them, out

    Raises `LimitExceededError` where 16 bits cannot tell the codes of a plane apart.
    """
    palettes = [Palette(places.dtype, each.classify) for each in sources]
    for each, palette in zip(sources, palettes, strict=True):
        for number in range(each.table.tiles(each.side)):
            for first, run in each.table.tile(each.side, number, palette.places_of):
                at = each.first + first
                places[at : at + len(run)] = run
    if places.itemsize == 1 and max(map(len, palettes), default=0) > BYTE:
        return unpack(sources, whole_room(places))
    return places, [palette.list_codes() for palette in palettes]
