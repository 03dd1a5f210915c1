# mypy: allow-untyped-defs, allow-untyped-calls
"""Everything that the proof of one material reads, as a few flat arrays for the kernels.

    codes of each side  ->  palettes, ranks of all keys  ->  planes of places, tile by tile

    ranks        the planes of this table (number 0)
    supports     those of the tables that captures lead to, one after another
    tables       one line per table: where its planes and its descriptor are
    descriptors  the layouts of all tables (`tbgen.indexing.slots`), one after another
    pieces       this table's pieces in the order of `Layout.piece_codes`
    captures     one line per piece: the table that its capture leads to, and how to list the
                 remaining pieces there
    values       what ranks stand for (`values`)

Beside them stand the few figures of the layout and of the rule set that kernels ask for. The
planes are copies: as loaded, they hold places in the palette of their side, and of other tables
only the sides are there that a capture gives the move to. `complete` makes ranks of those of table
0, and `settle` marks. What the statistics of a table count says which codes have a place; any other
one is no value, and refutes the position that has it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tbgen.compiling.jit import part
from tbgen.compiling.lending import lent
from tbgen.indexing import InputError, Side
from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material
from tbgen.indexing.rulesets import Rules
from tbgen.indexing.squares import PieceType, piece_kind, piece_side
from tbgen.tables.blocks import Codes, NumbersOf
from tbgen.tables.codes import CodeSpace
from tbgen.tables.names import Metric, RuleSet
from tbgen.verify.values import (
    NO_KEY,
    Marks,
    Values,
    after_conversion,
    keys_of_codes,
    make_marks,
    make_values,
    orders_of_keys,
)

# Columns of `tables`. Where the planes begin, in `ranks` or in `supports`, is in the columns 0 (Red
# to move) and 1.
FIRST_WORD, END_WORD, TABLE_COLUMNS = 2, 3, 4

# Columns of `captures`; from SOURCES on, which of this table's pieces each piece there is.
TABLE, SWAPPED, SOURCES = 0, 1, 2

NO_TABLE = -1
"""The number of the table of materials in which every position is drawn."""

SLACK = 64
"""Ranks beyond the planes: whole vectors are read where the last row ends."""


Numbers = NDArray[np.int64]
"""Nodes (2 * slot + side to move), orders, keys, or places in a list of them."""

NOBODY: Numbers = np.empty(0, np.int64)

ManyNumbers = NDArray[np.uint32] | NDArray[np.int64]
"""Nodes of which there may be millions: four bytes each, where that is enough."""

Members = NDArray[np.bool_]
"""A set: one flag for each of a list."""


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

    def occurring_codes(self, side: int) -> Collection[int]:
        """The codes that positions with a side to move have, and perhaps others."""

    def tiles(self, side: int) -> int:
        """Into how many tiles the codes of a side are divided."""

    def tile(self, side: int, number: int, numbers_of: NumbersOf) -> Sequence[tuple[int, Codes]]:
        """The codes of a tile: for each run of slots the first one, and (n,) numbers.

        Anything may be said of slots that hold no canonical position.

        numbers_of : says what is to stand there in place of codes
        """


Supporting = Callable[[Material], Table]
"""Opens the table of a material that a capture leads to; only asked for those that need one."""

Plane = tuple[int, int]
"""A table's number, and the side to move there."""


class Palette(NamedTuple):
    """The values that one side of a table has, each with a place. Place 0 is of no value."""

    codes: Numbers
    """int64 (n + 1,), ascending, without 0; the last is beyond all codes."""
    places: Numbers
    """int64 (n + 1,): the place of each code, 0 of the last."""
    keys: Numbers
    """int64 (places,): the key of each place, that of no value first."""

    @classmethod
    def of(cls, table: Table, side: int, *, converts: bool = False) -> Palette:
        """That of a side; converts : whether keys are worth what conversions into them are."""
        codes = np.array(sorted({*table.occurring_codes(side)} - {0}), np.int64)
        keys = keys_of_codes(codes, table.code_space)
        found, places = np.unique(after_conversion(keys) if converts else keys, return_inverse=True)
        return cls(
            np.append(codes, np.iinfo(np.int64).max),
            np.append(places + 1, 0),
            np.concatenate([[NO_KEY], found]),
        )

    def places_of(self, codes: Codes) -> Numbers:
        """int64 (n,): the places of codes, 0 for those that have none."""
        at = self.codes.searchsorted(codes)
        return np.where(self.codes[at] == codes, self.places[at], 0)

    def count_codes(self, counts: Numbers) -> dict[int, int]:
        """Return how many positions have each code, by how many have each place (places,)."""
        found = zip(self.codes[:-1].tolist(), counts[self.places[:-1]].tolist(), strict=True)
        return {code: count for code, count in found if count}


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


