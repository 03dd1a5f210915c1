"""Everything that the proof of one material reads, as a few flat arrays for the kernels.

    tables  --unpack-->  places, and codes by place  -->  ranks of all that was met  -->  Loaded

    ranks        the planes of this table (number 0)
    supports     those of the tables that captures lead to, one after another (`planes`)
    tables       one line per table: where its planes and its descriptor are
    descriptors  the layouts of all tables (`tbgen.indexing.slots`), one after another
    men          this table's pieces in the order of `Layout.piece_codes`
    captures     one line per piece: the table that its capture leads to, and how to list the
                 remaining pieces there
    values       what ranks stand for (`values`)

Beside them stand the few figures of the layout and of the rule set that kernels ask for. The
planes are copies: as loaded, those of table 0 hold places of its palette; `complete` makes
ranks of them, and `marks` marks, by which patterns are looked for. What is read from the
arrays, and how, is in `moves`. A byte a slot is enough for most tables; where it is not, they are
unpacked once more, into two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tbgen.compiling.lending import lent
from tbgen.indexing import InputError, Side
from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material
from tbgen.indexing.rulesets import Rules
from tbgen.indexing.squares import (
    PieceType,
    piece_code,
    piece_kind,
    piece_side,
)
from tbgen.tables.names import Metric, RuleSet
from tbgen.verify.planes import (
    BYTE,
    SLACK,
    Classify,
    Room,
    Supporting,
    Supports,
    Table,
    reserve_twice,
    unpack_own,
    unpack_side,
    unpack_upper,
    whole_room,
    widened,
)
from tbgen.verify.values import (
    Values,
    after_conversion,
    keys_of_palette,
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


Numbers = NDArray[np.int64]
"""Nodes (2 * slot + side to move), orders, keys, or places in a list of them."""

NOBODY: Numbers = np.empty(0, np.int64)

ManyNumbers = NDArray[np.uint32] | NDArray[np.int64]
"""Nodes of which there may be millions: four bytes each, where that is enough."""

Members = NDArray[np.bool_]
"""A set: one flag for each of a list."""


Plane = tuple[int, int]
"""A table's number, and the side to move there."""


@lent
class Men(NamedTuple):
    """This table's P pieces."""

    pieces: NDArray[np.int64]
    """int64 (P,): piece codes, in the order of `Layout.piece_codes`."""
    kings: NDArray[np.int64]
    """int64 (2,): which of the pieces is Red's king, and which is Black's."""


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
    men: Men
    captures: NDArray[np.int64]
    """int64 (P, SOURCES + P): the columns named above; NO_TABLE for captures that draw."""
    stakes: NDArray[np.bool_]
    """bool (P,): whether the capture of the piece may win by the rules of repetition."""
    values: Values
    seek_patterns: bool
    """The rules know perpetual checks."""
    seek_chases: bool
    """The rules know perpetual chases."""
    chase_rules: int
    """Bits of the rule set (`tbgen.indexing.rulesets`)."""


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


def list_needed(captures: NDArray[np.int64], pieces: Sequence[int]) -> set[tuple[int, int, int]]:
    """Return which planes captures lead to: table, side to move there, side to move here.

    captures, pieces : as in `Arrays`; who has lost a piece is to move
    """
    return {
        (int(line[TABLE]), piece_side(code) ^ int(line[SWAPPED]), piece_side(code))
        for line, code in zip(captures, pieces, strict=True)
        if line[TABLE] != NO_TABLE
    }


def list_stakes(
    captures: NDArray[np.int64], pieces: Sequence[int], last_orders: Mapping[Plane, int]
) -> NDArray[np.bool_]:
    """`Arrays.stakes`.

    captures, pieces : as in `Arrays`; last_orders : of losses, by the plane
    """
    stakes = np.zeros(len(pieces), np.bool_)
    for taken, (line, code) in enumerate(zip(captures, pieces, strict=True)):
        if line[TABLE] != NO_TABLE:
            stakes[taken] = last_orders[int(line[TABLE]), piece_side(code) ^ int(line[SWAPPED])] > 0
    return stakes


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


class Loaded(NamedTuple):
    """The tables of a proof."""

    arrays: Arrays
    codes: list[NDArray[np.int64]]
    """int64 (places,) each: the codes of this table's sides, by their places in the palette."""


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
    sources = _Sources(table, supporting, rule_set, memory, folder)
    sources.unpack()
    return sources.load()


