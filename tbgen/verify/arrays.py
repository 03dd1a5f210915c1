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

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.indexing import InputError, Side
from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material
from tbgen.indexing.squares import SQUARES, PieceType, piece_code, piece_kind, piece_side
from tbgen.tables.names import Metric, Rules, RuleSet
from tbgen.verify.planes import (
    BYTE,
    Room,
    Supporting,
    Supports,
    Table,
    unpack_own,
    unpack_side,
)
from tbgen.verify.ranks import CAPTURE, Values, after_conversion, keys_of_palette, make_values

# Columns of `tables`. Where the planes begin, in `ranks` or in `supports`, is in the columns 0 (Red
# to move) and 1.
FIRST_WORD, END_WORD, TABLE_COLUMNS = 2, 3, 4

# Columns of `captures`; from SOURCES on, which of this table's pieces each piece there is.
TABLE, SWAPPED, SOURCES = 0, 1, 2

NO_TABLE = -1
"""The number of the table of materials in which every position is drawn."""


Numbers = NDArray[np.int64]
"""Nodes (2 * slot + side to move), orders, keys, or places in a list of them."""

Members = NDArray[np.bool_]
"""A set: one flag for each of a list."""


class Men(NamedTuple):
    """This table's P pieces."""

    pieces: NDArray[np.int64]
    """int64 (P,): piece codes, in the order of `Layout.piece_codes`."""
    kings: NDArray[np.int64]
    """int64 (2,): which of the pieces is Red's king, and which is Black's."""


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
    codes: NDArray[np.int64]
    """int64 (places,): this table's codes, by their places in its palette."""


def gather(
    table: Table,
    supporting: Supporting,
    rule_set: RuleSet,
    memory: int | None = None,
    folder: Path | None = None,
    threads: int = 1,
) -> Loaded:
    """Load a table and those that captures lead to, to be proven under some rules.

    memory : bytes; planes for which there is none left are kept in files without names
    folder : where that file is, by default where the system keeps temporary files
    threads : how many unpack tiles

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
    tables, slots = _plan(loaded)
    ranks, codes, supports, values = _unpack(
        loaded, tables, slots, Room(memory, folder), seek, threads
    )
    descriptors = np.concatenate([each.layout.descriptor for each in loaded])

    pieces = layout.piece_codes
    captures = np.full((len(pieces), SOURCES + len(pieces)), NO_TABLE, np.int64)
    for taken, code in enumerate(pieces):
        if piece_kind(code) != PieceType.KING:
            child = children[piece_side(code), PieceType(piece_kind(code))]
            number = numbers.get(child.name, NO_TABLE)
            if number != NO_TABLE:
                swapped, sources = _list_survivors(layout, taken, loaded[number].layout)
                captures[taken, TABLE], captures[taken, SWAPPED] = number, swapped
                captures[taken, SOURCES : SOURCES + len(sources)] = sources
    kings = [pieces.index(piece_code(side, PieceType.KING)) for side in Side]
    arrays = Arrays(
        ranks=ranks,
        supports=supports,
        tables=tables,
        descriptors=descriptors,
        descriptor=descriptors[: tables[0, END_WORD]],
        men=Men(np.array(pieces, np.int64), np.array(kings, np.int64)),
        captures=captures,
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


def _plan(loaded: list[Table]) -> tuple[NDArray[np.int64], int]:
    """`Arrays.tables`, and how many slots the planes of the supporting tables have."""
    tables = np.zeros((len(loaded), TABLE_COLUMNS), np.int64)
    words = at = 0
    for number, (line, each) in enumerate(zip(tables, loaded, strict=True)):
        slots = each.layout.slots
        line[:] = at, at + slots, words, words + each.layout.descriptor.size
        words = int(line[END_WORD])
        if number:  # this table's are elsewhere
            at += len(Side) * slots
    return tables, at


def _unpack(
    loaded: list[Table], tables: NDArray[np.int64], slots: int, room: Room, seek: bool,
    threads: int,
) -> tuple[NDArray[Any], NDArray[np.int64], Supports, Values]:  # fmt: skip
    """`Arrays.ranks`, still places; this table's codes; `Arrays.supports`, and `Arrays.values`.

    slots : of the planes of the supporting tables; seek : whether the rules know repetition
    """
    table = loaded[0]
    # A byte does without repetition rules. With them it rarely does, and each type has kernels of
    # its own, which take long to compile: so it is two bytes then, even where one would do.
    dtypes = (np.uint16,) if seek else (np.uint8, np.uint16)
    packed, codes = unpack_own(table, room, dtypes, threads)
    low, high, keys = room.reserve(slots, np.uint8), room.reserve(slots, np.uint8), {}
    for number, child in enumerate(loaded[1:], start=1):
        for side in Side:
            at = tables[number, side]
            theirs = unpack_side(child, side, low[at:], high[at:], threads)
            keys[number, side] = keys_of_palette(theirs, child.code_space)
    if table.metric == Metric.DTC:
        keys = {plane: after_conversion(each) for plane, each in keys.items()}
    own = keys_of_palette(codes, table.code_space)
    values = make_values(own, np.concatenate([own[:0], *keys.values()]), seek=seek)
    if values.own.itemsize > packed.itemsize:
        wider = room.reserve(len(packed), values.own.dtype)
        wider[:] = packed
        packed = wider
    values = values._replace(own=values.own.astype(packed.dtype))
    most = max(map(len, keys.values()), default=0)
    ranks = np.zeros((len(loaded), len(Side), most), packed.dtype)
    is_wide = np.zeros(ranks.shape[:2], np.bool_)
    for (number, side), each in keys.items():
        ranks[number, side, : len(each)] = values.translate(each, CAPTURE)
        is_wide[number, side] = len(each) > BYTE
    return packed, codes, Supports(low, high, is_wide, ranks), values


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