@lent
class Arrays(NamedTuple):
    """The arrays of the module's picture, and figures, as kernels take them.

    Shapes: S slots of both planes, T tables, P pieces, L leads.
    """

    ranks: NDArray[Any]
    """uint8 or uint16 (S + SLACK,): the planes; `complete` writes to them."""
    supports: Supports
    tables: NDArray[np.int64]
    """int64 (T, TABLE_COLUMNS)."""
    descriptors: NDArray[np.int64]
    """int64 (words,): the layouts of all tables."""
    pieces: NDArray[np.int64]
    """int64 (P,): piece codes, in the order of `Layout.piece_codes`."""
    captures: NDArray[np.int64]
    """int64 (P, SOURCES + P): the columns named above; NO_TABLE for captures that draw."""
    stakes: NDArray[np.bool_]
    """bool (P,): whether the capture of the piece may win by the rules of repetition."""
    values: Values
    hung: NDArray[np.uint8]
    """uint8 (2, slots / 8): slots with a piece under attack that can be chased, or that may win by
    rules with a capture, by side to move; none but from `complete` to `settle`."""
    seek_patterns: bool
    """The rules know perpetual checks."""
    seek_chases: bool
    """The rules know perpetual chases."""
    chase_rules: int
    """Bits of the rule set (`tbgen.indexing.rulesets`)."""


class Loaded(NamedTuple):
    """The tables of a proof."""

    arrays: Arrays
    marks: Marks
    palettes: tuple[Palette, Palette]
    """Those of this table's sides."""


@part
def rank_after_capture(table, to_move, here, slot, arrays):
    """The rank of a slot of a supporting table.

    table : int, its number; to_move : int, the side there; here : int, the side whose rank it is
    slot : int, of that table
    """
    supports = arrays.supports
    place = supports.places[arrays.tables[table, to_move] + slot]
    return np.int64(supports.ranks[table, to_move, here, place])


def list_captures(
    layouts: Sequence[Layout],
    children: Mapping[tuple[int, PieceType], Material],
    numbers: Mapping[str, int],
) -> NDArray[np.int64]:
    """`Arrays.captures`.

    layouts : of all tables, by number; of this one first
    children : what is left after each capture; numbers : of the tables, by name of material
    """
    pieces = layouts[0].piece_codes
    captures = np.full((len(pieces), SOURCES + len(pieces)), NO_TABLE, np.int64)
    for taken, code in enumerate(pieces):
        if piece_kind(code) == PieceType.KING:
            continue
        child = children[piece_side(code), PieceType(piece_kind(code))]
        number = numbers.get(child.name, NO_TABLE)
        if number != NO_TABLE:
            swapped, sources = _list_survivors(layouts[0], taken, layouts[number])
            captures[taken, TABLE], captures[taken, SWAPPED] = number, swapped
            captures[taken, SOURCES : SOURCES + len(sources)] = sources
    return captures


def _plane_after(line: NDArray[np.int64], code: int) -> Plane:
    """Return which plane a capture leads to; line : of `captures`; code : of who is taken."""
    return int(line[TABLE]), piece_side(code) ^ int(line[SWAPPED])


def _list_survivors(layout: Layout, taken: int, child: Layout) -> tuple[bool, list[int]]:
    """Return how a capture's child lists the pieces: colours swapped or not, and who is who.

    The child's sides change places where its material names the other one first.
    """
    left = list(layout.armies)
    code = layout.piece_codes[taken]
    left[piece_side(code)] = left[piece_side(code)].without(piece_kind(code))
    swapped = tuple(left) != child.armies
    survivors = [p for p in range(len(layout.piece_codes)) if p != taken]
    sources = []
    for wanted in child.piece_codes:
        own = wanted ^ 8 if swapped else wanted
        source = next(p for p in survivors if layout.piece_codes[p] == own)
        survivors.remove(source)
        sources.append(source)
    return swapped, sources


