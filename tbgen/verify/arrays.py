"""Everything that the proof of one material reads, as a few flat arrays for the kernels.

    ranks        the planes of this table (number 0)
    supports     those of the tables that captures lead to, one after another (`planes`)
    tables       one line per table: where its planes and its descriptor are
    descriptors  the layouts of all tables (`tbgen.indexing.slots`), one after another
    men          this table's pieces in the order of `Layout.piece_codes`
    captures     one line per piece: the table that its capture leads to, and how to list the
                 remaining pieces there
    weights      one line per piece: what its square adds to the slot, where that is a plain sum
    values       what ranks stand for (`ranks`)

Beside them stand the few figures of the layout and of the rule set that kernels ask for. The
planes are copies: as loaded, those of table 0 hold places of its palette; `forward.complete` makes
ranks of them, and `forward.settle` marks, by which patterns are looked for. What is read from the
arrays, and how, is in `moves`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.lending import lent
from tbgen.indexing import InputError, Side
from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material
from tbgen.indexing.squares import SQUARES, PieceType, piece_code, piece_kind, piece_side
from tbgen.tables.names import Metric, Rules, RuleSet
from tbgen.verify.keys import orders_of_keys
from tbgen.verify.planes import (
    BYTE,
    Room,
    Supporting,
    Supports,
    Table,
    unpack_own,
    unpack_side,
    widened,
)
from tbgen.verify.ranks import CAPTURE, Values, after_conversion, keys_of_palette, make_values

# Columns of `tables`. Where the planes begin, in `ranks` or in `supports`, is in the columns 0 (Red
# to move) and 1.
FIRST_WORD, END_WORD, TABLE_COLUMNS = 2, 3, 4

# Columns of `captures`; from SOURCES on, which of this table's pieces each piece there is.
TABLE, SWAPPED, SOURCES = 0, 1, 2

AT_STAKE, LAST_STAKE = 128, 127
"""Parts of `Arrays.stakes`."""

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
    """uint8 or uint16 (S + SLACK,): the planes; `forward.complete` writes to them."""
    supports: Supports
    tables: NDArray[np.int64]
    """int64 (T, TABLE_COLUMNS)."""
    descriptors: NDArray[np.int64]
    """int64 (words,): the layouts of all tables."""
    descriptor: NDArray[np.int64]
    """int64 (words,): the layout of table 0 alone."""
    men: Men
    captures: NDArray[np.int64]
    """int64 (P, SOURCES + P): the columns named above; NO_TABLE for captures that draw."""
    stakes: NDArray[np.uint8]
    """uint8 (P,): the last order by which the capture of the piece wins, LAST_STAKE for more than
    that; 0 if none does that the rules of repetition have decided. Besides AT_STAKE, where ranks
    tell all kinds: any capture counts."""
    weights: NDArray[np.int64]
    """int64 (P, 90): what a square adds to the slot; -1 for pieces that do not simply add up."""
    self_mirrored: NDArray[np.bool_]
    """bool (L,): leads that are their own mirror image."""
    lead_slots: int
    """Slots of one lead."""
    inner_size: int
    """Slots of one row."""
    first_attacker: int
    """The first of the pieces that is no defender."""
    values: Values
    seek_patterns: bool
    """Whether the rules know perpetual checks."""
    seek_chases: bool
    """Whether the rules know perpetual chases."""
    minor_chases: bool
    """Whether advisors and elephants chase protected rooks, knights and cannons."""


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
    *,
    all_kinds: bool = True,
) -> Loaded:
    """Load a table and those that captures lead to, to be proven under some rules.

    memory : bytes; planes for which there is none left are kept in files without names
    folder : where that file is, by default where the system keeps temporary files
    all_kinds : whether ranks tell the kinds of all open values, or of draws alone (`ranks`)

    Raises `InputError` for a rule set without rules, `LimitExceededError` for more values than
    ranks of 16 bits tell apart, and what `supporting` raises.
    """
    if rule_set.rules is None:
        raise InputError("nothing is proven under unknown rules", "name the rules of the table")
    layout = table.layout
    children = Material(*layout.armies).captures()
    wanted = {child.name: child for child in children.values() if child.needs_table}
    loaded = [table, *(supporting(child) for child in wanted.values())]
    numbers = {name: number for number, name in enumerate(wanted, start=1)}
    seek = rule_set.rules != Rules.NONE
    pieces = layout.piece_codes
    captures = _list_captures(layout, children, numbers, loaded)
    needed = _list_needed(captures, pieces)
    tables, slots = _plan(loaded, {plane[:2] for plane in needed})
    room = Room(memory, folder)
    ranks, codes, supports, values, last_orders = _unpack(
        loaded, tables, slots, needed, room, seek=seek, all_kinds=all_kinds
    )
    descriptors = np.concatenate([each.layout.descriptor for each in loaded])

    kings = [pieces.index(piece_code(side, PieceType.KING)) for side in Side]
    arrays = Arrays(
        ranks=ranks,
        supports=supports,
        tables=tables,
        descriptors=descriptors,
        descriptor=descriptors[: tables[0, END_WORD]],
        men=Men(np.array(pieces, np.int64), np.array(kings, np.int64)),
        captures=captures,
        stakes=_list_stakes(captures, pieces, last_orders, at_least=AT_STAKE if all_kinds else 0),
        weights=_weights(layout),
        self_mirrored=layout.self_mirrored,
        lead_slots=layout.mids * layout.inner_size,
        inner_size=layout.inner_size,
        first_attacker=sum(defenders.pieces for defenders in layout.defenders),
        values=values,
        seek_patterns=seek,
        seek_chases=rule_set.rules == Rules.WXF,
        minor_chases=rule_set.minor_chases,
    )
    return Loaded(arrays, codes)


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


def _list_captures(
    layout: Layout,
    children: Mapping[tuple[int, PieceType], Material],
    numbers: dict[str, int],
    loaded: list[Table],
) -> NDArray[np.int64]:
    """`Arrays.captures`.

    children : what is left after each capture; numbers : of the tables, by name of material
    """
    pieces = layout.piece_codes
    captures = np.full((len(pieces), SOURCES + len(pieces)), NO_TABLE, np.int64)
    for taken, code in enumerate(pieces):
        if piece_kind(code) == PieceType.KING:
            continue
        child = children[piece_side(code), PieceType(piece_kind(code))]
        number = numbers.get(child.name, NO_TABLE)
        if number != NO_TABLE:
            swapped, sources = _list_survivors(layout, taken, loaded[number].layout)
            captures[taken, TABLE], captures[taken, SWAPPED] = number, swapped
            captures[taken, SOURCES : SOURCES + len(sources)] = sources
    return captures


def _list_needed(captures: NDArray[np.int64], pieces: Sequence[int]) -> set[tuple[int, int, int]]:
    """Which planes captures lead to: table, side to move there, side to move here.

    captures, pieces : as in `Arrays`; who has lost a piece is to move
    """
    return {
        (int(line[TABLE]), piece_side(code) ^ int(line[SWAPPED]), piece_side(code))
        for line, code in zip(captures, pieces, strict=True)
        if line[TABLE] != NO_TABLE
    }


def _unpack(
    loaded: list[Table], tables: NDArray[np.int64], slots: int, needed: set[tuple[int, int, int]],
    room: Room, *, seek: bool, all_kinds: bool,
) -> tuple[NDArray[Any], list[NDArray[np.int64]], Supports, Values, dict[Plane, int]]:  # fmt: skip
    """`Arrays.ranks`, still places; this table's codes; `Arrays.supports`, and `Arrays.values`.

    The last is the highest order by which the side to move loses in each of the supports' planes.

    slots : of the planes of the supporting tables; needed : as `_list_needed` has them
    seek : whether the rules know repetition
    """
    table = loaded[0]
    # Each type has kernels of its own, which take long to compile. A byte rarely tells all kinds
    # of all values apart: so it is two bytes then, even where one would do.
    dtypes = (np.uint16,) if seek and all_kinds else (np.uint8, np.uint16)
    packed, codes = unpack_own(table, room, dtypes)
    low, high, keys = room.reserve(slots, np.uint8), room.reserve(slots, np.uint8), {}
    for number, there in sorted({plane[:2] for plane in needed}):
        at, child = tables[number, there], loaded[number]
        theirs = unpack_side(child, there, low[at:], high[at:])
        keys[number, there] = keys_of_palette(theirs, child.code_space)
    if table.metric == Metric.DTC:
        keys = {plane: after_conversion(each) for plane, each in keys.items()}
    own = [keys_of_palette(each, table.code_space) for each in codes]
    others = [
        np.concatenate([own[0][:0], *(keys[plane[:2]] for plane in needed if plane[2] == side)])
        for side in Side
    ]
    values = make_values(own, others, seek=seek, all_kinds=all_kinds)
    if values.own.itemsize > packed.itemsize:
        packed = widened(packed)
    values = values._replace(own=values.own.astype(packed.dtype))
    most = max(map(len, keys.values()), default=0)
    ranks = np.zeros((len(loaded), len(Side), len(Side), most), packed.dtype)
    is_wide = np.zeros(ranks.shape[:2], np.bool_)
    for number, there, here in needed:
        each = keys[number, there]
        ranks[number, there, here, : len(each)] = values.translate(here, each, CAPTURE)
        is_wide[number, there] = len(each) > BYTE
    lost = {plane: orders_of_keys(each[each < 0]) for plane, each in keys.items()}
    last_orders = {plane: int(orders.max(initial=0)) for plane, orders in lost.items()}
    return packed, codes, Supports(low, high, is_wide, ranks), values, last_orders


def _list_stakes(
    captures: NDArray[np.int64], pieces: Sequence[int], last_orders: Mapping[Plane, int], *,
    at_least: int,
) -> NDArray[np.uint8]:  # fmt: skip
    """`Arrays.stakes`.

    captures, pieces : as in `Arrays`; last_orders : of losses, by the plane
    at_least : AT_STAKE, or 0
    """
    stakes = np.full(len(pieces), at_least, np.uint8)
    for taken, (line, code) in enumerate(zip(captures, pieces, strict=True)):
        if line[TABLE] != NO_TABLE:
            last = last_orders[int(line[TABLE]), piece_side(code) ^ int(line[SWAPPED])]
            stakes[taken] += min(last, LAST_STAKE)
    return stakes


def _list_survivors(layout: Layout, taken: int, child: Layout) -> tuple[bool, list[int]]:
    """How a capture's child lists the pieces: colours swapped or not, and who is who.

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


def _weights(layout: Layout) -> NDArray[np.int64]:
    """What the square of each piece adds to the slot; -1 where it is no sum over pieces.

    Single attackers add up; twins are ranked together, and defenders make the lead.
    """
    codes = layout.piece_codes
    weights = np.full((len(codes), SQUARES), -1, np.int64)
    for group, stride in zip(layout.groups, layout.strides, strict=True):
        code = piece_code(group.side, group.kind)
        if codes.count(code) == 1:
            line = weights[codes.index(code)]
            line[list(group.area)] = np.arange(len(group.area)) * stride * layout.inner_size
    if layout.inner is not None and layout.twin < 0:
        weights[-1, list(layout.inner.area)] = np.arange(layout.inner_size)
    return weights
