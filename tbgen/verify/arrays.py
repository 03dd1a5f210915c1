# mypy: allow-untyped-defs, allow-untyped-calls
"""Arrays of a proof: a table and its supporting tables, flat, for the kernels.

    codes of each side  ->  palettes, ranks of all keys  ->  planes of places, tile by tile

    ranks        the planes of this table (number 0)
    supports     the planes of the supporting tables, concatenated
    tables       one line per table: the start of its planes and of its descriptor
    descriptors  the layouts of all tables (`tbgen.indexing.slots`), concatenated
    pieces       this table's pieces in the order of `Layout.piece_codes`
    captures     one line per piece: the table that its capture leads to, and the order of the
                 remaining pieces there
    values       lookup tables of ranks (`values`)

A *plane* has one number for each slot, for one side to move. A *palette* lists the values of a
plane; the number of a value in it is its *place*. When loaded, planes hold places in the palette of
their side. `complete` replaces the places of table 0 by ranks, and `candidates` ranks by marks. Of
a supporting table only the sides to move after a capture are loaded. The statistics of a table list
the codes that get a place. Any other code is no value, and refutes its position. A few scalars of
the layout and of the rule set are added for the kernels.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tbgen.compiling.jit import by_pointer, part
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

# Columns of `tables`. Columns 0 (Red to move) and 1 hold the start of the planes, in `ranks` or in
# `supports`.
FIRST_WORD, END_WORD, TABLE_COLUMNS = 2, 3, 4

# Columns of `captures`; from SOURCES on, this table's piece for each piece of the child.
TABLE, SWAPPED, SOURCES = 0, 1, 2

NO_TABLE = -1
"""Table number of materials without a table, in which every position is drawn."""

SLACK = 64
"""Unused ranks after the planes: whole vectors are read past the end of the last row."""


Numbers = NDArray[np.int64]
"""Lists of nodes (2 * slot + side to move), of orders, of keys, or of indices into such lists."""

NOBODY: Numbers = np.empty(0, np.int64)

ManyNumbers = NDArray[np.uint32] | NDArray[np.int64]
"""Lists of possibly millions of nodes, as uint32 where four bytes are enough."""

Members = NDArray[np.bool_]
"""Subset of a list, as one flag for each element."""


class Table(Protocol):
    """Interface of a finished table, in a file or in memory."""

    @property
    def layout(self) -> Layout:
        """Return the index of the table."""

    @property
    def code_space(self) -> CodeSpace:
        """Return the coding of values."""

    @property
    def metric(self) -> Metric:
        """Return the metric of the distances."""

    def occurring_codes(self, side: int) -> Collection[int]:
        """Return a superset of the codes of the positions with a side to move."""

    def tiles(self, side: int) -> int:
        """Return the number of tiles of a side."""

    def tile(self, side: int, number: int, numbers_of: NumbersOf) -> Sequence[tuple[int, Codes]]:
        """Return the codes of a tile as runs: the first slot of each, and (n,) numbers.

        Slots without a canonical position may hold any code.

        numbers_of : maps codes to the numbers that are returned in their place
        """


Supporting = Callable[[Material], Table]
"""Function that opens the table of a material that a capture leads to. Called only for materials
that need a table.
"""

Plane = tuple[int, int]
"""A plane of supporting tables: number of the table, and side to move."""


class Palette(NamedTuple):
    """Values of one side of a table; each has a number, its place. Place 0 is for no value."""

    codes: Numbers
    """int64 (n + 1,): stored codes, ascending, without 0; the last is larger than all codes."""
    places: Numbers
    """int64 (n + 1,): the place of each entry of `codes`; 0 for the last."""
    keys: Numbers
    """int64 (places,): the key of each place; `NO_KEY` for place 0."""

    @classmethod
    def of(cls, table: Table, side: int, *, converts: bool = False) -> Palette:
        """Return the palette of a side, from the codes that occur there.

        converts : whether to replace keys by the keys after a conversion (metric DTC)
        """
        codes = np.array(sorted({*table.occurring_codes(side)} - {0}), np.int64)
        keys = keys_of_codes(codes, table.code_space)
        found, places = np.unique(after_conversion(keys) if converts else keys, return_inverse=True)
        return cls(
            np.append(codes, np.iinfo(np.int64).max),
            np.append(places + 1, 0),
            np.concatenate([[NO_KEY], found]),
        )

    def places_of(self, codes: Codes) -> Numbers:
        """Return the places of codes, int64 (n,); 0 for unknown codes."""
        at = self.codes.searchsorted(codes)
        return np.where(self.codes[at] == codes, self.places[at], 0)

    def count_codes(self, counts: Numbers) -> dict[int, int]:
        """Return the number of positions of each code, given `counts` of each place (places,)."""
        found = zip(self.codes[:-1].tolist(), counts[self.places[:-1]].tolist(), strict=True)
        return {code: count for code, count in found if count}


@by_pointer
class Supports(NamedTuple):
    """Tables that captures lead to. Shapes: T tables, this one included; S slots of the others.

    `Arrays.tables` gives the start of each plane, one per side to move. Planes that no capture
    leads to are left out.
    """

    places: NDArray[Any]
    """uint8 or uint16 (S,): the place of each slot in the palette of its table and side to move."""
    ranks: NDArray[Any]
    """(T, 2, 2, places), dtype of `Arrays.ranks`: the rank of each place, by table, by the side to
    move in it, and by the side to move in this table. The two sides differ where colours are
    swapped.
    """


@by_pointer
class Arrays(NamedTuple):
    """Arrays of the module's docstring and scalar parameters, as passed to kernels.

    Shapes: S slots of both planes, T tables, P pieces.
    """

    ranks: NDArray[Any]
    """uint8 or uint16 (S + SLACK,): the planes; filled in by `complete`."""
    supports: Supports
    tables: NDArray[np.int64]
    """int64 (T, TABLE_COLUMNS)."""
    descriptors: NDArray[np.int64]
    """int64 (words,): the layouts of all tables."""
    pieces: NDArray[np.int64]
    """int64 (P,): piece codes, in the order of `Layout.piece_codes`."""
    captures: NDArray[np.int64]
    """int64 (P, SOURCES + P): columns TABLE, SWAPPED, and from SOURCES on the pieces of this table
    in the order of the other table; NO_TABLE for captures after which every position is drawn.
    """
    stakes: NDArray[np.bool_]
    """bool (P,): whether the capture of the piece may lead to a win of order 1 or above."""
    values: Values
    hung: NDArray[np.uint8]
    """uint8 (2, bytes): by side to move, bit set of slots. The slot is a draw or a
    rule-decided win, and a piece of the side to move hangs, or a capture wins by the
    repetition rules. Empty except from `complete` to `candidates`.
    """
    seek_patterns: bool
    """Whether the rules judge perpetual checks."""
    seek_chases: bool
    """Whether the rules judge perpetual chases."""
    chase_rules: int
    """Bits of the rule set (`tbgen.indexing.rulesets`)."""


class Loaded(NamedTuple):
    """Result of `gather`: the arrays, the marks, and the palettes of this table."""

    arrays: Arrays
    marks: Marks
    palettes: tuple[Palette, Palette]
    """Palettes of this table, Red's and Black's."""


@part
def rank_after_capture(table, to_move, here, slot, arrays):
    """Return the rank, in this table, of a position in a supporting table.

    table : int, its number; to_move : int, the side to move there
    here : int, the side to move in this table; slot : int, of the supporting table
    """
    supports = arrays.supports
    place = supports.places[arrays.tables[table, to_move] + slot]
    return np.int64(supports.ranks[table, to_move, here, place])


def list_captures(
    layouts: Sequence[Layout],
    children: Mapping[tuple[int, PieceType], Material],
    numbers: Mapping[str, int],
) -> NDArray[np.int64]:
    """Return `Arrays.captures`.

    layouts : of all tables, by number; this table first
    children : the material after each capture; numbers : of the tables, by name of material
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
    """Return the plane that a capture leads to: number of the table, and side to move.

    line : of `captures`; code : of the captured piece
    """
    return int(line[TABLE]), piece_side(code) ^ int(line[SWAPPED])