class Room:
    """Room for planes: in memory while there is some left, then in files.

    The files have no names, and are gone when nobody uses them.
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


def unpack(table: Table, side: int, palette: Palette, places: NDArray[Any]) -> None:
    """Write one side of a table as places in a palette.

    By this thread alone: two of them spend as long, and twice the processor time, since what takes
    long is done in pieces of some 30 microseconds, and the interpreter changes hands between them.

    places : uint8 or uint16 (slots,), out
    """
    for number in range(table.tiles(side)):
        for first, run in table.tile(
            side, number, lambda codes: palette.places_of(codes).astype(places.dtype)
        ):
            places[first : first + len(run)] = run


def _list_tables(layouts: list[Layout], planes: list[Plane]) -> tuple[NDArray[np.int64], int]:
    """`Arrays.tables`, and how many slots the planes have that captures lead to (`planes`)."""
    tables = np.zeros((len(layouts), TABLE_COLUMNS), np.int64)
    tables[0, 1] = layouts[0].slots
    ends = np.cumsum([layout.descriptor.size for layout in layouts])
    tables[:, END_WORD], tables[1:, FIRST_WORD] = ends, ends[:-1]
    slots = 0
    for plane in planes:
        tables[plane] = slots
        slots += layouts[plane[0]].slots
    return tables, slots


def gather(
    table: Table,
    supporting: Supporting,
    rule_set: RuleSet,
    memory: int | None = None,
    folder: Path | None = None,
) -> Loaded:
    """Load a table and those that captures lead to, to be proven under some rules.

    memory : bytes; planes for which there is none left are kept in files without names
    folder : where that file is, by default where the system keeps temporary files

    Raises `InputError` for a rule set without rules, `LimitExceededError` for more values than
    ranks of 16 bits tell apart, and what `supporting` raises.
    """
    if rule_set.rules is None:
        raise InputError("nothing is proven under unknown rules", "name the rules of the table")
    layout, room = table.layout, Room(memory, folder)
    pieces = layout.piece_codes
    children = Material(*layout.armies).captures()
    wanted = {child.name: child for child in children.values() if child.needs_table}
    loaded = [table, *(supporting(child) for child in wanted.values())]
    layouts = [each.layout for each in loaded]
    numbers = {name: number for number, name in enumerate(wanted, start=1)}
    captures = list_captures(layouts, children, numbers)
    # Who has lost a piece is to move.
    after = {n: _plane_after(line, code)
             for n, (line, code) in enumerate(zip(captures, pieces, strict=True))
             if line[TABLE] != NO_TABLE}  # fmt: skip
    needed = sorted({(plane, piece_side(pieces[n])) for n, plane in after.items()})
    others = {
        (number, side): Palette.of(loaded[number], side, converts=table.metric == Metric.DTC)
        for (number, side), _ in needed
    }
    palettes = Palette.of(table, Side.RED), Palette.of(table, Side.BLACK)
    seek = rule_set.rules != Rules.NONE
    values = make_values(
        [palette.keys for palette in palettes],
        [[others[plane].keys for plane, here in needed if here == side] for side in Side],
        seek=seek,
    )
    marks = make_marks(values.keys)
    dtype = np.min_scalar_type(max(values.keys.shape[1], marks.keys.shape[1]) - 1)
    planes = room.reserve(len(Side) * layout.slots + SLACK, dtype)
    for side, palette in zip(Side, palettes, strict=True):
        unpack(table, side, palette, planes[side * layout.slots :])
    tables, slots = _list_tables(layouts, list(others))
    most = max((len(palette.keys) for palette in others.values()), default=1)
    places = room.reserve(slots, np.min_scalar_type(most - 1))
    for plane, palette in others.items():
        unpack(loaded[plane[0]], plane[1], palette, places[tables[plane] :])
    ranks = np.zeros((len(loaded), len(Side), len(Side), most), dtype)
    for plane, here in needed:
        keys = others[plane].keys
        ranks[(*plane, here)][: len(keys)] = values.translate(here, keys)
    stakes = np.zeros(len(pieces), np.bool_)
    for n, plane in after.items():
        lost = others[plane].keys[1:]
        stakes[n] = (orders_of_keys(lost[lost < 0]) > 0).any()
    arrays = Arrays(
        ranks=planes,
        supports=Supports(places, ranks),
        tables=tables,
        descriptors=np.concatenate([each.descriptor for each in layouts]),
        pieces=np.array(pieces, np.int64),
        captures=captures,
        stakes=stakes,
        values=values._replace(own=values.own.astype(dtype)),
        hung=np.zeros((len(Side), 0), np.uint8),
        seek_patterns=seek,
        seek_chases=rule_set.rules.judges_chases,
        chase_rules=rule_set.chase_rules,
    )
    return Loaded(arrays, marks, palettes)