class _Sources:
    """The tables of a proof."""

    def __init__(
        self,
        table: Table,
        supporting: Supporting,
        rule_set: RuleSet,
        memory: int | None,
        folder: Path | None,
    ) -> None:
        """Find them, and room for them; arguments and errors as those of `gather`."""
        if rule_set.rules is None:
            raise InputError("nothing is proven under unknown rules", "name the rules of the table")
        self._table, self._rule_set = table, rule_set
        layout = table.layout
        children = Material(*layout.armies).captures()
        wanted = {child.name: child for child in children.values() if child.needs_table}
        self._loaded = [table, *(supporting(child) for child in wanted.values())]
        numbers = {name: number for number, name in enumerate(wanted, start=1)}
        layouts = [each.layout for each in self._loaded]
        self._captures = list_captures(layouts, children, numbers)
        self._needed = list_needed(self._captures, layout.piece_codes)
        planes = {plane[:2] for plane in self._needed}
        self._tables, slots = _plan(self._loaded, planes)
        self._leads = sorted(planes)
        room = Room(memory, folder)
        self._planes = reserve_twice(room, len(Side) * layout.slots + SLACK)
        self._low, self._high = room.reserve(slots, np.uint8), room.reserve(slots, np.uint8)

    def unpack(self) -> None:
        """Unpack all planes as places."""
        own = unpack_own(self._table, self._planes, self._classify(0))
        self._codes = [palette.list_codes() for palette in own]
        self._keys = {}
        for number, there in self._leads:
            child, classify = self._loaded[number], self._classify(number)
            low = self._low[self._tables[number, there] :]
            palette = unpack_side(child, there, low, classify)
            self._keys[number, there] = classify(palette.list_codes())

    def load(self) -> Loaded:
        """The tables as arrays: a byte for each slot, or two where that is not enough."""
        own = [self._classify(0)(codes) for codes in self._codes]
        others = [self._list_others(side, self._keys) for side in Side]
        values = make_values(own, others, seek=self._rule_set.rules != Rules.NONE)
        planes: NDArray[Any] = self._planes
        if max(map(len, self._codes)) > BYTE:
            planes = whole_room(planes)
            unpack_own(self._table, planes, self._classify(0))
        elif values.keys.shape[1] > BYTE:
            planes = widened(planes)
        return self._load(planes, values)

    def _classify(self, number: int) -> Classify:
        """Return what makes keys of the codes of a table."""
        space = self._loaded[number].code_space
        converts = number > 0 and self._table.metric == Metric.DTC

        def classify(codes: NDArray[np.int64]) -> NDArray[np.int64]:
            keys = keys_of_palette(codes, space)
            return after_conversion(keys) if converts else keys

        return classify

    def _list_others(self, side: int, keys: Mapping[Plane, Numbers]) -> Numbers:
        """int64 (n,): the keys of all that captures lead to with a side to move here."""
        leads = [keys[plane[:2]] for plane in sorted(self._needed) if plane[2] == side]
        return np.concatenate([NOBODY, *leads])

    def _load_supports(self, values: Values, dtype: DTypeLike) -> Supports:
        """`Arrays.supports`, of ranks of a type."""
        most = max(map(len, self._keys.values()), default=0)
        ranks = np.zeros((len(self._loaded), len(Side), len(Side), most), dtype)
        is_wide = np.zeros(ranks.shape[:2], np.bool_)
        for number, there, here in self._needed:
            keys = self._keys[number, there]
            ranks[number, there, here, : len(keys)] = values.translate(here, keys)
            is_wide[number, there] = len(keys) > BYTE
        for number, there in np.argwhere(is_wide).tolist():
            high = self._high[self._tables[number, there] :]
            unpack_upper(self._loaded[number], there, high, self._classify(number))
        return Supports(self._low, self._high, is_wide, ranks)

    def _load(self, planes: NDArray[Any], values: Values) -> Loaded:
        """The tables with ranks of the planes' type."""
        layouts, rule_set = [each.layout for each in self._loaded], self._rule_set
        layout, tables = layouts[0], self._tables
        pieces = layout.piece_codes
        kings = [pieces.index(piece_code(side, PieceType.KING)) for side in Side]
        descriptors = np.concatenate([each.descriptor for each in layouts])
        lost = {plane: orders_of_keys(keys[keys < 0]) for plane, keys in self._keys.items()}
        last_orders = {plane: int(orders.max(initial=0)) for plane, orders in lost.items()}
        arrays = Arrays(
            ranks=planes,
            supports=self._load_supports(values, planes.dtype),
            tables=tables,
            descriptors=descriptors,
            men=Men(np.array(pieces, np.int64), np.array(kings, np.int64)),
            captures=self._captures,
            stakes=list_stakes(self._captures, pieces, last_orders),
            values=values._replace(own=values.own.astype(planes.dtype)),
            seek_patterns=rule_set.rules != Rules.NONE,
            seek_chases=rule_set.rules is not None and rule_set.rules.judges_chases,
            chase_rules=rule_set.chase_rules,
        )
        return Loaded(arrays, self._codes)


def _plan(loaded: list[Table], needed: set[tuple[int, int]]) -> tuple[NDArray[np.int64], int]:
    """`Arrays.tables`, and how many slots the planes have that captures lead to.

    needed : which these are: table, and side to move
    """
    tables = np.zeros((len(loaded), TABLE_COLUMNS), np.int64)
    tables[0, 1] = loaded[0].layout.slots
    words = at = 0
    for number, (line, each) in enumerate(zip(tables, loaded, strict=True)):
        line[FIRST_WORD : END_WORD + 1] = words, words + each.layout.descriptor.size
        words = int(line[END_WORD])
        for side in Side:
            if (number, side) in needed:
                line[side] = at
                at += each.layout.slots
    return tables, at