def _list_survivors(layout: Layout, taken: int, child: Layout) -> tuple[bool, list[int]]:
    """Return whether a capture swaps colours, and the remaining pieces in the child's order.

    Colours are swapped if the child's material names the other side first. Pieces are indices of
    `layout.piece_codes`.
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


class PlaneAllocator:
    """Allocator of planes: in memory up to a limit, then in unnamed files."""

    def __init__(self, memory: int | None = None, folder: Path | None = None) -> None:
        """Set the limit to `memory` bytes (None: no limit); unnamed files are in `folder`."""
        self._left = memory
        self._folder = folder

    def reserve(self, slots: int, dtype: DTypeLike) -> NDArray[Any]:
        """Return a plane of zeros for a number of slots."""
        size = slots * np.dtype(dtype).itemsize
        if self._left is None:
            return np.zeros(slots, dtype)
        if size <= self._left:
            self._left -= size
            return np.zeros(slots, dtype)
        with tempfile.TemporaryFile(dir=self._folder) as file:
            return np.memmap(file, dtype, "w+", shape=slots).view(np.ndarray)


def unpack(table: Table, side: int, palette: Palette, places: NDArray[Any]) -> None:
    """Write one side of a table into a plane, as places in a palette.

    Single-threaded: two threads take as long and twice the processor time, because the work is in
    pieces of about 30 microseconds and the threads contend for the interpreter lock.

    places : uint8 or uint16 (slots,), out
    """
    for number in range(table.tiles(side)):
        for first, run in table.tile(
            side, number, lambda codes: palette.places_of(codes).astype(places.dtype)
        ):
            places[first : first + len(run)] = run


def _list_tables(layouts: list[Layout], planes: list[Plane]) -> tuple[NDArray[np.int64], int]:
    """Return `Arrays.tables`, and the number of slots of the supporting planes `planes`."""
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
    """Load a table and its supporting tables for a proof under a rule set.

    memory : bytes; planes that do not fit are kept in unnamed files; a byte for each slot of a
        side is left to candidates
    folder : directory of those files, by default the system's temporary directory

    Raises `InputError` for a rule set without rules, `LimitExceededError` for more values than
    16-bit ranks can tell apart, and the errors of `supporting`.
    """
    if rule_set.rules is None:
        raise InputError("nothing is proven under unknown rules", "name the rules of the table")
    layout = table.layout
    room = PlaneAllocator(None if memory is None else max(0, memory - layout.slots), folder)
    pieces = layout.piece_codes
    children = Material(*layout.armies).captures()
    wanted = {child.name: child for child in children.values() if child.needs_table}
    loaded = [table, *(supporting(child) for child in wanted.values())]
    layouts = [each.layout for each in loaded]
    numbers = {name: number for number, name in enumerate(wanted, start=1)}
    captures = list_captures(layouts, children, numbers)
    # The side that has lost a piece is to move.
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
